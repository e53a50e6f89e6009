/**
 * Reconciles a subscription on demand: bills the difference between what its periods cost by now and what its invoices
 * say, without waiting for its next invoice, and further back than that one looks.
 */
import { isRejected, type Period } from "@billwright/engine"
import { DateTime, Effect } from "effect"
import type { StoredInvoice } from "../invoices/Invoice.ts"
import type { InvoiceStore } from "../invoices/InvoiceStore.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { StoredSubscription } from "./Subscription.ts"
import { heldOf, type SubscriptionBilling } from "./SubscriptionBilling.ts"
import type { SubscriptionBook } from "./SubscriptionBook.ts"
import { dueSteps, MAX_INSTANTS_OF_COMMAND } from "./SubscriptionGroups.ts"

/** Most periods before the last one that are rated again. */
const MAX_RECONCILED_PERIODS = 1_200
/**
 * The machine numbers the invoices of a period by its segments. Those of reconciliations are numbered from here on, so
 * that neither takes the number of the other.
 */
const FIRST_SEGMENT = 1_000_000
/** How many invoices of a subscription are read at once for the next of these numbers. */
const INVOICES_AT_ONCE = 100

interface Parts {
  readonly billing: SubscriptionBilling
  readonly book: SubscriptionBook
  readonly invoices: InvoiceStore["Service"]
}

type Written<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>

/** The open period, or else the one that closed last. */
const lastPeriodOf = ({ state: { closed, period } }: StoredSubscription): Period | undefined =>
  period ?? closed?.period

/**
 * The number of the next reconciliation in a period. Invoices are read from the newest on, back to the last reconciliation
 * or to the invoices of earlier periods: those of changes may be between, any number of them.
 */
const nextSegment = (
  invoices: InvoiceStore["Service"],
  { id }: StoredSubscription,
  { number }: Period,
): Written<number> =>
  Effect.gen(function* () {
    let cursor: PageQuery["cursor"]
    for (;;) {
      const { data, hasMore } = yield* invoices
        .list({ subscriptionId: id }, { limit: INVOICES_AT_ONCE, cursor })
        .pipe(Effect.catchTag("CursorNotFound", Effect.die))
      const own = data.flatMap(({ causes }) => causes).filter(({ subscriptionId }) => subscriptionId === id)
      const taken = own
        .filter(({ effect: { period, segment } }) => period.number === number && segment >= FIRST_SEGMENT)
        .map(({ effect }) => effect.segment)
      if (taken.length > 0) return Math.max(...taken) + 1
      const isBefore = own.some(({ effect }) => effect.period.number < number)
      const last = data.at(-1)
      if (isBefore || !hasMore || last === undefined) return FIRST_SEGMENT
      cursor = { direction: "older", id: last.id }
    }
  })

/** What an invoice between those of the machine bills. */
interface Between {
  /** How many periods before the last one are rated again. `undefined`: as many as for other invoices. */
  readonly reviewed?: number
  /** The usage of the open period, as far as it is known. Without an open period there is no invoice. */
  readonly soFar?: true
}

/**
 * Makes a draft of the differences of a subscription, which the current transaction holds with those of its group. What is
 * due before it is done first. `undefined` if nothing differs.
 */
const invoiceNow = (
  { billing, book, invoices }: Parts,
  group: ReadonlyArray<StoredSubscription>,
  id: StoredSubscription["id"],
  { reviewed, soFar }: Between,
): Written<StoredInvoice | undefined> =>
  Effect.gen(function* () {
    const { epochMilliseconds: now } = yield* DateTime.now
    const steps = dueSteps(group, now, MAX_INSTANTS_OF_COMMAND)
    if (isRejected(steps)) return yield* Effect.die(new TypeError(steps.problems[0].problem))
    const { stored: all } = yield* book.update(steps)
    const stored = all.find((one) => one.id === id)
    const last = stored === undefined ? undefined : lastPeriodOf(stored)
    const period = soFar === true ? (stored?.state.period ?? undefined) : last
    if (stored === undefined || period === undefined) return undefined
    const before = new Set((yield* invoices.lockDrafts([id])).map((draft) => draft.id))
    const segment = yield* nextSegment(invoices, stored, period)
    const kept = soFar === undefined ? {} : { soFar }
    const effect = { kind: "invoice", at: now, period, segment, ...kept } as const
    yield* billing.invoice(heldOf(all), [{ subscriptionId: id, effect }], {
      ...(reviewed === undefined ? {} : { from: period.number - reviewed }),
      takesItems: false,
    })
    return (yield* invoices.lockDrafts([id])).find((draft) => !before.has(draft.id))
  })

/** Bills all differences of a subscription: see `invoiceNow`. */
export const reconcile = (
  parts: Parts,
  group: ReadonlyArray<StoredSubscription>,
  id: StoredSubscription["id"],
) => invoiceNow(parts, group, id, { reviewed: MAX_RECONCILED_PERIODS })

/**
 * Bills the usage of the open period of a subscription so far: see `invoiceNow`. Later invoices of the period bill the
 * difference to what it costs by then, as they do with late usage.
 */
export const invoiceSoFar = (
  parts: Parts,
  group: ReadonlyArray<StoredSubscription>,
  id: StoredSubscription["id"],
) => invoiceNow(parts, group, id, { soFar: true })
