import type { IncomingMessage, ServerResponse } from "node:http"
/**
 * The server as a handler for `node:http`, and for every framework that hands on its requests and responses.
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
   * Where the API is mounted, such as `/billing`, when the framework leaves the whole path in `req.url`. Express
   * and Connect cut it off by themselves.
   */
  readonly basePath?: string
  /** When it aborts, streams of events end. They end by themselves when their server has stopped listening. */
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

/** The body of a request that has arrived as a whole, and that nobody has begun to read. */
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

const toHttpRequest = (request: IncomingMessage, basePath: string): HttpRequest => {
  return {
    method: request.method ?? "GET",
    ...parseTarget(request.url ?? "/", basePath),
    header: (name) => {
      const value = request.headers[name]
      return Array.isArray(value) ? value.join(", ") : value
    },
    connection: request.socket ?? undefined, // not there in requests that a host makes up
    body: readBody(request),
  }
}

const send = (request: IncomingMessage, response: ServerResponse, answer: HttpResponse): void => {
  if (response.headersSent || response.destroyed) return
  const length = Buffer.byteLength(answer.body)
  // An answer to HEAD says no length: the body that it would have is not rendered.
  const headers = request.method === "HEAD" ? answer.headers : { ...answer.headers, "content-length": length }
  response.writeHead(answer.status, headers)
  response.end(answer.body)
  // What the client still sends of a refused body is read and dropped, so that it gets to see the answer.
  if (!request.complete) request.resume()
}

/**
 * Makes the handler. It answers every request that it is given.
 *
 * `context` is the one the server was made in: its clock, logger and tracer. When the client goes away, its
 * request is interrupted; what was already being written to the storage is written.
 */
export const make = (
  server: Server,
  context: Context.Context<never>,
  options: NodeHandlerOptions = {},
): NodeHandler => {
  const basePath = normalizeBasePath(options.basePath)
  const fork = Effect.runForkWith(context)
  const answer = (asked: HttpRequest, request: IncomingMessage, response: ServerResponse): void => {
    if (response.destroyed) return // the client is gone already
    const fiber: Fiber.Fiber<HttpResponse> = fork(server(asked))
    // Interrupting a fiber that has ended does nothing.
    response.on("close", () => fiber.interruptUnsafe())
    fiber.addObserver((exit) => {
      if (Exit.isFailure(exit)) response.destroy()
      else if (exit.value.stream === undefined) send(request, response, exit.value)
      else {
        request.resume()
        const ended = StreamEnd.ended(response.req, options.closing)
        const streaming = fork(StreamedAnswer.send(response, exit.value, exit.value.stream, ended))
        response.on("close", () => streaming.interruptUnsafe())
      }
    })
  }
  // Not at once, but at the end of this turn of the event loop: a body that came with its head is whole then, and is
  // read without waiting for it. The address is read at once: a host may put it back when it has called us.
  return (request, response) => void setImmediate(answer, toHttpRequest(request, basePath), request, response)
}
