/**
 * A refund and a dispute of the same payment at once, with real processes on a real Postgres, and a bank in a process of its
 * own: row 63 of the fault matrix. However they meet, the books have to be those of the bank.
 */
import {
  type Dispute,
  Disputes,
  type Event,
  Events,
  type Notice,
  Payments,
  type Refund,
  Refunds,
} from "@billwright/core"
import { problemsOfPayments, problemsOfSums } from "@billwright/engine"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { until } from "../Until.ts"
import {
  answer,
  type Banked,
  bankedAt,
  decide,
  hold,
  openDispute,
  stall,
  waitingAt,
} from "./billing/BankClient.ts"
import type { Installation } from "./billing/Installation.ts"
import { BACK, endedWell, LEASED, PaymentWorld, TOTAL } from "./billing/PaymentWorld.ts"
import { DAY, START_MILLIS } from "./billing/Scenario.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"

/** When the dispute is opened: `before` a process sends the refund, while it is on its way, once it is made, or `after`. */
type Moment = "before" | "on its way" | "made" | "after"

/** Where the process dies that sends the refund: at a step of its own, while it waits for the answer, or not at all. */
type Death = `${"before" | "after" | "call" | "answer"} ${number}` | "waiting" | "never"

/**
 * A run claims what is due (commits 1 and 2), stores that the refund is about to be sent (3), sends it, and stores what came
 * of it (4).
 */
const MEETINGS: ReadonlyArray<readonly [Moment, Death]> = [
  ["before", "never"],
  ["before", "before 3"],
  ["before", "after 3"],
  ["on its way", "never"],
  ["on its way", "waiting"],
  ["made", "never"],
  ["made", "waiting"],
  ["made", "answer 1"],
  ["made", "before 4"],
  ["made", "after 4"],
  ["after", "after 3"],
  ["after", "call 1"],
  ["after", "answer 1"],
  ["after", "before 4"],
  ["after", "after 4"],
]

/** How often each notice is sent at once. */
const TIMES = 3
/** How often a postponed notice is sent again. */
const AGAIN = 5

const world = new PaymentWorld()

/** The only payment in a book. */
const paymentAt = async (name: string): Promise<Banked> => {
  const [payment] = await bankedAt(world.bookOf(name))
  assert.isDefined(payment)
  return payment!
}

/** The notices of everything that happened to the payment. Those of the same kind have the same event ids each time. */
const noticesOf = ({ disputes, refunds }: Banked): ReadonlyArray<Notice> => [
  ...disputes.map(({ reference, status }) => ({
    eventId: `${reference}_${status}`,
    mode: "live" as const,
    about: "dispute" as const,
    reference,
  })),
  ...refunds.map(({ reference }) => ({
    eventId: reference,
    mode: "live" as const,
    about: "refund" as const,
    reference,
  })),
]

/** The bank tells of everything, several times at once, and again as long as it is answered that it should. */
const tell = async (name: string, one: Installation): Promise<void> => {
  const notices = noticesOf(await paymentAt(name))
  let left = Array.from({ length: TIMES }, () => notices).flat()
  for (let round = 0; left.length > 0; round++) {
    assert.isBelow(round, AGAIN, "notices are postponed for ever")
    const told = await Promise.all(
      left.map(async (notice) => {
        const body = new TextEncoder().encode(JSON.stringify(notice))
        const received = Effect.flatMap(Payments, (payments) => payments.receive({ body, headers: {} }))
        return { notice, outcome: (await one.run(received)).outcome }
      }),
    )
    assert.notInclude(
      told.map(({ outcome }) => outcome),
      "refused",
    )
    left = told.filter(({ outcome }) => outcome === "postponed").map(({ notice }) => notice)
  }
}

/** A person refunds the rest. It may be that nothing is left. */
const refundRest = Effect.gen(function* () {
  const [payment] = (yield* (yield* Payments).list()).data
  const { create } = yield* Refunds
  yield* create({ paymentId: payment!.id, reason: "other" }).pipe(
    Effect.catchTag("ActionUnavailable", () => Effect.void),
  )
})

/** The customer disputes the payment. The bank tells that while a person refunds the rest. */
const disputeAndRefund = async (name: string): Promise<void> => {
  await openDispute(world.bookOf(name), (await paymentAt(name)).reference)
  await world.on(name, START_MILLIS, (one) => Promise.all([tell(name, one), one.run(refundRest)]))
}

/** The refund meets the dispute. */
const meet = async (name: string, moment: Moment, death: Death): Promise<void> => {
  const book = world.bookOf(name)
  if (moment === "before") await disputeAndRefund(name)
  if (moment === "on its way") await stall(book)
  if (moment === "made") await hold(book)
  const first = world.runner(name, death.includes(" ") ? { KILL: death } : {})
  if (moment === "on its way" || moment === "made") {
    await until("a request waits at the bank", async () => (await waitingAt(book)) > 0)
    await disputeAndRefund(name)
    if (death === "waiting") first.child.kill("SIGKILL")
    await answer(book)
  }
  const { signal, stderr } = await first.ended
  assert.strictEqual(signal, death === "never" ? null : "SIGKILL", stderr)
  if (moment === "after") await disputeAndRefund(name)
}

/** Two processes do what is due, while the bank tells of everything. */
const goOn = (name: string): Promise<void> =>
  world.on(name, START_MILLIS + LEASED, async (one) => {
    const runners = [world.runner(name, {}, one.now), world.runner(name, {}, one.now)]
    await Promise.all([tell(name, one), endedWell(runners)])
  })

/** The customer's bank decides. That is told while the rest is done. */
const decideAndGoOn = (name: string, status: "won" | "lost"): Promise<void> =>
  world.on(name, START_MILLIS + DAY, async (one) => {
    await decide(world.bookOf(name), status)
    await Promise.all([tell(name, one), one.runDue()])
  })

const written = <A extends { readonly amount: string }>({ amount, ...one }: A) => ({
  ...one,
  amount: BigInt(amount),
})

/** Everything that went back, of our books. */
const returned = Effect.gen(function* () {
  const refunds = (yield* (yield* Refunds).list({ limit: 100 })).data
  const disputes = (yield* (yield* Disputes).list({ limit: 100 })).data
  const events = (yield* (yield* Events).list({ limit: 100 })).data
  return { refunds, disputes, events }
})

const countOf = (events: ReadonlyArray<Event.Event>, type: string): number =>
  events.filter((event) => event.type === type).length

/** The refunds are those that the bank made, and others have failed without giving anything back. */
const refundsAgree = (refunds: ReadonlyArray<Refund.Refund>, payment: Banked): void => {
  const made = refunds.filter(({ status }) => status !== "failed")
  assert.deepStrictEqual(
    made.map(({ amount, id, reference, status }) => [id, reference, amount, status]).toSorted(),
    payment.refunds
      .map(written)
      .map(({ amount, reference, refundId, status }) => [refundId, reference, amount, status])
      .toSorted(),
  )
  for (const { failureCode, reference, reversed, sentAt, status } of refunds) {
    if (status !== "failed") continue
    assert.deepInclude({ reference, reversed }, { reference: null, reversed: 0n })
    assert.strictEqual(failureCode, sentAt === null ? "payment_disputed" : "amount_too_large")
  }
}

const disputesAgree = (disputes: ReadonlyArray<Dispute.Dispute>, payment: Banked): void =>
  assert.deepStrictEqual(
    disputes.map(({ amount, reference, status }) => [reference, amount, status]),
    payment.disputes.map(written).map(({ amount, reference, status }) => [reference, amount, status]),
  )

/** Compares the books with that of the bank, once everything is decided and done. */
const agrees = (name: string, moment: Moment): Promise<void> =>
  world.on(name, START_MILLIS + 2 * DAY, async (one) => {
    await one.advanceTo(START_MILLIS + 4 * DAY)
    const payment = await paymentAt(name)
    const { disputes, events, refunds } = await one.run(returned)
    refundsAgree(refunds, payment)
    disputesAgree(disputes, payment)
    if (moment === "before") assert.lengthOf(payment.refused, 0, "what is disputed is not sent")
    const [invoice] = await one.invoices()
    const { id, state } = invoice!
    const { data } = await one.run(Effect.flatMap(Payments, (payments) => payments.list({ invoiceId: id })))
    assert.deepStrictEqual(problemsOfSums(state), [])
    assert.deepStrictEqual(problemsOfPayments(state, data, [...refunds, ...disputes]), [])
    const gone = [...payment.refunds, ...payment.disputes.filter(({ status }) => status === "lost")]
    const back = gone.map(written).reduce((sum, { amount }) => sum + amount, 0n)
    assert.isTrue(back <= TOTAL)
    assert.strictEqual(payment.charges, 1)
    assert.deepInclude(state, {
      status: back === 0n ? "paid" : "open",
      amountPaid: TOTAL - back,
      amountDue: back,
    })
    for (const [type, count] of [
      ["refund.created", refunds.length],
      ["refund.succeeded", payment.refunds.length],
      ["refund.failed", refunds.length - payment.refunds.length],
      ["dispute.opened", payment.disputes.length],
      ["dispute.closed", payment.disputes.length],
      ["invoice.reopened", back === 0n ? 0 : 1],
    ] as const) {
      assert.strictEqual(countOf(events, type), count, type)
    }
  })

beforeAll(() => world.start(), TIMEOUT)
afterAll(() => world.remove(), TIMEOUT)

describe("a refund and a dispute of one payment", () => {
  it(
    "give nothing back twice, whenever they meet and a process dies",
    { ...ofRows(63), timeout: 5 * TIMEOUT },
    async () => {
      const template = await world.toRefund(1)
      const through = async (moment: Moment, death: Death, status: "won" | "lost") => {
        const name = await world.database(template)
        await meet(name, moment, death)
        await goOn(name)
        await decideAndGoOn(name, status)
        await agrees(name, moment)
        return paymentAt(name)
      }
      for (const [moment, death] of MEETINGS) {
        const met = await Promise.all([through(moment, death, "lost"), through(moment, death, "won")])
        // Each moment is the one that it is called.
        for (const { disputes, refunds } of met) {
          const sums = [refunds, disputes].map((all) =>
            all.reduce((sum, { amount }) => sum + Number(amount), 0),
          )
          if (moment === "before") assert.deepStrictEqual(sums, [0, Number(TOTAL)], `${moment}, ${death}`)
          if (moment === "made") assert.deepStrictEqual(sums, [Number(BACK), Number(TOTAL - BACK)], death)
        }
      }
    },
  )
})
