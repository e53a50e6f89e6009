import type { IncomingMessage, ServerResponse } from "node:http"
/**
 * The server as a handler for `node:http`, and for every framework that hands on its requests and responses.
 */
import { type Context, Effect, Exit, type Fiber } from "effect"
import { normalizeBasePath, stripBasePath } from "../server/FetchHandler.ts"
import {
  BodyTooLarge,
  BodyUnreadable,
  type HttpRequest,
  type HttpResponse,
  MAX_BODY_BYTES,
  MAX_BODY_MILLIS,
} from "../server/HttpExchange.ts"
import type { Server } from "../server/Server.ts"

export interface NodeHandlerOptions {
  /**
   * Where the API is mounted, such as `/billing`, when the framework leaves the whole path in `req.url`. Express
   * and Connect cut it off by themselves.
   */
  readonly basePath?: string
}

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

const readBody = (request: IncomingMessage): HttpRequest["body"] =>
  Effect.suspend(() => {
    if (request.readableEnded) {
      return Effect.fail(
        new BodyUnreadable({ problem: "was already read: mount the billing handler before the body parser" }),
      )
    }
    return Effect.timeoutOrElse(collect(request), {
      duration: MAX_BODY_MILLIS,
      orElse: () =>
        Effect.fail(new BodyUnreadable({ problem: `took longer than ${MAX_BODY_MILLIS / 1000} s` })),
    })
  })

const collect = (request: IncomingMessage): HttpRequest["body"] =>
  Effect.callback((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > MAX_BODY_BYTES) {
        stop()
        resume(Effect.fail(new BodyTooLarge()))
      } else chunks.push(chunk)
    }
    const onEnd = () => {
      stop()
      resume(Effect.succeed(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)))
    }
    const onFailure = () => {
      stop()
      resume(Effect.fail(new BodyUnreadable({ problem: "ended early" })))
    }
    const stop = () => {
      request.off("data", onData).off("end", onEnd).off("error", onFailure).off("aborted", onFailure)
    }
    request.on("data", onData).on("end", onEnd).on("error", onFailure).on("aborted", onFailure)
    return Effect.sync(stop)
  })

const toHttpRequest = (request: IncomingMessage, basePath: string): HttpRequest => {
  const target = request.url ?? "/"
  const question = target.indexOf("?")
  const path = question === -1 ? target : target.slice(0, question)
  return {
    method: request.method ?? "GET",
    path: stripBasePath(path, basePath) ?? "",
    query: question === -1 ? "" : target.slice(question + 1),
    header: (name) => {
      const value = request.headers[name]
      return Array.isArray(value) ? value.join(", ") : value
    },
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
  if (!request.readableEnded) request.resume()
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
  return (request, response) => {
    const fiber: Fiber.Fiber<HttpResponse> = fork(server(toHttpRequest(request, basePath)))
    const onClose = () => fiber.interruptUnsafe()
    response.once("close", onClose)
    fiber.addObserver((exit) => {
      response.off("close", onClose)
      if (Exit.isSuccess(exit)) send(request, response, exit.value)
      else response.destroy()
    })
  }
}
