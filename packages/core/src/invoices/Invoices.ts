/**
 * The use cases of invoices.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { PlanStore } from "../catalog/PlanStore.ts"
import { type Customer, CustomerId, CustomerNotFound, customers } from "../customers/Customer.ts"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { Currency } from "../shared/Currency.ts"
import { FailureFilter } from "../shared/Due.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, pageFields, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { meters } from "../usage/Meter.ts"
import type { UsageRecord } from "../usage/UsageRecord.ts"
import { UsageStore } from "../usage/UsageStore.ts"
import { Drafts } from "./Drafts.ts"
import {
  type Invoice,
  INVOICE_ID_PREFIX,
  InvoiceId,
  InvoiceNotFound,
  InvoiceStatus,
  type StoredInvoice,
  toInvoice,
} from "./Invoice.ts"
import { type InvoiceBook, invoiceBooks, type Redrafted } from "./InvoiceBook.ts"
import { InvoiceFigure } from "./InvoiceFigure.ts"
import { InvoiceStore } from "./InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "./InvoicingUnsupported.ts"
import { LineRecords, type ListLineRecords } from "./LineRecords.ts"
import { checkLines, CreateInvoice, currencyOf, linesOf } from "./OneOffInvoice.ts"
import { ShortTransaction } from "./ShortTransaction.ts"
import { SubscriptionId, SubscriptionNotFound } from "./SubscriptionId.ts"
import type { TaxesUnknown } from "./Taxes.ts"

/** Which invoices to list. */
export const ListInvoices = Schema.Struct({
  ...pageFields,
  customerId: Schema.optionalKey(CustomerId),
  subscriptionId: Schema.optionalKey(SubscriptionId),
  status: Schema.optionalKey(InvoiceStatus),
  /** The ISO 4217 code of a currency. */
  currency: Schema.optionalKey(Currency),
  /** Those that make a figure of the overview of money, now. */
  figure: Schema.optionalKey(InvoiceFigure),
  /** Those whose last billing run failed. */
  failure: Schema.optionalKey(FailureFilter),
})
export interface ListInvoices extends Schema.Schema.Type<typeof ListInvoices> {}

const decodeCreate = decoder(CreateInvoice)
const decodeList = decoder(ListInvoices)
const isSubscriptionId = Schema.is(SubscriptionId)
const { knownId, orNotFound } = ById.make(Schema.is(InvoiceId), (id) => new InvoiceNotFound({ id }))

type Failure = InvoicingUnsupported | StorageError

type CommandFailure = ActionUnavailable | InvalidInput | InvoiceNotFound | Failure

/** The invoices of the current tenant. Subscriptions make them by themselves, and `create` makes one of items or lines. */
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
     * The invoice that a subscription gets after those that it has, with the usage that is recorded by now: that of the next
     * period, or of the end. `null` if it gets none, as while it is paused. Nothing is stored: its id is that of nothing.
     */
    readonly upcoming: (
      subscriptionId: string,
    ) => Effect.Effect<Invoice | null, InvalidInput | SubscriptionNotFound | Failure, CurrentTenant>

    /**
     * The usage records that a line is made of, newest first: those of its meter, customer, filters and service period that
     * count now. Records that came after the line was issued are among them, and an adjustment on a later invoice bills
     * them. A line that bills no usage has none.
     */
    readonly records: (
      id: string,
      lineId: string,
      query?: ListLineRecords,
    ) => Effect.Effect<Page<UsageRecord>, InvalidInput | InvoiceNotFound | Failure, CurrentTenant>

    /**
     * Makes a draft without a subscription: of the customer's pending items in a currency, or of given lines. It is not
     * issued until `finalize` is called. Without a charge there is no invoice: `InvalidInput`.
     */
    readonly create: (
      input: CreateInvoice,
    ) => Effect.Effect<Invoice, CustomerNotFound | InvalidInput | Failure, CurrentTenant>

    /**
     * Issues a draft now, with its lines and taxes of now, also one that waits for late usage. Of the drafts of a
     * subscription, the oldest one comes first.
     *
     * In a transaction of the caller it marks the draft as ready, and the next billing run issues it: a long transaction must
     * not hold the numbers of all others. The same happens when a tax service has to be asked. The draft then has a
     * `finalizesAt` of now.
     */
    readonly finalize: (id: string) => Effect.Effect<Invoice, CommandFailure, CurrentTenant>

    /** Deletes a draft that bills no subscription. Its items are pending again. */
    readonly delete: (id: string) => Effect.Effect<void, CommandFailure, CurrentTenant>

    /**
     * Voids an issued invoice of which nothing was paid and nothing was credited, by a credit note or on a later invoice. It
     * stays, with its number, and nothing of it is due. What it billed is not billed again. The credits of its items wait
     * for the next invoice.
     */
    readonly void: (id: string) => Effect.Effect<Invoice, CommandFailure, CurrentTenant>

    /** Writes an issued invoice off. It may still be paid. */
    readonly markUncollectible: (id: string) => Effect.Effect<Invoice, CommandFailure, CurrentTenant>
  }
>()("@billwright/core/invoices/Invoices") {
  static readonly layer = Layer.effect(
    Invoices,
    Effect.gen(function* () {
      const port = yield* optionalPort(InvoiceStore)
      const transactor = yield* Transactor
      const drafts = yield* Drafts
      const bookOf = yield* invoiceBooks
      const collections = yield* Collections
      const owners = collections.of(customers)
      const time = new CustomerTime(collections)
      const ids = yield* IdGenerator
      const lineRecords = new LineRecords(yield* PlanStore, collections.of(meters), yield* UsageStore)

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
        const { figure, ...filter } = filterOf(request)
        const at = (yield* DateTime.now).epochMilliseconds
        const { data, hasMore } = yield* store
          .list(
            { ...filter, figure: figure === undefined ? undefined : { figure, at } },
            yield* toQuery(request),
          )
          .pipe(nameCursor(request))
        return { data: data.map(toInvoice), hasMore }
      })

      const records = Effect.fn("Invoices.records")(function* (
        id: string,
        lineId: string,
        query: ListLineRecords = {},
      ) {
        return yield* lineRecords.list(yield* get(id), lineId, query)
      })

      const upcoming = Effect.fn("Invoices.upcoming")(function* (id: string) {
        yield* port
        if (!isSubscriptionId(id)) return yield* new SubscriptionNotFound({ id })
        return yield* drafts.upcoming(id)
      })

      /** Makes the draft of a customer that the current transaction holds. */
      const draftFor = Effect.fnUntraced(function* (
        customer: Customer,
        { currency: given, lines }: CreateInvoice,
        book: InvoiceBook,
      ) {
        const currency = yield* currencyOf(given, customer.currency)
        const now = yield* DateTime.now
        const id = InvoiceId.make(yield* ids.next(INVOICE_ID_PREFIX))
        const made = yield* book.draft(
          {
            id,
            customerId: customer.id,
            subscriptionId: null,
            causes: [],
            dueAt: null,
            createdAt: now,
            updatedAt: now,
          },
          { currency, periodStart: null, periodEnd: null },
          linesOf(id, lines ?? [], currency),
          { itemsUntil: lines === undefined ? now.epochMilliseconds : null },
        )
        if (made === undefined) {
          const problem = `is required: the customer has no pending charge in ${currency}`
          return yield* new InvalidInput({ field: "lines", problem })
        }
        if (made.draft.state.total < 0n) {
          return yield* new InvalidInput({ field: "lines", problem: "must not come to less than 0" })
        }
        return toInvoice(made.draft)
      })

      const create = Effect.fn("Invoices.create")(function* (input: CreateInvoice) {
        const store = yield* port
        const asked = yield* decodeCreate(input)
        yield* checkLines(asked.lines ?? [])
        const { customerId } = asked
        return yield* transactor.atomically(
          Effect.gen(function* () {
            const held = yield* owners.modify(customerId, Effect.succeed)
            if (Option.isNone(held)) {
              return yield* new CustomerNotFound({ id: customerId, field: "customerId" })
            }
            return yield* time.within(customerId, draftFor(held.value, asked, bookOf(store)))
          }),
        )
      })

      /** Issues a draft that is held. If a tax service has to be asked, a billing run does that, outside of transactions. */
      const issue = (held: Redrafted, book: InvoiceBook) => {
        const { id } = held.draft
        const withoutTaxes = ({
          message,
          request,
        }: TaxesUnknown): Effect.Effect<StoredInvoice, ActionUnavailable | StorageError, CurrentTenant> =>
          request === undefined
            ? unavailable(id, `finalize is not possible: ${message}`)
            : book.markReady(held)
        return Effect.catchTag(book.finalize(held), "TaxesUnknown", withoutTaxes)
      }

      const finalize = Effect.fn("Invoices.finalize")(function* (id: string) {
        const store = yield* port
        const known = yield* knownId(id)
        const book = bookOf(store)
        const mayIssue = (yield* ShortTransaction) || !(yield* transactor.inTransaction)
        return yield* transactor.atomically(
          Effect.gen(function* () {
            const { customerId } = yield* orNotFound(yield* store.find(known), id)
            const work = Effect.gen(function* () {
              const held = yield* orNotFound(yield* drafts.hold(known, mayIssue ? "issue" : "read"), id)
              return toInvoice(yield* mayIssue ? issue(held, book) : book.markReady(held))
            })
            return yield* time.within(customerId, work)
          }),
        )
      })

      const remove = Effect.fn("Invoices.delete")(function* (id: string) {
        const store = yield* port
        const known = yield* knownId(id)
        yield* transactor.atomically(
          Effect.gen(function* () {
            const stored = yield* orNotFound(yield* store.lock(known), id)
            const problem = keptBecause(stored)
            if (problem !== undefined) return yield* unavailable(known, `delete is not possible: ${problem}`)
            yield* time.within(stored.customerId, bookOf(store).remove(stored))
          }),
        )
      })

      const markUncollectible = Effect.fn("Invoices.markUncollectible")(function* (id: string) {
        const store = yield* port
        const known = yield* knownId(id)
        return yield* transactor.atomically(
          Effect.gen(function* () {
            const stored = yield* orNotFound(yield* store.lock(known), id)
            const marked = bookOf(store).apply(stored, { action: "mark_uncollectible" })
            return toInvoice(yield* time.within(stored.customerId, marked))
          }),
        )
      })

      const voidInvoice = Effect.fn("Invoices.void")(function* (id: string) {
        const store = yield* port
        const known = yield* knownId(id)
        return yield* transactor.atomically(
          Effect.gen(function* () {
            // Whoever gives back a part of it on a later invoice holds the subscriptions, too.
            const stored = yield* orNotFound(yield* store.lockWithSubscriptions(known), id)
            if ((yield* store.creditsOf(known)).length > 0) {
              const problem = "a later invoice gave back a part of it: issue a credit note for the rest"
              return yield* unavailable(known, `void is not possible: ${problem}`)
            }
            const voided = bookOf(store).apply(stored, { action: "void" })
            return toInvoice(yield* time.within(stored.customerId, voided))
          }),
        )
      })

      return Invoices.of({
        get,
        list,
        records,
        upcoming,
        create,
        finalize,
        delete: remove,
        void: voidInvoice,
        markUncollectible,
      })
    }),
  )
}

const unavailable = (id: InvoiceId, problem: string) =>
  Effect.fail(new ActionUnavailable({ object: "invoice", id, problem }))

/** Why an invoice can't be deleted. */
const keptBecause = ({ causes, state: { status } }: StoredInvoice): string | undefined => {
  if (status !== "draft") return `the invoice is ${status}`
  return causes.length > 0 ? "the draft bills a subscription" : undefined
}
