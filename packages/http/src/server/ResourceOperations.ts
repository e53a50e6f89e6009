/**
 * Makes the operations of a resource. Each calls the resource's service and answers with the result.
 */
import { type Resource, Resources, type Tenant } from "@billwright/core"
import { Effect } from "effect"
import { type groupOf, objectOf } from "../api/ResourceApi.ts"
import { type Answer, created, ok } from "./HttpExchange.ts"
import type { Operation, OperationsOf } from "./Operation.ts"
import * as Render from "./Render.ts"
import * as ResourceBody from "./ResourceBody.ts"

interface Asked {
  readonly params: { readonly id: string }
  readonly query: never
  readonly payload: never
}

/** The operations of a resource over its use cases. */
const operationsOf = (
  resource: Resource.Definition,
  { create, get, list, remove, update }: Resources.UseCases,
): Readonly<Record<string, Operation<Asked>>> => {
  const body = ResourceBody.make<Resources.Value>(resource)
  const answer =
    (tenant: Tenant.Tenant, make = ok) =>
    (value: Resources.Value): Answer => ({
      ...make(body(value, tenant)),
      ...(resource.isPersonal === true ? { subject: value.id } : {}),
    })
  const object = objectOf(resource)
  const { type } = resource
  return {
    ...(create === undefined
      ? {}
      : {
          [`create${type}`]: ({ payload }: Asked, tenant: Tenant.Tenant) =>
            Effect.map(create(payload), answer(tenant, created)),
        }),
    [`list${type}s`]: ({ query }, tenant) =>
      Effect.map(list(query), (page) => ok(Render.list(page, tenant, body))),
    [`get${type}`]: ({ params }, tenant) => Effect.map(get(params.id), answer(tenant)),
    ...(update === undefined
      ? {}
      : {
          [`update${type}`]: ({ params, payload }: Asked, tenant: Tenant.Tenant) =>
            Effect.map(update(params.id, payload), answer(tenant)),
        }),
    ...(remove === undefined
      ? {}
      : {
          [`delete${type}`]: ({ params }: Asked) =>
            Effect.as(remove(params.id), ok({ object, id: params.id, deleted: true })),
        }),
  }
}

type ResourceGroups = ReturnType<typeof groupOf<Resources.AnyDefinition>>

/** The operations of all resources. */
export const make: Effect.Effect<OperationsOf<ResourceGroups>, never, Resources.Services> = Effect.map(
  Effect.context<Resources.Services>(),
  (context) =>
    Object.assign(
      {},
      ...Object.values(Resources.all).map(({ definition, useCases }) =>
        operationsOf(definition, useCases(context)),
      ),
    ),
)
