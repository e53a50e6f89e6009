/**
 * What lowers or raises invoices besides plans and usage: coupons, items and credit notes.
 */
import {
  type Coupon,
  Coupons,
  CreditNotes,
  Customer,
  type Invoice,
  InvoiceItems,
  Invoices,
  Redemptions,
  SubscriptionId,
} from "@billwright/core"
import { Effect } from "effect"
import type { Choice } from "../world/Choice.ts"
import { decided, type Made, makeOnce, type Work } from "./Command.ts"

type Run = (made: Made) => Work

/** The coupons of a script by the number of their command. Few can be redeemed often. */
export const createCoupon = (choice: Choice, number: number): Run => {
  const code = `CODE${number}`
  const value = choice.weighted<Pick<Coupon.CreateCoupon, "amount" | "carry" | "percent">>([
    [2, { percent: choice.pick(["20", "33.3", "100"]) }],
    [1, { amount: { EUR: "5.00", USD: "7.50", JPY: "300" } }],
    [1, { amount: { EUR: "60.01", USD: "35.00" }, carry: true }],
  ])
  const duration = choice.pick(["once", "periods", "periods", "forever"] as const)
  const coupon: Coupon.CreateCoupon = {
    code,
    name: code,
    ...value,
    duration,
    ...(duration === "periods" ? { periods: choice.int(1, 3) } : {}),
    ...choice.weighted<Partial<Coupon.CreateCoupon>>([
      [3, {}],
      [1, { charges: ["base", "calls"] }],
      [1, { plans: ["pro", "weekly"] }],
    ]),
    ...choice.weighted<Partial<Coupon.CreateCoupon>>([
      [1, {}],
      [1, { maxRedemptions: 1 }],
      [1, { maxRedemptions: 2, maxRedemptionsPerCustomer: 1 }],
    ]),
  }
  return (made) =>
    Effect.gen(function* () {
      const { create, list } = yield* Coupons
      const { id } = yield* makeOnce(list, (one) => one.code === code, create(coupon))
      made.coupons.set(number, id)
    })
}

/** Redeems a coupon for a subscription, both by the numbers of their commands. */
export const redeem =
  (coupon: number, subscription: number): Run =>
  (made) =>
    Effect.gen(function* () {
      const [couponId, id] = [made.coupons.get(coupon), made.subscriptions.get(subscription)]
      if (couponId === undefined || id === undefined) return
      const { create, list } = yield* Redemptions
      const subscriptionId = SubscriptionId.make(id)
      const { data } = yield* list({ subscriptionId })
      const isThere = data.some((one) => one.couponId === couponId && one.endedAt === null)
      if (!isThere) yield* create({ coupon: couponId, subscriptionId })
    })

/** Ends the oldest redemption of a subscription. */
export const endRedemption = (subscription: number): Run => {
  const chosen = decided((made) =>
    Effect.gen(function* () {
      const id = made.subscriptions.get(subscription)
      if (id === undefined) return undefined
      const { data } = yield* (yield* Redemptions).list({ subscriptionId: SubscriptionId.make(id) })
      return data.findLast(({ endedAt }) => endedAt === null)?.id
    }),
  )
  return (made) =>
    Effect.gen(function* () {
      const id = yield* chosen(made)
      if (id !== undefined) yield* (yield* Redemptions).end(id)
    })
}

export const archiveCoupon =
  (coupon: number): Run =>
  (made) => {
    const id = made.coupons.get(coupon)
    return id === undefined ? Effect.void : Effect.flatMap(Coupons, ({ archive }) => archive(id))
  }

/** Whose item it is, by the numbers of commands. Without a subscription, the next invoice of the customer has it. */
export interface ItemOwner {
  readonly customer: number
  readonly subscription: number | undefined
  readonly currency: string
}

/** Charges a customer once, or gives a credit. Its metadata say what was given. */
export const createItem = (
  choice: Choice,
  number: number,
  { currency, customer, subscription }: ItemOwner,
): Run => {
  const amount = choice.pick([-30_000n, -5_000n, -700n, -1n, 1n, 450n, 12_345n])
  const metadata = { command: String(number), given: String(amount) }
  const taxCode = choice.pick([null, null, "reduced"])
  return (made) =>
    Effect.gen(function* () {
      const owner = made.customers.get(customer)
      const subscriptionId = subscription === undefined ? undefined : made.subscriptions.get(subscription)
      if (owner === undefined || (subscription !== undefined && subscriptionId === undefined)) return
      const { create, list } = yield* InvoiceItems
      const customerId = Customer.CustomerId.make(owner)
      const item = yield* makeOnce(
        (query) => list({ ...query, customerId }),
        (one) => one.metadata["command"] === metadata.command,
        create({
          customerId,
          currency,
          amount,
          description: `item ${number}`,
          taxCode,
          metadata,
          ...(subscriptionId === undefined ? {} : { subscriptionId: SubscriptionId.make(subscriptionId) }),
        }),
      )
      made.items.set(number, item.id)
    })
}

export const deleteItem =
  (item: number): Run =>
  (made) => {
    const id = made.items.get(item)
    return id === undefined ? Effect.void : Effect.flatMap(InvoiceItems, (all) => all.delete(id))
  }

/** The oldest invoice of a subscription that allows an action. */
const oldestInvoice = (subscription: number, action: Invoice.Invoice["availableActions"][number]) =>
  decided((made) =>
    Effect.gen(function* () {
      const id = made.subscriptions.get(subscription)
      if (id === undefined) return undefined
      const { list } = yield* Invoices
      const { data } = yield* list({ limit: 100, subscriptionId: SubscriptionId.make(id) })
      return data
        .filter(({ availableActions }) => availableActions.includes(action))
        .toSorted((a, b) => (a.periodEnd ?? 0) - (b.periodEnd ?? 0) || (a.total < b.total ? -1 : 1))[0]
    }),
  )

/** Voids an invoice, or writes it off. */
export const settle = (subscription: number, action: "void" | "mark_uncollectible"): Run => {
  const chosen = oldestInvoice(subscription, action)
  return (made) =>
    Effect.gen(function* () {
      const invoices = yield* Invoices
      const invoice = yield* chosen(made)
      if (invoice === undefined) return
      yield* action === "void" ? invoices.void(invoice.id) : invoices.markUncollectible(invoice.id)
    })
}

/**
 * Gives back a part of the oldest invoice of a subscription, or all that is left of it. Then it may ask for all of a line
 * once more, of which some is given back.
 */
export const creditNote = (choice: Choice, subscription: number): Run => {
  const chosen = oldestInvoice(subscription, "credit")
  const part = choice.pick(["all", "amount", "line", "too much"] as const)
  const share = BigInt(choice.int(1, 4))
  const asksAgain = choice.chance(0.6)
  const before = decided((made) => Effect.flatMap(chosen(made), countOf))
  return (made) =>
    Effect.gen(function* () {
      const invoice = yield* chosen(made)
      if (invoice === undefined || (yield* countOf(invoice)) > (yield* before(made))) return
      const line = invoice.lines.find(({ amount, discount }) => amount - discount > 0n)
      if (line === undefined) return
      const most = line.amount - line.discount
      const { create } = yield* CreditNotes
      const of = { invoiceId: invoice.id, reason: "order_change" } as const
      yield* create({
        ...of,
        ...(part === "amount" ? { amount: invoice.subtotal / share } : {}),
        ...(part === "line" ? { lines: [{ lineId: line.id, amount: most / share }] } : {}),
        ...(part === "too much" ? { lines: [{ lineId: line.id, amount: most + 1n }] } : {}),
      })
      if (asksAgain) yield* create({ ...of, lines: [{ lineId: line.id, amount: most }] })
    })
}

/** How many credit notes an invoice has. */
const countOf = (invoice: Invoice.Invoice | undefined) =>
  invoice === undefined
    ? Effect.succeed(0)
    : Effect.flatMap(CreditNotes, ({ list }) =>
        Effect.map(list({ limit: 100, invoiceId: invoice.id }), ({ data }) => data.length),
      )
