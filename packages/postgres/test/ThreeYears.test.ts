/**
 * Three years of a plan: the same invoices and events as in memory.
 */
import { Billing, IdGenerator } from "@billwright/core"
import { Memory } from "@billwright/memory"
import { Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { advanceTo, allEvents, allInvoices, START, subscribe, use } from "./Invoicing.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const MONTHS = 36

/** What the calls of a month cost, in cents, computed without the library: 1 cent each, from 1,001 on a fifth of it. */
const cents = (calls: number): number => (calls <= 1_000 ? calls : 1_000 + Math.round((calls - 1_000) / 5))
const callsOf = (month: number): number => (month * 1_777) % 4_999

const threeYears = Effect.gen(function* () {
  yield* TestClock.setTime(START.epochMilliseconds)
  const { customer } = yield* subscribe
  for (let month = 0; month < MONTHS; month++) {
    yield* use(customer, callsOf(month))
    yield* advanceTo(DateTime.add(START, { months: month + 1, hours: 2 }).epochMilliseconds)
  }
  return { invoices: yield* allInvoices, events: yield* allEvents }
}).pipe(asTenant, Effect.provide(TestClock.layer()))

const services = Billing.layerWithIds({}).pipe(Layer.provideMerge(IdGenerator.layerSeeded(1)))

it.live("three years of a plan are billed with the same money and the same events as in memory", () =>
  Effect.gen(function* () {
    const inMemory = yield* threeYears.pipe(Effect.provide(services.pipe(Layer.provideMerge(Memory.layer))))
    const onPostgres = yield* threeYears.pipe(
      Effect.provide(
        services.pipe(Layer.provideMerge(Storage.layer()), Layer.provide(TestDatabase.layerClient())),
      ),
    )
    assert.deepStrictEqual(
      onPostgres.invoices.map(({ total }) => total),
      [2_000n, ...Array.from({ length: MONTHS }, (_, month) => BigInt(2_000 + cents(callsOf(month))))],
    )
    assert.deepStrictEqual(onPostgres, inMemory)
  }),
)
