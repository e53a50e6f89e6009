/**
 * The contract of `UsageStore.audit`: roll-ups always equal their records.
 */
import { StorageError, Transactor, UsageStore } from "@billwright/core"
import { DateTime, Effect } from "effect"
import * as fc from "fast-check"
import { forAll } from "../Property.ts"
import * as Sample from "../Sample.ts"
import { type ContractTest, Effort, same, together } from "./ContractTest.ts"
import { listed, newCustomer, totals } from "./UsageProbe.ts"

/** The work of one of several fibers: appends, then voids some records, or has everything undone. */
const step = fc.record({
  days: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 5 }),
  key: fc.option(fc.integer({ min: 0, max: 3 }), { nil: null }),
  voids: fc.array(fc.nat({ max: 20 }), { maxLength: 3 }),
  end: fc.constantFrom("plain", "committed", "failed", "recovered"),
})

/**
 * How a caller handles a temporary failure. A transaction that appends and then voids takes its locks in an order
 * that others may not share. So an adapter may have to abort some of them, even more than once.
 */
const again = { while: (error: unknown) => error instanceof StorageError && error.retryable, times: 50 }

export const auditContract = (test: ContractTest): void => {
  test.section("audit", () => {
    test(
      "finds no differences for a tenant without usage",
      Effect.gen(function* () {
        const store = yield* UsageStore
        yield* newCustomer
        same(yield* store.audit, [])
      }),
    )

    test(
      "finds no differences after concurrent appends, voids and undone transactions",
      Effect.gen(function* () {
        const store = yield* UsageStore
        const { atomically } = yield* Transactor
        const effort = yield* Effort
        // Not shrunk: the order of the fibers differs in each run, so a smaller case would only hide the failure.
        const unshrunk = { ...effort, isShrunk: false }
        yield* forAll(fc.array(step, { minLength: 1, maxLength: 12 }), unshrunk, (steps) =>
          Effect.gen(function* () {
            const customerId = yield* newCustomer
            const run = ({ days, end, key, voids }: (typeof steps)[number]) => {
              const work = Effect.gen(function* () {
                const records = yield* Effect.forEach(days, (day, index) =>
                  Sample.record(customerId, {
                    quantity: 10 ** index,
                    timestamp: DateTime.add(Sample.CREATED_AT, { days: day }),
                    idempotencyKey: key === null || index > 0 ? null : `key ${key}`,
                  }),
                )
                yield* store.append(records)
                const known = yield* listed(customerId)
                // All fibers use the same order. Otherwise transactions could deadlock.
                const chosen = new Set(voids.map((index) => known[index % known.length]?.id ?? ""))
                const victims = known
                  .filter(({ id }) => chosen.has(id))
                  .sort((a, b) => (a.id < b.id ? -1 : 1))
                for (const { id } of victims) yield* store.void(id, Sample.CREATED_AT)
              })
              const undone = Effect.ignore(atomically(Effect.andThen(work, Effect.fail("no"))))
              if (end === "plain") return work
              if (end === "committed") return atomically(work)
              return end === "failed" ? undone : atomically(undone)
            }
            yield* together(steps.map((each) => Effect.retry(run(each), again)))
            const kept = (yield* listed(customerId)).filter(({ voidedAt }) => voidedAt === null)
            const sum = kept.reduce((total, { quantity }) => total + BigInt(quantity), 0n)
            const expected = {
              window: 0,
              productId: "api",
              unit: "call",
              quantity: sum,
              recordCount: kept.length,
            }
            same(yield* totals(customerId), kept.length === 0 ? [] : [expected])
          }),
        )
        same(yield* store.audit, [])
      }),
    )
  })
}
