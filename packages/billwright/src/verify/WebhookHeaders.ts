import { WebhookVerificationError } from "./WebhookVerificationError.ts"

type HeaderValue = string | ReadonlyArray<string> | null | undefined

/**
 * The headers of the request in the form that your framework has: a `Headers`, a plain object as in Node, a `Map`,
 * or any iterable of pairs. The case of names does not matter, except in an object that has only `get`: it is
 * called with lower-case names.
 */
export type WebhookHeaders =
  | Iterable<readonly [name: string, value: HeaderValue]>
  | { readonly get: (name: string) => string | null | undefined }
  | { readonly [name: string]: string | ReadonlyArray<string> | undefined }

/** The longest `webhook-id`, in characters. Those of Billwright have 30. */
export const MAX_ID_LENGTH = 256

/** The three headers of Standard Webhooks; only the id is known to be well-formed. */
export interface HeaderTexts {
  readonly id: string
  readonly timestamp: string
  readonly signature: string
}

const names = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const

const invalidHeaders = (problem: string) => new WebhookVerificationError("invalid_headers", problem)

const isIterable = (value: object): value is Iterable<unknown> => Symbol.iterator in value

const entriesOf = (headers: unknown): Iterable<unknown> => {
  if (typeof headers !== "object" || headers === null)
    throw invalidHeaders("The headers of the request must be a Headers, a plain object, or pairs.")
  if (isIterable(headers)) return headers
  if ("get" in headers && typeof headers.get === "function") {
    const only = headers as { readonly get: (name: string) => unknown }
    return names.map((name) => [name, only.get(name)])
  }
  return Object.entries(headers)
}

const textsOf = (name: string, value: unknown): ReadonlyArray<string> => {
  if (value === undefined || value === null) return []
  const values: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  if (!values.every((each) => typeof each === "string"))
    throw invalidHeaders(`The header ${name} must be a string.`)
  return values
}

/**
 * Collects the three headers. A header that came twice gets both values, joined as HTTP joins them. That fails
 * later, because none of the three may be a list.
 */
const collect = (headers: unknown): ReadonlyMap<string, string> => {
  const found = new Map<string, ReadonlyArray<string>>(names.map((name) => [name, []]))
  for (const entry of entriesOf(headers)) {
    if (!Array.isArray(entry)) throw invalidHeaders("The headers must be pairs of a name and a value.")
    const [name, value] = entry as ReadonlyArray<unknown>
    const key = String(name).toLowerCase()
    const before = found.get(key)
    if (before !== undefined) found.set(key, [...before, ...textsOf(key, value)])
  }
  return new Map([...found].map(([name, values]) => [name, values.join(", ")]))
}

const checkId = (id: string): void => {
  // The signed content is "id.timestamp.body". If the id could have a dot, two messages could have the same
  // signature.
  if (id.length > MAX_ID_LENGTH || !/^[!-~]+$/.test(id) || id.includes("."))
    throw new WebhookVerificationError(
      "invalid_id",
      `The header webhook-id must be 1 to ${MAX_ID_LENGTH} visible ASCII characters without a dot.`,
    )
}

/** Throws `invalid_headers`, `missing_header` or `invalid_id`. */
export const readHeaders = (headers: WebhookHeaders): HeaderTexts => {
  const found = collect(headers)
  const [id = "", timestamp = "", signature = ""] = names.map((name) => {
    const text = found.get(name) ?? ""
    if (text === "") throw new WebhookVerificationError("missing_header", `The header ${name} is missing.`)
    return text
  })
  checkId(id)
  return { id, timestamp, signature }
}
