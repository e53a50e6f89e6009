/**
 * The Idempotency-Key of a request, and the fingerprint that distinguishes a repeat from a different request.
 */
import { InvalidInput } from "@billwright/core"
import { DateTime, Effect, Predicate } from "effect"

/** The longest key, in characters. */
const MAX_KEY_LENGTH = 255

/** Visible ASCII. The draft standard has the key in quotes, but most clients send it without. */
const KEY = new RegExp(`^[\\x21-\\x7e]{1,${MAX_KEY_LENGTH}}$`, "u")

const unquote = (header: string): string =>
  header.length > 2 && header.startsWith('"') && header.endsWith('"') ? header.slice(1, -1) : header

/** Reads the header; `undefined` when there is none. */
export const key = (header: string | undefined): Effect.Effect<string | undefined, InvalidInput> => {
  if (header === undefined) return Effect.undefined
  const value = unquote(header)
  return KEY.test(value)
    ? Effect.succeed(value)
    : Effect.fail(
        new InvalidInput({
          field: "Idempotency-Key",
          problem: `must be 1 to ${MAX_KEY_LENGTH} visible ASCII characters`,
        }),
      )
}

/** The canonical text of a decoded value: with sorted keys, instants in UTC, and integers as digits. */
const canonical = (value: unknown): string => {
  if (typeof value === "bigint") return String(value)
  if (DateTime.isDateTime(value)) return JSON.stringify(DateTime.formatIso(value))
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (Predicate.isObject(value)) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join(",")}}`
  }
  return JSON.stringify(value) ?? "null"
}

/** The SHA-256 of the query and the body, as 64 hexadecimal digits. */
export const fingerprint = (query: unknown, payload: unknown): Effect.Effect<string> =>
  Effect.promise(async () => {
    const bytes = new TextEncoder().encode(canonical([query, payload]))
    const digest = await crypto.subtle.digest("SHA-256", bytes)
    return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("")
  })
