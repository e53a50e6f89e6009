/**
 * A client of the REST API, for any runtime with `fetch`.
 */
import type { RateCards } from "../catalog/RateCards.ts"
import type { Customers } from "../customers/Customers.ts"
import type { BuiltInEvents, EventMap } from "../events/EventMap.ts"
import type { PaymentMethods } from "../payments/PaymentMethods.ts"
import { makeAdvance } from "../time/TestClockAdvance.ts"
import type { TestClocks } from "../time/TestClocks.ts"
import { makeRebuild } from "../usage/MeterRebuild.ts"
import type { Meters } from "../usage/Meters.ts"
import type { BillingClient } from "./BillingClient.ts"
import { makeBooks } from "./BookRequests.ts"
import { type ClientOptions, Connection } from "./Connection.ts"
import { makeCreditNotes } from "./CreditNoteRequests.ts"
import { makeCredits, makeHolds } from "./CreditRequests.ts"
import { exported } from "./CustomerExport.ts"
import { makeEntitlements } from "./EntitlementRequests.ts"
import { makeEvents } from "./EventRequests.ts"
import { makeInvoices } from "./InvoiceRequests.ts"
import { makeMoney } from "./MoneyRequests.ts"
import { makePayments } from "./PaymentRequests.ts"
import { makeCardCalls, makePlans } from "./PlanRequests.ts"
import { makeRefunds } from "./RefundRequests.ts"
import { path, write } from "./Requests.ts"
import { makeResource } from "./ResourceRequests.ts"
import { makeSubscriptions } from "./SubscriptionRequests.ts"
import { makeTokenUsages } from "./TokenUsageRequests.ts"
import { makeUsage } from "./UsageRequests.ts"
import { makeDeliveries, makeEndpoints } from "./WebhookRequests.ts"

/**
 * Makes a client. Nothing is sent before the first call.
 *
 * ```ts
 * const billing = createClient({ url: "https://billing.example.com", apiKey })
 * await billing.usage.record({ customerId, productId: "api", quantity: 5, unit: "call" })
 * ```
 *
 * The client sends an `Idempotency-Key` with every change, so that retrying is safe. It retries after a lost
 * connection, a time-out, 408, 429, 502, 503, 504, or 409 with `Retry-After`, at most `maxRetries` times. Delays
 * grow with each try, or follow `Retry-After`. When `Retry-After` asks for more than a minute, the client gives up.
 *
 * A type argument adds the types of your own events:
 * `createClient<BuiltInEvents & { "order.shipped": OrderShipped }>`. Throws the `ConfigurationError` of
 * `billwright` (its `code` is `invalid_configuration`) when an option is wrong.
 */
export const createClient = <Map = BuiltInEvents>(options: ClientOptions): BillingClient<Map> => {
  const connection = new Connection(options)
  const client: BillingClient<EventMap> = {
    auditRecords: makeResource(connection, {
      path: "/audit_log",
      removal: null,
      isMutable: false,
      isReadOnly: true,
      integers: {},
    }),
    coupons: makeResource(connection, {
      path: "/coupons",
      removal: "archive",
      isMutable: false,
      integers: {},
    }),
    customers: {
      ...makeResource<Omit<Customers, "export" | "portalLink">>(connection, {
        path: "/customers",
        removal: "erase",
        isMutable: true,
        integers: {},
      }),
      export: (id, options) => ({
        [Symbol.asyncIterator]: () => exported(connection, id, options?.signal),
      }),
      portalLink: (id, input = {}, options) =>
        write(connection, "POST", path`/customers/${id}/portal_link`, input, options),
    },
    disputes: makeResource(connection, {
      path: "/disputes",
      removal: null,
      isMutable: false,
      isReadOnly: true,
      integers: { amount: true, reversed: true },
    }),
    invoiceItems: makeResource(connection, {
      path: "/invoice_items",
      removal: "delete",
      isMutable: false,
      integers: { amount: true },
    }),
    invoiceProofs: makeResource(connection, {
      path: "/invoice_proofs",
      removal: null,
      isMutable: false,
      isReadOnly: true,
      integers: {},
    }),
    plans: makePlans(connection),
    subscriptions: makeSubscriptions(connection),
    invoices: makeInvoices(connection),
    creditNotes: makeCreditNotes(connection),
    money: makeMoney(connection),
    books: makeBooks(connection),
    payments: makePayments(connection),
    credits: makeCredits(connection),
    holds: makeHolds(connection),
    entitlements: makeEntitlements(connection),
    usage: makeUsage(connection),
    meters: {
      ...makeResource<Omit<Meters, "rebuild">>(connection, {
        path: "/meters",
        removal: "archive",
        isMutable: true,
        integers: {},
      }),
      rebuild: makeRebuild((id, options) =>
        write(connection, "POST", path`/meters/${id}/rebuild`, {}, options),
      ),
    },
    paymentMethods: {
      ...makeResource<Omit<PaymentMethods, "startSetup" | "refresh">>(connection, {
        path: "/payment_methods",
        removal: "detach",
        isMutable: true,
        integers: {},
      }),
      startSetup: (id, input, options) =>
        write(connection, "POST", path`/payment_methods/${id}/setup`, input ?? {}, options),
      refresh: (id, options) =>
        write(connection, "POST", path`/payment_methods/${id}/refresh`, undefined, options),
    },
    bookChecks: makeResource(connection, {
      path: "/book_checks",
      removal: null,
      isMutable: false,
      integers: {},
    }),
    planMigrations: makeResource(connection, {
      path: "/plan_migrations",
      removal: "delete",
      isMutable: false,
      integers: {},
    }),
    rateCards: {
      ...makeResource<Omit<RateCards, "push" | "diff">>(connection, {
        path: "/rate_cards",
        removal: null,
        isMutable: false,
        isReadOnly: true,
        integers: {},
      }),
      ...makeCardCalls(connection),
    },
    redemptions: makeResource(connection, {
      path: "/redemptions",
      removal: "end",
      isMutable: false,
      integers: {},
    }),
    refunds: makeRefunds(connection),
    autoTopUps: makeResource(connection, {
      path: "/auto_top_ups",
      removal: "delete",
      isMutable: true,
      integers: { amount: true, price: true, level: true },
    }),
    tokenUsages: makeTokenUsages(connection),
    topUps: makeResource(connection, {
      path: "/top_ups",
      removal: null,
      isMutable: false,
      integers: { amount: true, price: true },
    }),
    creditAlerts: makeResource(connection, {
      path: "/credit_alerts",
      removal: "delete",
      isMutable: true,
      integers: { level: true },
    }),
    spendAlerts: makeResource(connection, {
      path: "/spend_alerts",
      removal: "delete",
      isMutable: true,
      integers: { amount: true, firedAmount: true },
    }),
    testClocks: {
      ...makeResource<Omit<TestClocks, "advance">>(connection, {
        path: "/test_clocks",
        removal: "delete",
        isMutable: false,
        integers: {},
      }),
      advance: makeAdvance((id, to, options) =>
        write(connection, "POST", path`/test_clocks/${id}/advance`, { to }, options),
      ),
    },
    thresholds: makeResource(connection, {
      path: "/usage/thresholds",
      removal: "delete",
      isMutable: false,
      integers: { quantity: true },
    }),
    events: makeEvents(connection),
    endpoints: makeEndpoints(connection),
    deliveries: makeDeliveries(connection),
  }
  return client as unknown as BillingClient<Map>
}
