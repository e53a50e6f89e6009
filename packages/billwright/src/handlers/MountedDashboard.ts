/**
 * The dashboard's handlers for each framework.
 */
import type { ServerResponse } from "node:http"
import { ClosedError, ConfigurationError } from "../errors/RuntimeError.ts"
import { type Engine, toTenant } from "../runtime/Engine.ts"
import { DATA_PATH, type Data, forOperators } from "./DashboardData.ts"
import type { DashboardHandlers, DashboardOptions, MountedKoaContext, Verdict } from "./DashboardHandlers.ts"
import type { FastifyInstance, Handlers, HonoContext, NodeEnv, ParsedRequest } from "./Handlers.ts"
import { checkOpen } from "./MountedHandlers.ts"
import * as MountPath from "./MountPath.ts"
import * as NodeExchange from "./NodeExchange.ts"
import { UnusableBody } from "./ParsedBody.ts"

/** `undefined`: the request is outside the dashboard's path. */
type Answer = (request: Request, env?: NodeEnv) => Promise<Response | undefined>

const OPTIONS = new Set<keyof DashboardOptions>(["accountId", "authorize", "basePath", "directory", "mode"])

/** Returns the base path. Throws a `ConfigurationError` when an option is wrong. */
const checkOptions = (options: DashboardOptions): string => {
  const unknown = Object.keys(options).find((name) => !OPTIONS.has(name as keyof DashboardOptions))
  if (unknown !== undefined) {
    throw new ConfigurationError(`dashboard has no option "${unknown}": there are ${[...OPTIONS].join(", ")}`)
  }
  const { authorize, mode } = options
  if (authorize !== undefined && typeof authorize !== "function")
    throw new ConfigurationError("authorize must be a function of a Request")
  if (mode !== undefined && mode !== "live" && mode !== "test")
    throw new ConfigurationError('mode must be "live" or "test"')
  const basePath = MountPath.normalize(options.basePath)
  if (!/^(\/[\w.~-]+)+$/.test(basePath))
    throw new ConfigurationError(
      'the dashboard needs a path of its own: dashboard({ basePath: "/admin/billing" })',
    )
  return basePath
}

const closedAnswer = (): Response =>
  Response.json({ error: "unavailable", message: "billing was closed" }, { status: 503 })

/** The answer when `authorize` has thrown, or the dashboard has a bug. */
const failed = (): Response =>
  Response.json({ error: "internal_error", message: "the dashboard could not answer" }, { status: 500 })

const notHere = (basePath: string): Response =>
  Response.json({ error: "not_found", message: `the dashboard is at ${basePath}` }, { status: 404 })

/** Whether a target below the dashboard's path is a request for data. */
const isData = (target: string): boolean => MountPath.strip(target, DATA_PATH) !== undefined

/** Every operator may load the page. It has no data. */
const toPage = (verdict: Verdict): boolean | Response =>
  typeof verdict === "boolean" || verdict instanceof Response ? verdict : true

const makeAnswer = (engine: Engine, api: Handlers["fetch"], options: DashboardOptions): Answer => {
  const basePath = checkOptions(options)
  const { authorize, directory } = options
  const { tenant } = engine.calls
  const data: Data =
    authorize === undefined
      ? (request, env) => api(request, { ...env, basePath })
      : forOperators(
          engine,
          toTenant(options.accountId ?? tenant.accountId, options.mode ?? tenant.mode),
          basePath,
          authorize,
        )
  let loading: Promise<Answer> | undefined
  const load = async (): Promise<Answer> => {
    const { Dashboard } = await import("@billwright/dashboard")
    return Dashboard.handler({
      basePath,
      apiUrl: `${basePath}${DATA_PATH}`,
      signIn: authorize === undefined ? "key" : "host",
      ...(authorize === undefined ? {} : { authorize: async (request) => toPage(await authorize(request)) }),
      ...(directory === undefined ? {} : { directory }),
    })
  }
  return async (request, env) => {
    const target = MountPath.strip(MountPath.targetOf(request), basePath)
    if (target === undefined) return undefined
    try {
      return await engine.whileOpen(async () =>
        isData(target) ? data(request, env) : (await (loading ??= load()))(request),
      )
    } catch (error) {
      if (error instanceof ClosedError) return closedAnswer()
      throw error
    }
  }
}

type Kept = Pick<ParsedRequest, "body" | "rawBody">

const badBody = ({ message }: UnusableBody): Response =>
  Response.json({ error: "invalid_request", message: `the body ${message}` }, { status: 400 })

/** Answers a request of Node. Returns `false` when it is outside the dashboard's path, `basePath`. */
const respond = async (
  answer: Answer,
  basePath: string,
  request: ParsedRequest,
  response: ServerResponse,
  url: string,
  kept: Kept,
): Promise<boolean> => {
  // Check the path before making a `Request`, because that normalizes the path: the host's own check has seen the
  // original.
  if (MountPath.strip(url, basePath) === undefined) return false
  const gone = new AbortController()
  response.once("close", () => gone.abort())
  try {
    const answered = await answer(NodeExchange.toRequest(request, url, kept, gone.signal), {
      incoming: request,
    })
    if (answered === undefined) return false
    await NodeExchange.send(answered, response)
  } catch (error) {
    if (error instanceof UnusableBody) await NodeExchange.send(badBody(error), response)
    // When the client has disconnected, nobody is left to get an error.
    else if (!gone.signal.aborted) throw error
  }
  return true
}

const fastifyPlugin = (answer: Answer, basePath: string) => async (instance: FastifyInstance) => {
  if (MountPath.normalize(instance.prefix) !== basePath) {
    throw new ConfigurationError(
      `register the dashboard with its path: app.register(dashboard.fastify(), { prefix: "${basePath}" })`,
    )
  }
  // This affects only this plugin. The host's other routes keep their parsers.
  instance.removeAllContentTypeParsers()
  instance.addContentTypeParser("*", (_request, _payload, done) => done(null))
  for (const path of ["/", "/*"]) {
    instance.all(path, ({ raw }, reply) => {
      reply.hijack()
      respond(answer, basePath, raw, reply.raw, raw.url ?? "/", {}).then(
        (isOurs) => void (isOurs || NodeExchange.send(notHere(basePath), reply.raw)),
        () => void NodeExchange.send(failed(), reply.raw),
      )
    })
  }
}

export const makeDashboard =
  (engine: Engine, api: Handlers["fetch"]) =>
  (options: DashboardOptions): DashboardHandlers => {
    // In JavaScript, the options may be missing.
    const given = options ?? {}
    checkOpen(engine)
    const answer = makeAnswer(engine, api, given)
    const basePath = MountPath.normalize(given.basePath)
    const fetch = async (request: Request, env?: NodeEnv) => (await answer(request, env)) ?? notHere(basePath)

    const middleware = (
      request: ParsedRequest,
      response: ServerResponse,
      next?: (error?: unknown) => void,
    ) => {
      const url = request.originalUrl ?? request.url ?? "/"
      const pass = next ?? (() => void NodeExchange.send(notHere(basePath), response))
      const fail = next ?? (() => void NodeExchange.send(failed(), response))
      respond(answer, basePath, request, response, url, request).then((isOurs) => {
        if (!isOurs) pass()
      }, fail)
    }

    return {
      fetch,
      node: () => (request, response) => middleware(request, response),
      express: () => middleware,
      fastify: () => fastifyPlugin(answer, basePath),
      hono:
        () =>
        async ({ env, req }: HonoContext) => {
          const { raw } = req
          const node = (env ?? {}) as NodeEnv
          if (!raw.bodyUsed) return fetch(raw, node)
          // A validator has read the body. Hono has kept it.
          const { headers, method, signal, url } = raw
          const body = await req.arrayBuffer()
          return fetch(new Request(url, { method, headers, signal, body }), node)
        },
      koa: () => async (context: MountedKoaContext, next) => {
        const { req, request, res } = context
        const url = context.originalUrl ?? req.url ?? "/"
        if (MountPath.strip(url, basePath) === undefined) return void (await next())
        context.respond = false
        await respond(answer, basePath, req, res, url, request as Kept)
      },
    }
  }
