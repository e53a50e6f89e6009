/**
 * The whole REST API as one definition: what servers, clients and the OpenAPI document are made from.
 */
import { Customer, type Resource, Threshold } from "@billwright/core"
import { HttpApi, OpenApi } from "effect/http-api"
import { DeliveriesApi } from "./DeliveriesApi.ts"
import { EventsApi } from "./EventsApi.ts"
import { EventTypesApi } from "./EventTypesApi.ts"
import { HealthApi } from "./HealthApi.ts"
import * as ResourceApi from "./ResourceApi.ts"
import { UsageApi } from "./UsageApi.ts"
import { WebhookEndpointsApi } from "./WebhookEndpointsApi.ts"

/** The version segment of every path that needs a key. */
export const VERSION_PREFIX = "/v1"

/** The resources whose part follows from their definitions. */
export const RESOURCES: ReadonlyArray<Resource.Definition> = [Customer.customers, Threshold.thresholds]

export const BillwrightApi = HttpApi.make("billwright")
  .add(ResourceApi.mutable(Customer.customers).prefix(VERSION_PREFIX))
  .add(UsageApi.prefix(VERSION_PREFIX))
  .add(ResourceApi.immutable(Threshold.thresholds).prefix(VERSION_PREFIX))
  .add(EventTypesApi.prefix(VERSION_PREFIX))
  .add(EventsApi.prefix(VERSION_PREFIX))
  .add(DeliveriesApi.prefix(VERSION_PREFIX))
  .add(WebhookEndpointsApi.prefix(VERSION_PREFIX))
  .add(HealthApi)
  .annotateMerge(
    OpenApi.annotations({
      title: "Billwright API",
      version: "1.0.0",
      summary: "Customers, metered usage and its exact totals, events and webhooks.",
      description: [
        "JSON over HTTP, snake_case names, RFC 3339 instants, exact integers.",
        "",
        "Every path under `/v1` needs an API key: `Authorization: Bearer sk_test_…`. Keys of the test mode see a world of their own.",
        "",
        "Every POST, PATCH and DELETE takes an `Idempotency-Key` (1 to 255 visible ASCII characters): a repeat within 7 days gets the same answer, byte for byte, with `Idempotent-Replayed: true`, and does nothing again.",
        "",
        'Every answer carries a `Request-Id`. Every error has the body `{"error": "<code>", "message": "<for people>"}`.',
      ].join("\n"),
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    }),
  )
