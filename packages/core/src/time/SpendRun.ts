/**
 * What a runner does on spend alerts: it rates the usage of marked customers, and fires alerts whose amount is reached.
 *
 * The marks of a customer are removed by the transaction that fires. So a process may die anywhere: either its firings are
 * there with their events, or the marks are.
 */
import { Cause, DateTime, Effect, Exit, Metric } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { Outbox } from "../events/Outbox.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { Collections } from "../shared/Collections.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { invoiceSoFar } from "../subscriptions/Reconciliation.ts"
import {
  fired,
  MAX_SPEND_ALERTS,
  type SpendAlert,
  spendAlerts,
  type SpendFiring,
} from "../subscriptions/SpendAlert.ts"
import { spendAlert, spendAlertData } from "../subscriptions/SpendEvents.ts"
import { Spending } from "../subscriptions/Spending.ts"
import { type MarkedCustomer, SpendMarks } from "../subscriptions/SpendMarks.ts"
import { bookOf } from "../subscriptions/Subscriptions.ts"
import { retryAfter } from "./RunFailure.ts"

/** Most customers of one look at the marks. */
const CUSTOMERS_AT_ONCE = 100
/** How many customers are checked at the same time, each in a transaction of its own. */
const CHECKS_AT_ONCE = 4
/** How many failures of a customer in a row are logged one by one. After them it is every `LOGGED`th: each usage tries again. */
const LOGGED = 10

/** An alert that changes when it is checked, and the spends that it is checked with. */
interface DueAlert {
  readonly alert: SpendAlert
  readonly spends: Parameters<typeof fired>[1]
}

/** The subscription that an alert bills when it fires. */
const billedBy = ({ action, subscriptionId }: SpendAlert) => (action === "invoice" ? subscriptionId : null)

type Checked<A> = Effect.Effect<A, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant>

/** Makes the check of all marked customers of all tenants. It gives how many it has checked. */
export const makeSpendRun = Effect.gen(function* () {
  const markPort = yield* optionalPort(SpendMarks)
  const makeBook = yield* bookOf
  const collections = yield* Collections
  const alerts = collections.of(spendAlerts)
  const time = new CustomerTime(collections)
  const outbox = yield* Outbox
  const { atomically } = yield* Transactor

  /** Fires an alert if it has to, with the alert held: others may have fired or changed it meanwhile. */
  const fire = Effect.fnUntraced(function* ({ alert, spends }: DueAlert, now: DateTime.Utc) {
    const parts = yield* makeBook
    const billed = billedBy(alert)
    // Subscriptions are held first, as by everybody.
    const group = billed === null ? [] : yield* parts.store.lockGroup(billed)
    let firings: ReadonlyArray<SpendFiring> = []
    yield* alerts.modify(alert.id, (held) =>
      Effect.sync(() => {
        const after = fired(held, spends, now)
        firings = after.firings
        return after.alert
      }),
    )
    for (const firing of firings) {
      yield* outbox.publish(spendAlert, spendAlertData(firing), { customerId: firing.alert.customerId })
      yield* Metric.update(fires, 1)
    }
    const isOpen = firings.some(({ spend }) => spend.end > now.epochMilliseconds)
    if (billed !== null && isOpen && group.length > 0) yield* invoiceSoFar(parts, group, billed)
  })

  /** The alerts of a customer that change, newest first. */
  const dueOf = Effect.fnUntraced(function* (customerId: CustomerId, now: DateTime.Utc) {
    const { data } = yield* alerts
      .list({ customerId }, { limit: MAX_SPEND_ALERTS, cursor: undefined })
      .pipe(Effect.catchTag("CursorNotFound", Effect.die))
    const due: Array<DueAlert> = []
    if (data.length === 0) return due
    const spending = new Spending(yield* makeBook, now)
    for (const alert of data) {
      const { currency, subscriptionId } = alert
      const spends = yield* subscriptionId === null
        ? spending.ofCustomer(customerId, currency)
        : spending.ofSubscription(subscriptionId)
      if (fired(alert, spends, now).alert !== alert) due.push({ alert, spends })
    }
    return due
  })

  /**
   * Fires the alerts of a customer, but of those that bill only the first one, and that before the others: who holds the
   * subscriptions of two invoice groups, one after the other, may wait in a circle with a billing run. Gives whether there are
   * more that bill. Then the customer is marked again.
   */
  const checkAlerts = (customerId: CustomerId): Checked<boolean> =>
    Effect.gen(function* () {
      const now = yield* DateTime.now
      const due = yield* dueOf(customerId, now)
      const billing = due.filter(({ alert }) => billedBy(alert) !== null)
      const others = due.filter(({ alert }) => billedBy(alert) === null)
      for (const one of [...billing.slice(0, 1), ...others]) yield* fire(one, now)
      if (billing.length <= 1) return false
      yield* Effect.flatMap(markPort, (marks) => marks.mark(customerId))
      return true
    })

  const checkOnce = (customerId: CustomerId): Checked<boolean> =>
    atomically(
      Effect.flatMap(
        Effect.flatMap(markPort, (marks) => marks.take(customerId)),
        (isMarked) => (isMarked ? time.within(customerId, checkAlerts(customerId)) : Effect.succeed(false)),
      ),
    )

  /** Checks a customer, in a transaction for each alert that bills. */
  const check = ({ customerId }: MarkedCustomer): Checked<unknown> =>
    Effect.repeat(checkOnce(customerId), { while: (hasMore) => hasMore })

  /** Checks a customer. One that fails is tried again until it works, and others go on. */
  const checkOne = (marked: MarkedCustomer) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(check(marked))
      if (Exit.isSuccess(exit)) return
      if (Cause.hasInterrupts(exit.cause)) return yield* Effect.interrupt
      const attempts = marked.attempts + 1
      const marks = yield* markPort
      yield* marks.putOff(marked, attempts, retryAfter(attempts, yield* DateTime.now))
      if (attempts > LOGGED && attempts % LOGGED !== 0) return
      const times = attempts === 1 ? "" : ` ${attempts} times in a row`
      yield* Effect.logError(
        `checking spend alerts failed${times}; it is tried again`,
        marked.customerId,
        exit.cause,
      )
    }).pipe(Effect.provideService(CurrentTenant, marked.tenant))

  return Effect.gen(function* () {
    const marks = yield* markPort
    let checked = 0
    for (;;) {
      const waiting = yield* marks.waiting(yield* DateTime.now, CUSTOMERS_AT_ONCE)
      yield* Effect.forEach(waiting, checkOne, { concurrency: CHECKS_AT_ONCE, discard: true })
      checked += waiting.length
      if (waiting.length < CUSTOMERS_AT_ONCE) return checked
    }
  })
})

const fires = Metric.counter("billwright_spend_alerts", {
  description: "Spend alerts that fired.",
  incremental: true,
})
