/**
 * Event types that the host defines.
 */
import { ConfigurationError } from "../errors/RuntimeError.ts"
import type { StandardSchema } from "./StandardSchema.ts"

/** An event type, made by `defineEvent`. */
export interface EventDefinition<Name extends string = string, Data = unknown> {
  /** At least two lower-case words joined by dots, such as `order.shipped`. At most 100 characters. */
  readonly name: Name
  /** What an event of this type means, in one sentence. */
  readonly description: string
  /** Validates the data. */
  readonly schema: StandardSchema<Data, unknown>
  /** Example data. Test events carry it. */
  readonly example: Data
  /** The JSON Schema (2020-12) of the data, shown in the catalogue. */
  readonly jsonSchema?: Readonly<Record<string, unknown>> | undefined
  /**
   * Names of fields of the data, at any depth, whose texts are never personal, such as `order_number`. They stay when the
   * customer of an event is erased, and all other texts but ids of Billwright become `[redacted]`. Numbers and booleans stay.
   * Default: none.
   */
  readonly kept?: ReadonlyArray<string> | undefined
}

interface Described<Name extends string, Data> {
  readonly name: Name
  readonly description: string
  readonly example: NoInfer<Data>
  readonly jsonSchema?: Readonly<Record<string, unknown>> | undefined
  readonly kept?: ReadonlyArray<string> | undefined
}

/**
 * Defines an event type. Pass it to `createBilling` in `events`.
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
 * `schema` is a Standard Schema (zod, valibot, ArkType, …). Instead of `schema` you can pass `parse`, a function
 * that throws when the data is wrong. Both must be synchronous. They only validate: the data is published as given,
 * so transformations and defaults have no effect. If the schema allows unknown fields, those are published too.
 *
 * Throws a `ConfigurationError` when `name`, or both `schema` and `parse`, are missing. `createBilling` checks the
 * name and the example, and rejects two definitions of the same name.
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

/** Turns a function that throws into a Standard Schema. */
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
