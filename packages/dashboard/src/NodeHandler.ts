/**
 * The dashboard for `node:http`, and for Express, Connect and Fastify, which pass on its requests and responses.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { type DashboardOptions, handler } from "./Handler.ts"
import * as RequestPath from "./RequestPath.ts"

/** Middleware. Requests that are not for the dashboard are passed to `next`, or get 404 if there is no `next`. */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/** The requested path. Express removes the path of a mounted router from `url`, so `originalUrl` is used. */
const targetOf = (request: IncomingMessage & { readonly originalUrl?: string }): string =>
  request.originalUrl ?? request.url ?? "/"

/**
 * `undefined` if the path isn't canonical. A `Request` would normalise it, so that it could differ from the path that the
 * host's guard has checked.
 */
const toRequest = (request: IncomingMessage): Request | undefined => {
  const target = targetOf(request)
  if (RequestPath.ofTarget(target) === undefined) return undefined
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    // Names such as :path belong to HTTP/2 itself.
    if (value !== undefined && !name.startsWith(":"))
      headers.set(name, Array.isArray(value) ? value.join(", ") : value)
  }
  // The real host name may be anything and is not needed. Only the path is used.
  return new Request(`http://localhost${target}`, { method: request.method ?? "GET", headers })
}

const write = async (response: ServerResponse, answer: Response): Promise<void> => {
  response.writeHead(answer.status, [...answer.headers].flat())
  response.end(Buffer.from(await answer.arrayBuffer()))
}

/** Makes the handler. `authorize` gets a `Request` with the headers and the path of the incoming request. */
export const nodeHandler = (options: DashboardOptions = {}): NodeHandler => {
  const answer = handler(options)
  const respond = async (request: IncomingMessage, response: ServerResponse, next?: () => void) => {
    const asked = toRequest(request)
    const answered = asked && (await answer(asked))
    if (answered !== undefined) return write(response, answered)
    if (next !== undefined) return next()
    response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end("Not found.\n")
  }
  return (request, response, next) => {
    respond(request, response, next).catch((error: unknown) => {
      if (next !== undefined) return next(error)
      response.destroy(error instanceof Error ? error : undefined)
    })
  }
}
