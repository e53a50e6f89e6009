/**
 * Payments under faults, with real processes on a real Postgres, and a bank in a process of its own: rows 57 to 62 of the
 * fault matrix. Each must lead to paid invoices, and to one charge and one refund for each in the book of the bank.
 */
import { Events, Payments, Refunds } from "@billwright/core"
import { problemsOfPayments, problemsOfSums } from "@billwright/engine"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { until } from "../Until.ts"
import { answer, bankedAt, hold } from "./billing/BankClient.ts"
import { BACK, endedWell, LEASED, PaymentWorld, TOTAL } from "./billing/PaymentWorld.ts"
import { DAY, START_MILLIS } from "./billing/Scenario.ts"
import { ofRows, TIMEOUT } from "./Matrix.ts"

const world = new PaymentWorld()
const bookOf = (name: string): string => world.bookOf(name)

/** Waits until an attempt is carried out, whose answer is held. */
const isCharged = (name: string) =>
  until("the bank has taken the money", async () =>
    (await bankedAt(bookOf(name))).some(({ charges }) => charges > 0),
  )

/** Collects the rest, and compares the books with that of the bank. Gives the book of the bank. */
const ends = (name: string) =>
  world.on(name, START_MILLIS + LEASED, async (one) => {
    await one.advanceTo(START_MILLIS + 2 * DAY)
    const banked = await bankedAt(bookOf(name))
    const charges = banked.filter((payment) => payment.charges > 0)
    const invoices = await one.invoices()
    assert.deepStrictEqual(
      charges.map((charge) => [charge.invoiceId, charge.amount, charge.charges]).toSorted(),
      invoices.map(({ id }) => [id, String(TOTAL), 1]).toSorted(),
    )
    for (const { id, state } of invoices) {
      const list = Effect.flatMap(Payments, (payments) => payments.list({ invoiceId: id }))
      const { data } = await one.run(list)
      assert.deepStrictEqual(problemsOfSums(state), [])
      assert.deepStrictEqual(problemsOfPayments(state, data), [])
      assert.deepInclude(state, { status: "paid", collection: "paid", amountPaid: TOTAL })
      const booked = data.filter(({ status }) => status === "succeeded").map(({ reference }) => reference)
      assert.deepStrictEqual(
        booked,
        charges.filter(({ invoiceId }) => invoiceId === id).map(({ reference }) => reference),
      )
    }
    return banked
  })

beforeAll(() => world.start(), TIMEOUT)
afterAll(() => world.remove(), TIMEOUT)

/** Refunds the rest, and compares the books with that of the bank. */
const endsRefunded = (name: string) =>
  world.on(name, START_MILLIS + LEASED, async (one) => {
    await one.advanceTo(START_MILLIS + 2 * DAY)
    const banked = await bankedAt(bookOf(name))
    const { events, refunds } = await one.run(
      Effect.gen(function* () {
        const published = (yield* (yield* Events).list({ type: "refund.succeeded", limit: 100 })).data
        return { events: published, refunds: (yield* (yield* Refunds).list({ limit: 100 })).data }
      }),
    )
    assert.lengthOf(events, refunds.length)
    assert.deepStrictEqual(
      refunds
        .map(({ amount, id, reference, reversed, status }) => [id, reference, amount, reversed, status])
        .toSorted(),
      banked
        .flatMap((payment) => payment.refunds)
        .map(({ amount, reference, refundId }) => [refundId, reference, BigInt(amount), BACK, "succeeded"])
        .toSorted(),
    )
    for (const { id, state } of await one.invoices()) {
      const { data } = await one.run(Effect.flatMap(Payments, (payments) => payments.list({ invoiceId: id })))
      const own = refunds.filter(({ invoiceId }) => invoiceId === id)
      assert.lengthOf(own, 1)
      assert.deepStrictEqual(problemsOfPayments(state, data, own), [])
      assert.deepInclude(state, { status: "open", collection: "stopped", amountPaid: TOTAL - BACK })
    }
  })

describe("a payment", () => {
  it(
    "is taken and booked once after SIGKILL between any two steps of it",
    { ...ofRows(57), timeout: 3 * TIMEOUT },
    async () => {
      const template = await world.issued(1)
      const prepared = () => world.database(template)
      // It is opened and attempted.
      assert.strictEqual(await world.stepsOf(["call", "answer"], prepared, ends), 2)
      // Each of that has a claim, a commit before the call and one after it. The last claim finds nothing.
      assert.isAtLeast(await world.stepsOf(["before", "after"], prepared, ends), 2 * 3)
    },
  )

  it("is booked once when Postgres restarts before the answer", ofRows(58), async () => {
    const name = await world.issued(1)
    await hold(bookOf(name))
    const { ended } = world.runner(name)
    await isCharged(name)
    await world.postgres.crash()
    await answer(bookOf(name))
    await world.postgres.start()
    await ended
    await ends(name)
  })

  it("is attempted once by 4 processes", ofRows(59), async () => {
    const name = await world.issued(3)
    const runners = Array.from({ length: 4 }, () => world.runner(name))
    await endedWell(runners)
    for (const { arrived } of await ends(name)) assert.lengthOf(arrived, 1)
  })

  it("is booked once when its runner goes on after its lease", ofRows(60), async () => {
    const name = await world.issued(1)
    await hold(bookOf(name))
    const late = world.runner(name)
    await isCharged(name)
    late.child.kill("SIGSTOP")
    await endedWell([world.runner(name, {}, START_MILLIS + LEASED)])
    await answer(bookOf(name))
    late.child.kill("SIGCONT")
    await endedWell([late])
    for (const { arrived } of await ends(name)) assert.lengthOf(arrived, 1)
  })
})

describe("a refund", () => {
  it(
    "is made and booked once after SIGKILL between any two steps of it",
    { ...ofRows(61), timeout: 4 * TIMEOUT },
    async () => {
      const prepared = () => world.toRefund(1)
      assert.strictEqual(await world.stepsOf(["call", "answer"], prepared, endsRefunded), 1)
      // A claim, a commit before the call and one after it. The last claim finds nothing.
      assert.isAtLeast(await world.stepsOf(["before", "after"], prepared, endsRefunded), 3)
    },
  )

  it("is booked once when the provider tells of it before it answers", ofRows(62), async () => {
    const name = await world.toRefund(3)
    await hold(bookOf(name))
    const runners = Array.from({ length: 3 }, () => world.runner(name))
    const refundsAt = async () => (await bankedAt(bookOf(name))).flatMap(({ refunds }) => refunds)
    await until("the bank has made the refunds", async () => (await refundsAt()).length === 3)
    const told = await world.on(name, START_MILLIS, async (one) => {
      const receive = ({ reference }: { readonly reference: string }, index: number) => {
        const notice = { eventId: `event_${index % 3}`, mode: "live", about: "refund", reference }
        const body = new TextEncoder().encode(JSON.stringify(notice))
        return one.run(Effect.flatMap(Payments, (payments) => payments.receive({ body, headers: {} })))
      }
      const all = await refundsAt()
      return Promise.all([...all, ...all, ...all].map(receive))
    })
    assert.isTrue(told.every(({ outcome }) => outcome === "accepted"))
    await answer(bookOf(name))
    await endedWell(runners)
    await endsRefunded(name)
  })
})
