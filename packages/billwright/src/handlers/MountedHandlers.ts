/**
 * The REST API's handlers for each framework.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { BillingOptions } from "../BillingOptions.ts"
import { InvalidInputError } from "../errors/BillingError.ts"
import { ClosedError, ConfigurationError } from "../errors/RuntimeError.ts"
import type { Engine } from "../runtime/Engine.ts"
import type {
  FastifyInstance,
  Handlers,
  HonoContext,
  KoaContext,
  MountOptions,
  NodeEnv,
  ParsedRequest,
} from "./Handlers.ts"
import { type HttpServer, makeLoader } from "./HttpServer.ts"
import * as MountPath from "./MountPath.ts"
import { readable, UnusableBody } from "./ParsedBody.ts"

type Kept = Pick<ParsedRequest, "body" | "rawBody">

const errorBody = (error: string, message: string): string => JSON.stringify({ error, message })

const CLOSED = errorBody("unavailable", "billing was closed")

/** A response of HTTP/2 has a stream, and only that says whether it is closed. */
type AnyResponse = ServerResponse & { readonly stream?: { readonly destroyed: boolean } }

/** Whether the client has disconnected, or has got its answer. */
const isClosed = ({ destroyed, stream }: AnyResponse): boolean => destroyed || stream?.destroyed === true

/** Waits until the response is closed. It may have been before the host called us. */
const closed = async (response: ServerResponse): Promise<void> => {
  if (!isClosed(response)) await new Promise<void>((resolve) => response.once("close", resolve))
}

const HEADERS = { "content-type": "application/json", "cache-control": "no-store" }

const refuse = (response: ServerResponse, status: number, body: string): void => {
  if (response.headersSent || isClosed(response)) return
  response.writeHead(status, HEADERS).end(body)
}

/** Why a request could not be handed to the REST API. */
const failureOf = (error: unknown): { readonly status: number; readonly body: string } => {
  if (error instanceof ClosedError) return { status: 503, body: CLOSED }
  const isMisuse = error instanceof ConfigurationError
  const message = isMisuse ? error.message : "the REST API could not be loaded"
  return { status: 500, body: errorBody("internal_error", message) }
}

type Serve = (request: IncomingMessage, response: ServerResponse, url: string, kept: Kept) => void

/** Answers a request of Node as if `url` were its URL. */
const makeServe = (engine: Engine, load: () => Promise<HttpServer>): Serve => {
  let server: HttpServer | undefined
  const hand = ({ node }: HttpServer, request: IncomingMessage, response: ServerResponse, url: string) => {
    // The handler reads `url` before it returns. Afterwards it is restored for the host's other code.
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
    // `close` waits until the response is closed.
    const answered = engine.whileOpen(async () => {
      if (server === undefined) server = await load()
      hand(server, source, response, url)
      await closed(response)
    })
    answered.catch((error: unknown) => {
      const { body, status } = failureOf(error)
      refuse(response, status, body)
    })
  }
}

const makeFetch =
  ({ whileOpen }: Engine, load: () => Promise<HttpServer>): Handlers["fetch"] =>
  async (request, options) => {
    if (typeof request?.url !== "string" || request.signal === undefined) {
      throw new InvalidInputError("request", "must be a Request of the Fetch standard")
    }
    // Other fields are not checked: the servers of Deno, Bun and Workers pass objects of their own here.
    const basePath = MountPath.normalize(options?.basePath)
    request.signal.throwIfAborted()
    try {
      return await whileOpen(async () => (await load()).fetch(basePath)(request, options))
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason
      // A bug is for the host to see.
      if (!(error instanceof ClosedError || error instanceof ConfigurationError)) throw error
      const { body, status } = failureOf(error)
      return new Response(body, { status, headers: HEADERS })
    }
  }

const makeHono =
  (fetch: Handlers["fetch"], options: MountOptions) =>
  async ({ env, req }: HonoContext): Promise<Response> => {
    const { raw } = req
    const { incoming } = (env ?? {}) as NodeEnv
    const basePath = options.basePath ?? MountPath.beforeWildcard(req.routePath, raw)
    if (!raw.bodyUsed) return fetch(raw, { basePath, incoming })
    // A validator has read the body. Hono has kept it.
    const { headers, method, signal, url } = raw
    const body = await req.arrayBuffer()
    return fetch(new Request(url, { method, headers, signal, body }), { basePath, incoming })
  }

const makeKoa =
  (serve: Serve, basePath: string) =>
  async (context: KoaContext, next: () => Promise<unknown>): Promise<void> => {
    const { req, request, res } = context
    const url = MountPath.strip(req.url ?? "/", basePath)
    if (url === undefined) return void (await next())
    context.respond = false
    const ended = closed(res)
    serve(req, res, url, request as Kept)
    await ended
  }

const makeFastify =
  (serve: Serve) =>
  async (instance: FastifyInstance): Promise<void> => {
    const basePath = MountPath.normalize(instance.prefix)
    // This affects only this plugin. The host's other routes keep their parsers.
    instance.removeAllContentTypeParsers()
    instance.addContentTypeParser("*", (_request, _payload, done) => done(null))
    for (const path of ["/", "/*"]) {
      instance.all(path, ({ raw }, reply) => {
        reply.hijack()
        serve(raw, reply.raw, MountPath.strip(raw.url ?? "/", basePath) ?? "/", {})
      })
    }
  }

/** Throws a `ClosedError` when billing is closed: mounting it then is a mistake in the order of the host's code. */
export const checkOpen = ({ closing }: Engine): void => {
  if (closing.aborted) throw new ClosedError()
}

export const makeHandlers = (engine: Engine, options: NonNullable<BillingOptions["http"]>): Handlers => {
  const load = makeLoader(engine, options)
  const serve = makeServe(engine, load)
  const fetch = makeFetch(engine, load)

  const middleware = (name: string, mount: MountOptions | undefined) => {
    checkOpen(engine)
    const basePath = MountPath.of(name, mount)
    return (request: ParsedRequest, response: ServerResponse, next?: (error?: unknown) => void): void => {
      // NestJS removes from `url` everything that its wildcard matched.
      const url =
        MountPath.strip(request.url ?? "/", basePath) ?? MountPath.strip(request.originalUrl ?? "", basePath)
      if (url !== undefined) serve(request, response, url, request)
      else if (next !== undefined) next()
      else
        refuse(
          response,
          404,
          errorBody("not_found", `there is nothing at this path: the API is at ${basePath}`),
        )
    }
  }

  return {
    fetch,
    node: (mount) => {
      const handler = middleware("node", mount)
      return (request, response) => handler(request, response)
    },
    express: (mount) => middleware("express", mount),
    hono: (mount) => {
      checkOpen(engine)
      const basePath = MountPath.of("hono", mount)
      return makeHono(fetch, mount?.basePath === undefined ? {} : { basePath })
    },
    koa: (mount) => {
      checkOpen(engine)
      return makeKoa(serve, MountPath.of("koa", mount))
    },
    fastify: () => {
      checkOpen(engine)
      return makeFastify(serve)
    },
  }
}
