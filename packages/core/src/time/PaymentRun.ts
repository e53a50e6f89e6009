/**
 * What a runner does on a payment that is due. When it is not attempted any more by itself, what the host has set happens
 * to its invoice or to its subscriptions (`whenExhausted`), once. All else is the work of `Collector`.
 */
import { type Command, isRejected } from "@billwright/engine"
import { DateTime, Effect, Option, Struct } from "effect"
import { InvoiceSettings } from "../invoices/InvoiceSettings.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import type { SubscriptionId } from "../invoices/SubscriptionId.ts"
import { makeCollector } from "../payments/Collector.ts"
import type { PaymentId, StoredPayment } from "../payments/Payment.ts"
import { isWanted } from "../payments/PaymentBook.ts"
import { PaymentStore } from "../payments/PaymentStore.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { subscriptionsOf } from "../subscriptions/DraftOrder.ts"
import type { StoredSubscription } from "../subscriptions/Subscription.ts"
import { commandSteps } from "../subscriptions/SubscriptionGroups.ts"
import { bookOf } from "../subscriptions/Subscriptions.ts"

/** What happens to subscriptions. What was charged in advance is owed: nothing of it is credited. */
const COMMANDS: Readonly<Record<"pause" | "cancel", Command>> = {
  pause: { type: "pause", credit: "none" },
  cancel: { type: "cancel", at: "now", credit: "none" },
}

/** Whether the payment has ended, and what follows is still to be done. */
const isOver = ({ collection, status }: StoredPayment): boolean =>
  status === "open" && collection?.state === "exhausted" && collection.isEnding === true

type Failure = InvalidInput | InvoicingUnsupported | StorageError
type Holds = Effect.Effect<boolean, StorageError, CurrentTenant>
/** Makes a transaction of what comes before a call of the provider. */
type Atomically<E> = <A>(
  work: Effect.Effect<A, Failure, CurrentTenant>,
) => Effect.Effect<unknown, E, CurrentTenant>

/** Makes the work on a payment. `holds` and `atomically` are those of `Collector`. */
export const makePaymentRun = Effect.gen(function* () {
  const { whenExhausted } = yield* InvoiceSettings
  const collector = yield* makeCollector
  const paymentPort = yield* optionalPort(PaymentStore)
  const makeBook = yield* bookOf

  /** Applies a command to a subscription of a group. One that does not allow it any more stays as it is. */
  const commanded = Effect.fnUntraced(function* (
    group: ReadonlyArray<StoredSubscription>,
    id: SubscriptionId,
    command: Command,
  ) {
    const asked = group.find((one) => one.id === id)
    if (asked === undefined) return group
    const { epochMilliseconds: now } = yield* DateTime.now
    const steps = commandSteps(group, asked, command, now)
    if (isRejected(steps)) return group
    return (yield* (yield* makeBook).book.update(steps)).stored
  })

  /** Does what follows the end of a payment. Subscriptions are held before the invoice, as by everybody. */
  const end = Effect.fnUntraced(function* (
    id: PaymentId,
    holds: Holds,
  ): Effect.fn.Return<boolean, Failure, CurrentTenant> {
    const payments = yield* paymentPort
    const { invoiceBook, invoices, store } = yield* makeBook
    const known = Option.getOrUndefined(yield* payments.find(id))
    const found = known && Option.getOrUndefined(yield* invoices.find(known.invoiceId))
    if (found === undefined) return false
    const ids = subscriptionsOf(found)
    let group = ids[0] === undefined ? [] : yield* store.lockGroup(ids[0])
    const invoice = Option.getOrUndefined(yield* invoices.lock(found.id))
    if (invoice === undefined || !(yield* holds)) return true
    const payment = Option.getOrUndefined(yield* payments.find(id))
    if (payment === undefined || !isOver(payment) || !isWanted(payment, invoice)) return false
    const collection = payment.collection && Struct.omit(payment.collection, ["isEnding"])
    yield* payments.save({ ...payment, collection, dueAt: null })
    if (whenExhausted === "leave") return true
    if (whenExhausted === "uncollectible") {
      yield* invoiceBook
        .apply(invoice, { action: "mark_uncollectible" })
        .pipe(Effect.catchTag("ActionUnavailable", Effect.die))
      return true
    }
    for (const one of ids) group = yield* commanded(group, one, COMMANDS[whenExhausted])
    return true
  })

  const visit = <E = Failure>(id: PaymentId, holds: Holds, atomically: Atomically<E>) =>
    Effect.gen(function* () {
      const known = Option.getOrUndefined(yield* (yield* paymentPort).find(id))
      if (known !== undefined && isOver(known)) {
        let isDone = false
        yield* atomically(Effect.tap(end(id, holds), (done) => Effect.sync(() => (isDone = done))))
        if (isDone) return
      }
      yield* collector.visit(id, holds, atomically)
    })

  return { visit }
})
