/**
 * A bar chart over time. Its label says in words what it shows. The values are in a table beside it or in the tooltip.
 */
import { useEffect, useRef, useState } from "react"
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"
import * as Quantity from "../Quantity.ts"
import * as Theme from "../shell/Theme.ts"
import { stack } from "./BarStack.ts"

interface BarSeries {
  readonly label: string
  /** A class that has the colour. */
  readonly className: string
  /** Drawn with stripes, so that it can be recognised without its colour. */
  readonly isHatched?: boolean
  readonly values: ReadonlyArray<number>
}

interface BarChartProps {
  /** What it shows, in words. */
  readonly label: string
  /** When each bar starts, in milliseconds. */
  readonly starts: ReadonlyArray<number>
  /** Stacked, the first at the bottom. */
  readonly series: ReadonlyArray<BarSeries>
  /** The tooltip of a bar. */
  readonly describe: (index: number) => string
  /** The label below a bar. */
  readonly tick: (at: number) => string
}

const HEIGHT = 180
const SECOND_MILLIS = 1_000
const FONT = "11px system-ui, sans-serif"
const AXIS_WIDTH = 52
/** The width of the widest character of a label, in pixels. */
const LABEL_CHARACTER_WIDTH = 7
/** The width of a bar as a share of its space, and its largest width in pixels. */
const BAR_SIZE: [number, number] = [0.72, 34]
/** Steps of the axis: 1, 2, 5, 10, 20, 50, …, larger than any quantity. */
const INCREMENTS = Array.from({ length: 40 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat()

/** The current colour of a CSS class, because a canvas has no classes. */
const colourOf = (host: HTMLElement, className: string): string => {
  const probe = host.appendChild(document.createElement("span"))
  probe.className = className
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** The side of a tile of stripes, in CSS pixels. */
const TILE = 6

/** Stripes of a colour. */
const hatched = (colour: string): CanvasPattern | string => {
  const side = TILE * devicePixelRatio
  const tile = document.createElement("canvas")
  tile.width = tile.height = side
  const context = tile.getContext("2d")
  if (context === null) return colour
  context.strokeStyle = colour
  context.lineWidth = side / 2
  context.beginPath()
  // One stripe through the middle, and the corners of its neighbours.
  for (const shift of [-side, 0, side]) {
    context.moveTo(shift - side, side * 2)
    context.lineTo(shift + side * 2, -side)
  }
  context.stroke()
  return context.createPattern(tile, "repeat") ?? colour
}

const fillOf = (host: HTMLElement, { className, isHatched = false }: BarSeries) => {
  const colour = colourOf(host, className)
  const fill = isHatched ? hatched(colour) : colour
  return () => fill
}

const axis = (host: HTMLElement, more: uPlot.Axis): uPlot.Axis => ({
  font: FONT,
  stroke: colourOf(host, "chart-text"),
  ticks: { show: false },
  ...more,
})

/** The width for the longest label, in pixels. It is the same for all short labels, so that charts are aligned. */
const axisWidth = (labels: ReadonlyArray<string>): number =>
  Math.max(AXIS_WIDTH, Math.max(0, ...labels.map((label) => label.length)) * LABEL_CHARACTER_WIDTH + 12)

/** The positions of labels: below bars, and only as many as there is room for. */
const splitsOf = (plot: uPlot, increment: number): Array<number> => {
  const starts = plot.data[0]
  const step = (starts[1] ?? 0) - (starts[0] ?? 0)
  const every = step > 0 ? Math.max(1, Math.ceil(increment / step)) : 1
  return Array.from(starts).filter((_, index) => (starts.length - 1 - index) % every === 0)
}

/** The range of the axis, with half a bar more on both sides. */
const widened = (starts: ArrayLike<number>): [number, number] => {
  const [first, last] = [starts[0] ?? 0, starts[starts.length - 1] ?? 0]
  const half = starts.length > 1 ? (last - first) / (starts.length - 1) / 2 : 1
  return [first - half, last + half]
}

const optionsOf = (host: HTMLElement, props: BarChartProps, onHover: (index: number | null) => void) => {
  const bars = uPlot.paths.bars?.({ size: BAR_SIZE })
  const paths = bars === undefined ? {} : { paths: bars }
  return {
    width: host.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { range: (plot: uPlot) => widened(plot.data[0]) },
      y: { range: (_: uPlot, __: number, max: number): [number, number] => [0, Math.max(1, max * 1.1)] },
    },
    axes: [
      axis(host, {
        grid: { show: false },
        size: 28,
        space: 60,
        splits: (plot: uPlot, _: number, __: number, ___: number, incr: number) => splitsOf(plot, incr),
        values: (_: uPlot, values: ReadonlyArray<number>) =>
          values.map((value) => props.tick(value * SECOND_MILLIS)),
      }),
      axis(host, {
        grid: { stroke: colourOf(host, "chart-grid"), width: 1 },
        incrs: INCREMENTS,
        size: (_: uPlot, labels: ReadonlyArray<string> | null) => axisWidth(labels ?? []),
        space: 34,
        values: (_: uPlot, values: ReadonlyArray<number>) => values.map(Quantity.compact),
      }),
    ],
    series: [
      {},
      ...props.series.toReversed().map((series) => ({
        label: series.label,
        fill: fillOf(host, series),
        points: { show: false },
        width: 0,
        ...paths,
      })),
    ],
    hooks: { setCursor: [(plot: uPlot) => onHover(plot.cursor.idx ?? null)] },
  } satisfies uPlot.Options
}

const dataOf = ({ series, starts }: BarChartProps): uPlot.AlignedData => [
  starts.map((start) => start / SECOND_MILLIS),
  ...stack(series.map(({ values }) => values))
    // A value of 0 has no bar. Otherwise its edges would be visible above the bar below it.
    .map((sums, at) => sums.map((sum, index) => (series[at]?.values[index] === 0 ? null : sum)))
    .toReversed(),
]

export const BarChart = (props: BarChartProps) => {
  const host = useRef<HTMLDivElement>(null)
  const [hovered, setHovered] = useState<number | null>(null)
  const [theme, setTheme] = useState(Theme.current)
  const content = JSON.stringify([props.starts, props.series])
  useEffect(() => Theme.watch(() => setTheme(Theme.current())), [])
  useEffect(() => {
    const element = host.current
    if (element === null) return
    const plot = new uPlot(optionsOf(element, props, setHovered), dataOf(props), element)
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [content, theme])
  return (
    <figure className="chart">
      {props.series.length > 1 && (
        <div aria-hidden className="chart-keys">
          {props.series.map(({ className, isHatched = false, label }) => (
            <span key={label}>
              <i className={`${className}${isHatched ? " hatched" : ""}`} />
              {label}
            </span>
          ))}
        </div>
      )}
      <div aria-label={props.label} ref={host} role="img" />
      <figcaption>{hovered === null ? props.label : props.describe(hovered)}</figcaption>
    </figure>
  )
}
