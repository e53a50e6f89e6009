/**
 * Which claimed subjects share a transaction.
 */
import { assert, describe, it } from "@effect/vitest"
import type { CustomerId } from "../../src/customers/Customer.ts"
import { InvoiceId } from "../../src/invoices/Invoice.ts"
import { SubscriptionId } from "../../src/invoices/SubscriptionId.ts"
import * as Tenant from "../../src/shared/Tenant.ts"
import type { ClaimedSubject } from "../../src/time/DueStore.ts"
import { batchesOf, MAX_BATCH } from "../../src/time/RunBatches.ts"

const idOf = (prefix: string, number: number) => `${prefix}_${String(number).padStart(26, "0")}`

const claimed = (
  number: number,
  customer: number | null,
  fields: Partial<ClaimedSubject> = {},
): ClaimedSubject => ({
  tenant: { accountId: Tenant.defaultAccountId, mode: "live" },
  subject: { kind: "subscription", id: SubscriptionId.make(idOf("sub", number)) },
  customerId: customer === null ? null : (idOf("cus", customer) as CustomerId),
  dueAt: number,
  attempts: 0,
  token: "",
  ...fields,
})

const split = (all: ReadonlyArray<ClaimedSubject>, mayShare = () => true) =>
  batchesOf(all, mayShare).map((round) => round.map((batch) => batch.map(({ dueAt }) => dueAt)))

describe("batchesOf", () => {
  it("keeps subjects of a customer apart and in their order", () => {
    const all = [claimed(1, 1), claimed(2, 2), claimed(3, 1), claimed(4, 3), claimed(5, 1), claimed(6, 2)]
    assert.deepStrictEqual(split(all), [[[1, 2, 4]], [[3, 6]], [[5]]])
  })

  it("keeps tenants and kinds apart", () => {
    const invoice = { subject: { kind: "invoice", id: InvoiceId.make(idOf("inv", 3)) } } as const
    const test = { tenant: { accountId: Tenant.defaultAccountId, mode: "test" } } as const
    const all = [claimed(1, 1), claimed(2, 1, test), claimed(3, 3, invoice), claimed(4, 4)]
    assert.deepStrictEqual(split(all), [[[1, 4], [2], [3]]])
  })

  it("leaves those alone that have failed, belong to nobody or may not share", () => {
    const all = [claimed(1, 1), claimed(2, 2, { attempts: 1 }), claimed(3, null), claimed(4, 4)]
    assert.deepStrictEqual(split(all), [[[1, 4], [2], [3]]])
    assert.deepStrictEqual(
      split(all, () => false),
      [[[1], [2], [3], [4]]],
    )
  })

  it(`has at most ${MAX_BATCH} subjects in each`, () => {
    const all = Array.from({ length: 2 * MAX_BATCH + 1 }, (_, index) => claimed(index, index))
    assert.deepStrictEqual(
      split(all).map((round) => round.map(({ length }) => length)),
      [[MAX_BATCH, MAX_BATCH, 1]],
    )
  })
})
