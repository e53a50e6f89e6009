/**
 * Webhook endpoints and their secrets as rows.
 */
import { type ClaimedEndpoint, Endpoint, Id, type Metadata, type RequestHeaders } from "@billwright/core"
import { Statement } from "effect/sql"
import { millisColumn } from "../Millis.ts"
import { instant, instantOrNull, json, type Row, text, textOrNull } from "../Row.ts"

/** The columns that `endpointFromRow` and `storedFromRow` read. */
export const endpointColumns = Statement.fragment([
  Statement.literal(
    `t.id::text as id, t.url, to_json(t.event_types)::text as event_types, t.description, t.headers::text as headers,
  t.metadata::text as metadata, t.signature, t.public_key, t.status, t.disabled_reason, ${millisColumn("t.disabled_at")},
  ${millisColumn("t.failing_since")}, ${millisColumn("t.created_at")}, ${millisColumn("t.updated_at")}, t.secrets::text as secrets`,
  ),
])

export const endpointId = (uuid: string): Endpoint.EndpointId =>
  Id.fromUuid(Endpoint.ENDPOINT_ID_PREFIX, uuid) as Endpoint.EndpointId

export const endpointFromRow = (row: Row): Endpoint.Endpoint => ({
  id: endpointId(text(row, "id")),
  url: text(row, "url"),
  eventTypes: json(row, "event_types") as ReadonlyArray<string>,
  description: textOrNull(row, "description"),
  headers: headersOf(json(row, "headers")),
  metadata: json(row, "metadata") as Metadata.Metadata,
  signature: signatureOf(text(row, "signature")),
  publicKey: textOrNull(row, "public_key"),
  status: text(row, "status") as Endpoint.EndpointStatus,
  disabledReason: textOrNull(row, "disabled_reason") as Endpoint.DisabledReason | null,
  disabledAt: instantOrNull(row, "disabled_at"),
  failingSince: instantOrNull(row, "failing_since"),
  createdAt: instant(row, "created_at"),
  updatedAt: instant(row, "updated_at"),
})

export const storedFromRow = (row: Row): Endpoint.StoredEndpoint => ({
  endpoint: endpointFromRow(row),
  secrets: secretsOf(json(row, "secrets")),
})

/** The endpoint of a claimed delivery, as `claimedEndpointJson` gives it. */
export const claimedEndpoint = (uuid: string, endpoint: Row): ClaimedEndpoint => {
  const status = text(endpoint, "status")
  if (status !== "enabled" && status !== "disabled" && status !== "deleted") {
    throw new TypeError("the status of an endpoint is unknown")
  }
  return {
    id: endpointId(uuid),
    status,
    url: text(endpoint, "url"),
    headers: headersOf(json(endpoint, "headers")),
    signature: signatureOf(text(endpoint, "signature")),
    secrets: secretsOf(json(endpoint, "secrets")),
    failingSince: instantOrNull(endpoint, "failing_since"),
  }
}

/** Secrets as JSON: `[{ "sealed": "…", "created_at": millis, "expires_at": millis }]`. */
export const secretsJson = (secrets: ReadonlyArray<Endpoint.EndpointSecret>): string =>
  JSON.stringify(
    secrets.map(({ createdAt, expiresAt, sealed }) => ({
      sealed,
      created_at: createdAt.epochMilliseconds,
      expires_at: expiresAt?.epochMilliseconds ?? null,
    })),
  )

// Checked here, so that a damaged row fails in the store and not at the receiver.

const secretsOf = (value: unknown): ReadonlyArray<Endpoint.EndpointSecret> => {
  if (!Array.isArray(value)) throw new TypeError("the secrets of an endpoint are not an array")
  return value.map((secret: Row) => ({
    sealed: text(secret, "sealed"),
    createdAt: instant(secret, "created_at"),
    expiresAt: instantOrNull(secret, "expires_at"),
  }))
}

export const headersOf = (value: unknown): RequestHeaders.RequestHeaders => {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value)
  if (!isRecord || Object.values(value).some((header) => typeof header !== "string")) {
    throw new TypeError("the headers of an endpoint are not an object of text values")
  }
  return value as RequestHeaders.RequestHeaders
}

const signatureOf = (value: string): Endpoint.SignatureScheme => {
  if (value !== "hmac" && value !== "ed25519") throw new TypeError("the signature of an endpoint is unknown")
  return value
}
