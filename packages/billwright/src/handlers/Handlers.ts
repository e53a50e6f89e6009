/**
 * The REST API in the host's own server.
 *
 * Every handler answers requests below its mount path: `/v1/…`, `/openapi.json`, `/docs`, `/livez` and `/readyz`.
 * Clients authenticate with API keys (`billing.keys`).
 */
import type { IncomingMessage, ServerResponse } from "node:http"

/** Options of a handler. */
export interface MountOptions {
  /**
   * The path that the handler is mounted at, such as `/billing`. Give it when the framework leaves the full path in
   * the URL. Requests to other paths are passed on, or get 404 when there is no next handler.
   */
  readonly basePath?: string | undefined
}

/** What a server on Node passes along with a `Request`: `@hono/node-server` as the second argument, Hono as `env`. */
export interface NodeEnv {
  /** Node's own request. With it, a stream of events ends when its server has stopped listening. */
  readonly incoming?: unknown
}

/** A request of Node. A body parser may have read its body already. */
export type ParsedRequest = IncomingMessage & {
  /** The full path, when the framework has removed a prefix from `url`. */
  readonly originalUrl?: string
  readonly body?: unknown
  /** The unparsed body. NestJS and many platforms keep it under this name. */
  readonly rawBody?: unknown
}

/** A listener for requests of `node:http`. It answers every request. */
export type NodeHandler = (request: ParsedRequest, response: ServerResponse) => void

/** Middleware of Express and Connect. Requests outside its path go to `next`. */
export type ExpressHandler = (
  request: ParsedRequest,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/** The part of a Hono context that is used. */
export interface HonoContext {
  readonly req: {
    readonly raw: Request
    readonly routePath?: string
    arrayBuffer(): Promise<ArrayBuffer>
  }
  readonly env?: unknown
}

/** A handler for a route of Hono. */
export type HonoHandler = (context: HonoContext) => Promise<Response>

/** The part of a Koa context that is used. */
export interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly request: object
  respond?: boolean | undefined
}

/** Middleware of Koa. Requests outside its path go to `next`. */
export type KoaMiddleware = (context: KoaContext, next: () => Promise<unknown>) => Promise<void>

/** The part of a Fastify instance that is used. */
export interface FastifyInstance {
  readonly prefix: string
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    contentType: string,
    parser: (
      request: unknown,
      payload: unknown,
      done: (error: Error | null, body?: undefined) => void,
    ) => void,
  ): unknown
  all(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => void): unknown
}

/** The part of a Fastify request that is used. */
export interface FastifyRequest {
  readonly raw: IncomingMessage
}

/** The part of a Fastify reply that is used. */
export interface FastifyReply {
  readonly raw: ServerResponse
  hijack(): unknown
}

/** A plugin of Fastify. Register it with a `prefix`. */
export type FastifyPlugin = (instance: FastifyInstance) => Promise<void>

/**
 * The handler reads the body of a request itself, so that numbers stay exact. If a body parser has already read it
 * (Express, Koa, node:http), the handler uses the bytes or text that the parser kept: `rawBody`, or `body` when
 * that is a Buffer or text. Otherwise it turns the parsed `body` back into JSON. A number beyond 2^53 − 1 may then
 * have been rounded, so it is answered with 400. If an object has a key twice, the last one counts.
 *
 * Streams of events stay open. They end when billing is closed, and within a second after their server has stopped
 * listening, so that they don't hold up `server.close()`. Clients then reconnect. Exports are broken off at these times.
 * After `billing.close()`, mounted handlers answer 503, and mounting a handler throws a `ClosedError`.
 */
export interface Handlers {
  /**
   * Answers a `Request`: for Next.js route handlers and `app.mount` of Hono. It rejects only when the request's signal aborts,
   * or because of a bug.
   */
  fetch(request: Request, options?: MountOptions & NodeEnv): Promise<Response>
  /** For `createServer` of node:http. */
  node(options?: MountOptions): NodeHandler
  /** `app.use("/billing", billing.express())`; also for Connect, and for NestJS on Express. */
  express(options?: MountOptions): ExpressHandler
  /** `app.register(billing.fastify(), { prefix: "/billing" })`. */
  fastify(): FastifyPlugin
  /** `app.all("/billing/*", billing.hono())`: the part before `*` is the base path. */
  hono(options?: MountOptions): HonoHandler
  /** `app.use(mount("/billing", billing.koa()))` with koa-mount, or `app.use(billing.koa({ basePath: "/billing" }))`. */
  koa(options?: MountOptions): KoaMiddleware
}
