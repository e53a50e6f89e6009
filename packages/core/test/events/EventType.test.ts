import { EventCatalogue, EventType, EventTypes, HostEvents, ThresholdEvent } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"

const catalogue = (own: ReadonlyArray<EventType.EventType> = []) =>
  Effect.provide(EventTypes, EventCatalogue.layerWith(own))

const refund = EventType.make({
  name: "refund.issued",
  description: "A refund was issued.",
  data: Schema.Struct({ refund_id: Schema.String }),
  example: { refund_id: "re_1" },
})

describe("the catalogue of event types", () => {
  it.effect("has the types of the specification", () =>
    Effect.gen(function* () {
      const { all } = yield* catalogue()
      assert.deepStrictEqual(
        all.map(({ name }) => name),
        [
          "api_key.expiring",
          "book_check.failed",
          "credit.adjusted",
          "credit.exhausted",
          "credit.expired",
          "credit.granted",
          "credit.low",
          "credit.top_up_suspended",
          "credit_note.created",
          "dispute.closed",
          "dispute.opened",
          "entitlement.limit_reached",
          "invoice.collection_exhausted",
          "invoice.created",
          "invoice.deleted",
          "invoice.finalized",
          "invoice.marked_uncollectible",
          "invoice.overdue",
          "invoice.paid",
          "invoice.reopened",
          "invoice.voided",
          "payment.action_required",
          "payment.failed",
          "payment.needs_attention",
          "payment.overpaid",
          "payment.processing",
          "payment.succeeded",
          "payment.unresolved",
          "payment_method.attached",
          "payment_method.detached",
          "payment_method.expiring",
          "payment_method.updated",
          "refund.created",
          "refund.failed",
          "refund.succeeded",
          "spend.alert",
          "subscription.activated",
          "subscription.canceled",
          "subscription.created",
          "subscription.ended",
          "subscription.paused",
          "subscription.renewed",
          "subscription.resumed",
          "subscription.trial_ending",
          "subscription.updated",
          "usage.threshold",
          "usage.unbilled",
          "usage.unrated",
        ],
      )
    }),
  )

  it.effect("takes a host's own types, and its own idea of a built-in one", () =>
    Effect.gen(function* () {
      const paid = EventType.make({ ...refund, name: "invoice.paid" })
      const { all, find } = yield* catalogue([refund, paid])
      assert.strictEqual(all.length, EventCatalogue.builtIn.length + 1)
      assert.strictEqual(find("refund.issued"), refund)
      assert.strictEqual(find("invoice.paid"), paid)
      assert.strictEqual(find("unknown.type"), undefined)
    }),
  )

  it("describes each type and has an example that fits", () => {
    for (const type of EventCatalogue.builtIn) {
      assert.match(type.description, /^.{10,120}\.$/)
      assert.strictEqual(EventType.problemOf(type, type.example), undefined)
    }
  })

  it.each([
    "invoice",
    "Invoice.paid",
    "invoice.",
    ".paid",
    "invoice..paid",
    "a b.c",
    `a.${"b".repeat(99)}`,
    "1a.b",
  ])("refuses the name %s", (name) => {
    assert.throws(() => EventType.make({ ...refund, name }), `"${name}" is not a valid name of an event type`)
  })

  it("refuses an example that doesn't fit", () => {
    const broken = { ...refund, example: { refund_id: 1 } as unknown as { refund_id: string } }
    assert.throws(() => EventType.make(broken), "the example of refund.issued: data.refund_id")
  })
})

describe("the data of an event", () => {
  const invoicePaid = EventCatalogue.builtIn.find(({ name }) => name === "invoice.paid")!
  const problem = (change: Record<string, unknown>) =>
    EventType.problemOf(invoicePaid, { ...(invoicePaid.example as object), ...change })?.message

  it.each<[Record<string, unknown>, string]>([
    [
      { amount: 1.5 },
      "data.amount must be an integer of the currency's minor unit, from 0 to 9007199254740991",
    ],
    [
      { amount: -1 },
      "data.amount must be an integer of the currency's minor unit, from 0 to 9007199254740991",
    ],
    [
      { amount: "1" },
      "data.amount must be an integer of the currency's minor unit, from 0 to 9007199254740991",
    ],
    [{ currency: "eur" }, "data.currency must be an ISO 4217 currency code such as EUR"],
    [{ paid_at: "yesterday" }, "data.paid_at must be an RFC 3339 instant such as 2026-11-21T09:30:00Z"],
    [{ invoice_id: "" }, "data.invoice_id must be 1 to 255 characters"],
    [{ amout: 1 }, "data.amout is not a known field"],
    [{ metadata: { a: 1 } }, "data.metadata.a must be a string"],
  ])("with %j is refused by name", (change, message) => {
    assert.strictEqual(problem(change), message)
  })

  it("holds instants that exist, in all fields for instants", () => {
    const holders = EventCatalogue.builtIn.flatMap((type) =>
      HostEvents.INSTANT_FIELDS.filter((field) => {
        const data = { ...(type.example as object), [field]: "2026-11-21T24:00:00.5+01:00" }
        return EventType.problemOf(type, data)?.problem !== "is not a known field"
      }).map((field) => ({ type, field })),
    )
    assert.lengthOf(holders, 59)
    const problemOf = ({ field, type }: (typeof holders)[number], text: string) =>
      EventType.problemOf(type, { ...(type.example as object), [field]: text })?.message
    const impossible = [
      "2026-02-30T00:00:00Z",
      "2026-11-21T24:00:00Z",
      "2026-11-21T00:00:00+99:99",
      "2026-13-01T00:00:00Z",
      "2026-11-21T00:60:00Z",
    ]
    for (const holder of holders) {
      assert.strictEqual(problemOf(holder, "2026-11-21T00:00:00.123456789+02:00"), undefined)
      for (const text of impossible) {
        const message = `data.${holder.field} must be an RFC 3339 instant such as 2026-11-21T09:30:00Z`
        assert.strictEqual(problemOf(holder, text), message)
      }
    }
  })

  it.each<[unknown, string]>([
    [[], "data must be object"],
    ["text", "data must be object"],
    [null, "data must be object"],
    [{}, "data.invoice_id is required"],
  ])("must not be %j", (data, message) => {
    assert.strictEqual(EventType.problemOf(invoicePaid, data)?.message, message)
  })

  it("may hold totals beyond 2^53", () => {
    const threshold = ThresholdEvent.usageThreshold
    const data = { ...threshold.example, quantity: 10n ** 30n, total_quantity: 10n ** 30n + 1n }
    assert.strictEqual(EventType.problemOf(threshold, data), undefined)
  })
})
