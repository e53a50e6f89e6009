/**
 * The lines of items on invoices.
 *
 * A draft picks items up when it is made, and keeps them. So an item is on one invoice at most. A credit takes from an
 * invoice only what it comes to: the rest waits, as an item of its own with the same `createdAt`, for the next invoice.
 */
import { Currency, type LineInput, stepsOfAmount } from "@billwright/engine"
import { DateTime, Effect, Option } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { CollectionOf } from "../shared/Collections.ts"
import type { IdGenerator } from "../shared/Id.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { InvoiceId } from "./Invoice.ts"
import {
  INVOICE_ITEM_ID_PREFIX,
  type InvoiceItem,
  InvoiceItemId,
  type invoiceItems,
  MAX_ITEMS_PER_INVOICE,
} from "./InvoiceItem.ts"
import type { SubscriptionId } from "./SubscriptionId.ts"

type Stored<A> = Effect.Effect<A, StorageError, CurrentTenant>

/** Most pages of pending items among which those of an invoice are looked for. */
const MAX_PAGES = 20
/** The same when the items of a subscription that has ended are looked for. One that is not found is never billed. */
const MAX_PAGES_OF_ENDED = 400

/** What the line of an item has of it. */
interface Charged extends Pick<
  InvoiceItem,
  "amount" | "currency" | "description" | "periodEnd" | "periodStart" | "taxCode"
> {
  readonly id: string
}

/** The line of an item with all of its amount. */
export const lineOfItem = ({
  amount,
  currency,
  description,
  id,
  periodEnd,
  periodStart,
  taxCode,
}: Charged): LineInput => ({
  id,
  kind: "item",
  origin: null,
  charge: null,
  description,
  periodStart: periodStart?.epochMilliseconds ?? null,
  periodEnd: periodEnd?.epochMilliseconds ?? null,
  quantity: null,
  amount,
  steps: stepsOfAmount(amount, Currency.exponentOf(currency) ?? 0),
  receipt: null,
  taxCode,
  fixedTax: null,
  creditOf: null,
})

/**
 * The lines, with the credits among the items cut so that together they are `most`. The first ones come first. Those that
 * take nothing are left out.
 */
const withCredits = (
  lines: ReadonlyArray<LineInput>,
  isCredit: (line: LineInput) => boolean,
  currency: string,
  most: bigint,
): ReadonlyArray<LineInput> => {
  let left = most
  return lines.flatMap((line) => {
    if (!isCredit(line)) return [line]
    const taken = left < -line.amount ? left : -line.amount
    left -= taken
    const steps = stepsOfAmount(-taken, Currency.exponentOf(currency) ?? 0)
    return taken === 0n ? [] : [{ ...line, amount: -taken, steps }]
  })
}

/**
 * The lines of an invoice, with the credits among its items cut where its total would be less than 0. `totalOf` gives the
 * total of lines. What a subscription gives back is not cut, and neither are lines that were given with the invoice.
 */
export const withinTotal = (
  lines: ReadonlyArray<LineInput>,
  items: ReadonlyArray<InvoiceItem>,
  currency: string,
  totalOf: (lines: ReadonlyArray<LineInput>) => bigint,
): ReadonlyArray<LineInput> => {
  const ids = new Set<string>(items.map(({ id }) => id))
  const isCredit = ({ amount, id }: LineInput) => amount < 0n && ids.has(id)
  const credits = lines.filter(isCredit)
  if (credits.length === 0 || totalOf(lines) >= 0n) return lines
  // With more credit the total never rises. So the most that leaves it at 0 or more is found by halving.
  let [fits, tooMuch] = [0n, credits.reduce((sum, { amount }) => sum - amount, 0n)]
  while (tooMuch - fits > 1n) {
    const middle = (fits + tooMuch) / 2n
    if (totalOf(withCredits(lines, isCredit, currency, middle)) >= 0n) fits = middle
    else tooMuch = middle
  }
  return withCredits(lines, isCredit, currency, fits)
}

/** Whose items an invoice picks up. */
export interface ItemsOf {
  readonly customerId: CustomerId
  /** Those of the invoice. Items of the customer itself are picked up, too. */
  readonly subscriptionIds: ReadonlyArray<SubscriptionId>
  readonly currency: string
  /** The last instant at which they were created, in epoch milliseconds. */
  readonly createdBy: number
}

/** A subscription, by which its items are found. */
export interface ItemsOfSubscription extends Pick<ItemsOf, "currency" | "customerId"> {
  readonly subscriptionId: SubscriptionId
}

/**
 * As many items as an invoice can have. Charges come first: credits alone make no invoice, and would never be used up. They
 * stay in the order of their age.
 */
const firstOf = (items: ReadonlyArray<InvoiceItem>): ReadonlyArray<InvoiceItem> => {
  if (items.length <= MAX_ITEMS_PER_INVOICE) return items
  const isCharge = ({ amount }: InvoiceItem) => amount > 0n
  const ordered = [...items.filter(isCharge), ...items.filter((item) => !isCharge(item))]
  const kept = new Set(ordered.slice(0, MAX_ITEMS_PER_INVOICE))
  return items.filter((item) => kept.has(item))
}

const waiting = (item: InvoiceItem): InvoiceItem => ({ ...item, status: "pending", invoiceId: null })

/** Picks items up for invoices, in the current transaction. */
export class ItemLines {
  readonly #items: CollectionOf<typeof invoiceItems>
  readonly #ids: IdGenerator["Service"]

  constructor(items: CollectionOf<typeof invoiceItems>, ids: IdGenerator["Service"]) {
    this.#items = items
    this.#ids = ids
  }

  /**
   * Gives a new draft the pending items that it may have, oldest first. `hasOthers` says whether it has lines besides. A
   * draft without any charge gets no credits, because they would be on no invoice.
   */
  take(of: ItemsOf, invoiceId: InvoiceId, hasOthers: boolean): Stored<ReadonlyArray<InvoiceItem>> {
    return Effect.gen({ self: this }, function* () {
      const pending = yield* this.#pending(of)
      if (!hasOthers && !pending.some(({ amount }) => amount > 0n)) return []
      const taken: Array<InvoiceItem> = []
      for (const { id } of pending) {
        const held = yield* this.#items.modify(id, (item) =>
          Effect.succeed(
            item.status === "pending" ? { ...item, status: "invoiced" as const, invoiceId } : item,
          ),
        )
        if (Option.isSome(held) && held.value.invoiceId === invoiceId) taken.push(held.value)
      }
      if (hasOthers || taken.some(({ amount }) => amount > 0n)) return taken
      // Another invoice took the charges meanwhile.
      for (const { id } of taken) yield* this.#items.modify(id, (item) => Effect.succeed(waiting(item)))
      return []
    })
  }

  /**
   * A draft that is issued takes what invoices before it left of credits, too, if it was there already when they were issued:
   * on time they are issued before it is made. `of` is what it was made with.
   */
  takeRests(of: ItemsOf, invoiceId: InvoiceId): Stored<void> {
    return Effect.gen({ self: this }, function* () {
      const rests = (yield* this.#pending(of)).filter(({ amount }) => amount < 0n)
      for (const { id } of rests) {
        yield* this.#items.modify(id, (item) =>
          Effect.succeed(item.status === "pending" ? { ...item, status: "invoiced", invoiceId } : item),
        )
      }
    })
  }

  /** The items of a draft that is removed are pending again. */
  release(invoiceId: InvoiceId): Stored<void> {
    return Effect.gen({ self: this }, function* () {
      for (const { id } of yield* this.#list({ invoiceId }))
        yield* this.#items.modify(id, (item) => Effect.succeed(waiting(item)))
    })
  }

  /**
   * The credits of an invoice that is void wait for any other one of the customer, as items of their own. Its charges don't.
   * The subscription may have ended, so they are not its own any more.
   */
  giveBack(invoiceId: InvoiceId): Stored<void> {
    return Effect.gen({ self: this }, function* () {
      for (const { amount, id } of yield* this.#list({ invoiceId })) {
        if (amount >= 0n) continue
        const held = yield* this.#items.modify(id, Effect.succeed)
        if (Option.isSome(held)) yield* this.#insert({ ...waiting(held.value), subscriptionId: null })
      }
    })
  }

  /**
   * The items of a subscription that has ended are its customer's: those that wait for it, and those on its drafts, of which
   * something may be left.
   */
  unbind(
    { currency, customerId, subscriptionId }: ItemsOfSubscription,
    drafts: ReadonlyArray<InvoiceId>,
  ): Stored<void> {
    return Effect.gen({ self: this }, function* () {
      const pending = { customerId, currency, status: "pending" } as const
      const items = [...(yield* this.#list(pending, MAX_PAGES_OF_ENDED))]
      for (const invoiceId of drafts) items.push(...(yield* this.#list({ invoiceId })))
      for (const item of items) {
        if (item.subscriptionId !== subscriptionId) continue
        yield* this.#items.modify(item.id, (held) => Effect.succeed({ ...held, subscriptionId: null }))
      }
    })
  }

  /** The items that a draft has, oldest first. */
  of(invoiceId: InvoiceId): Stored<ReadonlyArray<InvoiceItem>> {
    return this.#list({ invoiceId })
  }

  /**
   * Settles the items of a draft that is issued with these lines: what a credit has left becomes a pending item, and one
   * that took nothing is pending again.
   */
  settle(items: ReadonlyArray<InvoiceItem>, lines: ReadonlyArray<LineInput>): Stored<void> {
    const amounts = new Map<string, bigint>()
    for (const { amount, id, kind } of lines) if (kind === "item") amounts.set(id, amount)
    return Effect.forEach(items, (item) => this.#settleOne(item, amounts.get(item.id) ?? 0n), {
      discard: true,
    })
  }

  /** The other fields may have changed since the item was read: its customer may have been erased. */
  #settleOne({ amount: whole, id }: InvoiceItem, amount: bigint): Stored<void> {
    if (amount === whole) return Effect.void
    return Effect.gen({ self: this }, function* () {
      const held = yield* this.#items.modify(id, (item) =>
        Effect.succeed(amount === 0n ? waiting(item) : { ...item, amount }),
      )
      if (amount === 0n || Option.isNone(held)) return
      yield* this.#insert({ ...waiting(held.value), amount: whole - amount })
    })
  }

  #insert(item: InvoiceItem): Stored<void> {
    return Effect.flatMap(this.#ids.next(INVOICE_ITEM_ID_PREFIX), (id) =>
      this.#items.insert({ ...item, id: InvoiceItemId.make(id) }),
    )
  }

  #pending({
    createdBy,
    currency,
    customerId,
    subscriptionIds,
  }: ItemsOf): Stored<ReadonlyArray<InvoiceItem>> {
    const all = this.#list({ customerId, currency, status: "pending" })
    return Effect.map(all, (items) =>
      items
        .filter((item) => item.subscriptionId === null || subscriptionIds.includes(item.subscriptionId))
        .filter(({ createdAt }) => createdAt.epochMilliseconds <= createdBy),
    ).pipe(Effect.map(firstOf))
  }

  /** Oldest first. What is left of a credit has its age, and another id. */
  #list(
    filter: Parameters<CollectionOf<typeof invoiceItems>["list"]>[0],
    most = MAX_PAGES,
  ): Stored<ReadonlyArray<InvoiceItem>> {
    return Effect.gen({ self: this }, function* () {
      const found: Array<InvoiceItem> = []
      for (let pages = 0; pages < most; pages++) {
        const last = found.at(-1)
        const cursor = last === undefined ? undefined : { direction: "older" as const, id: last.id }
        const page = yield* this.#items
          .list(filter, { limit: MAX_ITEMS_PER_INVOICE, cursor })
          .pipe(Effect.catchTag("CursorNotFound", Effect.die))
        found.push(...page.data)
        if (!page.hasMore) break
      }
      return found.toSorted((a, b) => DateTime.Order(a.createdAt, b.createdAt) || (a.id < b.id ? -1 : 1))
    })
  }
}
