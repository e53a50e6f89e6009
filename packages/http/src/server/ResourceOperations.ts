/**
 * Makes the operations of a resource. Each calls the resource's service and answers with the result.
 */
import type { CurrentTenant, Page, Resource, StorageError, Tenant } from "@billwright/core"
import { Effect } from "effect"
import { type groupOf, objectOf } from "../api/ResourceApi.ts"
import type { DomainError } from "./ErrorResponse.ts"
import { type Answer, created, ok } from "./HttpExchange.ts"
import type { GroupName, Operation, OperationsOf } from "./Operation.ts"
import * as Render from "./Render.ts"
import * as ResourceBody from "./ResourceBody.ts"

type Answered<A> = Effect.Effect<A, DomainError | StorageError, CurrentTenant>

/** The use cases of a resource. */
interface Service<A> {
  readonly create: (input: never) => Answered<A>
  readonly get: (id: string) => Answered<A>
  readonly list: (query: never) => Answered<Page.Page<A>>
  readonly update?: (id: string, input: never) => Answered<A>
  readonly remove: (id: string) => Answered<void>
}

interface Asked {
  readonly params: { readonly id: string }
  readonly query: never
  readonly payload: never
}

/** Makes the operations of a resource from its service. */
export const make = <R extends Resource.Definition, A extends { readonly id: string } & object>(
  resource: R,
  service: Service<A>,
): OperationsOf<ReturnType<typeof groupOf<R>> & GroupName> => {
  const body = ResourceBody.make<A>(resource)
  const answer =
    (tenant: Tenant.Tenant, make = ok) =>
    (value: A): Answer => ({
      ...make(body(value, tenant)),
      ...(resource.isPersonal === true ? { subject: value.id } : {}),
    })
  const { create, get, list, remove, update } = service
  const object = objectOf(resource)
  const { type } = resource
  const operations: Readonly<Record<string, Operation<Asked>>> = {
    [`create${type}`]: ({ payload }, tenant) => Effect.map(create(payload), answer(tenant, created)),
    [`list${type}s`]: ({ query }, tenant) =>
      Effect.map(list(query), (page) => ok(Render.list(page, tenant, body))),
    [`get${type}`]: ({ params }, tenant) => Effect.map(get(params.id), answer(tenant)),
    ...(update === undefined
      ? {}
      : {
          [`update${type}`]: ({ params, payload }: Asked, tenant: Tenant.Tenant) =>
            Effect.map(update(params.id, payload), answer(tenant)),
        }),
    [`delete${type}`]: ({ params }) =>
      Effect.as(remove(params.id), ok({ object, id: params.id, deleted: true })),
  }
  return operations as object as OperationsOf<ReturnType<typeof groupOf<R>> & GroupName>
}
