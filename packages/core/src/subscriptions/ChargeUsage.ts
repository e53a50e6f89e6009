/**
 * The usage that a charge bills.
 */
import type { Charge, Periods, UsageQuery, UsageTotal } from "@billwright/engine"
import { Effect } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { UsageStore } from "../usage/UsageStore.ts"

type Span = ReturnType<typeof Periods.spanAt>

/** Gives the totals of charges: those of the product that the charge names as its meter. */
export class ChargeUsage {
  readonly #usage: UsageStore["Service"]

  constructor(usage: UsageStore["Service"]) {
    this.#usage = usage
  }

  /** The answers to queries of the usage of a customer. */
  totals(
    customerId: CustomerId,
    queries: ReadonlyArray<UsageQuery>,
  ): Effect.Effect<ReadonlyArray<UsageTotal>, StorageError, CurrentTenant> {
    return Effect.forEach(queries, ({ after, before, charge, segment }) =>
      Effect.gen({ self: this }, function* () {
        const quantity = yield* this.#totalOf(customerId, charge, after)
        const total = { segment, charge: charge.key, group: null, after: { quantity } }
        if (before === null) return total
        return { ...total, before: { quantity: yield* this.#totalOf(customerId, charge, before) } }
      }),
    )
  }

  #totalOf(
    customerId: CustomerId,
    { meter }: Charge,
    { end, start }: Span,
  ): Effect.Effect<bigint, StorageError, CurrentTenant> {
    return this.#usage
      .totals({ customerId, productId: meter, unit: undefined, boundaries: [start, end], by: "unit" })
      .pipe(Effect.map((totals) => totals.reduce((sum, { quantity }) => sum + quantity, 0n)))
  }
}
