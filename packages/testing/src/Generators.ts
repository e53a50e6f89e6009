/**
 * Generators of every value of the domain, for fast-check.
 *
 * Their values are accepted by the value's Schema. Difficult ones are frequent: text in every script and at its
 * maximum length, the largest and the smallest quantities, instants at the borders of days, months and years.
 */
import {
  ApiKey,
  Dimensions,
  type IdempotentRequest,
  Page,
  type StoredApiKey,
  type StoredResponse,
  UsageRecord,
  type UsageSummary,
} from "@billwright/core"
import * as fc from "fast-check"
import { accountId, apiKeyId, customerId, mode, usageRecordId } from "./generators/CustomerGenerators.ts"
import { text } from "./generators/TextGenerators.ts"
import { calendarDate, instant, timeZone } from "./generators/TimeGenerators.ts"

export {
  accountId,
  apiKeyId,
  createCustomer,
  customer,
  customerId,
  customerName,
  email,
  metadata,
  metadataPatch,
  mode,
  tenant,
  updateCustomer,
  usageRecordId,
} from "./generators/CustomerGenerators.ts"
export { longest, resource } from "./generators/ResourceGenerators.ts"
export { text } from "./generators/TextGenerators.ts"
export { boundaries, calendarDate, instant, nearbyInstant, timeZone } from "./generators/TimeGenerators.ts"
export {
  attempt,
  createEndpoint,
  deliveryId,
  endpoint,
  endpointId,
  endpointSecret,
  event,
  eventData,
  eventFilter,
  eventId,
  eventType,
  publishEvent,
  requestHeaders,
  storedEndpoint,
  updateEndpoint,
} from "./generators/WebhookGenerators.ts"

// Usage

/** 0 to 2^53 − 1, often one of these two. */
export const quantity: fc.Arbitrary<number> = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 1000 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      0,
      1,
      2 ** 31,
      2 ** 32,
      UsageRecord.MAX_QUANTITY - 1,
      UsageRecord.MAX_QUANTITY,
    ),
  },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: UsageRecord.MAX_QUANTITY }) },
)

export const productId = text(1, UsageRecord.MAX_PRODUCT_ID_LENGTH)
export const unit = text(1, UsageRecord.MAX_UNIT_LENGTH)
export const usageKey = text(1, UsageRecord.MAX_USAGE_KEY_LENGTH)

/** At most 8, often none. Their names are sometimes those of `Object.prototype`. */
export const dimensions: fc.Arbitrary<Dimensions.Dimensions> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(Dimensions.NONE) },
  {
    weight: 2,
    arbitrary: fc
      .array(
        fc.tuple(
          text(1, Dimensions.MAX_DIMENSION_NAME_LENGTH).filter((name) => name !== "__proto__"),
          text(1, Dimensions.MAX_DIMENSION_VALUE_LENGTH),
        ),
        { maxLength: Dimensions.MAX_DIMENSIONS },
      )
      .map((entries) => Object.fromEntries(entries)),
  },
)

export const recordUsage: fc.Arbitrary<UsageRecord.RecordUsage> = fc.record(
  { customerId, productId, quantity, unit, dimensions, timestamp: instant, idempotencyKey: usageKey },
  { requiredKeys: ["customerId", "productId", "quantity", "unit"] },
)

export const recordUsageBatch: fc.Arbitrary<UsageRecord.RecordUsageBatch> = fc.record({
  records: fc.array(recordUsage, { minLength: 1, maxLength: 10 }),
})

const recordFields = {
  id: usageRecordId,
  customerId,
  productId,
  quantity,
  unit,
  dimensions,
  timestamp: instant,
  idempotencyKey: fc.option(usageKey),
  createdAt: instant,
}

export const usageRecord: fc.Arbitrary<UsageRecord.UsageRecord> = fc.record({
  ...recordFields,
  voidedAt: fc.option(instant),
})

/** A record before it is stored, so not yet voided. */
export const newUsageRecord: fc.Arbitrary<UsageRecord.NewUsageRecord> = fc.record({
  ...recordFields,
  voidedAt: fc.constant(null),
  hasOwnTimestamp: fc.boolean(),
})

/** The query of a summary, with its dates in order. */
export const summarizeUsage: fc.Arbitrary<typeof UsageSummary.SummarizeUsage.Type> = fc
  .record(
    { customerId, productId, unit, dates: fc.tuple(calendarDate, calendarDate), timezone: timeZone },
    { requiredKeys: ["customerId"] },
  )
  .map(({ dates, ...query }) => {
    if (dates === undefined) return query
    const [startDate, endDate] = [...dates].sort() as [string, string]
    return { ...query, startDate, endDate }
  })

// API keys

const scopes = fc.uniqueArray(fc.constantFrom(...ApiKey.Scope.literals), {
  maxLength: ApiKey.Scope.literals.length,
})
const keyName = text(1, ApiKey.MAX_KEY_NAME_LENGTH)
const hexDigit = fc.constantFrom(..."0123456789abcdef")

const networks = fc.array(fc.constantFrom("203.0.113.0/24", "198.51.100.7/32", "2001:db8:7::/48"), {
  maxLength: 3,
})
const creditLimits: fc.Arbitrary<ApiKey.CreditLimits> = fc
  .array(fc.tuple(fc.constantFrom("EUR", "JPY", "token"), fc.bigInt({ min: 1n, max: 10n ** 30n })), {
    maxLength: 3,
  })
  .map((entries) => Object.fromEntries(entries))

export const apiKey: fc.Arbitrary<ApiKey.ApiKey> = fc.record({
  id: apiKeyId,
  accountId,
  mode,
  name: keyName,
  scopes,
  networks,
  creditLimits,
  hint: fc.string({ unit: fc.constantFrom(..."09azAZ"), minLength: 4, maxLength: 4 }),
  createdAt: instant,
  expiresAt: fc.option(instant),
  revokedAt: fc.option(instant),
  lastUsedAt: fc.option(instant),
})

export const storedApiKey: fc.Arbitrary<StoredApiKey> = fc.record({
  key: apiKey,
  digest: fc.string({ unit: hexDigit, minLength: 64, maxLength: 64 }),
})

export const issueApiKey: fc.Arbitrary<ApiKey.IssueApiKey> = fc.record(
  {
    name: keyName,
    scopes: scopes.filter((each) => each.length > 0),
    networks,
    creditLimits,
    expiresAt: instant,
  },
  { requiredKeys: ["name"] },
)

// Requests

export const idempotentRequest: fc.Arbitrary<IdempotentRequest> = fc.record({
  method: fc.constantFrom("POST", "PUT", "PATCH", "DELETE"),
  path: fc.webPath(),
  key: text(1, 255),
  fingerprint: fc.string({ unit: hexDigit, minLength: 64, maxLength: 64 }),
})

export const storedResponse: fc.Arbitrary<StoredResponse> = fc.record({
  status: fc.integer({ min: 200, max: 499 }),
  body: fc.oneof(fc.constant(""), fc.json(), text(0, 500)),
})

/** A page of any list, without a cursor. */
export const pageRequest: fc.Arbitrary<Page.PageRequest> = fc.record(
  { limit: fc.integer({ min: 1, max: Page.MAX_PAGE_LIMIT }) },
  { requiredKeys: [] },
)
