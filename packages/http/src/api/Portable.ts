/**
 * Adapts the document so that client generators for all common languages handle it.
 */
import { isObject, type Json, type JsonObject } from "./JsonSchema.ts"

const MAX_INT32 = 2 ** 31 - 1

/** Fields that hold values. An object in them that looks like a schema is not one. */
const VALUES = new Set(["example", "examples", "default", "enum", "const"])

/** Generators for Java and Go treat an integer without a format as 32 bits. */
const withWidth = (schema: JsonObject): JsonObject => {
  const { format, maximum, type } = schema
  const isWide = maximum === undefined || (typeof maximum === "number" && maximum > MAX_INT32)
  return type === "integer" && format === undefined && isWide ? { ...schema, format: "int64" } : schema
}

/** Generators make an enum class of each enumeration, and can't do that for booleans. */
const withoutBooleanEnum = (schema: JsonObject): JsonObject => {
  if (schema["type"] !== "boolean" || !Array.isArray(schema["enum"])) return schema
  const { enum: values, ...rest } = schema
  return { description: `Always \`${JSON.stringify(values[0])}\`.`, ...rest }
}

/**
 * Python doesn't support `\p{…}`, and Go's `\s` is ASCII only, so control characters are listed as ranges. Groups that
 * don't capture become plain ones, which all languages have.
 */
const withPlainPattern = (schema: JsonObject): JsonObject =>
  typeof schema["pattern"] === "string"
    ? {
        ...schema,
        pattern: schema["pattern"]
          .replaceAll(String.raw`\p{Cc}`, String.raw`\x00-\x1f\x7f-\x9f`)
          .replaceAll("(?:", "("),
      }
    : schema

/** Adapts a node of the document and everything below it. */
export const portable = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(portable)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, item]): [string, Json] => [
    key,
    VALUES.has(key) ? item : portable(item),
  ])
  return withPlainPattern(withoutBooleanEnum(withWidth(Object.fromEntries(entries))))
}

const withNullType = (schema: JsonObject): JsonObject => {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema
  const [first, second] = anyOf
  if (!isObject(first) || !isObject(second) || second["type"] !== "null") return schema
  const { enum: values, type } = first
  if (typeof type !== "string") return schema
  const withNull = Array.isArray(values) ? { enum: [...values, null] } : {}
  return { ...first, ...rest, type: [type, "null"], ...withNull }
}

/**
 * Writes "a value or null" as one schema with two types. OpenAPI Generator for Python can't read it as two schemas where
 * it is deep inside the body of a webhook.
 */
export const withNullTypes = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(withNullTypes)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, item]): [string, Json] => [
    key,
    VALUES.has(key) ? item : withNullTypes(item),
  ])
  return withNullType(Object.fromEntries(entries))
}
