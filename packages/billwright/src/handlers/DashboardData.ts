/**
 * The REST API that the dashboard uses: with an API key, or without one for an operator whom the host has
 * authorized.
 */
import { type ApiKey, ApiKeys, type Tenant } from "@billwright/core"
import { Context, DateTime, Effect, Redacted } from "effect"
import { toActor } from "../audit/Operator.ts"
import type { Engine } from "../runtime/Engine.ts"
import type { DashboardOptions, Verdict } from "./DashboardHandlers.ts"
import type { NodeEnv } from "./Handlers.ts"

/** The path of the API below the dashboard's path. */
export const DATA_PATH = "/v1"

/**
 * The page sends this header when the host authorizes operators. A page of another origin can't send it, because
 * the browser's CORS preflight request is refused. This protects operators from cross-site requests that carry
 * their cookie.
 */
const PAGE_HEADER = "billwright-dashboard"

export type Data = (request: Request, env?: NodeEnv) => Promise<Response>

const refusal = (status: number, error: string, message: string): Response =>
  Response.json({ error, message }, { status, headers: { "cache-control": "no-store" } })

const FORBIDDEN = "you may not use this dashboard"
const FOREIGN = `the header ${PAGE_HEADER}, which the dashboard's page sends, is missing`
const SIGNED_OUT = "you are signed out: sign in again"

/** Represents the operator where the API expects an API key. Nothing is stored for it. */
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

/** Who is named where the host only says that an operator may. */
const UNNAMED = { id: "operator", role: null }

type Person = typeof UNNAMED | { readonly id: string; readonly role: string | null }
type OperatorData = (request: Request, operator: Person, env?: NodeEnv) => Promise<Response>

/** The operator as the text of a key, which stays in this process. */
const toBearer = ({ id, role }: Person): string => encodeURIComponent(JSON.stringify([id, role]))
const fromBearer = (text: string): Person => {
  const [id, role] = JSON.parse(decodeURIComponent(text)) as [string, string | null]
  return { id, role }
}

/** The API for one tenant. It ignores the key of a request, because `authorize` has already been asked. */
const loadForOperator = async (
  { calls, closing }: Engine,
  tenant: Tenant.Tenant,
  basePath: string,
): Promise<OperatorData> => {
  const { FetchHandler, Server } = await import("@billwright/http")
  const key = operatorKey(tenant)
  const verify = (secret: Redacted.Redacted<string>) =>
    Effect.succeed({ key, tenant, operator: fromBearer(Redacted.value(secret)) })
  const keys = ApiKeys.of({ ...calls.service(ApiKeys), verify })
  const context = Context.add(calls.context, ApiKeys, keys)
  const server = await Effect.runPromiseWith(context)(Server.make())
  const handler = FetchHandler.make(server, context, { basePath, closing })
  return (request, operator, env) => {
    const headers = new Headers(request.headers)
    // It replaces what the client sent.
    headers.set("authorization", `Bearer ${toBearer(operator)}`)
    return handler(new Request(request, { headers }), env)
  }
}

type Authorize = NonNullable<DashboardOptions["authorize"]>

/** The operator of a verdict. `undefined` if the request is not allowed. */
const operatorOf = (verdict: Verdict): Person | undefined => {
  if (verdict === true) return UNNAMED
  if (typeof verdict !== "object" || verdict === null || verdict instanceof Response) return undefined
  const { id, role } = toActor(verdict)
  return { id, role }
}

/** The verdict on a page: who the operator is makes no difference to it. */
export const pageVerdict = (verdict: Verdict): boolean | Response =>
  typeof verdict === "boolean" || verdict instanceof Response ? verdict : operatorOf(verdict) !== undefined

/** Answers requests for data that `authorize` allows. The API is loaded with the first request. */
export const forOperators = (
  engine: Engine,
  tenant: Tenant.Tenant,
  basePath: string,
  authorize: Authorize,
): Data => {
  let loading: Promise<OperatorData> | undefined
  return async (request, env) => {
    const verdict = await authorize(request)
    if (verdict === false) return refusal(403, "forbidden", FORBIDDEN)
    const operator = operatorOf(verdict)
    if (operator === undefined) return refusal(401, "unauthorized", SIGNED_OUT)
    if (!request.headers.has(PAGE_HEADER)) return refusal(403, "forbidden", FOREIGN)
    return (await (loading ??= loadForOperator(engine, tenant, basePath)))(request, operator, env)
  }
}
