/**
 * Applies an update to an endpoint.
 */
import { type DateTime, Effect, Schema } from "effect"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import * as Metadata from "../shared/Metadata.ts"
import type * as Endpoint from "./Endpoint.ts"
import { originOf } from "./EndpointUrl.ts"

// A struct, so that the error's field begins with `metadata`.
const decodeMetadata = decoder(Schema.Struct({ metadata: Metadata.Metadata }))

/** Headers may hold credentials for one receiver. A receiver of another origin must not get them. */
const areHeadersLost = (
  { headers, url }: Endpoint.Endpoint,
  fields: Pick<Endpoint.UpdateEndpoint, "headers" | "url">,
): boolean =>
  fields.url !== undefined &&
  fields.headers === undefined &&
  Object.keys(headers).length > 0 &&
  originOf(fields.url) !== originOf(url)

/** Applies an update. An empty update leaves `updatedAt` as it is. */
export const apply = Effect.fnUntraced(function* (
  stored: Endpoint.StoredEndpoint,
  { metadata, status, ...fields }: Endpoint.UpdateEndpoint,
  now: DateTime.Utc,
) {
  if (metadata === undefined && status === undefined && Object.keys(fields).length === 0) return stored
  const { endpoint } = stored
  if (areHeadersLost(endpoint, fields)) {
    return yield* new InvalidInput({
      field: "headers",
      problem: `must be given again, or be null to remove them: the current headers are for ${originOf(endpoint.url)}, and the new URL has another origin`,
    })
  }
  const endpointNow: Endpoint.Endpoint = {
    ...endpoint,
    url: fields.url ?? endpoint.url,
    eventTypes: fields.eventTypes ?? endpoint.eventTypes,
    description: fields.description === undefined ? endpoint.description : fields.description,
    headers: fields.headers === undefined ? endpoint.headers : (fields.headers ?? {}),
    metadata: metadata === undefined ? endpoint.metadata : yield* patched(endpoint, metadata),
    // The receiver at a new URL has not failed yet.
    failingSince: fields.url === undefined || fields.url === endpoint.url ? endpoint.failingSince : null,
    updatedAt: now,
  }
  const changed: Endpoint.StoredEndpoint = {
    ...stored,
    endpoint: status === undefined ? endpointNow : withStatus(endpointNow, status, now),
  }
  return changed
})

const patched = (endpoint: Endpoint.Endpoint, patch: Metadata.MetadataPatch | null) =>
  Effect.map(
    decodeMetadata({ metadata: Metadata.patch(endpoint.metadata, patch) }),
    ({ metadata }) => metadata,
  )

/** Enabling resets `failingSince`, so that the 5 days of failures start again. */
const withStatus = (
  endpoint: Endpoint.Endpoint,
  status: Endpoint.EndpointStatus,
  now: DateTime.Utc,
): Endpoint.Endpoint => {
  if (endpoint.status === status) return endpoint
  return status === "enabled"
    ? { ...endpoint, status, disabledReason: null, disabledAt: null, failingSince: null }
    : { ...endpoint, status, disabledReason: "manual", disabledAt: now }
}
