/**
 * What each operation of the API does: from a decoded request to a use case of the domain to an answer.
 */
import {
  Customer,
  Customers,
  type Deliveries,
  type Endpoints,
  type Events,
  type Tenant,
  Threshold,
  Thresholds,
  Usage,
  type UsageRecord,
} from "@billwright/core"
import { Effect } from "effect"
import type { STREAM_OPERATION } from "./EventStream.ts"
import { created, ok } from "./HttpExchange.ts"
import type { OperationsOf } from "./Operation.ts"
import * as Render from "./Render.ts"
import * as ResourceOperations from "./ResourceOperations.ts"
import * as WebhookOperations from "./WebhookOperations.ts"

type TenantGroups =
  | "customers"
  | "usage"
  | "usage_thresholds"
  | "event_types"
  | "events"
  | "deliveries"
  | "webhook_endpoints"

/**
 * Every operation of the API that acts for a tenant, but for the one whose answer is no value (see `EventStream`):
 * a missing or an extra one does not compile.
 */
export type Operations = OperationsOf<TenantGroups, typeof STREAM_OPERATION>

export const make: Effect.Effect<
  Operations,
  never,
  Customers | Usage | Thresholds | Events | Deliveries | Endpoints
> = Effect.gen(function* () {
  const customers = yield* Customers
  const usage = yield* Usage
  const thresholds = yield* Thresholds
  const webhookOperations = yield* WebhookOperations.make

  const answerRecord = (tenant: Tenant.Tenant) => (value: UsageRecord.UsageRecord) =>
    ok(Render.usageRecord(value, tenant))

  return {
    ...webhookOperations,

    ...ResourceOperations.make(Customer.customers, { ...customers, remove: customers.erase }),
    ...ResourceOperations.make(Threshold.thresholds, { ...thresholds, remove: thresholds.delete }),

    recordUsage: ({ payload }, tenant) =>
      Effect.map(usage.record(payload), ({ _tag, record }) =>
        (_tag === "Recorded" ? created : ok)(Render.usageRecord(record, tenant)),
      ),
    recordUsageBatch: ({ payload }) =>
      Effect.map(usage.recordBatch(payload), (results) => ok(Render.usageBatch(results))),
    summarizeUsage: ({ query }) =>
      Effect.map(usage.summary(query), (summary) => ok(Render.usageSummary(summary))),
    listUsageSeries: ({ query }) =>
      Effect.map(usage.series(query), (points) => ok(Render.completeList(points.map(Render.usagePoint)))),
    listUsageRecords: ({ query }, tenant) =>
      Effect.map(usage.listRecords(query), (page) => ok(Render.list(page, tenant, Render.usageRecord))),
    getUsageRecord: ({ params }, tenant) => Effect.map(usage.getRecord(params.id), answerRecord(tenant)),
    voidUsageRecord: ({ params }, tenant) => Effect.map(usage.voidRecord(params.id), answerRecord(tenant)),
  }
})
