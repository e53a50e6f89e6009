import { assert, describe, it } from "vitest"
import {
  ANSWER_MILLIS,
  collect,
  type Collection,
  COLLECTION_TRANSITIONS,
  type CollectionCause,
  type CollectionInput,
  type CollectionState,
  type CollectionStep,
  DECLINE_CODES,
  type DeclineAdvice,
  IDLE,
  MAX_DECLINES_OF_METHOD,
  notClosed,
  type PaymentRead,
  RESEND_MILLIS,
  stepOf,
  UNRESOLVED_DELAYS,
  WAITING_DELAYS,
} from "../../src/index.ts"
import { fc, holds } from "../property.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** A Monday, 10:00 in Berlin. */
const START = Date.parse("2026-11-23T09:00:00.000Z")
const ZONE = "Europe/Berlin"

const attempt = (id = "att_1", method: string | null = "pm_1"): CollectionInput => ({
  type: "attempt",
  attemptId: id,
  method,
})
const send = { type: "send" } as const
const stop = { type: "stop" } as const
const noMethod = { type: "no_method" } as const
const failed = (reason: "transient" | "permanent" | "unknown"): CollectionInput => ({
  type: "failed",
  reason,
})
const reading = (read: PaymentRead): CollectionInput => ({ type: "read", read })
const declined = (
  advice: DeclineAdvice | null = null,
  { attemptId = "att_1", code = "insufficient_funds", notBefore = null as number | null } = {},
): CollectionInput => reading({ status: "declined", attemptId, code, advice, notBefore })
const succeeded = reading({ status: "succeeded" })
const open = reading({ status: "open" })
const closed = reading({ status: "closed" })
const processing = reading({ status: "processing" })
const action = reading({ status: "requires_action" })

type Timed = readonly [input: CollectionInput, at: number]
const isTimed = (one: CollectionInput | Timed): one is Timed => Array.isArray(one)

/** The collection after inputs, each of which must change it. Those without an instant are at the start. */
const after = (...inputs: ReadonlyArray<CollectionInput | Timed>): Collection =>
  inputs.reduce<Collection>((collection, one) => {
    const [input, at] = isTimed(one) ? one : ([one, START] as const)
    const collected = collect(collection, input, at, ZONE)
    if (collected.type === "unchanged") throw new Error(`${JSON.stringify(input)}: ${collected.problem}`)
    return collected.collection
  }, IDLE)

const ready = after(attempt())
const sent = after(attempt(), send)
const unresolved = after(attempt(), send, failed("unknown"))
const lost = UNRESOLVED_DELAYS.reduce<Collection>((collection) => {
  const collected = collect(collection, failed("unknown"), collection.nextAt!, ZONE)
  return collected.type === "changed" ? collected.collection : collection
}, unresolved)

/** A collection in each state. Those under way have been sent. */
const STATES: Readonly<Record<CollectionState, Collection>> = {
  idle: IDLE,
  collecting: sent,
  unresolved,
  processing: after(attempt(), send, processing),
  awaiting_customer: after(attempt(), send, action),
  needs_attention: lost,
  retrying: after(attempt(), send, declined()),
  awaiting_method: after(attempt(), send, declined("new_method")),
  exhausted: after(attempt(), send, declined("stop")),
  stopped: after(stop),
  paid: after(attempt(), send, succeeded),
}

/** The states in which nothing is under way. */
const AT_REST = new Set<CollectionState>(["idle", "retrying", "awaiting_method", "exhausted", "stopped"])

/** What makes each cause. */
const CAUSES: Readonly<
  Record<CollectionCause, (from: Collection) => readonly [Collection, CollectionInput, number]>
> = {
  attempt: (from) => [from.state === "collecting" ? ready : from, attempt("att_2"), START],
  send: () => [ready, send, START],
  succeeded: (from) => [from, succeeded, START],
  processing: (from) => [from, processing, from.nextAt ?? START],
  requires_action: (from) => [from, action, from.nextAt ?? START],
  retry_later: (from) => [from, declined(), START],
  needs_method: (from) =>
    AT_REST.has(from.state) ? [from, noMethod, START] : [from, declined("new_method"), START],
  give_up: (from) => [from, declined("stop"), START],
  not_attempted: (from) => [from, open, START],
  too_late: (from) =>
    from.state === "collecting"
      ? [after(attempt(), send, failed("transient")), send, START + RESEND_MILLIS]
      : [from, open, START + RESEND_MILLIS],
  closed: (from) => [from, closed, START],
  transient: (from) => [from, failed("transient"), START],
  permanent: (from) => [from, failed("permanent"), START],
  unknown: (from) => [from, failed("unknown"), from.nextAt ?? START],
  used_up: (from) => [
    from.state === "collecting"
      ? { ...ready, tries: UNRESOLVED_DELAYS.length }
      : { ...from, tries: WAITING_DELAYS.length },
    failed("transient"),
    START,
  ],
  stop: (from) => [from.state === "collecting" ? ready : from, { ...stop, isClosed: true }, START],
}

const isState = (name: string): name is CollectionState => name in STATES
const isCause = (name: string): name is CollectionCause => name in CAUSES

describe("the table of a collection", () => {
  for (const [from, row] of Object.entries(COLLECTION_TRANSITIONS)) {
    for (const [cause, to] of Object.entries(row)) {
      it(`${from}: ${cause} leads to ${to}`, () => {
        if (!isState(from) || !isCause(cause)) throw new Error("the table has an unknown name")
        const isBlocked = from === "needs_attention" && cause === "attempt"
        // Only what surely took nothing is attempted again or stopped.
        const state = isBlocked ? after(attempt(), send, failed("permanent")) : STATES[from]
        const [collection, input, at] = CAUSES[cause](state)
        const collected = collect(collection, input, at, ZONE)
        assert.strictEqual(collected.type === "changed" ? collected.collection.state : collected.problem, to)
      })
    }
  }

  it("what is not in the table changes nothing", () => {
    const unexpected: Array<string> = []
    for (const [from, state] of Object.entries(STATES)) {
      for (const [cause, make] of Object.entries(CAUSES)) {
        if (!isState(from) || !isCause(cause) || cause === "send") continue
        if (COLLECTION_TRANSITIONS[from][cause] !== undefined) continue
        const [collection, input, at] = make(state)
        if (collection.state !== from) continue
        const collected = collect(collection, input, at, ZONE)
        // A failed read and an answer that says nothing new count as a try of what is waited for.
        if (collected.type === "changed" && collected.collection.state !== from) {
          if (collected.collection.state !== "needs_attention") unexpected.push(`${from} ${cause}`)
        }
      }
    }
    assert.deepStrictEqual(unexpected, [])
  })
})

describe("attempts", () => {
  it("without a method wait for one, which counts as no decline of any", () => {
    const waiting = after(attempt("att_1", null), noMethod)
    assert.deepInclude(waiting, { state: "awaiting_method", declines: [], nextAt: null })
    assert.strictEqual(waiting.attempt?.status, "dropped")
    const collected = collect(ready, noMethod, START, ZONE)
    assert.deepStrictEqual(collected.type === "changed" && collected.events, ["payment.failed"])
    for (const collection of [sent, unresolved, STATES.processing, lost]) {
      assert.strictEqual(collect(collection, noMethod, START, ZONE).type, "unchanged")
    }
  })

  it("is stored as sent before the call, and its outcome is unknown when no answer comes", () => {
    assert.deepStrictEqual(sent, {
      state: "collecting",
      attempt: { id: "att_1", status: "sent", method: "pm_1", sentAt: START },
      declines: [],
      tries: 0,
      nextAt: START + ANSWER_MILLIS,
    })
    assert.strictEqual(stepOf(ready), "send")
    assert.strictEqual(stepOf(sent), "read")
    assert.strictEqual(unresolved.attempt?.status, "unknown")
    assert.strictEqual(unresolved.nextAt, START + 90_000)
    assert.strictEqual(stepOf(unresolved), "read")
  })

  it("an unknown outcome blocks every other attempt and stopping, also when a person has to look", () => {
    for (const collection of [sent, unresolved, STATES.processing, lost]) {
      for (const input of [attempt("att_2"), send, stop]) {
        assert.strictEqual(collect(collection, input, START, ZONE).type, "unchanged")
      }
    }
  })

  it("an unknown outcome is read at 90 s, 5 m, 30 m, 2 h, 12 h, then daily five times, then by a person", () => {
    const delays: Array<number> = []
    let [collection, at] = [unresolved, START]
    while (collection.nextAt !== null) {
      delays.push((collection.nextAt - at) / 60_000)
      at = collection.nextAt
      const collected = collect(collection, failed("unknown"), at, ZONE)
      if (collected.type === "changed") collection = collected.collection
    }
    assert.deepStrictEqual(delays, [1.5, 5, 30, 120, 720, 1_440, 1_440, 1_440, 1_440, 1_440])
    assert.strictEqual(collection.state, "needs_attention")
    assert.strictEqual(collection.attempt?.status, "unknown")
    assert.strictEqual(stepOf(collection), null)
  })

  it("a request that was lost is sent again with its key, and after 23 hours as a new attempt", () => {
    const again = collect(unresolved, open, START + RESEND_MILLIS - 1, ZONE)
    assert.strictEqual(again.type === "changed" && again.collection.attempt?.id, "att_1")
    assert.strictEqual(again.type === "changed" && stepOf(again.collection), "send")
    const late = collect(unresolved, open, START + RESEND_MILLIS, ZONE)
    assert.strictEqual(late.type === "changed" && late.collection.attempt?.status, "dropped")
    assert.strictEqual(late.type === "changed" && stepOf(late.collection), "attempt")
  })

  it("a request that is lost again and again is sent at growing distances, and then a person has to look", () => {
    let collection = after(attempt("att_0"))
    const sends: Array<number> = []
    const attempts = new Set<string | undefined>()
    const steps: Record<CollectionStep, () => CollectionInput> = {
      attempt: () => attempt(`att_${sends.length}`),
      send: () => send,
      read: () => (collection.attempt?.status === "sent" ? failed("unknown") : open),
    }
    let at = START
    for (let n = 0; n < 1_000 && collection.nextAt !== null; n++) {
      at = collection.nextAt
      const input = steps[stepOf(collection)!]()
      const collected = collect(collection, input, at, ZONE)
      if (collected.type === "changed") collection = collected.collection
      if (collection.attempt?.status !== "sent") continue
      sends.push((at - START) / 60_000)
      attempts.add(collection.attempt.id)
    }
    assert.strictEqual(collection.state, "needs_attention")
    assert.lengthOf(sends, UNRESOLVED_DELAYS.length + 1)
    const distances = sends.slice(1).map((minutes, index) => minutes - sends[index]!)
    // The answer is waited for, and then the schedule begins.
    assert.deepStrictEqual(
      distances,
      UNRESOLVED_DELAYS.map((delay) => (ANSWER_MILLIS + delay) / 60_000),
    )
    // A key is used for less than a day.
    assert.isAbove(attempts.size, 1)
  })

  it("what surely did not happen is not sent again with the same key after 23 hours", () => {
    const again = after(attempt(), send, failed("transient"))
    const late = collect(again, send, START + RESEND_MILLIS, ZONE)
    assert.strictEqual(late.type === "changed" && late.collection.attempt?.status, "dropped")
    assert.strictEqual(late.type === "changed" && stepOf(late.collection), "attempt")
    assert.strictEqual(late.type === "changed" && late.collection.tries, again.tries)
    const unsent = collect(ready, send, START + RESEND_MILLIS, ZONE)
    assert.strictEqual(unsent.type === "changed" && unsent.collection.attempt?.status, "sent")
  })

  it("a payment that somebody has closed at the provider needs attention, and nothing is sent any more", () => {
    for (const collection of [sent, unresolved, STATES.processing, STATES.awaiting_customer]) {
      const after = collect(collection, closed, START, ZONE)
      assert.deepInclude(after.type === "changed" && after.collection, {
        state: "needs_attention",
        nextAt: null,
      })
      assert.strictEqual(after.type === "changed" && after.collection.attempt?.status, "dropped")
    }
  })

  it("a decline of the attempt before says nothing of this one", () => {
    const second = after(attempt(), send, declined(), attempt("att_2"), send)
    assert.strictEqual(collect(second, declined(), START, ZONE).type, "unchanged")
    const unknown = after(attempt(), send, declined(), attempt("att_2"), send, failed("unknown"), declined())
    assert.strictEqual(unknown.attempt?.id, "att_2")
    assert.strictEqual(unknown.attempt?.status, "ready")
  })

  it("a decline of the attempt before counts once the day's read of what is waited for says so", () => {
    for (const waited of [processing, action]) {
      // The request of the second attempt was lost, and the first one is what is stated from then on.
      const waiting = after(attempt(), send, action, attempt("att_2"), send, failed("unknown"), waited)
      const due = waiting.nextAt ?? START
      const early = collect(waiting, declined(), due - 1, ZONE)
      assert.strictEqual(early.type, "unchanged")
      const collected = collect(waiting, declined(), due, ZONE)
      assert.strictEqual(collected.type, "changed")
      if (collected.type !== "changed") return
      assert.strictEqual(collected.collection.state, "retrying")
      assert.strictEqual(collected.collection.attempt?.status, "declined")
      assert.lengthOf(collected.collection.declines, 1)
      assert.deepStrictEqual(collected.events, ["payment.failed"])
    }
  })

  it("a decline of the attempt before counts when a person has to look, because a bank said nothing", () => {
    const processed = { ...STATES.processing, tries: WAITING_DELAYS.length }
    const due = processed.nextAt ?? START
    const looked = collect(processed, open, due, ZONE)
    if (looked.type === "unchanged") return assert.fail(looked.problem)
    assert.strictEqual(looked.collection.state, "needs_attention")
    const before = declined("new_method", { attemptId: "att_0" })
    const collected = collect(looked.collection, before, due, ZONE)
    assert.strictEqual(collected.type === "changed" && collected.collection.state, "awaiting_method")
    // Of an attempt that may have got lost it says nothing: that one is sent again.
    const sentAgain = collect(lost, before, START, ZONE)
    assert.strictEqual(sentAgain.type === "changed" && sentAgain.collection.attempt?.status, "ready")
  })

  it("nothing is done by itself where only closing was planned, and the payment is wanted again", () => {
    for (const state of ["awaiting_method", "exhausted", "stopped"] as const) {
      assert.strictEqual(stepOf({ ...STATES[state], closings: 1, nextAt: START }), null)
    }
    assert.strictEqual(stepOf({ ...STATES.retrying, closings: 1, nextAt: START }), "attempt")
  })

  it("what surely did not happen is sent again with the same key", () => {
    const again = after(attempt(), send, failed("transient"))
    assert.strictEqual(stepOf(again), "send")
    assert.strictEqual(again.nextAt, START + 90_000)
    assert.strictEqual(again.attempt?.sentAt, START)
  })
})

const instant = (collection: Collection): string | undefined =>
  collection.nextAt === null ? undefined : new Date(collection.nextAt).toISOString()

describe("declines", () => {
  it("are tried again 1, 3, 5 and 7 days after the first one at 09:00 of the customer, then given up", () => {
    let [collection, at] = [IDLE, START]
    const retries: Array<string | undefined> = []
    for (let n = 1; n <= 5; n++) {
      for (const input of [attempt(`att_${n}`), send, declined(null, { attemptId: `att_${n}` })]) {
        const collected = collect(collection, input, at, ZONE)
        assert.strictEqual(collected.type, "changed")
        if (collected.type === "changed") collection = collected.collection
      }
      retries.push(instant(collection))
      at = collection.nextAt ?? at
    }
    assert.deepStrictEqual(retries, [
      "2026-11-24T08:00:00.000Z",
      "2026-11-26T08:00:00.000Z",
      "2026-11-28T08:00:00.000Z",
      "2026-11-30T08:00:00.000Z",
      undefined,
    ])
    assert.strictEqual(collection.state, "exhausted")
  })

  it("keep 09:00 where clocks change", () => {
    const before = Date.parse("2026-03-28T20:00:00.000Z")
    const collection = after([attempt(), before], [send, before], [declined(), before])
    assert.strictEqual(instant(collection), "2026-03-29T07:00:00.000Z")
  })

  it("are not tried before the network allows it", () => {
    const notBefore = START + 2 * DAY
    assert.strictEqual(after(attempt(), send, declined(null, { notBefore })).nextAt, notBefore)
  })

  it("follow the advice before the code", () => {
    const code = "stolen_card"
    assert.strictEqual(DECLINE_CODES[code], "new_method")
    assert.strictEqual(after(attempt(), send, declined(null, { code })).state, "awaiting_method")
    assert.strictEqual(after(attempt(), send, declined("retry", { code })).state, "retrying")
    assert.strictEqual(after(attempt(), send, declined("stop", { code })).state, "exhausted")
  })

  it("of bank debits that are final are not tried again", () => {
    const codes = [
      "account_closed",
      "bank_account_closed",
      "bank_account_invalid_details",
      "bank_account_restricted",
      "bank_account_unusable",
      "no_account",
      "payment_intent_mandate_invalid",
      "payment_method_bank_account_blocked",
    ]
    for (const code of codes) {
      assert.strictEqual(after(attempt(), send, declined(null, { code })).state, "awaiting_method", code)
    }
    const code = "debit_not_authorized"
    assert.strictEqual(after(attempt(), send, declined(null, { code })).state, "exhausted")
  })

  it("with a code that is a name of every object are tried again", () => {
    for (const code of ["constructor", "__proto__", "toString"]) {
      assert.strictEqual(after(attempt(), send, declined(null, { code })).state, "retrying")
    }
  })

  it("begin anew with a new method, at once", () => {
    const other = after(attempt(), send, declined("new_method"), attempt("att_2", "pm_2"))
    assert.strictEqual(other.nextAt, START)
    const again = collect(
      { ...other, attempt: { ...other.attempt!, status: "sent" } },
      declined(null, { attemptId: "att_2" }),
      START,
      ZONE,
    )
    assert.strictEqual(again.type === "changed" && instant(again.collection), "2026-11-24T08:00:00.000Z")
  })

  it("end at 15 of a method in 30 days, also when somebody asks for each", () => {
    let collection: Collection = IDLE
    for (let n = 1; n <= MAX_DECLINES_OF_METHOD; n++) {
      assert.notStrictEqual(collection.state, n > RETRIES_AND_FIRST ? "retrying" : "exhausted")
      for (const input of [attempt(`a${n}`), send, declined(null, { attemptId: `a${n}` })]) {
        const collected = collect(collection, input, START, ZONE)
        if (collected.type === "changed") collection = collected.collection
      }
    }
    assert.strictEqual(collection.state, "exhausted")
    assert.lengthOf(collection.declines, MAX_DECLINES_OF_METHOD)
  })

  it("of a method for other invoices count, too: it is not attempted, and no network is asked", () => {
    const elsewhere = Array.from({ length: MAX_DECLINES_OF_METHOD }, (_, n) => ({
      method: "pm_1",
      at: START - n * DAY,
    }))
    const blocked = collect(ready, { ...send, elsewhere }, START, ZONE)
    assert.deepInclude(blocked.type === "changed" && blocked.collection, { state: "exhausted", declines: [] })
    assert.strictEqual(blocked.type === "changed" && blocked.collection.attempt?.status, "dropped")
    for (const allowed of [
      elsewhere.slice(1),
      elsewhere.map((one) => ({ ...one, method: "pm_2" })),
      elsewhere.map(({ at, method }) => ({ method, at: at - 30 * DAY })),
    ]) {
      const collected = collect(ready, { ...send, elsewhere: allowed }, START, ZONE)
      assert.strictEqual(collected.type === "changed" && collected.collection.attempt?.status, "sent")
    }
  })

  it("of a method for other invoices are counted when the next attempt would be made", () => {
    const many = (first: number) =>
      Array.from({ length: MAX_DECLINES_OF_METHOD - 1 }, (_, n) => ({ method: "pm_1", at: first + n }))
    const retry = after(attempt(), send, declined()).nextAt!
    const rows = [
      [many(START - DAY), "exhausted"],
      [many(START - DAY).slice(1), "retrying"],
      // By then, they are 30 days ago.
      [many(retry - 31 * DAY), "retrying"],
      [many(START - DAY).map((one) => ({ ...one, method: "pm_2" })), "retrying"],
    ] as const
    for (const [elsewhere, state] of rows) {
      const input = { ...declined(), elsewhere } as CollectionInput
      const collected = collect(sent, input, START, ZONE)
      assert(collected.type === "changed")
      assert.strictEqual(collected.collection.state, state)
      assert.strictEqual(collected.collection.nextAt === null, state === "exhausted")
    }
  })

  it("for want of the customer's confirmation wait for it, and count once", () => {
    const waiting = after(attempt(), send, declined(null, { code: "authentication_required" }))
    assert.strictEqual(waiting.state, "awaiting_customer")
    assert.lengthOf(waiting.declines, 1)
    const read = collect(waiting, declined(null, { code: "authentication_required" }), waiting.nextAt!, ZONE)
    assert.strictEqual(read.type === "changed" && read.collection.declines.length, 1)
    assert.deepStrictEqual(read.type === "changed" && read.events, [])
  })
})

const RETRIES_AND_FIRST = 5

const reads: ReadonlyArray<CollectionInput> = [
  succeeded,
  open,
  closed,
  processing,
  action,
  declined(),
  declined("stop"),
  declined("new_method"),
]
const inputs = fc.array(
  fc.tuple(
    fc.constantFrom(
      attempt("att_1"),
      attempt("att_2", "pm_2"),
      send,
      stop,
      failed("transient"),
      failed("permanent"),
      failed("unknown"),
      ...reads,
      declined(null, { attemptId: "att_2" }),
    ),
    fc.integer({ min: 0, max: 3 * DAY }),
  ),
  { maxLength: 30 },
)

/** The collections on the way through inputs, with what each input did. */
const walk = (steps: ReadonlyArray<readonly [CollectionInput, number]>) => {
  let [collection, at]: [Collection, number] = [IDLE, START]
  return steps.map(([input, pause]) => {
    at += pause
    const before = collection
    const result = collect(before, input, at, ZONE)
    if (result.type === "changed") collection = result.collection
    return { before, input, result, collection, at }
  })
}

describe("closing that fails", () => {
  it("is tried again hourly for a day, then daily for 13 days, and then a person has to look", () => {
    const at = START
    let collection = after(attempt(), send, declined())
    const delays: Array<number> = []
    for (let now = at; ; now = collection.nextAt!) {
      collection = notClosed(collection, now, "busy")
      if (collection.nextAt === null) break
      delays.push((collection.nextAt - now) / HOUR)
    }
    assert.deepStrictEqual(delays, [...Array(24).fill(1), ...Array(13).fill(24)])
    assert.deepInclude(collection, { state: "needs_attention", closings: delays.length })
    assert.deepInclude(collection.attention, { code: "not_closed", detail: "busy" })
    // A success is booked nevertheless, and what it waited for is not begun anew.
    const paid = collect(collection, succeeded, START, ZONE)
    assert(paid.type === "changed" && paid.isPaid)
    assert.isNull(notClosed(collection, START, "busy").nextAt)
  })
})

describe("for all inputs", () => {
  it("no attempt is replaced while it may have taken the money", () => {
    holds([inputs], (steps) => {
      for (const { before, collection } of walk(steps)) {
        const status = before.attempt?.status
        if (status === "sent" || status === "unknown" || status === "processing") {
          assert.strictEqual(collection.attempt?.id, before.attempt?.id)
        }
      }
    })
  })

  it("a success is never taken back, and is paid once", () => {
    holds([inputs], (steps) => {
      const seen = walk(steps)
      const first = seen.findIndex(({ input }) => input === succeeded)
      if (first === -1) return
      for (const { collection } of seen.slice(first)) assert.strictEqual(collection.state, "paid")
      assert.lengthOf(
        seen.filter(({ result }) => result.type === "changed" && result.isPaid),
        1,
      )
    })
  })

  it("a decline comes from the provider, never from silence", () => {
    holds([inputs], (steps) => {
      for (const { before, collection, input } of walk(steps)) {
        if (collection.declines.length > before.declines.length) assert.strictEqual(input.type, "read")
      }
    })
  })

  it("a payment without an attempt that is closed twice needs attention once", () => {
    const read = (status: "processing" | "closed") => ({ type: "read", read: { status } }) as const
    const processing = collect(IDLE, read("processing"), START, ZONE)
    assert(processing.type === "changed")
    const closed = collect(processing.collection, read("closed"), START, ZONE)
    assert(closed.type === "changed" && closed.collection.state === "needs_attention")
    assert.strictEqual(collect(closed.collection, read("closed"), START, ZONE).type, "unchanged")
  })

  it("an answer that comes twice changes the collection once", () => {
    holds([inputs, fc.constantFrom(...reads)], (steps, read) => {
      const { at, collection } = walk(steps).at(-1) ?? { at: START, collection: IDLE }
      const once = collect(collection, read, at, ZONE)
      if (once.type === "unchanged") return
      const twice = collect(once.collection, read, at, ZONE)
      assert.strictEqual(twice.type, "unchanged")
    })
  })

  it("something happens by itself exactly while something can, and only later", () => {
    const waits: ReadonlyArray<CollectionState> = [
      "collecting",
      "unresolved",
      "processing",
      "awaiting_customer",
      "retrying",
    ]
    holds([inputs], (steps) => {
      for (const { at, collection, result } of walk(steps)) {
        assert.strictEqual(stepOf(collection) !== null, waits.includes(collection.state))
        if (result.type === "changed" && collection.nextAt !== null) assert.isAtLeast(collection.nextAt, at)
      }
    })
  })

  it("a read that is due moves the collection on, whatever it says", () => {
    holds([inputs, fc.constantFrom(...reads)], (steps, read) => {
      const { collection } = walk(steps).at(-1) ?? { collection: IDLE }
      if (
        collection.nextAt === null ||
        stepOf(collection) !== "read" ||
        collection.attempt?.status === "sent"
      )
        return
      assert.strictEqual(collect(collection, read, collection.nextAt, ZONE).type, "changed")
    })
  })

  it("every collection ends when nobody answers any more", () => {
    holds([inputs], (steps) => {
      let { collection } = walk(steps).at(-1) ?? { collection: IDLE }
      for (let n = 0; n < 200 && collection.nextAt !== null; n++) {
        const at = collection.nextAt
        const step = stepOf(collection)
        const input = step === "attempt" ? attempt(`new_${n}`) : step === "send" ? send : failed("unknown")
        const result = collect(collection, input, at, ZONE)
        assert.strictEqual(result.type, "changed")
        if (result.type === "changed") collection = result.collection
      }
      assert.isNull(collection.nextAt)
    })
  })
})
