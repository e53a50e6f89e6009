/**
 * The event of API keys.
 */
import { DateTime, Schema } from "effect"
import * as EventType from "../events/EventType.ts"
import { WireInstant } from "../events/HostEvents.ts"
import { type ApiKey, ApiKeyId } from "./ApiKey.ts"

/** The type of the event of a key that expires soon, and was neither rolled nor revoked. */
export const apiKeyExpiring = EventType.make({
  name: "api_key.expiring",
  description: "An API key expires soon. Roll it, and give the new one to whoever uses it.",
  data: Schema.Struct({
    api_key_id: ApiKeyId,
    name: Schema.String,
    /** The last 4 characters of its secret. */
    hint: Schema.String,
    expires_at: WireInstant,
    /** When it was used last. `null`: never. */
    last_used_at: Schema.NullOr(WireInstant),
  }),
  // It is about a key, not about a customer.
  kept: ["name", "hint", "expires_at", "last_used_at"],
  example: {
    api_key_id: "key_01kahd3kc8e0fsr8zknzqgf2h1",
    name: "reporting",
    hint: "x7Qa",
    expires_at: "2026-12-03T09:30:00.000Z",
    last_used_at: "2026-11-26T09:29:00.000Z",
  },
})

/** The data of the event of a key that has an expiry. */
export const apiKeyExpiringData = (key: ApiKey, expiresAt: DateTime.Utc) => ({
  api_key_id: key.id,
  name: key.name,
  hint: key.hint,
  expires_at: DateTime.formatIso(expiresAt),
  last_used_at: key.lastUsedAt && DateTime.formatIso(key.lastUsedAt),
})
