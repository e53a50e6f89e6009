/**
 * The use cases of subscriptions.
 */
import { type Command, isKey, isRejected, type PlanVersion, step } from "@billwright/engine"
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { CreditSettings } from "../catalog/CreditSettings.ts"
import { PlanNotFound } from "../catalog/Plan.ts"
import { PlanStore } from "../catalog/PlanStore.ts"
import { type Customer, CustomerNotFound, customers } from "../customers/Customer.ts"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { Outbox } from "../events/Outbox.ts"
import { type CouponNotFound, coupons as couponDefinition } from "../invoices/Coupon.ts"
import { type Invoice, toInvoice } from "../invoices/Invoice.ts"
import { invoiceBooks } from "../invoices/InvoiceBook.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { SUBSCRIPTION_ID_PREFIX, SubscriptionId } from "../invoices/SubscriptionId.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { meters } from "../usage/Meter.ts"
import { UsageStore } from "../usage/UsageStore.ts"
import { ChargeUsage } from "./ChargeUsage.ts"
import { CouponBook } from "./CouponBook.ts"
import { makePlanGrants } from "./PlanGrants.ts"
import { reconcile as reconcileHeld } from "./Reconciliation.ts"
import { redemptions } from "./Redemption.ts"
import * as SpendMarks from "./SpendMarks.ts"
import {
  CancelSubscription,
  ChangeSubscription,
  CreateSubscription,
  ListSubscriptions,
  MAX_INVOICE_GROUP,
  PauseSubscription,
  type Phase,
  ResumeSubscription,
  type StoredSubscription,
  type Subscription,
  SubscriptionNotFound,
  toSubscription,
} from "./Subscription.ts"
import { SubscriptionBilling } from "./SubscriptionBilling.ts"
import { SubscriptionBook } from "./SubscriptionBook.ts"
import { commandSteps } from "./SubscriptionGroups.ts"
import { invalid, toCancel, toChange, toCreate, toPause, withCustomer } from "./SubscriptionInput.ts"
import { PreviewSubscription, previewOf, type SubscriptionPreview } from "./SubscriptionPreview.ts"
import { SubscriptionStore } from "./SubscriptionStore.ts"
import { VersionTerms } from "./VersionTerms.ts"

const decodeCreate = decoder(CreateSubscription)
const decodeChange = decoder(ChangeSubscription)
const decodeCancel = decoder(CancelSubscription)
const decodePause = decoder(PauseSubscription)
const decodeResume = decoder(ResumeSubscription)
const decodeList = decoder(ListSubscriptions)
const decodePreview = decoder(PreviewSubscription)
const LIVE_PHASES: ReadonlyArray<Phase> = ["scheduled", "trialing", "active", "paused"]
const { knownId, orNotFound } = ById.make(Schema.is(SubscriptionId), (id) => new SubscriptionNotFound({ id }))

type Failure = InvoicingUnsupported | StorageError
type CommandFailure = ActionUnavailable | InvalidInput | SubscriptionNotFound | Failure

type AnyFailure = CommandFailure | CouponNotFound | CustomerNotFound | PlanNotFound

/** The input of the action that is previewed. */
const withoutAction = <A extends { readonly action: string; readonly subscriptionId?: string }>(
  asked: A,
): Omit<A, "action" | "subscriptionId"> => {
  const { action: _, subscriptionId: __, ...fields } = asked
  return fields
}

/**
 * Creates, reads, lists and changes the subscriptions of the current tenant.
 *
 * `InvalidInput` has all problems of an input. `ActionUnavailable` says that a subscription does not allow a command as it
 * is. A command first does everything that is due before it. Invoices are made as drafts, and `BillingRuns` finalizes
 * them.
 */
export class Subscriptions extends Context.Service<
  Subscriptions,
  {
    readonly create: (
      input: CreateSubscription,
    ) => Effect.Effect<
      Subscription,
      InvalidInput | CouponNotFound | CustomerNotFound | PlanNotFound | Failure,
      CurrentTenant
    >

    readonly get: (id: string) => Effect.Effect<Subscription, SubscriptionNotFound | Failure, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListSubscriptions,
    ) => Effect.Effect<Page<Subscription>, InvalidInput | Failure, CurrentTenant>

    /** Moves to another plan or version, or changes quantities, or both. An empty change leaves the subscription as it is. */
    readonly change: (
      id: string,
      input: ChangeSubscription,
    ) => Effect.Effect<Subscription, PlanNotFound | CommandFailure, CurrentTenant>

    /** Ends the subscription: now, at the end of its period, or at an instant. */
    readonly cancel: (
      id: string,
      input: CancelSubscription,
    ) => Effect.Effect<Subscription, CommandFailure, CurrentTenant>

    /** Takes a cancellation back before it has taken effect. */
    readonly uncancel: (id: string) => Effect.Effect<Subscription, CommandFailure, CurrentTenant>

    /** Pauses the subscription now: nothing is charged until it resumes. */
    readonly pause: (
      id: string,
      input?: PauseSubscription,
    ) => Effect.Effect<Subscription, CommandFailure, CurrentTenant>

    /** Ends a pause now. */
    readonly resume: (
      id: string,
      input?: ResumeSubscription,
    ) => Effect.Effect<Subscription, CommandFailure, CurrentTenant>

    /**
     * What one of the other calls would do now: the subscription after it, what it would invoice, and the invoice after
     * that. Costs as much as the call. Nothing is stored, no number is taken, and no event is published. Fails as the call
     * does.
     */
    readonly preview: (
      input: PreviewSubscription,
    ) => Effect.Effect<SubscriptionPreview, AnyFailure, CurrentTenant>

    /**
     * Bills what usage that was recorded or voided late has changed, in a draft of its own, without waiting for the next
     * invoice: the difference between what its last 1,200 periods cost by now and what its invoices say. Invoices look back
     * 13 periods by themselves, and after the end of a subscription there is none. When the difference is in the
     * customer's favour, the total is below 0. What is due before it is done first. `null` if nothing
     * differs.
     */
    readonly reconcile: (
      id: string,
    ) => Effect.Effect<Invoice | null, InvalidInput | SubscriptionNotFound | Failure, CurrentTenant>
  }
>()("@billwright/core/subscriptions/Subscriptions") {
  static readonly layer = Layer.effect(
    Subscriptions,
    Effect.suspend(() => makeSubscriptions),
  )
}

/** Makes the service. */
export const makeSubscriptions = Effect.gen(function* () {
  const port = yield* optionalPort(SubscriptionStore)
  const invoicePort = yield* optionalPort(InvoiceStore)
  const makeBook = yield* bookOf
  const customerStore = (yield* Collections).of(customers)
  const time = new CustomerTime(yield* Collections)
  const plans = yield* PlanStore
  const transactor = yield* Transactor
  const ids = yield* IdGenerator

  /** Subscriptions as callers see them. */
  const shownAll = Effect.fnUntraced(function* (all: ReadonlyArray<StoredSubscription>) {
    const invoices = yield* invoicePort
    const since = yield* invoices.pastDueSince(all.map(({ id }) => id))
    return all.map((stored, place) => toSubscription(stored, since[place] ?? null))
  })
  const shown = (stored: StoredSubscription) => Effect.map(shownAll([stored]), ([one]) => one!)

  /** A version of a plan with its terms: the newest, or one by its number. */
  const planOf = Effect.fnUntraced(function* (key: string, version: number | undefined) {
    const [newest] = isKey(key) ? yield* plans.findAll([key]) : []
    if (newest === undefined) return yield* new PlanNotFound({ id: key, field: "plan" })
    if (version === undefined || version === newest.version) {
      return { key, version: newest.version, terms: newest.terms } satisfies PlanVersion
    }
    const found = yield* plans.findVersion(key, version)
    if (Option.isNone(found)) return yield* new PlanNotFound({ id: key, version, field: "version" })
    return { key, version, terms: found.value.terms } satisfies PlanVersion
  })

  /** Holds the customer, so that it is not erased meanwhile. */
  const holdCustomer = Effect.fnUntraced(function* (id: StoredSubscription["customerId"]) {
    const held = yield* customerStore.modify(id, Effect.succeed)
    if (Option.isNone(held)) return yield* new CustomerNotFound({ id, field: "customerId" })
    return held.value
  })

  /** Holds the subscriptions of a group that have not ended, so that another one can join them. */
  const holdGroup = Effect.fnUntraced(function* (
    store: SubscriptionStore["Service"],
    customerId: StoredSubscription["customerId"],
    invoiceGroup: string,
  ) {
    const held = new Set<SubscriptionId>()
    let members = 0
    for (const phase of LIVE_PHASES) {
      const page = { limit: MAX_INVOICE_GROUP, cursor: undefined }
      const { data } = yield* Effect.orDie(store.list({ customerId, invoiceGroup, phase }, page))
      members += data.length
      for (const { id } of data) {
        if (held.has(id)) continue
        for (const one of yield* store.lockGroup(id)) held.add(one.id)
      }
    }
    if (members < MAX_INVOICE_GROUP) return
    const problem = `has ${MAX_INVOICE_GROUP} subscriptions that have not ended, which is the most`
    return yield* invalid([{ path: "invoiceGroup", problem }])
  })

  const create = Effect.fn("Subscriptions.create")(function* (input: CreateSubscription) {
    const { book, coupons, store, usage } = yield* makeBook
    const fields = yield* decodeCreate(input)
    const { coupon, customerId, invoiceGroup = null, metadata = {}, version } = fields
    const begin = Effect.fnUntraced(function* (customer: Customer) {
      // Before the clock is read: what the group did until then is done.
      if (invoiceGroup !== null) yield* holdGroup(store, customerId, invoiceGroup)
      const now = yield* DateTime.now
      const plan = yield* planOf(fields.plan, version)
      yield* usage.check(customerId, plan.terms)
      const command = toCreate(withCustomer(fields, customer, plan), plan)
      const stepped = step(null, command, now.epochMilliseconds)
      if (isRejected(stepped)) return yield* invalid(stepped.problems)
      const id = SubscriptionId.make(yield* ids.next(SUBSCRIPTION_ID_PREFIX))
      const stored = { id, customerId, invoiceGroup, metadata, createdAt: now, updatedAt: now }
      if (coupon !== undefined) {
        // At the same instant, so that it lowers the first invoice.
        yield* coupons.redeem({ customerId, id, state: stepped.subscription }, coupon, now)
      }
      return yield* shown(yield* book.create(stored, stepped))
    })
    return yield* transactor.atomically(
      Effect.flatMap(holdCustomer(customerId), (customer) => time.within(customerId, begin(customer))),
    )
  })

  const get = Effect.fn("Subscriptions.get")(function* (id: string) {
    const store = yield* port
    return yield* shown(yield* orNotFound(yield* store.find(yield* knownId(id)), id))
  })

  const list = Effect.fn("Subscriptions.list")(function* (query: ListSubscriptions = {}) {
    const store = yield* port
    const request = yield* decodeList(query)
    const { data, hasMore } = yield* store
      .list(filterOf(request), yield* toQuery(request))
      .pipe(nameCursor(request))
    return { data: yield* shownAll(data), hasMore }
  })

  /** Applies a command to a subscription that is held with those that it is billed together with. */
  const stepOn = Effect.fnUntraced(function* (
    group: ReadonlyArray<StoredSubscription>,
    stored: StoredSubscription,
    input: Command,
    book: SubscriptionBook,
  ) {
    const { id } = stored
    const { epochMilliseconds } = yield* DateTime.now
    const steps = commandSteps(group, stored, input, epochMilliseconds)
    if (!isRejected(steps)) {
      const { stored: all } = yield* book.update(steps)
      return yield* shown(yield* orNotFound(Option.fromUndefinedOr(all.find((one) => one.id === id)), id))
    }
    const [{ path, problem }] = steps.problems
    if (path !== input.type) return yield* invalid(steps.problems)
    return yield* new ActionUnavailable({ object: "subscription", id, problem: `${path} ${problem}` })
  })

  const command = Effect.fnUntraced(function* (id: string, input: Command) {
    const { book, store } = yield* makeBook
    const known = yield* knownId(id)
    return yield* transactor.atomically(
      Effect.gen(function* () {
        const group = yield* store.lockGroup(known)
        const found = group.find((one) => one.id === known)
        const stored = yield* orNotFound(Option.fromUndefinedOr(found), id)
        return yield* time.within(stored.customerId, stepOn(group, stored, input, book))
      }),
    )
  })

  const change = Effect.fn("Subscriptions.change")(function* (id: string, input: ChangeSubscription) {
    const fields = yield* decodeChange(input)
    const { plan, version } = fields
    if (plan === undefined && version !== undefined) {
      return yield* invalid([{ path: "version", problem: "must be left out: it needs a plan" }])
    }
    const found = plan === undefined ? undefined : yield* planOf(plan, version)
    if (found !== undefined) {
      const { usage } = yield* makeBook
      const { customerId } = yield* get(id)
      yield* usage.check(customerId, found.terms)
    }
    return yield* command(id, toChange(fields, found))
  })

  const cancel = Effect.fn("Subscriptions.cancel")(function* (id: string, input: CancelSubscription) {
    return yield* command(id, toCancel(yield* decodeCancel(input)))
  })

  const uncancel = Effect.fn("Subscriptions.uncancel")((id: string) => command(id, { type: "uncancel" }))

  const pause = Effect.fn("Subscriptions.pause")(function* (id: string, input: PauseSubscription = {}) {
    return yield* command(id, toPause(yield* decodePause(input)))
  })

  const resume = Effect.fn("Subscriptions.resume")(function* (id: string, input: ResumeSubscription = {}) {
    return yield* command(id, { type: "resume", ...(yield* decodeResume(input)) })
  })

  const perform = (asked: PreviewSubscription): Effect.Effect<Subscription, AnyFailure, CurrentTenant> => {
    if (asked.action === "create") return create(withoutAction(asked))
    const { subscriptionId: id } = asked
    switch (asked.action) {
      case "change":
        return change(id, withoutAction(asked))
      case "cancel":
        return cancel(id, withoutAction(asked))
      case "uncancel":
        return uncancel(id)
      case "pause":
        return pause(id, withoutAction(asked))
      case "resume":
        return resume(id, withoutAction(asked))
    }
  }

  const preview = Effect.fn("Subscriptions.preview")(function* (input: PreviewSubscription) {
    const parts = yield* makeBook
    const asked = yield* decodePreview(input)
    const inTransaction = { ...parts, time, transactor }
    const id = asked.action === "create" ? undefined : asked.subscriptionId
    return yield* previewOf(inTransaction, id, perform(asked))
  })

  const reconcile = Effect.fn("Subscriptions.reconcile")(function* (id: string) {
    const parts = yield* makeBook
    const known = yield* knownId(id)
    return yield* transactor.atomically(
      Effect.gen(function* () {
        const group = yield* parts.store.lockGroup(known)
        const found = group.find((one) => one.id === known)
        const { customerId } = yield* orNotFound(Option.fromUndefinedOr(found), id)
        const draft = yield* time.within(customerId, reconcileHeld(parts, group, known))
        return draft === undefined ? null : toInvoice(draft)
      }),
    )
  })

  return Subscriptions.of({
    create,
    get,
    list,
    change,
    cancel,
    uncancel,
    pause,
    resume,
    preview,
    reconcile,
  })
})

/** What writes subscriptions and their invoices. Getting it fails if the storage lacks a port. */
export const bookOf = Effect.gen(function* () {
  const subscriptionPort = yield* optionalPort(SubscriptionStore)
  const invoicePort = yield* optionalPort(InvoiceStore)
  const outbox = yield* Outbox
  const terms = new VersionTerms(yield* PlanStore)
  const ids = yield* IdGenerator
  const collections = yield* Collections
  const usage = new ChargeUsage(yield* UsageStore, collections.of(meters))
  const coupons = new CouponBook(collections.of(couponDefinition), collections.of(redemptions), ids)
  const invoiceBookOf = yield* invoiceBooks
  const grants = yield* makePlanGrants(terms)
  const units = yield* CreditSettings
  const markWatched = yield* SpendMarks.makeWatched
  return Effect.map(Effect.all([subscriptionPort, invoicePort]), ([store, invoices]) => {
    const invoiceBook = invoiceBookOf(invoices)
    const billing = new SubscriptionBilling({
      subscriptions: store,
      invoices,
      terms,
      ids,
      outbox,
      units,
      usage,
      book: invoiceBook,
      coupons,
    })
    return {
      store,
      invoices,
      invoiceBook,
      billing,
      terms,
      usage,
      coupons,
      book: new SubscriptionBook(store, outbox, billing, grants, markWatched),
    }
  })
})
