/**
 * The REST definitions of usage thresholds.
 */
import { Customer, Threshold, UsageRecord } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

const fields = {
  customerId: Customer.CustomerId.annotate({ description: "The customer whose usage is watched." }),
  productId: UsageRecord.ProductId.annotate({ description: "The product that is watched." }),
  unit: UsageRecord.Unit.annotate({ description: "The unit that is watched." }),
  quantity: Wire.exactInteger({
    minimum: 1,
    maximum: Number(Threshold.MAX_THRESHOLD_QUANTITY),
    problem: "must be an integer from 1 to 10^30",
    description: `The total that fires the threshold: 1 to 10^30. ${Wire.LARGE_INTEGERS}`,
  }),
  period: Threshold.ThresholdPeriod.annotate({
    description: "What the total is counted over: a UTC day, a UTC month, or all time.",
  }),
}

const CreateBody = Schema.Struct(fields)
  .pipe(Schema.encodeKeys({ customerId: "customer_id", productId: "product_id" }))
  .annotate({ identifier: "CreateUsageThreshold", description: "What it takes to create a usage threshold." })

/** A usage threshold as it is answered. */
export const ThresholdBody = Schema.Struct({
  object: Schema.Literal("usage_threshold"),
  id: Threshold.ThresholdId.annotate({ description: "The id of the threshold." }),
  customer_id: fields.customerId,
  product_id: fields.productId,
  unit: fields.unit,
  quantity: fields.quantity,
  period: fields.period,
  last_fired_at: Wire.instantOrNull("When it last fired."),
  livemode: Schema.Boolean.annotate({ description: "Whether this is live, or of the test mode." }),
  created_at: Wire.instant("When the threshold was created."),
}).annotate({
  identifier: "UsageThreshold",
  description: "Fires once a period, when the total reaches the quantity.",
})

/** What is left of a threshold that was deleted. */
export const DeletedThresholdBody = Schema.Struct({
  object: Schema.Literal("usage_threshold"),
  id: Threshold.ThresholdId.annotate({ description: "The id of the threshold." }),
  deleted: Schema.Literal(true),
}).annotate({ identifier: "DeletedUsageThreshold", description: "A threshold that was deleted." })

const ListQuery = Schema.Struct({
  ...Wire.pageFields,
  customerId: Schema.optionalKey(Customer.CustomerId.annotate({ description: "Only this customer's." })),
}).pipe(Schema.encodeKeys({ ...Wire.pageKeys, customerId: "customer_id" }))

const Params = Schema.Struct({ id: Schema.String.annotate({ description: "The id of the threshold." }) })

export const ThresholdsApi = HttpApiGroup.make("usage_thresholds")
  .add(
    HttpApiEndpoint.post("createUsageThreshold", "/usage/thresholds", {
      payload: CreateBody,
      success: ThresholdBody.pipe(HttpApiSchema.status(201)),
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "usage:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create a usage threshold",
          description:
            "Watches a customer's usage of a product. It fires exactly once for each period, with the record that reaches it; voiding records never un-fires it.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("listUsageThresholds", "/usage/thresholds", {
      query: ListQuery,
      success: Wire.list(ThresholdBody, "UsageThresholdList"),
      error: readErrors(),
    })
      .annotate(RequiredPermission, "usage:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "List usage thresholds",
          description: "Lists thresholds, newest first.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getUsageThreshold", "/usage/thresholds/:id", {
      params: Params,
      success: ThresholdBody,
      error: readErrors("not_found"),
    })
      .annotate(RequiredPermission, "usage:read")
      .annotateMerge(
        OpenApi.annotations({ summary: "Get a usage threshold", description: "Gives one threshold." }),
      ),
  )
  .add(
    HttpApiEndpoint.delete("deleteUsageThreshold", "/usage/thresholds/:id", {
      params: Params,
      success: DeletedThresholdBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "usage:write")
      .annotateMerge(
        OpenApi.annotations({ summary: "Delete a usage threshold", description: "It won't fire again." }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Usage thresholds",
      description: "Be told when a customer has used so much.",
    }),
  )
