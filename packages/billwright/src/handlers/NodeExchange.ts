/**
 * Requests and responses of Node, for what speaks Fetch.
 */
import type { ServerResponse } from "node:http"
import { Readable } from "node:stream"
import type { ParsedRequest } from "./Handlers.ts"
import { readable } from "./ParsedBody.ts"

const headersOf = (request: ParsedRequest): Headers => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    // Names such as :path are of HTTP/2 itself.
    if (value === undefined || name.startsWith(":")) continue
    headers.set(name, Array.isArray(value) ? value.join(", ") : value)
  }
  return headers
}

const hasBody = (method: string): boolean => method !== "GET" && method !== "HEAD"

/**
 * The request with the path of `url`, which begins with a slash. Its host is a made-up one: what the client sends as
 * such may be anything.
 *
 * Throws `UnusableBody` when a parser has left nothing that the body could be made of.
 */
export const toRequest = (
  request: ParsedRequest,
  url: string,
  kept: Pick<ParsedRequest, "body" | "rawBody">,
  signal: AbortSignal,
): Request => {
  const method = request.method ?? "GET"
  const init = { method, headers: headersOf(request), signal }
  const address = `http://localhost${url}`
  if (!hasBody(method)) return new Request(address, init)
  // A body that is streamed has to say so, which the types of the DOM don't know.
  const body = { body: Readable.toWeb(readable(request, kept)), duplex: "half" }
  return new Request(address, { ...init, ...body } as RequestInit)
}

/** Sends an answer to its end. */
export const send = (answer: Response, response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    if (response.headersSent || response.destroyed) return resolve()
    response.once("close", resolve)
    response.writeHead(answer.status, [...answer.headers].flat())
    if (answer.body === null) return response.end()
    const body = Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0])
    // The client went away: the answer ends where it is.
    body.on("error", () => response.destroy())
    response.once("close", () => body.destroy())
    body.pipe(response)
  })
