/**
 * The REST definitions outside `/v1`: for load balancers and orchestrators, without a key.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { errorBody } from "./ErrorBody.ts"

const StatusBody = Schema.Struct({
  status: Schema.Literal("ok"),
}).annotate({ identifier: "Health", description: "All is well." })

export const HealthApi = HttpApiGroup.make("health")
  .add(
    HttpApiEndpoint.get("isLive", "/livez", {
      success: StatusBody,
      error: errorBody("invalid_request"),
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Is the process alive?",
        description: "Answers without asking the storage: for liveness probes.",
      }),
    ),
  )
  .add(
    HttpApiEndpoint.get("isReady", "/readyz", {
      success: StatusBody,
      error: [errorBody("invalid_request"), errorBody("unavailable")],
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Can it serve?",
        description:
          "Asks the storage: for readiness probes. 503 while it is out of reach, not migrated or takes no writes.",
      }),
    ),
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Health", description: "For load balancers and orchestrators." }),
  )
