/**
 * Charts as SVG: bars for a comparison, and lines for growth. They have their own background, light or dark, so that
 * they are readable on any page.
 */
import { number } from "./Results.ts"

const WIDTH = 720
const MARGIN = 20
/** Where the bars begin. Names are on their left. */
const NAMES = 250
/** Room for the figure after a bar. */
const VALUES = 90
const ROW = 34
const PLOT = 280
const TITLE = 44

const STYLE = `<style>
svg { --ground: #ffffff; --ink: #1f2328; --faint: #59636e; --rule: #d1d9e0; --1: #0969da; --2: #bc4c00; --3: #1a7f37; --4: #8250df; }
@media (prefers-color-scheme: dark) {
svg { --ground: #0d1117; --ink: #f0f6fc; --faint: #9198a1; --rule: #3d444d; --1: #4493f8; --2: #db6d28; --3: #3fb950; --4: #ab7df8; }
}
text { font: 13px system-ui, sans-serif; fill: var(--ink); }
.title { font-weight: 600; }
.faint { fill: var(--faint); font-size: 12px; }
.rule { stroke: var(--rule); }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
</style>`

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const at = (value: number): string => String(Math.round(value * 10) / 10)

const svg = (height: number, title: string, content: ReadonlyArray<string>): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escape(title)}</title>`,
    STYLE,
    `<rect width="${WIDTH}" height="${height}" rx="6" fill="var(--ground)"/>`,
    `<text class="title" x="${MARGIN}" y="28">${escape(title)}</text>`,
    ...content,
    "</svg>\n",
  ].join("\n")

const line = (x1: number, y1: number, x2: number, y2: number, color = ""): string =>
  `<line x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}" ${
    color === "" ? 'class="rule"' : `stroke="${color}" stroke-width="2"`
  }/>`

const label = (text: string, x: number, y: number, classes: string): string =>
  `<text class="${classes}" x="${at(x)}" y="${at(y)}">${escape(text)}</text>`

/** A measured value and its range. */
interface Spread {
  readonly median: number
  readonly lowest: number
  readonly highest: number
}

export interface NamedSpread extends Spread {
  readonly name: string
}

/** A bar for each side, ours first. The range is drawn at the end of the bar. */
export const bars = (title: string, unit: string, figures: ReadonlyArray<NamedSpread>): string => {
  const most = Math.max(...figures.map(({ highest }) => highest))
  const scale = (WIDTH - NAMES - VALUES - MARGIN) / most
  const rows = figures.flatMap(({ highest, lowest, median, name }, index) => {
    const y = TITLE + index * ROW
    const middle = y + 11
    return [
      label(name, NAMES - 10, y + 15, "end"),
      `<rect x="${NAMES}" y="${y}" width="${at(median * scale)}" height="22" rx="3" fill="var(--${index === 0 ? 1 : 2})"/>`,
      line(NAMES + lowest * scale, middle, NAMES + highest * scale, middle, "var(--ink)"),
      label(number(median), NAMES + highest * scale + 8, y + 15, "faint"),
    ]
  })
  const foot = TITLE + figures.length * ROW
  return svg(foot + 30, title, [
    ...rows,
    label(`${unit}; the line is from the lowest to the highest round`, NAMES, foot + 14, "faint"),
  ])
}

interface Point extends Spread {
  readonly x: number
}

export interface Series {
  readonly name: string
  readonly points: ReadonlyArray<Point>
}

const sizeName = (rows: number): string => (rows >= 1_000_000 ? `${rows / 1_000_000} million` : number(rows))

/** The next round number that is not smaller. */
const roundUp = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((round) => round >= value)!
}

/** A line for each series. One axis is the amount of stored data in powers of ten, the other begins at zero. */
export const lines = (title: string, unit: string, series: ReadonlyArray<Series>): string => {
  const points = series.flatMap((each) => each.points)
  const sizes = [...new Set(points.map(({ x }) => x))].toSorted((a, b) => a - b)
  const top = roundUp(Math.max(...points.map(({ highest }) => highest)))
  const left = 80
  const right = WIDTH - 60
  const [first, last] = [Math.log10(sizes[0]!), Math.log10(sizes.at(-1)!)]
  const xOf = (size: number): number =>
    first === last
      ? (left + right) / 2
      : left + ((Math.log10(size) - first) / (last - first)) * (right - left)
  const yOf = (value: number): number => TITLE + PLOT - (value / top) * PLOT
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((part) => [
    line(left, yOf(part * top), right, yOf(part * top)),
    label(number(part * top), left - 10, yOf(part * top) + 4, "faint end"),
  ])
  const axis = sizes.map((size) => label(sizeName(size), xOf(size), TITLE + PLOT + 22, "faint middle"))
  const drawn = series.flatMap(({ name, points: own }, index) => {
    const color = `var(--${(index % 4) + 1})`
    const path = own.map(({ median, x }) => `${at(xOf(x))},${at(yOf(median))}`).join(" ")
    return [
      `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"/>`,
      ...own.flatMap(({ highest, lowest, median, x }) => [
        line(xOf(x), yOf(lowest), xOf(x), yOf(highest), color),
        `<circle cx="${at(xOf(x))}" cy="${at(yOf(median))}" r="4" fill="${color}"/>`,
      ]),
      ...(name === ""
        ? []
        : [
            `<circle cx="${left + 5}" cy="${TITLE + PLOT + 42 + index * 20}" r="5" fill="${color}"/>`,
            label(name, left + 18, TITLE + PLOT + 46 + index * 20, ""),
          ]),
    ]
  })
  const legend = series.filter(({ name }) => name !== "").length * 20
  const foot = TITLE + PLOT + 46 + legend
  return svg(foot + 16, title, [
    ...grid,
    ...axis,
    ...drawn,
    label(
      `${unit}, by what is stored; lines down and up are the lowest and highest round`,
      left,
      foot,
      "faint",
    ),
  ])
}
