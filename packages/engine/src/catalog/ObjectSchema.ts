/**
 * JSON Schemas of objects, whose fields the compiler compares with those of a TypeScript type.
 */

/** A JSON Schema, or a part of one. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** The schema of a field that may be left out. */
interface Optional {
  readonly optional: JsonSchema
}

/** A field that may be left out. */
export const optional = (schema: JsonSchema): Optional => ({ optional: schema })

/** A schema for each field of `A`. Those that `A` may lack are {@link optional}, and only those. */
export type FieldSchemas<A> = {
  readonly [Name in keyof A]-?: object extends Pick<A, Name> ? Optional : JsonSchema & { optional?: never }
}

const isOptional = (field: unknown): field is Optional =>
  typeof field === "object" && field !== null && "optional" in field

/** The schema of objects of the type `A`. Other fields are refused. */
export const objectOf = <A extends object>(description: string, fields: FieldSchemas<A>): JsonSchema => {
  const all: ReadonlyArray<readonly [string, unknown]> = Object.entries(fields)
  return {
    type: "object",
    description,
    properties: Object.fromEntries(
      all.map(([name, field]) => [name, isOptional(field) ? field.optional : field]),
    ),
    required: all.filter(([, field]) => !isOptional(field)).map(([name]) => name),
    additionalProperties: false,
  }
}

/** A reference to a schema by its name in the document. */
export const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** One of some words. A single word tells the kinds of a {@link unionOf} apart. */
export const wordOf = (description: string, ...words: ReadonlyArray<string>): JsonSchema => ({
  type: "string",
  enum: words,
  description,
})

/** An integer from `minimum` to `maximum`. */
export const integerOf = (description: string, minimum: number, maximum: number): JsonSchema => ({
  type: "integer",
  minimum,
  maximum,
  description,
})

/** Text of `minLength` to `maxLength` characters. */
export const textOf = (description: string, minLength: number, maxLength: number): JsonSchema => ({
  type: "string",
  minLength,
  maxLength,
  description,
})

/** A list of `minItems` to `maxItems` items. */
export const listOf = (
  description: string,
  items: JsonSchema,
  minItems: number,
  maxItems: number,
): JsonSchema => ({ type: "array", items, minItems, maxItems, description })

/** An object with values of one schema, by names of another. */
export const mapOf = (
  description: string,
  propertyNames: JsonSchema,
  additionalProperties: JsonSchema,
  maxProperties: number,
): JsonSchema => ({ type: "object", propertyNames, additionalProperties, maxProperties, description })

/** One of several schemas, by the value of a field: `names` has the name of the schema for each of its values. */
export const unionOf = (
  description: string,
  propertyName: string,
  names: Readonly<Record<string, string>>,
): JsonSchema => {
  const mapping = Object.fromEntries(
    Object.entries(names).map(([value, name]) => [value, `#/components/schemas/${name}`]),
  )
  return {
    description,
    oneOf: [...new Set(Object.values(names))].map(reference),
    discriminator: { propertyName, mapping },
  }
}
