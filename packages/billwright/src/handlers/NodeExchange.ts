/**
 * Converts between requests and responses of Node and those of the Fetch standard.
 */
import type { ServerResponse } from "node:http"
import { Readable } from "node:stream"
import type { ParsedRequest } from "./Handlers.ts"
import { readable } from "./ParsedBody.ts"

const headersOf = (request: ParsedRequest): Headers => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    // Names such as :path are pseudo-headers of HTTP/2.
    if (value === undefined || name.startsWith(":")) continue
    headers.set(name, Array.isArray(value) ? value.join(", ") : value)
  }
  return headers
}

const hasBody = (method: string): boolean => method !== "GET" && method !== "HEAD"

/**
 * Makes a `Request` with the path of `url`, which begins with a slash. Its host is always `localhost`, because a
 * client can send any host.
 *
 * Throws `UnusableBody` when the body can't be restored from what a parser left.
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
  // A streamed body needs `duplex`, which the types of the DOM lack.
  const body = { body: Readable.toWeb(readable(request, kept)), duplex: "half" }
  return new Request(address, { ...init, ...body } as RequestInit)
}

/** Sends an answer, and resolves when the response is closed. */
export const send = (answer: Response, response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    if (response.headersSent || response.destroyed) return resolve()
    response.once("close", resolve)
    response.writeHead(answer.status, [...answer.headers].flat())
    if (answer.body === null) return response.end()
    const body = Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0])
    // The body failed, or the client disconnected: the response ends here.
    body.on("error", () => response.destroy())
    response.once("close", () => body.destroy())
    body.pipe(response)
  })
