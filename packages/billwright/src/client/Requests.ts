/**
 * Requests that all resources use.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, Page, PageQuery } from "../Listing.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import type { Connection, Request } from "./Connection.ts"
import { fromWire, toQuery, toWire } from "./WireNames.ts"

/** Builds a path of the API. Ids may be any text, because they are encoded. */
export const path = (parts: TemplateStringsArray, ...ids: ReadonlyArray<string>): string =>
  parts.reduce((whole, part, index) => whole + encodeURIComponent(String(ids[index - 1])) + part)

/** Sends a change and returns the API's answer. */
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

/** What an answer is that is not JSON. */
interface Files {
  readonly text: string
  readonly arrayBuffer: ArrayBuffer
}

/** The documents of a resource: `invoices` or `credit_notes`. */
export const documents = (connection: Connection, of: string) => {
  const file = async <As extends keyof Files>(
    id: string,
    kind: string,
    as: As,
    options: CallOptions | undefined,
  ): Promise<Files[As]> => {
    const request = { method: "GET", path: path`/${of}/${id}/${kind}`, as, signal: options?.signal } as const
    return (await connection.send(request)).body as Files[As]
  }
  return {
    html: (id: string, options?: CallOptions) => file(id, "html", "text", options),
    pdf: async (id: string, options?: CallOptions) =>
      new Uint8Array(await file(id, "pdf", "arrayBuffer", options)),
    ubl: (id: string, options?: CallOptions) => file(id, "ubl", "text", options),
    cii: (id: string, options?: CallOptions) => file(id, "cii", "text", options),
    facturX: async (id: string, options?: CallOptions) =>
      new Uint8Array(await file(id, "factur_x", "arrayBuffer", options)),
  }
}

/** A list. `convert` makes its items from those of the answer. */
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
    // `data` is the API's own list here. `fromWire` would leave a field of this name alone.
    const request = { method: "GET", path: from + toQuery(page), signal: options?.signal } as const
    const { data, has_more } = (await connection.send(request)).body as {
      readonly data: ReadonlyArray<unknown>
      readonly has_more: boolean
    }
    const result: Page<A> = { data: data.map((item) => convert(fromWire<Item>(item))), hasMore: has_more }
    return result
  })

/** Reads a list that has only one page. */
export const readAll = async <A>(connection: Connection, request: Request): Promise<ReadonlyArray<A>> => {
  const { data } = (await connection.send(request)).body as { readonly data: ReadonlyArray<unknown> }
  return data.map((item) => fromWire<A>(item))
}
