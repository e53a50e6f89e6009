/**
 * The REST API in the host's own server.
 *
 * Every handler answers what is below the place where it is mounted: `/v1/…`, `/openapi.json`, `/docs`, `/livez` and
 * `/readyz`. The API's own keys (`billing.keys`) let clients in.
 */
import type { IncomingMessage, ServerResponse } from "node:http"

/** Where a handler is mounted. */
export interface MountOptions {
  /**
   * Where it is mounted, such as `/billing`, when the framework leaves the whole path in the URL. Other paths are
   * passed on, or answered with 404 where there is nobody to pass them to.
   */
  readonly basePath?: string | undefined
}

/** What a server on Node hands on beside a request of Fetch: `@hono/node-server` as second argument, Hono as `env`. */
export interface NodeEnv {
  /** Node's own request. With it, a stream of events ends by itself when its server has stopped listening. */
  readonly incoming?: unknown
}

/** A request whose body a parser may have read before. */
export type ParsedRequest = IncomingMessage & {
  /** The whole path, where the framework has cut something off `url`. */
  readonly originalUrl?: string
  readonly body?: unknown
  /** The body as it came: NestJS and many platforms keep it under this name. */
  readonly rawBody?: unknown
}

/** A listener for requests of `node:http`. It answers every request. */
export type NodeHandler = (request: ParsedRequest, response: ServerResponse) => void

/** Middleware of Express and Connect. What is not below its path goes to `next`. */
export type ExpressHandler = (
  request: ParsedRequest,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/** A context of Hono, as far as it is used. */
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

/** A context of Koa, as far as it is used. */
export interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly request: object
  respond?: boolean | undefined
}

/** Middleware of Koa. What is not below its path goes to `next`. */
export type KoaMiddleware = (context: KoaContext, next: () => Promise<unknown>) => Promise<void>

/** An instance of Fastify, as far as it is used. */
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

/** A request of Fastify, as far as it is used. */
export interface FastifyRequest {
  readonly raw: IncomingMessage
}

/** A reply of Fastify, as far as it is used. */
export interface FastifyReply {
  readonly raw: ServerResponse
  hijack(): unknown
}

/** A plugin of Fastify, to be registered with a `prefix`. */
export type FastifyPlugin = (instance: FastifyInstance) => Promise<void>

/**
 * The body of a request is read by the handler itself, exactly. Behind a body parser that already read it (Express,
 * Koa, node:http), it takes the bytes or the text that the parser kept (`rawBody`, or `body` where that is a Buffer or
 * text), and otherwise renders the parsed `body` again. Then numbers are what the parser made of them: one beyond
 * 2^53 − 1 is answered with 400 rather than billed wrong, and of a key that an object has twice the last one counts.
 *
 * Streams of events have no end of their own. They end within a second after the server that they came through has
 * stopped listening, so that `server.close()` waits for nothing but requests, and when billing is closed; clients then
 * connect again. After `close()`, handlers that are mounted answer 503, and mounting throws a `ClosedError`.
 */
export interface Handlers {
  /**
   * Answers a request of the Fetch standard: Next.js route handlers, Workers, Deno, Bun, `app.mount` of Hono.
   * It rejects only when the request's own signal aborts it.
   */
  fetch(request: Request, options?: MountOptions & NodeEnv): Promise<Response>
  /** For `createServer` of node:http. */
  node(options?: MountOptions): NodeHandler
  /** `app.use("/billing", billing.express())`; also for Connect, and for NestJS on Express. */
  express(options?: MountOptions): ExpressHandler
  /** `app.register(billing.fastify(), { prefix: "/billing" })`. */
  fastify(): FastifyPlugin
  /** `app.all("/billing/*", billing.hono())`: what stands before `*` is the base path. */
  hono(options?: MountOptions): HonoHandler
  /** `app.use(mount("/billing", billing.koa()))` with koa-mount, or `app.use(billing.koa({ basePath: "/billing" }))`. */
  koa(options?: MountOptions): KoaMiddleware
}
