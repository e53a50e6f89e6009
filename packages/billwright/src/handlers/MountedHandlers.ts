/**
 * The handlers for the frameworks that there are.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { BillingOptions } from "../BillingOptions.ts"
import { ClosedError } from "../errors/RuntimeError.ts"
import type { Engine } from "../runtime/Engine.ts"
import type { Handlers, HonoContext, KoaContext, MountOptions, ParsedRequest } from "./Handlers.ts"
import { type HttpServer, makeLoader } from "./HttpServer.ts"
import * as MountPath from "./MountPath.ts"
import { readable, UnusableBody } from "./ParsedBody.ts"

type Kept = Pick<ParsedRequest, "body" | "rawBody">

const errorBody = (error: string, message: string): string => JSON.stringify({ error, message })

const CLOSED = errorBody("unavailable", "billing was closed")

const refuse = (response: ServerResponse, status: number, body: string): void => {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" }).end(body)
}

/**
 * What is being answered is waited for when billing is closed. A stream of events has no end of its own, so it is
 * ended then.
 */
const holdOpen = ({ closing, whileOpen }: Engine, response: ServerResponse): void => {
  const end = () => {
    // Every other answer is written in one go.
    if (response.headersSent && !response.writableEnded) response.destroy()
  }
  closing.addEventListener("abort", end, { once: true })
  const closed = new Promise<void>((resolve) => response.once("close", resolve))
  void whileOpen(() => closed).then(() => closing.removeEventListener("abort", end))
}

/** An answer that ends when billing is closed, where it would not end by itself. */
export const endWith = (closing: AbortSignal, response: Response): Response =>
  response.body !== null && response.headers.get("content-type")?.startsWith("text/event-stream") === true
    ? new Response(response.body.pipeThrough(new TransformStream(), { signal: closing }), response)
    : response

type Serve = (request: IncomingMessage, response: ServerResponse, url: string, kept: Kept) => void

/** Answers a request of Node as if `url` were its URL. */
const makeServe = (engine: Engine, load: () => Promise<HttpServer>): Serve => {
  let server: HttpServer | undefined
  const hand = ({ node }: HttpServer, request: IncomingMessage, response: ServerResponse, url: string) => {
    // Read before the handler returns. Others that look at it see it as it was.
    const whole = request.url
    request.url = url
    node(request, response)
    request.url = whole ?? url
  }
  return (request, response, url, kept) => {
    if (engine.closing.aborted) return refuse(response, 503, CLOSED)
    let source: IncomingMessage
    try {
      source = readable(request, kept)
    } catch (error) {
      if (!(error instanceof UnusableBody)) throw error
      return refuse(response, 400, errorBody("invalid_request", `the body ${error.message}`))
    }
    holdOpen(engine, response)
    if (server !== undefined) return hand(server, source, response, url)
    load().then(
      (loaded) => {
        server = loaded
        hand(loaded, source, response, url)
      },
      () => refuse(response, 500, errorBody("internal_error", "the REST API could not be loaded")),
    )
  }
}

const makeFetch =
  ({ closing, whileOpen }: Engine, load: () => Promise<HttpServer>): Handlers["fetch"] =>
  async (request, options) => {
    const basePath = MountPath.normalize(options?.basePath)
    request.signal.throwIfAborted()
    try {
      return await whileOpen(async () => endWith(closing, await (await load()).fetch(basePath)(request)))
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason
      if (!(error instanceof ClosedError)) throw error
      return new Response(CLOSED, { status: 503, headers: { "content-type": "application/json" } })
    }
  }

const makeHono =
  (fetch: Handlers["fetch"], options: MountOptions) =>
  async ({ req }: HonoContext): Promise<Response> => {
    const { raw } = req
    const basePath = options.basePath ?? MountPath.beforeWildcard(req.routePath, new URL(raw.url).pathname)
    if (!raw.bodyUsed) return fetch(raw, { basePath })
    // Hono keeps what a validator read.
    const { headers, method, signal, url } = raw
    return fetch(new Request(url, { method, headers, signal, body: await req.arrayBuffer() }), { basePath })
  }

const makeKoa =
  (serve: Serve, basePath: string) =>
  async (context: KoaContext, next: () => Promise<unknown>): Promise<void> => {
    const { req, request, res } = context
    const url = MountPath.strip(req.url ?? "/", basePath)
    if (url === undefined) return void (await next())
    context.respond = false
    const ended = new Promise<void>((resolve) => res.once("close", resolve))
    serve(req, res, url, request as Kept)
    await ended
  }

export const makeHandlers = (engine: Engine, options: NonNullable<BillingOptions["http"]>): Handlers => {
  const load = makeLoader(engine, options)
  const serve = makeServe(engine, load)
  const fetch = makeFetch(engine, load)

  const middleware = (mount: MountOptions = {}) => {
    const basePath = MountPath.normalize(mount.basePath)
    return (request: ParsedRequest, response: ServerResponse, next?: (error?: unknown) => void): void => {
      // NestJS cuts off all that its wildcard matched.
      const url =
        MountPath.strip(request.url ?? "/", basePath) ?? MountPath.strip(request.originalUrl ?? "", basePath)
      if (url !== undefined) serve(request, response, url, request)
      else if (next !== undefined) next()
      else refuse(response, 404, errorBody("not_found", `nothing is here: the API is at ${basePath}`))
    }
  }

  return {
    fetch,
    node: (mount) => {
      const handler = middleware(mount)
      return (request, response) => handler(request, response)
    },
    express: (mount) => middleware(mount),
    hono: (mount = {}) =>
      makeHono(fetch, { basePath: mount.basePath && MountPath.normalize(mount.basePath) }),
    koa: (mount = {}) => makeKoa(serve, MountPath.normalize(mount.basePath)),
    fastify: () => async (instance) => {
      const basePath = MountPath.normalize(instance.prefix)
      // Only here: the host's other routes keep their parsers.
      instance.removeAllContentTypeParsers()
      instance.addContentTypeParser("*", (_request, _payload, done) => done(null))
      for (const path of ["/", "/*"]) {
        instance.all(path, ({ raw }, reply) => {
          reply.hijack()
          serve(raw, reply.raw, MountPath.strip(raw.url ?? "/", basePath) ?? "/", {})
        })
      }
    },
  }
}
