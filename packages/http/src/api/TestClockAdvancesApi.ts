/**
 * The REST definition of advancing a test clock.
 */
import { TestClock } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { writeErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as ResourceApi from "./ResourceApi.ts"
import * as Wire from "./Wire.ts"

const AdvanceBody = Schema.Struct({
  to: Wire.instant(
    "The instant to advance to. Not before the clock's `now`, nor before the instant that it already advances to.",
  ),
}).annotate({ identifier: "AdvanceTestClock", description: "How far to advance a test clock." })

export const TestClockAdvancesApi = HttpApiGroup.make("test_clock_advances")
  .add(
    HttpApiEndpoint.post("advanceTestClock", "/test_clocks/:id/advance", {
      params: Schema.Struct({ id: Schema.String.annotate({ description: "The id of the test clock." }) }),
      payload: AdvanceBody,
      success: ResourceApi.body(TestClock.testClocks),
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "subscriptions:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Advance a test clock",
          description:
            "Moves the clock towards an instant, and does what becomes due for its customers on the way, each thing at its instant: renewals, ends, invoices. One request works on at most 100 subscriptions and invoices. Repeat it with the same `to`, each time with another `Idempotency-Key` or without one, until `status` is `ready`; `now` says how far it is. What is done stays done, also when a request or a server dies. Webhooks are sent in real time.",
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Advancing test clocks",
      description: "Time that moves when you say so, in test mode.",
    }),
  )
