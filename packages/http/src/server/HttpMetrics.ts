/**
 * Metrics of requests, as metrics of Effect, which the host exports. No label has a tenant, a key or a path:
 * requests are counted by operation.
 */
import { type Context, Metric } from "effect"

/** The upper bounds of the histogram's buckets, in seconds. */
const BOUNDARIES = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const requestsOf = (operation: string, status: string) =>
  Metric.counter("billwright_http_requests", {
    description: "Answered requests, by operation and status.",
    incremental: true,
    attributes: { operation, status },
  })

const secondsOf = (operation: string) =>
  Metric.histogram("billwright_http_request_seconds", {
    description: "Seconds until requests were answered, by operation; of a stream, until it was opened.",
    boundaries: BOUNDARIES,
    attributes: { operation },
  })

/** The operation of a request. */
export interface Asked {
  /** The id of the operation. `none` until it is known, and for requests without a valid key or a known path. */
  operation: string
}

interface OperationMetrics {
  readonly seconds: ReturnType<typeof secondsOf>
  /** By status. */
  readonly requests: Map<number, ReturnType<typeof requestsOf>>
}

/** Counts answers. It is synchronous, because every request uses it. */
export class HttpMetrics {
  // Making a metric computes the key of its series, so each metric is made only once.
  readonly #operations = new Map<string, OperationMetrics>()

  note({ operation }: Asked, status: number, millis: number, context: Context.Context<never>): void {
    let metrics = this.#operations.get(operation)
    if (metrics === undefined) {
      this.#operations.set(operation, (metrics = { seconds: secondsOf(operation), requests: new Map() }))
    }
    let requests = metrics.requests.get(status)
    if (requests === undefined)
      metrics.requests.set(status, (requests = requestsOf(operation, String(status))))
    requests.updateUnsafe(1, context)
    // A negative duration means that the clock was set back.
    metrics.seconds.updateUnsafe(Math.max(0, millis) / 1_000, context)
  }
}
