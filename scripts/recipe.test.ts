/**
 * Counts the hand-written files that name a resource.
 *
 * It counts files below `src` of a package that name the resource outside of comments. It does not count: files that
 * are deliberately hand-written, each listed below with a reason; tests, examples, the simulation and the pages of
 * the dashboard; generated files.
 */
import { globSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { read, root } from "./Documents.ts"

/** Crossing and firing are deliberately hand-written, because concurrency is what matters there. */
const FIRING = [
  "core/src/EventCatalogue.ts",
  "core/src/usage/ThresholdEvent.ts",
  "core/src/usage/UsageStore.ts",
  "http/src/api/WebhookExamples.ts",
  "memory/src/Memory.ts",
  "memory/src/MemoryInspector.ts",
  "memory/src/ThresholdFirings.ts",
  "memory/src/UsageTable.ts",
  "postgres/src/functions/Functions.ts",
  "postgres/src/functions/ThresholdFunctions.ts",
  "postgres/src/functions/UsageFunctions.ts",
  "postgres/src/stores/UsageAppend.ts",
  "billwright/src/events/EventMap.ts",
  "billwright/src/events/EventTypeBridge.ts",
]

/** The contract of firing, and tests of transactions that look at all stored data. */
const FIRING_TESTED = [
  "testing/src/StorageContract.ts",
  "testing/src/StorageModel.ts",
  "testing/src/contract/EventTailContract.ts",
  "testing/src/contract/Everything.ts",
  "testing/src/contract/ThresholdEventContract.ts",
  "testing/src/contract/ThresholdFiringContract.ts",
  "testing/src/contract/TotalsContract.ts",
  "testing/src/contract/TransactorContract.ts",
  "testing/src/contract/UndoContract.ts",
  "testing/src/contract/UsageProbe.ts",
  "testing/src/model/Command.ts",
  "testing/src/model/Interpreter.ts",
  "testing/src/model/ReferenceStorage.ts",
  "testing/src/model/World.ts",
]

/**
 * Usage, events, credits, subscriptions and thresholds refer to customers: they ask whether there is one, or lock its row in the step that writes.
 * A resource that nothing refers to has none of this.
 */
const REFERRING = [
  "billwright/src/runtime/Failure.ts",
  "core/src/credits/CreditBook.ts",
  "core/src/credits/Credits.ts",
  "core/src/credits/Holds.ts",
  "core/src/customers/LiveSubscriptions.ts",
  "core/src/entitlements/Entitlements.ts",
  "core/src/entitlements/GroupedChecks.ts",
  "core/src/events/EventStore.ts",
  "core/src/invoices/InvoiceBook.ts",
  "core/src/invoices/Invoices.ts",
  "core/src/payments/PaymentBook.ts",
  "core/src/subscriptions/InvoiceItems.ts",
  "core/src/subscriptions/ReceiptAudit.ts",
  "core/src/credits/AutoTopUps.ts",
  "core/src/credits/CreditAlerts.ts",
  "core/src/credits/TokenUsages.ts",
  "core/src/credits/TopUps.ts",
  "core/src/subscriptions/SpendAlerts.ts",
  "core/src/subscriptions/Subscriptions.ts",
  "core/src/usage/Thresholds.ts",
  "core/src/usage/Usage.ts",
  "core/src/usage/UsageStore.ts",
  "core/src/webhooks/Events.ts",
  "memory/src/Memory.ts",
  "memory/src/MeterCells.ts",
  "memory/src/Outbox.ts",
  "memory/src/UsageTable.ts",
  "postgres/src/Tables.ts",
  "postgres/src/functions/CreditCallFunctions.ts",
  "postgres/src/functions/MeterWorkFunctions.ts",
  "postgres/src/functions/PublishFunctions.ts",
  "postgres/src/functions/UsageFunctions.ts",
  "postgres/src/migrations/Migration0012.ts",
  "postgres/src/migrations/Migration0016.ts",
  "postgres/src/migrations/Migration0031.ts",
  "postgres/src/stores/PostgresCollections.ts",
  "postgres/src/stores/PostgresEventStore.ts",
  "postgres/src/stores/PostgresSubscriptionStore.ts",
  "postgres/src/stores/UsageAppend.ts",
]

/** Test clocks set the time of customers in test mode: their due rows name the customer's clock. */
const ON_TEST_CLOCKS = [
  "core/src/customers/CustomerTime.ts",
  "postgres/src/migrations/Migration0029.ts",
  "core/src/customers/TestClock.ts",
  "postgres/src/functions/CreditLedgerFunctions.ts",
  "core/src/time/TestClocks.ts",
  "memory/src/DueTable.ts",
  "postgres/src/migrations/Migration0014.ts",
  "postgres/src/stores/DueRow.ts",
  "testing/src/contract/DueContract.ts",
]

/** Made for customers by hand, because people look at them. No resource needs it: thresholds have none of it. */
const FOR_PEOPLE = [
  // Links to the pages of a customer.
  "billwright/src/runtime/ResourceCalls.ts",
  "core/src/payer/PayerLinks.ts",
  "http/src/api/PayerLinksApi.ts",
  "http/src/payer/PortalRoutes.ts",
  "billwright/src/testing/MakeTesting.ts",
  "billwright/src/testing/Testing.ts",
  "cli/src/Billwright.ts",
  "cli/src/Customers.ts",
  "cli/src/Serve.ts",
  "core/src/subscriptions/Documents.ts",
  "dashboard/src/Sections.ts",
  "memory/src/MemoryInspector.ts",
  // A message that names a table of the host.
  "postgres/src/migrations/Migrations.ts",
  // A table that every schema has: whether it has policies says whether all have.
  "postgres/src/TenantScope.ts",
]

/**
 * People have a right to what is stored about them, and to its erasure. Customers stand for them: what is erased elsewhere, and
 * what all lists have of a customer. No other resource needs it.
 */
const OF_PERSONS = [
  "billwright/src/client/CustomerExport.ts",
  "core/src/time/MethodRun.ts",
  "http/src/api/CustomerExportApi.ts",
  "http/src/api/Examples.ts",
  "http/src/server/CustomerExport.ts",
  // The page of an invoice whose customer was erased.
  "http/src/payer/InvoiceRoutes.ts",
  "http/src/payer/PayerPages.ts",
  "postgres/src/functions/RedactFunction.ts",
  "postgres/src/stores/PostgresDueStore.ts",
  "testing/src/contract/RedactContract.ts",
]

/** Tests of the hand-written ports, which need customers, and the samples and generators of customers that they use. */
const CUSTOMERS_TESTED = [
  "testing/src/contract/SpendMarkContract.ts",
  "testing/src/scenarios/BurnScenarios.ts",
  "testing/src/scenarios/CreditScenarios.ts",
  "testing/src/scenarios/PaidCreditScenarios.ts",
  "testing/src/scenarios/SpendScenarios.ts",
  "testing/src/scenarios/TokenScenarios.ts",
  "testing/src/model/InvoicingInterpreter.ts",
  "testing/src/Generators.ts",
  "testing/src/Sample.ts",
  "testing/src/StorageModel.ts",
  "testing/src/contract/ApiKeyContract.ts",
  "testing/src/contract/AppendContract.ts",
  "testing/src/contract/EntitlementContract.ts",
  "testing/src/contract/Everything.ts",
  "testing/src/contract/IdempotencyContract.ts",
  "testing/src/contract/InvoicingProbe.ts",
  "testing/src/contract/IsolationContract.ts",
  "testing/src/contract/PublishContract.ts",
  "testing/src/contract/ThresholdFiringContract.ts",
  "testing/src/contract/TransactorContract.ts",
  "testing/src/contract/UndoContract.ts",
  "testing/src/contract/UsageKeyContract.ts",
  "testing/src/contract/UsageProbe.ts",
  "testing/src/generators/CustomerGenerators.ts",
  "testing/src/model/Command.ts",
  "testing/src/model/Interpreter.ts",
  "testing/src/model/InvoicingWorld.ts",
  "testing/src/model/MeterInterpreter.ts",
  "testing/src/model/ReferenceStorage.ts",
  "testing/src/model/ReferenceWebhooks.ts",
  "testing/src/model/WebhookInterpreter.ts",
  "testing/src/model/World.ts",
  "testing/src/scenarios/Scenario.ts",
]

/** Each field that came after the table costs a migration, which is one of the four files of a new field. */
const LATER_FIELDS = ["postgres/src/migrations/Migration0006.ts", "postgres/src/migrations/Migration0040.ts"]

interface Pilot {
  readonly title: string
  /** What a file contains that names the resource. */
  readonly name: RegExp
  /** The most files. The aim is 12, and one more says what roles may do with its rows: see docs/decisions/0019. */
  readonly most: number
  readonly field: {
    readonly title: string
    readonly name: RegExp
    /** The most files. The aim is 4. */
    readonly most: number
  }
  readonly notCounted: ReadonlyArray<string>
}

/** What tells a payment provider who a customer is or that it is erased, and fakes of a provider, which have customers of their own. */
const AT_PROVIDERS = [
  "billwright/src/payments/MethodProvider.ts",
  "core/src/customers/ChargedAutomatically.ts",
  "core/src/customers/CustomerErasure.ts",
  "core/src/payments/FakeMethods.ts",
  "core/src/payments/MethodBook.ts",
  "core/src/payments/MethodProvider.ts",
  "core/src/time/PaymentMethods.ts",
  "stripe/src/StripeMethods.ts",
  "testing/src/ProviderWorld.ts",
  "testing/src/stripe/PaymentMethods.ts",
  "testing/src/stripe/Routes.ts",
  "testing/src/stripe/StripeObjects.ts",
]

/** The company of `billwright demo`, which has customers as a host has them. */
const IN_THE_DEMO = ["cli/src/Demo.ts", "cli/src/demo/Company.ts", "cli/src/demo/Year.ts"]

/** Forks copy customers and take out what names them. What rates all of them counts them. */
const COPIED_OR_COUNTED = [
  "billwright/src/catalog/Plans.ts",
  "cli/src/CatalogCosts.ts",
  "cli/src/Failure.ts",
  "cli/src/Program.ts",
  "core/src/fork/PersonalData.ts",
  "core/src/fork/TakeSnapshot.ts",
  "core/src/subscriptions/PlanCosts.ts",
]

const PILOTS: ReadonlyArray<Pilot> = [
  {
    title: "usage thresholds",
    // Not a setting of Postgres, such as `autovacuum_vacuum_threshold`.
    name: /(?<!vacuum_)threshold/i,
    most: 12,
    field: { title: "a read-only field, lastFiredAt", name: /lastFiredAt|last_fired_at/, most: 4 },
    notCounted: [...FIRING, ...FIRING_TESTED],
  },
  {
    title: "customers",
    // Not a reference: an id of a customer, its type and its prefix, or "customer" as the name of a variable.
    name: /\bcustomers\b|\bCustomers\b|\b(?:Create|Update|List)Customers?\b|\bCustomerNotFound|\bcustomer_not_found\b|\bCustomer\.(?!CustomerId\b|CUSTOMER_ID_PREFIX\b)\w/,
    most: 13,
    field: {
      // It can also be written and filtered by, so it costs more than a read-only field.
      title: "a field, email",
      name: /email/i,
      most: 3,
    },
    notCounted: [
      ...REFERRING,
      ...ON_TEST_CLOCKS,
      ...FOR_PEOPLE,
      ...OF_PERSONS,
      ...AT_PROVIDERS,
      ...IN_THE_DEMO,
      ...COPIED_OR_COUNTED,
      ...CUSTOMERS_TESTED,
      ...LATER_FIELDS,
    ],
  },
]

/** The code of a file without comments, the paths of imports, and prose: strings with a space. */
const codeOf = (source: string): string =>
  source
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/(?<![:"])\/\/.*$/gm, "")
    .replaceAll(/from "[^"\n]*"/g, "")
    .replaceAll(/"[^"\n]* [^"\n]*"/g, '""')

const filesThatName = (name: RegExp): ReadonlyArray<string> =>
  globSync("packages/*/src/**/*.ts", { cwd: root })
    .filter((file) => name.test(codeOf(read(file))))
    .map((file) => file.replace(/^packages\//, ""))
    .toSorted()

for (const { field, most, name, notCounted, title } of PILOTS) {
  describe(title, () => {
    const named = filesThatName(name)
    const ofField = filesThatName(field.name)

    it("are named in no more files than the limit", () => {
      const files = named.filter((file) => !notCounted.includes(file))
      assert.isAtMost(files.length, most, files.join("\n"))
    })

    it("have no file on the list of exceptions without need", () => {
      assert.deepStrictEqual(
        notCounted.filter((file) => !named.includes(file) && !ofField.includes(file)),
        [],
      )
    })

    it(`have ${field.title}, that is named in no more files than the limit`, () => {
      const files = ofField.filter((file) => !notCounted.includes(file))
      assert.isAtMost(files.length, field.most, files.join("\n"))
    })
  })
}
