/**
 * Converts a Standard Schema to the Effect Schema that the catalogue needs.
 */
import { EventType, ThresholdEvent } from "@billwright/core"
import { Schema } from "effect"
import { ConfigurationError } from "../errors/RuntimeError.ts"
import type { EventDefinition } from "./EventDefinition.ts"
import type { StandardIssue, StandardSchema } from "./StandardSchema.ts"

/** The Standard JSON Schema interface, which some schemas have. */
interface WithJsonSchema {
  readonly jsonSchema?: {
    readonly input: (options: { readonly target: "draft-2020-12" }) => Readonly<Record<string, unknown>>
  }
}

const stepOf = (step: PropertyKey | { readonly key: PropertyKey }): PropertyKey =>
  typeof step === "object" ? step.key : step

/** The part of a value at a path; `undefined` when there is none. */
const valueAt = (value: unknown, path: ReadonlyArray<PropertyKey>): unknown =>
  path.reduce<unknown>(
    (found, step) =>
      typeof found === "object" && found !== null
        ? (found as Readonly<Record<PropertyKey, unknown>>)[step]
        : undefined,
    value,
  )

const toIssue = (value: unknown, { message, path: given = [] }: StandardIssue): Schema.FilterIssue => {
  const path = given.map(stepOf)
  if (path.length === 0) return `is not valid: ${message}`
  return { path, issue: valueAt(value, path) === undefined ? "is required" : `is not valid: ${message}` }
}

const validate = (schema: StandardSchema, value: unknown): Schema.FilterOutput => {
  const result = schema["~standard"].validate(value)
  if (result instanceof Promise) {
    result.catch(() => undefined)
    return "can't be checked: its schema validates asynchronously, and must validate synchronously"
  }
  return result.issues === undefined ? undefined : result.issues.map((issue) => toIssue(value, issue))
}

const jsonSchemaOf = ({ jsonSchema, schema }: EventDefinition): Readonly<Record<string, unknown>> => {
  if (jsonSchema !== undefined) return jsonSchema
  const { jsonSchema: own } = schema["~standard"] as WithJsonSchema
  try {
    return own?.input({ target: "draft-2020-12" }) ?? {}
  } catch {
    return {} // The schema has a type that JSON Schema can't express.
  }
}

const isStandardSchema = (schema: unknown): boolean =>
  (typeof schema === "object" || typeof schema === "function") &&
  schema !== null &&
  typeof (schema as Partial<StandardSchema>)["~standard"]?.validate === "function"

/** The event type that the library publishes itself. The host can't define its data. */
const OWN = ThresholdEvent.usageThreshold.name

/**
 * The event types for the catalogue. Throws a `ConfigurationError` when a definition is wrong or two have the same
 * name.
 */
export const toEventTypes = (definitions: ReadonlyArray<EventDefinition>): Array<EventType.EventType> => {
  const types = definitions.map(toEventType)
  const names = types.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new ConfigurationError(`events has two definitions of "${twice}"`)
  if (names.includes(OWN)) {
    throw new ConfigurationError(
      `events can't define "${OWN}", because Billwright publishes it itself: choose another name`,
    )
  }
  return types
}

/** The event type for the catalogue. Throws a `ConfigurationError` when the definition is wrong. */
const toEventType = (definition: EventDefinition): EventType.EventType => {
  const { description, example, kept = [], name, schema } = definition
  if (typeof name !== "string" || !isStandardSchema(schema)) {
    throw new ConfigurationError(
      "events must be a list of event types made by defineEvent({ name, description, schema, example })",
    )
  }
  if (!Array.isArray(kept) || kept.some((field) => typeof field !== "string")) {
    throw new ConfigurationError(`defineEvent("${name}"): kept must be a list of names of fields`)
  }
  const json = jsonSchemaOf(definition)
  const data: EventType.DataSchema = Schema.Any.check(
    Schema.makeFilter((value: unknown) => validate(schema, value), { toJsonSchema: () => json }),
  )
  try {
    return EventType.make({ name, description, data, example, kept })
  } catch (cause) {
    throw new ConfigurationError((cause as Error).message, { cause })
  }
}
