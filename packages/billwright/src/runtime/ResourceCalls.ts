/**
 * Makes the calls of a resource from its definition and its service.
 */
import type { CurrentTenant, Resource } from "@billwright/core"
import type { Effect } from "effect"
import type { CallOptions } from "../Call.ts"
import { InvalidInputError } from "../errors/BillingError.ts"
import type { PageQuery } from "../Listing.ts"
import type { Calls } from "./Calls.ts"
import * as Ids from "./Ids.ts"
import { toInput, toOptionalInput } from "./Input.ts"
import { makeListing } from "./ListingPages.ts"

type Asked<A> = Effect.Effect<A, unknown, CurrentTenant>

interface Value {
  readonly id: string
}

/** The use cases of a resource. */
interface Service {
  readonly create: (input: never) => Asked<Value>
  readonly get: (id: string) => Asked<Value>
  readonly list: (query: never) => Asked<{ readonly data: ReadonlyArray<Value>; readonly hasMore: boolean }>
  readonly update?: (id: string, input: never) => Asked<Value>
  readonly remove: (id: string) => Asked<void>
}

/** Converts numbers to `bigint` in fields that take integers of any size. */
const withIntegers = (
  { fields }: Resource.Definition,
  input: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => {
  const result = { ...input }
  for (const [name, { bounds, kind }] of Object.entries(fields)) {
    const value = result[name]
    if (kind !== "integer" || typeof value !== "number") continue
    if (!Number.isSafeInteger(value)) {
      throw new InvalidInputError(
        name,
        `${bounds?.problem ?? "must be an integer"}, beyond 2^53 − 1 a bigint`,
      )
    }
    result[name] = BigInt(value)
  }
  return result
}

const toCreate = (resource: Resource.Definition, input: object): never => {
  const read = toInput<Readonly<Record<string, unknown>>>(input)
  // The service refuses a value that is not an object.
  return (typeof read === "object" && read !== null ? withIntegers(resource, read) : read) as never
}

/** `removal` is the name of the call that removes one. */
export const makeResource = <Of extends object>(
  calls: Calls,
  resource: Resource.Definition,
  { create, get, list, remove, update }: Service,
  removal: "delete" | "erase",
): Of => {
  const toId = Ids.of(resource.prefix)
  const made: object = {
    create: (input: object, options?: CallOptions) =>
      calls.run(() => create(toCreate(resource, input)), options),
    get: (id: string, options?: CallOptions) => calls.run(() => get(toId(id)), options),
    ...(update === undefined
      ? {}
      : {
          update: (id: string, input: object, options?: CallOptions) =>
            calls.run(() => update(toId(id), toInput(input)), options),
        }),
    [removal]: (id: string, options?: CallOptions) => calls.run(() => remove(toId(id)), options),
    list: (query?: PageQuery, options?: CallOptions) =>
      makeListing(query, (page) => calls.run(() => list(toOptionalInput(page)), options)),
  }
  return made as Of
}
