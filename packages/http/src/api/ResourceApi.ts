/**
 * Makes the REST API of a resource from its definition: the operations, their bodies and examples.
 */
import { type Field, Resource, Resources } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import type { Example } from "./Example.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

type AnyResource = Resource.Definition
type Operations = AnyResource["operations"]
/** A resource that calls create. */
type Creatable = AnyResource & { readonly operations: Required<Pick<Operations, "create">> }
/** A resource that calls remove. */
type Removable = AnyResource & { readonly operations: Required<Pick<Operations, "remove">> }
/** A resource that calls change. */
type Mutable = Creatable & Removable & { readonly update: Field.InputFields }

/** `customerId` → `customer_id` */
type Snake<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? Tail extends Uncapitalize<Tail>
    ? `${Lowercase<Head>}${Snake<Tail>}`
    : `${Lowercase<Head>}_${Snake<Tail>}`
  : Name

/** The wire Schema of a field. */
type WireOf<F> =
  F extends Field.OptionalField<infer Inner>
    ? Schema.optionalKey<WireOf<Inner>>
    : F extends Field.Field<Schema.Top, "instant", infer IsNullable>
      ? ReturnType<IsNullable extends true ? typeof Wire.instantOrNull : typeof Wire.instant>
      : F extends Field.Field<Schema.Top, "integer", infer IsNullable>
        ? IsNullable extends true
          ? Schema.NullOr<ReturnType<typeof Wire.exactInteger>>
          : ReturnType<typeof Wire.exactInteger>
        : F extends Field.Field<infer S>
          ? S
          : never

type WireFields<Fields> = { readonly [Name in keyof Fields]: WireOf<Fields[Name]> }
type SnakeFields<Fields> = {
  readonly [Name in keyof Fields as Name extends string ? Snake<Name> : never]: WireOf<Fields[Name]>
}

/** The Schema of a resource in answers. */
type BodyOf<R extends AnyResource> = Schema.Struct<
  {
    readonly object: Schema.Literal<Snake<R["type"]>>
    readonly id: R["id"]
    readonly livemode: typeof Schema.Boolean
  } & SnakeFields<R["fields"]> &
    SnakeFields<R["times"]>
>

/** A request's body or query. It has the names of the domain, which become snake_case on the wire. */
type InputOf<Fields> = Schema.Codec<Schema.Struct<WireFields<Fields>>["Type"], object>

/** The value of `object` in answers: `usage_threshold`. */
export const objectOf = <R extends AnyResource>({ type }: R) => Wire.nameOf(type) as Snake<R["type"]>
/** The name of the resource's group of operations: `usage_thresholds`. */
export const groupOf = <R extends AnyResource>(resource: R) => `${objectOf(resource)}s` as const

const shortOf = ({ noun, short = noun }: AnyResource): string => short

const wireOf = (field: Field.Field | Field.OptionalField): Schema.Top => {
  if ("optional" in field) return Schema.optionalKey(wireOf(field.optional))
  const { bounds, description, isNullable, kind, schema } = field
  if (kind === "instant") return isNullable ? Wire.instantOrNull(description) : Wire.instant(description)
  if (kind !== "integer" || bounds === undefined) return schema
  const integer = Wire.exactInteger({
    minimum: Number(bounds.minimum),
    maximum: Number(bounds.maximum),
    problem: bounds.problem,
    description:
      bounds.maximum > BigInt(Number.MAX_SAFE_INTEGER)
        ? `${description} ${Wire.LARGE_INTEGERS}`
        : description,
  })
  return isNullable ? Schema.NullOr(integer).annotate({ description }) : integer
}

const wireFields = (fields: Field.InputFields): Record<string, Schema.Top> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, wireOf(field)]))

const snakeFields = (fields: Field.Fields): Record<string, Schema.Top> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [Wire.nameOf(name), wireOf(field)]))

/** The Schema of an input whose fields become snake_case on the wire. */
const input = <Fields extends Field.InputFields>(
  fields: Fields,
  more: { readonly fields: Record<string, Schema.Top>; readonly keys: Record<string, string> },
): InputOf<Fields> => {
  const keys = { ...more.keys }
  for (const name of Object.keys(fields)) if (Wire.nameOf(name) !== name) keys[name] = Wire.nameOf(name)
  const struct = Schema.Struct({ ...more.fields, ...wireFields(fields) })
  const schema: Schema.Top = Object.keys(keys).length === 0 ? struct : struct.pipe(Schema.encodeKeys(keys))
  return schema as InputOf<Fields>
}

const NOTHING = { fields: {}, keys: {} }
const PAGE = { fields: Wire.pageFields, keys: Wire.pageKeys }

/** The query that selects values of a resource, without one for pages. */
export const filters = <R extends AnyResource>(resource: R) =>
  input(resource.filters, NOTHING) as InputOf<R["filters"]>

type QueryOf<R extends AnyResource> = Schema.Codec<
  Schema.Struct<typeof Wire.pageFields & WireFields<R["filters"]>>["Type"],
  object
>

/** The Schema of a resource in answers. There is one for each resource, so that the document has it once. */
export const body = <R extends AnyResource>(resource: R): BodyOf<R> => {
  const made = bodies.get(resource.type) ?? newBody(resource)
  bodies.set(resource.type, made)
  return made as BodyOf<R>
}

const bodies = new Map<string, Schema.Top>()

const newBody = (resource: AnyResource): Schema.Top => {
  const { createdAt, ...otherTimes } = resource.times
  return Schema.Struct({
    object: Schema.Literal(objectOf(resource)),
    id: resource.id.annotate({ description: `The id of the ${shortOf(resource)}.` }),
    ...snakeFields(resource.fields),
    livemode: Schema.Boolean.annotate({ description: "`true` in live mode, `false` in test mode." }),
    ...snakeFields({ ...(createdAt === undefined ? {} : { createdAt }), ...otherTimes }),
  }).annotate({ identifier: resource.type, description: resource.description })
}

/** The answer to removing a resource. */
const removedBody = <R extends Removable>(resource: R) =>
  Schema.Struct({
    object: Schema.Literal(objectOf(resource)),
    id: resource.id.annotate({ description: `The id of the ${shortOf(resource)}.` }),
    deleted: Schema.Literal(true),
  }).annotate({
    identifier: `Deleted${resource.type}`,
    description: `A ${shortOf(resource)} that was ${resource.operations.remove.past}.`,
  })

// A path with text that can't be an id is an unknown path, not a malformed request: the handlers look it up.
const params = (resource: AnyResource) =>
  Schema.Struct({ id: Schema.String.annotate({ description: `The id of the ${shortOf(resource)}.` }) })

const a = (noun: string): string => `${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`

const create = <R extends Creatable>(resource: R, answered: BodyOf<R>) =>
  HttpApiEndpoint.post(`create${resource.type as R["type"]}`, resource.path as `/${string}`, {
    payload: input(resource.create as R["create"], NOTHING).annotate({
      identifier: `Create${resource.type}`,
      description: `A new ${resource.noun}.`,
    }),
    success: answered.pipe(HttpApiSchema.status(201)),
    error:
      resource.customer === undefined && resource.isReferring !== true
        ? writeErrors()
        : writeErrors("not_found"),
  })
    .annotate(RequiredPermission, `${resource.scope}:write`)
    .annotateMerge(
      OpenApi.annotations({
        summary: `Create ${a(resource.noun)}`,
        description: resource.operations.create,
      }),
    )

/** What is said of pages that may end early. */
const limitOf = (resource: Resource.Definition): string => {
  const names = Resource.jsonFields(resource).map(Wire.nameOf)
  return names.length === 0
    ? ""
    : ` A page holds at most 4 MiB of ${names.join(" and ")}. With much of it, it may be shorter than \`limit\`, and \`has_more\` is then true.`
}

const list = <R extends AnyResource>(resource: R, answered: BodyOf<R>) =>
  HttpApiEndpoint.get(`list${resource.type as R["type"]}s`, resource.path as `/${string}`, {
    query: input(resource.filters, PAGE) as QueryOf<R>,
    success: Wire.list(answered, `${resource.type}List`),
    error: readErrors(),
  })
    .annotate(RequiredPermission, `${resource.scope}:read`)
    .annotateMerge(
      OpenApi.annotations({
        summary: `List ${resource.noun}s`,
        description: `Lists ${shortOf(resource)}s, newest first.${limitOf(resource)}`,
      }),
    )

const get = <R extends AnyResource>(resource: R, answered: BodyOf<R>) =>
  HttpApiEndpoint.get(`get${resource.type as R["type"]}`, `${resource.path as `/${string}`}/:id`, {
    params: params(resource),
    success: answered,
    error: readErrors("not_found"),
  })
    .annotate(RequiredPermission, `${resource.scope}:read`)
    .annotateMerge(
      OpenApi.annotations({
        summary: `Get ${a(resource.noun)}`,
        description: `Returns one ${shortOf(resource)}.`,
      }),
    )

const update = <R extends Mutable>(resource: R, answered: BodyOf<R>) =>
  HttpApiEndpoint.patch(`update${resource.type as R["type"]}`, `${resource.path as `/${string}`}/:id`, {
    params: params(resource),
    payload: input(resource.update as R["update"], NOTHING).annotate({
      identifier: `Update${resource.type}`,
      description: "The fields to change. Other fields stay as they are.",
    }),
    success: answered,
    error: writeErrors("not_found"),
  })
    .annotate(RequiredPermission, `${resource.scope}:write`)
    .annotateMerge(
      OpenApi.annotations({
        summary: `Change ${a(resource.noun)}`,
        description: "Changes the given fields. Other fields stay as they are.",
      }),
    )

const remove = <R extends Removable>(resource: R) =>
  HttpApiEndpoint.delete(`delete${resource.type as R["type"]}`, `${resource.path as `/${string}`}/:id`, {
    params: params(resource),
    success: removedBody(resource),
    error: writeErrors("not_found"),
  })
    .annotate(RequiredPermission, `${resource.scope}:write`)
    .annotateMerge(
      OpenApi.annotations({
        summary: `${resource.operations.remove.verb} ${a(resource.noun)}`,
        description: resource.operations.remove.description,
      }),
    )

const about = ({ about: text, description, title }: AnyResource) =>
  OpenApi.annotations({ title, description: text ?? description })

/** The group of a resource that only the library creates: list and get. */
const readable = <R extends AnyResource>(resource: R) => {
  const answered = body(resource)
  return HttpApiGroup.make(groupOf(resource))
    .add(list(resource, answered))
    .add(get(resource, answered))
    .annotateMerge(about(resource))
}

/** The same with create. */
const lasting = <R extends Creatable>(resource: R) => {
  const answered = body(resource)
  return HttpApiGroup.make(groupOf(resource))
    .add(create(resource, answered))
    .add(list(resource, answered))
    .add(get(resource, answered))
    .annotateMerge(about(resource))
}

/** The group of a resource that can't be changed: create, list, get and delete. */
const immutable = <R extends Creatable & Removable>(resource: R) => {
  const answered = body(resource)
  return HttpApiGroup.make(groupOf(resource))
    .add(create(resource, answered))
    .add(list(resource, answered))
    .add(get(resource, answered))
    .add(remove(resource))
    .annotateMerge(about(resource))
}

/** The same with update. */
const mutable = <R extends Mutable>(resource: R) => {
  const answered = body(resource)
  return HttpApiGroup.make(groupOf(resource))
    .add(create(resource, answered))
    .add(list(resource, answered))
    .add(get(resource, answered))
    .add(update(resource, answered))
    .add(remove(resource))
    .annotateMerge(about(resource))
}

/** The group of a resource, with the operations that it has. */
export type GroupOf<R> = R extends Mutable
  ? ReturnType<typeof mutable<R>>
  : R extends Creatable & Removable
    ? ReturnType<typeof immutable<R>>
    : R extends Creatable
      ? ReturnType<typeof lasting<R>>
      : R extends AnyResource
        ? ReturnType<typeof readable<R>>
        : never

const isCreatable = (resource: AnyResource): resource is Creatable => resource.operations.create !== undefined
const isRemovable = (resource: AnyResource): resource is Removable => resource.operations.remove !== undefined
const isMutable = (resource: Creatable & Removable): resource is Mutable => resource.update !== undefined

const anyGroup = (resource: AnyResource): object => {
  if (!isCreatable(resource)) return readable(resource)
  if (!isRemovable(resource)) return lasting(resource)
  return isMutable(resource) ? mutable(resource) : immutable(resource)
}

const group = <R extends AnyResource>(resource: R) => anyGroup(resource) as GroupOf<R>

type Scope = Resources.AnyDefinition["scope"]

const groupsWhere = (isWanted: (scope: Scope) => boolean): object =>
  Object.values(Resources.all)
    .filter(({ definition }) => isWanted(definition.scope))
    .map(({ definition }) => group(definition))

/** The groups of the resources that share a scope. */
export const groups = <S extends Scope>(scope: S) => {
  type Group = GroupOf<Extract<Resources.AnyDefinition, { readonly scope: S }>>
  return groupsWhere((other) => other === scope) as readonly [Group, ...ReadonlyArray<Group>]
}

/** The groups of the resources of all other scopes. */
export const groupsExcept = <S extends Scope>(scope: S) => {
  type Group = GroupOf<Exclude<Resources.AnyDefinition, { readonly scope: S }>>
  return groupsWhere((other) => other !== scope) as readonly [Group, ...ReadonlyArray<Group>]
}

/** The examples of the resource's operations, by operation id. */
export const examples = (resource: AnyResource): Readonly<Record<string, Example>> => {
  const { example, exampleOfUpdate, times, type } = resource
  const { id, ...rest } = example
  const timeNames = Object.keys(times).map(Wire.nameOf)
  const own = Object.entries(rest).filter(([name]) => !timeNames.includes(name))
  const object = objectOf(resource)
  const value = {
    object,
    id,
    ...Object.fromEntries(own),
    livemode: false,
    ...Object.fromEntries(timeNames.map((name) => [name, rest[name]])),
  }
  const names = Object.keys(resource.create).map(Wire.nameOf)
  const request = Object.fromEntries(own.filter(([name]) => names.includes(name)))
  const { create: creation, remove: removal } = resource.operations
  return {
    ...(creation === undefined ? {} : { [`create${type}`]: { request, response: value } }),
    [`list${type}s`]: { response: { object: "list", data: [value], has_more: false } },
    [`get${type}`]: { response: value },
    ...(exampleOfUpdate === undefined
      ? {}
      : {
          [`update${type}`]: {
            request: exampleOfUpdate.request,
            response: { ...value, ...exampleOfUpdate.response },
          },
        }),
    ...(removal === undefined ? {} : { [`delete${type}`]: { response: { object, id, deleted: true } } }),
  }
}
