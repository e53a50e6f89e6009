/**
 * The headers that an endpoint wants to be sent: which may be set, and which are shown.
 */
import { Schema } from "effect"

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
const API_KEY = /\bsk_(live|test)_/

const Value = Schema.String.check(
  Schema.isPattern(VALUE, { message: "must be visible ASCII, with spaces inside of it alone" }),
  Schema.isMaxLength(MAX_HEADER_VALUE_LENGTH, {
    message: `must be at most ${MAX_HEADER_VALUE_LENGTH} characters`,
  }),
  Schema.makeFilter<string>((value) => !API_KEY.test(value), { message: "must not hold an API key of ours" }),
)

/** At most 20 headers by lower-case name. `authorization` may be set: the receiver's own, never ours. */
export const RequestHeaders = Schema.Record(Schema.String, Value).check(
  Schema.isMaxProperties(MAX_HEADERS, { message: `must have at most ${MAX_HEADERS} headers` }),
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

const CREDENTIAL = /authorization|cookie|token|secret|password|api-?key|signature/

/** What is shown of a header's value that may be a credential. */
export const MASK = "***"

/** Headers as they may be shown: the signature and what looks like a credential are masked. */
export const masked = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, CREDENTIAL.test(name) ? MASK : value]),
  )
