/**
 * A field of a resource: its Schema, what it is made of, and what it is for.
 *
 * What it is made of says how it is written in JSON and in a column of a table, so that neither is said again for each
 * resource.
 */
import { Schema } from "effect"

/**
 * - `text`: a string with rules, a literal or an id of the host's;
 * - `id`: an id of ours, a TypeID with a fixed prefix;
 * - `integer`: an integer of any size, a `bigint`;
 * - `instant`: a `DateTime.Utc`;
 * - `json`: anything that JSON holds as it is.
 */
export type FieldKind = "text" | "id" | "integer" | "instant" | "json"

export interface Field<
  S extends Schema.Top = Schema.Top,
  Kind extends FieldKind = FieldKind,
  IsNullable extends boolean = boolean,
> {
  readonly schema: S
  readonly kind: Kind
  readonly isNullable: IsNullable
  /** What it is, in a sentence for readers of the API. */
  readonly description: string
  /** The prefix of an id. */
  readonly prefix?: string
  /** The limits of an integer, and what is said when it breaks them. */
  readonly bounds?: IntegerBounds
}

/** A field that may be left out. */
export interface OptionalField<F extends Field = Field> {
  readonly optional: F
}

export type Fields = Readonly<Record<string, Field>>
export type InputFields = Readonly<Record<string, Field | OptionalField>>

/** The limits of an integer. */
export interface IntegerBounds {
  readonly minimum: bigint
  readonly maximum: bigint
  readonly problem: string
}

/** A string. */
export const text = <S extends Schema.Top>(schema: S, description: string): Field<S, "text", false> => ({
  schema: described(schema, description),
  kind: "text",
  isNullable: false,
  description,
})

/** An id of ours. */
export const id = <S extends Schema.Top>(
  schema: S,
  prefix: string,
  description: string,
): Field<S, "id", false> => ({
  schema: described(schema, description),
  kind: "id",
  isNullable: false,
  description,
  prefix,
})

/** What JSON holds as it is. */
export const json = <S extends Schema.Top>(schema: S, description: string): Field<S, "json", false> => ({
  schema: described(schema, description),
  kind: "json",
  isNullable: false,
  description,
})

/** An integer of any size. */
export const integer = <S extends Schema.Top>(
  schema: S,
  bounds: IntegerBounds,
  description: string,
): Field<S, "integer", false> => ({ schema, kind: "integer", isNullable: false, description, bounds })

/** An instant. */
export const instant = (description: string): Field<typeof Schema.DateTimeUtc, "instant", false> => ({
  schema: Schema.DateTimeUtc,
  kind: "instant",
  isNullable: false,
  description,
})

/** An instant that may not have come. */
export const instantOrNull = (
  description: string,
): Field<Schema.NullOr<typeof Schema.DateTimeUtc>, "instant", true> => ({
  schema: Schema.NullOr(Schema.DateTimeUtc),
  kind: "instant",
  isNullable: true,
  description,
})

/** The field, or nothing. */
export const optional = <F extends Field>(field: F): OptionalField<F> => ({ optional: field })

/** The same field with something else to say of it. */
export const saying = <F extends Field>(field: F, description: string): F => ({
  ...field,
  schema: described(field.schema, description),
  description,
})

/** An annotated Schema has the type of the one that it is made from. */
const described = <S extends Schema.Top>(schema: S, description: string): S =>
  schema.annotate({ description }) as S

/** The Schemas of fields. */
export type SchemasOf<F extends InputFields> = {
  readonly [Name in keyof F]: F[Name] extends OptionalField<infer Inner>
    ? Schema.optionalKey<Inner["schema"]>
    : F[Name] extends Field<infer S>
      ? S
      : never
}

export const schemasOf = <F extends InputFields>(fields: F): SchemasOf<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      "optional" in field ? Schema.optionalKey(field.optional.schema) : field.schema,
    ]),
  ) as SchemasOf<F>
