import { assert, describe, it } from "vitest"
import {
  type Attempt,
  type AttemptStatus,
  collect,
  type Collection,
  type CollectionInput,
  type CollectionState,
  IDLE,
  isRequested,
  isUnderWay,
  type PaymentRead,
  payStepOf,
  UNRESOLVED_DELAYS,
} from "../../src/index.ts"
import { fc, holds } from "../property.ts"

const START = Date.parse("2026-11-23T09:00:00.000Z")
const ZONE = "Europe/Berlin"

const attemptOf = (status: AttemptStatus): Attempt => ({ id: "att_1", status, method: "pm_1", sentAt: START })
const inState = (state: CollectionState, status: AttemptStatus | null): Collection => ({
  ...IDLE,
  state,
  attempt: status === null ? null : attemptOf(status),
})

const reading = (read: PaymentRead): CollectionInput => ({ type: "read", read })
const declined = (code = "insufficient_funds"): CollectionInput =>
  reading({ status: "declined", attemptId: "att_1", code, advice: null, notBefore: null })
const once = { type: "attempt", attemptId: "att_1", method: "pm_1", once: true } as const
const asked = { type: "attempt", attemptId: "att_1", method: "pm_1" } as const
const send = { type: "send" } as const
const failed = (reason: "transient" | "permanent" | "unknown", message?: string): CollectionInput => ({
  type: "failed",
  reason,
  ...(message === undefined ? {} : { message }),
})

/** The collection after inputs that change it, with the events of the last one. */
const after = (...inputs: ReadonlyArray<CollectionInput>) =>
  inputs.reduce<{ readonly collection: Collection; readonly events: ReadonlyArray<string> }>(
    ({ collection }, input) => {
      const collected = collect(collection, input, collection.nextAt ?? START, ZONE)
      if (collected.type === "unchanged") throw new Error(`${JSON.stringify(input)}: ${collected.problem}`)
      return collected
    },
    { collection: IDLE, events: [] },
  )

describe("what is done when somebody asks for the money now", () => {
  const rows: ReadonlyArray<
    readonly [CollectionState, AttemptStatus | null, "attempt" | "read" | "refused"]
  > = [
    ["idle", null, "attempt"],
    ["collecting", "ready", "attempt"],
    ["collecting", "sent", "refused"],
    ["unresolved", "unknown", "refused"],
    ["processing", "processing", "refused"],
    ["awaiting_customer", "requires_action", "read"],
    ["awaiting_customer", "declined", "read"],
    ["retrying", "declined", "attempt"],
    ["retrying", "dropped", "attempt"],
    ["awaiting_method", "declined", "attempt"],
    ["awaiting_method", "dropped", "attempt"],
    ["exhausted", "declined", "attempt"],
    ["exhausted", "dropped", "attempt"],
    ["needs_attention", "unknown", "read"],
    ["needs_attention", "processing", "read"],
    ["needs_attention", "dropped", "attempt"],
    ["needs_attention", "ready", "attempt"],
    ["needs_attention", "requires_action", "attempt"],
    ["stopped", "dropped", "attempt"],
    ["paid", "succeeded", "refused"],
  ]
  it.each([...rows])("%s with an attempt that is %s: %s", (state, status, step) => {
    const collection = inState(state, status)
    assert.strictEqual(payStepOf(collection, false).type, step)
    // The machine allows what is decided, and what is decided once the customer's payment is read.
    const input = collect(collection, asked, START, ZONE)
    assert.strictEqual(input.type === "changed", payStepOf(collection, true).type === "attempt")
  })
})

describe("an attempt that is asked for once", () => {
  const sent = [once, send] as const

  it("is not followed by another one when it is declined, whatever the code", () => {
    for (const code of ["insufficient_funds", "expired_card", "stop_payment_order"]) {
      const { collection, events } = after(...sent, declined(code))
      assert.deepInclude(collection, { state: "exhausted", nextAt: null })
      assert.lengthOf(collection.declines, 1)
      assert.deepStrictEqual(events, ["payment.failed"])
      assert.isFalse(isRequested(collection))
    }
  })

  it("waits for the customer, and for the bank", () => {
    for (const input of [
      declined("authentication_required"),
      reading({ status: "requires_action" }),
      reading({ status: "processing" }),
    ]) {
      const { collection } = after(...sent, input)
      assert.strictEqual(isRequested(collection), collection.attempt?.status !== "declined")
      assert.include(["awaiting_customer", "processing"], collection.state)
    }
  })

  it("stays one when it is sent again, or another one takes the place of what never arrived", () => {
    const again = after(...sent, failed("transient")).collection
    assert.isTrue(isRequested(again))
    const replaced = collect(again, { ...asked, attemptId: "att_2" }, START, ZONE)
    assert.isTrue(replaced.type === "changed" && isRequested(replaced.collection))
    const others = after(...sent, declined(), { ...asked, attemptId: "att_2" }).collection
    assert.isFalse(isRequested(others))
  })

  it("without a method ends", () => {
    const { collection, events } = after(once, { type: "no_method" })
    assert.strictEqual(collection.state, "exhausted")
    assert.deepStrictEqual(events, ["payment.failed"])
  })
})

describe("why a person has to look", () => {
  const lost = Array.from({ length: UNRESOLVED_DELAYS.length }, () => failed("unknown", "no answer"))

  it("is said with what the provider said, and since when", () => {
    const refused = after(asked, send, failed("permanent", "the key is wrong")).collection
    assert.deepStrictEqual(refused.attention, {
      code: "provider_refused",
      since: refused.attempt!.sentAt! + 90_000,
      detail: "the key is wrong",
    })
    const busy = after(asked, ...Array.from({ length: 11 }, () => failed("transient"))).collection
    assert.deepInclude(busy.attention, { code: "provider_unreachable", detail: null })
    const unknown = after(asked, send, failed("unknown"), ...lost).collection
    assert.deepInclude(unknown.attention, { code: "outcome_unknown", detail: "no answer" })
    const closed = after(asked, send, reading({ status: "closed" })).collection
    assert.strictEqual(closed.attention?.code, "closed_at_provider")
    const waits = Array.from({ length: 30 }, () => reading({ status: "processing" }))
    const waited = after(asked, send, reading({ status: "processing" }), ...waits).collection
    assert.strictEqual(waited.attention?.code, "no_result")
  })

  it("is that the provider takes no such amount, before anything is sent", () => {
    const refused = { type: "not_chargeable", problem: "it takes at least 50.00 EUR" } as const
    const { collection, events } = after(asked, refused)
    assert.deepInclude(collection, { state: "needs_attention", nextAt: null })
    assert.strictEqual(collection.attempt?.status, "dropped")
    assert.deepInclude(collection.attention, { code: "not_chargeable", detail: refused.problem })
    assert.deepStrictEqual(events, ["payment.needs_attention"])
    const sent = after(asked, send).collection
    assert.strictEqual(collect(sent, refused, START, ZONE).type, "unchanged")
  })

  it("keeps its instant while it needs attention, and is gone afterwards", () => {
    const { collection } = after(asked, send, failed("unknown"), ...lost)
    const later = collection.attention!.since + 1_000_000
    const closed = collect(collection, reading({ status: "closed" }), later, ZONE)
    assert(closed.type === "changed")
    assert.deepInclude(closed.collection.attention, {
      code: "closed_at_provider",
      since: collection.attention!.since,
    })
    const retried = collect(closed.collection, asked, later, ZONE)
    assert(retried.type === "changed")
    assert.isUndefined(retried.collection.attention)
  })
})

describe("for all inputs", () => {
  const inputs = fc.array(
    fc.constantFrom<CollectionInput>(
      once,
      asked,
      { ...asked, attemptId: "att_2", method: "pm_2" },
      send,
      { type: "no_method" },
      failed("transient"),
      failed("permanent"),
      failed("unknown"),
      declined(),
      declined("stop_payment_order"),
      reading({ status: "open" }),
      reading({ status: "closed" }),
      reading({ status: "processing" }),
      reading({ status: "requires_action" }),
      reading({ status: "succeeded" }),
      { type: "stop" },
    ),
    { maxLength: 40 },
  )

  it("asking for the money is never a second attempt, and what is decided is possible", () => {
    holds([inputs], (steps) => {
      let collection: Collection = IDLE
      let at = START
      for (const input of steps) {
        at = Math.max(at, collection.nextAt ?? at)
        const collected = collect(collection, input, at, ZONE)
        if (collected.type === "changed") collection = collected.collection
        const step = payStepOf(collection, true)
        if (step.type === "attempt") assert.isFalse(isUnderWay(collection))
        const tried = collect(collection, { ...asked, attemptId: "att_9" }, at, ZONE)
        assert.strictEqual(tried.type === "changed", step.type === "attempt")
        assert.strictEqual(collection.attention !== undefined, collection.state === "needs_attention")
      }
    })
  })
})
