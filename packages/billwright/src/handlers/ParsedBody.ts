/**
 * Restores the body of a request that a parser has already read.
 */
import type { IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import type { ParsedRequest } from "./Handlers.ts"

/** Why a parsed body can't be used. The message is worded to follow "the body". */
export class UnusableBody extends Error {}

const findInexact = (value: unknown, path: string): string | undefined => {
  if (typeof value === "number") {
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? path : undefined
  }
  if (typeof value !== "object" || value === null) return undefined
  for (const [key, item] of Object.entries(value)) {
    const found = findInexact(item, path === "" ? key : `${path}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}

const render = (parsed: unknown): string => {
  const inexact = findInexact(parsed, "")
  if (inexact === undefined) return JSON.stringify(parsed)
  throw new UnusableBody(
    `was read by a JSON parser that rounds ${inexact}: mount the billing handler before the body parser`,
  )
}

/** The bytes of the body, from what the parser kept; `undefined` when it kept nothing. */
const bytesOf = ({ body, rawBody }: Pick<ParsedRequest, "body" | "rawBody">): Uint8Array | undefined => {
  for (const kept of [rawBody, body]) {
    if (kept instanceof Uint8Array) return kept
    if (typeof kept === "string") return Buffer.from(kept)
  }
  return body === undefined ? undefined : Buffer.from(render(body))
}

/**
 * A request whose body can be read: the request itself if its body is unread, otherwise a copy with the body that
 * the parser kept. Throws `UnusableBody`.
 */
export const readable = (
  request: IncomingMessage,
  kept: Pick<ParsedRequest, "body" | "rawBody">,
): IncomingMessage => {
  if (!request.readableEnded) return request
  const bytes = bytesOf(kept)
  if (bytes === undefined) return request
  const { headers, method, socket, url } = request
  // The copy has the only fields of a request that are used. The socket tells where the request comes from.
  const used = { headers, method, socket, url }
  const again = Object.assign(Readable.from(bytes.length === 0 ? [] : [bytes]), used)
  return again as unknown as IncomingMessage
}
