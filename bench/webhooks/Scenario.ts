/**
 * What all sides of the webhook benchmarks have in common: endpoints, event types, the event that is sent, and
 * how a worker process talks to the benchmark that started it.
 */

/** How many endpoints there are; each wants one type. */
export const ENDPOINTS = 20
export const TYPES = 5
/** How many endpoints want an event. */
export const FAN_OUT = ENDPOINTS / TYPES

/** Attempts under way at once, on every side. */
export const IN_FLIGHT = 64

export const typeOf = (index: number): string => `bench.type_${index % TYPES}`

/** The data of an event: a small invoice. */
export const dataOf = (index: number) => ({
  invoice_id: `inv_${index}`,
  customer_id: "cus_01h2xcejqtf2nbrexx3vqjhp41",
  number: `2026-${index}`,
  currency: "EUR",
  total: 129_900 + (index % 1000),
  lines: [
    { description: "Calls of the API", product_id: "api", quantity: 12_000, unit: "call", amount: 120_000 },
    { description: "Storage", product_id: "storage", quantity: 99, unit: "GB", amount: 9_900 },
  ],
})

/** What a worker process is told. */
type Order = "go" | "stop" | "stages"

/** When a worker did what for the first delivery of an event, in milliseconds since 1970. */
export interface Stages {
  readonly claimBegun: number
  readonly claimed: number
  readonly sent: number
}

/**
 * What it tells: that it can begin, that it has ended, how many deliveries it has written as done in all, or the
 * stages of events, by their ids, since it was asked before.
 */
export type Report = "ready" | "stopped" | number | ReadonlyArray<readonly [string, Stages]>

/** Tells the benchmark. Nothing is told when the process was started by hand. */
const report = (news: Report): void => {
  process.send?.(news)
}

/** How often it is told how many results were written, in milliseconds. */
const REPORT_MILLIS = 10

/** Counts written results, and tells from time to time. */
export const counter = (): ((written: number) => void) => {
  let total = 0
  let isWaiting = false
  return (written) => {
    total += written
    if (isWaiting) return
    isWaiting = true
    setTimeout(() => {
      isWaiting = false
      report(total)
    }, REPORT_MILLIS)
  }
}

/** Does what it is told, until the benchmark ends. */
export const obey = (
  go: () => Promise<void>,
  stop: () => Promise<void>,
  stages: () => Report = () => [],
): void => {
  process.on("message", (order: Order) => {
    if (order === "stages") return report(stages())
    const done = order === "go" ? go() : stop()
    if (order === "stop") void done.then(() => report("stopped"))
  })
  process.on("disconnect", () => process.exit())
  report("ready")
}
