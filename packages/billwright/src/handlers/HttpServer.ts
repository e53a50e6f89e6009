/**
 * The REST server of an engine. It is loaded with the first request.
 */
import type { FetchHandler } from "@billwright/http"
import type { NodeHandler } from "@billwright/http/node"
import { Effect } from "effect"
import type { BillingOptions } from "../BillingOptions.ts"
import type { Engine } from "../runtime/Engine.ts"

export interface HttpServer {
  readonly node: NodeHandler.NodeHandler
  /** One handler for each base path. */
  readonly fetch: (basePath: string) => FetchHandler.FetchHandler
}

/** The most base paths whose handlers are cached. A base path with parameters can take any number of values. */
const MAX_BASE_PATHS = 100

const load = async (
  { calls, closing }: Engine,
  { accounts, rateLimit, trustedProxies }: NonNullable<BillingOptions["http"]>,
): Promise<HttpServer> => {
  const [{ FetchHandler, Server }, { NodeHandler }] = await Promise.all([
    import("@billwright/http"),
    import("@billwright/http/node"),
  ])
  const server = await Effect.runPromiseWith(calls.context)(
    Server.make({
      ...(rateLimit === undefined ? {} : { rateLimit }),
      ...(accounts === undefined ? {} : { accounts }),
      ...(trustedProxies === undefined ? {} : { trustedProxies }),
    }),
  )
  const handlers = new Map<string, FetchHandler.FetchHandler>()
  const fetch = (basePath: string): FetchHandler.FetchHandler => {
    const known = handlers.get(basePath)
    if (known !== undefined) return known
    if (handlers.size >= MAX_BASE_PATHS) handlers.clear()
    const made = FetchHandler.make(server, calls.context, { basePath, closing })
    handlers.set(basePath, made)
    return made
  }
  return { node: NodeHandler.make(server, calls.context, { closing }), fetch }
}

/** Loads the server once. The first request starts loading, and all requests wait for it. */
export const makeLoader = (engine: Engine, options: NonNullable<BillingOptions["http"]>) => {
  let loading: Promise<HttpServer> | undefined
  return (): Promise<HttpServer> => (loading ??= load(engine, options))
}
