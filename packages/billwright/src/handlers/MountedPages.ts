/**
 * The handlers of pages for each framework. A page answers a `Request`, and `undefined` if that is for somebody else.
 */
import type { ServerResponse } from "node:http"
import { ConfigurationError } from "../errors/RuntimeError.ts"
import type { DashboardHandlers, MountedKoaContext } from "./DashboardHandlers.ts"
import type { FastifyInstance, HonoContext, NodeEnv, ParsedRequest } from "./Handlers.ts"
import * as MountPath from "./MountPath.ts"
import * as NodeExchange from "./NodeExchange.ts"
import { UnusableBody } from "./ParsedBody.ts"

/** `undefined`: the request is outside the path of the pages. */
export type Answer = (request: Request, env?: NodeEnv) => Promise<Response | undefined>

/** Pages with their path and their name, for messages: `the dashboard`. */
export interface Pages {
  readonly name: string
  readonly basePath: string
  readonly answer: Answer
}

/** The answer when billing was closed. */
export const closedAnswer = (): Response =>
  Response.json({ error: "unavailable", message: "billing was closed" }, { status: 503 })

/** The answer when the host's own code has thrown, or the pages have a bug. */
const failed = ({ name }: Pages): Response =>
  Response.json({ error: "internal_error", message: `${name} could not answer` }, { status: 500 })

const notHere = ({ basePath, name }: Pages): Response =>
  Response.json(
    { error: "not_found", message: `${name} is at ${basePath === "" ? "/" : basePath}` },
    { status: 404 },
  )

type Kept = Pick<ParsedRequest, "body" | "rawBody">

const badBody = ({ message }: UnusableBody): Response =>
  Response.json({ error: "invalid_request", message: `the body ${message}` }, { status: 400 })

/** Answers a request of Node. Returns `false` when it is outside the path of the pages. */
const respond = async (
  { answer, basePath }: Pages,
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

const fastifyPlugin = (pages: Pages) => async (instance: FastifyInstance) => {
  const { basePath, name } = pages
  if (MountPath.normalize(instance.prefix) !== basePath) {
    throw new ConfigurationError(
      `register ${name} with its path: app.register(….fastify(), { prefix: "${basePath}" })`,
    )
  }
  // This affects only this plugin. The host's other routes keep their parsers.
  instance.removeAllContentTypeParsers()
  instance.addContentTypeParser("*", (_request, _payload, done) => done(null))
  for (const path of ["/", "/*"]) {
    instance.all(path, ({ raw }, reply) => {
      reply.hijack()
      respond(pages, raw, reply.raw, raw.url ?? "/", {}).then(
        (isOurs) => void (isOurs || NodeExchange.send(notHere(pages), reply.raw)),
        () => void NodeExchange.send(failed(pages), reply.raw),
      )
    })
  }
}

/** The handlers of pages. */
export const mounted = (pages: Pages): DashboardHandlers => {
  const { answer, basePath } = pages
  const fetch = async (request: Request, env?: NodeEnv) => (await answer(request, env)) ?? notHere(pages)

  const middleware = (request: ParsedRequest, response: ServerResponse, next?: (error?: unknown) => void) => {
    const url = request.originalUrl ?? request.url ?? "/"
    const pass = next ?? (() => void NodeExchange.send(notHere(pages), response))
    const fail = next ?? (() => void NodeExchange.send(failed(pages), response))
    respond(pages, request, response, url, request).then((isOurs) => {
      if (!isOurs) pass()
    }, fail)
  }

  return {
    fetch,
    node: () => (request, response) => middleware(request, response),
    express: () => middleware,
    fastify: () => fastifyPlugin(pages),
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
      await respond(pages, req, res, url, request as Kept)
    },
  }
}
