"""The telemetry dashboard before the week: a small TypeScript front end, as its developers wrote it by hand.

Three of its files are not plain UTF-8 with LF: a batch file with CRLF, a table in Latin-1, and a PNG image.
"""

from base64 import b64decode
from typing import Final

from sediment_assets.demo.commits import MAIN, Change, changed, on
from sediment_assets.demo.repositories import Repository
from sediment_assets.demo.text import code

PACKAGE: Final = code("""
    {
      "name": "telemetry-dashboard",
      "version": "1.2.0",
      "type": "module",
      "scripts": {
        "build": "tsc --noEmit && vite build",
        "test": "vitest run",
        "e2e": "playwright test"
      },
      "devDependencies": {
        "typescript": "^5.6.0",
        "vite": "^5.4.0",
        "vitest": "^2.1.0"
      }
    }
""")
TSCONFIG: Final = code("""
    {
      "compilerOptions": {
        "target": "ES2022",
        "module": "ESNext",
        "moduleResolution": "Bundler",
        "lib": ["ES2022", "DOM", "DOM.Iterable"],
        "strict": true,
        "noUnusedLocals": true,
        "noEmit": true
      },
      "include": ["src"]
    }
""")
README: Final = code("""
    # telemetry-dashboard

    Charts of what our services report. `npm test` runs the unit tests.
""")
SERIES: Final = code("""
    export interface Point {
      at: number;
      value: number;
    }

    export type Series = readonly Point[];

    /** Averages the points of each interval of `step` milliseconds. */
    export function downsample(series: Series, step: number): Point[] {
      const buckets = new Map<number, number[]>();
      for (const point of series) {
        const start = Math.floor(point.at / step) * step;
        buckets.set(start, [...(buckets.get(start) ?? []), point.value]);
      }
      return [...buckets].map(([at, values]) => ({
        at,
        value: values.reduce((sum, value) => sum + value, 0) / values.length,
      }));
    }
""")
TEST_SERIES: Final = code("""
    import { expect, test } from "vitest";
    import { downsample } from "../src/series";

    test("points of one interval are averaged", () => {
      const series = [{ at: 0, value: 1 }, { at: 500, value: 3 }, { at: 1000, value: 8 }];
      expect(downsample(series, 1000)).toEqual([{ at: 0, value: 2 }, { at: 1000, value: 8 }]);
    });
""")
FORMAT: Final = code("""
    export function formatBytes(bytes: number): string {
      return `${bytes} B`;
    }

    export function formatTime(at: number): string {
      return new Date(at).toLocaleTimeString();
    }
""")
TEST_FORMAT: Final = code("""
    import { expect, test } from "vitest";
    import { formatBytes } from "../src/format";

    test("small sizes are plain bytes", () => {
      expect(formatBytes(17)).toBe("17 B");
    });
""")
ALERTS: Final = code("""
    import type { Series } from "./series";

    export interface Rule {
      above: number;
    }

    export function isFiring(series: Series, rule: Rule): boolean {
      const last = series.at(-1);
      return last !== undefined && last.value > rule.above;
    }
""")
THEME: Final = code("""
    export interface Theme {
      background: string;
      text: string;
      line: string;
    }

    export const light: Theme = { background: "#ffffff", text: "#1c1c1c", line: "#2646a0" };
""")
CHART: Final = code("""
    import { formatTime } from "./format";
    import type { Series } from "./series";
    import { light, type Theme } from "./theme";

    export function axisLabels(series: Series, count: number): string[] {
      const every = Math.max(1, Math.floor(series.length / count));
      return series.filter((_, index) => index % every === 0).map((point) => formatTime(point.at));
    }

    export function bounds(series: Series): [number, number] {
      const values = series.map((point) => point.value);
      return [Math.min(...values), Math.max(...values)];
    }

    export function legend(names: string[]): string {
      return names.join(", ");
    }

    export function frame(theme: Theme = light): string {
      return `<svg style="background:${theme.background};color:${theme.text}">`;
    }
""")
API: Final = code("""
    export async function query(metric: string, from: number, to: number): Promise<Response> {
      return fetch("/api/query?metric=" + metric + "&from=" + from + "&to=" + to);
    }
""")
CI_WORKFLOW: Final = code("""
    name: CI
    on:
      push:
        paths-ignore: ["**.md"]
    jobs:
      unit:
        runs-on: ubuntu-latest
        steps:
          - uses: actions/checkout@v4
          - run: npm ci && npm run build && npm test
""")
E2E_WORKFLOW: Final = code("""
    name: E2E
    on: workflow_dispatch
    jobs:
      browser:
        runs-on: ubuntu-latest
        steps:
          - uses: actions/checkout@v4
          - run: npm ci && npx playwright install --with-deps && npm run e2e
""")
HOSTS_BAT: Final = (
    "@echo off\r\n"
    "rem Loads the host list of a region.\r\n"
    "set REGION=eu-1\r\n"
    "curl -s https://hosts.example.test/%REGION% > hosts.txt\r\n"
)
REGIONS_CSV: Final = "id;name;city\neu-1;Europe (old);Zürich\neu-2;Europe;Köln\n".encode("latin-1")
BLUE_LOGO: Final = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mNQc1tAEmIY1TCqYfhqAAABFgwQbJnlagAAAABJRU5ErkJggg=="
)
ORANGE_LOGO: Final = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mN4UKVHEmIY1TCqYfhqAAAYR4gQiRnvDAAAAABJRU5ErkJggg=="
)

_HISTORY: Final[tuple[tuple[str, str, str, dict[str, Change]], ...]] = (
    (
        "10-26 10:20",
        "dev-4",
        "Set the project up",
        {"README.md": README, "package.json": PACKAGE, "tsconfig.json": TSCONFIG},
    ),
    ("10-26 15:05", "dev-4", "Average points", {"src/series.ts": SERIES, "test/series.test.ts": TEST_SERIES}),
    ("10-27 11:32", "dev-2", "Format bytes and times", {"src/format.ts": FORMAT, "test/format.test.ts": TEST_FORMAT}),
    ("10-27 17:21", "dev-2", "Draw a chart", {"src/theme.ts": THEME, "src/chart.ts": CHART}),
    ("10-28 10:44", "dev-4", "Build and test on every push", {".github/workflows/ci.yml": CI_WORKFLOW}),
    ("10-28 16:10", "dev-4", "Show the logo", {"public/logo-blue.png": BLUE_LOGO}),
    ("10-29 09:58", "dev-3", "Fire alerts", {"src/alerts.ts": ALERTS}),
    ("10-29 16:27", "dev-3", "List the regions", {"data/regions.csv": REGIONS_CSV, "tools/hosts.bat": HOSTS_BAT}),
    ("10-30 14:36", "dev-2", "Run the browser tests by hand", {".github/workflows/e2e.yml": E2E_WORKFLOW}),
)


def write_dashboard(repo: Repository) -> None:
    """Commit the dashboard's first week: the main branch, and one side branch that is merged."""
    history = repo.history
    for moment, author, message, changes in _HISTORY:
        history.change(moment, author, message, changes)
    history.branches["query"] = start = history.branches[MAIN]
    with_api = changed(start.files, {"src/api.ts": API})
    side = history.commit(on("10-30 15:02"), "dev-2", "Query metrics", with_api, branch="query")
    del history.branches["query"]
    history.change("10-30 15:40", "dev-4", "Release 1.2.1", {"package.json": ('"1.2.0"', '"1.2.1"')})
    merged = changed(history.branches[MAIN].files, {"src/api.ts": API})
    history.commit(on("10-30 17:12"), "dev-4", "Merge branch 'query'", merged, merge=side)
    reviewed = history.branches[MAIN]
    # Someone used the notes ref by hand: such a note is counted as unreadable and changes nothing else.
    history.note(reviewed, "reviewed, looks good\n")
