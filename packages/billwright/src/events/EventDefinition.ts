/**
 * Event types of the host's own.
 */
import { ConfigurationError } from "../errors/RuntimeError.ts"
import type { StandardSchema } from "./StandardSchema.ts"

/** A type of events, made by `defineEvent`. */
export interface EventDefinition<Name extends string = string, Data = unknown> {
  /** Lower-case words joined by dots, two at least: `order.shipped`. At most 100 characters. */
  readonly name: Name
  /** What such an event tells, in one sentence. */
  readonly description: string
  /** What the data must look like. */
  readonly schema: StandardSchema<Data, unknown>
  /** Data of such an event. Test events carry it. */
  readonly example: Data
  /** The JSON Schema (2020-12) of the data, for those who read the catalogue. */
  readonly jsonSchema?: Readonly<Record<string, unknown>> | undefined
}

interface Described<Name extends string, Data> {
  readonly name: Name
  readonly description: string
  readonly example: NoInfer<Data>
  readonly jsonSchema?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Defines a type of events, to be listed under `events` of `createBilling`.
 *
 * ```ts
 * const orderShipped = defineEvent({
 *   name: "order.shipped",
 *   description: "An order left the warehouse.",
 *   schema: z.strictObject({ order_id: z.string() }),
 *   example: { order_id: "ord_1" },
 * })
 * ```
 *
 * `schema` is a Standard Schema (zod, valibot, ArkType, …); in its place `parse` may be any function that throws on
 * data that is wrong. It checks, at once and not by a promise; what is published is the data as it is given, so
 * that transformations and defaults have no effect. Data is JSON: a schema that lets unknown fields pass lets them
 * be sent.
 *
 * Throws a `ConfigurationError` without a name or what checks the data. Whether name and example are right is
 * checked by `createBilling`, which takes each name once.
 */
export function defineEvent<const Name extends string, Data>(
  type: Described<Name, Data> & { readonly schema: StandardSchema<Data, unknown> },
): EventDefinition<Name, Data>
export function defineEvent<const Name extends string, Data>(
  type: Described<Name, Data> & { readonly parse: (data: unknown) => Data },
): EventDefinition<Name, Data>
export function defineEvent(
  type: Described<string, unknown> & {
    readonly schema?: StandardSchema
    readonly parse?: (data: unknown) => unknown
  },
): EventDefinition {
  if (typeof type?.name !== "string") {
    throw new ConfigurationError("defineEvent needs a name such as order.shipped")
  }
  const { parse, schema, ...described } = type
  if (schema !== undefined) return { ...described, schema }
  if (typeof parse === "function") return { ...described, schema: schemaOf(parse) }
  throw new ConfigurationError(`defineEvent("${type.name}") needs a schema or a function parse`)
}

/** A function that throws, as a Standard Schema. */
const schemaOf = (parse: (data: unknown) => unknown): StandardSchema => ({
  "~standard": {
    version: 1,
    vendor: "billwright",
    validate: (value) => {
      try {
        return { value: parse(value) }
      } catch (error) {
        return { issues: [{ message: error instanceof Error ? error.message : String(error) }] }
      }
    },
  },
})
