/**
 * Names and values on the wire and in TypeScript: `created_at`, text, becomes `createdAt`, a `Date`.
 */

/** What is below these is the caller's own. */
const OPAQUE = new Set([
  "data",
  "example",
  "headers",
  "metadata",
  "request_headers",
  "response_headers",
  "schema",
])

const INSTANTS = new Set([
  "attempt_started_at",
  "created_at",
  "disabled_at",
  "end",
  "failing_since",
  "finished_at",
  "last_fired_at",
  "next_attempt_at",
  "period_end",
  "period_start",
  "since",
  "start",
  "started_at",
  "timestamp",
  "until",
  "updated_at",
  "voided_at",
])

const toCamel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
const toSnake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const readField = (name: string, value: unknown): unknown => {
  if (OPAQUE.has(name)) return value
  return INSTANTS.has(name) && typeof value === "string" ? new Date(value) : read(value)
}

/** What the key that the client has, the call, or another field says already. */
const isRedundant = (name: string, value: { readonly object?: unknown }): boolean =>
  name === "object" || name === "livemode" || (name === "created_at" && value.object === "event")

const read = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(read)
  if (typeof value !== "object" || value === null) return value
  const fields = Object.entries(value).filter(([name]) => !isRedundant(name, value))
  return Object.fromEntries(fields.map(([name, field]) => [toCamel(name), readField(name, field)]))
}

/** An object of an answer. The type is what the API promises. */
export const fromWire = <A>(body: unknown): A => read(body) as A

/** An object of a request: fields that are `undefined` are left out, `Date`s become text. */
export const toWire = (input: object): Record<string, unknown> => {
  const body: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue
    body[toSnake(name)] = value instanceof Date ? value.toISOString() : value
  }
  return body
}

/** A query string, with `?`, or nothing. */
export const toQuery = (input: object): string => {
  const query = new URLSearchParams(
    Object.entries(toWire(input)).map(([name, value]) => [name, String(value)]),
  ).toString()
  return query === "" ? "" : `?${query}`
}
