/**
 * The contract of the ports of subscriptions and invoices, as a test suite for every adapter that has them.
 */
import type { Billing } from "@billwright/core"
import { layer as layerOf } from "@effect/vitest"
import { Layer } from "effect"
import { creditContract } from "./contract/CreditContract.ts"
import { creditNoteContract } from "./contract/CreditNoteContract.ts"
import { dueContract } from "./contract/DueContract.ts"
import { entitlementContract } from "./contract/EntitlementContract.ts"
import { invoiceContract } from "./contract/InvoiceContract.ts"
import { invoicingModelContract } from "./contract/InvoicingModelContract.ts"
import type { InvoicingTest } from "./contract/InvoicingProbe.ts"
import { moneyContract } from "./contract/MoneyContract.ts"
import { paymentContract } from "./contract/PaymentContract.ts"
import { spendMarkContract } from "./contract/SpendMarkContract.ts"
import { subscriptionContract } from "./contract/SubscriptionContract.ts"
import { burnScenarios } from "./scenarios/BurnScenarios.ts"
import { creditScenarios } from "./scenarios/CreditScenarios.ts"
import { migrationScenarios } from "./scenarios/MigrationScenarios.ts"
import { oneOffScenarios } from "./scenarios/OneOffScenarios.ts"
import { paidCreditScenarios } from "./scenarios/PaidCreditScenarios.ts"
import { planGrantScenarios } from "./scenarios/PlanGrantScenarios.ts"
import { previewScenarios } from "./scenarios/PreviewScenarios.ts"
import { spendScenarios } from "./scenarios/SpendScenarios.ts"
import { subscriptionScenarios } from "./scenarios/SubscriptionScenarios.ts"
import { tokenScenarios } from "./scenarios/TokenScenarios.ts"
import { topUpScenarios } from "./scenarios/TopUpScenarios.ts"
import { inOwnTenant, servicesOf, type SuiteOptions } from "./StorageContract.ts"

/**
 * Registers the tests that every storage with subscriptions and invoices has to pass, under `describe(name)`.
 *
 * The layer is built once and shared. Every test uses accounts of its own. A storage may be used by only one run at a
 * time, and by nothing else, because the queue of what is due is shared by all accounts.
 */
export const suite = <R, E>(
  name: string,
  storage: Layer.Layer<Billing.Storage | Billing.InvoicingStorage | R, E>,
  options: SuiteOptions = {},
): void => {
  const timeout = options.startTimeout === undefined ? {} : { timeout: options.startTimeout }
  layerOf(Layer.merge(storage, servicesOf(options)), timeout)(name, (it) => {
    const test: InvoicingTest = (title, body) => {
      it.effect(title, () => inOwnTenant(body), options.timeoutMillis)
    }
    subscriptionContract(test)
    invoiceContract(test)
    creditNoteContract(test)
    paymentContract(test)
    moneyContract(test)
    creditContract(test)
    entitlementContract(test)
    spendMarkContract(test)
    dueContract(test)
    invoicingModelContract(test)
    subscriptionScenarios(test)
    previewScenarios(test)
    oneOffScenarios(test)
    creditScenarios(test)
    burnScenarios(test)
    planGrantScenarios(test)
    migrationScenarios(test)
    spendScenarios(test)
    tokenScenarios(test)
    topUpScenarios(test)
    paidCreditScenarios(test)
  })
}
