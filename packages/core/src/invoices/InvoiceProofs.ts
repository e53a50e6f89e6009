/**
 * The use cases of proofs of invoices. Issuing an invoice makes its proof (`Proving`), so that they are only read here.
 */
import { Context, Effect, Layer } from "effect"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import {
  type InvoiceProof,
  type InvoiceProofNotFound,
  invoiceProofs,
  ListInvoiceProofs,
} from "./InvoiceProof.ts"

const decodeList = decoder(ListInvoiceProofs)
const { knownId, orNotFound } = ById.of(invoiceProofs)

/** Reads and lists the proofs of the current tenant's invoices. */
export class InvoiceProofs extends Context.Service<
  InvoiceProofs,
  {
    readonly get: (
      id: string,
    ) => Effect.Effect<InvoiceProof, InvoiceProofNotFound | StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListInvoiceProofs,
    ) => Effect.Effect<Page<InvoiceProof>, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/invoices/InvoiceProofs") {
  static readonly layer = Layer.effect(
    InvoiceProofs,
    Effect.gen(function* () {
      const store = (yield* Collections).of(invoiceProofs)

      const get = Effect.fn("InvoiceProofs.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      const list = Effect.fn("InvoiceProofs.list")(function* (query: ListInvoiceProofs = {}) {
        const request = yield* decodeList(query)
        return yield* store.list(filterOf(request), yield* toQuery(request)).pipe(nameCursor(request))
      })

      return InvoiceProofs.of({ get, list })
    }),
  )
}
