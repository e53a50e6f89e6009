/**
 * What commands over the API of a running server share: how values are sent, shown and listed.
 */
import { Console, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { type Answer, ApiClient, url } from "./ApiClient.ts"
import * as Listing from "./Listing.ts"
import { Misconfigured } from "./Store.ts"
import * as Table from "./Table.ts"
import { json } from "./TenantFlags.ts"

/** A kind of value, and where the API has it. */
export interface Kind {
  /** With its article: `an invoice`. */
  readonly noun: string
  /** `invoices`. */
  readonly nouns: string
  readonly path: string
  /** What its ids begin with: `inv`. */
  readonly prefix: string
}

const Link = Schema.Struct({ url: Schema.String })

/** A value of the API. Its fields are printed as they are. */
export const Shown = Schema.Record(Schema.String, Schema.Unknown)
type Shown = typeof Shown.Type
const Item = Schema.StructWithRest(Schema.Struct({ id: Schema.String }), [Shown])
type Item = typeof Item.Type

/** An answer with an invoice, or with none. */
export const WithInvoice = Schema.Struct({ invoice: Schema.NullOr(Item) })

export const ItemList = Schema.Struct({ data: Schema.Array(Item), has_more: Schema.Boolean })

export const common = { url, json }

export const idOf = ({ noun, prefix }: Kind) =>
  Argument.String("id").pipe(Argument.withDescription(`The id of ${noun}: ${prefix}_…`))

export const pathOf = ({ path }: Kind, id: string, action = ""): string =>
  `${path}/${encodeURIComponent(id)}${action}`

/** A text that can be left out. */
export const optional = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

/** An integer that can be left out. */
export const optionalInt = (name: string, description: string) =>
  Flag.Int(name).pipe(Flag.withDescription(description), Flag.optional)

/** Pairs that can be left out, each as key=value. */
export const pairs = (name: string, description: string) =>
  Flag.KeyValuePair(name).pipe(Flag.withDescription(`${description} Can be repeated.`), Flag.optional)

type Fields = Readonly<Record<string, unknown>>

/** The fields that have a value. */
const givenOf = (fields: Fields) =>
  Object.entries(fields).flatMap(([name, field]) => {
    const value = Option.isOption(field) ? Option.getOrUndefined(field) : field
    return value === undefined ? [] : [[name, value] as const]
  })

export const isSomethingGiven = (fields: Fields): boolean => givenOf(fields).length > 0

/** The fields of a request. One without a value is left out. */
const bodyOf = (fields: Fields): string => JSON.stringify(Object.fromEntries(givenOf(fields)))

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isPlain = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value)
/** A list is shown as its values, with commas. */
const isShown = (value: unknown): boolean =>
  isPlain(value) || (Array.isArray(value) && value.length > 0 && value.every(isPlain))

/** The fields with one value each, those of objects in it, too. What is null is left out. */
const plainFields = (item: Readonly<Record<string, unknown>>, within = ""): Record<string, string> =>
  Object.fromEntries(
    Object.entries(item).flatMap(([name, value]) => {
      if (isShown(value)) return [[`${within}${name}`, String(value)] as const]
      return isObject(value) && within === "" ? Object.entries(plainFields(value, `${name}.`)) : []
    }),
  )

const LINE_FIELDS = ["id", "kind", "description", "quantity", "amount"]

const cellsOf = (item: Readonly<Record<string, unknown>>, fields: ReadonlyArray<string>) =>
  fields.map((field) => (isShown(item[field]) ? String(item[field]) : "-"))

const headersOf = (fields: ReadonlyArray<string>) =>
  fields.map((field) => field.replaceAll("_", " ").toUpperCase())

const describe = (answer: Shown): string => {
  const { object: _, ...item } = answer
  const fields = Table.fields(plainFields(item))
  const lines = Array.isArray(item["lines"]) ? item["lines"].filter(isObject) : []
  if (lines.length === 0) return fields
  const rows = lines.map((line) => cellsOf(line, LINE_FIELDS))
  return `${fields}\n\n${Table.render(headersOf(LINE_FIELDS), rows)}`
}

const show = ({ text, value }: Answer<Shown>, asJson: boolean): Effect.Effect<void> =>
  Console.log(asJson ? text : describe(value))

/** Prints the invoice of an answer, or what it means that there is none. */
export const showInvoice = (
  { text, value: { invoice } }: Answer<typeof WithInvoice.Type>,
  none: string,
  asJson: boolean,
): Effect.Effect<void> => {
  if (asJson) return Console.log(text)
  return invoice === null ? Console.error(none) : Console.log(describe(invoice))
}

/** Sends a body, and shows the answer. */
export const send = Effect.fnUntraced(function* (path: string, fields: Fields, asJson: boolean) {
  const api = yield* ApiClient
  yield* show(yield* api.post(path, Shown, bodyOf(fields)), asJson)
})

/** Sends what changes, and shows the value afterwards. */
export const patch = Effect.fnUntraced(function* (path: string, fields: Fields, asJson: boolean) {
  const api = yield* ApiClient
  yield* show(yield* api.patch(path, Shown, bodyOf(fields)), asJson)
})

/** Asks for a value that has no id, and shows it. */
export const fetchOne = Effect.fnUntraced(function* (path: string, query: Fields, asJson: boolean) {
  const api = yield* ApiClient
  const asked = Object.fromEntries(givenOf(query).map(([name, value]) => [name, String(value)]))
  yield* show(yield* api.get(path, Shown, asked), asJson)
})

/** Prints values as a table of some of their fields. */
export const printTable = (
  { text, value }: Answer<ReadonlyArray<Shown>>,
  columns: ReadonlyArray<string>,
  asJson: boolean,
): Effect.Effect<void> => {
  const rows = value.map((item) => cellsOf(item, columns))
  return Console.log(asJson ? text : Table.render(headersOf(columns), rows))
}

export const getter = (kind: Kind, name = "get") =>
  Command.make(
    name,
    { id: idOf(kind), ...common },
    Effect.fn(function* (options) {
      const api = yield* ApiClient
      yield* show(yield* api.get(pathOf(kind, options.id), Item), options.json)
    }),
  ).pipe(
    Command.withDescription(`Show ${kind.noun}`),
    Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  )

export const printPage = (
  page: Answer<typeof ItemList.Type>,
  columns: ReadonlyArray<string>,
  asJson: boolean,
): Effect.Effect<void> => Listing.print(page, headersOf(columns), (item) => cellsOf(item, columns), asJson)

/** Lists values, with columns for some fields, and with flags for filters, by the names of their query parameters. */
export const lister = (
  kind: Kind,
  columns: ReadonlyArray<string>,
  filters: Readonly<Record<string, Flag.Flag<Option.Option<string>>>>,
  name = "list",
) =>
  Command.make(
    name,
    { filters, ...Listing.flags, ...common },
    Effect.fn(function* (options) {
      const api = yield* ApiClient
      const asked = Object.entries(options.filters).map(
        ([parameter, value]) => [parameter, Option.getOrUndefined(value)] as const,
      )
      const query = { ...Listing.query(options), ...Object.fromEntries(asked) }
      const page = yield* api.get(kind.path, ItemList, query)
      yield* printPage(page, columns, options.json)
    }),
  ).pipe(
    Command.withDescription(`List ${kind.nouns}, newest first`),
    Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  )

/** A command that needs nothing but an id. With a warning, it also needs `--yes`. */
interface Plain {
  readonly name: string
  readonly description: string
  /** What it would do for good: `this would …`. */
  readonly warning?: string
  /** What is said instead of the warning when it is done already; `undefined` when it isn't. */
  readonly done?: (value: Item) => string | undefined
}

const yes = Flag.Boolean("yes").pipe(
  Flag.withDescription("Confirm what can't be undone, if it can't be undone."),
  Flag.withDefault(false),
)

const confirmed = (warning: string | undefined, id: string, isConfirmed: boolean) =>
  warning === undefined || isConfirmed
    ? Effect.void
    : Effect.fail(new Misconfigured({ message: `this would ${warning}: ${id}. Add --yes to do it` }))

const refuseIfDone = Effect.fnUntraced(function* (kind: Kind, id: string, done: Plain["done"]) {
  if (done === undefined) return
  const message = done((yield* (yield* ApiClient).get(pathOf(kind, id), Item)).value)
  if (message !== undefined) yield* new Misconfigured({ message })
})

/** `POST` to a path below that of the value. */
export const action = (kind: Kind, path: string, { description, done, name, warning }: Plain) =>
  Command.make(
    name,
    { id: idOf(kind), ...(warning === undefined ? {} : { yes }), ...common },
    Effect.fn(function* (options) {
      const isConfirmed = options.yes === true
      // With `--yes`, the server itself says why it refuses.
      if (!isConfirmed) yield* refuseIfDone(kind, options.id, done)
      yield* confirmed(warning, options.id, isConfirmed)
      yield* send(pathOf(kind, options.id, path), {}, options.json)
    }),
  ).pipe(
    Command.withDescription(description),
    Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  )

/** Makes a link for a payer. Programs get the whole answer, and people the address alone, to copy. */
export const linker = (kind: Kind, path: string, { description, name }: Plain) =>
  Command.make(
    name,
    {
      id: idOf(kind),
      expiresInSeconds: optionalInt("expires-in-seconds", "For how long it is valid: at most 90 days."),
      language: optional("language", "de, en, es or fr. Default: that of the customer."),
      ...common,
    },
    Effect.fn(function* (options) {
      const { expiresInSeconds, id, language } = options
      const api = yield* ApiClient
      const fields = { expires_in_seconds: expiresInSeconds, language }
      const { text, value } = yield* api.post(pathOf(kind, id, path), Link, bodyOf(fields))
      yield* Console.log(options.json ? text : value.url)
    }),
  ).pipe(
    Command.withDescription(description),
    Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  )

/** `DELETE` of the value. `past` says what has happened then. */
export const remover = (kind: Kind, past: string, { description, name, warning }: Plain) =>
  Command.make(
    name,
    { id: idOf(kind), ...(warning === undefined ? {} : { yes }), ...common },
    Effect.fn(function* (options) {
      yield* confirmed(warning, options.id, options.yes === true)
      const api = yield* ApiClient
      const { text, value } = yield* api.delete(pathOf(kind, options.id), Item)
      yield* Console.log(options.json ? text : `${value.id} is ${past}.`)
    }),
  ).pipe(
    Command.withDescription(description),
    Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  )
