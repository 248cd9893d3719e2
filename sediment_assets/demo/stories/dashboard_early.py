"""The dashboard's Sessions from Monday to Wednesday: disagreeing workflows, commits without CI, a root commit."""

from sediment_assets.demo.conversations import AUTO, Session
from sediment_assets.demo.evidence import Evidence
from sediment_assets.demo.harnesses import CLAUDE_CODE, CODEX, COPILOT, CURSOR
from sediment_assets.demo.repositories import Repository
from sediment_assets.demo.text import code


def tell_dashboard_early(evidence: Evidence, repo: Repository) -> None:
    """Tell Monday to Wednesday in order of time."""
    format_bytes(evidence, repo)
    retention_question(evidence, repo)
    alert_hysteresis(evidence, repo)
    dark_theme(evidence, repo)
    setup_docs(evidence, repo)
    docs_site(evidence, repo)
    emoji_labels(evidence, repo)


def format_bytes(evidence: Evidence, repo: Repository) -> None:
    """A passing task of a legacy repository: the note on the commit is the proof."""
    s = Session(evidence, "dashboard-format-bytes", "11-02 10:05", repo, CURSOR, user="dev-4")
    s.user("formatBytes shows 1536000 B. Use kB, MB and GB with one decimal.")
    s.read("src/format.ts", "test/format.test.ts")
    s.edit(
        "src/format.ts",
        code("""
            export function formatBytes(bytes: number): string {
              return `${bytes} B`;
            }
        """),
        code("""
            const UNITS = ["B", "kB", "MB", "GB"];

            export function formatBytes(bytes: number): string {
              const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
              const value = bytes / 1000 ** power;
              return `${power ? value.toFixed(1) : value} ${UNITS[power]}`;
            }
        """),
        say="Decimal units, and plain bytes stay without a decimal.",
    )
    s.edit(
        "test/format.test.ts",
        '  expect(formatBytes(17)).toBe("17 B");\n});\n',
        code("""
              expect(formatBytes(17)).toBe("17 B");
            });

            test("larger sizes have one decimal", () => {
              expect(formatBytes(1_536_000)).toBe("1.5 MB");
            });
        """),
    )
    s.run("npm test", " ✓ test/format.test.ts (2)\n ✓ test/series.test.ts (1)\n\n Tests  3 passed (3)")
    commit = s.commit("Format bytes in decimal units")
    s.answer("1536000 now shows as 1.5 MB.")
    repo.ci(commit, "passed")


def retention_question(evidence: Evidence, repo: Repository) -> None:
    """A question, no commit: Turns to learn from, but no task."""
    s = Session(evidence, "dashboard-retention-question", "11-02 15:10", repo, CLAUDE_CODE, user="dev-4")
    s.user("Does downsample lose the last partial interval? The right end of the chart looks too low.")
    s.read("src/series.ts", think="The last bucket is averaged over the points it has, not over the whole step.")
    s.answer(
        "It keeps it: the last interval is averaged over the points it has. What looks low is the value of a short "
        "interval, not a missing one. You could leave out an interval that has not ended yet."
    )
    # A decision without a call id joins no Turn; it is counted instead.
    s.decide("src/series.ts", AUTO, None)


def alert_hysteresis(evidence: Evidence, repo: Repository) -> None:
    """Two workflows disagree about one commit: ambiguous, so no verdict and no task."""
    s = Session(evidence, "dashboard-alert-hysteresis", "11-03 10:00", repo, CLAUDE_CODE, user="dev-3")
    s.user("Alerts flap. A firing rule should stop only below 90 % of its threshold.")
    s.read("src/alerts.ts")
    s.edit(
        "src/alerts.ts",
        code("""
            export function isFiring(series: Series, rule: Rule): boolean {
              const last = series.at(-1);
              return last !== undefined && last.value > rule.above;
            }
        """),
        code("""
            export function isFiring(series: Series, rule: Rule): boolean {
              let firing = false;
              for (const { value } of series) {
                firing = firing ? value >= rule.above * 0.9 : value > rule.above;
              }
              return firing;
            }
        """),
        think="State has to come from the series itself, so walk it from the start.",
    )
    s.run("npm test", " Tests  3 passed (3)")
    commit = s.commit("Keep alerts firing until 90 % of the threshold")
    s.answer("The rule now has hysteresis: on above the threshold, off below 90 % of it.")
    repo.ci(commit, "passed")
    repo.ci(commit, "failed", workflow="E2E", reason="alerts.spec.ts: expected 0 firing alerts, got 1")


def dark_theme(evidence: Evidence, repo: Repository) -> None:
    """The first commit failed, the second one passed: the later verdict counts, the patch spans both commits."""
    s = Session(evidence, "dashboard-dark-theme", "11-03 13:00", repo, CURSOR, user="dev-2")
    s.user("Add a dark theme and use it when the system prefers dark.")
    s.read("src/theme.ts", "src/chart.ts")
    s.edit(
        "src/theme.ts",
        'line: "#2646a0" };\n',
        code("""
            line: "#2646a0" };
            export const dark: Theme = { background: "#1c1c1c", text: "#f2f2f2", line: "#8fa8ff" };

            export function preferred(): Theme {
              return matchMedia("(prefers-color-scheme: dark)").matches ? dark : light;
            }
        """),
    )
    s.edit(
        "src/chart.ts",
        'import { light, type Theme } from "./theme";',
        'import { preferred, type Theme } from "./theme";',
    )
    s.edit("src/chart.ts", "theme: Theme = light", "theme: Theme = preferred()")
    s.write(
        "test/theme.test.ts",
        code("""
            import { expect, test } from "vitest";
            import { frame } from "../src/chart";

            test("a chart is light unless the system prefers dark", () => {
              expect(frame()).toContain("#ffffff");
            });
        """),
        decision=AUTO,
    )
    first = s.commit("Add a dark theme")
    repo.ci(first, "failed", reason="ReferenceError: matchMedia is not defined")
    s.wait(11)
    s.user("CI says: ReferenceError: matchMedia is not defined")
    s.edit(
        "src/theme.ts",
        '  return matchMedia("(prefers-color-scheme: dark)").matches ? dark : light;\n',
        code("""
            const media = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
            return media?.matches ? dark : light;
        """, 2),
        say="Outside a browser there is no `matchMedia`; then light it is.",
    )  # fmt: skip
    s.run("npm test", " Tests  4 passed (4)")
    second = s.commit("Fall back to the light theme without a browser")
    s.answer("The theme follows the system and falls back to light where there is no browser.")
    repo.ci(second, "passed")


def setup_docs(evidence: Evidence, repo: Repository) -> None:
    """CI ignores Markdown, so this commit has no CI outcome at all."""
    s = Session(evidence, "dashboard-setup-docs", "11-03 16:45", repo, COPILOT, user="dev-4")
    s.user("The README should say which Node version we need and how to start the dashboard.")
    s.read("README.md", "package.json")
    s.edit(
        "README.md",
        "`npm test` runs the unit tests.\n",
        "`npm test` runs the unit tests.\n\nNode 22 or newer. `npm install && npx vite` starts it on port 5173.\n",
    )
    s.commit("Say how to start the dashboard")
    s.answer("The README names Node 22 and the two commands.")


def docs_site(evidence: Evidence, repo: Repository) -> None:
    """The first commit of a branch of its own: a root commit has no parent to diff against."""
    s = Session(evidence, "dashboard-docs-site", "11-04 10:20", repo, CLAUDE_CODE, user="dev-4")
    s.user("Start a documentation site on an orphan branch gh-pages: one page, our logo, a link to the repository.")
    s.check_out("gh-pages")
    s.run("git switch --orphan gh-pages", "Switched to a new branch 'gh-pages'")
    s.write(
        "index.html",
        code("""
            <!doctype html>
            <title>Telemetry dashboard</title>
            <h1>Telemetry dashboard</h1>
            <p>Charts of what our services report.
            <p><a href="https://git.example.test/acme/telemetry-dashboard">Source</a>
        """),
    )
    commit = s.commit("Start the documentation site")
    s.answer("The branch `gh-pages` has its first page. The logo is still missing: it lives on `main`.")
    repo.ci(commit, "passed", workflow="Pages")


def emoji_labels(evidence: Evidence, repo: Repository) -> None:
    """A tool result was cut inside an emoji: UTF-8 cannot spell it, so the Rollout's row is skipped, not its task."""
    s = Session(evidence, "dashboard-emoji-labels", "11-04 13:15", repo, CODEX, user="dev-2")
    s.user("Legend names are cut after 12 UTF-16 units, which breaks emoji. Cut after 12 characters.")
    s.run("node -e 'console.log(\"disk full now 💾\".slice(0, 15))'", "disk full now \ud83d")
    s.edit(
        "src/chart.ts",
        '  return names.join(", ");\n',
        '  return names.map((name) => [...name].slice(0, 12).join("")).join(", ");\n',
        say="Spreading a string walks characters, not UTF-16 units.",
    )
    commit = s.commit("Cut legend names between characters")
    s.answer("Names are cut after 12 characters; an emoji is never split.")
    repo.ci(commit, "passed")
