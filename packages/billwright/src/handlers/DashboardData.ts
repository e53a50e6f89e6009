/**
 * The REST API that the dashboard uses: with an API key, or without one for an operator whom the host has
 * authorized.
 */
import { ApiKey, ApiKeys, type Tenant } from "@billwright/core"
import { Context, DateTime, Effect, Redacted } from "effect"
import { ConfigurationError } from "../errors/RuntimeError.ts"
import type { Engine } from "../runtime/Engine.ts"
import type { DashboardOptions, Operator } from "./DashboardHandlers.ts"
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

/** Represents an operator where the API expects an API key. Nothing is stored for it. */
const operatorKey = (
  { accountId, mode }: Tenant.Tenant,
  { creditLimits = {}, role }: Operator,
): ApiKey.ApiKey => ({
  id: "key_00000000000000000000000000" as ApiKey.ApiKeyId,
  accountId,
  mode,
  name: "dashboard",
  scopes: ApiKey.ROLES[role],
  networks: [],
  creditLimits,
  hint: "",
  createdAt: DateTime.makeUnsafe(0),
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
})

/** The operator that `authorize` names. Throws if its role doesn't exist. */
const operatorOf = (verdict: Operator | true): Operator => {
  const operator = verdict === true ? { role: "admin" as const } : verdict
  if (Object.hasOwn(ApiKey.ROLES, operator.role)) return operator
  throw new ConfigurationError(
    `authorize gave the role ${JSON.stringify(operator.role)}: there are ${Object.keys(ApiKey.ROLES).join(", ")}`,
  )
}

/** The operator of a request, for the server, which knows keys only. It stays within this process. */
const toText = ({ creditLimits = {}, role }: Operator): string =>
  encodeURIComponent(
    JSON.stringify({
      role,
      limits: Object.entries(creditLimits).map(([unit, limit]) => [unit, String(limit)]),
    }),
  )

const ofText = (text: string): Operator => {
  const { limits, role } = JSON.parse(decodeURIComponent(text)) as {
    readonly role: Operator["role"]
    readonly limits: ReadonlyArray<readonly [string, string]>
  }
  return { role, creditLimits: Object.fromEntries(limits.map(([unit, limit]) => [unit, BigInt(limit)])) }
}

/** The API for one tenant. It ignores the key of a request, because `authorize` has already been asked. */
const loadForOperator = async (
  { calls, closing }: Engine,
  tenant: Tenant.Tenant,
  basePath: string,
): Promise<OperatorData> => {
  const { FetchHandler, Server } = await import("@billwright/http")
  const keys = ApiKeys.of({
    ...calls.service(ApiKeys),
    verify: (text) => Effect.sync(() => ({ key: operatorKey(tenant, ofText(Redacted.value(text))), tenant })),
  })
  const context = Context.add(calls.context, ApiKeys, keys)
  const server = await Effect.runPromiseWith(context)(Server.make())
  const handler = FetchHandler.make(server, context, { basePath, closing })
  return (operator, request, env) => {
    const headers = new Headers(request.headers)
    headers.set("authorization", `Bearer ${toText(operator)}`)
    return handler(new Request(request, { headers }), env)
  }
}

type OperatorData = (operator: Operator, ...args: Parameters<Data>) => Promise<Response>
type Authorize = NonNullable<DashboardOptions["authorize"]>

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
    if (verdict instanceof Response) return refusal(401, "unauthorized", SIGNED_OUT)
    const operator = operatorOf(verdict)
    if (!request.headers.has(PAGE_HEADER)) return refusal(403, "forbidden", FOREIGN)
    return (await (loading ??= loadForOperator(engine, tenant, basePath)))(operator, request, env)
  }
}
