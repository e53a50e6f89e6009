/**
 * The use cases of items. Invoices pick items up (`ItemLines`).
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { CustomerNotFound, customers } from "../customers/Customer.ts"
import { CustomerTime } from "../customers/CustomerTime.ts"
import {
  checkCurrency,
  checkServicePeriod,
  CreateInvoiceItem,
  INVOICE_ITEM_ID_PREFIX,
  type InvoiceItem,
  InvoiceItemId,
  type InvoiceItemNotFound,
  invoiceItems,
  ListInvoiceItems,
} from "../invoices/InvoiceItem.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { SubscriptionNotFound } from "./Subscription.ts"
import { SubscriptionStore } from "./SubscriptionStore.ts"

const decodeCreate = decoder(CreateInvoiceItem)
const decodeList = decoder(ListInvoiceItems)
const { knownId, orNotFound } = ById.of(invoiceItems)

type Failure = InvoicingUnsupported | StorageError

/** Creates, reads, lists and deletes the items of the current tenant. */
export class InvoiceItems extends Context.Service<
  InvoiceItems,
  {
    /**
     * Creates an item. The next invoice that is made for the customer in its currency has it: with `subscriptionId`, the
     * next one of that subscription.
     */
    readonly create: (
      input: CreateInvoiceItem,
    ) => Effect.Effect<
      InvoiceItem,
      InvalidInput | CustomerNotFound | SubscriptionNotFound | Failure,
      CurrentTenant
    >

    readonly get: (
      id: string,
    ) => Effect.Effect<InvoiceItem, InvoiceItemNotFound | StorageError, CurrentTenant>

    /** Deletes an item, also from a draft. One of an issued invoice stays: `ActionUnavailable`. */
    readonly delete: (
      id: string,
    ) => Effect.Effect<void, ActionUnavailable | InvoiceItemNotFound | Failure, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListInvoiceItems,
    ) => Effect.Effect<Page<InvoiceItem>, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/subscriptions/InvoiceItems") {
  static readonly layer = Layer.effect(
    InvoiceItems,
    Effect.gen(function* () {
      const collections = yield* Collections
      const store = collections.of(invoiceItems)
      const owners = collections.of(customers)
      const invoices = yield* optionalPort(InvoiceStore)
      const subscriptions = yield* optionalPort(SubscriptionStore)
      const transactor = yield* Transactor
      const ids = yield* IdGenerator
      const time = new CustomerTime(collections)

      const check = Effect.fnUntraced(function* ({
        currency,
        customerId,
        periodEnd = null,
        periodStart = null,
        subscriptionId = null,
      }: CreateInvoiceItem) {
        yield* checkCurrency(currency)
        yield* checkServicePeriod({ periodStart, periodEnd })
        if (subscriptionId === null) return
        // It is held, so that it does not end before the item is there.
        const found = yield* (yield* subscriptions).lock(subscriptionId)
        if (Option.isNone(found) || found.value.customerId !== customerId) {
          return yield* new SubscriptionNotFound({ id: subscriptionId, field: "subscriptionId" })
        }
        if (found.value.state.phase === "ended") {
          const problem = "is that of a subscription that has ended: it has no more invoices"
          return yield* new InvalidInput({ field: "subscriptionId", problem })
        }
        if (found.value.state.currency !== currency) {
          const problem = `must be the currency of the subscription: ${found.value.state.currency}`
          return yield* new InvalidInput({ field: "currency", problem })
        }
      })

      const create = Effect.fn("InvoiceItems.create")(function* (input: CreateInvoiceItem) {
        const decoded = yield* decodeCreate(input)
        yield* invoices
        const insert = Effect.gen(function* () {
          // The customer is held, so that it is not erased before the item is there. It is held before the subscription, as by all.
          if (Option.isNone(yield* owners.modify(decoded.customerId, Effect.succeed))) {
            return yield* new CustomerNotFound({ id: decoded.customerId, field: "customerId" })
          }
          yield* check(decoded)
          const item: InvoiceItem = {
            id: InvoiceItemId.make(yield* ids.next(INVOICE_ITEM_ID_PREFIX)),
            subscriptionId: null,
            periodStart: null,
            periodEnd: null,
            taxCode: null,
            metadata: {},
            ...decoded,
            status: "pending",
            invoiceId: null,
            createdAt: yield* time.within(decoded.customerId, DateTime.now),
          }
          yield* store.insert(item)
          return item
        })
        return yield* transactor.atomically(insert)
      })

      const get = Effect.fn("InvoiceItems.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      /** Why an item can't be deleted. Its invoice is held before it, as by finalization. */
      const keptBy = Effect.fnUntraced(function* ({ invoiceId }: InvoiceItem) {
        if (invoiceId === null) return undefined
        const invoice = yield* (yield* invoices).lock(invoiceId)
        return Option.isSome(invoice) && invoice.value.state.status !== "draft"
          ? `is on the invoice ${invoiceId}, which is issued: issue a credit note`
          : undefined
      })

      const remove = Effect.fn("InvoiceItems.delete")(function* (id: string) {
        const known = yield* knownId(id)
        yield* transactor.atomically(
          Effect.gen(function* () {
            const before = yield* orNotFound(yield* store.find(known), id)
            const kept = yield* keptBy(before)
            const held = yield* orNotFound(yield* store.modify(known, Effect.succeed), id)
            const problem =
              kept ??
              (held.invoiceId === before.invoiceId ? undefined : "was picked up by an invoice meanwhile")
            if (problem !== undefined)
              return yield* new ActionUnavailable({ object: "invoice item", id, problem })
            yield* store.remove(known)
          }),
        )
      })

      const list = Effect.fn("InvoiceItems.list")(function* (query: ListInvoiceItems = {}) {
        const request = yield* decodeList(query)
        const page = yield* toQuery(request)
        return yield* store.list(filterOf(request), page).pipe(nameCursor(request))
      })

      return InvoiceItems.of({ create, get, delete: remove, list })
    }),
  )
}
