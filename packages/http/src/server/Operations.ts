/**
 * The operations of the API. Each passes a decoded request to a use case of the domain, and turns the result into
 * an answer.
 */
import {
  type Catalog,
  type CreditNotes,
  type Credits,
  type Deliveries,
  type Documents,
  type Endpoints,
  type Entitlements,
  type Events,
  type Holds,
  type Invoices,
  type Books,
  type MoneyOverview,
  Meter,
  Meters,
  type PayerLinks,
  type Payments,
  type Plans,
  type Resources,
  type Subscriptions,
  type Tenant,
  TestClock,
  TestClocks,
  type Transactor,
  Usage,
  type UsageRecord,
} from "@billwright/core"
import { Effect } from "effect"
import type { CUSTOMER_EXPORT_OPERATION } from "../api/CustomerExportApi.ts"
import { MAX_BATCHES_OF_REQUEST } from "../api/MeterRebuildsApi.ts"
import type { EXPORT_OPERATION } from "./AuditExport.ts"
import * as BookOperations from "./BookOperations.ts"
import * as CreditNoteOperations from "./CreditNoteOperations.ts"
import * as CreditOperations from "./CreditOperations.ts"
import * as EntitlementOperations from "./EntitlementOperations.ts"
import type { STREAM_OPERATION } from "./EventStream.ts"
import { created, ok } from "./HttpExchange.ts"
import * as InvoiceOperations from "./InvoiceOperations.ts"
import * as MoneyOperations from "./MoneyOperations.ts"
import type { GroupName, OperationsOf } from "./Operation.ts"
import * as PayerLinkOperations from "./PayerLinkOperations.ts"
import * as PaymentMethodOperations from "./PaymentMethodOperations.ts"
import * as PaymentOperations from "./PaymentOperations.ts"
import * as PlanOperations from "./PlanOperations.ts"
import * as RefundOperations from "./RefundOperations.ts"
import * as Render from "./Render.ts"
import * as ResourceBody from "./ResourceBody.ts"
import * as ResourceOperations from "./ResourceOperations.ts"
import * as SubscriptionOperations from "./SubscriptionOperations.ts"
import * as TokenUsageOperations from "./TokenUsageOperations.ts"
import * as WebhookOperations from "./WebhookOperations.ts"

const clockBody = ResourceBody.make<TestClock.TestClock>(TestClock.testClocks)
const meterBody = ResourceBody.make<Meter.Meter>(Meter.meters)

/** One name to group by is given as such, so that an error names the parameter and not its place in a list. */
const withGroupBy = <Query extends { readonly groupBy?: ReadonlyArray<string> }>({
  groupBy,
  ...query
}: Query) => ({
  ...query,
  ...(groupBy === undefined ? {} : { groupBy: groupBy.length === 1 ? groupBy[0]! : groupBy }),
})

type TenantGroups = Exclude<GroupName, "health" | "provider_notices">

/**
 * All operations of the API that act for a tenant, except those that answer with a stream (see `EventStream`, `AuditExport`,
 * `CustomerExport`).
 * The compiler checks that none is missing or extra.
 */
export type Operations = OperationsOf<
  TenantGroups,
  typeof CUSTOMER_EXPORT_OPERATION | typeof EXPORT_OPERATION | typeof STREAM_OPERATION
>

export const make: Effect.Effect<
  Operations,
  never,
  | Resources.Services
  | Catalog
  | Plans
  | Subscriptions
  | Transactor
  | Invoices
  | Books
  | MoneyOverview
  | CreditNotes
  | Credits
  | Documents
  | Entitlements
  | Holds
  | PayerLinks
  | Payments
  | Usage
  | Events
  | Deliveries
  | Endpoints
> = Effect.gen(function* () {
  const usage = yield* Usage
  const meters = yield* Meters
  const clocks = yield* TestClocks
  const resourceOperations = yield* ResourceOperations.make
  const planOperations = yield* PlanOperations.make
  const subscriptionOperations = yield* SubscriptionOperations.make
  const creditNoteOperations = yield* CreditNoteOperations.make
  const creditOperations = yield* CreditOperations.make
  const entitlementOperations = yield* EntitlementOperations.make
  const paymentOperations = yield* PaymentOperations.make
  const paymentMethodOperations = yield* PaymentMethodOperations.make
  const payerLinkOperations = yield* PayerLinkOperations.make
  const refundOperations = yield* RefundOperations.make
  const tokenUsageOperations = yield* TokenUsageOperations.make
  const invoiceOperations = yield* InvoiceOperations.make
  const bookOperations = yield* BookOperations.make
  const moneyOperations = yield* MoneyOperations.make
  const webhookOperations = yield* WebhookOperations.make

  const answerRecord = (tenant: Tenant.Tenant) => (value: UsageRecord.UsageRecord) =>
    ok(Render.usageRecord(value, tenant))

  return {
    ...webhookOperations,
    ...planOperations,
    ...subscriptionOperations,
    ...creditNoteOperations,
    ...paymentOperations,
    ...creditOperations,
    ...entitlementOperations,
    ...paymentMethodOperations,
    ...payerLinkOperations,
    ...refundOperations,
    ...tokenUsageOperations,
    ...invoiceOperations,
    ...bookOperations,
    ...moneyOperations,
    ...resourceOperations,

    rebuildMeter: ({ params }, tenant) =>
      Effect.map(meters.rebuild(params.id, { batches: MAX_BATCHES_OF_REQUEST }), (meter) =>
        ok(meterBody(meter, tenant)),
      ),

    advanceTestClock: ({ params, payload }, tenant) =>
      Effect.map(clocks.advance(params.id, payload), (clock) => ok(clockBody(clock, tenant))),

    recordUsage: ({ payload }, tenant) =>
      Effect.map(usage.record(payload), ({ _tag, record }) =>
        (_tag === "Recorded" ? created : ok)(Render.usageRecord(record, tenant)),
      ),
    recordUsageBatch: ({ payload }) =>
      Effect.map(usage.recordBatch(payload), (results) => ok(Render.usageBatch(results))),
    summarizeUsage: ({ query }) =>
      Effect.map(usage.summary(withGroupBy(query)), (summary) => ok(Render.usageSummary(summary))),
    listUsageSeries: ({ query }) =>
      Effect.map(usage.series(withGroupBy(query)), (points) =>
        ok(Render.completeList(points.map(Render.usagePoint))),
      ),
    listUsageRecords: ({ query }, tenant) =>
      Effect.map(usage.listRecords(query), (page) => ok(Render.list(page, tenant, Render.usageRecord))),
    getUsageRecord: ({ params }, tenant) => Effect.map(usage.getRecord(params.id), answerRecord(tenant)),
    voidUsageRecord: ({ params }, tenant) => Effect.map(usage.voidRecord(params.id), answerRecord(tenant)),
  }
})
