/**
 * The headers that an endpoint wants to be sent: which may be set, and which are shown.
 */
import { Schema } from "effect"
import { fromBase64 } from "../shared/Base64.ts"
import { HiddenWords, MASK } from "./HiddenWords.ts"

/** Most headers of an endpoint. */
export const MAX_HEADERS = 20
/** Longest name, in characters. */
export const MAX_HEADER_NAME_LENGTH = 100
/** Longest value, in characters. */
export const MAX_HEADER_VALUE_LENGTH = 1_024

/** A token of RFC 9110 §5.6.2, in lower case. */
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/u
/** Visible ASCII with spaces and tabs inside of it (RFC 9110 §5.5, without the obsolete bytes). */
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

// `__proto__` would set a prototype instead of a key in many a program that reads it back.
const isFree = (name: string): boolean =>
  !RESERVED.has(name) && !RESERVED_PREFIX.test(name) && name !== "__proto__"

/** A key of this very API in a header would hand it to the receiver. */
const API_KEY = /sk_(live|test)_/
/** What may be Base64 of either alphabet: Basic authentication writes a key in it. */
const ENCODED = /[A-Za-z0-9+/_-]{12,}/g

const decoded = (text: string): string =>
  String.fromCharCode(...(fromBase64(text.replaceAll("-", "+").replaceAll("_", "/")) ?? []))

const holdsApiKey = (value: string): boolean =>
  API_KEY.test(value) || (value.match(ENCODED) ?? []).some((text) => API_KEY.test(decoded(text)))

const Value = Schema.String.check(
  Schema.isPattern(VALUE, { message: "must be visible ASCII, with spaces inside of it alone" }),
  Schema.isMaxLength(MAX_HEADER_VALUE_LENGTH, {
    message: `must be at most ${MAX_HEADER_VALUE_LENGTH} characters`,
  }),
  Schema.makeFilter<string>((value) => !holdsApiKey(value), { message: "must not hold an API key of ours" }),
)

/** Which name is to be written otherwise, said before it is said that it is not one of those that can be set. */
const isLowerCase = Schema.makeFilter<Readonly<Record<string, string>>>(
  (headers) => {
    const name = Object.keys(headers).find((each) => each !== each.toLowerCase())
    return name === undefined
      ? undefined
      : { path: [name], issue: `must be written in lower case: ${JSON.stringify(name.toLowerCase())}` }
  },
  // JSON Schema has it from the pattern of the names.
  { toJsonSchema: () => ({}) },
)

/** At most 20 headers by lower-case name. `authorization` may be set: the receiver's own, never ours. */
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
        "is not a header that can be set: names are lower-case, and those of HTTP itself, of the content and of the signature are taken",
    },
  ),
)
export type RequestHeaders = typeof RequestHeaders.Type

export { MASK }

/** Headers whose values are shown: those of ours but for the signature, and two that say what is understood. */
const SHOWN = new Set([
  "accept",
  "accept-language",
  "content-type",
  "user-agent",
  "webhook-id",
  "webhook-timestamp",
])

/** Headers as they may be shown. All others are masked, whatever their names: any of them may hold a credential. */
export const masked = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, SHOWN.has(name) ? value : MASK]))

/** Shorter words are no credentials, and masking them would tear other text apart. */
const MIN_CREDENTIAL_LENGTH = 8

/**
 * Makes what takes the values of a request's headers out of a text: there are receivers that answer an error with all
 * that they were sent. Hidden are values that aren't shown, and their words (`Bearer …`), of 8 characters or more,
 * wherever they stand, also where they overlap; and a word that the end of the text cuts off. Takes time in proportion
 * to the headers, once, and to each text, whatever is in them.
 */
export const withoutValues = (headers: Readonly<Record<string, string>>): ((text: string) => string) => {
  let hidden: HiddenWords | undefined // made when there is a text to look through
  return (text) => {
    if (text === "") return text
    hidden ??= new HiddenWords(credentialsIn(headers))
    return hidden.maskedIn(text)
  }
}

const credentialsIn = (headers: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(headers)
    .filter(([name]) => !SHOWN.has(name))
    .flatMap(([, value]) => [value, ...value.split(/\s+/)])
    .filter((word) => word.length >= MIN_CREDENTIAL_LENGTH)
