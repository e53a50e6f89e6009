/**
 * The dashboard in the host's own server.
 */
import type { Mode } from "../Call.ts"
import type {
  ExpressHandler,
  FastifyPlugin,
  HonoHandler,
  KoaContext,
  KoaMiddleware,
  NodeEnv,
  NodeHandler,
} from "./Handlers.ts"

/** Where the dashboard is mounted, and who may see it. */
export interface DashboardOptions {
  /** The whole path that it is mounted at, such as `/admin/billing`. Never the root. */
  readonly basePath: string
  /**
   * Who is an operator: asked before every page, file and request for data. `true` lets it pass: no API key is asked
   * for, and everything may be seen and done. `false` is answered with 403. A response, such as a redirection to
   * your login, is sent where a page is asked for; a request for data gets 401 instead, and the page asks to sign in
   * again. The request that it is given has method, path and headers; its host is not to be relied on.
   *
   * Left out: the page is everybody's, and asks for an API key.
   */
  readonly authorize?: (request: Request) => boolean | Response | Promise<boolean | Response>
  /** The mode that operators see. Default: that of `createBilling`. An API key has its own. */
  readonly mode?: Mode
  /** The account that operators see. Default: that of `createBilling`. An API key has its own. */
  readonly accountId?: string
  /** A folder with another build of the page. */
  readonly directory?: string
}

/** The page, its files, and the data that it asks for at `v1` below its path. */
export interface DashboardHandlers {
  /** Answers a request of the Fetch standard; one that is not the dashboard's with 404. */
  fetch(request: Request, env?: NodeEnv): Promise<Response>
  /** For `createServer` of node:http. */
  node(): NodeHandler
  /** `app.use(billing.dashboard({ … }).express())`: what is not the dashboard's is passed on. */
  express(): ExpressHandler
  /** `app.register(billing.dashboard({ … }).fastify(), { prefix: "/admin/billing" })`: the same as the base path. */
  fastify(): FastifyPlugin
  /** `app.all("/admin/billing/*", billing.dashboard({ … }).hono())`. */
  hono(): HonoHandler
  /** `app.use(billing.dashboard({ … }).koa())`: what is not the dashboard's is passed on. */
  koa(): KoaMiddleware
}

/** A context of Koa whose path a router may have cut. */
export type MountedKoaContext = KoaContext & { readonly originalUrl?: string }
