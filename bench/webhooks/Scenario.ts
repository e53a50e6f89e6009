/**
 * The parts that all sides of the webhook benchmarks share: endpoints, event types, the event that is sent, and the
 * messages between a worker process and its benchmark.
 */

/** The number of endpoints. Each accepts one type. */
export const ENDPOINTS = 20
export const TYPES = 5
/** How many endpoints get an event. */
export const FAN_OUT = ENDPOINTS / TYPES

/** Concurrent attempts, on every side. */
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

/** How many publications a process has under way at a time, when it publishes as fast as it can. */
const PUBLISHERS = 4

/** Which events a process publishes: those from `first` on. */
export interface Publications {
  readonly first: number
  readonly count: number
  /** The time between two, in milliseconds. Without it some callers publish, each one after another. */
  readonly every?: number
}

/** An event's id, and when its publisher got the answer, in milliseconds since 1970. */
export type Commit = readonly [id: string, at: number]

export const now = (): number => performance.timeOrigin + performance.now()

/** Publishes an event, whose type and data depend on the index. Gives its id after the commit. */
export type Publish = (index: number) => Promise<string>

/** Publishes events. */
export const publishAll = async (
  publish: Publish,
  { count, every, first }: Publications,
): Promise<ReadonlyArray<Commit>> => {
  const commits: Array<Commit> = []
  const publishOne = async (index: number) => {
    const id = await publish(index)
    commits.push([id, now()])
  }
  if (every !== undefined) {
    const begin = now() + every
    const one = async (place: number) => {
      await new Promise((done) => setTimeout(done, begin + place * every - now()))
      await publishOne(first + place)
    }
    await Promise.all(Array.from({ length: count }, (_, place) => one(place)))
    return commits
  }
  let next = first
  const caller = async () => {
    while (next < first + count) await publishOne(next++)
  }
  await Promise.all(Array.from({ length: PUBLISHERS }, caller))
  return commits
}

/** A message to a worker process. */
type Order = "go" | "stop" | "stages" | Publications

/** The times of a worker's stages for the first delivery of an event, in milliseconds since 1970. */
export interface Stages {
  /** When the worker had it. */
  readonly leased: number
  /** Whether it was claimed. Otherwise the publication leased it to the worker. */
  readonly isClaimed: boolean
  readonly sent: number
}

/**
 * A message from a worker process: it is ready, it has ended, how many deliveries in all it has written as done, the stages of
 * events since the last request, by the ids of the events, or what it has published.
 */
export type Report =
  | "ready"
  | "stopped"
  | number
  | ReadonlyArray<readonly [string, Stages]>
  | { readonly commits: ReadonlyArray<Commit> }

/** Sends a message to the benchmark. Does nothing if the process was started by hand. */
const report = (news: Report): void => {
  process.send?.(news)
}

/** How often a worker reports the number of written results, in milliseconds. */
const REPORT_MILLIS = 10

/** Counts written results, and reports the number from time to time. */
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
  publish: Publish,
  stages: () => Report = () => [],
): void => {
  process.on("message", (order: Order) => {
    if (order === "stages") return report(stages())
    if (typeof order === "object") {
      return void publishAll(publish, order).then((commits) => report({ commits }))
    }
    const done = order === "go" ? go() : stop()
    if (order === "stop") void done.then(() => report("stopped"))
  })
  process.on("disconnect", () => process.exit())
  report("ready")
}
