/**
 * Refunds on Postgres: never more than was paid, whoever creates them at once, and what it refuses by itself, also in plain
 * SQL of the owner of the tables.
 */
import {
  Billing,
  BillingRuns,
  type CurrentTenant,
  Disputes,
  FakeProvider,
  type Payment,
  Payments,
  type ProviderFault,
  Refunds,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Client } from "pg"
import { advanceTo, allInvoices, START, subscribe } from "./Invoicing.ts"
import { type Attempt, tried } from "./Refusals.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const CHECK = "23514"
const FINAL = "23001"
const UNIQUE = "23505"

const inHours = (hours: number) => DateTime.add(START, { hours }).epochMilliseconds

/** Runs a test over a database of its own, with an invoice of 20.00 that the provider has collected. */
const withPaid = <A, E>(
  provider: FakeProvider,
  test: (
    paymentId: Payment.PaymentId,
    client: Client,
  ) => Effect.Effect<A, E, Billing.Services | CurrentTenant>,
) =>
  Effect.gen(function* () {
    const url = yield* TestDatabase.make
    const services = Billing.layerWith({ payments: provider }).pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url: Redacted.make(url) })),
    )
    const client = new Client({ connectionString: url })
    yield* Effect.acquireRelease(
      Effect.promise(() => client.connect()),
      () => Effect.promise(() => client.end()),
    )
    const work = Effect.gen(function* () {
      yield* TestClock.setTime(START.epochMilliseconds)
      yield* subscribe
      yield* advanceTo(inHours(2))
      const [payment] = (yield* (yield* Payments).list()).data
      assert.deepInclude(payment, { status: "succeeded", amount: 2000n })
      return yield* test(payment!.id, client)
    })
    return yield* work.pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(services))
  }).pipe(Effect.scoped)

it.live(
  "refunds that are created at once, runners that meet and answers that are lost give back no more than was paid",
  () => {
    const faults: Array<ProviderFault | undefined> = ["lose_reply", "lose_request", "twice"]
    const provider = new FakeProvider({
      faultOf: (call) => (call === "refund" || call === "readRefund" ? faults.shift() : undefined),
    })
    return withPaid(provider, (paymentId) =>
      Effect.gen(function* () {
        const refunds = yield* Refunds
        const created = yield* Effect.all(
          Array.from({ length: 6 }, () =>
            Effect.option(refunds.create({ paymentId, amount: 900n, reason: "duplicate" })),
          ),
          { concurrency: "unbounded" },
        )
        assert.lengthOf(
          created.filter(({ _tag }) => _tag === "Some"),
          2,
        )
        const { runDue } = yield* BillingRuns
        yield* Effect.all([runDue(), runDue(), runDue()], { concurrency: "unbounded" })
        yield* advanceTo(inHours(24))
        const { data } = yield* refunds.list({ paymentId })
        assert.deepStrictEqual(
          data.map(({ reversed, status }) => [status, reversed]),
          [
            ["succeeded", 900n],
            ["succeeded", 900n],
          ],
        )
        assert.lengthOf(provider.refunds, 2)
        const [invoice] = yield* allInvoices
        assert.deepInclude(invoice, {
          status: "open",
          collection: "stopped",
          amountPaid: 200n,
          amountDue: 1800n,
        })
      }),
    )
  },
)

const table = "billwright.refunds"

/** Another refund of the payment of the first one. Fields are SQL. */
const refund = (fields: Readonly<Record<string, string>> = {}): string => {
  const values: Readonly<Record<string, string>> = {
    id: "gen_random_uuid()",
    amount: "100",
    reversed: "0",
    status: "'pending'",
    reference: "null",
    currency: "currency",
    invoice_id: "invoice_id",
    ...fields,
  }
  const rest = "account_id, mode, customer_id, payment_id, reason, provider, sequence, created_at, updated_at"
  return `insert into ${table} (${rest}, ${Object.keys(values).join(", ")})
select ${rest}, ${Object.values(values).join(", ")} from ${table} limit 1`
}

it.live("refunds are refused that their payment does not allow", () =>
  withPaid(new FakeProvider(), (paymentId, client) =>
    Effect.gen(function* () {
      yield* (yield* Refunds).create({ paymentId, amount: 500n, reason: "duplicate" })
      yield* (yield* BillingRuns).runDue()
      const attempts: ReadonlyArray<Attempt> = [
        ["what is left", undefined, [refund({ amount: "1500" })]],
        ["more than is left", CHECK, [refund({ amount: "1501" })]],
        ["more than is left, in two", CHECK, [refund({ amount: "1000" }), refund({ amount: "501" })]],
        ["a failed one of any amount", undefined, [refund({ amount: "9000", status: "'failed'" })]],
        ["another currency", CHECK, [refund({ currency: "'USD'" })]],
        ["another invoice", CHECK, [refund({ invoice_id: "gen_random_uuid()" })]],
        ["one that the invoice does not know", CHECK, [refund({ reversed: "100", status: "'succeeded'" })]],
        ["more than itself", CHECK, [refund({ reversed: "101" })]],
        ["the same one of the provider", UNIQUE, [refund({ reference: "(select reference)" })]],
        ["another amount", FINAL, [`update ${table} set amount = 400`]],
        ["another status", undefined, [`update ${table} set status = 'unresolved'`]],
        [
          "one that was failed",
          FINAL,
          [refund({ status: "'failed'" }), `update ${table} set status = 'pending' where status = 'failed'`],
        ],
        ["none of it on the invoice", CHECK, [`update ${table} set reversed = 0`]],
        ["none", FINAL, [`delete from ${table}`]],
      ]
      assert.deepStrictEqual(yield* Effect.promise(() => tried(client, attempts)), attempts)
    }),
  ),
)

it.live.each(["refund first", "dispute first", "at once"] as const)(
  "a refund against a dispute gives money back once: %s",
  (order) => {
    const provider = new FakeProvider({ mode: "live" })
    return withPaid(provider, (paymentId) =>
      Effect.gen(function* () {
        const refunds = yield* Refunds
        const payments = yield* Payments
        const { runDue } = yield* BillingRuns
        const { reference } = yield* payments.get(paymentId)
        const refund = Effect.andThen(
          Effect.option(refunds.create({ paymentId, reason: "fraudulent" })),
          Effect.all([runDue(), runDue()], { concurrency: "unbounded" }),
        )
        const told = Effect.suspend(() =>
          Effect.flatMap(DateTime.now, ({ epochMilliseconds: at }) =>
            payments.receive(provider.sign(provider.notices.at(-1)!, { at })),
          ),
        )
        const dispute = Effect.suspend(() => {
          const opened = provider.dispute(reference!, 2000n)
          return Effect.andThen(
            told,
            Effect.suspend(() => (provider.closeDispute(opened, "lost"), told)),
          )
        })
        if (order === "refund first") yield* Effect.andThen(refund, dispute)
        else if (order === "dispute first") yield* Effect.andThen(dispute, refund)
        else yield* Effect.all([refund, dispute], { concurrency: "unbounded" })
        yield* advanceTo(inHours(24 * 3))
        const [invoice] = yield* allInvoices
        const [lost] = (yield* (yield* Disputes).list({ paymentId })).data
        const { data } = yield* refunds.list({ paymentId })
        const given = data.filter(({ status }) => status !== "failed")
        const reversed = given.reduce((sum, one) => sum + one.reversed, lost!.reversed)
        assert.deepInclude(invoice, { status: "open", collection: "stopped", amountPaid: 0n })
        assert.strictEqual(reversed, 2000n)
        assert.strictEqual(lost?.status, "lost")
        // A refund of which the provider knows is the one that took the money.
        const made = provider.refunds.filter(({ status }) => status === "succeeded")
        assert.strictEqual(made.length, given.length)
        if (order === "at once") return
        assert.lengthOf(made, order === "refund first" ? 1 : 0)
        assert.strictEqual(lost?.reversed, order === "refund first" ? 0n : 2000n)
      }),
    )
  },
)
