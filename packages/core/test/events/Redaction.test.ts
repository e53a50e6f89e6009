/**
 * What an event says once personal data was taken out of it.
 */
import { Event, EventCatalogue, EventId, EventType, Redaction } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"

const signedUp = EventType.make({
  name: "customer.signed_up",
  description: "A customer signed up.",
  data: Schema.Unknown,
  example: {},
  kept: ["plan", "status"],
})

const eventOf = (type: Pick<EventType.EventType, "name">, data: unknown) =>
  Event.make(type, data, "live", {
    id: EventId.make("evt_01kb2r6ghefxhs59czp23x4vmk"),
    timestamp: DateTime.makeUnsafe("2026-11-21T12:00:00.000Z"),
  })

/** `null`: the catalogue doesn't have the type any more. */
const redacted = (data: unknown, type: EventType.EventType | null = signedUp) =>
  JSON.parse(Redaction.redacted(eventOf(signedUp, data), type ?? undefined)) as { readonly data: unknown }

describe("a redacted event", () => {
  it("has a mark, and the same fields around its data", () => {
    const event = eventOf(signedUp, { email: "ada@example.com" })
    const payload = Redaction.redacted(event, signedUp)
    assert.strictEqual(
      payload,
      '{"id":"evt_01kb2r6ghefxhs59czp23x4vmk","type":"customer.signed_up","timestamp":"2026-11-21T12:00:00.000Z","livemode":true,"redacted":true,"data":{"email":"[redacted]"}}',
    )
    assert.isFalse(Redaction.isRedacted(event))
    assert.isTrue(Redaction.isRedacted({ payload }))
    assert.strictEqual(Event.dataText(payload), '{"email":"[redacted]"}')
    assert.strictEqual(Redaction.redacted({ payload }, signedUp), payload)
  })

  it("takes no text of its data for the mark", () => {
    const data = { note: ',"redacted":true,"data":' }
    assert.isFalse(Redaction.isRedacted(eventOf(signedUp, data)))
    assert.deepStrictEqual(redacted(data).data, { note: "[redacted]" })
  })

  it("keeps ids of Billwright, numbers, booleans, and texts of fields that its type names", () => {
    const data = {
      customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
      amount: 5,
      isNew: true,
      none: null,
      status: "open",
      nested: [{ status: "paid", name: "Ada" }, "Ada"],
      plan: { key: "pro", names: ["Pro"] },
    }
    assert.deepStrictEqual(redacted(data).data, {
      ...data,
      nested: [{ status: "paid", name: "[redacted]" }, "[redacted]"],
    })
    assert.deepStrictEqual(redacted(data, null).data, {
      ...data,
      status: "[redacted]",
      nested: [{ status: "[redacted]", name: "[redacted]" }, "[redacted]"],
      plan: { key: "[redacted]", names: ["[redacted]"] },
    })
  })

  it("has no keys that are no names of fields, no metadata and no expiry of a card", () => {
    const data = {
      logins: { "ada@example.com": 3, web: 1 },
      metadata: { ada: 1 },
      expiry: { month: 1, year: 2030 },
    }
    assert.deepStrictEqual(redacted(data).data, { logins: { web: 1 }, metadata: {}, expiry: null })
  })

  it("keeps every digit of a number", () => {
    assert.include(Redaction.redacted(eventOf(signedUp, { total: 2n ** 70n }), undefined), String(2n ** 70n))
  })

  it("has no data where that would be larger than a payload may be", () => {
    const event = eventOf(signedUp, { names: Array.from({ length: 50_000 }, () => "A") })
    assert.isTrue(Event.isWithinPayload(event.payload))
    const payload = Redaction.redacted(event, signedUp)
    assert.isTrue(Redaction.isRedacted({ payload }))
    assert.strictEqual(Event.dataText(payload), "{}")
  })

  it("is as it was for the examples of built-in types, but for when a card expires", () => {
    for (const type of EventCatalogue.builtIn) {
      const example = JSON.parse(Event.dataText(eventOf(type, type.example).payload)) as object
      const { data } = JSON.parse(Redaction.redacted(eventOf(type, type.example), type)) as {
        readonly data: object
      }
      const expected = Object.hasOwn(example, "expiry") ? { ...example, expiry: null } : example
      assert.deepStrictEqual(data, expected, type.name)
      assert.isUndefined(EventType.problemOf(type, data), type.name)
    }
  })

  it("has no text that people write, where a built-in type has one", () => {
    const type = EventCatalogue.builtIn.find(({ name }) => name === "payment.failed") ?? null
    const data = { payment: { reference: "Ada", status: "failed" }, failure_message: "Ada has no money" }
    assert.deepStrictEqual(redacted(data, type).data, {
      payment: { reference: "[redacted]", status: "failed" },
      failure_message: "[redacted]",
    })
  })
})
