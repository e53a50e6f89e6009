/**
 * What an operation of the API is: its type follows from its definition.
 */
import type { CurrentTenant, Tenant } from "@billwright/core"
import type { Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { BillwrightApi } from "../api/BillwrightApi.ts"
import type { DomainError } from "./ErrorAnswer.ts"
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

/** What an operation is given: its path parameters, query and body, decoded by its definition. */
export interface OperationInput<E> {
  readonly params: Decoded<HttpApiEndpoint.Params<E>>
  readonly query: Decoded<HttpApiEndpoint.Query<E>>
  readonly payload: Decoded<HttpApiEndpoint.Payload<E>>
}

/** What one operation does for a tenant. */
export type Operation<Input> = (
  input: Input,
  tenant: Tenant.Tenant,
) => Effect.Effect<Answer, DomainError, CurrentTenant>

/** The name of a group of operations. */
export type GroupName = keyof Groups

/** Every operation of some groups, but for those left out: a missing or an extra one does not compile. */
export type OperationsOf<Name extends keyof Groups, Without extends string = never> = {
  readonly [Id in Exclude<keyof EndpointsIn<Name>, Without>]: Operation<OperationInput<EndpointsIn<Name>[Id]>>
}
