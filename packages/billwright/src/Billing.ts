/**
 * The main interfaces: everything that billing can do. All calls return promises.
 */
import type { Person } from "./audit/AuditRecords.ts"
import type { CallOptions, Mode } from "./Call.ts"
import type { Plans } from "./catalog/Plans.ts"
import type { Credits } from "./credits/Credits.ts"
import type { Holds } from "./credits/Holds.ts"
import type { Entitlements } from "./entitlements/Entitlements.ts"
import type { BuiltInEvents } from "./events/EventMap.ts"
import type { Events } from "./events/Events.ts"
import type { Prune, Pruned } from "./events/Prune.ts"
import type { DashboardHandlers, DashboardOptions } from "./handlers/DashboardHandlers.ts"
import type { Handlers } from "./handlers/Handlers.ts"
import type { PayerPageHandlers, PayerPageMount } from "./handlers/PayerPageHandlers.ts"
import type { Books } from "./invoices/Books.ts"
import type { CreditNotes } from "./invoices/CreditNotes.ts"
import type { Invoices } from "./invoices/Invoices.ts"
import type { MoneyFigures } from "./invoices/Money.ts"
import type { ApiKeys } from "./keys/ApiKeys.ts"
import type { Listing } from "./Listing.ts"
import type { Payments } from "./payments/Payments.ts"
import type { ResourceCalls } from "./Resources.ts"
import type { Subscriptions } from "./subscriptions/Subscriptions.ts"
import type { BillingRun, RunDue } from "./time/BillingRun.ts"
import type { ExportCustomer, ForkClock } from "./time/Fork.ts"
import type { Usage } from "./usage/Usage.ts"
import type { Deliveries } from "./webhooks/Deliveries.ts"
import type { Endpoints } from "./webhooks/Endpoints.ts"

/** Everything that can be done for one account in one mode. */
export interface BillingCalls<Map = BuiltInEvents> extends ResourceCalls {
  /** Plans: what you sell, in versions that never change. */
  readonly plans: Plans
  /** Which customer has which version of a plan, since when and until when. */
  readonly subscriptions: Subscriptions
  /** What customers owe, line by line. Subscriptions make them. */
  readonly invoices: Invoices
  /** Credit notes: what is given back of issued invoices. */
  readonly creditNotes: CreditNotes
  /** The overview of money: figures of all invoices, payments and subscriptions. */
  readonly money: MoneyFigures
  /** The journal for finance: double entry of invoices, payments and credits. */
  readonly books: Books
  /** Payments: what customers paid of their invoices. */
  readonly payments: Payments
  /** Credits: what customers have bought or were given, and what they use of it. */
  readonly credits: Credits
  /** Holds: credits that are kept for work under way. */
  readonly holds: Holds
  /** Entitlements: what customers may use, by the features of their plans. */
  readonly entitlements: Entitlements
  /** Usage records, corrections and exact totals. */
  readonly usage: Usage
  /** Events, which are delivered to webhook endpoints. */
  readonly events: Events<Map>
  /** The URLs that webhooks are sent to, and the event types that each one gets. */
  readonly endpoints: Endpoints<Map>
  /** Whether each webhook arrived, why it failed, and how to send it again. */
  readonly deliveries: Deliveries
  /** The API keys that give access to the REST API. */
  readonly keys: ApiKeys
  /**
   * Says what would happen to a customer. The function gets a copy of the customer in memory, with the same calls and a clock
   * of its own, and may do anything with it: change subscriptions, record usage, move the clock by years. What it returns is
   * the result. A list that it returns is read to its end. The copy is thrown away.
   *
   * ```ts
   * const invoices = await billing.fork(customer.id, async (f) => {
   *   await f.subscriptions.change(subscription.id, { plan: "team", at: "period_end" })
   *   await f.advance({ months: 12 })
   *   return f.invoices.list()
   * })
   * ```
   *
   * Nothing is stored and nothing is held: no number is used, no webhook is sent, and nobody is charged. A saved payment
   * method always pays. A tax service is asked, as invoices ask it.
   *
   * Rejects with a `CustomerNotFoundError`, or with a `ConflictError` (`snapshot_too_large`) when the customer has more than
   * 100,000 values of one kind. What the function throws is thrown unchanged.
   */
  fork<A>(
    customerId: string,
    work: (fork: Fork<Map>) => Promise<Listing<A>>,
    options?: CallOptions,
  ): Promise<ReadonlyArray<A>>
  fork<A>(customerId: string, work: (fork: Fork<Map>) => Promise<A>, options?: CallOptions): Promise<A>
  /**
   * The same copy of a customer as text, for a file: `createTestBilling({ snapshot })` goes on with it, so that a support
   * case becomes a test. Rejects as `fork` does.
   */
  exportCustomer(customerId: string, input?: ExportCustomer, options?: CallOptions): Promise<string>
}

/** The copy of a customer that the function of `fork` gets: all calls, for this customer alone, and the clock. */
export interface Fork<Map = BuiltInEvents> extends BillingCalls<Map>, ForkClock {}

/**
 * The calls that a transaction's function gets. They commit and roll back with the transaction. Await each of them
 * inside the function.
 */
export type Transaction<Map = BuiltInEvents> = BillingCalls<Map>

/**
 * The calls for one account in one mode, and how to reach other accounts and the other mode. All of them use the
 * same store and the same dispatcher.
 */
export interface BillingAccount<Map = BuiltInEvents> extends BillingCalls<Map> {
  /** The account that its calls act for. */
  readonly accountId: string
  /** The mode that its calls act in. */
  readonly mode: Mode
  /** The same account in test mode. */
  readonly test: BillingAccount<Map>
  /** The same account in live mode. */
  readonly live: BillingAccount<Map>
  /** Another account of yours, in the same mode. Throws an `InvalidInputError` when the id is malformed. */
  forAccount(accountId: string): BillingAccount<Map>
  /**
   * The same calls for a person of yours: the audit log says that this person made the changes. It doesn't check what the person
   * may do. Throws an `InvalidInputError` when the id or the role is too long.
   */
  as(person: Person): BillingAccount<Map>
  /**
   * Runs calls as one transaction. When the function's promise is fulfilled, everything that the calls wrote is
   * committed. When it rejects, nothing is written, and `transaction` rejects with the same reason.
   *
   * On Postgres a transaction takes at most 4.5 seconds. After a deadlock or a lost connection the function is
   * called again, so keep anything that must not happen twice out of it.
   */
  transaction<A>(work: (tx: Transaction<Map>) => Promise<A>, options?: CallOptions): Promise<A>
  /**
   * Runs calls inside your own transaction. `client` is the client that you sent `BEGIN` on: a `pg` client, the
   * `sql` of postgres.js' `begin`, Prisma's `tx`, or the result of `fromDrizzle` or `fromKysely` of
   * `billwright/postgres`. You commit or roll back.
   *
   * A call that is refused writes nothing, and your transaction stays usable. After a `StorageUnavailableError` roll your
   * transaction back: Postgres may have failed it, and then your `COMMIT` stores nothing, and `pg` gives no error. Or put a
   * savepoint of your own around the call, and roll back to that.
   */
  transaction<A>(
    client: object,
    work: (tx: Transaction<Map>) => Promise<A>,
    options?: CallOptions,
  ): Promise<A>
}

/** Made by `createBilling`. */
export interface Billing<Map = BuiltInEvents> extends BillingAccount<Map>, Handlers, AsyncDisposable {
  /**
   * The operator's dashboard, at a path that you choose, behind your own login:
   *
   * ```ts
   * app.use(billing.dashboard({ basePath: "/admin/billing", authorize: isOperator }).express())
   * ```
   *
   * The dashboard works without the REST API being mounted. Throws a `ConfigurationError` when an option is wrong.
   */
  dashboard(options: DashboardOptions): DashboardHandlers
  /**
   * The pages that `invoices.link` and `customers.portalLink` lead to, without a login, at the path of
   * `payerPages.url`:
   *
   * ```ts
   * app.use(billing.payerPages({ theme: { accent: "#0b7285" } }).express())
   * ```
   *
   * Throws a `ConfigurationError` when `createBilling` was called without `payerPages`, or an option is wrong.
   */
  payerPages(options?: PayerPageMount): PayerPageHandlers
  /**
   * Sends every webhook that is due, including those that become due while it runs, and waits for the results.
   * Returns the number of deliveries that it tried. Meant for `dispatcher: "manual"` and for tests.
   */
  deliverDue(options?: CallOptions): Promise<number>
  /**
   * Does what is due on subscriptions and invoices of all accounts and modes, including what becomes due while it runs:
   * starts, renewals, ends, and the finalization of drafts. Meant for cron and for hosts without background work, with
   * `dispatcher: "manual"`. Several processes may call it at once. What fails is tried again later, and keeps nothing else
   * from being billed. Amounts don't depend on when it is called.
   *
   * ```ts
   * const { failed, hasMore } = await billing.runDue({ limit: 1_000 })
   * ```
   */
  runDue(what?: RunDue, options?: CallOptions): Promise<BillingRun>
  /**
   * Encrypts webhook secrets again with the first of `encryptionKeys`, where another key encrypted them. It covers
   * the endpoints of all accounts and modes, and returns the number of endpoints it changed. Afterwards you can
   * remove the other keys.
   */
  rotateEncryption(options?: CallOptions): Promise<number>
  /**
   * Removes old events with their deliveries and attempts, in all accounts and modes. Also removes stored answers
   * to idempotent requests that have expired. It never removes customers, usage, or events with a pending delivery.
   * It works in small steps, so you can run it once a day while the app is running.
   */
  prune(what: Prune, options?: CallOptions): Promise<Pruned>
  /**
   * Waits for running calls (at most 5 seconds) and for webhooks that are being sent (at most 5 seconds), then
   * closes the connections that it opened. A pool that you passed in stays open. Later calls reject with a
   * `ClosedError`. Closing again does nothing.
   */
  close(): Promise<void>
}
