/**
 * Turns a receiver's answer into text that every storage takes: well-formed, without NUL, of limited length. Every
 * answer goes through here before it is stored, so that no answer can prevent its result from being written.
 */
import {
  MAX_KEPT_HEADER_LENGTH,
  MAX_KEPT_RESPONSE_BYTES,
  MAX_KEPT_RESPONSE_HEADERS,
  type WebhookResponse,
} from "./WebhookTransport.ts"

/** Longest name of a header that is kept, in characters. Headers with longer names are left out. */
const MAX_KEPT_NAME_LENGTH = 128

// oxlint-disable-next-line no-control-regex -- it is these that are removed
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/
const CONTROLS = new RegExp(CONTROL, "g")

/** Cuts a text to the bytes of UTF-8 that are kept, between two characters. */
const cutToBytes = (text: string): string => {
  if (text.length * 3 <= MAX_KEPT_RESPONSE_BYTES) return text
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(MAX_KEPT_RESPONSE_BYTES)).read)
}

const ofBody = (body: string): string => cutToBytes(body.replaceAll("\0", "").toWellFormed())

/** Hardly any has a control character, and looking for one takes less time than replacing none. */
const ofHeader = (value: string): string => {
  const text = CONTROL.test(value) ? value.replaceAll(CONTROLS, "") : value
  return text.slice(0, MAX_KEPT_HEADER_LENGTH).toWellFormed()
}

const ofHeaders = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const kept: Array<readonly [name: string, value: string]> = []
  for (const name of Object.keys(headers)) {
    if (kept.length === MAX_KEPT_RESPONSE_HEADERS) break
    if (name.length <= MAX_KEPT_NAME_LENGTH) kept.push([ofHeader(name), ofHeader(headers[name]!)])
  }
  // `fromEntries` defines properties, so a header named `__proto__` does not set a prototype.
  return Object.fromEntries(kept)
}

/** The part of a response that may be stored. A response whose status is not from 100 to 599 is a `bad_response`. */
export const storable = (response: WebhookResponse): WebhookResponse => {
  if (response._tag === "Failed") return response
  const { body, headers, status } = response
  if (!Number.isInteger(status) || status < 100 || status > 599)
    return { _tag: "Failed", error: "bad_response" }
  return { _tag: "Answered", status, headers: ofHeaders(headers), body: ofBody(body) }
}
