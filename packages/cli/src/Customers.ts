/**
 * `billwright customers`: customers, over the API of a running server.
 */
import { Console, Effect, Option, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { ApiClient, ServerUnreachable } from "./ApiClient.ts"
import * as Api from "./ApiCommands.ts"
import { Misconfigured } from "./Store.ts"

const kind: Api.Kind = { noun: "a customer", nouns: "customers", path: "/customers", prefix: "cus" }
const BROKEN_OFF = "the export broke off before its end: run the command again"
/** Most keys of metadata of a customer. */
const MAX_METADATA_KEYS = 50

const metadata = Api.pairs("metadata", "Your own metadata, as key=value.")

/** What bills need to know. They can be given at first, and changed. */
const billed = {
  currency: Api.optional("currency", "The currency of what has no other: EUR."),
  country: Api.optional("country", "The country by its ISO 3166-1 code, for taxes: DE."),
  tax_id: Api.optional("tax-id", "The tax id."),
  tax_status: Api.optional("tax-status", "taxable, exempt or reverse_charge."),
  timezone: Api.optional("timezone", "An IANA time zone, such as Europe/Berlin."),
  locale: Api.optional("locale", "A language tag, such as de-AT."),
  collection_method: Api.optional("collection-method", "charge_automatically or send_invoice."),
  net_days: Api.optionalInt("net-days", "How many days the customer has to pay an invoice."),
}

const create = Command.make(
  "create",
  {
    name: Flag.String("name").pipe(Flag.withDescription("The customer's name.")),
    email: Flag.String("email").pipe(Flag.withDescription("The customer's e-mail address.")),
    ...billed,
    test_clock_id: Api.optional("test-clock", "The test clock that the customer lives by: clk_…"),
    metadata,
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const { json, url: _, ...fields } = options
    yield* Api.send(kind.path, fields, json)
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

const update = Command.make(
  "update",
  {
    id: Api.idOf(kind),
    name: Api.optional("name", "The new name."),
    email: Api.optional("email", "The new e-mail address."),
    ...billed,
    metadata,
    removeMetadata: Flag.String("remove-metadata").pipe(
      Flag.withDescription("A metadata key to remove. Can be repeated."),
      Flag.between(0, MAX_METADATA_KEYS),
    ),
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const { id, json, metadata: set, removeMetadata, url: _, ...fields } = options
    const removed = Object.fromEntries(removeMetadata.map((key) => [key, null]))
    const changed = { ...Option.getOrUndefined(set), ...removed }
    const body = { ...fields, metadata: Object.keys(changed).length > 0 ? changed : undefined }
    if (!Api.isSomethingGiven(body)) {
      return yield* new Misconfigured({
        message: "nothing to change: give --name, --email, --metadata, --remove-metadata or another field",
      })
    }
    return yield* Api.patch(Api.pathOf(kind, id), body, json)
  }),
).pipe(
  Command.withDescription("Change fields of a customer. Those that are left out stay"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

/** The last line says that the export is whole. */
const END = /^\{"object":"customer_export"/

const exportAll = Command.make(
  "export",
  { id: Api.idOf(kind), url: Api.common.url },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const body = yield* api.open(`${Api.pathOf(kind, options.id)}/export`, {}, {})
    const isWhole = yield* Stream.fromReadableStream({
      evaluate: () => body,
      onError: () => new ServerUnreachable({ message: BROKEN_OFF }),
    }).pipe(
      Stream.decodeText(),
      Stream.splitLines,
      Stream.filter((line) => line !== ""),
      Stream.runFoldEffect(
        () => false,
        (_, line) => Effect.as(Console.log(line), END.test(line)),
      ),
    )
    if (!isWhole) return yield* new ServerUnreachable({ message: BROKEN_OFF })
  }, Effect.scoped),
).pipe(
  Command.withDescription("Print everything that is stored about a customer as lines of JSON"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command: "billwright customers export cus_01kb2r6ghefxhs59czp23x4vmk > customer.jsonl",
      description: "Give customers what you know about them",
    },
  ]),
)

export const customers = Command.make("customers").pipe(
  Command.withDescription("Create, show, change, export and erase customers"),
  Command.withSubcommands([
    create,
    Api.getter(kind),
    Api.lister(kind, ["id", "name", "email", "created_at"], {
      email: Api.optional("email", "Only customers with exactly this e-mail address. Default: all."),
      search: Api.optional(
        "search",
        "Only customers with this text in their name or e-mail address. Default: all.",
      ),
      test_clock_id: Api.optional("test-clock", "Only customers of this test clock. Default: all."),
    }),
    update,
    exportAll,
    Api.linker(kind, "/portal_link", {
      name: "portal-link",
      description: "Make a link for the customer alone: plan, usage, invoices, payment methods, cancel",
    }),
    Api.remover(kind, "erased", {
      name: "delete",
      description: "Erase a customer's personal data for good, and keep the usage",
      warning: "erase name, e-mail address and metadata for good, and keep the usage",
    }),
  ]),
)
