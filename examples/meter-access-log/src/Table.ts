/**
 * A report for people.
 */
import type { Report } from "./Metering.ts"

const HEAD = ["customer", "product", "requests", "bytes"]

const shown = (quantity: bigint | number): string => quantity.toLocaleString("en-US")

const sum = (quantities: ReadonlyArray<bigint>): bigint => quantities.reduce((a, b) => a + b, 0n)

export const table = ({ counts, period, totals }: Report): string => {
  const rows = totals.map(({ customer, product, requests, bytes }) => [
    customer.name,
    product,
    shown(requests),
    shown(bytes),
  ])
  const all = [
    "all",
    "",
    shown(sum(totals.map(({ requests }) => requests))),
    shown(sum(totals.map(({ bytes }) => bytes))),
  ]
  const widths = HEAD.map((head, column) =>
    [...rows, all].reduce((width, row) => Math.max(width, row[column]?.length ?? 0), head.length),
  )
  const print = (row: ReadonlyArray<string>): string =>
    row
      .map((cell, column) =>
        column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd()
  const body = period === undefined ? ["No billed requests."] : [HEAD, ...rows, all].map(print)
  const { lines, billed, not_billed, malformed, refused, recorded, duplicates } = counts
  return [
    ...(period === undefined ? [] : [`Usage from ${period.start_date} to ${period.end_date} (UTC)`, ""]),
    ...body,
    "",
    `lines    ${shown(lines)}: ${shown(billed)} billed, ${shown(not_billed)} not billed, ${shown(malformed)} malformed, ${shown(refused)} refused`,
    `records  ${shown(recorded + duplicates)}: ${shown(recorded)} recorded, ${shown(duplicates)} duplicates`,
  ].join("\n")
}
