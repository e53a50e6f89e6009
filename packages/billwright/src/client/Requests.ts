/**
 * The requests that all resources have.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, Page, PageQuery } from "../Listing.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import type { Connection, Request } from "./Connection.ts"
import { fromWire, toQuery, toWire } from "./WireNames.ts"

/** A path of the API; ids may be any text. */
export const path = (parts: TemplateStringsArray, ...ids: ReadonlyArray<string>): string =>
  parts.reduce((whole, part, index) => whole + encodeURIComponent(String(ids[index - 1])) + part)

/** Changes something, and gives what the API answers. */
export const write = async <A>(
  connection: Connection,
  method: Exclude<Request["method"], "GET">,
  to: string,
  input: object | undefined,
  options: CallOptions | undefined,
): Promise<A> => {
  const { body } = await connection.send({
    method,
    path: to,
    ...(input === undefined ? {} : { body: toWire(input) }),
    signal: options?.signal,
  })
  return fromWire<A>(body)
}

export const read = async <A>(
  connection: Connection,
  from: string,
  query: object | undefined,
  options: CallOptions | undefined,
): Promise<A> => {
  const request = { method: "GET", path: from + toQuery(query ?? {}), signal: options?.signal } as const
  return fromWire<A>((await connection.send(request)).body)
}

/** A list whose items `convert` makes of those of the answer. */
export const list = <
  Query extends PageQuery,
  Item,
  A extends { readonly id: string } = Item & { readonly id: string },
>(
  connection: Connection,
  from: string,
  query: Query | undefined,
  options: CallOptions | undefined,
  convert: (item: Item) => A = (item) => item as unknown as A,
): Listing<A> =>
  makeListing<Query, A>(query, async (page) => {
    // The items of `data` are the API's here, not the caller's own.
    const request = { method: "GET", path: from + toQuery(page), signal: options?.signal } as const
    const { data, has_more } = (await connection.send(request)).body as {
      readonly data: ReadonlyArray<unknown>
      readonly has_more: boolean
    }
    const result: Page<A> = { data: data.map((item) => convert(fromWire<Item>(item))), hasMore: has_more }
    return result
  })

/** The items of a list that is complete. */
export const readAll = async <A>(connection: Connection, request: Request): Promise<ReadonlyArray<A>> => {
  const { data } = (await connection.send(request)).body as { readonly data: ReadonlyArray<unknown> }
  return data.map((item) => fromWire<A>(item))
}
