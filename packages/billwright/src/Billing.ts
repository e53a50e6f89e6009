/**
 * The front door: what billing can do, by promises.
 */
import type { CallOptions, Mode } from "./Call.ts"
import type { BuiltInEvents } from "./events/EventMap.ts"
import type { Events } from "./events/Events.ts"
import type { Prune, Pruned } from "./events/Prune.ts"
import type { DashboardHandlers, DashboardOptions } from "./handlers/DashboardHandlers.ts"
import type { Handlers } from "./handlers/Handlers.ts"
import type { ApiKeys } from "./keys/ApiKeys.ts"
import type { ResourceCalls } from "./Resources.ts"
import type { Usage } from "./usage/Usage.ts"
import type { Deliveries } from "./webhooks/Deliveries.ts"
import type { Endpoints } from "./webhooks/Endpoints.ts"

/** Everything that can be done for one account in one mode. */
export interface BillingCalls<Map = BuiltInEvents> extends ResourceCalls {
  /** Records, corrections, exact totals. */
  readonly usage: Usage
  /** What happened, told to webhook endpoints. */
  readonly events: Events<Map>
  /** Where webhooks are sent, and which. */
  readonly endpoints: Endpoints<Map>
  /** Did it arrive, why not, send it again. */
  readonly deliveries: Deliveries
  /** Who may use the REST API. */
  readonly keys: ApiKeys
}

/** What a transaction's function is given: calls that commit and roll back with it. Await them inside of it. */
export type Transaction<Map = BuiltInEvents> = BillingCalls<Map>

/** One account in one mode, and the way to others. All of them share one billing. */
export interface BillingAccount<Map = BuiltInEvents> extends BillingCalls<Map> {
  /** The account that its calls act for. */
  readonly accountId: string
  /** The mode that its calls act in. */
  readonly mode: Mode
  /** The same account in test mode. */
  readonly test: BillingAccount<Map>
  /** The same account in live mode. */
  readonly live: BillingAccount<Map>
  /** Another account of yours, in the same mode. Throws an `InvalidInputError` when the id is none. */
  forAccount(accountId: string): BillingAccount<Map>
  /**
   * Runs calls as one transaction: all that they write becomes visible when the function's promise is fulfilled,
   * and nothing when it is rejected, which is passed on as it is.
   *
   * On Postgres it takes 4.5 seconds at most, and a function that met a deadlock or a lost connection is called
   * again: keep what can't be repeated out of it.
   */
  transaction<A>(work: (tx: Transaction<Map>) => Promise<A>, options?: CallOptions): Promise<A>
  /**
   * Runs calls inside a transaction of yours, on the client that `BEGIN` was sent on: a `pg` client, the `sql` of
   * postgres.js' `begin`, Prisma's `tx`, or what `fromDrizzle` and `fromKysely` of `billwright/postgres` make. It
   * is yours to commit or roll back. A call that fails undoes what it wrote and leaves your transaction usable.
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
   * The operator's dashboard under a path of yours, behind your own login:
   *
   * ```ts
   * app.use(billing.dashboard({ basePath: "/admin/billing", authorize: isOperator }).express())
   * ```
   *
   * The REST API need not be mounted for it. Throws a `ConfigurationError` when options are wrong.
   */
  dashboard(options: DashboardOptions): DashboardHandlers
  /**
   * Sends every webhook that is due now, and those that become due meanwhile, and waits for the results. Gives how
   * many it took. For `dispatcher: "manual"` and for tests.
   */
  deliverDue(options?: CallOptions): Promise<number>
  /**
   * Encrypts the secrets of all webhook endpoints again that another key than the first of `encryptionKeys`
   * encrypted; gives of how many endpoints. Then the other keys can be taken away.
   */
  rotateEncryption(options?: CallOptions): Promise<number>
  /**
   * Removes old events with their deliveries and attempts, of all accounts and modes, and expired answers; never what
   * isn't delivered yet, customers or usage. Works in small steps: run it once a day, while everything runs.
   */
  prune(what: Prune, options?: CallOptions): Promise<Pruned>
  /**
   * Lets calls that are under way end (5 seconds at most) and webhooks be sent (5 seconds at most), and closes what
   * it opened; a pool of yours stays open. Calls after it reject with a `ClosedError`. Closing again does nothing.
   */
  close(): Promise<void>
}
