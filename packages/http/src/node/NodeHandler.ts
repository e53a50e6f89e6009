import type { IncomingMessage, ServerResponse } from "node:http"
/**
 * The server as a handler for `node:http`, and for every framework that uses its requests and responses.
 */
import { type Context, Effect, Exit, type Fiber } from "effect"
import { normalizeBasePath, parseTarget } from "../server/FetchHandler.ts"
import {
  BodyTooLarge,
  BodyTooSlow,
  BodyUnreadable,
  type HttpRequest,
  type HttpResponse,
  MAX_BODY_BYTES,
  MAX_BODY_MILLIS,
} from "../server/HttpExchange.ts"
import type { Server } from "../server/Server.ts"
import * as StreamEnd from "../server/StreamEnd.ts"
import * as StreamedAnswer from "./StreamedAnswer.ts"

export interface NodeHandlerOptions {
  /**
   * The path that the API is mounted at, such as `/billing`. Give it when the framework leaves the full path in
   * `req.url`. Express and Connect remove the base path themselves.
   */
  readonly basePath?: string
  /**
   * Streams of events end when this signal aborts, and exports break off. The same happens when their server has stopped
   * listening.
   */
  readonly closing?: AbortSignal
}

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

const readBody = (request: IncomingMessage): HttpRequest["body"] =>
  Effect.suspend(() => {
    if (request.readableEnded) {
      const problem = "was already read: mount the billing handler before the body parser"
      return Effect.fail(new BodyUnreadable({ problem }))
    }
    return request.complete && request.readableFlowing === null ? readWhole(request) : collect(request)
  })

/** Reads the body of a request that has arrived completely and that no other code has begun to read. */
const readWhole = (request: IncomingMessage): HttpRequest["body"] => {
  const bytes = (request.read() as Buffer | null) ?? new Uint8Array()
  return bytes.length > MAX_BODY_BYTES ? Effect.fail(new BodyTooLarge()) : Effect.succeed(bytes)
}

/** Collects a body that is still arriving. */
const collect = (request: IncomingMessage): HttpRequest["body"] =>
  Effect.callback<Uint8Array, BodyTooLarge | BodyUnreadable>((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= MAX_BODY_BYTES) chunks.push(chunk)
      else {
        stop()
        resume(Effect.fail(new BodyTooLarge()))
      }
    }
    const onEnd = () => resume(Effect.succeed(Buffer.concat(chunks, size)))
    const onFailure = () => resume(Effect.fail(new BodyUnreadable({ problem: "ended early" })))
    const stop = () => {
      request.off("data", onData).off("end", onEnd).off("error", onFailure).off("aborted", onFailure)
    }
    request.on("data", onData).on("end", onEnd).on("error", onFailure).on("aborted", onFailure)
    return Effect.sync(stop)
  }).pipe(Effect.timeoutOrElse({ duration: MAX_BODY_MILLIS, orElse: () => Effect.fail(new BodyTooSlow()) }))

const textOf = (value: string | Array<string> | undefined): string | undefined =>
  Array.isArray(value) ? value.join(", ") : value

const toHttpRequest = (request: IncomingMessage, basePath: string): HttpRequest => {
  return {
    method: request.method ?? "GET",
    ...parseTarget(request.url ?? "/", basePath),
    header: (name) => textOf(request.headers[name]),
    headers: () =>
      Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, textOf(value) ?? ""])),
    connection: request.socket ?? undefined, // missing in requests that a host makes itself
    remoteAddress: request.socket?.remoteAddress,
    body: readBody(request),
  }
}

const send = (request: IncomingMessage, response: ServerResponse, answer: HttpResponse): void => {
  if (response.headersSent || response.destroyed) return
  const body = answer.bytes ?? answer.body
  const length = Buffer.byteLength(body)
  // An answer to HEAD has no content-length, because its body is not rendered.
  const headers = request.method === "HEAD" ? answer.headers : { ...answer.headers, "content-length": length }
  response.writeHead(answer.status, headers)
  response.end(body)
  // The rest of a refused body is read and dropped, so that the client can read the answer.
  if (!request.complete) request.resume()
}

/**
 * Makes the handler. It answers every request.
 *
 * `context` is the context that the server was made in. It has the clock, the logger and the tracer. When the
 * client disconnects, its request is interrupted. A write to the storage that has begun is completed.
 */
export const make = (
  server: Server,
  context: Context.Context<never>,
  options: NodeHandlerOptions = {},
): NodeHandler => {
  const basePath = normalizeBasePath(options.basePath)
  const fork = Effect.runForkWith(context)
  const answer = (asked: HttpRequest, request: IncomingMessage, response: ServerResponse): void => {
    if (response.destroyed) return // the client has already disconnected
    const fiber: Fiber.Fiber<HttpResponse> = fork(server(asked))
    // This does nothing when the fiber has ended.
    response.on("close", () => fiber.interruptUnsafe())
    fiber.addObserver((exit) => {
      if (Exit.isFailure(exit)) response.destroy()
      else if (exit.value.stream === undefined) send(request, response, exit.value)
      else {
        request.resume()
        const ended = StreamEnd.ended(exit.value, response.req, options.closing)
        const streaming = fork(StreamedAnswer.send(response, exit.value, exit.value.stream, ended))
        response.on("close", () => streaming.interruptUnsafe())
      }
    })
  }
  // The request is answered at the end of this turn of the event loop. A body that came together with the headers
  // is then complete and can be read without waiting. The URL is read at once, because a host may restore it after
  // calling the handler.
  return (request, response) => void setImmediate(answer, toHttpRequest(request, basePath), request, response)
}
