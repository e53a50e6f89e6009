/**
 * The REST definitions of the health checks, for load balancers and orchestrators. They are outside `/v1` and need
 * no API key.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { errorBody } from "./ErrorBody.ts"

const StatusBody = Schema.Struct({
  status: Schema.Literal("ok"),
}).annotate({ identifier: "Health", description: "The check succeeded." })

export const HealthApi = HttpApiGroup.make("health")
  .add(
    HttpApiEndpoint.get("isLive", "/livez", {
      success: StatusBody,
      error: errorBody("invalid_request"),
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Check that the process is alive",
        description: "For liveness probes. It does not ask the database.",
      }),
    ),
  )
  .add(
    HttpApiEndpoint.get("isReady", "/readyz", {
      success: StatusBody,
      error: [errorBody("invalid_request"), errorBody("unavailable")],
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Check that the server can serve requests",
        description:
          "For readiness probes. It asks the database. 503 while the database can't be reached, is not migrated or accepts no writes.",
      }),
    ),
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Health", description: "Checks for load balancers and orchestrators." }),
  )
