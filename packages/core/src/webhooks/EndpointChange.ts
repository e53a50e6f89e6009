/**
 * What a change makes of an endpoint.
 */
import { type DateTime, Effect, Schema } from "effect"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import * as Metadata from "../shared/Metadata.ts"
import type * as Endpoint from "./Endpoint.ts"

// With its name, so that a problem names it.
const decodeMetadata = decoder(Schema.Struct({ metadata: Metadata.Metadata }))

const originOf = (url: string): string => new URL(url).origin

/** Headers hold credentials for one receiver, and are shown to nobody: another one must not get to see them. */
const areHeadersLost = (
  { headers, url }: Endpoint.Endpoint,
  fields: Pick<Endpoint.UpdateEndpoint, "headers" | "url">,
): boolean =>
  fields.url !== undefined &&
  fields.headers === undefined &&
  Object.keys(headers).length > 0 &&
  originOf(fields.url) !== originOf(url)

/** A change of nothing is none: `updatedAt` stays. */
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
      problem: `must be given anew, or removed by null: those that are set are for ${originOf(endpoint.url)}, and the new URL is of another origin`,
    })
  }
  const endpointNow: Endpoint.Endpoint = {
    ...endpoint,
    url: fields.url ?? endpoint.url,
    eventTypes: fields.eventTypes ?? endpoint.eventTypes,
    description: fields.description === undefined ? endpoint.description : fields.description,
    headers: fields.headers === undefined ? endpoint.headers : (fields.headers ?? {}),
    metadata: metadata === undefined ? endpoint.metadata : yield* patched(endpoint, metadata),
    // Another receiver has not failed yet.
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

/** Enabling forgets the failures: the time of nothing but failures begins anew. */
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
