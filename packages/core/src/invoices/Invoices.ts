/**
 * The use cases of invoices.
 */
import type { InvoiceInput } from "@billwright/engine"
import { Context, Effect, Layer, Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import { CustomerTime } from "../customers/CustomerTime.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, pageFields, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import type { ActionUnavailable } from "./ActionUnavailable.ts"
import { Drafts } from "./Drafts.ts"
import { type Invoice, InvoiceId, InvoiceNotFound, InvoiceStatus, toInvoice } from "./Invoice.ts"
import { invoiceBooks } from "./InvoiceBook.ts"
import { InvoiceStore } from "./InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "./InvoicingUnsupported.ts"
import { SubscriptionId } from "./SubscriptionId.ts"

/** Which invoices to list. */
export const ListInvoices = Schema.Struct({
  ...pageFields,
  customerId: Schema.optionalKey(CustomerId),
  subscriptionId: Schema.optionalKey(SubscriptionId),
  status: Schema.optionalKey(InvoiceStatus),
})
export interface ListInvoices extends Schema.Schema.Type<typeof ListInvoices> {}

const decodeList = decoder(ListInvoices)
const { knownId, orNotFound } = ById.make(Schema.is(InvoiceId), (id) => new InvoiceNotFound({ id }))

type Failure = InvoicingUnsupported | StorageError

/** Reads, voids and writes off the invoices of the current tenant. Subscriptions make them. */
export class Invoices extends Context.Service<
  Invoices,
  {
    /** A draft has the lines and taxes that it would be issued with now. Nothing is written. */
    readonly get: (id: string) => Effect.Effect<Invoice, InvoiceNotFound | Failure, CurrentTenant>

    /** Newest first. Drafts are as they were last stored: when they were made, or by the bill after them. */
    readonly list: (
      query?: ListInvoices,
    ) => Effect.Effect<Page<Invoice>, InvalidInput | Failure, CurrentTenant>

    /**
     * Voids an issued invoice of which nothing was paid. It stays, with its number, and nothing of it is due. What it
     * billed is not billed again. The credits of its items wait for the next invoice.
     */
    readonly void: (
      id: string,
    ) => Effect.Effect<Invoice, ActionUnavailable | InvalidInput | InvoiceNotFound | Failure, CurrentTenant>

    /** Writes an issued invoice off. It may still be paid. */
    readonly markUncollectible: (
      id: string,
    ) => Effect.Effect<Invoice, ActionUnavailable | InvalidInput | InvoiceNotFound | Failure, CurrentTenant>
  }
>()("@billwright/core/invoices/Invoices") {
  static readonly layer = Layer.effect(
    Invoices,
    Effect.gen(function* () {
      const port = yield* optionalPort(InvoiceStore)
      const transactor = yield* Transactor
      const drafts = yield* Drafts
      const bookOf = yield* invoiceBooks
      const time = new CustomerTime(yield* Collections)

      const get = Effect.fn("Invoices.get")(function* (id: string) {
        const store = yield* port
        const stored = yield* orNotFound(yield* store.find(yield* knownId(id)), id)
        // What can't be computed is shown as it was stored. Its finalization will fail and say why.
        const asStored = () => Effect.succeed(stored)
        return toInvoice(yield* drafts.today(stored).pipe(Effect.catchTag("InvalidInput", asStored)))
      })

      const list = Effect.fn("Invoices.list")(function* (query: ListInvoices = {}) {
        const store = yield* port
        const request = yield* decodeList(query)
        const { data, hasMore } = yield* store
          .list(filterOf(request), yield* toQuery(request))
          .pipe(nameCursor(request))
        return { data: data.map(toInvoice), hasMore }
      })

      const change = Effect.fnUntraced(function* (id: string, input: InvoiceInput) {
        const store = yield* port
        const known = yield* knownId(id)
        const book = bookOf(store)
        return yield* transactor.atomically(
          Effect.gen(function* () {
            const stored = yield* orNotFound(yield* store.lock(known), id)
            return toInvoice(yield* time.within(stored.customerId, book.apply(stored, input)))
          }),
        )
      })

      return Invoices.of({
        get,
        list,
        void: (id) => Effect.withSpan(change(id, { action: "void" }), "Invoices.void"),
        markUncollectible: (id) =>
          Effect.withSpan(change(id, { action: "mark_uncollectible" }), "Invoices.markUncollectible"),
      })
    }),
  )
}
