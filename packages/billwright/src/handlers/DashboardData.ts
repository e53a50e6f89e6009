/**
 * The REST API that the dashboard uses: with an API key, or without one for an operator whom the host has
 * authorized.
 */
import { ApiKey, ApiKeys, type Tenant, type VerifiedApiKey } from "@billwright/core"
import { Context, DateTime, Effect, Redacted } from "effect"
import { toActor } from "../audit/Person.ts"
import { ConfigurationError } from "../errors/RuntimeError.ts"
import type { Engine } from "../runtime/Engine.ts"
import type { DashboardOptions, Operator, Verdict } from "./DashboardHandlers.ts"
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

/** Who is named where the host doesn't say who the operator is. */
const UNNAMED = "operator"

/**
 * The operator of a verdict. `undefined` if the request is not allowed. Throws if the role doesn't exist, or the id is too
 * long.
 */
const operatorOf = (verdict: Verdict): Operator | undefined => {
  if (verdict === true) return { role: "admin" }
  // In JavaScript, other values may be returned.
  if (typeof verdict !== "object" || verdict === null || verdict instanceof Response) return undefined
  if (verdict.id !== undefined) toActor({ id: verdict.id, role: verdict.role })
  if (Object.hasOwn(ApiKey.ROLES, verdict.role)) return verdict
  throw new ConfigurationError(
    `authorize gave the role ${JSON.stringify(verdict.role)}: there are ${Object.keys(ApiKey.ROLES).join(", ")}`,
  )
}

/** The verdict on a page. Every operator may load it, because it has no data. */
export const pageVerdict = (verdict: Verdict): boolean | Response =>
  typeof verdict === "boolean" || verdict instanceof Response ? verdict : operatorOf(verdict) !== undefined

/** The operator of a request, for the server, which knows keys only. It stays within this process. */
const toText = ({ creditLimits = {}, id, role }: Operator): string =>
  encodeURIComponent(
    JSON.stringify({
      id,
      role,
      limits: Object.entries(creditLimits).map(([unit, limit]) => [unit, String(limit)]),
    }),
  )

const ofText = (text: string): Operator => {
  const { limits, ...who } = JSON.parse(decodeURIComponent(text)) as Pick<Operator, "id" | "role"> & {
    readonly limits: ReadonlyArray<readonly [string, string]>
  }
  return { ...who, creditLimits: Object.fromEntries(limits.map(([unit, limit]) => [unit, BigInt(limit)])) }
}

/** The API for one tenant. It ignores the key of a request, because `authorize` has already been asked. */
const loadForOperator = async (
  { calls, closing, options }: Engine,
  tenant: Tenant.Tenant,
  basePath: string,
): Promise<OperatorData> => {
  const { FetchHandler, Server } = await import("@billwright/http")
  const verified = (operator: Operator): VerifiedApiKey => ({
    key: operatorKey(tenant, operator),
    tenant,
    operator: { id: operator.id ?? UNNAMED, role: operator.role },
  })
  const keys = ApiKeys.of({
    ...calls.service(ApiKeys),
    verify: (text) => Effect.sync(() => verified(ofText(Redacted.value(text)))),
  })
  const context = Context.add(calls.context, ApiKeys, keys)
  const trustedProxies = options.http?.trustedProxies
  const server = await Effect.runPromiseWith(context)(
    Server.make(trustedProxies === undefined ? {} : { trustedProxies }),
  )
  const handler = FetchHandler.make(server, context, { basePath, closing })
  return (operator, request, env) => {
    const headers = new Headers(request.headers)
    // It replaces what the client sent.
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
    const operator = operatorOf(verdict)
    if (operator === undefined) return refusal(401, "unauthorized", SIGNED_OUT)
    if (!request.headers.has(PAGE_HEADER)) return refusal(403, "forbidden", FOREIGN)
    return (await (loading ??= loadForOperator(engine, tenant, basePath)))(operator, request, env)
  }
}
