/**
 * `billwright customers`: customers, over the API of a running server.
 */
import { Console, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ApiClient, url } from "./ApiClient.ts"
import * as Listing from "./Listing.ts"
import { Misconfigured } from "./Store.ts"
import * as Table from "./Table.ts"
import { json } from "./TenantFlags.ts"

const Customer = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  email: Schema.String,
  metadata: Schema.Record(Schema.String, Schema.Unknown),
  created_at: Schema.String,
  updated_at: Schema.String,
})
type Customer = typeof Customer.Type

const CustomerList = Schema.Struct({ data: Schema.Array(Customer), has_more: Schema.Boolean })
const Deleted = Schema.Struct({ id: Schema.String, deleted: Schema.Boolean })

const common = { url, json }
const id = Argument.String("id").pipe(Argument.withDescription("The id of the customer: cus_…"))
const pathOf = (customer: string): string => `/customers/${encodeURIComponent(customer)}`

const metadata = Flag.KeyValuePair("metadata").pipe(
  Flag.withDescription("Your own metadata, as key=value. Can be repeated."),
  Flag.optional,
)

const describe = (customer: Customer): string =>
  Table.fields({
    id: customer.id,
    name: customer.name,
    email: customer.email,
    created: customer.created_at,
    updated: customer.updated_at,
    ...Object.fromEntries(
      Object.entries(customer.metadata).map(([key, value]) => [`metadata.${key}`, String(value)]),
    ),
  })

const show = ({ text, value }: { readonly text: string; readonly value: Customer }, asJson: boolean) =>
  Console.log(asJson ? text : describe(value))

const create = Command.make(
  "create",
  {
    name: Flag.String("name").pipe(Flag.withDescription("The customer's name.")),
    email: Flag.String("email").pipe(Flag.withDescription("The customer's e-mail address.")),
    metadata,
    ...common,
  },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const body = {
      name: options.name,
      email: options.email,
      ...(Option.isSome(options.metadata) ? { metadata: options.metadata.value } : {}),
    }
    yield* show(yield* api.post("/customers", Customer, JSON.stringify(body)), options.json)
  }),
).pipe(
  Command.withDescription("Create a customer"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command:
        'billwright customers create --name "Ada Lovelace" --email ada@example.com --metadata plan=pro',
      description: "Create a customer with metadata",
    },
  ]),
)

const get = Command.make(
  "get",
  { id, ...common },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    yield* show(yield* api.get(pathOf(options.id), Customer), options.json)
  }),
).pipe(
  Command.withDescription("Show a customer"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const list = Command.make(
  "list",
  {
    email: Flag.String("email").pipe(
      Flag.withDescription("Only customers with exactly this e-mail address. Default: all."),
      Flag.optional,
    ),
    search: Flag.String("search").pipe(
      Flag.withDescription("Only customers with this text in their name or e-mail address. Default: all."),
      Flag.optional,
    ),
    ...Listing.flags,
    ...common,
  },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const page = yield* api.get("/customers", CustomerList, {
      ...Listing.query(options),
      email: Option.getOrUndefined(options.email),
      search: Option.getOrUndefined(options.search),
    })
    yield* Listing.print(
      page,
      ["ID", "NAME", "EMAIL", "CREATED"],
      (customer) => [customer.id, customer.name, customer.email, customer.created_at],
      options.json,
    )
  }),
).pipe(
  Command.withDescription("List customers, newest first"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const update = Command.make(
  "update",
  {
    id,
    name: Flag.String("name").pipe(Flag.withDescription("The new name. Default: unchanged."), Flag.optional),
    email: Flag.String("email").pipe(
      Flag.withDescription("The new e-mail address. Default: unchanged."),
      Flag.optional,
    ),
    metadata,
    removeMetadata: Flag.String("remove-metadata").pipe(
      Flag.withDescription("A metadata key to remove. Can be repeated."),
      Flag.between(0, 50),
    ),
    ...common,
  },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const set = Option.getOrElse(options.metadata, () => ({}))
    const changed = { ...set, ...Object.fromEntries(options.removeMetadata.map((key) => [key, null])) }
    const body = {
      ...(Option.isSome(options.name) ? { name: options.name.value } : {}),
      ...(Option.isSome(options.email) ? { email: options.email.value } : {}),
      ...(Object.keys(changed).length > 0 ? { metadata: changed } : {}),
    }
    if (Object.keys(body).length === 0) {
      return yield* new Misconfigured({
        message: "nothing to change: give --name, --email, --metadata or --remove-metadata",
      })
    }
    return yield* show(yield* api.patch(pathOf(options.id), Customer, JSON.stringify(body)), options.json)
  }),
).pipe(
  Command.withDescription("Change fields of a customer"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const remove = Command.make(
  "delete",
  {
    id,
    yes: Flag.Boolean("yes").pipe(
      Flag.withDescription("Confirm that name, e-mail address and metadata will be erased for good."),
      Flag.withDefault(false),
    ),
    ...common,
  },
  Effect.fn(function* (options) {
    if (!options.yes) {
      return yield* new Misconfigured({
        message: `this would erase name, e-mail address and metadata of ${options.id} for good and keep its usage: add --yes to do it`,
      })
    }
    const api = yield* ApiClient
    const { text, value } = yield* api.delete(pathOf(options.id), Deleted)
    return yield* Console.log(options.json ? text : `${value.id} is erased.`)
  }),
).pipe(
  Command.withDescription("Erase a customer's personal data for good, and keep the usage"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

export const customers = Command.make("customers").pipe(
  Command.withDescription("Create, show, change and erase customers"),
  Command.withSubcommands([create, get, list, update, remove]),
)
