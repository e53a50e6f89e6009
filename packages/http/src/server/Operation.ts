/**
 * The types of operations, derived from their definitions.
 */
import type { ApiKey, CurrentTenant, Tenant } from "@billwright/core"
import { Context, type Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { BillwrightApi } from "../api/BillwrightApi.ts"
import type { DomainError } from "./ErrorResponse.ts"
import type { Answer } from "./HttpExchange.ts"

type Groups = (typeof BillwrightApi)["groups"]
type EndpointsOf<G> = G extends { readonly endpoints: infer E } ? E : never
/** The endpoints of a group, and of each of several, by their ids. */
type EndpointsIn<Name extends keyof Groups> = {
  readonly [N in Name]: (endpoints: EndpointsOf<Groups[N]>) => void
}[Name] extends (endpoints: infer All) => void
  ? All
  : never

type Decoded<S> = S extends { readonly Type: infer T } ? T : undefined

/** The input of an operation: its path parameters, query and body, decoded by its definition. */
export interface OperationInput<E> {
  readonly params: Decoded<HttpApiEndpoint.Params<E>>
  readonly query: Decoded<HttpApiEndpoint.Query<E>>
  readonly payload: Decoded<HttpApiEndpoint.Payload<E>>
}

/** Runs an operation for a tenant. The key has the permission that it needs. */
export type Operation<Input> = (
  input: Input,
  tenant: Tenant.Tenant,
  key: ApiKey.ApiKey,
) => Effect.Effect<Answer, DomainError, CurrentTenant>

/**
 * Whether the request is a repeat of one that may have attempted a payment. Then the operation attempts nothing, and answers
 * with what is there.
 */
export const IsRepeat = Context.Reference<boolean>("@billwright/http/server/IsRepeat", {
  defaultValue: () => false,
})

/** The name of a group of operations. */
export type GroupName = keyof Groups

/** All operations of some groups, except those in `Without`. The compiler checks that none is missing or extra. */
export type OperationsOf<Name extends keyof Groups, Without extends string = never> = {
  readonly [Id in Exclude<keyof EndpointsIn<Name>, Without>]: Operation<OperationInput<EndpointsIn<Name>[Id]>>
}
