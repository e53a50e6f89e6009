/**
 * Writes a snapshot of a customer into an empty storage, through its ports.
 */
import { Effect } from "effect"
import type { Plan } from "../catalog/Plan.ts"
import { PlanStore } from "../catalog/PlanStore.ts"
import type { AutoTopUp } from "../credits/AutoTopUp.ts"
import { CreditStore } from "../credits/CreditStore.ts"
import { nextLookAt } from "../credits/GrantQueue.ts"
import type { Customer } from "../customers/Customer.ts"
import { CreditNoteStore } from "../invoices/CreditNoteStore.ts"
import { InvoiceStore, type SeriesName } from "../invoices/InvoiceStore.ts"
import { optionalPort } from "../invoices/InvoicingUnsupported.ts"
import type { PaymentMethod } from "../payments/PaymentMethod.ts"
import { PaymentStore } from "../payments/PaymentStore.ts"
import type { Refund } from "../payments/Refund.ts"
import { isOpenRefund } from "../payments/RefundBook.ts"
import * as Resources from "../Resources.ts"
import { type Collection, Collections } from "../shared/Collections.ts"
import type { Resource } from "../shared/Resource.ts"
import { Transactor } from "../shared/Transactor.ts"
import { SubscriptionStore } from "../subscriptions/SubscriptionStore.ts"
import { DueStore } from "../time/DueStore.ts"
import { MAX_BATCH_RECORDS } from "../usage/UsageRecord.ts"
import { UsageStore } from "../usage/UsageStore.ts"
import type { CustomerSnapshot, SnapshotCredits, SnapshotPlan } from "./CustomerSnapshot.ts"

/** In real time: the clock of a fork is the customer's own. */
const inRealTime = (customer: object): Customer => ({ ...(customer as Customer), testClockId: null })

const restoreValues = ({ values }: CustomerSnapshot) =>
  Effect.gen(function* () {
    const collections = yield* Collections
    // In the order of the definitions, but customers first: others belong to them.
    const all = Object.values(Resources.all).toSorted(
      (a, b) => Number(b.definition.type === "Customer") - Number(a.definition.type === "Customer"),
    )
    for (const { definition } of all) {
      const collection = collections.of(definition as object as Resource) as object as Collection<object>
      for (const value of values[definition.type] ?? []) {
        yield* collection.insert(definition.type === "Customer" ? inRealTime(value) : value)
      }
    }
  })

/** Versions are published one after another, as they were. */
const restorePlan = ({ plan, versions }: SnapshotPlan) =>
  Effect.gen(function* () {
    const store = yield* PlanStore
    for (const { createdAt, hash, id, terms, version } of versions) {
      const published: Plan = { ...plan, version, versionId: id, hash, terms, updatedAt: createdAt }
      yield* store.publish(published)
    }
    const { description, key, name, updatedAt } = plan
    yield* store.rename({ key, name, description, updatedAt })
  })

const restoreCredits = (
  { customerId }: CustomerSnapshot,
  { account, entries, grants, holds, levels, unit }: SnapshotCredits,
) =>
  Effect.gen(function* () {
    const store = yield* yield* optionalPort(CreditStore)
    const key = { customerId, unit }
    yield* store.lock(key, 0, "open")
    yield* store.write(key, { account, grants, holds, entries, consumption: null })
    yield* store.watch(key, levels)
  })

const restoreUsage = ({ records }: CustomerSnapshot) =>
  Effect.gen(function* () {
    const store = yield* UsageStore
    for (let from = 0; from < records.length; from += MAX_BATCH_RECORDS) {
      const batch = records.slice(from, from + MAX_BATCH_RECORDS)
      yield* store.append(batch.map((record) => ({ ...record, voidedAt: null, hasOwnTimestamp: true })))
    }
    for (const { id, voidedAt } of records) if (voidedAt !== null) yield* store.void(id, voidedAt)
  })

/** What has failed is tried again when it was to be, and what was set aside stays so. */
const restoreFailures = ({ invoices, payments, subscriptions }: CustomerSnapshot) =>
  Effect.gen(function* () {
    const { noteFailure } = yield* yield* optionalPort(DueStore)
    for (const { value } of subscriptions) {
      if (value.failure !== null) yield* noteFailure({ kind: "subscription", id: value.id }, value.failure)
    }
    for (const { failure, id } of invoices) {
      if (failure !== null) yield* noteFailure({ kind: "invoice", id }, failure)
    }
    for (const { failure, id } of payments) {
      if (failure !== null) yield* noteFailure({ kind: "payment", id }, failure)
    }
  })

/** Saved payment methods are looked at again, so that it is told in time when one expires. */
const watchMethods = ({ at, values }: CustomerSnapshot) =>
  Effect.gen(function* () {
    const due = yield* yield* optionalPort(DueStore)
    for (const value of values["PaymentMethod"] ?? []) {
      const { id, status } = value as PaymentMethod
      if (status === "attached") yield* due.schedule({ kind: "payment_method", id }, at)
    }
  })

/** Refunds that the provider has not decided yet are sent or read, so that something comes of them. */
const sendRefunds = ({ at, values }: CustomerSnapshot) =>
  Effect.gen(function* () {
    const due = yield* yield* optionalPort(DueStore)
    for (const value of values["Refund"] ?? []) {
      const refund = value as Refund
      if (isOpenRefund(refund)) yield* due.schedule({ kind: "refund", id: refund.id }, at)
    }
  })

/** Paid credits are looked at again, so that it is written when they begin or end. */
const watchGrants = ({ at, credits }: CustomerSnapshot) =>
  Effect.gen(function* () {
    const due = yield* yield* optionalPort(DueStore)
    for (const grant of credits.flatMap(({ grants }) => grants)) {
      if (nextLookAt(grant, at) !== null) yield* due.schedule({ kind: "credit_grant", id: grant.id }, at)
    }
  })

/** Automatic top-ups are looked at at once. Each then says itself when it is looked at again. */
const watchTopUps = ({ at, values }: CustomerSnapshot) =>
  Effect.gen(function* () {
    const due = yield* yield* optionalPort(DueStore)
    for (const value of values["AutoTopUp"] ?? []) {
      yield* due.schedule({ kind: "auto_top_up", id: (value as AutoTopUp).id }, at)
    }
  })

/**
 * Writes a snapshot of a customer into a storage that has nothing of it, as one transaction. The customer then lives in real
 * time, also one that had a test clock.
 */
export const restoreSnapshot = Effect.fn("Fork.restoreSnapshot")(function* (snapshot: CustomerSnapshot) {
  const { atomically } = yield* Transactor
  const subscriptions = yield* yield* optionalPort(SubscriptionStore)
  const invoices = yield* yield* optionalPort(InvoiceStore)
  const creditNotes = yield* yield* optionalPort(CreditNoteStore)
  const payments = yield* yield* optionalPort(PaymentStore)
  const write = Effect.gen(function* () {
    yield* Effect.forEach(snapshot.plans, restorePlan, { discard: true })
    yield* restoreValues(snapshot)
    for (const { periods, value } of snapshot.subscriptions) {
      yield* subscriptions.insert(value)
      yield* subscriptions.savePeriods(value.id, periods)
    }
    for (const [name, series] of Object.entries(snapshot.series)) {
      yield* invoices.saveSeries(name as SeriesName, series)
    }
    for (const invoice of snapshot.invoices) yield* invoices.insert(invoice)
    for (const note of snapshot.creditNotes) yield* creditNotes.insert(note)
    for (const payment of snapshot.payments) yield* payments.insert(payment)
    for (const credits of snapshot.credits) yield* restoreCredits(snapshot, credits)
    yield* restoreUsage(snapshot)
    yield* watchMethods(snapshot)
    yield* sendRefunds(snapshot)
    yield* watchGrants(snapshot)
    yield* watchTopUps(snapshot)
    yield* restoreFailures(snapshot)
  })
  yield* atomically(write)
})
