/**
 * Implements `billing.endpoints`.
 */
import { type CreatedEndpoint as Core, Endpoints as EndpointsService } from "@billwright/core"
import { Effect } from "effect"
import type { CallOptions } from "../Call.ts"
import { InvalidInputError } from "../errors/BillingError.ts"
import { toEvent } from "../events/EventCalls.ts"
import type { EventMap } from "../events/EventMap.ts"
import type { Calls } from "../runtime/Calls.ts"
import * as Ids from "../runtime/Ids.ts"
import { toInput, toOptionalInput } from "../runtime/Input.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import type { Endpoints } from "./Endpoints.ts"

/** Throws an `InvalidInputError` when `type` is not text. The service checks that the type exists. */
const toTestType = (input: unknown): string => {
  const { type } = (input ?? {}) as { readonly type?: unknown }
  if (typeof type === "string") return type
  throw new InvalidInputError("type", "must be the name of an event type such as invoice.paid")
}

const withSecret = ({ endpoint, secret }: Core) => ({ ...endpoint, secret: secret ?? null })

export const makeEndpoints = (calls: Calls): Endpoints<EventMap> => {
  const endpoints = calls.service(EndpointsService)
  return {
    create: (input, options) =>
      calls.run(() => Effect.map(endpoints.create(toInput(input)), withSecret), options),
    get: (id, options) => calls.run(() => endpoints.get(Ids.endpointId(id)), options),
    list: (query, options) =>
      makeListing(query, (page) => calls.run(() => endpoints.list(toOptionalInput(page)), options)),
    update: (id, input, options) =>
      calls.run(() => endpoints.update(Ids.endpointId(id), toInput(input)), options),
    delete: (id, options) => calls.run(() => endpoints.delete(Ids.endpointId(id)), options),
    rotateSecret: (id, input, options) =>
      calls.run(
        () => Effect.map(endpoints.rotateSecret(Ids.endpointId(id), toOptionalInput(input)), withSecret),
        options,
      ),
    test: (id, input, options) =>
      calls.runAsIs(
        () => Effect.map(endpoints.test(Ids.endpointId(id), toTestType(input)), toEvent),
        options,
      ),
    replay: (id, input, options) =>
      calls.run(() => endpoints.replayRange(Ids.endpointId(id), toInput(input, "since", "until")), options),
  }
}

/** Processes the endpoints of all tenants in batches until none is left. Returns how many it changed. */
export const rotateEncryption = async (calls: Calls, options: CallOptions | undefined): Promise<number> => {
  const { rotateEncryption: rotateBatch } = calls.service(EndpointsService)
  let count = 0
  for (;;) {
    const changed = await calls.runAsIs(() => rotateBatch, options)
    if (changed === 0) return count
    count += changed
  }
}
