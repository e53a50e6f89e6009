/**
 * `billwright invoices` and `billwright invoice-items`, over the API of a running server.
 */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ApiClient } from "./ApiClient.ts"
import * as Api from "./ApiCommands.ts"
import * as EInvoices from "./EInvoices.ts"
import * as Listing from "./Listing.ts"
import { Misconfigured } from "./Store.ts"

const kind: Api.Kind = { noun: "an invoice", nouns: "invoices", path: "/invoices", prefix: "inv" }
const itemKind: Api.Kind = {
  noun: "an invoice item",
  nouns: "invoice items",
  path: "/invoice_items",
  prefix: "itm",
}
/** Most lines of one call. */
const MAX_LINES = 100
/** An amount, and what it is for. */
const LINE = /^(-?\d{1,15})\s+(.+)$/s

const lineOf = (text: string) => {
  const [, amount, description] = LINE.exec(text) ?? []
  return amount === undefined || description === undefined
    ? Effect.fail(
        new Misconfigured({
          message: `--line must be an amount in the minor unit and a description, such as "90000 Workshop". It is ${text}`,
        }),
      )
    : Effect.succeed({ amount: Number(amount), description })
}

const customer = Flag.String("customer").pipe(Flag.withDescription("The customer: cus_…"))

const create = Command.make(
  "create",
  {
    customer,
    currency: Api.optional("currency", "The currency. Default: that of the customer."),
    line: Flag.String("line").pipe(
      Flag.withDescription(
        'A line: its amount in the minor unit and a description, such as "90000 Workshop". Can be repeated. Default: the customer\'s pending items.',
      ),
      Flag.between(0, MAX_LINES),
    ),
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const lines = yield* Effect.forEach(options.line, lineOf)
    const { currency, customer: customer_id } = options
    const fields = { customer_id, currency, lines: lines.length === 0 ? undefined : lines }
    yield* Api.send("/invoices", fields, options.json)
  }),
).pipe(
  Command.withDescription("Make a draft without a subscription"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command: 'billwright invoices create --customer cus_… --currency EUR --line "90000 Workshop"',
      description: "Bill a workshop",
    },
  ]),
)

const pay = Command.make(
  "pay",
  {
    id: Api.idOf(kind),
    method: Api.optional("method", "The payment method: mtd_…. Default: the customer's default."),
    ...Api.common,
  },
  Effect.fn(function* ({ id, json, method }) {
    yield* Api.send(Api.pathOf(kind, id, "/pay"), { payment_method_id: method }, json)
  }),
).pipe(
  Command.withDescription("Have the payment provider take what is due now"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const upcoming = Command.make(
  "upcoming",
  {
    subscription: Argument.String("subscription").pipe(
      Argument.withDescription("The id of a subscription: sub_…"),
    ),
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const query = { subscription_id: options.subscription }
    const answer = yield* api.get("/invoices/upcoming", Api.WithInvoice, query)
    yield* Api.showInvoice(answer, "No invoice will come.", options.json)
  }),
).pipe(
  Command.withDescription("Show the invoice that a subscription gets next, and store nothing"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

const records = Command.make(
  "records",
  {
    id: Api.idOf(kind),
    line: Argument.String("line").pipe(Argument.withDescription("The id of one of its lines.")),
    ...Listing.flags,
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const api = yield* ApiClient
    const path = Api.pathOf(kind, options.id, `/lines/${encodeURIComponent(options.line)}/records`)
    const page = yield* api.get(path, Api.ItemList, Listing.query(options))
    const columns = ["id", "quantity", "unit", "timestamp"]
    yield* Api.printPage(page, columns, options.json)
  }),
).pipe(
  Command.withDescription("List the usage records behind a line, newest first"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

export const invoices = Command.make("invoices").pipe(
  Command.withDescription("Make, show, issue and void invoices"),
  Command.withSubcommands([
    create,
    Api.getter(kind),
    Api.lister(kind, ["id", "number", "status", "currency", "total", "amount_due"], {
      customer_id: Api.optional("customer", "Only invoices of this customer. Default: all."),
      subscription_id: Api.optional("subscription", "Only invoices of this subscription. Default: all."),
      status: Api.optional("status", "draft, open, paid, void or uncollectible. Default: all."),
      failure: Api.optional(
        "failure",
        "Only those whose last billing run failed: any, or set_aside. Default: all.",
      ),
    }),
    upcoming,
    records,
    ...EInvoices.commands(kind),
    Api.action(kind, "/finalize", {
      name: "finalize",
      description: "Issue a draft now",
      warning: "issue the draft for good",
      done: ({ id, status }) =>
        status === "draft" ? undefined : `the invoice ${id} is issued already: it is ${String(status)}`,
    }),
    pay,
    Api.linker(kind, "/link", {
      name: "link",
      description: "Make a link for the payer: the invoice, its PDF, and how to pay it",
    }),
    Api.action(kind, "/void", {
      name: "void",
      description: "Void an invoice. It stays, with its number",
      warning: "void the invoice for good",
    }),
    Api.action(kind, "/mark_uncollectible", {
      name: "mark-uncollectible",
      description: "Write an invoice off. It can still be paid",
    }),
    Api.remover(kind, "deleted", {
      name: "delete",
      description: "Delete a draft without a subscription. Its items are pending again",
      warning: "delete the draft for good",
    }),
  ]),
)

const createItem = Command.make(
  "create",
  {
    customer,
    subscription: Api.optional("subscription", "Only for invoices of this subscription. Default: any."),
    currency: Flag.String("currency").pipe(Flag.withDescription("The currency, such as EUR.")),
    amount: Flag.Int("amount").pipe(Flag.withDescription("The amount in the minor unit. Below 0: a credit.")),
    description: Flag.String("description").pipe(Flag.withDescription("What it is for.")),
    taxCode: Api.optional("tax-code", "What its tax rate depends on. Default: standard."),
    metadata: Api.pairs("metadata", "Your own metadata, as key=value."),
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const { customer: customer_id, json, subscription, taxCode, url: _, ...fields } = options
    const body = { customer_id, subscription_id: subscription, tax_code: taxCode, ...fields }
    yield* Api.send("/invoice_items", body, json)
  }),
).pipe(
  Command.withDescription("Charge or credit something once, on an invoice to come"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

export const invoiceItems = Command.make("invoice-items").pipe(
  Command.withDescription("One-off charges and credits, for invoices to come"),
  Command.withSubcommands([
    createItem,
    Api.getter(itemKind),
    Api.lister(itemKind, ["id", "status", "currency", "amount", "description"], {
      customer_id: Api.optional("customer", "Only items of this customer. Default: all."),
      status: Api.optional("status", "pending or invoiced. Default: all."),
      invoice_id: Api.optional("invoice", "Only items of this invoice. Default: all."),
    }),
    Api.remover(itemKind, "deleted", {
      name: "delete",
      description: "Delete an item that is not on an issued invoice",
    }),
  ]),
)
