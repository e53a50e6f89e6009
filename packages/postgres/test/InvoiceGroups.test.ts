/**
 * Invoices of several subscriptions on Postgres: who waits for whom, what several runners make of them, and what Postgres
 * refuses by itself.
 */
import {
  Billing,
  BillingRuns,
  type Invoice,
  Subscriptions,
  SubscriptionStore,
  Transactor,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { advanceTo, allInvoices, START, subscribe, use } from "./Invoicing.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

/** A process of its own. Without retries, because a retry would hide a deadlock. */
const processOf = (url: string) =>
  Layer.build(
    Layer.fresh(
      Billing.layer.pipe(
        Layer.provideMerge(Storage.layer({ maxAttempts: 1 })),
        // Without a limit of statements: on a slow machine they wait for long, and a deadlock fails by itself.
        Layer.provideMerge(PostgresClient.layer({ url: Redacted.make(url), statementTimeoutMillis: 0 })),
      ),
    ),
  )

/** A customer with three subscriptions in one group that began now. */
const grouped = Effect.gen(function* () {
  const { customer, subscription: single } = yield* subscribe
  const { create } = yield* Subscriptions
  const input = { customerId: customer.id, plan: "pro", invoiceGroup: "all" }
  const members = [yield* create(input), yield* create(input), yield* create(input)] as const
  return { customer, members, single }
})

/** Waits until this many statements in the database wait for a lock of another transaction. */
const waiting = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const all = sql`select 1 from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock'`
  yield* Effect.repeat(all, { until: (rows) => rows.length >= count })
})

describe("an invoice group", () => {
  it.live("is locked in the order of ids, whoever asks, and with those who joined meanwhile", () =>
    Effect.gen(function* () {
      const services = yield* processOf(yield* TestDatabase.make)
      yield* Effect.gen(function* () {
        const { customer, members } = yield* grouped
        const { atomically } = yield* Transactor
        const store = yield* SubscriptionStore
        const { create } = yield* Subscriptions
        const [isHeld, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const holder = yield* Effect.forkChild(
          atomically(
            Effect.gen(function* () {
              yield* store.lock(members[1].id)
              yield* Deferred.succeed(isHeld, undefined)
              yield* Deferred.await(mayEnd)
            }),
          ),
        )
        yield* Deferred.await(isHeld)
        // If they began with their own, each would now have what the other one needs.
        const lockers = yield* Effect.forEach([members[2], members[0]], ({ id }) =>
          Effect.forkChild(atomically(store.lockGroup(id))),
        )
        yield* waiting(2)
        yield* Deferred.succeed(mayEnd, undefined)
        yield* Fiber.join(holder)
        for (const fiber of lockers) {
          assert.deepStrictEqual(
            (yield* Fiber.join(fiber)).map(({ id }) => id),
            members.map(({ id }) => id),
          )
        }

        const [isMade, mayCommit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const joining = yield* Effect.forkChild(
          atomically(
            Effect.gen(function* () {
              const made = yield* create({ customerId: customer.id, plan: "pro", invoiceGroup: "all" })
              yield* Deferred.succeed(isMade, undefined)
              yield* Deferred.await(mayCommit)
              return made
            }),
          ),
        )
        yield* Deferred.await(isMade)
        const late = yield* Effect.forkChild(atomically(store.lockGroup(members[0].id)))
        yield* waiting(1)
        yield* Deferred.succeed(mayCommit, undefined)
        const { id: joined } = yield* Fiber.join(joining)
        assert.deepStrictEqual(
          (yield* Fiber.join(late)).map(({ id }) => id),
          [...members.map(({ id }) => id), joined],
        )
      }).pipe(Effect.provide(services), asTenant)
    }).pipe(Effect.scoped),
  )

  it.live(
    "has the same invoices on time, and late with several runners, commands between, and one that is killed",
    () =>
      Effect.gen(function* () {
        /** What is the same in every world. */
        const plain = ({ lines, subscriptionIds, total }: Invoice.Invoice) =>
          `${total} of ${subscriptionIds.length}: ${lines.map(({ amount, charge }) => `${charge} ${amount}`).join(", ")}`
        const END = DateTime.add(START, { months: 6, hours: 2 }).epochMilliseconds

        const halfYear = Effect.fnUntraced(function* (isLate: boolean) {
          const url = yield* TestDatabase.make
          const processes = yield* Effect.forEach([1, 2, 3], () => processOf(url))
          return yield* Effect.gen(function* () {
            yield* TestClock.setTime(START.epochMilliseconds)
            const { customer, members } = yield* grouped
            yield* (yield* BillingRuns).runDue()
            yield* use(customer, 1_500)
            const instant = DateTime.add(START, { months: 3, hours: 5 }).epochMilliseconds
            if (!isLate) yield* advanceTo(instant)
            yield* TestClock.setTime(instant)
            const { cancel, pause } = yield* Subscriptions
            const commands = [cancel(members[1].id, { at: "period_end" }), pause(members[2].id)]
            const runs = processes.map((process) =>
              Effect.flatMap(BillingRuns, ({ runDue }) => runDue()).pipe(Effect.provide(process)),
            )
            if (isLate) {
              const killed = yield* Effect.forkChild(runs[0]!)
              yield* Effect.all([...commands, runs[1]!, runs[2]!], { concurrency: "unbounded" })
              yield* Fiber.interrupt(killed)
            } else yield* Effect.all(commands)
            if (!isLate) yield* advanceTo(END)
            yield* TestClock.setTime(END)
            const reports = yield* Effect.all(runs, { concurrency: "unbounded" })
            assert.deepStrictEqual(
              reports.map(({ failed }) => failed),
              [0, 0, 0],
            )
            const invoices = yield* allInvoices
            assert.deepStrictEqual(
              invoices.map(({ number }) => Number(number?.slice(5))).toSorted((a, b) => a - b),
              invoices.map((_, n) => n + 1),
            )
            return invoices.map(plain).toSorted()
          }).pipe(Effect.provide(processes[0]!), asTenant, Effect.provide(TestClock.layer()))
        })

        const inTime = yield* halfYear(false)
        assert.lengthOf(
          inTime.filter((one) => one.includes("of 3")),
          4,
        )
        assert.deepStrictEqual(yield* halfYear(true), inTime)
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live("has each period once, with causes that don't change, whoever writes", () =>
    Effect.gen(function* () {
      const services = yield* processOf(yield* TestDatabase.make)
      yield* Effect.gen(function* () {
        yield* TestClock.setTime(START.epochMilliseconds)
        const { members } = yield* grouped
        yield* advanceTo(DateTime.add(START, { months: 1, hours: 2 }).epochMilliseconds)
        yield* advanceTo(DateTime.add(START, { months: 2 }).epochMilliseconds)
        const sql = yield* SqlClient.SqlClient
        const causes = "billwright.billing_invoice_causes"
        const invoices = "billwright.billing_invoices"
        const of = (status: string) =>
          `invoice_id in (select i.id from ${invoices} i where i.status = '${status}')`
        /** The SQLSTATE of a refusal. */
        const refusal = (...statements: ReadonlyArray<string>) =>
          sql
            .withTransaction(
              Effect.andThen(
                Effect.forEach(statements, (statement) => sql.unsafe(statement)),
                Effect.fail("accepted"),
              ),
            )
            .pipe(
              Effect.flip,
              Effect.map((error) => {
                if (typeof error === "string") return error
                let cause: unknown = error
                while (cause instanceof Error && !("code" in cause))
                  cause = "reason" in cause ? cause.reason : cause.cause
                return (cause as { readonly code?: string } | undefined)?.code
              }),
            )
        const COLUMNS = "account_id, mode, customer_id, subscription_id"
        const UNIQUE = "23505"
        const FINAL = "23001"
        const copied = (period: string, where: string) =>
          `insert into ${causes} (${COLUMNS}, invoice_id, cause) select ${COLUMNS}, invoice_id, jsonb_set(cause, '{period,number}', '${period}')
from ${causes} where ${where} limit 1`
        const single = (where: string, period: string) =>
          `insert into ${invoices} (${COLUMNS}, id, cause, state, lines_bytes, created_at, updated_at)
select ${COLUMNS.replace("subscription_id", "c.subscription_id").replaceAll(/(account_id|mode|customer_id)/gu, "i.$1")}, gen_random_uuid(),
  jsonb_set(c.cause, '{period,number}', '${period}'), i.state, i.lines_bytes, i.created_at, i.updated_at
from ${causes} c join ${invoices} i on i.id = c.invoice_id where ${where} limit 1`
        assert.lengthOf(members, 3)
        assert.deepStrictEqual(
          {
            "another of several": yield* refusal(copied("1", of("open"))),
            "one of its own": yield* refusal(single("i.status = 'draft'", "2")),
            "a period that an invoice of its own has": yield* refusal(copied("0", of("draft"))),
            "a cause of an invoice of one": yield* refusal(
              `insert into ${causes} (${COLUMNS}, invoice_id, cause) select ${COLUMNS}, id, jsonb_set(cause, '{segment}', '7')
from ${invoices} where cause is not null limit 1`,
            ),
            "a subscription twice on an invoice": yield* refusal(copied("7", of("draft"))),
            "a change": yield* refusal(`update ${causes} set cause = '{}' where ${of("draft")}`),
            "a removal": yield* refusal(`delete from ${causes} where ${of("open")}`),
            "a removal of all": yield* refusal(`truncate ${causes}`),
            "(not) another invoice of its own": yield* refusal(single("i.status = 'draft'", "7")),
            "(not) that of a draft": yield* refusal(`delete from ${causes} where ${of("draft")}`),
          },
          {
            "another of several": UNIQUE,
            "one of its own": UNIQUE,
            "a period that an invoice of its own has": UNIQUE,
            "a cause of an invoice of one": "23514",
            "a subscription twice on an invoice": UNIQUE,
            "a change": FINAL,
            "a removal": FINAL,
            "a removal of all": FINAL,
            "(not) another invoice of its own": "accepted",
            "(not) that of a draft": "accepted",
          },
        )
      }).pipe(Effect.provide(services), asTenant, Effect.provide(TestClock.layer()))
    }).pipe(Effect.scoped),
  )
})
