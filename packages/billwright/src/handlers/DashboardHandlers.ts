/**
 * The dashboard in the host's own server.
 */
import type { Mode } from "../Call.ts"
import type { ApiKeyRole, CreditLimits } from "../keys/ApiKeys.ts"
import type {
  ExpressHandler,
  FastifyPlugin,
  HonoHandler,
  KoaContext,
  KoaMiddleware,
  NodeEnv,
  NodeHandler,
} from "./Handlers.ts"

/** Somebody who may use the dashboard, and what for. */
export interface Operator {
  /** What you call the person: 1 to 128 characters. The audit log shows it. Default: `operator`. */
  readonly id?: string
  readonly role: ApiKeyRole
  /** Default: none. */
  readonly creditLimits?: CreditLimits
}

/** What `authorize` says about a request. */
export type Verdict = boolean | Operator | Response

/** Where the dashboard is mounted, and who may see it. */
export interface DashboardOptions {
  /** The full path that the dashboard is mounted at, such as `/admin/billing`. It can't be the root. */
  readonly basePath: string
  /**
   * Decides who is an operator. It is called before every page, file and request for data. Its `Request` has the
   * method, path and headers. Don't rely on its host.
   *
   * - `true`: the request is allowed. An operator needs no API key, and may see and do everything.
   * - An `Operator`, such as `{ id: "ada", role: "finance" }`: the request is allowed, and the audit log says who it was. The
   * operator may do what the role may. A request for anything else gets 403.
   * With `support`, `creditLimits` says how much the operator may grant to a customer in 24 hours, as with API keys.
   * - `false`: the answer is 403.
   * - A `Response`, such as a redirect to your login: it is sent when a page is requested. A request for data gets
   * 401 instead, and the page asks the operator to sign in again.
   *
   * Left out: anyone can open the page, which then asks for an API key.
   */
  readonly authorize?: (request: Request) => Verdict | Promise<Verdict>
  /** The mode that operators see. Default: that of `createBilling`. With an API key, the key's mode is shown. */
  readonly mode?: Mode
  /**
   * The account that operators see. Default: that of `createBilling`. With an API key, the key's account is shown.
   */
  readonly accountId?: string
  /** A folder with your own build of the page. */
  readonly directory?: string
}

/** Handlers for the page, its files, and its requests for data at `v1` below its path. */
export interface DashboardHandlers {
  /** Answers a `Request`. One that is outside the dashboard's path gets 404. */
  fetch(request: Request, env?: NodeEnv): Promise<Response>
  /** For `createServer` of node:http. */
  node(): NodeHandler
  /** `app.use(billing.dashboard({ … }).express())`: requests outside the dashboard's path are passed on. */
  express(): ExpressHandler
  /**
   * `app.register(billing.dashboard({ … }).fastify(), { prefix: "/admin/billing" })`: the prefix must equal the
   * base path.
   */
  fastify(): FastifyPlugin
  /** `app.all("/admin/billing/*", billing.dashboard({ … }).hono())`. */
  hono(): HonoHandler
  /** `app.use(billing.dashboard({ … }).koa())`: requests outside the dashboard's path are passed on. */
  koa(): KoaMiddleware
}

/** A context of Koa. A router may have removed a prefix from its path. */
export type MountedKoaContext = KoaContext & { readonly originalUrl?: string }
