/**
 * Payment methods of customers: cards and the like, which a payment provider has saved.
 */
import { Schema } from "effect"
import { CUSTOMER_ID_PREFIX, CustomerId } from "../customers/Customer.ts"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Metadata from "../shared/Metadata.ts"
import * as Resource from "../shared/Resource.ts"
import * as Text from "../shared/Text.ts"
import type { CustomerAction } from "./MethodProvider.ts"
import { MAX_PROVIDER_LENGTH, MAX_REFERENCE_LENGTH } from "./Payment.ts"

/** The prefix of the ids of payment methods. */
export const PAYMENT_METHOD_ID_PREFIX = "mtd"
/** Most payment methods of a customer that are pending or attached, together. */
export const MAX_PAYMENT_METHODS = 50
/** Longest type and brand of a method, in characters. */
const MAX_TYPE_LENGTH = 40
/** Longest code of a setup that failed, in characters. */
const MAX_CODE_LENGTH = 100
/** Longest address to which a customer is sent back, in characters. */
const MAX_URL_LENGTH = 2_000
/** The code of a method that was not saved in time. */
export const ABANDONED = "abandoned"

export const PaymentMethodId = Id.schema(PAYMENT_METHOD_ID_PREFIX).pipe(Schema.brand("PaymentMethodId"))
export type PaymentMethodId = typeof PaymentMethodId.Type

export const PaymentMethodStatus = Schema.Literals(["pending", "attached", "failed", "detached"])
export type PaymentMethodStatus = typeof PaymentMethodStatus.Type

const Reference = Text.bounded(1, MAX_REFERENCE_LENGTH)

const monthMessage = {
  message: "must be an integer from 1 to 12",
  description: "The month, from 1 to 12.",
}
const yearMessage = { message: "must be an integer from 2000 to 9999", description: "The year." }
const Expiry = Schema.Struct({
  month: Schema.Int.annotate(monthMessage).check(Schema.isBetween({ minimum: 1, maximum: 12 }, monthMessage)),
  year: Schema.Int.annotate(yearMessage).check(
    Schema.isBetween({ minimum: 2_000, maximum: 9_999 }, yearMessage),
  ),
})

/** What a provider says of a method that it has saved. It comes from outside, so that it is checked. */
export const SavedFields = Schema.Struct({
  reference: Reference,
  type: Schema.String.check(
    Schema.isPattern(/^[a-z0-9_]{1,40}$/u, { message: "must be 1 to 40 characters of a-z, 0-9 and _" }),
  ),
  brand: Schema.NullOr(Text.bounded(1, MAX_TYPE_LENGTH)),
  last4: Schema.NullOr(Text.bounded(4, 4)),
  expiry: Schema.NullOr(Expiry),
})

const customerId = Field.id(CustomerId, CUSTOMER_ID_PREFIX, "The customer whose method it is.")
const metadata = Field.json(Metadata.Metadata, "Your own free-form key/value pairs.")
const isDefault = Field.json(
  Schema.Boolean,
  "Whether invoices of the customer are collected with it. A customer has one at most.",
)

/** The definition of the resource; see `Resource`. */
export const paymentMethods = Resource.make({
  type: "PaymentMethod",
  noun: "payment method",
  title: "Payment methods",
  description: "A card or the like of a customer, which the payment provider has saved.",
  about:
    "Cards and the like of customers, which the payment provider saves. Their numbers never come here. A new one is `pending` until the customer has saved it at the provider.",
  path: "/payment_methods",
  scope: "payments",
  id: PaymentMethodId,
  prefix: PAYMENT_METHOD_ID_PREFIX,
  customer: "customerId",
  personal: ["brand", "last4", "expiry", "metadata"],
  fields: {
    customerId,
    provider: Field.text(Text.bounded(1, MAX_PROVIDER_LENGTH), "The payment provider that saves it."),
    status: Field.text(
      PaymentMethodStatus,
      "`pending` until the customer has saved it, then `attached`. `failed` if that did not come to pass within a day. `detached` once it was removed.",
    ),
    isDefault,
    type: Field.textOrNull(Text.bounded(1, MAX_TYPE_LENGTH), "What it is, such as `card` or `sepa_debit`."),
    brand: Field.textOrNull(Text.bounded(1, MAX_TYPE_LENGTH), "The brand of a card, such as `visa`."),
    last4: Field.textOrNull(Text.bounded(4, 4), "The last 4 characters of its number."),
    expiry: Field.jsonOrNull(Expiry, "The last month in which it is valid: `month` (1 to 12) and `year`."),
    expiringSince: Field.instantOrNull("When `payment_method.expiring` was published. It is published once."),
    failureCode: Field.textOrNull(
      Text.bounded(1, MAX_CODE_LENGTH),
      "Why it was not saved: a code of the provider, or `abandoned`.",
    ),
    reference: Field.textOrNull(Reference, "How the provider names it. It is no secret."),
    providerCustomer: Field.textOrNull(Reference, "How the provider names the customer."),
    setupReference: Field.textOrNull(Reference, "How the provider names the setup that saves it."),
    metadata,
    detachedAt: Field.instantOrNull("When it was detached."),
  },
  times: {
    createdAt: Field.instant("When it was created."),
    updatedAt: Field.instant("When something of it last changed."),
  },
  create: { customerId, metadata: Field.optional(metadata) },
  update: {
    isDefault: Field.optional(isDefault),
    metadata: Field.optional(
      Field.json(
        Schema.NullOr(Metadata.MetadataPatch),
        "Keys to set. A key with the value `null` is removed. Other keys stay as they are. `null` instead of an object removes all keys.",
      ),
    ),
  },
  filters: {
    customerId: Field.optional(Field.saying(customerId, "Only methods of this customer.")),
    status: Field.optional(Field.text(PaymentMethodStatus, "Only methods with this status.")),
  },
  indexed: ["customerId", "status"],
  operations: {
    create:
      "Begins a payment method of a customer. It is `pending`: start its setup, so that the customer can save it at the payment provider. A `conflict` says that no payment provider saves methods.",
    remove: {
      verb: "Detach",
      past: "detached",
      description:
        "Nothing is charged with it any more, and the payment provider forgets it. It can still be read. If it was the default, the customer has none.",
    },
  },
  example: {
    id: "mtd_01kb2r9d3vffx9qd6k4v2n1h7c",
    customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
    provider: "stripe",
    status: "attached",
    is_default: false,
    type: "card",
    brand: "visa",
    last4: "4242",
    expiry: { month: 12, year: 2034 },
    expiring_since: null,
    failure_code: null,
    reference: "pm_1QYxQ2LkdIwHu7ix",
    provider_customer: "cus_RRpTQmTzG7",
    setup_reference: "seti_1QYxPwLkdIwHu7ix",
    metadata: {},
    detached_at: null,
    created_at: "2026-11-21T09:32:00.000Z",
    updated_at: "2026-11-21T09:33:00.000Z",
  },
  exampleOfUpdate: {
    request: { metadata: { label: "travel" } },
    response: { metadata: { label: "travel" }, updated_at: "2026-11-21T09:45:00.000Z" },
  },
})

/** A payment method. */
export const PaymentMethod = paymentMethods.Value
export interface PaymentMethod extends Schema.Schema.Type<typeof PaymentMethod> {}

/** The input of `PaymentMethods.create`. */
export const CreatePaymentMethod = paymentMethods.Create
export interface CreatePaymentMethod extends Schema.Schema.Type<typeof CreatePaymentMethod> {}

/** The input of `PaymentMethods.update`. Fields left out stay as they are. */
export const UpdatePaymentMethod = paymentMethods.Update
export interface UpdatePaymentMethod extends Schema.Schema.Type<typeof UpdatePaymentMethod> {}

/** Which payment methods to list. */
export const ListPaymentMethods = paymentMethods.List
export interface ListPaymentMethods extends Schema.Schema.Type<typeof ListPaymentMethods> {}

/** The tenant has no payment method with this id. */
export const PaymentMethodNotFound = paymentMethods.NotFound
export type PaymentMethodNotFound = InstanceType<typeof PaymentMethodNotFound>

/** An address to which a page of the provider sends the customer back. */
export const ReturnUrl = Text.bounded(1, MAX_URL_LENGTH).check(
  Schema.isPattern(/^https?:\/\/[^\s\p{Cc}]+$/u, {
    message: "must be a URL that begins with https:// or http://",
  }),
)

/** The input of `PaymentMethods.startSetup`. */
export const StartMethodSetup = Schema.Struct({
  /** Where a page of the provider sends the customer afterwards. Default: the customer stays on the host's page. */
  returnUrl: Schema.optionalKey(Schema.NullOr(ReturnUrl)),
})
export interface StartMethodSetup extends Schema.Schema.Type<typeof StartMethodSetup> {}

/** How the customer saves a method. It is given out and never stored. */
export interface MethodSetup extends CustomerAction {
  readonly paymentMethod: PaymentMethod
}

/** The payment provider did not do what it was asked for. */
export class PaymentProviderUnavailable extends Schema.TaggedError<PaymentProviderUnavailable>()(
  "PaymentProviderUnavailable",
  {
    provider: Schema.String,
    /** As of `ProviderFailure`. */
    reason: Schema.Literals(["transient", "permanent", "unknown"]),
  },
  { httpApiStatus: 503 },
) {
  override get message(): string {
    const { provider, reason } = this
    return reason === "permanent"
      ? `the payment provider ${provider} refuses it: look at its log, and at the keys that it was given`
      : `the payment provider ${provider} did not answer as it should: try again in a moment`
  }
}
