/**
 * A subscription in answers.
 */
import { Customer, Instant, Metadata, Subscription, SubscriptionId } from "@billwright/core"
import { Schema } from "effect"
import { DueFailureBody, PlanRefBody } from "./InvoicingFields.ts"
import * as Wire from "./Wire.ts"

export const MAX_KEY_LENGTH = 64
/** Most quantities of a subscription, the longest key of one, and its longest text. */
export const MAX_QUANTITIES = 100
export const MAX_QUANTITY_LENGTH = 32
/** The longest local date and time, and the longest name of a time zone, in code points. */
export const MAX_LOCAL_TIME_LENGTH = 32
export const MAX_TIMEZONE_LENGTH = 64

export const IdField = SubscriptionId.annotate({ description: "The id of the subscription." })
export const CustomerIdField = Customer.CustomerId.annotate({ description: "The customer." })
const PhaseField = Subscription.Phase.annotate({
  description:
    "Where the subscription is in its life. `scheduled`: it starts later. `trialing`: it is in its trial. `active`: it is billed. `paused`: nothing is charged. `ended`: it has ended for good.",
})
export const PlanKey = Wire.text(MAX_KEY_LENGTH)
export const MetadataField = Metadata.Metadata.annotate({
  description: "Your own free-form key/value pairs.",
})
const CurrencyField = Wire.text(3).annotate({ description: "The ISO 4217 code of the currency." })
export const ActionField = Schema.Literals(["change", "pause", "resume", "cancel", "uncancel"])

/** Quantities of an answer. */
const quantities = (description: string) =>
  Schema.Record(Schema.String, Wire.text(MAX_QUANTITY_LENGTH))
    .check(Schema.isMaxProperties(MAX_QUANTITIES), Schema.isPropertyNames(Wire.text(MAX_KEY_LENGTH)))
    .annotate({ description })

const PendingBody = Schema.Struct({
  plan: Schema.NullOr(PlanRefBody).annotate({ description: "The new plan. `null`: the plan stays." }),
  quantities: quantities("The quantities that change."),
  at: Wire.text(Instant.MAX_INSTANT_LENGTH).annotate({
    description: "`period_end`, or the RFC 3339 instant of the change.",
  }),
  bill: Schema.Literals(["now", "next_invoice"]).annotate({
    description: "Whether the change is billed at once or by the next invoice.",
  }),
}).annotate({ identifier: "PendingChange", description: "A change that waits." })

/** A subscription in an answer. */
export const SubscriptionBody = Schema.Struct({
  object: Schema.Literal("subscription"),
  id: IdField,
  customer_id: CustomerIdField,
  phase: PhaseField,
  plan: PlanRefBody,
  currency: CurrencyField,
  quantities: quantities("The quantities that charges of the plan use, as decimals in strings."),
  pending: Schema.NullOr(PendingBody).annotate({
    description: "The change that waits for the end of the period, or for an instant.",
  }),
  anchor: Wire.text(MAX_LOCAL_TIME_LENGTH).annotate({
    description:
      "The local date and time that boundaries of periods are computed from, such as `2026-01-31T09:30:00.000`.",
  }),
  timezone: Wire.text(MAX_TIMEZONE_LENGTH).annotate({ description: "The IANA time zone of the anchor." }),
  start_at: Wire.instant("When the subscription starts or started."),
  trial_end_at: Wire.instantOrNull("When the trial ends or ended. `null` without a trial."),
  activated_at: Wire.instantOrNull("When it became active for the first time."),
  current_period_start: Wire.instantOrNull("When the open period began. `null` when none is open."),
  current_period_end: Wire.instantOrNull(
    "When the open period ends. This instant belongs to the next one. `null` when none is open.",
  ),
  paused_at: Wire.instantOrNull("Since when it is paused."),
  resumes_at: Wire.instantOrNull("When it resumes by itself."),
  canceled_at: Wire.instantOrNull("When somebody asked to end it."),
  ends_at: Wire.instantOrNull("When it ends because of a cancellation."),
  ended_at: Wire.instantOrNull("When it ended."),
  next_at: Wire.instantOrNull(
    "When something happens to it by itself, such as a renewal. `null` when nothing will.",
  ),
  failure: Schema.NullOr(DueFailureBody).annotate({
    description: "Why that failed last. `null` unless it did.",
  }),
  past_due_since: Wire.instantOrNull(
    "Since when it is past due: the payment of one of its open invoices was declined, or its due date is over. `null`: it is not past due.",
  ),
  available_actions: Schema.Array(ActionField)
    .check(Schema.isMaxLength(ActionField.literals.length))
    .annotate({ description: "What can be asked of it as it is." }),
  invoice_group: Schema.NullOr(Wire.text(Subscription.MAX_INVOICE_GROUP_LENGTH)).annotate({
    description:
      "The group of subscriptions that it shares invoices with. `null`: it has invoices of its own.",
  }),
  metadata: MetadataField,
  sequence: Wire.Count.annotate({
    description: "Rises by one with each event of the subscription. Its events have the same number.",
  }),
  livemode: Wire.Livemode,
  created_at: Wire.instant("When the subscription was created."),
  updated_at: Wire.instant("When something of the above last changed."),
}).annotate({ identifier: "Subscription", description: "A customer's subscription to a version of a plan." })
