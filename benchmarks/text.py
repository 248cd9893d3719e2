"""Text that looks like code, prose and logs, from a seeded generator: words in templates, joined in bulk for speed."""

from random import Random

WORDS = (  # noqa: SIM905
    "account address amount archive audit balance batch branch bucket buffer cache calendar channel charge checkout "
    "client column commit config contract counter credit cursor customer dataset decimal delivery digest discount "
    "document driver entry envelope event export feature field filter folder gateway handler header history import "
    "index input invoice item journal kernel ledger limit listing locale margin market matrix member message metric "
    "migration mirror module notice number object offset option order output package page parcel parser partner "
    "payment period policy posting price product profile queue quota ratio reader receipt record refund region "
    "registry report request result retry revenue route rule sample schedule schema scope segment series session "
    "shard shipment signal snapshot source stage stamp statement status storage stream summary supplier table target "
    "task tax template tenant ticket token total trace transfer trigger unit upload user vendor version voucher "
    "warehouse webhook window worker writer zone"
).split()

_CODE = (
    "    %s = %s.%s(%s)",
    '    if %s is None:\n        raise ValueError(f"%s: expected a %s, got {%s!r}")',
    "    for %s in %s.%s(%s):\n        pass",
    '    %s.append(%s["%s"] + %s)',
    "    # The %s of a %s may be missing while its %s has no %s.",
    '    %s: dict[str, int] = {"%s": %s, "%s": 0}',
    '    logger.info("%s of %s", %s, %s)',
    '    with %s.open(%s, mode="r") as %s:\n        %s.seek(0)',
    '    assert %s == %s, f"{%s} differs from {%s}"',
)
_PROSE = (
    "The %s of the %s is computed before its %s is known, so the %s comes out empty.",
    "I looked at %s and %s: both read the %s, but only one of them locks the %s.",
    "Please keep the %s as it is, and make sure that %s still works when %s has no %s.",
    "Next I will change %s so that every %s carries its %s, then run the tests of %s.",
    "After the last deployment %s fails for about one %s in ten, always when %s and %s arrive together.",
    "Rounding happens in %s \u2013 not in %s \u2013 and the %s keeps the unrounded %s.",
)
_LOG = (
    "tests/test_%s.py::test_%s_keeps_its_%s[%s] PASSED",
    "tests/test_%s.py::test_%s_without_%s_%s PASSED",
    "2026-06-03T09:14:07.113Z INFO %s: %s finished, %s=17 %s=0",
    '  File "src/%s/%s.py", line 118, in %s_%s',
    "E       AssertionError: assert '%s' == '%s'  # %s %s",
    "src/%s/%s.py:%s:%s: note: unused",
)


def name(rng: Random) -> str:
    """Return an identifier of two words."""
    return f"{rng.choice(WORDS)}_{rng.choice(WORDS)}"


def code(rng: Random, lines: int) -> str:
    """Return a function of about so many lines, with a vocabulary of its own."""
    names = [name(rng) for _ in range(6 + lines // 2)]
    return f"def {names[0]}({names[1]}, {names[2]}=None):\n{_filled(rng, _CODE, names, lines)}\n    return {names[3]}\n"


def prose(rng: Random, sentences: int) -> str:
    """Return so many sentences; some hold characters beyond ASCII."""
    return _filled(rng, _PROSE, WORDS, sentences, " ")


def log(rng: Random, lines: int) -> str:
    """Return output of a test run or a service."""
    return _filled(rng, _LOG, WORDS, lines)


def _filled(rng: Random, templates: tuple[str, ...], words: list[str], count: int, separator: str = "\n") -> str:
    return separator.join(rng.choices(templates, k=count)) % tuple(rng.choices(words, k=4 * count))
