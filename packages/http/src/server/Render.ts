/**
 * Converts values of the domain to bodies of the API. The types come from the definitions, so the compiler finds
 * missing and misspelt fields.
 */
import {
  type Due,
  ExactJson,
  type Page,
  type Tenant,
  type UsageRecord,
  type UsageSummary,
} from "@billwright/core"
import { DateTime } from "effect"
import type { DueFailureBody } from "../api/InvoicingFields.ts"
import type { UsageBatchBody, UsagePointBody, UsageRecordBody, UsageSummaryBody } from "../api/UsageApi.ts"

/** The instant that was formatted last. It is cached, because many values have the same millisecond. */
let last = { millis: 0, text: "1970-01-01T00:00:00.000Z" }

/** The wire format of an instant. */
export const instant = (value: DateTime.Utc): string => {
  const millis = value.epochMilliseconds
  if (millis !== last.millis) last = { millis, text: DateTime.formatIso(value) }
  return last.text
}
export const instantOrNull = (value: DateTime.Utc | null): string | null =>
  value === null ? null : instant(value)

/** Why something that was due failed. */
export const dueFailure = (failure: Due.DueFailure | null): typeof DueFailureBody.Encoded | null =>
  failure === null
    ? null
    : {
        attempts: failure.attempts,
        problem: failure.problem,
        at: instant(failure.at),
        retry_at: instantOrNull(failure.retryAt),
      }

export const usageRecord = (
  value: UsageRecord.UsageRecord,
  tenant: Tenant.Tenant,
): typeof UsageRecordBody.Encoded => ({
  object: "usage_record",
  id: value.id,
  customer_id: value.customerId,
  product_id: value.productId,
  quantity: value.quantity,
  unit: value.unit,
  dimensions: value.dimensions,
  timestamp: instant(value.timestamp),
  idempotency_key: value.idempotencyKey,
  voided_at: instantOrNull(value.voidedAt),
  livemode: tenant.mode === "live",
  created_at: instant(value.createdAt),
})

export const usageBatch = (results: ReadonlyArray<UsageRecord.Recorded>): typeof UsageBatchBody.Encoded => {
  const recorded = results.filter((result) => result._tag === "Recorded").length
  return {
    object: "usage_batch",
    recorded,
    duplicates: results.length - recorded,
    data: results.map(({ _tag, record }) => ({
      id: record.id,
      status: _tag === "Recorded" ? "recorded" : "duplicate",
    })),
  }
}

const usageGroup = (value: UsageSummary.UsageGroup) => ({
  dimensions: value.dimensions,
  total_quantity: ExactJson.integer(value.totalQuantity),
  denominator: ExactJson.integer(value.denominator),
  record_count: value.recordCount,
})

export const usageSummary = (value: UsageSummary.UsageSummary): typeof UsageSummaryBody.Encoded => ({
  object: "usage_summary",
  customer_id: value.customerId,
  meter: value.meter,
  product_id: value.productId,
  total_quantity: ExactJson.integer(value.totalQuantity),
  denominator: ExactJson.integer(value.denominator),
  unit: value.unit,
  record_count: value.recordCount,
  ...(value.groups === undefined ? {} : { groups: value.groups.map(usageGroup) }),
  start_date: value.startDate,
  end_date: value.endDate,
  timezone: value.timezone,
  period_start: instantOrNull(value.periodStart),
  period_end: instantOrNull(value.periodEnd),
})

export const usagePoint = (value: UsageSummary.UsagePoint): typeof UsagePointBody.Encoded => ({
  start: instant(value.start),
  end: instant(value.end),
  ...(value.productId === null ? {} : { product_id: value.productId }),
  unit: value.unit,
  quantity: ExactJson.integer(value.quantity),
  denominator: ExactJson.integer(value.denominator),
  record_count: value.recordCount,
  ...(value.dimensions === undefined ? {} : { dimensions: value.dimensions }),
})

/** A page of a list, each item rendered for the tenant. */
export const list = <A, B>(
  page: Page.Page<A>,
  tenant: Tenant.Tenant,
  render: (item: A, tenant: Tenant.Tenant) => B,
) => ({
  object: "list" as const,
  data: page.data.map((item) => render(item, tenant)),
  has_more: page.hasMore,
})

/** A list with only one page. */
export const completeList = <B>(data: ReadonlyArray<B>) => ({
  object: "list" as const,
  data,
  has_more: false as const,
})
