/**
 * `GET /metrics`: the metrics of this process, in the text format of Prometheus
 * (https://prometheus.io/docs/instrumenting/exposition_formats).
 *
 * Like `/readyz` it needs no key. It has no data of single tenants, only totals of requests, records and deliveries.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { DeliveryStore, DueStore } from "@billwright/core"
import type { NodeHandler } from "@billwright/http/node"
import { Clock, type DateTime, Effect, Metric, Option } from "effect"
// Imported directly, because the folder's index also loads unused exporters.
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"

/** Where the metrics are. */
export const PATH = "/metrics"
const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
/** How long the storage's answer is cached, so that frequent requests don't query the storage each time. */
const STORAGE_TTL = "1 second"

const oldestDelivery = Metric.gauge("billwright_webhook_oldest_due_seconds", {
  description:
    "How long the oldest delivery that waits for a worker has been due, in seconds, for all processes together. NaN while the storage can't be read.",
})
const oldestBilling = Metric.gauge("billwright_billing_oldest_due_seconds", {
  description:
    "How long the oldest subscription or invoice that waits for billing has been due, in seconds, for all processes together. NaN while the storage can't be read.",
})

/** Adds `_total` to the names of counters, as Prometheus recommends. Effect's names don't have it. */
const render = Effect.gen(function* () {
  const snapshots = yield* Metric.snapshot
  const counters = new Set(snapshots.filter(({ type }) => type === "Counter").map(({ id }) => id))
  return yield* PrometheusMetrics.format({
    metricNameMapper: (name) => (counters.has(name) && !name.endsWith("_total") ? `${name}_total` : name),
  })
})

/** For how long something has been due, in seconds. */
const secondsSince = Effect.fnUntraced(function* (dueAt: Option.Option<DateTime.Utc>) {
  const now = yield* Clock.currentTimeMillis
  return Option.match(dueAt, {
    onNone: () => 0,
    onSome: ({ epochMilliseconds }) => Math.max(0, now - epochMilliseconds) / 1_000,
  })
})

const measure = <E, R>(
  gauge: typeof oldestDelivery,
  nextDueAt: Effect.Effect<Option.Option<DateTime.Utc>, E, R>,
) =>
  Effect.flatMap(nextDueAt, secondsSince).pipe(
    Effect.orElseSucceed(() => Number.NaN),
    Effect.flatMap((seconds) => Metric.update(gauge, seconds)),
  )

/** How long the oldest of what waits has been due. */
const measureBacklog = Effect.gen(function* () {
  yield* measure(oldestDelivery, (yield* DeliveryStore).nextDueAt)
  const due = yield* Effect.serviceOption(DueStore)
  if (Option.isSome(due)) yield* measure(oldestBilling, due.value.nextDueAt)
})

const send = (
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void => {
  response.writeHead(status, { "content-type": CONTENT_TYPE, "cache-control": "no-store", ...headers })
  response.end(body)
}

/** Whether a request is for the metrics. */
export const isAsked = ({ url }: IncomingMessage): boolean =>
  url === PATH || url?.startsWith(`${PATH}?`) === true

/** Answers `GET /metrics` with the metrics, and all other requests with 404 or 405. */
export const make: Effect.Effect<NodeHandler.NodeHandler, never, DeliveryStore> = Effect.gen(function* () {
  const backlog = yield* Effect.cachedWithTTL(measureBacklog, STORAGE_TTL)
  const context = yield* Effect.context<DeliveryStore>()
  const text = Effect.andThen(backlog, render)
  const fork = Effect.runForkWith(context)
  return (request, response) => {
    if (!isAsked(request)) return send(response, 404, `only ${PATH} is served here\n`)
    if (request.method !== "GET" && request.method !== "HEAD") {
      return send(response, 405, "use GET or HEAD\n", { allow: "GET, HEAD" })
    }
    const fiber = fork(
      text.pipe(
        Effect.map((body) => send(response, 200, request.method === "HEAD" ? "" : body)),
        Effect.onError(() => Effect.sync(() => response.destroy())),
      ),
    )
    response.on("close", () => fiber.interruptUnsafe())
  }
})
