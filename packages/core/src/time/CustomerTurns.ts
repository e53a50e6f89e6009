/**
 * The order in which what is due of one customer is billed.
 *
 * What one invoice leaves, the next one has: items of a customer (`InvoiceItem`) and what is left of a credit, and credits
 * in money, which an invoice below 0 gives and others use. So everything of a customer and currency is billed in the order
 * in which it is due, whoever comes first: by its instant, then invoices before subscriptions, then by subscription.
 * Something that has failed is waited for until it is set aside.
 */
import { Effect, Option } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { StoredInvoice } from "../invoices/Invoice.ts"
import { optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { compareDrafts, subscriptionsOf } from "../subscriptions/DraftOrder.ts"
import type { StoredSubscription } from "../subscriptions/Subscription.ts"
import { nextDueOf } from "../subscriptions/SubscriptionGroups.ts"
import { bookOf } from "../subscriptions/Subscriptions.ts"
import { type CustomerDue, DueStore, MAX_SUBJECTS_OF_CUSTOMER } from "./DueStore.ts"

/** The place of something in the order. */
interface Place {
  readonly at: number
  readonly id: string
  /** `undefined`: it is a subscription. */
  readonly invoice: StoredInvoice | undefined
}

/** Ids of invoices are in their order only if the clocks of those who made them agree. So they come last. */
const compare = (a: Place, b: Place): number =>
  a.at - b.at ||
  Number(a.invoice === undefined) - Number(b.invoice === undefined) ||
  (a.invoice !== undefined && b.invoice !== undefined ? compareDrafts(a.invoice, b.invoice) : 0) ||
  (a.id < b.id ? -1 : 1)

/** Whose turn it is. */
interface Turn {
  /** What has to be billed first. */
  readonly before: CustomerDue | undefined
  /** When something else of the customer is due first, in epoch milliseconds. */
  readonly next: number
}

const FREE: Turn = { before: undefined, next: Number.POSITIVE_INFINITY }

/** Whose items an invoice has. */
interface Owner {
  readonly customerId: CustomerId
  readonly currency: string
  /** The subscriptions that are billed together. What else is due of them does not count: it is done with them. */
  readonly own: ReadonlySet<string>
}

/** Gives the turns of what the current transaction holds. */
export const make = Effect.gen(function* () {
  const duePort = yield* optionalPort(DueStore)
  const makeBook = yield* bookOf

  /** The place of a subject of the same currency, which is not billed together with the owner's. */
  const placeOf = Effect.fnUntraced(function* ({ dueAt: at, subject }: CustomerDue, owner: Owner) {
    const { invoices, store } = yield* makeBook
    const { id } = subject
    if (subject.kind === "subscription") {
      const found = Option.getOrUndefined(yield* store.find(subject.id))
      return found?.state.currency === owner.currency ? { at, id, invoice: undefined } : undefined
    }
    const invoice = Option.getOrUndefined(yield* invoices.find(subject.id))
    // One that is issued waits for its due date only.
    if (invoice?.state.currency !== owner.currency || invoice.state.status !== "draft") return undefined
    return subscriptionsOf(invoice).some((one) => owner.own.has(one)) ? undefined : { at, id, invoice }
  })

  const turnOf = Effect.fnUntraced(function* (owner: Owner, mine: Place, until: number) {
    const due = yield* duePort
    const all = yield* due.ofCustomer(owner.customerId, until)
    const others = all.filter(({ subject: { id } }) => id !== mine.id && !owner.own.has(id))
    // Those that are due after the last one that was read are not known.
    const unread = all.length < MAX_SUBJECTS_OF_CUSTOMER ? FREE.next : all.at(-1)!.dueAt
    if (others.length === 0) return { ...FREE, next: unread }
    let first: { readonly subject: CustomerDue; readonly place: Place } | undefined
    for (const subject of others) {
      // They are in the order of `compare`, but for drafts that are due at the same instant.
      if (first !== undefined && (subject.subject.kind === "subscription" || subject.dueAt > first.place.at))
        break
      const place = yield* placeOf(subject, owner)
      if (place === undefined) continue
      if (first === undefined || compare(place, first.place) < 0) first = { subject, place }
    }
    // What is not known may have to be billed before this. It is known once others of other currencies are billed.
    if (first === undefined) return { before: unread <= mine.at ? others[0] : undefined, next: unread }
    const before = compare(first.place, mine) < 0 ? first.subject : undefined
    return { before, next: Math.min(first.place.at, unread) } satisfies Turn
  })

  /** The turn of what is due first of subscriptions that are billed together. */
  const ofGroup = (group: ReadonlyArray<StoredSubscription>, until: number) => {
    const at = nextDueOf(group)
    const [first] = group.filter((one) => nextDueOf([one]) === at)
    if (at === null || at > until || first === undefined) return Effect.succeed(FREE)
    const { customerId, state } = first
    const own = new Set<string>(group.map(({ id }) => id))
    return turnOf(
      { customerId, currency: state.currency, own },
      { at, id: first.id, invoice: undefined },
      until,
    )
  }

  /** The turn of a draft. */
  const ofDraft = (draft: StoredInvoice, group: ReadonlyArray<StoredSubscription>, until: number) => {
    const { customerId, dueAt, id, state } = draft
    const own = new Set<string>(group.map((one) => one.id))
    const place = { at: dueAt ?? 0, id, invoice: draft }
    return turnOf({ customerId, currency: state.currency, own }, place, until)
  }

  return { ofDraft, ofGroup }
})
