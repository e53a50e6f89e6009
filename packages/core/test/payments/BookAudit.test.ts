/** Invoices are what they consist of, and planted differences are found. */
import {
  Billing,
  BookAudit,
  CreditNotes,
  Customers,
  Invoices,
  InvoiceStore,
  Payments,
  ProofKey,
  Tenant,
  Transactor,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { acme } from "../world.ts"

const inWorld = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.flatMap(ProofKey.generate, (key) =>
    Effect.provide(
      test,
      Layer.merge(
        Billing.layerWith({ proofs: ProofKey.signer(key) }).pipe(Layer.provideMerge(Memory.layer)),
        Layer.succeed(Tenant.CurrentTenant, acme),
      ),
    ),
  )

/** An invoice of 900.00, of which 300.00 is credited and 200.00 is paid. */
const billed = Effect.gen(function* () {
  const { id: customerId } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
  const invoices = yield* Invoices
  const lines = [{ description: "Workshop", amount: 90_000n }]
  const draft = yield* invoices.create({ customerId, currency: "EUR", lines } as never)
  const { id } = yield* invoices.finalize(draft.id)
  yield* (yield* Payments).record({ invoiceId: id, amount: 20_000n })
  yield* (yield* CreditNotes).create({ invoiceId: id, reason: "other", amount: 30_000n } as never)
  return id
})

const audited = Effect.flatMap(BookAudit, ({ page }) => page())

/** Writes other fields into the stored invoice, as no code does. */
const plant = Effect.fnUntraced(function* (id: string, change: object) {
  const store = yield* InvoiceStore
  const { atomically } = yield* Transactor
  const planted = Effect.gen(function* () {
    const stored = Option.getOrThrow(yield* store.lock(id as never))
    yield* store.save({ ...stored, state: { ...stored.state, ...change } })
  })
  yield* atomically(planted)
})

describe("BookAudit", () => {
  it.effect("finds nothing wrong with an invoice that was paid and credited in part", () =>
    Effect.gen(function* () {
      const id = yield* billed
      assert.deepStrictEqual(yield* audited, {
        invoices: 1,
        proofs: 1,
        discrepancies: [],
        last: id,
        hasMore: false,
      } as never)
    }).pipe(inWorld),
  )

  it.effect.each([
    [{ amountPaid: 19_999n, amountDue: 40_001n }, ["amountPaid"]],
    [{ amountDue: 39_999n }, ["amountDue"]],
    [{ amountCredited: 30_001n }, ["notes.total"]],
    [{ total: 90_001n, amountDue: 40_001n }, ["total", "steps", "proof"]],
    [{ number: "2026-0002" }, ["proof"]],
  ] as const)("finds a planted difference: %o", ([change, paths]) =>
    Effect.gen(function* () {
      const id = yield* billed
      yield* plant(id, change)
      const { discrepancies } = yield* audited
      const found = discrepancies.map(({ path }) => path)
      for (const path of paths) assert.include(found, path)
      assert.isTrue(discrepancies.every(({ invoiceId }) => invoiceId === id))
    }).pipe(inWorld),
  )
})
