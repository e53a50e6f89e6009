/**
 * The model test of subscriptions and invoices: random commands on a storage and on a reference of a few maps.
 */
import { Effect } from "effect"
import { invoicingCommands } from "../model/InvoicingCommand.ts"
import { performInvoicing } from "../model/InvoicingInterpreter.ts"
import { forAll } from "../Property.ts"
import { inOwnTenant } from "../StorageContract.ts"
import { Effort } from "./ContractTest.ts"
import type { InvoicingTest } from "./InvoicingProbe.ts"

/** The most commands of a run, without those inside of transactions. */
const MAX_COMMANDS = 60

export const invoicingModelContract = (test: InvoicingTest): void => {
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
