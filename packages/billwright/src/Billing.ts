/**
 * The front door: billing by promises.
 */
import type { BillingOptions } from "./BillingOptions.ts"
import type { CallOptions, Mode } from "./Call.ts"
import { makeCustomers } from "./customers/CustomerCalls.ts"
import type { Customers } from "./customers/Customers.ts"
import { ConfigurationError } from "./errors/RuntimeError.ts"
import { makeEvents } from "./events/EventCalls.ts"
import type { EventDefinition } from "./events/EventDefinition.ts"
import type { BuiltInEvents, EventMap, EventsOf } from "./events/EventMap.ts"
import type { Events } from "./events/Events.ts"
import type { Handlers } from "./handlers/Handlers.ts"
import { makeHandlers } from "./handlers/MountedHandlers.ts"
import { makeApiKeys } from "./keys/ApiKeyCalls.ts"
import type { ApiKeys } from "./keys/ApiKeys.ts"
import type { Calls } from "./runtime/Calls.ts"
import { type Engine, start, toTenant } from "./runtime/Engine.ts"
import { inHosts, inOwn } from "./runtime/Transaction.ts"
import { makeThresholds } from "./usage/ThresholdCalls.ts"
import type { Thresholds } from "./usage/Thresholds.ts"
import type { Usage } from "./usage/Usage.ts"
import { makeUsage } from "./usage/UsageCalls.ts"
import type { Deliveries } from "./webhooks/Deliveries.ts"
import { makeDeliveries } from "./webhooks/DeliveryCalls.ts"
import { makeEndpoints, rotateEncryption } from "./webhooks/EndpointCalls.ts"
import type { Endpoints } from "./webhooks/Endpoints.ts"

/** Everything that can be done for one account in one mode. */
export interface BillingCalls<Map = BuiltInEvents> {
  readonly customers: Customers
  readonly usage: Usage
  readonly thresholds: Thresholds
  readonly events: Events<Map>
  readonly endpoints: Endpoints<Map>
  readonly deliveries: Deliveries
  readonly keys: ApiKeys
}

/** What a transaction's function is given: calls that commit and roll back with it. Await them inside of it. */
export type Transaction<Map = BuiltInEvents> = BillingCalls<Map>

/** One account in one mode, and the way to others. All of them share one billing. */
export interface BillingAccount<Map = BuiltInEvents> extends BillingCalls<Map> {
  readonly accountId: string
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
   * Lets calls that are under way end (5 seconds at most) and webhooks be sent (5 seconds at most), and closes what
   * it opened; a pool of yours stays open. Calls after it reject with a `ClosedError`. Closing again does nothing.
   */
  close(): Promise<void>
}

const makeCalls = (calls: Calls): BillingCalls<EventMap> => ({
  customers: makeCustomers(calls),
  usage: makeUsage(calls),
  thresholds: makeThresholds(calls),
  events: makeEvents(calls),
  endpoints: makeEndpoints(calls),
  deliveries: makeDeliveries(calls),
  keys: makeApiKeys(calls),
})

type Work = (tx: Transaction<EventMap>) => Promise<unknown>

const makeTransaction = ({ join }: Engine, calls: Calls) => {
  const joining = (client: object) => () => {
    if (join !== undefined) return join(client)
    throw new ConfigurationError(
      "this store has no transactions of yours to join: begin one of its own by transaction(async (tx) => …)",
    )
  }
  return async (first: object | Work, ...rest: ReadonlyArray<Work | CallOptions | undefined>) => {
    const isOwn = typeof first === "function" && typeof rest[0] !== "function"
    const work = (isOwn ? first : rest[0]) as Work
    const options = (isOwn ? rest[0] : rest[1]) as CallOptions | undefined
    if (typeof work !== "function") {
      throw new ConfigurationError(
        "transaction takes a function: transaction(async (tx) => …) or transaction(client, async (tx) => …)",
      )
    }
    const run = (inside: Calls) => work(makeCalls(inside))
    return isOwn ? inOwn(calls, run, options) : inHosts(calls, joining(first), run, options)
  }
}

const makeAccount = (engine: Engine, calls: Calls): BillingAccount<EventMap> => {
  const { accountId, mode } = calls.tenant
  const inMode = (other: Mode): BillingAccount<EventMap> =>
    makeAccount(engine, calls.for({ accountId, mode: other }))
  const account = {
    ...makeCalls(calls),
    accountId,
    mode,
    forAccount: (id: string) => makeAccount(engine, calls.for(toTenant(id, mode))),
    transaction: makeTransaction(engine, calls),
  }
  // Made when asked for: each has the other.
  return lazily(account, {
    test: () => (mode === "test" ? undefined : inMode("test")),
    live: () => (mode === "live" ? undefined : inMode("live")),
  }) as BillingAccount<EventMap>
}

/** Adds properties that are made when they are first read; `undefined` stands for the object itself. */
const lazily = (target: object, properties: Readonly<Record<string, () => object | undefined>>): object => {
  for (const [name, make] of Object.entries(properties)) {
    let made: object | undefined
    Object.defineProperty(target, name, { enumerable: true, get: () => (made ??= make() ?? target) })
  }
  return target
}

/**
 * Starts billing.
 *
 * ```ts
 * import { createBilling } from "billwright"
 * import { postgres } from "billwright/postgres"
 *
 * const billing = await createBilling({ store: postgres({ pool }) })
 * const customer = await billing.customers.create({ name: "Ada", email: "ada@example.com" })
 * await billing.usage.record({ customerId: customer.id, productId: "api", quantity: 5, unit: "call" })
 * ```
 *
 * Rejects with a `ConfigurationError` when options are wrong or the database is not migrated, and with a
 * `StorageUnavailableError` when it is out of reach; each says what to do in one sentence.
 */
export const createBilling = async <const Definitions extends ReadonlyArray<EventDefinition> = []>(
  options: BillingOptions<Definitions>,
): Promise<Billing<EventsOf<Definitions>>> => {
  const engine = await start(options)
  const { calls, close, dispatcher } = engine
  const account = makeAccount(engine, calls)
  const deliverDue = async (callOptions?: CallOptions): Promise<number> => {
    if (dispatcher !== undefined) return calls.runAsIs(() => dispatcher.runDue, callOptions)
    throw new ConfigurationError("this process sends no webhooks: createBilling was told dispatcher: false")
  }
  const billing: object = Object.defineProperties(
    {
      ...makeHandlers(engine, options.http ?? {}),
      deliverDue,
      rotateEncryption: (callOptions?: CallOptions) => rotateEncryption(calls, callOptions),
      close,
      [Symbol.asyncDispose]: close,
    },
    Object.getOwnPropertyDescriptors(account),
  )
  return billing as Billing<EventsOf<Definitions>>
}
