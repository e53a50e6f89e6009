/**
 * A resource: something that has an id, belongs to a tenant, and is created, read, listed and perhaps changed and
 * removed, in the same way everywhere.
 *
 * Its definition is made once, in its domain. From it follow its Schemas, its error of an id that nothing has, how it
 * is kept (`Collections`), its part of the REST API and of the OpenAPI document, and the types of the Promise API.
 */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { pageFields } from "./Page.ts"

/** What a domain says of its resource. */
export interface Definition {
  /** Its name in the API's document: `UsageThreshold`. */
  readonly type: string
  /** What one is called in a sentence: `usage threshold`. */
  readonly noun: string
  /** What one is called where the rest is plain: `threshold`. Default: the noun. */
  readonly short?: string
  /** What many are called, as a title: `Usage thresholds`. */
  readonly title: string
  /** What it is, in a sentence. */
  readonly description: string
  /** What all of them are for, in a sentence. Default: the description. */
  readonly about?: string
  /** Where the API has them: `/usage/thresholds`. */
  readonly path: string
  /** What a key's scope for them begins with: `usage` of `usage:read`. */
  readonly scope: "customers" | "usage" | "events" | "webhooks"
  readonly id: Schema.Codec<string, string>
  /** The prefix of its ids. */
  readonly prefix: string
  /** The field that holds the customer whom it belongs to. */
  readonly customer?: string
  /** Whether it holds personal data: answers that were remembered are forgotten when it is removed. */
  readonly isPersonal?: boolean
  /** Whether its id stays known when it is removed, so that what refers to it stays true. */
  readonly keepsId?: boolean
  readonly fields: Field.Fields
  /** When it was created, and when it was last changed if it can be. */
  readonly times: Field.Fields
  readonly create: Field.InputFields
  readonly update?: Field.InputFields
  /** What a list may be narrowed by. */
  readonly filters: Field.InputFields
  /** Fields that stores find rows by; a filter of the same name is one of these. */
  readonly indexed: ReadonlyArray<string>
  /** What stores search when a list is narrowed by `search`. */
  readonly searchText?: (value: never) => string
  readonly operations: {
    readonly create: string
    readonly remove: { readonly verb: string; readonly past: string; readonly description: string }
  }
  /** An example, as it is sent. */
  readonly example: Readonly<Record<string, unknown>>
  /** A change of it, and what the change makes of it. */
  readonly exampleOfUpdate?: { readonly request: object; readonly response: object }
}

type ValueFields<D extends Definition> = Field.SchemasOf<
  { readonly id: IdField<D> } & D["fields"] & D["times"]
>
type IdField<D extends Definition> = Field.Field<D["id"], "id", false>
type UpdateOf<D extends Definition> = D["update"] extends Field.InputFields ? D["update"] : {}
type ListFields<D extends Definition> = typeof pageFields & Field.SchemasOf<D["filters"]>

/** A definition, with the Schemas that follow from it. */
export type Resource<D extends Definition = Definition> = D & {
  readonly Value: Schema.Struct<ValueFields<D>>
  readonly Create: Schema.Struct<Field.SchemasOf<D["create"]>>
  readonly Update: Schema.Struct<Field.SchemasOf<UpdateOf<D>>>
  readonly List: Schema.Struct<ListFields<D>>
}

/** A value of a resource. */
export type ValueOf<R> = R extends { readonly Value: { readonly Type: infer A } } ? A : never
/** The id of a resource. */
export type IdOf<R> = R extends { readonly id: { readonly Type: infer Id } } ? Id : never

/** Makes a resource of its definition. */
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
})
