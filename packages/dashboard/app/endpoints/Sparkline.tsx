/**
 * A small chart of the last hours: delivered above the line, failed below it.
 */
import type { EndpointStatistics } from "../api/Types.ts"

const BAR = 3
const GAP = 1
const HALF = 11

type Hours = EndpointStatistics["hours"]

/** The height of a bar in pixels. Every count above 0 is visible, even a small one. */
const heightOf = (count: number, largest: number): number =>
  count === 0 ? 0 : Math.max(1.5, (count / largest) * (HALF - 1))

const describe = (hours: Hours): string => {
  const total = (counts: ReadonlyArray<number>) => counts.reduce((sum, count) => sum + count, 0)
  const delivered = total(hours.map((hour) => hour.delivered))
  const failed = total(hours.map((hour) => hour.failed_attempts))
  return `Last ${hours.length} hours: ${delivered} delivered, ${failed} failed attempts`
}

export const Sparkline = ({ hours }: { readonly hours: Hours }) => {
  const largest = Math.max(1, ...hours.flatMap((hour) => [hour.delivered, hour.failed_attempts]))
  const width = hours.length * (BAR + GAP) - GAP
  return (
    <svg
      aria-label={describe(hours)}
      className="sparkline"
      height={2 * HALF}
      role="img"
      viewBox={`0 0 ${width} ${2 * HALF}`}
      width={width}
    >
      <title>{describe(hours)}</title>
      <path className="sparkline-axis" d={`M0 ${HALF}H${width}`} />
      {hours.map(({ delivered, failed_attempts: failed, start }, index) => {
        const up = heightOf(delivered, largest)
        const down = heightOf(failed, largest)
        const x = index * (BAR + GAP)
        return (
          <g key={start}>
            <rect className="sparkline-delivered" height={up} width={BAR} x={x} y={HALF - up} />
            <rect className="sparkline-failed" height={down} width={BAR} x={x} y={HALF} />
          </g>
        )
      })}
    </svg>
  )
}
