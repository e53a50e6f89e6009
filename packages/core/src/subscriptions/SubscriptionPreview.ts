/**
 * Previews: what a command would do, and what it would cost.
 *
 * A preview runs the command itself, in a transaction that is undone. So it has the very amounts that the command would
 * have at this instant.
 */
import { isRejected, nextDue } from "@billwright/engine"
import { Effect, Schema } from "effect"
import type { CustomerTime } from "../customers/CustomerTime.ts"
import { type Invoice, toInvoice } from "../invoices/Invoice.ts"
import type { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { SubscriptionId } from "../invoices/SubscriptionId.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { Transactor } from "../shared/Transactor.ts"
import {
  CancelSubscription,
  ChangeSubscription,
  CreateSubscription,
  PauseSubscription,
  ResumeSubscription,
  type Subscription,
} from "./Subscription.ts"
import type { SubscriptionBook } from "./SubscriptionBook.ts"
import { dueSteps, MAX_INSTANTS_OF_COMMAND } from "./SubscriptionGroups.ts"
import type { SubscriptionStore } from "./SubscriptionStore.ts"

/** Most due instants after a command among which the next invoice is looked for. */
const MAX_INSTANTS_AHEAD = 24

const commandOf = <const Action extends string, Fields extends Schema.Struct.Fields>(
  action: Action,
  fields: Fields,
) => Schema.Struct({ action: Schema.Literal(action), subscriptionId: SubscriptionId, ...fields })

/** The input of `Subscriptions.preview`: an action, and the input that it takes. */
export const PreviewSubscription = Schema.Union([
  Schema.Struct({ action: Schema.Literal("create"), ...CreateSubscription.fields }),
  commandOf("change", ChangeSubscription.fields),
  commandOf("cancel", CancelSubscription.fields),
  commandOf("uncancel", {}),
  commandOf("pause", PauseSubscription.fields),
  commandOf("resume", ResumeSubscription.fields),
])
export type PreviewSubscription = typeof PreviewSubscription.Type

/** What a command would do. Nothing of it is stored: new ids in it are of nothing. */
export interface SubscriptionPreview {
  /** The subscription after the command. */
  readonly subscription: Subscription
  /** The drafts that the command would make, oldest first. */
  readonly invoices: ReadonlyArray<Invoice>
  /**
   * The invoice after these, with the usage that is recorded by now: that of the next period, or of the end. `null` if
   * nothing would be invoiced any more, as while the subscription is paused. In an invoice group it may be one of several
   * subscriptions.
   */
  readonly nextInvoice: Invoice | null
}

/** Carries the result of a transaction that has to be undone. */
class Undone<A> {
  readonly result: A

  constructor(result: A) {
    this.result = result
  }
}

/** Runs an effect as a transaction, and undoes all that it wrote. */
const undone = <A, E, R>(
  { atomically }: Transactor["Service"],
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageError, R> =>
  atomically(Effect.flatMap(effect, (result) => Effect.fail(new Undone(result)))).pipe(
    Effect.catchIf(
      (error): error is Undone<A> => error instanceof Undone,
      ({ result }) => Effect.succeed(result),
    ),
  )

interface Parts {
  readonly time: CustomerTime
  readonly transactor: Transactor["Service"]
  readonly store: SubscriptionStore["Service"]
  readonly invoices: InvoiceStore["Service"]
  readonly book: SubscriptionBook
}

type Read<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>

/** The drafts of a subscription that were not there before. */
const draftsSince = ({ invoices }: Parts, id: SubscriptionId, before: ReadonlySet<string>) =>
  Effect.map(invoices.lockDrafts([id]), (drafts) =>
    drafts.filter((draft) => !before.has(draft.id)).map(toInvoice),
  )

/**
 * Does what is due in the future on a subscription and its group, until that makes an invoice of the subscription.
 * `before` are the drafts that it has.
 */
const nextInvoice = (
  parts: Parts,
  { customerId, id }: Pick<Subscription, "customerId" | "id">,
  before: ReadonlySet<string>,
): Read<Invoice | null> => {
  const next = Effect.gen(function* () {
    let group = yield* parts.store.lockGroup(id)
    for (let instants = 0; instants < MAX_INSTANTS_AHEAD; instants++) {
      const own = group.find((one) => one.id === id)
      const due = own === undefined ? null : nextDue(own.state)
      if (due === null) return null
      const steps = dueSteps(group, due.at, MAX_INSTANTS_OF_COMMAND)
      if (isRejected(steps)) return null
      group = (yield* parts.book.update(steps)).stored
      const [made] = yield* draftsSince(parts, id, before)
      if (made !== undefined) return made
    }
    return null
  })
  return parts.time.within(customerId, next)
}

/** Holds a subscription, and gives the ids of its drafts. */
const draftIdsOf = ({ invoices, store }: Parts, id: SubscriptionId): Read<Set<string>> =>
  Effect.andThen(
    store.lockGroup(id),
    Effect.map(invoices.lockDrafts([id]), (drafts) => new Set(drafts.map((one) => one.id))),
  )

/** The preview of a command. `id` is that of the subscription, unless the command creates it. */
export const previewOf = <E, R>(
  parts: Parts,
  id: SubscriptionId | undefined,
  command: Effect.Effect<Subscription, E, R>,
): Effect.Effect<SubscriptionPreview, E | InvalidInput | StorageError, R | CurrentTenant> => {
  const all = Effect.gen(function* () {
    const known = id === undefined ? new Set<string>() : yield* draftIdsOf(parts, id)
    const subscription = yield* command
    const made = yield* draftsSince(parts, subscription.id, known)
    for (const draft of made) known.add(draft.id)
    return { subscription, invoices: made, nextInvoice: yield* nextInvoice(parts, subscription, known) }
  })
  return undone(parts.transactor, all)
}

/** The invoice that a subscription gets after those that it has. `null` if it gets none. */
export const upcomingOf = (
  parts: Parts,
  subscription: Pick<Subscription, "customerId" | "id">,
): Read<Invoice | null> =>
  undone(
    parts.transactor,
    Effect.flatMap(draftIdsOf(parts, subscription.id), (known) => nextInvoice(parts, subscription, known)),
  )
