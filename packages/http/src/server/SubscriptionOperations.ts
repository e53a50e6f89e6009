/**
 * The operations of subscriptions (see `Operations`).
 */
import {
  InvalidInput,
  type PreviewSubscription,
  type Subscription,
  type SubscriptionPreview,
  Subscriptions,
  subscriptionView,
  type SubscriptionView,
  type Tenant,
} from "@billwright/core"
import { Effect } from "effect"
import type { SubscriptionBody } from "../api/SubscriptionBody.ts"
import type { SubscriptionPreviewBody } from "../api/SubscriptionsApi.ts"
import { created, ok } from "./HttpExchange.ts"
import { invoice } from "./InvoiceOperations.ts"
import type { OperationsOf } from "./Operation.ts"
import * as Render from "./Render.ts"

const pendingOf = ({ pending }: SubscriptionView): (typeof SubscriptionBody.Encoded)["pending"] =>
  pending === null
    ? null
    : {
        plan: pending.plan,
        quantities: pending.quantities,
        at: typeof pending.at === "string" ? pending.at : Render.instant(pending.at),
        bill: pending.bill,
      }

const subscription = (
  value: Subscription.Subscription,
  tenant: Tenant.Tenant,
): typeof SubscriptionBody.Encoded => {
  const view = subscriptionView(value)
  return {
    object: "subscription",
    id: view.id,
    customer_id: view.customerId,
    phase: view.phase,
    plan: view.plan,
    currency: view.currency,
    quantities: view.quantities,
    pending: pendingOf(view),
    anchor: view.anchor,
    timezone: view.timezone,
    start_at: Render.instant(view.startAt),
    trial_end_at: Render.instantOrNull(view.trialEndAt),
    activated_at: Render.instantOrNull(view.activatedAt),
    current_period_start: Render.instantOrNull(view.currentPeriodStart),
    current_period_end: Render.instantOrNull(view.currentPeriodEnd),
    paused_at: Render.instantOrNull(view.pausedAt),
    resumes_at: Render.instantOrNull(view.resumesAt),
    canceled_at: Render.instantOrNull(view.canceledAt),
    ends_at: Render.instantOrNull(view.endsAt),
    ended_at: Render.instantOrNull(view.endedAt),
    next_at: Render.instantOrNull(view.nextAt),
    failure: Render.dueFailure(view.failure),
    past_due_since: Render.instantOrNull(view.pastDueSince),
    available_actions: view.availableActions,
    invoice_group: view.invoiceGroup,
    metadata: view.metadata,
    sequence: view.sequence,
    livemode: tenant.mode === "live",
    created_at: Render.instant(view.createdAt),
    updated_at: Render.instant(view.updatedAt),
  }
}

const preview = (
  { invoices, nextInvoice, subscription: after }: SubscriptionPreview,
  tenant: Tenant.Tenant,
): typeof SubscriptionPreviewBody.Encoded => ({
  object: "subscription_preview",
  subscription: subscription(after, tenant),
  invoices: invoices.map((one) => invoice(one, tenant)),
  next_invoice: nextInvoice === null ? null : invoice(nextInvoice, tenant),
})

type Operations = OperationsOf<"subscriptions">
type CreateInput = Parameters<Operations["createSubscription"]>[0]["payload"]

type Trial = NonNullable<CreateInput["trial"]>

/** The definition checks that a trial has one of the two. */
const trialOf = ({ days = 0, endAt }: Trial): Subscription.CreateSubscription["trial"] & object =>
  endAt === undefined ? { days } : { endAt }

const toCreate = ({ trial, ...fields }: CreateInput): Subscription.CreateSubscription => ({
  ...fields,
  ...(trial === undefined ? {} : { trial: trial === null ? null : trialOf(trial) }),
})

export const make: Effect.Effect<Operations, never, Subscriptions> = Effect.map(
  Subscriptions,
  (subscriptions) => {
    const answer =
      (tenant: Tenant.Tenant, as = ok) =>
      (value: Subscription.Subscription) =>
        as(subscription(value, tenant))
    const previewed = (input: PreviewSubscription, tenant: Tenant.Tenant) =>
      Effect.map(subscriptions.preview(input), (value) => ok(preview(value, tenant)))
    return {
      createSubscription: ({ payload }, tenant) =>
        Effect.map(subscriptions.create(toCreate(payload)), answer(tenant, created)),
      previewNewSubscription: ({ payload }, tenant) =>
        previewed({ action: "create", ...toCreate(payload) }, tenant),
      previewSubscription: ({ params, payload }, tenant) =>
        Effect.flatMap(subscriptions.get(params.id), ({ id }) =>
          // The service refuses fields that the action does not take.
          previewed({ ...payload, subscriptionId: id } as PreviewSubscription, tenant).pipe(
            Effect.mapError((error) =>
              error._tag === "InvalidInput" && error.field === "resumeAt"
                ? new InvalidInput({ field: "resume_at", problem: error.problem })
                : error,
            ),
          ),
        ),
      listSubscriptions: ({ query }, tenant) =>
        Effect.map(subscriptions.list(query), (page) => ok(Render.list(page, tenant, subscription))),
      getSubscription: ({ params }, tenant) => Effect.map(subscriptions.get(params.id), answer(tenant)),
      changeSubscription: ({ params, payload }, tenant) =>
        Effect.map(subscriptions.change(params.id, payload), answer(tenant)),
      cancelSubscription: ({ params, payload }, tenant) =>
        Effect.map(subscriptions.cancel(params.id, payload), answer(tenant)),
      uncancelSubscription: ({ params }, tenant) =>
        Effect.map(subscriptions.uncancel(params.id), answer(tenant)),
      pauseSubscription: ({ params, payload }, tenant) =>
        Effect.map(subscriptions.pause(params.id, payload), answer(tenant)),
      resumeSubscription: ({ params, payload }, tenant) =>
        Effect.map(subscriptions.resume(params.id, payload), answer(tenant)),
      reconcileSubscription: ({ params: { id } }, tenant) =>
        Effect.map(subscriptions.reconcile(id), (value) =>
          ok({
            object: "reconciliation",
            subscription_id: id,
            invoice: value === null ? null : invoice(value, tenant),
          }),
        ),
    }
  },
)
