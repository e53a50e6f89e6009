/**
 * The model test of subscriptions and invoices: random commands on a storage and on a reference of a few maps.
 */
import { Effect } from "effect"
import { type InvoicingCommand, invoicingCommands } from "../model/InvoicingCommand.ts"
import { performInvoicing } from "../model/InvoicingInterpreter.ts"
import { forAll } from "../Property.ts"
import { inOwnTenant } from "../StorageContract.ts"
import { Effort } from "./ContractTest.ts"
import type { InvoicingTest } from "./InvoicingProbe.ts"

/** The most commands of a run, without those inside of transactions. */
const MAX_COMMANDS = 60

/** Four credit notes of 5.00 each leave nothing due of an invoice of 20.00. Random commands seldom make as many. */
const CREDITED_IN_FULL: ReadonlyArray<InvoicingCommand> = [
  { command: "subscribe", tenant: 0, due: null, isClocked: false },
  { command: "draft", tenant: 0, subscription: 0, period: 0, due: null },
  { command: "finalize", tenant: 0, invoice: 0 },
  ...Array.from({ length: 5 }, () => ({ command: "creditNote", tenant: 0, invoice: 0 }) as const),
  { command: "listInvoices", tenant: 0, status: "paid", subscription: null, after: null, limit: 10 },
]

export const invoicingModelContract = (test: InvoicingTest): void => {
  test(
    "keeps an invoice that its credit notes have paid in full",
    inOwnTenant(performInvoicing(CREDITED_IN_FULL)),
  )

  test(
    "gives the same answers about subscriptions and invoices as the reference, for random commands",
    Effect.gen(function* () {
      const effort = yield* Effort
      yield* forAll(invoicingCommands(MAX_COMMANDS), effort, (commands) =>
        inOwnTenant(performInvoicing(commands)),
      )
    }),
  )
}
