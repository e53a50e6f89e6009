/**
 * The calls of a resource over the API.
 */
import type { CallOptions } from "../Call.ts"
import type { PageQuery } from "../Listing.ts"
import type { Connection } from "./Connection.ts"
import { type IntegersOf, withIntegers } from "./Integers.ts"
import { list, read, write } from "./Requests.ts"

interface Value {
  readonly id: string
}

/** The call that every resource has. */
interface ResourceCalls {
  get(id: string): Promise<Value>
}

type ValueOf<Of extends ResourceCalls> = Awaited<ReturnType<Of["get"]>>

type Removal<Of> = Exclude<keyof Of, "create" | "get" | "list" | "update">
type RemovalOf<Of> = [Removal<Of>] extends [never] ? null : Removal<Of>

export interface ResourceOptions<Of extends ResourceCalls> {
  /** The path of the resource in the API. */
  readonly path: string
  /** The name of the call that removes one. `null` if there is none. */
  readonly removal: RemovalOf<Of>
  /** Whether no call creates them. */
  readonly isReadOnly?: "create" extends keyof Of ? false : true
  readonly isMutable: "update" extends keyof Of ? true : false
  /** The fields that are `bigint`. The compiler checks that the list is complete. */
  readonly integers: IntegersOf<ValueOf<Of>>
}

export const makeResource = <Of extends ResourceCalls>(
  connection: Connection,
  { integers, isMutable, isReadOnly, path, removal }: ResourceOptions<Of>,
): Of => {
  const at = (id: string): string => `${path}/${encodeURIComponent(String(id))}`
  const toValue = withIntegers<Value>(integers)
  const made: object = {
    ...(isReadOnly === true
      ? {}
      : {
          create: async (input: object = {}, options?: CallOptions) =>
            toValue(await write<Value>(connection, "POST", path, input, options)),
        }),
    get: async (id: string, options?: CallOptions) =>
      toValue(await read<Value>(connection, at(id), undefined, options)),
    ...(isMutable
      ? {
          update: async (id: string, input: object, options?: CallOptions) =>
            toValue(await write<Value>(connection, "PATCH", at(id), input, options)),
        }
      : {}),
    ...(removal === null
      ? {}
      : {
          [removal]: async (id: string, options?: CallOptions) => {
            await write(connection, "DELETE", at(id), undefined, options)
          },
        }),
    list: (query?: PageQuery, options?: CallOptions) =>
      list<object, Value>(connection, path, query, options, toValue),
  }
  return made as Of
}
