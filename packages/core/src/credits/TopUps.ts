/**
 * The use cases of top-ups.
 */
import { Context, Effect, Layer } from "effect"
import type { CustomerNotFound } from "../customers/Customer.ts"
import { invoiceBooks } from "../invoices/InvoiceBook.ts"
import { Invoices } from "../invoices/Invoices.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { ShortTransaction } from "../invoices/ShortTransaction.ts"
import * as ById from "../shared/ById.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { makeCreditBook } from "./CreditBook.ts"
import { CreateTopUp, ListTopUps, purchaseOf, type TopUp, type TopUpNotFound, topUps } from "./TopUp.ts"
import { makeTopUpBook } from "./TopUpBook.ts"

const decodeCreate = decoder(CreateTopUp)
const decodeList = decoder(ListTopUps)
const { knownId, orNotFound } = ById.of(topUps)

/** Makes, reads and lists the top-ups of the current tenant. */
export class TopUps extends Context.Service<
  TopUps,
  {
    /**
     * Makes the invoice of a top-up, and issues it, in one transaction: when it fails, nothing is sold. The credits come when
     * the invoice is paid, once, with the payment. A payment that is declined gives nothing, and a void invoice never will.
     * In a transaction of the caller, the next billing run issues the invoice.
     */
    readonly create: (
      input: CreateTopUp,
    ) => Effect.Effect<
      TopUp,
      InvalidInput | CustomerNotFound | InvoicingUnsupported | StorageError,
      CurrentTenant
    >

    readonly get: (id: string) => Effect.Effect<TopUp, TopUpNotFound | StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListTopUps,
    ) => Effect.Effect<Page<TopUp>, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/credits/TopUps") {
  static readonly layer = Layer.effect(
    TopUps,
    Effect.gen(function* () {
      const { make, store } = yield* makeTopUpBook
      const { holdCustomer, port, within } = yield* makeCreditBook
      const invoicePort = yield* optionalPort(InvoiceStore)
      const bookOf = yield* invoiceBooks
      const invoices = yield* Invoices
      const { atomically, inTransaction } = yield* Transactor

      /** Issues the draft of a top-up in the current transaction. If it can't be issued now, a billing run does it. */
      const issue = ({ invoiceId }: TopUp) =>
        invoices.finalize(invoiceId).pipe(
          Effect.catchTags({
            ActionUnavailable: () => Effect.void,
            // This transaction has made it, and nobody else sees it.
            InvoiceNotFound: Effect.die,
          }),
        )

      const create = Effect.fn("TopUps.create")(function* (input: CreateTopUp) {
        const purchase = yield* purchaseOf(yield* decodeCreate(input))
        yield* port
        const book = bookOf(yield* invoicePort)
        const made = Effect.andThen(holdCustomer(purchase), make(book, purchase, null))
        // The transaction of this call ends with it, so that it may take a number. That of a caller says for itself.
        const isShort = (yield* ShortTransaction) || !(yield* inTransaction)
        // One transaction for both: a caller who repeats what failed must not buy twice.
        return yield* atomically(Effect.tap(within(purchase, made), issue)).pipe(
          Effect.provideService(ShortTransaction, isShort),
        )
      })

      const get = Effect.fn("TopUps.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      const list = Effect.fn("TopUps.list")(function* (query: ListTopUps = {}) {
        const request = yield* decodeList(query)
        const page = yield* toQuery(request)
        return yield* store.list(filterOf(request), page).pipe(nameCursor(request))
      })

      return TopUps.of({ create, get, list })
    }),
  )
}
