/**
 * What a receiver answered, as text that any storage takes: well-formed, without NUL, bounded. Whatever a transport
 * gives goes through here before it is kept, so that no answer can keep its own result from being written.
 */
import {
  MAX_KEPT_HEADER_LENGTH,
  MAX_KEPT_RESPONSE_BYTES,
  MAX_KEPT_RESPONSE_HEADERS,
  type WebhookResponse,
} from "./WebhookTransport.ts"

/** Longest name of a header that is kept, in characters: a longer one is left out. */
const MAX_KEPT_NAME_LENGTH = 128

// oxlint-disable-next-line no-control-regex -- it is these that are removed
const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f]/g

/** As many bytes of UTF-8 as are kept, cut between two characters. */
const cutToBytes = (text: string): string => {
  if (text.length * 3 <= MAX_KEPT_RESPONSE_BYTES) return text
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(MAX_KEPT_RESPONSE_BYTES)).read)
}

const ofBody = (body: string): string => cutToBytes(body.replaceAll("\0", "").toWellFormed())

const ofHeader = (value: string): string =>
  value.replaceAll(CONTROLS, "").slice(0, MAX_KEPT_HEADER_LENGTH).toWellFormed()

const ofHeaders = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const kept = Object.entries(headers).filter(([name]) => name.length <= MAX_KEPT_NAME_LENGTH)
  // `fromEntries` defines, so that a header of the name `__proto__` is one like all others.
  return Object.fromEntries(
    kept.slice(0, MAX_KEPT_RESPONSE_HEADERS).map(([name, value]) => [ofHeader(name), ofHeader(value)]),
  )
}

/** What of a response may be kept. One whose status is none is no answer. */
export const storable = (response: WebhookResponse): WebhookResponse => {
  if (response._tag === "Failed") return response
  const { body, headers, status } = response
  if (!Number.isInteger(status) || status < 100 || status > 599)
    return { _tag: "Failed", error: "bad_response" }
  return { _tag: "Answered", status, headers: ofHeaders(headers), body: ofBody(body) }
}
