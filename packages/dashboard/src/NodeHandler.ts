/**
 * The dashboard for `node:http`, and for Express, Connect and Fastify, which hand on its requests and responses.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { type DashboardOptions, handler } from "./Handler.ts"
import * as RequestPath from "./RequestPath.ts"

/** Middleware: what is not the dashboard's goes to `next`, and is answered 404 where there is none. */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/** The path as it was asked for: Express cuts off what a router is mounted at. */
const targetOf = (request: IncomingMessage & { readonly originalUrl?: string }): string =>
  request.originalUrl ?? request.url ?? "/"

/** `undefined` when its path isn't canonical: a `Request` would make it so, and be another than the host has guarded. */
const toRequest = (request: IncomingMessage): Request | undefined => {
  const target = targetOf(request)
  if (RequestPath.ofTarget(target) === undefined) return undefined
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    // Names such as :path are of HTTP/2 itself.
    if (value !== undefined && !name.startsWith(":"))
      headers.set(name, Array.isArray(value) ? value.join(", ") : value)
  }
  // The host is nobody's business here, and may be anything: only the path is looked at.
  return new Request(`http://localhost${target}`, { method: request.method ?? "GET", headers })
}

const write = async (response: ServerResponse, answer: Response): Promise<void> => {
  response.writeHead(answer.status, [...answer.headers].flat())
  response.end(Buffer.from(await answer.arrayBuffer()))
}

/** Makes the handler. `authorize` is given a `Request` with the headers and the path of the one that came in. */
export const nodeHandler = (options: DashboardOptions = {}): NodeHandler => {
  const answer = handler(options)
  const respond = async (request: IncomingMessage, response: ServerResponse, next?: () => void) => {
    const asked = toRequest(request)
    const answered = asked && (await answer(asked))
    if (answered !== undefined) return write(response, answered)
    if (next !== undefined) return next()
    response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end("There is nothing here.\n")
  }
  return (request, response, next) => {
    respond(request, response, next).catch((error: unknown) => {
      if (next !== undefined) return next(error)
      response.destroy(error instanceof Error ? error : undefined)
    })
  }
}
