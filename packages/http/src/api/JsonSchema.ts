/**
 * JSON Schemas: simplifies the derived ones, and makes those of event data.
 */
import type { EventType } from "@billwright/core"
import { Predicate, Schema } from "effect"

/** A node of a document. */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [key: string]: Json }
export type JsonObject = { [key: string]: Json }

export const isObject = (value: unknown): value is JsonObject =>
  Predicate.isObject(value) && !Array.isArray(value)

/** `{ type, allOf: [{ minLength }, { maxLength }] }` says the same as `{ type, minLength, maxLength }`. */
const mergeAllOf = (schema: JsonObject): JsonObject => {
  const { allOf, ...rest } = schema
  if (!Array.isArray(allOf)) return schema
  const merged: JsonObject = { ...rest }
  for (const part of allOf) {
    if (!isObject(part) || "$ref" in part) return schema
    for (const [key, value] of Object.entries(part)) {
      if (key in merged && key !== "description") return schema
      merged[key] = value
    }
  }
  return merged
}

/** Removes needless nesting, and renames references with `rename`. */
export const simplify = (value: Json, rename: (reference: string) => string): Json => {
  if (Array.isArray(value)) return value.map((item) => simplify(item, rename))
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, item]): [string, Json] => {
    if (key === "$ref" && typeof item === "string") return [key, rename(item)]
    return [key, simplify(item, rename)]
  })
  return mergeAllOf(Object.fromEntries(entries))
}

/** The Schema of an event type's data, and the definitions that it refers to as `#/$defs/<name>`. */
export interface DataSchema {
  readonly schema: JsonObject
  readonly definitions: JsonObject
}

const DIALECT = "https://json-schema.org/draft/2020-12/schema"

const derive = (type: EventType.EventType) =>
  Schema.toJsonSchemaDocument(type.data, { onExcessProperty: "error" })

/** What was derived. Each server lists the same types, and its document has them again. */
const derived = new WeakMap<EventType.EventType, ReturnType<typeof derive>>()

/** The JSON Schema of an event type's data. It refuses unknown fields, as publishing does. */
export const ofData = (type: EventType.EventType, rename: (reference: string) => string): DataSchema => {
  const known = derived.get(type) ?? derive(type)
  derived.set(type, known)
  const { definitions, schema } = known
  return {
    schema: simplify(schema as Json, rename) as JsonObject,
    definitions: simplify(definitions as Json, rename) as JsonObject,
  }
}

/** The same as one self-contained document. */
export const documentOfData = (type: EventType.EventType): JsonObject => {
  const { definitions, schema } = ofData(type, (reference) => reference)
  return {
    $schema: DIALECT,
    ...schema,
    ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }),
  }
}
