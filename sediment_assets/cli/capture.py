"""``sediment capture``: a team's own files, translated into Facts; parsing and printing only (docs/capture.md)."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sediment_assets.cli.facts import aligned, reasons
from sediment_assets.cli.output import fail, is_styled, note, one_line, say, say_done
from sediment_assets.words import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sediment_assets.adapters.capture_files import CaptureFiles, ReadingProgress
    from sediment_assets.adapters.capture_run import CaptureSummary
    from sediment_assets.capture.contract import CaptureOptions, Document, Source, Translated, Untranslated
    from sediment_assets.capture.tally import Tally

DESCRIPTION = """
Translate a team's own files into Facts and store them: all of them or, when a file is broken, none. Credentials are
redacted first. Importing the same files again changes nothing. Nothing is guessed: what a record does not say stays
absent, and a record that gives no Fact is counted under a reason.

PATH is a file, a directory (its .json, .jsonl, .ndjson, .traj, .yaml and .yml files, also with .gz) or - for standard
input. Lines, arrays, values behind each other and whole documents are all read.
"""
EPILOG = """
settings (environment, or .env in the current directory; names in any case):
  SEDIMENT_ORG_ID        the organization; --org-id says another
  SEDIMENT_DATABASE_URL  the Fact store: sqlite:///PATH, or an empty PostgreSQL
                         database; not needed with --dry-run and --emit

examples:
  sediment capture                           the sources, and what each reads
  sediment capture litellm logs/ --dry-run   what would be stored, and what not
  sediment capture litellm logs/
  zcat log.jsonl.gz | sediment capture litellm -
  sediment capture litellm logs/ --emit facts/   then: sediment facts import facts/
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``capture``; the parsed arguments carry the function to call as ``run``."""
    capture = subparsers.add_parser(
        "capture",
        help="translate a team's own files into Facts",
        description=DESCRIPTION,
        epilog=EPILOG,
        add_help=False,
    )
    capture.add_argument("-h", "--help", action=_Help, nargs=0, help="show this help message and exit")
    capture.add_argument("source", nargs="?", metavar="SOURCE", help="what wrote the files; without it, all are listed")
    capture.add_argument("paths", nargs="*", metavar="PATH", help="a file, a directory, or - for standard input")
    capture.add_argument("--org-id", metavar="ORG", help="the organization; SEDIMENT_ORG_ID otherwise")
    capture.add_argument("--dry-run", action="store_true", help="translate and count; no store is needed or touched")
    capture.add_argument("--emit", type=Path, metavar="DIR", help="write canonical JSONL into a new directory instead")
    capture.add_argument(
        "--strict", action="store_true", help="store nothing and exit 1 when a record that should give a Fact does not"
    )
    capture.add_argument(
        "--session-key",
        action="append",
        default=[],
        metavar="KEY",
        help="dotted path of the metadata that names the Session, before the source's own; may be repeated",
    )
    capture.add_argument("--instant", metavar="TIME", help="when records that do not say so happened")
    capture.add_argument("--github-host", default="github.com", metavar="HOST", help="host of GitHub payloads")
    capture.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the source, such as session=ID (docs/capture.md); may be repeated",
    )
    capture.set_defaults(run=run, usage_error=capture.error)


class _Help(argparse.Action):
    """Help with the list of sources, which are only imported when they are asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        parser.epilog = "\n".join(["", "sources:", *_source_lines(_sources()), EPILOG])
        parser.print_help()
        parser.exit()


def run(args: argparse.Namespace) -> int:
    """Capture and print what became of the records; raises SedimentError."""
    from sediment_assets.adapters.capture_files import find_capture_files
    from sediment_assets.capture.contract import Remainder
    from sediment_assets.capture.tally import Tally

    sources = _sources()
    if args.source is None:
        for line in ["sources:", *_source_lines(sources), *EPILOG.rstrip().split("\n")]:
            say(line)
        return 0
    _check_usage(args, sources)
    source = sources[args.source]
    settings = _settings(args, source)
    options = _options(args, settings)
    files = find_capture_files(args.paths)
    _note_ignored(files)
    if not files.paths:
        fail(describe_nothing_found(args.paths, source.name))
        return 1
    tally = Tally()
    reading = _Reading(files)
    summary = _capture(args, reading.outcomes(source, options), tally, reading)
    for line in describe_capture(summary, tally, reading.records, len(files.paths)):
        say(line)
    _say_note(source)
    if not summary.tables and set(tally.remainders) == {Remainder.UNKNOWN_SHAPE}:
        fail(f"nothing here is what {source.name} reads: nothing to store; sediment capture lists the sources")
        return 1
    if summary.destination is not None:
        say_done(f"{'wrote' if args.emit else 'stored in'} {summary.destination}")
    return 0


def _check_usage(args: argparse.Namespace, sources: Mapping[str, Source]) -> None:
    if args.source not in sources:
        args.usage_error(f"argument SOURCE: expected one of {', '.join(sources)}, got {args.source!r}")
    if not args.paths:
        args.usage_error("the following arguments are required: PATH")
    if args.dry_run and args.emit is not None:
        args.usage_error("argument --emit: not allowed with argument --dry-run")


def _note_ignored(files: CaptureFiles) -> None:
    if files.ignored:
        from sediment_assets.adapters.capture_files import described

        note(f"{quantity(len(files.ignored), 'file')} of other kinds left out: {described(files.ignored)}")


def _say_note(source: Source) -> None:
    from sediment_assets.capture.contract import closing_note

    if text := closing_note(source):
        say("")
        say(f"note: {text}")


def describe_nothing_found(paths: Sequence[str], source: str) -> str:
    """Say that directories hold no file to read, and what is looked for there."""
    from sediment_assets.adapters.capture_files import SUFFIXES

    return (
        f"{', '.join(paths)}: expected files of {source}, got none; looked for {' '.join(SUFFIXES)}, also with .gz; a "
        "file of another name is read when it is named itself"
    )


def describe_capture(summary: CaptureSummary, tally: Tally, records: int, files: int) -> list[str]:
    """Spell a run's summary: records, one aligned line per table, what gave no Fact, and the first surprises."""
    lines = [f"read {quantity(records, 'record')} in {quantity(files, 'file')}"]
    if summary.tables:
        rows = [("table", "facts", "stored", "present", "redacted")]
        rows += [
            (table.table, str(table.read), str(table.stored), str(table.present), reasons(table.redactions.items()))
            for table in summary.tables
        ]
        lines += aligned(rows, numbers=(1, 2, 3))
    else:
        lines.append("no Facts")
    if tally.remainders:
        rest = [("gave no Fact", "count", "")]
        for reason, count in sorted(tally.remainders.items()):
            first, *others = tally.described(reason) or [""]
            rest += [(reason.value, str(count), first), *(("", "", other) for other in others)]
        lines += ["", *aligned(rest, numbers=(1,))]
    return lines + (["", *tally.unexpected_lines()] if tally.unexpected_count else [])


def _capture(args: argparse.Namespace, outcomes: Any, tally: Tally, reading: _Reading) -> CaptureSummary:
    from sediment_assets.adapters.capture_run import check_capture, emit_capture, store_capture

    # Parsed JSON holds no cycles, and looking for some among millions of values takes a fifth of the time.
    gc.set_threshold(1_000_000)
    try:
        if args.dry_run:
            return check_capture(outcomes, tally, strict=args.strict)
        if args.emit is not None:
            return emit_capture(args.emit, outcomes, tally, strict=args.strict)
        from sediment_assets.adapters.fact_store.engine import writing_engine
        from sediment_assets.adapters.settings import Settings

        return store_capture(writing_engine(Settings.load().database_url()), outcomes, tally, strict=args.strict)
    finally:
        reading.clear()


def _options(args: argparse.Namespace, settings: dict[str, str]) -> CaptureOptions:
    from sediment_assets.adapters.settings import Settings
    from sediment_assets.capture.contract import CaptureOptions
    from sediment_assets.cli.derive import parse_bound

    return CaptureOptions(
        org_id=Settings.load().org_id(args.org_id),
        session_keys=tuple(args.session_key),
        instant=parse_bound("--instant", args.instant),
        github_host=args.github_host,
        settings=settings,
    )


def _settings(args: argparse.Namespace, source: Source) -> dict[str, str]:
    """Return what ``--set`` says; a name that the source does not know is a usage error, not ignored."""
    from sediment_assets.capture.contract import known_settings

    known = known_settings(source)
    # By the word before the colon, and whether something follows it.
    kinds = {(word, bool(about)) for word, _, about in (name.partition(":") for name in known)}
    settings: dict[str, str] = {}
    for text in args.set:
        name, equals, value = text.partition("=")
        if not equals or not name:
            args.usage_error(f"argument --set: expected NAME=VALUE, got {text!r}")
        word, _, about = name.partition(":")
        if (word, bool(about)) not in kinds:
            expected = f"one of {', '.join(known)}" if known else "none: this source has no settings"
            args.usage_error(f"argument --set: expected {expected}, got {name!r}")
        settings[name] = value
    return settings


def _sources() -> Mapping[str, Source]:
    from sediment_assets.capture.registry import SOURCES

    return SOURCES


def _source_lines(sources: Mapping[str, Source]) -> list[str]:
    return [f"  {line}" for line in aligned([(source.name, source.help) for source in sources.values()], numbers=())]


class _Reading:
    """Documents on their way to a source: records are counted, and a terminal is told how far reading is."""

    _REFRESH_SECONDS = 0.1

    def __init__(self, files: CaptureFiles) -> None:
        self.records = 0
        self._files = files
        self._told = 0.0
        self._is_shown = is_styled(sys.stderr)

    def outcomes(self, source: Source, options: CaptureOptions) -> Iterator[Translated | Untranslated]:
        """Yield what the source makes of the files, then the lines that no source was shown."""
        yield from source.translate(self._documents(), options)
        self.records += len(self._files.broken)
        yield from self._files.broken

    def _documents(self) -> Iterator[Document]:
        from sediment_assets.capture.contract import Document

        for document in self._files.documents(self._tell if self._is_shown else None):
            yield Document(document.name, self._counted(document))

    def clear(self) -> None:
        """Take the progress line away."""
        if self._is_shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _counted(self, document: Document) -> Iterator[Any]:
        for record in document.records:
            self.records += 1
            yield record

    def _tell(self, progress: ReadingProgress) -> None:
        if time.monotonic() - self._told < self._REFRESH_SECONDS:
            return
        self._told = time.monotonic()
        share = f"{progress.bytes_read / progress.bytes_total:4.0%}" if progress.bytes_total else ""
        print(f"\r\x1b[K{share}  {one_line(progress.name[-60:])}", end="", file=sys.stderr, flush=True)
