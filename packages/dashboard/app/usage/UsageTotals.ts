/**
 * Computes the totals of a customer's usage from the points of a series by product.
 */
import { sum, type WireInteger } from "../Quantity.ts"

/** A product and a unit. Quantities of different meters are never added. */
interface Meter {
  readonly productId: string
  readonly unit: string
}

interface DayOfUsage {
  /** The UTC instant at which the day starts. */
  readonly start: string
  readonly quantity: bigint
}

export interface MeterTotal extends Meter {
  readonly key: string
  readonly total: bigint
  readonly recordCount: number
  readonly days: ReadonlyArray<DayOfUsage>
}

interface Point {
  readonly start: string
  readonly product_id?: string
  readonly unit: string | null
  readonly quantity: WireInteger
  readonly record_count: number
}

const SEPARATOR = "\u0000"
/** The key of a meter. */
const keyOf = ({ productId, unit }: Meter): string => `${productId}${SEPARATOR}${unit}`

const toTotal = (meter: Meter, points: ReadonlyArray<Point>, starts: ReadonlyArray<string>): MeterTotal => {
  const quantities = new Map(points.map(({ quantity, start }) => [start, BigInt(quantity)]))
  return {
    ...meter,
    key: keyOf(meter),
    total: sum(points.map(({ quantity }) => quantity)),
    recordCount: points.reduce((count, point) => count + point.record_count, 0),
    days: starts.map((start) => ({ start, quantity: quantities.get(start) ?? 0n })),
  }
}

/** The totals of each product and unit, sorted by product. Days without usage have 0. */
export const totalsOf = (points: ReadonlyArray<Point>): ReadonlyArray<MeterTotal> => {
  const starts = [...new Set(points.map(({ start }) => start))].sort()
  const meters = new Map<string, { readonly meter: Meter; readonly points: Array<Point> }>()
  for (const point of points) {
    if (point.unit === null || point.product_id === undefined || point.record_count === 0) continue
    const meter = { productId: point.product_id, unit: point.unit }
    const entry = meters.get(keyOf(meter)) ?? { meter, points: [] }
    entry.points.push(point)
    meters.set(keyOf(meter), entry)
  }
  return [...meters.values()]
    .map((entry) => toTotal(entry.meter, entry.points, starts))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
}
