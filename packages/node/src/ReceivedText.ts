/**
 * What a receiver answered, as text that any storage takes: well-formed, without NUL, bounded. Its bytes are
 * hostile until they have been through here.
 */
import { MAX_KEPT_HEADER_LENGTH, MAX_KEPT_RESPONSE_BYTES, MAX_KEPT_RESPONSE_HEADERS } from "@billwright/core"

/** Longest name of a header that is kept, in characters: a longer one is left out. */
const MAX_KEPT_NAME_LENGTH = 128

// oxlint-disable-next-line no-control-regex -- it is these that are removed
const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f]/g

/**
 * The first `MAX_KEPT_RESPONSE_BYTES` of a body as text: what is no UTF-8 becomes U+FFFD, NUL is removed. As these
 * take three bytes for one, the text is cut again to as many bytes of UTF-8, between two characters.
 */
export const fromBody = (chunks: ReadonlyArray<Uint8Array>): string => {
  if (chunks.length === 0) return ""
  const bytes = Buffer.concat(chunks)
  const isCut = bytes.length > MAX_KEPT_RESPONSE_BYTES
  // As a stream: a character that the cut goes through is left out rather than replaced.
  const text = new TextDecoder().decode(bytes.subarray(0, MAX_KEPT_RESPONSE_BYTES), { stream: isCut })
  return cutToBytes(text.replaceAll("\0", ""))
}

const cutToBytes = (text: string): string => {
  if (text.length * 3 <= MAX_KEPT_RESPONSE_BYTES) return text
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(MAX_KEPT_RESPONSE_BYTES)).read)
}

const fromHeader = (value: string | ReadonlyArray<string> | undefined): string =>
  (typeof value === "string" ? value : (value ?? []).join(", "))
    .replaceAll(CONTROLS, "")
    .slice(0, MAX_KEPT_HEADER_LENGTH)

/**
 * The first `MAX_KEPT_RESPONSE_HEADERS` headers, each with its first `MAX_KEPT_HEADER_LENGTH` characters and
 * without control characters. Bytes beyond ASCII are read as Latin-1, as HTTP once had it.
 */
export const fromHeaders = (
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>,
): Readonly<Record<string, string>> => {
  const kept = Object.entries(headers).filter(([name]) => name.length <= MAX_KEPT_NAME_LENGTH)
  // `fromEntries` defines, so that a header of the name `__proto__` is one like all others.
  return Object.fromEntries(
    kept.slice(0, MAX_KEPT_RESPONSE_HEADERS).map(([name, value]) => [name, fromHeader(value)]),
  )
}
