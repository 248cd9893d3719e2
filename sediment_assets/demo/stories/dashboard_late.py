"""The dashboard's Sessions from Thursday to Sunday: attribution by similarity, fragments, quarantine, odd files."""

from sediment_assets.demo.commits import on
from sediment_assets.demo.conversations import AUTO, Session
from sediment_assets.demo.evidence import Evidence
from sediment_assets.demo.harnesses import CLAUDE_CODE, COPILOT, CURSOR, PI
from sediment_assets.demo.repositories import Repository
from sediment_assets.demo.stories.dashboard_code import ORANGE_LOGO
from sediment_assets.demo.text import code


def tell_dashboard_late(evidence: Evidence, repo: Repository) -> None:
    """Tell Thursday to Sunday in order of time."""
    sparkline(evidence, repo)
    query_builder(evidence, repo)
    lazy_charts(evidence, repo)
    timezone_axis(evidence, repo)
    legend_order(evidence, repo)
    axis_bounds(evidence, repo)
    brand_refresh(evidence, repo)
    repo.work("11-07 11:48", "dev-4", "Release 1.3.0", {"package.json": ('"1.2.1"', '"1.3.0"')})
    csv_download(evidence, repo)


def sparkline(evidence: Evidence, repo: Repository) -> None:
    """No note on the commit: it is attributed because its files hold what this Session's model wrote."""
    s = Session(evidence, "dashboard-sparkline", "11-05 09:40", repo, PI, user="dev-2")
    s.user("I want sparklines in tables: an SVG path from a series, 100 by 20, in src/sparkline.ts, with a test.")
    s.read("src/series.ts")
    s.write(
        "src/sparkline.ts",
        code("""
            import type { Series } from "./series";

            const WIDTH = 100;
            const HEIGHT = 20;

            /** The path of a small line without axes; empty for fewer than two points. */
            export function sparkline(series: Series): string {
              if (series.length < 2) return "";
              const values = series.map((point) => point.value);
              const lowest = Math.min(...values);
              const span = Math.max(...values) - lowest || 1;
              const steps = values.map((value, index) => {
                const x = (index / (values.length - 1)) * WIDTH;
                const y = HEIGHT - ((value - lowest) / span) * HEIGHT;
                return `${x.toFixed(1)},${y.toFixed(1)}`;
              });
              return `M${steps.join("L")}`;
            }
        """),
    )
    s.write(
        "test/sparkline.test.ts",
        code("""
            import { expect, test } from "vitest";
            import { sparkline } from "../src/sparkline";

            test("a sparkline fills its box", () => {
              const series = [{ at: 0, value: 1 }, { at: 1, value: 3 }];
              expect(sparkline(series)).toBe("M0.0,20.0L100.0,0.0");
            });
        """),
    )
    s.run("npm test", " Tests  5 passed (5)")
    commit = s.commit("Draw sparklines", stamp=False)
    s.answer("`sparkline(series)` returns the path, or an empty string for fewer than two points.")
    repo.ci(commit, "passed")


def query_builder(evidence: Evidence, repo: Repository) -> None:
    """A long Session whose client compacted the history: the changed history begins a second Segment."""
    s = Session(evidence, "dashboard-query-builder", "11-05 11:00", repo, CLAUDE_CODE, user="dev-3")
    s.user("query() breaks when a metric has a '&' in its name, and errors look like data. Clean up src/api.ts.")
    s.read("src/api.ts", think="String concatenation without encoding, and the response status is never looked at.")
    s.edit(
        "src/api.ts",
        '  return fetch("/api/query?metric=" + metric + "&from=" + from + "&to=" + to);\n',
        code("""
            const parameters = new URLSearchParams({ metric, from: String(from), to: String(to) });
            return fetch(`/api/query?${parameters}`);
        """, 2),
        say="`URLSearchParams` encodes the names.",
    )  # fmt: skip
    s.run("npm run build", "vite v5.4.8 building for production...\n✓ built in 812ms")
    first = s.commit("Encode query parameters")
    repo.ci(first, "passed")
    summary = (
        "Summary of the work so far: src/api.ts builds its query with URLSearchParams, committed. Still to do: errors "
        "look like data."
    )
    s.history[1:] = [{"role": "user", "parts": [{"type": "text", "content": summary}], "finish_reason": None}]
    s.read("src/api.ts", say="The history was compacted; I'll read the file again.")
    s.edit(
        "src/api.ts",
        code("""
            return fetch(`/api/query?${parameters}`);
        """, 2),
        code("""
            const response = await fetch(`/api/query?${parameters}`);
            if (!response.ok) throw new QueryError(metric, response.status);
            return response;
        """, 2),
    )  # fmt: skip
    s.edit(
        "src/api.ts",
        "export async function query(",
        code("""
            export class QueryError extends Error {
              constructor(metric: string, readonly status: number) {
                super(`query of ${metric} failed with status ${status}`);
              }
            }

            export async function query("""),
    )
    s.run("npm test", " Tests  5 passed (5)")
    second = s.commit("Throw on failed queries")
    s.answer("Parameters are encoded, and a failed query throws a `QueryError` with the status.")
    repo.ci(second, "passed")


def lazy_charts(evidence: Evidence, repo: Repository) -> None:
    """The client lost an answer and asked again: the answer not replayed begins a second Segment."""
    s = Session(evidence, "dashboard-lazy-charts", "11-05 16:20", repo, COPILOT, user="dev-4")
    s.user("Charts below the fold should be drawn only when they come into view.")
    s.read("src/chart.ts")
    lost = {"type": "text", "content": "I would use an IntersectionObserver that"}
    s.capture({"role": "assistant", "parts": [lost], "finish_reason": "length"})
    s.wait(1)
    s.write(
        "src/lazy.ts",
        code("""
            /** Calls `draw` once, when the element first comes into view. */
            export function whenVisible(element: Element, draw: () => void): void {
              const observer = new IntersectionObserver((entries) => {
                if (!entries.some((entry) => entry.isIntersecting)) return;
                observer.disconnect();
                draw();
              });
              observer.observe(element);
            }
        """),
        say="An IntersectionObserver that disconnects after the first hit does it.",
    )
    commit = s.commit("Draw charts when they come into view")
    s.answer("`whenVisible(element, draw)` draws once. Nothing calls it yet; tell me which charts should.")
    repo.ci(commit, "passed")


def timezone_axis(evidence: Evidence, repo: Repository) -> None:
    """A failed attempt came from a broken runner image and is quarantined: what remains is a clean pass."""
    s = Session(evidence, "dashboard-timezone-axis", "11-06 09:15", repo, CLAUDE_CODE, user="dev-3")
    s.user("The time axis shows local time. Show UTC, 24 hours, without seconds.")
    s.read("src/format.ts")
    s.edit(
        "src/format.ts",
        "  return new Date(at).toLocaleTimeString();\n",
        "  return new Date(at).toISOString().slice(11, 16);\n",
        say="The ISO form is UTC already; characters 11 to 16 are hours and minutes.",
    )
    s.run("npm test", " Tests  5 passed (5)")
    commit = s.commit("Show the time axis in UTC")
    s.answer("The axis shows hours and minutes in UTC.")
    broken = repo.ci(commit, "failed", reason="node: error while loading shared libraries: libatomic.so.1")
    repo.ci(commit, "passed", rerun_of=broken)
    evidence.quarantine(broken, on("11-06 10:02"), "runner image without libatomic, see the incident of 6 November")


def legend_order(evidence: Evidence, repo: Repository) -> None:
    """Its outcome was quarantined by mistake and released: it counts as if nothing had happened."""
    s = Session(evidence, "dashboard-legend-order", "11-06 11:30", repo, CURSOR, user="dev-2")
    s.user("Sort the legend by name, ignoring case.")
    s.read("src/chart.ts")
    s.edit(
        "src/chart.ts",
        "  return names.map((name) => [...name].slice(0, 12).join(\"\")).join(\", \");\n",
        code("""
            const sorted = [...names].sort((a, b) => a.toLowerCase().localeCompare(b.toLowerCase()));
            return sorted.map((name) => [...name].slice(0, 12).join("")).join(", ");
        """, 2),
        decision=AUTO,
    )  # fmt: skip
    commit = s.commit("Sort the legend")
    s.answer("The legend is sorted by name; the caller's list stays as it is.")
    passed = repo.ci(commit, "passed")
    evidence.quarantine(passed, on("11-06 12:20"), "suspected of the broken runner image")
    evidence.release(passed, on("11-06 16:45"), "ran on the repaired image")


def axis_bounds(evidence: Evidence, repo: Repository) -> None:
    """A tool call with an infinite number: JSON has none, so the Rollout's row is skipped, not its task."""
    s = Session(evidence, "dashboard-axis-bounds", "11-06 13:45", repo, PI, user="dev-4")
    s.user("An empty series breaks the y axis.")
    s.tools(
        [("render_chart", {"series": [], "y_min": float("inf"), "y_max": float("-inf")})],
        ["error: y_min must be below y_max"],
        say="Let me draw an empty chart with the bounds we compute.",
    )
    s.edit(
        "src/chart.ts",
        "  const values = series.map((point) => point.value);\n  return [",
        "  const values = series.map((point) => point.value);\n  if (values.length === 0) return [0, 1];\n  return [",
        think="Math.min() of nothing is Infinity, Math.max() of nothing is -Infinity.",
    )
    commit = s.commit("Give an empty series bounds")
    s.answer("`Math.min()` of nothing is Infinity. An empty series now has the bounds 0 and 1.")
    repo.ci(commit, "passed")


def brand_refresh(evidence: Evidence, repo: Repository) -> None:
    """A patch with a CRLF file, a file that is not UTF-8, a binary file and a rename: it applies exactly."""
    s = Session(evidence, "dashboard-brand-refresh", "11-06 15:40", repo, COPILOT, user="dev-3")
    s.user(
        "Brand refresh: the logo becomes orange and is called logo.png (the new one is in ../brand), region eu-1 is "
        "now called eu-west, and src/theme.ts moves to src/theme/index.ts."
    )
    s.read("tools/hosts.bat", "data/regions.csv")
    s.edit(
        "tools/hosts.bat", "set REGION=eu-1\r\n", "set REGION=eu-west\r\n", say="The batch file has CRLF; I keep it."
    )
    s.edit("data/regions.csv", "eu-1;Europe (old);", "eu-west;Europe;", say="The table is Latin-1; I keep that too.")
    s.rename_file("src/theme.ts", "src/theme/index.ts")
    s.run("git rm -q public/logo-blue.png && cp ../brand/logo.png public/logo.png", "")
    del s.files["public/logo-blue.png"]
    s.files["public/logo.png"] = ORANGE_LOGO
    s.run("npm run build && npm test", "✓ built in 798ms\n Tests  5 passed (5)")
    commit = s.commit("Refresh the brand")
    s.answer("Logo, region name and theme folder are in place; imports of ./theme still resolve.")
    repo.ci(commit, "passed")


def csv_download(evidence: Evidence, repo: Repository) -> None:
    """Another failing change, on the eval side of the split."""
    s = Session(evidence, "dashboard-csv-download", "11-08 15:00", repo, CURSOR, user="dev-2")
    s.user("Offer a chart's series as a CSV download.")
    s.read("src/series.ts")
    s.write(
        "src/download.ts",
        code("""
            import type { Series } from "./series";

            export function toCsv(series: Series): string {
              return series.map((point) => `${point.at},${point.value}`).join("\\n");
            }

            export function download(series: Series): void {
              const link = document.createElement("a");
              link.href = URL.createObjectURL(new Blob([toCsv(series)], { type: "text/csv" }));
              link.download = "series.csv";
              link.click();
            }
        """),
    )
    s.edit(
        "src/chart.ts",
        'import { formatTime } from "./format";\n',
        'import { download } from "./download";\nimport { formatTime } from "./format";\n',
    )
    commit = s.commit("Download a series as CSV")
    s.answer("`download(series)` saves the points as CSV. The button is not wired up yet.")
    repo.ci(
        commit, "failed", reason="src/chart.ts(1,1): error TS6133: 'download' is declared but its value is never read."
    )
    # A decision about a call no gateway captured joins no Turn; it is counted instead.
    s.decide("src/chart.ts", AUTO, "toolu_of_another_gateway", interaction_mode="inline")
