/**
 * The use cases of disputes. They come from the payment provider, so that they are only read here.
 */
import { Context, Effect, Layer } from "effect"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { type Dispute, type DisputeNotFound, disputes, ListDisputes } from "./Dispute.ts"

const decodeList = decoder(ListDisputes)
const { knownId, orNotFound } = ById.of(disputes)

/** Reads and lists the disputes of the current tenant. */
export class Disputes extends Context.Service<
  Disputes,
  {
    readonly get: (id: string) => Effect.Effect<Dispute, DisputeNotFound | StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListDisputes,
    ) => Effect.Effect<Page<Dispute>, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/payments/Disputes") {
  static readonly layer = Layer.effect(
    Disputes,
    Effect.gen(function* () {
      const store = (yield* Collections).of(disputes)

      const get = Effect.fn("Disputes.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      const list = Effect.fn("Disputes.list")(function* (query: ListDisputes = {}) {
        const request = yield* decodeList(query)
        return yield* store.list(filterOf(request), yield* toQuery(request)).pipe(nameCursor(request))
      })

      return Disputes.of({ get, list })
    }),
  )
}
