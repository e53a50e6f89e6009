/**
 * Implements `billing.subscriptions`.
 */
import {
  type CurrentTenant,
  invoiceView,
  type PreviewSubscription as CorePreview,
  type SubscriptionPreview,
  SUBSCRIPTION_ID_PREFIX,
  type Subscription as Core,
  Subscriptions as SubscriptionsService,
  subscriptionView,
} from "@billwright/core"
import { type DateTime, Effect } from "effect"
import type { CallOptions } from "../Call.ts"
import type { Calls } from "../runtime/Calls.ts"
import * as Ids from "../runtime/Ids.ts"
import { toInput, toInstant, toOptionalInput } from "../runtime/Input.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import type { CommandTime, CreateSubscription, PreviewSubscription, Subscriptions } from "./Subscriptions.ts"

const toId = Ids.of(SUBSCRIPTION_ID_PREFIX)

const TIME_PROBLEM =
  "must be now, period_end, a Date or an RFC 3339 instant with an offset, such as 2026-11-21T09:30:00Z"

const toTime = (at: CommandTime): "now" | "period_end" | DateTime.Utc =>
  at === "now" || at === "period_end" ? at : toInstant(at, "at", TIME_PROBLEM)

/** The input of a command that takes a time. */
const toTimed = <A>(input: { readonly at?: CommandTime | undefined }): A =>
  toInput(input?.at === undefined ? input : { ...input, at: toTime(input.at) })

/** A trial with a length, or up to an instant. The service refuses anything else. */
const toTrial = (trial: CreateSubscription["trial"]): unknown =>
  typeof trial === "object" && trial !== null && "endAt" in trial
    ? { ...trial, endAt: toInstant(trial.endAt, "trial.endAt") }
    : trial

const toCreate = (input: CreateSubscription): Core.CreateSubscription =>
  toInput(
    typeof input === "object" && input !== null ? { ...input, trial: toTrial(input.trial) } : input,
    "startAt",
  )

/** The input of a command, as that command converts it. */
const toFields = (input: PreviewSubscription): object => {
  switch (input?.action) {
    case "create":
      return toCreate(input)
    case "change":
    case "cancel":
      return toTimed<object>(input)
    default:
      return toInput<object>(input, "resumeAt")
  }
}

const toPreview = (input: PreviewSubscription): CorePreview =>
  ({
    ...toFields(input),
    ...(input.action === "create" ? {} : { subscriptionId: toId(input.subscriptionId) }),
  }) as CorePreview

const previewView = ({ invoices, nextInvoice, subscription }: SubscriptionPreview) => ({
  subscription: subscriptionView(subscription),
  invoices: invoices.map(invoiceView),
  nextInvoice: nextInvoice === null ? null : invoiceView(nextInvoice),
})

export const makeSubscriptions = (calls: Calls): Subscriptions => {
  const service = calls.service(SubscriptionsService)
  const run = <E>(
    use: (subscriptions: typeof service) => Effect.Effect<Core.Subscription, E, CurrentTenant>,
    options: CallOptions | undefined,
  ) => calls.run(() => Effect.map(use(service), subscriptionView), options)
  return {
    create: (input, options) => run(({ create }) => create(toCreate(input)), options),
    get: (id, options) => run(({ get }) => get(toId(id)), options),
    list: (query, options) =>
      makeListing(query, (page) =>
        calls.run(
          () =>
            Effect.map(service.list(toOptionalInput(page)), ({ data, hasMore }) => ({
              data: data.map(subscriptionView),
              hasMore,
            })),
          options,
        ),
      ),
    change: (id, input, options) => run(({ change }) => change(toId(id), toTimed(input)), options),
    cancel: (id, input, options) => run(({ cancel }) => cancel(toId(id), toTimed(input)), options),
    uncancel: (id, options) => run(({ uncancel }) => uncancel(toId(id)), options),
    pause: (id, input, options) =>
      run(({ pause }) => pause(toId(id), toOptionalInput(input, "resumeAt")), options),
    resume: (id, input, options) => run(({ resume }) => resume(toId(id), toOptionalInput(input)), options),
    preview: (input, options) =>
      calls.run(() => Effect.map(service.preview(toPreview(input)), previewView), options),
    reconcile: (id, options) =>
      calls.run(
        () =>
          Effect.map(service.reconcile(toId(id)), (draft) => (draft === null ? null : invoiceView(draft))),
        options,
      ),
  }
}
