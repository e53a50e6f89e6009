/**
 * Writes top-ups: their invoices, and what follows when one is paid, voided or declined.
 */
import { Currency, decimalsIn, Exact, type LineInput, stepsOfAmount, type TaxRate } from "@billwright/engine"
import { DateTime, Effect, Option } from "effect"
import { CreditSettings } from "../catalog/CreditSettings.ts"
import type { CustomerId } from "../customers/Customer.ts"
import { Outbox } from "../events/Outbox.ts"
import { INVOICE_ID_PREFIX, InvoiceId, type StoredInvoice } from "../invoices/Invoice.ts"
import { type InvoiceBook, isTopUp } from "../invoices/InvoiceBook.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import type { PageQuery } from "../shared/Page.ts"
import type { AutoTopUp } from "./AutoTopUp.ts"
import { autoTopUps, MAX_AUTO_TOP_UPS } from "./AutoTopUp.ts"
import type { CreditGrantId } from "./Credit.ts"
import { type AutoTopUpId, type Purchase, TOP_UP_ID_PREFIX, type TopUp, TopUpId, topUps } from "./TopUp.ts"
import { topUpSuspended, topUpSuspendedData } from "./TopUpEvents.ts"
import { TopUpQueue } from "./TopUpQueue.ts"

/** How many top-ups are read at once. */
const TOP_UPS_OF_PAGE = 100
/** Most top-ups of a customer that are looked at to find those that were bought by themselves. */
const MAX_TOP_UPS_READ = 1_000

/** Credits in a currency pay invoices with their taxes. So nothing is taxed when they are bought. */
const UNTAXED: TaxRate = {
  category: "O",
  rate: "0",
  country: null,
  reason: "Prepaid credit: taxed when it is used",
}

const lineOf = (
  invoiceId: InvoiceId,
  { amount, currency, price, taxCode, unit }: Purchase,
  decimals: number,
): LineInput => ({
  id: `${invoiceId}.1`,
  kind: "top_up",
  origin: null,
  charge: null,
  description: Currency.isCurrency(unit) ? `Prepaid credit in ${unit}` : `Credits: ${unit}`,
  periodStart: null,
  periodEnd: null,
  quantity: Currency.isCurrency(unit) ? null : Exact.text(Exact.ofUnits(amount, decimals)),
  amount: price,
  steps: stepsOfAmount(price, Currency.exponentOf(currency) ?? 0),
  receipt: null,
  taxCode,
  fixedTax: Currency.isCurrency(unit) ? UNTAXED : null,
  creditOf: null,
})

/** Gives the functions that write top-ups in the current transaction. */
export const makeTopUpBook = Effect.gen(function* () {
  const collections = yield* Collections
  const store = collections.of(topUps)
  const autos = collections.of(autoTopUps)
  const outbox = yield* Outbox
  const ids = yield* IdGenerator
  const decimalsOf = decimalsIn(yield* CreditSettings)
  const { lookAt } = yield* TopUpQueue

  /** Makes a top-up with the draft of its invoice, which is ready: a billing run issues it, if nobody does before. */
  const make = Effect.fnUntraced(function* (
    book: InvoiceBook,
    purchase: Purchase,
    autoTopUpId: AutoTopUpId | null,
  ) {
    const { currency, customerId } = purchase
    const createdAt = yield* DateTime.now
    const invoiceId = InvoiceId.make(yield* ids.next(INVOICE_ID_PREFIX))
    const of = { id: invoiceId, customerId, subscriptionId: null, causes: [] }
    yield* book.draft(
      { ...of, dueAt: createdAt.epochMilliseconds, createdAt, updatedAt: createdAt },
      { currency, periodStart: null, periodEnd: null },
      [lineOf(invoiceId, purchase, decimalsOf(purchase.unit))],
      { itemsUntil: null },
    )
    const id = TopUpId.make(yield* ids.next(TOP_UP_ID_PREFIX))
    const fields = { status: "pending", invoiceId, grantId: null, autoTopUpId, createdAt } as const
    const topUp: TopUp = { id, ...purchase, ...fields }
    yield* store.insert(topUp)
    return topUp
  })

  /** The top-up that an invoice is for. */
  const ofInvoice = Effect.fnUntraced(function* ({ id: invoiceId, state }: StoredInvoice) {
    if (!isTopUp(state.lines)) return Option.none<TopUp>()
    const { data } = yield* store
      .list({ invoiceId }, { limit: 1, cursor: undefined })
      .pipe(Effect.catchTag("CursorNotFound", Effect.die))
    return Option.fromUndefinedOr(data[0])
  })

  /** The automatic top-ups of a customer, newest first. */
  const autosOf = (customerId: CustomerId) =>
    autos
      .list({ customerId }, { limit: MAX_AUTO_TOP_UPS, cursor: undefined })
      .pipe(Effect.catchTag("CursorNotFound", Effect.die))

  /**
   * Ends a top-up that is pending. If it was bought by itself, the automatic top-up of its unit is looked at again, which may
   * buy the next one. When it was canceled, that is only done for one that replaced the one that bought it: it has waited.
   */
  const settle = Effect.fnUntraced(function* (
    { autoTopUpId, customerId, id, unit }: TopUp,
    grantId: CreditGrantId | null,
  ) {
    const status = grantId === null ? "canceled" : "granted"
    yield* store.modify(id, (topUp) => Effect.succeed({ ...topUp, status, grantId }))
    if (autoTopUpId === null) return
    for (const auto of (yield* autosOf(customerId)).data) {
      const isNext = grantId !== null || auto.id !== autoTopUpId
      if (auto.unit === unit && isNext) yield* lookAt(auto.id, 0)
    }
  })

  /**
   * The newest top-ups of a unit that a customer has bought by itself, `count` of them at most. Also those of automatic top-ups
   * that are deleted: whoever replaces one does not buy twice. It looks at the newest `MAX_TOP_UPS_READ` of the customer, whoever
   * bought them.
   */
  const latestBySelf = Effect.fnUntraced(function* (
    { customerId, unit }: Pick<TopUp, "customerId" | "unit">,
    count: number,
  ) {
    const found: Array<TopUp> = []
    let cursor: PageQuery["cursor"]
    for (let read = 0; found.length < count && read < MAX_TOP_UPS_READ; read += TOP_UPS_OF_PAGE) {
      const { data, hasMore } = yield* store
        .list({ customerId }, { limit: TOP_UPS_OF_PAGE, cursor })
        .pipe(Effect.catchTag("CursorNotFound", Effect.die))
      found.push(...data.filter((one) => one.unit === unit && one.autoTopUpId !== null))
      const last = data.at(-1)
      if (!hasMore || last === undefined) break
      cursor = { id: last.id, direction: "older" }
    }
    return found.slice(0, count)
  })

  /** Takes note that a payment of an invoice was declined: its automatic top-up buys nothing any more. */
  const declined = Effect.fnUntraced(function* (invoice: StoredInvoice) {
    const topUp = Option.getOrUndefined(yield* ofInvoice(invoice))
    if (topUp?.status !== "pending" || topUp.autoTopUpId === null) return
    const suspendedAt = yield* DateTime.now
    let suspended: AutoTopUp | undefined
    yield* autos.modify(topUp.autoTopUpId, (auto) =>
      Effect.sync(() => {
        if (auto.suspendedAt !== null) return auto
        suspended = { ...auto, suspendedAt }
        return suspended
      }),
    )
    if (suspended === undefined) return
    const { customerId } = suspended
    yield* outbox.publish(topUpSuspended, topUpSuspendedData(suspended, invoice.id), { customerId })
  })

  /** Arms the automatic top-ups of a customer with a new payment method. */
  const arm = Effect.fnUntraced(function* (customerId: CustomerId) {
    for (const { id, suspendedAt } of (yield* autosOf(customerId)).data) {
      if (suspendedAt === null) continue
      yield* autos.modify(id, (auto) => Effect.succeed({ ...auto, suspendedAt: null }))
      yield* lookAt(id, 0)
    }
  })

  return { arm, autos, autosOf, declined, latestBySelf, make, ofInvoice, settle, store }
})

/** What writes top-ups. */
export type TopUpBook = Effect.Success<typeof makeTopUpBook>
