/**
 * The REST definitions of subscriptions.
 */
import { Currency, Customer, Due, Instant, Plan, Subscription } from "@billwright/core"
import { DateTime, Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import { InvoiceBody } from "./InvoiceBody.ts"
import { RequiredPermission } from "./Permission.ts"
import {
  ActionField,
  CustomerIdField,
  IdField,
  MAX_KEY_LENGTH,
  MAX_LOCAL_TIME_LENGTH,
  MAX_QUANTITIES,
  MAX_QUANTITY_LENGTH,
  MAX_TIMEZONE_LENGTH,
  MetadataField,
  PlanKey,
  SubscriptionBody,
} from "./SubscriptionBody.ts"
import * as Wire from "./Wire.ts"

const MAX_TRIAL_DAYS = 730

/** Quantities of a request. The domain checks them, and names all problems. */
const quantitiesInput = (description: string) =>
  Schema.optionalKey(
    Wire.described({
      type: "object",
      maxProperties: MAX_QUANTITIES,
      propertyNames: { type: "string", maxLength: MAX_KEY_LENGTH },
      additionalProperties: { type: "string", maxLength: MAX_QUANTITY_LENGTH },
      description,
    }),
  )

const TRIAL_PROBLEM = "must be null, or have either days or end_at"
const daysMessage = { message: `must be an integer from 1 to ${MAX_TRIAL_DAYS}` }
const TrialBody = Schema.Struct({
  days: Schema.optionalKey(
    Schema.Int.annotate(daysMessage)
      .check(Schema.isBetween({ minimum: 1, maximum: MAX_TRIAL_DAYS }, daysMessage))
      .annotate({ description: `The length of the trial: 1 to ${MAX_TRIAL_DAYS} days.` }),
  ),
  endAt: Schema.optionalKey(Wire.instant("When the trial ends, after the start.")),
})
  .check(
    Schema.makeFilter(({ days, endAt }) => (days === undefined) !== (endAt === undefined), {
      message: TRIAL_PROBLEM,
      toJsonSchema: () => ({ minProperties: 1, maxProperties: 1 }),
    }),
  )
  .pipe(Schema.encodeKeys({ endAt: "end_at" }))
  .annotate({ identifier: "Trial", description: "A trial of some days, or up to an instant." })

const NAMED_TIMES = ["now", "period_end"] as const
const isNamedTime = (text: string): text is (typeof NAMED_TIMES)[number] =>
  NAMED_TIMES.some((name) => name === text)
const timeText = Schema.String.check(
  Schema.makeFilter<string>((text) => isNamedTime(text) || Instant.parse(text) !== undefined, {
    message: "must be now, period_end or an RFC 3339 instant with an offset",
    toJsonSchema: () => ({ maxLength: Instant.MAX_INSTANT_LENGTH }),
  }),
)

/** When a command takes effect. In the document it is a text, because few generators of clients know unions. */
const timeField = (description: string) =>
  timeText.annotate({ description: `${description} \`now\`, \`period_end\` or an RFC 3339 instant.` }).pipe(
    Schema.decodeTo(
      Schema.Union([Schema.Literals(NAMED_TIMES), Schema.DateTimeUtc]),
      SchemaTransformation.transform({
        decode: (text: string) =>
          isNamedTime(text) ? text : (Instant.parse(text) ?? DateTime.makeUnsafe(0)),
        encode: (at: (typeof NAMED_TIMES)[number] | DateTime.Utc): string =>
          typeof at === "string" ? at : DateTime.formatIso(at),
      }),
    ),
  )
const creditField = (description: string) =>
  Schema.optionalKey(Schema.Literals(["prorate", "none"]).annotate({ description }))
const anchorField = (description: string) =>
  Schema.optionalKey(Schema.Literals(["keep", "now"]).annotate({ description }))
const versionField = Schema.optionalKey(
  Plan.VersionNumber.annotate({ description: "The number of a version of the plan. Default: the newest." }),
)

const CreateBody = Schema.Struct({
  customerId: CustomerIdField,
  plan: PlanKey.annotate({ description: "The key of a plan." }),
  version: versionField,
  currency: Schema.optionalKey(
    Wire.text(3).annotate({ description: "A currency of the plan. Default: its only currency." }),
  ),
  quantities: quantitiesInput(
    'A decimal in a string for each quantity that charges of the plan use: `{"seats": "5"}`. An integer may also be sent as a number.',
  ),
  startAt: Schema.optionalKey(
    Wire.instant(
      "When the subscription starts. Default: now. With an instant in the past, one invoice bills all periods since then.",
    ),
  ),
  anchor: Schema.optionalKey(
    Wire.text(MAX_LOCAL_TIME_LENGTH).annotate({
      description:
        "The local date and time that boundaries of periods are computed from, such as `2026-02-01`. Default: the end of the trial, or else the start.",
    }),
  ),
  timezone: Schema.optionalKey(
    Wire.text(MAX_TIMEZONE_LENGTH).annotate({
      description: "An IANA time zone, such as `Europe/Berlin`. Default: `UTC`.",
    }),
  ),
  trial: Schema.optionalKey(
    Schema.NullOr(TrialBody).annotate({
      message: TRIAL_PROBLEM,
      description: "Default: the trial of the plan. `null`: no trial.",
    }),
  ),
  coupon: Schema.optionalKey(
    Wire.text(40).annotate({
      description: "The code or the id of a coupon, which is redeemed. It lowers the first invoice, too.",
    }),
  ),
  trialUsage: Schema.optionalKey(
    Schema.Literals(["free", "charged"]).annotate({
      description:
        "Whether usage of the trial is free (the default), or is charged when the trial ends. Either way it is on an invoice.",
    }),
  ),
  invoiceGroup: Schema.optionalKey(
    Schema.NullOr(Subscription.InvoiceGroup).annotate({
      description:
        "A name of your own. Subscriptions of a customer with the same group and currency share an invoice for what falls due by itself at one instant, such as their renewals. What is billed when a subscription is created is on an invoice of its own. At most 50 subscriptions that have not ended. It can't be changed. Default: `null`, invoices of its own.",
    }),
  ),
  metadata: Schema.optionalKey(MetadataField),
})
  .pipe(
    Schema.encodeKeys({
      customerId: "customer_id",
      startAt: "start_at",
      trialUsage: "trial_usage",
      invoiceGroup: "invoice_group",
    }),
  )
  .annotate({ identifier: "CreateSubscription", description: "A new subscription." })

const ChangeBody = Schema.Struct({
  plan: Schema.optionalKey(
    PlanKey.annotate({
      description: "The key of a plan. Without `version`, the subscription moves to its newest version.",
    }),
  ),
  version: versionField,
  quantities: quantitiesInput("The quantities that change, as decimals in strings. Others stay."),
  at: Schema.optionalKey(
    timeField(
      "When the change takes effect. Required with `plan`. Default for quantities: `period_end` if one of them falls, else `now`.",
    ),
  ),
  bill: Schema.optionalKey(
    Schema.Literals(["now", "next_invoice"]).annotate({
      description: "Whether a change now is billed at once (the default) or by the next invoice.",
    }),
  ),
}).annotate({ identifier: "ChangeSubscription", description: "Another plan, other quantities, or both." })

const CancelBody = Schema.Struct({
  at: timeField("When the subscription ends."),
  credit: creditField("Whether what was charged for the time after the end is credited. Default: `prorate`."),
}).annotate({ identifier: "CancelSubscription", description: "When to end a subscription." })

const PauseBody = Schema.Struct({
  resumeAt: Schema.optionalKey(
    Wire.instant("When it resumes by itself, in the future. Default: only when asked."),
  ),
  anchor: anchorField(
    "The boundaries with which it resumes at `resume_at`: those before (`keep`, the default), or new ones (`now`).",
  ),
  credit: creditField("Whether what was charged for the time of the pause is credited. Default: `prorate`."),
})
  .pipe(Schema.encodeKeys({ resumeAt: "resume_at" }))
  .annotate({ identifier: "PauseSubscription", description: "How to pause a subscription." })

const ResumeBody = Schema.Struct({
  anchor: anchorField(
    "The boundaries with which it goes on: those before (`keep`, the default), or new ones that begin now (`now`).",
  ),
}).annotate({ identifier: "ResumeSubscription", description: "How to resume a subscription." })

const PreviewBody = Schema.Struct({
  action: ActionField.annotate({ description: "What to preview. The other fields are those that it takes." }),
  plan: Schema.optionalKey(PlanKey.annotate({ description: "Of `change`: the key of a plan." })),
  version: versionField,
  quantities: quantitiesInput("Of `change`: the quantities that change, as decimals in strings."),
  at: Schema.optionalKey(timeField("Of `change` and `cancel`: when it takes effect.")),
  bill: Schema.optionalKey(
    Schema.Literals(["now", "next_invoice"]).annotate({
      description: "Of `change`: whether a change now is billed at once or by the next invoice.",
    }),
  ),
  credit: creditField("Of `cancel` and `pause`: whether what was charged is credited."),
  resumeAt: Schema.optionalKey(Wire.instant("Of `pause`: when it resumes by itself.")),
  anchor: anchorField("Of `pause` and `resume`: the boundaries with which it goes on."),
})
  .pipe(Schema.encodeKeys({ resumeAt: "resume_at" }))
  .annotate({ identifier: "PreviewSubscription", description: "A command, and what it takes." })

/** Most drafts that a command makes: those of the instants that were due before it, and its own. */
const MAX_PREVIEWED = 10_000

/** A preview in an answer. */
export const SubscriptionPreviewBody = Schema.Struct({
  object: Schema.Literal("subscription_preview"),
  subscription: SubscriptionBody,
  invoices: Schema.Array(InvoiceBody)
    .check(Schema.isMaxLength(MAX_PREVIEWED))
    .annotate({ description: "The drafts that would be made at once, oldest first." }),
  next_invoice: Schema.NullOr(InvoiceBody).annotate({
    description:
      "The invoice after these, with the usage that is recorded by now. `null` when nothing would be invoiced any more.",
  }),
}).annotate({
  identifier: "SubscriptionPreview",
  description: "What would happen. Nothing of it is stored: new ids in it are of nothing.",
})

/** What a reconciliation made, in an answer. */
const ReconciliationBody = Schema.Struct({
  object: Schema.Literal("reconciliation"),
  subscription_id: IdField,
  invoice: Schema.NullOr(InvoiceBody).annotate({
    description: "The draft that bills the differences. `null` if nothing differs.",
  }),
}).annotate({ identifier: "Reconciliation", description: "What a reconciliation made." })

const ListQuery = Schema.Struct({
  ...Wire.pageFields,
  customerId: Schema.optionalKey(
    Customer.CustomerId.annotate({ description: "Only subscriptions of this customer." }),
  ),
  phase: Schema.optionalKey(
    Subscription.Phase.annotate({ description: "Only subscriptions in this phase." }),
  ),
  invoiceGroup: Schema.optionalKey(
    Subscription.InvoiceGroup.annotate({ description: "Only subscriptions with this invoice group." }),
  ),
  currency: Schema.optionalKey(Currency.annotate({ description: "Only subscriptions in this currency." })),
  plan: Schema.optionalKey(
    PlanKey.annotate({ description: "Only subscriptions that have the plan with this key now." }),
  ),
  version: Schema.optionalKey(
    Wire.queryInteger(1, Plan.MAX_VERSION, "Only subscriptions that have this version of their plan now."),
  ),
  failure: Schema.optionalKey(
    Due.FailureFilter.annotate({
      description:
        "Only subscriptions whose last billing run failed: `any`, or `set_aside`, which are not tried again by themselves.",
    }),
  ),
}).pipe(Schema.encodeKeys({ ...Wire.pageKeys, customerId: "customer_id", invoiceGroup: "invoice_group" }))

const Params = Schema.Struct({ id: Schema.String.annotate({ description: "The id of the subscription." }) })

const UNAVAILABLE = "A `conflict` says that the subscription does not allow it as it is, and changes nothing."

/** What all commands of a subscription have. */
const commandOptions = { params: Params, success: SubscriptionBody, error: writeErrors("not_found") }
const about = (summary: string, description: string) =>
  OpenApi.annotations({ summary, description: `${description} ${UNAVAILABLE}` })

export const SubscriptionsApi = HttpApiGroup.make("subscriptions")
  .add(
    HttpApiEndpoint.post("createSubscription", "/subscriptions", {
      payload: CreateBody,
      success: SubscriptionBody.pipe(HttpApiSchema.status(201)),
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "subscriptions:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create a subscription",
          description:
            "Gives a customer a version of a plan. What the plan charges in advance is billed by a draft invoice at once. `problems` of a 400 lists everything that is wrong.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("previewNewSubscription", "/subscriptions/preview", {
      payload: CreateBody,
      success: SubscriptionPreviewBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "subscriptions:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Preview a new subscription",
          description:
            "Says what creating a subscription would do and bill now: its first invoice, and the next one. Stores nothing, takes no number and publishes no event.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("listSubscriptions", "/subscriptions", {
      query: ListQuery,
      success: Wire.list(SubscriptionBody, "SubscriptionList"),
      error: readErrors("conflict"),
    })
      .annotate(RequiredPermission, "subscriptions:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "List subscriptions",
          description: "Lists subscriptions, newest first. Ended ones are listed, too.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getSubscription", "/subscriptions/:id", {
      params: Params,
      success: SubscriptionBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "subscriptions:read")
      .annotateMerge(
        OpenApi.annotations({ summary: "Get a subscription", description: "Returns one subscription." }),
      ),
  )
  .add(
    HttpApiEndpoint.post("changeSubscription", "/subscriptions/:id/change", {
      ...commandOptions,
      payload: ChangeBody,
    })
      .annotate(RequiredPermission, "subscriptions:write")
      .annotateMerge(
        about(
          "Change a subscription",
          "Moves a subscription to another plan or version, or changes quantities, or both. A change within a period is prorated. A change that changes nothing leaves the subscription as it is.",
        ),
      ),
  )
  .add(
    HttpApiEndpoint.post("cancelSubscription", "/subscriptions/:id/cancel", {
      ...commandOptions,
      payload: CancelBody,
    })
      .annotate(RequiredPermission, "subscriptions:write")
      .annotateMerge(
        about(
          "Cancel a subscription",
          "Ends a subscription now, at the end of its period, or at an instant. Its last usage is billed by a last invoice.",
        ),
      ),
  )
  .add(
    HttpApiEndpoint.post("uncancelSubscription", "/subscriptions/:id/uncancel", commandOptions)
      .annotate(RequiredPermission, "subscriptions:write")
      .annotateMerge(
        about("Uncancel a subscription", "Takes a cancellation back before it has taken effect."),
      ),
  )
  .add(
    HttpApiEndpoint.post("pauseSubscription", "/subscriptions/:id/pause", {
      ...commandOptions,
      payload: PauseBody,
    })
      .annotate(RequiredPermission, "subscriptions:write")
      .annotateMerge(
        about("Pause a subscription", "Pauses a subscription now: nothing is charged until it resumes."),
      ),
  )
  .add(
    HttpApiEndpoint.post("resumeSubscription", "/subscriptions/:id/resume", {
      ...commandOptions,
      payload: ResumeBody,
    })
      .annotate(RequiredPermission, "subscriptions:write")
      .annotateMerge(about("Resume a subscription", "Ends a pause now.")),
  )
  .add(
    HttpApiEndpoint.post("reconcileSubscription", "/subscriptions/:id/reconcile", {
      params: Params,
      success: ReconciliationBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "subscriptions:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Reconcile a subscription",
          description:
            "Bills what usage that was recorded or voided late has changed, in a draft of its own, without waiting for the next invoice. It looks back 1,200 periods; invoices look back 13 by themselves, and a subscription that has ended has no next one. If too much was billed, the total is below 0.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("previewSubscription", "/subscriptions/:id/preview", {
      params: Params,
      payload: PreviewBody,
      success: SubscriptionPreviewBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "subscriptions:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Preview a command of a subscription",
          description:
            "Says what a change, a cancellation, a pause or a resumption would do and bill now, and the invoice after that. It fails as the command would. Stores nothing, takes no number and publishes no event.",
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Subscriptions",
      description: "Which customer has which version of a plan, since when and until when.",
    }),
  )
