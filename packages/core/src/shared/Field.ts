/**
 * A field of a resource: its Schema, its kind and its description.
 *
 * The kind decides how the field is written in JSON and in a database column. So no resource repeats that.
 */
import { Schema } from "effect"

/**
 * - `text`: a string with rules, a literal, or an id that the host made;
 * - `id`: an id that this library made, a TypeID with a fixed prefix;
 * - `integer`: an integer of any size, a `bigint`;
 * - `instant`: a `DateTime.Utc`;
 * - `json`: a value that is stored and sent as JSON without conversion.
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
  /** What the field is, in one sentence for readers of the API. */
  readonly description: string
  /** The prefix of an id. */
  readonly prefix?: string
  /** The limits of an integer, and the problem to report when a value is outside them. */
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

/** Makes a field for a string. */
export const text = <S extends Schema.Top>(schema: S, description: string): Field<S, "text", false> => ({
  schema: described(schema, description),
  kind: "text",
  isNullable: false,
  description,
})

/** Makes a field for an id that this library made. */
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

/** Makes a field for an id that this library made, or `null`. */
export const idOrNull = <S extends Schema.Top>(
  schema: S,
  prefix: string,
  description: string,
): Field<Schema.NullOr<S>, "id", true> => ({
  schema: described(Schema.NullOr(schema), description),
  kind: "id",
  isNullable: true,
  description,
  prefix,
})

/** Makes a field for a value that JSON holds without conversion. */
export const json = <S extends Schema.Top>(schema: S, description: string): Field<S, "json", false> => ({
  schema: described(schema, description),
  kind: "json",
  isNullable: false,
  description,
})

/** Makes a field for a string with rules, or `null`. */
export const textOrNull = <S extends Schema.Top>(
  schema: S,
  description: string,
): Field<Schema.NullOr<S>, "text", true> => ({
  schema: described(Schema.NullOr(schema), description),
  kind: "text",
  isNullable: true,
  description,
})

/** Makes a field for a value that JSON holds without conversion, or `null`. */
export const jsonOrNull = <S extends Schema.Top>(
  schema: S,
  description: string,
): Field<Schema.NullOr<S>, "json", true> => ({
  schema: described(Schema.NullOr(schema), description),
  kind: "json",
  isNullable: true,
  description,
})

/** Makes a field for an integer of any size. */
export const integer = <S extends Schema.Top>(
  schema: S,
  bounds: IntegerBounds,
  description: string,
): Field<S, "integer", false> => ({ schema, kind: "integer", isNullable: false, description, bounds })

/** Makes a field for an integer of any size, or `null`. */
export const integerOrNull = <S extends Schema.Top>(
  schema: S,
  bounds: IntegerBounds,
  description: string,
): Field<Schema.NullOr<S>, "integer", true> => ({
  schema: Schema.NullOr(schema),
  kind: "integer",
  isNullable: true,
  description,
  bounds,
})

/** Makes a field for an instant. */
export const instant = (description: string): Field<typeof Schema.DateTimeUtc, "instant", false> => ({
  schema: Schema.DateTimeUtc,
  kind: "instant",
  isNullable: false,
  description,
})

/** Makes a field for an instant, or `null` while it has not happened. */
export const instantOrNull = (
  description: string,
): Field<Schema.NullOr<typeof Schema.DateTimeUtc>, "instant", true> => ({
  schema: Schema.NullOr(Schema.DateTimeUtc),
  kind: "instant",
  isNullable: true,
  description,
})

/** Makes a field optional. */
export const optional = <F extends Field>(field: F): OptionalField<F> => ({ optional: field })

/** The same field with another description. */
export const saying = <F extends Field>(field: F, description: string): F => ({
  ...field,
  schema: described(field.schema, description),
  description,
})

/** Annotating a Schema does not change its type, so the cast is safe. */
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
