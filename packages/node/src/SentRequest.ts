/**
 * A request as it is written to a connection.
 */
import type { WebhookRequest } from "@billwright/core"
import type { Target } from "./Target.ts"

/** Headers that the transport sends itself, or that would change how the message is read. */
const OWN_HEADERS = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
])

// Nothing else is written, so no header and no path can end its line or begin another request.
const PATH = /^\/[\x21-\x7e]*$/
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

export interface SentRequest {
  readonly method: "OPTIONS" | "POST"
  /** `example.com:8443`. */
  readonly authority: string
  readonly path: string
  /** Names and values in turn, without those of the connection and of the body. */
  readonly headers: ReadonlyArray<string>
  readonly body: string
}

/** Returns `undefined` if HTTP can't carry a header. */
export const make = (
  { origin, path }: Target,
  { body, headers: given, method = "POST" }: WebhookRequest,
): SentRequest | undefined => {
  // A compressed body can be a thousand times as long when it is unpacked, so compression is not accepted.
  const headers = ["accept-encoding", "identity"]
  for (const [name, value] of Object.entries(given)) {
    if (OWN_HEADERS.has(name.toLowerCase())) continue
    if (!NAME.test(name) || !VALUE.test(value)) return undefined
    headers.push(name, value)
  }
  return PATH.test(path)
    ? { method, authority: origin.slice(origin.indexOf("//") + 2), path, headers, body }
    : undefined
}

/** The bytes of a request: the same that undici would write. */
export const encode = ({ authority, body, headers, method, path }: SentRequest): Buffer => {
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${authority}\r\nconnection: keep-alive\r\n`
  for (let at = 0; at < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`
  const length = Buffer.byteLength(body)
  // A question without a body has no length.
  head += method === "OPTIONS" && length === 0 ? "\r\n" : `content-length: ${length}\r\n\r\n`
  const bytes = Buffer.allocUnsafe(head.length + length)
  bytes.write(head, 0, "latin1")
  bytes.write(body, head.length, "utf8")
  return bytes
}
