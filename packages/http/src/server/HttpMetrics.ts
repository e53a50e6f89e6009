/**
 * What is measured of requests, as metrics of Effect, which the host exports. No label tells of a tenant, a key or
 * an address: paths are counted by the operation that they mean.
 */
import { type Context, Metric } from "effect"

/** Upper bounds of the buckets, in seconds. */
const BOUNDARIES = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const requestsOf = (operation: string, status: string) =>
  Metric.counter("billwright_http_requests", {
    description: "Requests that were answered, by operation and status.",
    incremental: true,
    attributes: { operation, status },
  })

const secondsOf = (operation: string) =>
  Metric.histogram("billwright_http_request_seconds", {
    description: "Seconds until requests were answered, by operation; of a stream, until it was opened.",
    boundaries: BOUNDARIES,
    attributes: { operation },
  })

/** What a request turned out to ask for. */
export interface Asked {
  /** The id of the operation, or `none` as long as it is not known: no valid key, no such path. */
  operation: string
}

interface OperationMetrics {
  readonly seconds: ReturnType<typeof secondsOf>
  /** By status. */
  readonly requests: Map<number, ReturnType<typeof requestsOf>>
}

/** Notes answers. Synchronous: every request comes by here. */
export class HttpMetrics {
  // A metric finds its series by a key that it makes once, so each is made once.
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
    // A clock that was set back has measured nothing.
    metrics.seconds.updateUnsafe(Math.max(0, millis) / 1_000, context)
  }
}
