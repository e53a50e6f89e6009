/**
 * The time of a customer: that of its test clock, if it has one.
 */
import { type DateTime, Effect, Option } from "effect"
import type { CollectionOf, Collections } from "../shared/Collections.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import * as WallClock from "../shared/WallClock.ts"
import { type CustomerId, customers } from "./Customer.ts"
import { testClocks } from "./TestClock.ts"

export class CustomerTime {
  readonly #customers: CollectionOf<typeof customers>
  readonly #clocks: CollectionOf<typeof testClocks>

  constructor(collections: Collections["Service"]) {
    this.#customers = collections.of(customers)
    this.#clocks = collections.of(testClocks)
  }

  /** The time of a customer's test clock. `none` if the customer lives in real time. In live mode nothing is read. */
  of(id: CustomerId): Effect.Effect<Option.Option<DateTime.Utc>, StorageError, CurrentTenant> {
    return Effect.gen({ self: this }, function* () {
      const { mode } = yield* CurrentTenant
      if (mode === "live") return Option.none()
      const found = yield* this.#customers.find(id)
      const clockId = Option.getOrUndefined(found)?.testClockId ?? null
      if (clockId === null) return Option.none()
      return Option.map(yield* this.#clocks.find(clockId), ({ now }) => now)
    })
  }

  /** Runs an effect in the time of a customer. */
  within<A, E, R>(
    id: CustomerId,
    effect: Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | StorageError, R | CurrentTenant> {
    return Effect.flatMap(this.of(id), (now) =>
      Option.isNone(now) ? effect : WallClock.standingAt(now.value, effect),
    )
  }
}
