/**
 * Ends what is pending of an endpoint that is disabled.
 */
import { type DateTime, Effect, Option } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { Transactor } from "../shared/Transactor.ts"
import { type DeliveryStore, MAX_CANCEL } from "./DeliveryStore.ts"
import type { EndpointId } from "./Endpoint.ts"
import type { EndpointStore } from "./EndpointStore.ts"

/** The ports that endpoints and their deliveries are written to. */
interface Ports {
  readonly deliveries: DeliveryStore["Service"]
  readonly endpoints: EndpointStore["Service"]
  readonly transactor: Transactor["Service"]
}

/**
 * Ends all pending deliveries of an endpoint while it is disabled. It works in steps, so that no step takes long when the
 * backlog is long. Each holds the endpoint: once that is enabled again, what is published for it is sent.
 */
export const endPendingOfDisabled = (
  { deliveries, endpoints, transactor }: Ports,
  id: EndpointId,
  at: DateTime.Utc,
): Effect.Effect<void, StorageError, CurrentTenant> => {
  const step = transactor.atomically(
    Effect.gen(function* () {
      const held = yield* endpoints.modify(id, Effect.succeed)
      const isDisabled = Option.exists(held, ({ endpoint }) => endpoint.status === "disabled")
      return isDisabled ? yield* deliveries.cancel(id, "endpoint_disabled", at) : 0
    }),
  )
  const steps: Effect.Effect<void, StorageError, CurrentTenant> = Effect.flatMap(step, (count) =>
    count < MAX_CANCEL ? Effect.void : steps,
  )
  return steps
}
