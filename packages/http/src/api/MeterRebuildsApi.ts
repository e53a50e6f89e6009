/**
 * The REST definition of building the roll-ups of a meter.
 */
import { Meter } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { writeErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as ResourceApi from "./ResourceApi.ts"

/** The most batches of one request. A batch takes milliseconds to some tenths of a second. */
export const MAX_BATCHES_OF_REQUEST = 10

export const MeterRebuildsApi = HttpApiGroup.make("meter_rebuilds")
  .add(
    HttpApiEndpoint.post("rebuildMeter", "/meters/:id/rebuild", {
      params: Schema.Struct({ id: Schema.String.annotate({ description: "The id of the meter." }) }),
      success: ResourceApi.body(Meter.meters),
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "usage:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Build a meter",
          description:
            "Does some of the work that is left on a meter, and returns the meter with its progress in `rebuild`. Repeat it, each time with another `Idempotency-Key` or without one, until `rebuild` is `null` or its status is `failed`. Servers also do this work in the background.",
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Building meters",
      description: "The work on meters that are not finished.",
    }),
  )
