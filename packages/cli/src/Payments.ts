/**
 * `billwright payments`, `refunds`, `disputes` and `credit-notes`, over the API of a running server.
 */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { ApiClient } from "./ApiClient.ts"
import * as Api from "./ApiCommands.ts"
import * as EInvoices from "./EInvoices.ts"
import { Misconfigured } from "./Store.ts"

const paymentKind: Api.Kind = { noun: "a payment", nouns: "payments", path: "/payments", prefix: "pay" }
const noteKind: Api.Kind = {
  noun: "a credit note",
  nouns: "credit notes",
  path: "/credit_notes",
  prefix: "crn",
}

const refundKind: Api.Kind = { noun: "a refund", nouns: "refunds", path: "/refunds", prefix: "ref" }
const disputeKind: Api.Kind = { noun: "a dispute", nouns: "disputes", path: "/disputes", prefix: "dis" }

const invoice = Flag.String("invoice").pipe(Flag.withDescription("The invoice: inv_…"))

const record = Command.make(
  "record",
  {
    invoice_id: invoice,
    amount: Api.optionalInt("amount", "What came, in the minor unit. Default: what is due."),
    paid_at: Api.optional("paid-at", "When it came, such as 2026-12-01T00:00:00Z. Default: now."),
    reference: Api.optional("reference", "How the bank names it. With it, recording again changes nothing."),
    accept_overpayment: Flag.Boolean("accept-overpayment").pipe(
      Flag.withDescription("Take more than is due. The rest is the customer's credit."),
      Flag.withDefault(false),
    ),
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const { json, url: _, ...fields } = options
    yield* Api.send("/payments", fields, json)
  }),
).pipe(
  Command.withDescription("Record money that came without a provider"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command: "billwright payments record --invoice inv_… --reference 2026-11-21/4711",
      description: "An invoice was paid in full",
    },
  ]),
)

export const payments = Command.make("payments").pipe(
  Command.withDescription("Record, show and cancel payments"),
  Command.withSubcommands([
    record,
    Api.getter(paymentKind),
    Api.lister(paymentKind, ["id", "status", "invoice_id", "currency", "amount", "paid_at"], {
      customer_id: Api.optional("customer", "Only payments of this customer. Default: all."),
      invoice_id: Api.optional("invoice", "Only payments of this invoice. Default: all."),
      status: Api.optional("status", "open, succeeded or closed. Default: all."),
    }),
    Api.action(paymentKind, "/cancel", {
      name: "cancel",
      description: "Close an open payment at its provider. Its invoice is not collected by itself any more",
      warning: "close the payment for good",
    }),
  ]),
)

const reason = Flag.String("reason").pipe(
  Flag.withDescription("duplicate, fraudulent, order_change, unsatisfactory, usage_corrected or other."),
)

const refund = Command.make(
  "create",
  {
    payment_id: Flag.String("payment").pipe(Flag.withDescription("The payment: pay_…")),
    amount: Api.optionalInt("amount", "What goes back, in the minor unit. Default: all that is left."),
    reason,
    credit_note_id: Api.optional(
      "credit-note",
      "The credit note that says why: crn_…. Without one, what goes back is due again.",
    ),
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const { json, url: _, ...fields } = options
    yield* Api.send("/refunds", fields, json)
  }),
).pipe(
  Command.withDescription("Give money of a payment back"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
  Command.withExamples([
    {
      command: "billwright refunds create --payment pay_… --amount 500 --reason unsatisfactory",
      description: "Give 5.00 back",
    },
  ]),
)

const RETURNED = ["id", "status", "payment_id", "currency", "amount", "reversed"]

export const refunds = Command.make("refunds").pipe(
  Command.withDescription("Give money of payments back, and show refunds"),
  Command.withSubcommands([
    refund,
    Api.getter(refundKind),
    Api.lister(refundKind, RETURNED, {
      customer_id: Api.optional("customer", "Only refunds to this customer. Default: all."),
      invoice_id: Api.optional("invoice", "Only refunds of payments of this invoice. Default: all."),
      payment_id: Api.optional("payment", "Only refunds of this payment. Default: all."),
      status: Api.optional("status", "pending, unresolved, succeeded or failed. Default: all."),
    }),
  ]),
)

export const disputes = Command.make("disputes").pipe(
  Command.withDescription("Show disputes of payments"),
  Command.withSubcommands([
    Api.getter(disputeKind),
    Api.lister(disputeKind, RETURNED, {
      customer_id: Api.optional("customer", "Only disputes of this customer. Default: all."),
      payment_id: Api.optional("payment", "Only disputes of this payment. Default: all."),
      status: Api.optional("status", "open, won or lost. Default: all."),
    }),
  ]),
)

const AMOUNT = /^\d{1,15}$/

const linesOf = (given: Readonly<Record<string, string>>) =>
  Effect.forEach(Object.entries(given), ([line_id, amount]) =>
    AMOUNT.test(amount)
      ? Effect.succeed({ line_id, amount: Number(amount) })
      : Effect.fail(
          new Misconfigured({
            message: `--line must be the id of a line and an amount in the minor unit, such as 0.0.base=500. It is ${line_id}=${amount}`,
          }),
        ),
  )

const create = Command.make(
  "create",
  {
    invoice_id: invoice,
    reason,
    amount: Api.optionalInt("amount", "What to credit, in the minor unit. Default: all that is left."),
    lines: Api.pairs("line", "Or what to credit of a line, as id=amount."),
    refund: Api.optionalInt("refund", "How much of what was paid is refunded. Default: 0."),
    ...Api.common,
  },
  Effect.fn(function* (options) {
    const { json, lines, url: _, ...fields } = options
    const body = { ...fields, lines: Option.isSome(lines) ? yield* linesOf(lines.value) : undefined }
    yield* Api.send("/credit_notes", body, json)
  }),
).pipe(
  Command.withDescription("Credit an issued invoice, or a part of it"),
  Command.provide(({ url: at }) => ApiClient.layer({ url: at })),
)

export const creditNotes = Command.make("credit-notes").pipe(
  Command.withDescription("Issue and show credit notes"),
  Command.withSubcommands([
    create,
    Api.getter(noteKind),
    Api.lister(noteKind, ["id", "number", "invoice_id", "currency", "total", "reason"], {
      customer_id: Api.optional("customer", "Only credit notes of this customer. Default: all."),
      invoice_id: Api.optional("invoice", "Only credit notes of this invoice. Default: all."),
    }),
    ...EInvoices.commands(noteKind),
  ]),
)
