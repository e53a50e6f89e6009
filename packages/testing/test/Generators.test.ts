import {
  ApiKey,
  Customer,
  Delivery,
  Dimensions,
  Endpoint,
  Event,
  EventId,
  EventType,
  Metadata,
  RequestHeaders,
  Tenant,
  Text,
  Threshold,
  TimeZone,
  UsagePeriod,
  UsageRecord,
  UsageSummary,
} from "@billwright/core"
import { Generators } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"

/** Generators, each with the Schema that all of its values must satisfy. */
const pairs: ReadonlyArray<readonly [name: string, schema: Schema.Top, generator: fc.Arbitrary<unknown>]> = [
  ["accountId", Tenant.AccountId, Generators.accountId],
  ["mode", Tenant.Mode, Generators.mode],
  ["customerId", Customer.CustomerId, Generators.customerId],
  ["usageRecordId", UsageRecord.UsageRecordId, Generators.usageRecordId],
  ["apiKeyId", ApiKey.ApiKeyId, Generators.apiKeyId],
  ["metadata", Metadata.Metadata, Generators.metadata],
  ["metadataPatch", Metadata.MetadataPatch, Generators.metadataPatch],
  ["customerName", Customer.CustomerName, Generators.customerName],
  ["email", Customer.Email, Generators.email],
  ["customer", Customer.Customer, Generators.customer],
  ["createCustomer", Customer.CreateCustomer, Generators.createCustomer],
  ["updateCustomer", Customer.UpdateCustomer, Generators.updateCustomer],
  ["quantity", UsageRecord.Quantity, Generators.quantity],
  ["productId", UsageRecord.ProductId, Generators.productId],
  ["unit", UsageRecord.Unit, Generators.unit],
  ["usageKey", UsageRecord.UsageKey, Generators.usageKey],
  ["dimensions", Dimensions.Dimensions, Generators.dimensions],
  ["recordUsage", UsageRecord.RecordUsage, Generators.recordUsage],
  ["recordUsageBatch", UsageRecord.RecordUsageBatch, Generators.recordUsageBatch],
  ["usageRecord", UsageRecord.UsageRecord, Generators.usageRecord],
  ["summarizeUsage", UsageSummary.SummarizeUsage, Generators.summarizeUsage],
  ["calendarDate", UsagePeriod.CalendarDate, Generators.calendarDate],
  ["timeZone", TimeZone.TimeZoneName, Generators.timeZone],
  ["instant", Schema.DateTimeUtc, Generators.instant],
  ["nearbyInstant", Schema.DateTimeUtc, Generators.nearbyInstant],
  ["resource", Threshold.Threshold, Generators.resource(Threshold.thresholds)],
  ["apiKey", ApiKey.ApiKey, Generators.apiKey],
  ["issueApiKey", ApiKey.IssueApiKey, Generators.issueApiKey],
  ["eventId", EventId, Generators.eventId],
  ["endpointId", Endpoint.EndpointId, Generators.endpointId],
  ["deliveryId", Delivery.DeliveryId, Generators.deliveryId],
  ["eventType", EventType.EventTypeName, Generators.eventType],
  ["publishEvent", Event.PublishEvent, Generators.publishEvent],
  ["event", Event.Event, Generators.event],
  ["eventFilter", Endpoint.EventFilter, Generators.eventFilter],
  ["requestHeaders", RequestHeaders.RequestHeaders, Generators.requestHeaders],
  ["createEndpoint", Endpoint.CreateEndpoint, Generators.createEndpoint],
  ["updateEndpoint", Endpoint.UpdateEndpoint, Generators.updateEndpoint],
]

/** Whether such values are frequent enough to occur in a property with 1,000 cases. */
const makes = <A>(generator: fc.Arbitrary<A>, isIt: (value: A) => boolean): boolean =>
  fc.sample(generator, { numRuns: 1000, seed: 1 }).some(isIt)

describe("Generators", () => {
  for (const [name, schema, generator] of pairs) {
    it(`make only values that the Schema accepts: ${name}`, () => {
      const isValid = Schema.is(Schema.toType(schema))
      fc.assert(
        fc.property(generator, (value) => isValid(value)),
        { numRuns: 100 },
      )
    })
  }

  it("make text that every adapter can store, up to the maximum length", () => {
    const text = Generators.text(2, 9)
    const isRight = (value: string) =>
      Text.isStorable(value) && [...value].length >= 2 && [...value].length <= 9
    fc.assert(fc.property(text, isRight), { numRuns: 1000 })
    assert.isTrue(makes(text, (value) => [...value].length === 9 && value.length === 18))
    assert.isTrue(makes(text, (value) => [...value].length === 2))
    assert.isTrue(makes(text, (value) => /['"\\%]/.test(value)))
  })

  it("make extreme values", () => {
    assert.isTrue(makes(Generators.quantity, (quantity) => quantity === 0))
    assert.isTrue(makes(Generators.quantity, (quantity) => quantity === UsageRecord.MAX_QUANTITY))
    assert.isTrue(
      makes(
        Generators.resource(Threshold.thresholds),
        ({ quantity }) => quantity === Threshold.MAX_THRESHOLD_QUANTITY,
      ),
    )
    const millis = Generators.instant.map(({ epochMilliseconds }) => epochMilliseconds)
    assert.isTrue(makes(millis, (instant) => instant === UsageRecord.MIN_TIMESTAMP_MILLIS))
    assert.isTrue(makes(millis, (instant) => instant < 0 && instant % UsagePeriod.UTC_DAY_MILLIS !== 0))
  })

  it("make data that is JSON, with integers that no double can represent", () => {
    fc.assert(
      fc.property(Generators.eventData, (data) => {
        assert.isUndefined(Event.problemOfJson(data))
      }),
    )
    assert.isTrue(
      makes(Generators.eventData, (data) => Object.values(data as object).includes(2n ** 53n + 1n)),
    )
    assert.isTrue(makes(Generators.event, ({ payload }) => payload.includes("9007199254740993")))
  })

  it("make boundaries in rising order", () => {
    fc.assert(
      fc.property(Generators.boundaries, (boundaries) => {
        assert.isAtLeast(boundaries.length, 2)
        const inner = boundaries.slice(1, -1)
        assert.isFalse(inner.includes(undefined))
        const known = boundaries.filter((boundary) => boundary !== undefined)
        assert.isTrue(known.every((boundary, index) => index === 0 || known[index - 1]! < boundary))
      }),
    )
    assert.isTrue(makes(Generators.boundaries, (boundaries) => boundaries[0] === undefined))
    assert.isTrue(makes(Generators.boundaries, (boundaries) => boundaries.at(-1) === undefined))
  })
})
