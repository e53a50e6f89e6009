/**
 * The REST definitions of entitlements.
 */
import { Customer, Entitlement, SubscriptionId, UsageRecord } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

const CustomerIdField = Customer.CustomerId.annotate({ description: "The customer." })
const FeatureField = Entitlement.FeatureKey.annotate({ description: "The key of the feature in plans." })

/** A count of an answer. */
const units = (description: string) =>
  Schema.NullOr(
    Wire.exactInteger({
      minimum: 0,
      maximum: Number.MAX_VALUE,
      problem: "must be an integer",
      description: `${description}, in whole units of the meter. ${Wire.LARGE_INTEGERS}`,
    }),
  ).annotate({
    description: `${description}, in whole units of the meter. \`null\` if the feature is not metered.`,
  })

const entitlementFields = {
  customer_id: CustomerIdField,
  feature: FeatureField,
  type: Schema.NullOr(Entitlement.FeatureType).annotate({
    description: "The type of the feature. `null` if no plan of the customer has it.",
  }),
  allowed: Schema.Boolean.annotate({ description: "Whether the customer may use what was asked for." }),
  reason: Entitlement.EntitlementReason.annotate({
    description:
      "Why. `included`: a plan includes it. `overage`: it is beyond a soft limit. `limit_reached`: it would be beyond a hard limit. `spend_limit`: it is beyond a soft limit, and a spend alert blocks. `not_included`: no plan of the customer has the feature. `past_due`: one has, but a payment is late, and the grace of the plan is over. `no_subscription`: no subscription of the customer is active or in a trial.",
  }),
  value: Schema.NullOr(Wire.text(Entitlement.MAX_CONFIG_LENGTH)).annotate({
    description: "The value of a `config` feature. Otherwise `null`.",
  }),
  subscription_id: Schema.NullOr(SubscriptionId).annotate({
    description: "The subscription that decides. `null` if none has the feature.",
  }),
  meter: Schema.NullOr(Entitlement.FeatureKey).annotate({
    description: "The key of the meter. `null` if the feature is not metered.",
  }),
  limit_type: Schema.NullOr(Entitlement.LimitType).annotate({
    description:
      "`hard`: what is beyond the limit is refused. `soft`: it is allowed as overage. `null` if the feature is not metered.",
  }),
  limit: units("What the period includes, with what rolled over from earlier periods"),
  used: units("What was used in the period"),
  balance: units("What is left"),
  overage: units("What was used beyond the limit"),
  period_start: Wire.instantOrNull("Since when usage counts. `null` if the feature is not metered."),
  resets_at: Wire.instantOrNull("When the count begins again. `null` if the feature is not metered."),
}

const EntitlementBody = Schema.Struct({
  object: Schema.Literal("entitlement"),
  ...entitlementFields,
  rolled_over: units("How much of the limit rolled over from earlier periods. It is used first"),
  livemode: Wire.Livemode,
}).annotate({
  identifier: "Entitlement",
  description: "Whether a customer may use a feature now, and what is left of it.",
})

const ConsumptionBody = Schema.Struct({
  object: Schema.Literal("entitlement_consumption"),
  ...entitlementFields,
  quantity: UsageRecord.Quantity.annotate({ description: "What was asked for." }),
  usage_record_id: Schema.NullOr(UsageRecord.UsageRecordId).annotate({
    description: "The usage record that was made. `null` if it was not allowed.",
  }),
  idempotency_key: Schema.NullOr(UsageRecord.UsageKey).annotate({
    description: "The idempotency key of the request.",
  }),
  livemode: Wire.Livemode,
}).annotate({
  identifier: "EntitlementConsumption",
  description: "What came of using a feature. Its amounts are those after it.",
})

const EntitlementListBody = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(EntitlementBody)
    .check(Schema.isMaxLength(Entitlement.MAX_ENTITLEMENTS))
    .annotate({ description: "The entitlements, in the order of the features' keys." }),
  has_more: Schema.Literal(false).annotate({ description: "Always `false`: the list is complete." }),
}).annotate({ identifier: "EntitlementList", description: "All entitlements of a customer." })

const quantityField = (description: string) =>
  Schema.optionalKey(Entitlement.EntitlementQuantity.annotate({ description: `${description} Default: 1.` }))

const CheckInput = Schema.Struct({
  customerId: CustomerIdField,
  feature: FeatureField,
  quantity: quantityField("How much more of a metered feature is asked for."),
})
  .pipe(Schema.encodeKeys({ customerId: "customer_id" }))
  .annotate({ identifier: "CheckEntitlement", description: "A customer, a feature and a quantity." })

const ConsumeInput = Schema.Struct({
  customerId: CustomerIdField,
  feature: FeatureField,
  quantity: quantityField("How much of the feature is used."),
  dimensions: Schema.optionalKey(
    UsageRecord.RecordUsage.fields.dimensions.schema.annotate({
      description: "The dimensions of the usage record.",
    }),
  ),
  idempotencyKey: Schema.optionalKey(
    UsageRecord.UsageKey.annotate({
      description:
        "With a key, the same again records nothing and gives the first answer, for ever. Other content is a `conflict`. It is the key of the usage record, too, so it is unique for the customer.",
    }),
  ),
})
  .pipe(Schema.encodeKeys({ customerId: "customer_id", idempotencyKey: "idempotency_key" }))
  .annotate({ identifier: "ConsumeEntitlement", description: "What a customer uses of a metered feature." })

const ListQuery = Schema.Struct({ customerId: CustomerIdField }).pipe(
  Schema.encodeKeys({ customerId: "customer_id" }),
)

export const EntitlementsApi = HttpApiGroup.make("entitlements")
  .add(
    HttpApiEndpoint.get("listEntitlements", "/entitlements", {
      query: ListQuery,
      success: EntitlementListBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "entitlements:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "List entitlements",
          description:
            "Lists all features of the plans of a customer's subscriptions that are active or in a trial, each as it is for a quantity of 1.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("checkEntitlement", "/entitlements/check", {
      payload: CheckInput,
      success: EntitlementBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "entitlements:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Check an entitlement",
          description:
            "Says whether a customer may use a feature now. Changes nothing and promises nothing: another request may use it up first.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("consumeEntitlement", "/entitlements/consume", {
      payload: ConsumeInput,
      success: ConsumptionBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "entitlements:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Consume an entitlement",
          description:
            "Checks a metered feature, and records its usage if it is allowed. Of any number of requests at once, those are allowed for whom a hard limit has room. One that is not allowed records nothing: its answer has `allowed: false`, and is no error.",
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Entitlements",
      description: "What customers may use: the features of the plans of their subscriptions.",
    }),
  )

export type EntitlementBody = typeof EntitlementBody.Encoded
export type EntitlementConsumptionBody = typeof ConsumptionBody.Encoded
