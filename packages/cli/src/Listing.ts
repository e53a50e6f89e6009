/**
 * The flags of commands that list something, and how a page is printed.
 */
import { Console, Effect, Option, Schema } from "effect"
import { Flag } from "effect/cli"
import type { Answer } from "./ApiClient.ts"
import * as Table from "./Table.ts"

const MAX_LIMIT = 100
const DEFAULT_LIMIT = 20

export const flags = {
  limit: Flag.Int("limit").pipe(
    Flag.withDescription(`The most items to list, 1 to ${MAX_LIMIT}. Default: ${DEFAULT_LIMIT}.`),
    Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_LIMIT }))),
    Flag.withDefault(DEFAULT_LIMIT),
  ),
  startingAfter: Flag.String("starting-after").pipe(
    Flag.withDescription("List items after the one with this id. Default: from the newest."),
    Flag.optional,
  ),
}

export interface ListOptions {
  readonly limit: number
  readonly startingAfter: Option.Option<string>
}

/** The query parameters of the request. */
export const query = ({ limit, startingAfter }: ListOptions) => ({
  limit: String(limit),
  starting_after: Option.getOrUndefined(startingAfter),
})

interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly has_more: boolean
}

/**
 * Prints the answer of the API, or a table. How to get the next page is printed on standard error, because standard
 * output may be read by a program.
 */
export const print = <A extends { readonly id: string }>(
  { text, value }: Answer<Page<A>>,
  columns: ReadonlyArray<string>,
  row: (item: A) => ReadonlyArray<string>,
  asJson: boolean,
): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (asJson) return yield* Console.log(text)
    if (value.data.length === 0) return yield* Console.error("There are none.")
    yield* Console.log(Table.render(columns, value.data.map(row)))
    const last = value.data.at(-1)
    if (value.has_more && last !== undefined) {
      yield* Console.error(`There are more: --starting-after ${last.id}`)
    }
  })
