/**
 * The use cases of spend alerts. A runner checks them after usage (`SpendRun`).
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { type CustomerId, CustomerNotFound, customers } from "../customers/Customer.ts"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { checkCurrency } from "../invoices/InvoiceItem.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import * as Resource from "../shared/Resource.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import {
  CreateSpendAlert,
  ListSpendAlerts,
  MAX_SPEND_ALERTS,
  type SpendAlert,
  SPEND_ALERT_ID_PREFIX,
  SpendAlertId,
  SpendAlertNotFound,
  spendAlerts,
  TooManySpendAlerts,
  UpdateSpendAlert,
} from "./SpendAlert.ts"
import { blockingIn } from "./SpendBlocks.ts"
import { SpendMarks } from "./SpendMarks.ts"
import { SubscriptionNotFound } from "./Subscription.ts"
import { SubscriptionStore } from "./SubscriptionStore.ts"

const decodeCreate = decoder(CreateSpendAlert)
const decodeUpdate = decoder(UpdateSpendAlert)
const decodeList = decoder(ListSpendAlerts)
const { knownId, orNotFound } = ById.of(spendAlerts)

type Failure = InvoicingUnsupported | StorageError

/** Creates, reads, changes, lists and deletes the spend alerts of the current tenant. */
export class SpendAlerts extends Context.Service<
  SpendAlerts,
  {
    /**
     * Creates an alert. The customer must not be erased, and the subscription must be the customer's, in the currency of the
     * alert. A customer can have `MAX_SPEND_ALERTS` alerts. It is checked at once: it fires if its amount is reached.
     */
    readonly create: (
      input: CreateSpendAlert,
    ) => Effect.Effect<
      SpendAlert,
      InvalidInput | CustomerNotFound | SubscriptionNotFound | TooManySpendAlerts | Failure,
      CurrentTenant
    >

    readonly get: (id: string) => Effect.Effect<SpendAlert, SpendAlertNotFound | StorageError, CurrentTenant>

    /**
     * Changes the amount or the action. It blocks no more until it is checked, which is at once. It does not fire again for
     * an amount of the period at which it has fired, nor for a smaller one.
     */
    readonly update: (
      id: string,
      input: UpdateSpendAlert,
    ) => Effect.Effect<SpendAlert, InvalidInput | SpendAlertNotFound | Failure, CurrentTenant>

    /** Deletes an alert, so that it does not fire again and blocks no more. Its events stay. */
    readonly delete: (id: string) => Effect.Effect<void, SpendAlertNotFound | StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListSpendAlerts,
    ) => Effect.Effect<Page<SpendAlert>, InvalidInput | StorageError, CurrentTenant>

    /** The alerts that block a customer now, newest first. */
    readonly blocking: (
      customerId: CustomerId,
    ) => Effect.Effect<ReadonlyArray<SpendAlert>, StorageError, CurrentTenant>
  }
>()("@billwright/core/subscriptions/SpendAlerts") {
  static readonly layer = Layer.effect(
    SpendAlerts,
    Effect.gen(function* () {
      const collections = yield* Collections
      const store = collections.of(spendAlerts)
      const owners = collections.of(customers)
      const subscriptions = yield* optionalPort(SubscriptionStore)
      const marks = yield* optionalPort(SpendMarks)
      const transactor = yield* Transactor
      const ids = yield* IdGenerator
      const time = new CustomerTime(collections)
      const blockingNow = blockingIn(collections)

      const ofCustomer = (customerId: CustomerId) =>
        store
          .list({ customerId }, { limit: MAX_SPEND_ALERTS, cursor: undefined })
          .pipe(Effect.catchTag("CursorNotFound", Effect.die))

      const mark = (customerId: CustomerId) => Effect.flatMap(marks, (all) => all.mark(customerId))

      const check = Effect.fnUntraced(function* (input: CreateSpendAlert) {
        const { currency, customerId, subscriptionId = null } = input
        yield* checkCurrency(currency)
        // It is held, so that it is not erased before the alert is there.
        if (Option.isNone(yield* owners.modify(customerId, Effect.succeed))) {
          return yield* new CustomerNotFound({ id: customerId, field: "customerId" })
        }
        yield* checkAction(input.action, subscriptionId)
        if (subscriptionId === null) return
        const found = yield* (yield* subscriptions).find(subscriptionId)
        if (Option.isNone(found) || found.value.customerId !== customerId) {
          return yield* new SubscriptionNotFound({ id: subscriptionId, field: "subscriptionId" })
        }
        if (found.value.state.currency === currency) return
        const problem = `must be the currency of the subscription: ${found.value.state.currency}`
        return yield* new InvalidInput({ field: "currency", problem })
      })

      const create = Effect.fn("SpendAlerts.create")(function* (input: CreateSpendAlert) {
        const decoded = yield* decodeCreate(input)
        const { customerId } = decoded
        yield* marks
        const insert = Effect.gen(function* () {
          yield* check(decoded)
          const now = yield* time.within(customerId, DateTime.now)
          const alert: SpendAlert = {
            id: SpendAlertId.make(yield* ids.next(SPEND_ALERT_ID_PREFIX)),
            subscriptionId: null,
            repeat: "once",
            action: "notify",
            ...decoded,
            firedAmount: 0n,
            ...Resource.unset(spendAlerts),
            createdAt: now,
            updatedAt: now,
          }
          yield* store.insert(alert)
          // The insertion makes other insertions for this customer wait, so the limit can't be exceeded meanwhile.
          if ((yield* ofCustomer(customerId)).hasMore) return yield* new TooManySpendAlerts()
          yield* mark(customerId)
          return alert
        })
        return yield* transactor.atomically(insert)
      })

      const get = Effect.fn("SpendAlerts.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      const update = Effect.fn("SpendAlerts.update")(function* (id: string, input: UpdateSpendAlert) {
        const change = yield* decodeUpdate(input)
        const { customerId, subscriptionId } = yield* get(id)
        yield* checkAction(change.action, subscriptionId)
        const now = yield* time.within(customerId, DateTime.now)
        const changed = store.modify(yield* knownId(id), (alert) =>
          Effect.succeed(
            isChange(alert, change) ? { ...alert, ...change, blockedUntil: null, updatedAt: now } : alert,
          ),
        )
        return yield* transactor.atomically(
          Effect.flatMap(changed, (found) => orNotFound(found, id)).pipe(Effect.tap(() => mark(customerId))),
        )
      })

      const remove = Effect.fn("SpendAlerts.delete")(function* (id: string) {
        if (!(yield* store.remove(yield* knownId(id)))) return yield* new SpendAlertNotFound({ id })
      })

      const list = Effect.fn("SpendAlerts.list")(function* (query: ListSpendAlerts = {}) {
        const request = yield* decodeList(query)
        const page = yield* toQuery(request)
        return yield* store.list(filterOf(request), page).pipe(nameCursor(request))
      })

      const blocking = Effect.fn("SpendAlerts.blocking")(function* (customerId: CustomerId) {
        return yield* time.within(customerId, blockingNow(customerId))
      })

      return SpendAlerts.of({ create, get, update, delete: remove, list, blocking })
    }),
  )
}

/** What is billed is the usage of a subscription. */
const checkAction = (action: SpendAlert["action"] | undefined, subscriptionId: string | null) =>
  action === "invoice" && subscriptionId === null
    ? Effect.fail(
        new InvalidInput({ field: "action", problem: "must not be invoice without a subscription" }),
      )
    : Effect.void

const isChange = (alert: SpendAlert, { action, amount }: UpdateSpendAlert): boolean =>
  (action !== undefined && action !== alert.action) || (amount !== undefined && amount !== alert.amount)
