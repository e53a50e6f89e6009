/**
 * What each operation of the API does: from a decoded request to a use case of the domain to an answer.
 */
import {
  type CurrentTenant,
  type Customer,
  Customers,
  type Tenant,
  type Threshold,
  Thresholds,
  Usage,
  type UsageRecord,
} from "@billwright/core"
import { Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { BillwrightApi } from "../api/BillwrightApi.ts"
import type { DomainError } from "./ErrorAnswer.ts"
import { type Answer, created, ok } from "./HttpExchange.ts"
import * as Render from "./Render.ts"

type Groups = (typeof BillwrightApi)["groups"]
type EndpointsOf<G> = G extends { readonly endpoints: infer E } ? E : never
/** The endpoints that act for a tenant, by their ids. */
type TenantEndpoints = EndpointsOf<Groups["customers"]> &
  EndpointsOf<Groups["usage"]> &
  EndpointsOf<Groups["usage_thresholds"]>

type Decoded<S> = S extends { readonly Type: infer T } ? T : undefined

/** What an operation is given: its path parameters, query and body, decoded by its definition. */
export interface OperationInput<E> {
  readonly params: Decoded<HttpApiEndpoint.Params<E>>
  readonly query: Decoded<HttpApiEndpoint.Query<E>>
  readonly payload: Decoded<HttpApiEndpoint.Payload<E>>
}

/** What one operation does for a tenant. */
export type Operation<Input> = (
  input: Input,
  tenant: Tenant.Tenant,
) => Effect.Effect<Answer, DomainError, CurrentTenant>

/** Every operation of the API that acts for a tenant: a missing or an extra one does not compile. */
export type Operations = {
  readonly [Id in keyof TenantEndpoints]: Operation<OperationInput<TenantEndpoints[Id]>>
}

export const make: Effect.Effect<Operations, never, Customers | Usage | Thresholds> = Effect.gen(
  function* () {
    const customers = yield* Customers
    const usage = yield* Usage
    const thresholds = yield* Thresholds

    const answerCustomer =
      (tenant: Tenant.Tenant, answer = ok) =>
      (value: Customer.Customer): Answer => ({ ...answer(Render.customer(value, tenant)), subject: value.id })
    const answerRecord = (tenant: Tenant.Tenant) => (value: UsageRecord.UsageRecord) =>
      ok(Render.usageRecord(value, tenant))
    const answerThreshold = (tenant: Tenant.Tenant) => (value: Threshold.Threshold) =>
      ok(Render.threshold(value, tenant))

    return {
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
      getUsageThreshold: ({ params }, tenant) =>
        Effect.map(thresholds.get(params.id), answerThreshold(tenant)),
      deleteUsageThreshold: ({ params }) =>
        Effect.as(thresholds.delete(params.id), ok(Render.deletedThreshold(params.id))),
    }
  },
)
