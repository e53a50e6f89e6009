/**
 * What each operation of the API does: from a decoded request to a use case of the domain to an answer.
 */
import {
  type Customer,
  Customers,
  type Deliveries,
  type Endpoints,
  type Events,
  type Tenant,
  type Threshold,
  Thresholds,
  Usage,
  type UsageRecord,
} from "@billwright/core"
import { Effect } from "effect"
import type { STREAM_OPERATION } from "./EventStream.ts"
import { type Answer, created, ok } from "./HttpExchange.ts"
import type { OperationsOf } from "./Operation.ts"
import * as Render from "./Render.ts"
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

  const answerCustomer =
    (tenant: Tenant.Tenant, answer = ok) =>
    (value: Customer.Customer): Answer => ({ ...answer(Render.customer(value, tenant)), subject: value.id })
  const answerRecord = (tenant: Tenant.Tenant) => (value: UsageRecord.UsageRecord) =>
    ok(Render.usageRecord(value, tenant))
  const answerThreshold = (tenant: Tenant.Tenant) => (value: Threshold.Threshold) =>
    ok(Render.threshold(value, tenant))

  return {
    ...webhookOperations,

    createCustomer: ({ payload }, tenant) =>
      Effect.map(customers.create(payload), answerCustomer(tenant, created)),
    listCustomers: ({ query }, tenant) =>
      Effect.map(customers.list(query), (page) => ok(Render.list(page, tenant, Render.customer))),
    getCustomer: ({ params }, tenant) => Effect.map(customers.get(params.id), answerCustomer(tenant)),
    updateCustomer: ({ params, payload }, tenant) =>
      Effect.map(customers.update(params.id, payload), answerCustomer(tenant)),
    deleteCustomer: ({ params }) =>
      Effect.as(customers.erase(params.id), ok(Render.deletedCustomer(params.id))),

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

    createUsageThreshold: ({ payload }, tenant) =>
      Effect.map(thresholds.create(payload), (value) => created(Render.threshold(value, tenant))),
    listUsageThresholds: ({ query }, tenant) =>
      Effect.map(thresholds.list(query), (page) => ok(Render.list(page, tenant, Render.threshold))),
    getUsageThreshold: ({ params }, tenant) => Effect.map(thresholds.get(params.id), answerThreshold(tenant)),
    deleteUsageThreshold: ({ params }) =>
      Effect.as(thresholds.delete(params.id), ok(Render.deletedThreshold(params.id))),
  }
})
