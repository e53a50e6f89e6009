/**
 * A resource: an object with an id that belongs to a tenant. All resources are created, read, listed, changed and
 * removed in the same way. Some can't be created by a call, changed or removed.
 *
 * A resource is defined once, in its domain. The definition gives its Schemas, its error for an unknown id, its storage
 * (`Collections`), its part of the REST API and of the OpenAPI document, and the types of the Promise API.
 */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import * as NotFound from "./NotFound.ts"
import { countWithinBytes, pageFields } from "./Page.ts"
import type { Scoped } from "./Scoped.ts"
import { folded } from "./Search.ts"

/** The definition of a resource by its domain. */
export interface Definition {
  /** The name of its type in the OpenAPI document: `UsageThreshold`. */
  readonly type: string
  /** The noun for one object in a sentence: `usage threshold`. */
  readonly noun: string
  /** A shorter noun for clear contexts: `threshold`. Default: the noun. */
  readonly short?: string
  /** The plural, as a title: `Usage thresholds`. */
  readonly title: string
  /** What one object is, in a sentence. */
  readonly description: string
  /** What the resource is for, in a sentence. Default: the description. */
  readonly about?: string
  /** The path in the REST API: `/usage/thresholds`. */
  readonly path: string
  /** The first part of the scope that an API key needs for them: `usage` of `usage:read`. */
  readonly scope: Scoped
  readonly id: Schema.Codec<string, string>
  /** The prefix of its ids. */
  readonly prefix: string
  /** The field with the id of the customer that the object belongs to. */
  readonly customer?: string
  /** Whether the input of create names other things, such as a plan, so that its creation may answer 404. */
  readonly isReferring?: boolean
  /** Whether it has personal data. Then removing it also removes the stored answers of requests about it. */
  readonly isPersonal?: boolean
  /** The fields with personal data of customers. The audit log says that they changed, and not to what. */
  readonly personal?: ReadonlyArray<string>
  /** The fields that only say how far work in the background is. The audit log doesn't count them as changes. */
  readonly progress?: ReadonlyArray<string>
  /** Whether its values are never changed or removed, not even by the library. */
  readonly isAppendOnly?: boolean
  /** Whether its values are entries of a ledger, which say themselves when they were made. The audit log has only later changes. */
  readonly isLedger?: boolean
  /** Whether its id stays known after its removal, so that references to it stay valid: see `Collection.remove`. */
  readonly keepsId?: boolean
  readonly fields: Field.Fields
  /** The instants of its creation and, if it can be changed, of its last change. */
  readonly times: Field.Fields
  readonly create: Field.InputFields
  readonly update?: Field.InputFields
  /** The fields that a list can be filtered by. */
  readonly filters: Field.InputFields
  /** The fields by which stores find rows. A filter of the same name uses this field. */
  readonly indexed: ReadonlyArray<string>
  /**
   * The fields whose value no other value of the tenant may have, unless it is `null`, for a resource whose values are never removed. An
   * insertion of such a resource waits for other insertions of it in the same tenant until their transactions end.
   */
  readonly unique?: ReadonlyArray<string>
  /** The text fields that the filter `search` searches. */
  readonly searched?: ReadonlyArray<string>
  /** What creation and removal do. Missing: there is no such operation. */
  readonly operations: {
    readonly create?: string
    readonly remove?: { readonly verb: string; readonly past: string; readonly description: string }
  }
  /** An example, as the API sends it. */
  readonly example: Readonly<Record<string, unknown>>
  /** An example of an update: the request and the response. */
  readonly exampleOfUpdate?: { readonly request: object; readonly response: object }
}

type ValueFields<D extends Definition> = Field.SchemasOf<
  { readonly id: IdField<D> } & D["fields"] & D["times"]
>
type IdField<D extends Definition> = Field.Field<D["id"], "id", false>
type UpdateOf<D extends Definition> = D["update"] extends Field.InputFields ? D["update"] : {}
type ListFields<D extends Definition> = typeof pageFields & Field.SchemasOf<D["filters"]>

/** `usage threshold` → `UsageThreshold` */
type Pascal<Noun extends string> = Noun extends `${infer Word} ${infer Rest}`
  ? `${Capitalize<Word>}${Pascal<Rest>}`
  : Capitalize<Noun>
type ShortOf<D extends Definition> = D["short"] extends string ? D["short"] : D["noun"]
type NotFoundOf<D extends Definition> = NotFound.NotFoundClass<`${Pascal<ShortOf<D>>}NotFound`>

/** A definition, with the Schemas and errors that follow from it. */
export type Resource<D extends Definition = Definition> = D & {
  readonly Value: Schema.Struct<ValueFields<D>>
  readonly Create: Schema.Struct<Field.SchemasOf<D["create"]>>
  readonly Update: Schema.Struct<Field.SchemasOf<UpdateOf<D>>>
  readonly List: Schema.Struct<ListFields<D>>
  /** The error for an id that no value of the current tenant has. Its tag is made of the short noun: `ThresholdNotFound`. */
  readonly NotFound: NotFoundOf<D>
}

/** A value of a resource. */
export type ValueOf<R> = R extends { readonly Value: { readonly Type: infer A } } ? A : never
/** The id of a resource. */
export type IdOf<R> = R extends { readonly id: { readonly Type: infer Id } } ? Id : never

const pascal = (noun: string): string =>
  noun.replaceAll(/(?:^| )([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Makes a resource from its definition. */
export const make = <const D extends Definition>(definition: D): Resource<D> => ({
  ...definition,
  Value: Schema.Struct({
    id: definition.id,
    ...Field.schemasOf(definition.fields),
    ...Field.schemasOf(definition.times),
  } as ValueFields<D>),
  Create: Schema.Struct(Field.schemasOf(definition.create as D["create"])),
  Update: Schema.Struct(Field.schemasOf((definition.update ?? {}) as UpdateOf<D>)),
  List: Schema.Struct({ ...pageFields, ...Field.schemasOf(definition.filters) } as ListFields<D>),
  NotFound: NotFound.make(
    `${pascal(definition.short ?? definition.noun)}NotFound`,
    definition.noun,
  ) as NotFoundOf<D>,
})

/** The names of fields that are not part of the input of create and may be `null`. */
type UnsetNames<D extends Definition> = {
  [Name in keyof D["fields"]]: Name extends keyof D["create"]
    ? never
    : D["fields"][Name] extends Field.Field<Schema.Top, Field.FieldKind, true>
      ? Name
      : never
}[keyof D["fields"]]

/** The fields of a new value that are not part of the input of create. They are `null` until something sets them. */
export const unset = <D extends Definition>({
  create,
  fields,
}: Resource<D>): { readonly [Name in UnsetNames<D>]: null } => {
  const names = Object.entries(fields).flatMap(([name, { isNullable }]) =>
    isNullable && !Object.hasOwn(create, name) ? [name] : [],
  )
  return Object.fromEntries(names.map((name) => [name, null])) as { [Name in UnsetNames<D>]: null }
}

/** The normalized text of a value for the filter `search`. `undefined` if the resource can't be searched. */
export const searchText = ({ searched }: Definition, value: object): string | undefined => {
  if (searched === undefined) return undefined
  const fields = value as Readonly<Record<string, unknown>>
  return folded(searched.map((name) => String(fields[name])).join("\n"))
}

/** The fields whose values are JSON of any shape, such as metadata. */
export const jsonFields = ({ fields }: Definition): ReadonlyArray<string> =>
  Object.entries(fields).flatMap(([name, { kind }]) => (kind === "json" ? [name] : []))

const encoder = new TextEncoder()

/** How many of these values fit in one page: at least one, and at most `Page.MAX_PAGE_BYTES` in fields of JSON. */
export const countWithinPage = (resource: Definition, values: ReadonlyArray<object>): number => {
  if (values.length <= 1) return values.length
  const names = jsonFields(resource)
  if (names.length === 0) return values.length
  const bytesOf = (value: unknown): number => encoder.encode(JSON.stringify(value)).length
  return countWithinBytes(values, (value) => {
    const fields = value as Readonly<Record<string, unknown>>
    return names.reduce((bytes, name) => bytes + bytesOf(fields[name]), 0)
  })
}
