/**
 * Helpers of the contract's tests.
 */
import { type Billing, CurrentTenant, type IdGenerator, type Tenant } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Context, Effect, type Scope } from "effect"
import { plain } from "../PlainValue.ts"
import type { PropertyOptions } from "../Property.ts"
import * as Sample from "../Sample.ts"

/** How long other fibers may continue, in tests about concurrent work. */
export class Patience extends Context.Service<Patience, Effect.Effect<void>>()(
  "@billwright/testing/Patience",
) {}

/** Lets other fibers continue. If the pause is too short, a test finds less, but never fails wrongly. */
export const pause = Effect.flatten(Patience)

/** How properties are tested. */
export class Effort extends Context.Service<Effort, PropertyOptions>()("@billwright/testing/Effort") {}

/** What a test may use: the storage, its own tenant, and ids. */
export type ContractServices = Billing.Storage | CurrentTenant | Effort | IdGenerator | Patience | Scope.Scope

/** Where the contract's tests are registered. */
export interface ContractTest {
  /** Adds a test. It has its own tenant, and shares the storage with all other tests. */
  (name: string, body: Effect.Effect<unknown, unknown, ContractServices>): void
  /** Groups the tests that `add` registers under a name. */
  readonly section: (name: string, add: () => void) => void
}

/** Compares values by their contents (see `plain`). */
export const same = (actual: unknown, expected: unknown, message?: string): void =>
  assert.deepStrictEqual(plain(actual), plain(expected), message)

/** Compares two lists whose order is unspecified. */
export const sameSet = <A>(
  actual: ReadonlyArray<A>,
  expected: ReadonlyArray<A>,
  keyOf: (a: A) => string,
): void => {
  const sorted = (items: ReadonlyArray<A>) => [...items].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  same(sorted(actual), sorted(expected))
}

/** Runs an effect for another tenant. */
export const asTenant =
  (tenant: Tenant.Tenant) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, CurrentTenant>> =>
    Effect.provideService(effect, CurrentTenant, tenant)

/** The two most similar tenants: the same account in the other mode, and another account in the same mode. */
export const otherTenants: Effect.Effect<ReadonlyArray<Tenant.Tenant>, never, CurrentTenant> = Effect.gen(
  function* () {
    const own = yield* CurrentTenant
    const accountId = yield* Sample.accountId
    const otherMode: Tenant.Tenant = { accountId: own.accountId, mode: own.mode === "live" ? "test" : "live" }
    const otherAccount: Tenant.Tenant = { accountId, mode: own.mode }
    return [otherMode, otherAccount]
  },
)

/** Runs effects concurrently, without a limit. */
export const together = <A, E, R>(
  effects: ReadonlyArray<Effect.Effect<A, E, R>>,
): Effect.Effect<Array<A>, E, R> => Effect.all(effects, { concurrency: "unbounded" })

/** `make(0)`, `make(1)`, … */
export const times = <A>(count: number, make: (index: number) => A): Array<A> =>
  Array.from({ length: count }, (_, index) => make(index))
