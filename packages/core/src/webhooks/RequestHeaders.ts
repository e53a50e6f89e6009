/**
 * The headers that an endpoint can add to its requests: which can be set, and which values are shown.
 */
import { Schema } from "effect"
import { fromBase64 } from "../shared/Base64.ts"
import { HiddenWords, MASK, MIN_CUT_LENGTH } from "./HiddenWords.ts"

/** The `user-agent` of requests to receivers. */
export const DEFAULT_USER_AGENT = "Billwright-Webhooks/1"

/** Most headers of an endpoint. */
export const MAX_HEADERS = 20
/** Longest name of a header, in characters. */
export const MAX_HEADER_NAME_LENGTH = 100
/** Longest value of a header, in characters. */
export const MAX_HEADER_VALUE_LENGTH = 1_024

/** A token of RFC 9110 §5.6.2, in lower case. */
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/u
/** Visible ASCII, with spaces and tabs only between other characters (RFC 9110 §5.5, without the obsolete bytes). */
const VALUE = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/u

/** Headers that belong to the protocol, to the message or to the signature. */
const RESERVED = new Set([
  "accept-encoding",
  "connection",
  "date",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
])
const RESERVED_PREFIX = /^(content-|webhook-|svix-|sec-|proxy-)/

// In many programs that read the headers, assigning to `__proto__` would set a prototype instead of a key.
const isFree = (name: string): boolean =>
  !RESERVED.has(name) && !RESERVED_PREFIX.test(name) && name !== "__proto__"

/** An API key of Billwright. In a header it would be sent to the receiver. */
const API_KEY = /sk_(live|test)_/
/** Text that may be Base64, in either alphabet. Basic authentication writes credentials in it. */
const ENCODED = /[A-Za-z0-9+/_-]{12,}/g

const decoded = (text: string): string =>
  String.fromCharCode(...(fromBase64(text.replaceAll("-", "+").replaceAll("_", "/")) ?? []))

const holdsApiKey = (value: string): boolean =>
  API_KEY.test(value) || (value.match(ENCODED) ?? []).some((text) => API_KEY.test(decoded(text)))

const Value = Schema.String.check(
  Schema.isPattern(VALUE, { message: "must be visible ASCII, without spaces at the beginning or end" }),
  Schema.isMaxLength(MAX_HEADER_VALUE_LENGTH, {
    message: `must be at most ${MAX_HEADER_VALUE_LENGTH} characters`,
  }),
  Schema.makeFilter<string>((value) => !holdsApiKey(value), {
    message: "must not contain an API key of Billwright",
  }),
)

/** Reports an upper-case name before a reserved one. */
const isLowerCase = Schema.makeFilter<Readonly<Record<string, string>>>(
  (headers) => {
    const name = Object.keys(headers).find((each) => each !== each.toLowerCase())
    return name === undefined
      ? undefined
      : { path: [name], issue: `must be written in lower case: ${JSON.stringify(name.toLowerCase())}` }
  },
  // The pattern of the names already says this in JSON Schema.
  { toJsonSchema: () => ({}) },
)

/** At most 20 headers by lower-case name. `authorization` can be set, for the receiver's own credentials. */
export const RequestHeaders = Schema.Record(Schema.String, Value).check(
  Schema.isMaxProperties(MAX_HEADERS, { message: `must have at most ${MAX_HEADERS} headers` }),
  isLowerCase,
  Schema.isPropertyNames(
    Schema.String.check(
      Schema.isMaxLength(MAX_HEADER_NAME_LENGTH),
      Schema.isPattern(NAME),
      Schema.makeFilter(isFree),
    ),
    {
      message:
        "is not a header that can be set: names must be lower-case, and headers of HTTP itself, of the content and of the signature are reserved",
    },
  ),
)
export type RequestHeaders = typeof RequestHeaders.Type

export { MASK }

/** Headers whose values are shown: those that the sender sets, except the signature, and two `accept` headers. */
const SHOWN = new Set([
  "accept",
  "accept-language",
  "content-type",
  "user-agent",
  "webhook-id",
  "webhook-request-origin",
  "webhook-timestamp",
])

/** The headers with the values that may be shown. All other values are masked, because each may be a credential. */
export const masked = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, SHOWN.has(name) ? value : MASK]))

/** Shorter words are not treated as credentials: masking them would damage other text. */
const MIN_CREDENTIAL_LENGTH = 8
/**
 * Up to so many words are looked for one after the other: most texts hold the beginning of none. With more words, a search
 * of all at once takes less time.
 */
const MAX_SOUGHT = 8

/**
 * Makes a function that masks the values of a request's headers in a text. It is needed because some receivers answer
 * an error with everything that they were sent.
 *
 * It masks hidden values and their words (`Bearer …`) of 8 characters or more, anywhere in the text, also where they
 * overlap, and a word that the end of the text cuts off. It takes linear time: once for the headers, and for each text.
 */
export const withoutValues = (headers: Readonly<Record<string, string>>): ((text: string) => string) => {
  const words = credentialsIn(headers)
  let hidden: HiddenWords | undefined // built for the first text that needs it
  return (text) => {
    if (words.length <= MAX_SOUGHT && !words.some((word) => text.includes(word.slice(0, MIN_CUT_LENGTH))))
      return text
    hidden ??= new HiddenWords(words)
    return hidden.maskedIn(text)
  }
}

/** The hidden values, and the words of those that have several. */
const credentialsIn = (headers: Readonly<Record<string, string>>): ReadonlyArray<string> => {
  const words: Array<string> = []
  for (const name of Object.keys(headers)) {
    if (SHOWN.has(name)) continue
    const value = headers[name]!
    words.push(value)
    if (/\s/.test(value)) words.push(...value.split(/\s+/))
  }
  return words.filter((word) => word.length >= MIN_CREDENTIAL_LENGTH)
}
