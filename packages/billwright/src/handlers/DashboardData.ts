/**
 * The REST API as the dashboard asks it: by an API key, or for an operator whom the host vouches for.
 */
import { type ApiKey, ApiKeys, type Tenant } from "@billwright/core"
import { Context, DateTime, Effect } from "effect"
import type { Engine } from "../runtime/Engine.ts"
import type { NodeEnv } from "./Handlers.ts"

/** The path below the dashboard's. */
export const DATA_PATH = "/v1"

/**
 * The page sends this header when the host vouches for it. A foreign page can't: a browser would ask this server
 * first whether it may, and is told no. So nobody's cookie is used behind their back.
 */
const PAGE_HEADER = "billwright-dashboard"

export type Data = (request: Request, env?: NodeEnv) => Promise<Response>

const refusal = (status: number, error: string, message: string): Response =>
  Response.json({ error, message }, { status, headers: { "cache-control": "no-store" } })

const FORBIDDEN = "this is not for you"
const FOREIGN = `requests for data come from the page: the header ${PAGE_HEADER} is missing`
const SIGNED_OUT = "you are signed out: sign in again"

/** Stands for the operator where the API wants to know a key. It is no key: nothing is stored of it. */
const operatorKey = ({ accountId, mode }: Tenant.Tenant): ApiKey.ApiKey => ({
  id: "key_00000000000000000000000000" as ApiKey.ApiKeyId,
  accountId,
  mode,
  name: "dashboard",
  scopes: [],
  hint: "",
  createdAt: DateTime.makeUnsafe(0),
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
})

/** The API for one tenant, whatever key a request has: who may ask is decided before. */
const loadForOperator = async (
  { calls, closing }: Engine,
  tenant: Tenant.Tenant,
  basePath: string,
): Promise<Data> => {
  const { FetchHandler, Server } = await import("@billwright/http")
  const verified = { key: operatorKey(tenant), tenant }
  const keys = ApiKeys.of({ ...calls.service(ApiKeys), verify: () => Effect.succeed(verified) })
  const context = Context.add(calls.context, ApiKeys, keys)
  const server = await Effect.runPromiseWith(context)(Server.make())
  const handler = FetchHandler.make(server, context, { basePath, closing })
  return (request, env) => {
    const headers = new Headers(request.headers)
    headers.set("authorization", "Bearer operator")
    return handler(new Request(request, { headers }), env)
  }
}

type Authorize = (request: Request) => boolean | Response | Promise<boolean | Response>

/** Data for whom `authorize` lets pass. The API is loaded with the first request. */
export const forOperators = (
  engine: Engine,
  tenant: Tenant.Tenant,
  basePath: string,
  authorize: Authorize,
): Data => {
  let loading: Promise<Data> | undefined
  return async (request, env) => {
    const verdict = await authorize(request)
    if (verdict === false) return refusal(403, "forbidden", FORBIDDEN)
    if (verdict !== true) return refusal(401, "unauthorized", SIGNED_OUT)
    if (!request.headers.has(PAGE_HEADER)) return refusal(403, "forbidden", FOREIGN)
    return (await (loading ??= loadForOperator(engine, tenant, basePath)))(request, env)
  }
}
