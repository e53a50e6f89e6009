/**
 * The stores of objects that are no resources, such as invoices: each change has a record in the audit log, in the transaction
 * of the change. A new verb of such a store that changes something is added here.
 *
 * Ledgers are not here: usage, credits that are used and held, consumed entitlements, events and deliveries. Their entries say
 * what happened, and are final, too. See decision 0036.
 */
import { Context, Effect, Layer, Option, Struct } from "effect"
import { Trail } from "./audit/AuditTrail.ts"
import { type Kind, ObjectTrail } from "./audit/ObjectTrail.ts"
import type { Plan } from "./catalog/Plan.ts"
import { PlanStore } from "./catalog/PlanStore.ts"
import type { CreditNote } from "./invoices/CreditNote.ts"
import { CreditNoteStore } from "./invoices/CreditNoteStore.ts"
import { creditNoteView } from "./invoices/CreditNoteView.ts"
import { type StoredInvoice, toInvoice } from "./invoices/Invoice.ts"
import { InvoiceStore } from "./invoices/InvoiceStore.ts"
import { invoiceView } from "./invoices/InvoiceView.ts"
import type { ApiKey } from "./keys/ApiKey.ts"
import { ApiKeyStore } from "./keys/ApiKeyStore.ts"
import { type StoredPayment, toPayment } from "./payments/Payment.ts"
import { PaymentStore } from "./payments/PaymentStore.ts"
import { paymentView } from "./payments/PaymentView.ts"
import { type StoredSubscription, toSubscription } from "./subscriptions/Subscription.ts"
import { SubscriptionStore } from "./subscriptions/SubscriptionStore.ts"
import { subscriptionView } from "./subscriptions/SubscriptionView.ts"
import type { StoredEndpoint } from "./webhooks/Endpoint.ts"
import { EndpointStore } from "./webhooks/EndpointStore.ts"
import { originOf } from "./webhooks/EndpointUrl.ts"

export const plan: Kind<Plan> = {
  object: "plan",
  idOf: ({ key }) => key,
  view: (value) => value,
  hidden: ["terms"],
  ignored: [],
}

export const subscription: Kind<StoredSubscription> = {
  object: "subscription",
  idOf: ({ id }) => id,
  view: (value) => subscriptionView(toSubscription(value, null)),
  hidden: ["metadata"],
  // What its invoices say, and how the next work in the background went.
  ignored: ["pastDueSince", "nextAt", "failure", "availableActions", "sequence"],
}

export const invoice: Kind<StoredInvoice> = {
  object: "invoice",
  idOf: ({ id }) => id,
  view: (value) => invoiceView(toInvoice(value)),
  hidden: ["lines"],
  ignored: ["finalizesAt", "failure", "availableActions", "sequence"],
}

export const creditNote: Kind<CreditNote> = {
  object: "credit_note",
  idOf: ({ id }) => id,
  view: creditNoteView,
  hidden: ["lines"],
  ignored: [],
}

export const payment: Kind<StoredPayment> = {
  object: "payment",
  idOf: ({ id }) => id,
  view: (value) => paymentView(toPayment(value)),
  // That of a recorded payment is free text, such as the text of a transfer.
  hidden: ["reference"],
  ignored: ["availableActions", "sequence"],
}

/** The URL of a receiver and its headers may have secrets in them. */
export const endpoint: Kind<StoredEndpoint> = {
  object: "webhook_endpoint",
  idOf: (value) => value.endpoint.id,
  view: ({ endpoint: value, secrets }) => ({ ...value, origin: originOf(value.url), secrets }),
  hidden: ["url", "headers", "metadata", "secrets"],
  ignored: ["failingSince"],
}

export const apiKey: Kind<ApiKey> = {
  object: "api_key",
  idOf: ({ id }) => id,
  view: (value) => value,
  hidden: [],
  ignored: ["accountId", "mode", "lastUsedAt"],
}

type Wrap<Port> = (store: Port, trail: Trail["Service"]) => Port

const auditedPlans: Wrap<PlanStore["Service"]> = (store, trail) => {
  const plans = new ObjectTrail(trail, plan)
  const find = (key: string) => Effect.map(store.findAll([key]), ([found]) => Option.fromUndefinedOr(found))
  return {
    ...store,
    publish: (value) => plans.saved(value, find(value.key), store.publish(value)),
    rename: (value) =>
      trail.joined(
        Effect.flatMap(find(value.key), (before) =>
          Effect.andThen(
            store.rename(value),
            plans.note(value.key, before, Option.map(before, Struct.assign(value))),
          ),
        ),
      ),
  }
}

const auditedSubscriptions: Wrap<SubscriptionStore["Service"]> = (store, trail) => {
  const subscriptions = new ObjectTrail(trail, subscription)
  return {
    ...store,
    insert: (value) => subscriptions.created(value, store.insert(value)),
    save: (value) => subscriptions.saved(value, store.find(value.id), store.save(value)),
  }
}

const auditedInvoices: Wrap<InvoiceStore["Service"]> = (store, trail) => {
  const invoices = new ObjectTrail(trail, invoice)
  return {
    ...store,
    insert: (value) => invoices.created(value, store.insert(value)),
    save: (value) => invoices.saved(value, store.find(value.id), store.save(value)),
    remove: (id) => invoices.changed(id, store.find(id), store.remove(id), Option.none),
  }
}

const auditedCreditNotes: Wrap<CreditNoteStore["Service"]> = (store, trail) => {
  const notes = new ObjectTrail(trail, creditNote)
  return { ...store, insert: (value) => notes.created(value, store.insert(value)) }
}

const auditedPayments: Wrap<PaymentStore["Service"]> = (store, trail) => {
  const payments = new ObjectTrail(trail, payment)
  return {
    ...store,
    insert: (value) => payments.created(value, store.insert(value)),
    save: (value) => payments.saved(value, store.find(value.id), store.save(value)),
  }
}

const auditedEndpoints: Wrap<EndpointStore["Service"]> = (store, trail) => {
  const endpoints = new ObjectTrail(trail, endpoint)
  const withoutSecrets = Option.map((found: StoredEndpoint["endpoint"]) => ({ endpoint: found, secrets: [] }))
  return {
    ...store,
    insert: (value) => endpoints.created(value, store.insert(value)),
    modify: <E, R>(
      id: Parameters<typeof store.find>[0],
      change: (stored: StoredEndpoint) => Effect.Effect<StoredEndpoint, E, R>,
    ) =>
      trail.joined(
        Effect.suspend(() => {
          let before = Option.none<StoredEndpoint>()
          const changed = store.modify(id, (stored) => {
            before = Option.some(stored)
            return change(stored)
          })
          return Effect.tap(changed, (after) => endpoints.note(id, before, after))
        }),
      ),
    delete: (id, at) =>
      trail.joined(
        Effect.flatMap(store.find(id), (found) =>
          Effect.tap(store.delete(id, at), (isDeleted) =>
            isDeleted ? endpoints.note(id, withoutSecrets(found), Option.none()) : Effect.void,
          ),
        ),
      ),
  }
}

const auditedKeys: Wrap<ApiKeyStore["Service"]> = (store, trail) => {
  const keys = new ObjectTrail(trail, apiKey)
  /**
   * Notes what a write makes of a key. Nothing holds the key between the read and the write, so others may have changed it. That
   * is theirs to note: `before` takes from the read only what the write changes.
   */
  const noted = (
    id: ApiKey["id"],
    write: ReturnType<typeof store.revoke>,
    before: (read: ApiKey, after: ApiKey) => ApiKey,
  ) =>
    trail.joined(
      Effect.flatMap(store.find(id), (read) =>
        Effect.tap(write, (after) =>
          Option.isSome(after)
            ? keys.note(
                id,
                Option.map(read, (key) => before(key, after.value)),
                after,
              )
            : Effect.void,
        ),
      ),
    )
  return {
    ...store,
    insert: (stored) => keys.created(stored.key, store.insert(stored)),
    revoke: (id, at) =>
      noted(id, store.revoke(id, at), ({ revokedAt }, after) => {
        // The first revocation stays. If its time is another one, it was somebody else's.
        const isOurs = after.revokedAt?.epochMilliseconds === at.epochMilliseconds
        return isOurs ? { ...after, revokedAt } : after
      }),
    expire: (id, at) => noted(id, store.expire(id, at), ({ expiresAt }, after) => ({ ...after, expiresAt })),
  }
}

/** Wraps a port that the storage may lack. */
const wrapped = <Id, Port>(key: Context.Key<Id, Port>, wrap: Wrap<Port>) =>
  Effect.gen(function* () {
    const trail = yield* Trail
    const found = yield* Effect.serviceOption(key)
    return (context: Context.Context<never>): Context.Context<never> =>
      Option.isNone(found) ? context : Context.add(context, key, wrap(found.value, trail))
  })

/** The stores, which note each change in the audit log. Those that the storage lacks stay missing. */
export const layer: Layer.Layer<never, never, Trail> = Layer.effectContext(
  Effect.gen(function* () {
    const all = yield* Effect.all([
      wrapped(PlanStore, auditedPlans),
      wrapped(SubscriptionStore, auditedSubscriptions),
      wrapped(InvoiceStore, auditedInvoices),
      wrapped(CreditNoteStore, auditedCreditNotes),
      wrapped(PaymentStore, auditedPayments),
      wrapped(EndpointStore, auditedEndpoints),
      wrapped(ApiKeyStore, auditedKeys),
    ])
    return all.reduce((context, add) => add(context), Context.empty() as Context.Context<never>)
  }),
)
