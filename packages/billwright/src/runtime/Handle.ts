import type { Person } from "../audit/AuditRecords.ts"
/**
 * The objects that a host uses: a billing, its accounts and its transactions.
 */
import { toActor } from "../audit/Person.ts"
import type { Billing, BillingAccount, BillingCalls, Transaction } from "../Billing.ts"
import type { BillingOptions } from "../BillingOptions.ts"
import type { CallOptions, Mode } from "../Call.ts"
import { makePlans } from "../catalog/PlanCalls.ts"
import { makeCredits, makeHolds } from "../credits/CreditCalls.ts"
import { makeEntitlements } from "../entitlements/EntitlementCalls.ts"
import { ConfigurationError } from "../errors/RuntimeError.ts"
import { makeEvents } from "../events/EventCalls.ts"
import type { EventMap } from "../events/EventMap.ts"
import type { Prune } from "../events/Prune.ts"
import { prune } from "../events/PruneCall.ts"
import { makeDashboard } from "../handlers/MountedDashboard.ts"
import { makeHandlers } from "../handlers/MountedHandlers.ts"
import { makePayerPages } from "../handlers/MountedPayerPages.ts"
import { makeBooks } from "../invoices/BookCalls.ts"
import { makeCreditNotes } from "../invoices/CreditNoteCalls.ts"
import { makeInvoices } from "../invoices/InvoiceCalls.ts"
import { makeMoney } from "../invoices/MoneyCalls.ts"
import { makeApiKeys } from "../keys/ApiKeyCalls.ts"
import { makePayments } from "../payments/PaymentCalls.ts"
import { makeSubscriptions } from "../subscriptions/SubscriptionCalls.ts"
import type { RunDue } from "../time/BillingRun.ts"
import { makeExport, makeFork } from "../time/ForkCall.ts"
import { runDue } from "../time/RunDueCall.ts"
import { makeUsage } from "../usage/UsageCalls.ts"
import { makeDeliveries } from "../webhooks/DeliveryCalls.ts"
import { makeEndpoints, rotateEncryption } from "../webhooks/EndpointCalls.ts"
import { naming } from "./CallName.ts"
import type { Calls } from "./Calls.ts"
import { type Engine, start, toTenant } from "./Engine.ts"
import { makeResources } from "./ResourceCalls.ts"
import { inHosts, inOwn } from "./Transaction.ts"

const makeCalls = (engine: Engine, calls: Calls): BillingCalls<EventMap> => ({
  ...makeResources(calls),
  plans: naming("plans", makePlans(calls)),
  subscriptions: naming("subscriptions", makeSubscriptions(calls)),
  creditNotes: naming("creditNotes", makeCreditNotes(calls)),
  invoices: naming("invoices", makeInvoices(calls)),
  money: naming("money", makeMoney(calls)),
  books: naming("books", makeBooks(calls)),
  payments: naming("payments", makePayments(calls)),
  credits: naming("credits", makeCredits(calls)),
  holds: naming("holds", makeHolds(calls)),
  entitlements: naming("entitlements", makeEntitlements(calls)),
  usage: naming("usage", makeUsage(calls)),
  events: naming("events", makeEvents(calls)),
  endpoints: naming("endpoints", makeEndpoints(calls)),
  deliveries: naming("deliveries", makeDeliveries(calls)),
  keys: naming("keys", makeApiKeys(calls)),
  fork: makeFork(engine, calls, makeCalls),
  exportCustomer: makeExport(calls),
})

type Work = (tx: Transaction<EventMap>) => Promise<unknown>

const makeTransaction = (engine: Engine, calls: Calls) => {
  const { join } = engine
  const joining = (client: object) => () => {
    if (join !== undefined) return join(client)
    throw new ConfigurationError(
      "this store can't join a transaction of yours: use transaction(async (tx) => …) instead",
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
    const run = (inside: Calls) => work(makeCalls(engine, inside))
    return isOwn ? inOwn(calls, run, options) : inHosts(calls, joining(first), run, options)
  }
}

const makeAccount = (engine: Engine, calls: Calls): BillingAccount<EventMap> => {
  const { accountId, mode } = calls.tenant
  const inMode = (other: Mode): BillingAccount<EventMap> =>
    makeAccount(engine, calls.for({ accountId, mode: other }))
  const account = {
    ...makeCalls(engine, calls),
    accountId,
    mode,
    forAccount: (id: string) => makeAccount(engine, calls.for(toTenant(id, mode))),
    as: (person: Person) => makeAccount(engine, calls.as(toActor(person))),
    transaction: makeTransaction(engine, calls),
  }
  // Made when first read, because each mode refers to the other.
  return lazily(account, {
    test: () => (mode === "test" ? undefined : inMode("test")),
    live: () => (mode === "live" ? undefined : inMode("live")),
  }) as BillingAccount<EventMap>
}

/**
 * Adds properties that are made when first read. If `make` returns `undefined`, the property is the object itself.
 */
const lazily = (target: object, properties: Readonly<Record<string, () => object | undefined>>): object => {
  for (const [name, make] of Object.entries(properties)) {
    let made: object | undefined
    Object.defineProperty(target, name, { enumerable: true, get: () => (made ??= make() ?? target) })
  }
  return target
}

/** Makes the billing of an engine. */
export const makeBilling = (
  engine: Engine,
  { http = {}, payerPages }: Pick<BillingOptions, "http" | "payerPages">,
): Billing<EventMap> => {
  const { calls, close, dispatcher } = engine
  const account = makeAccount(engine, calls)
  const deliverDue = async (callOptions?: CallOptions): Promise<number> => {
    if (dispatcher !== undefined) return calls.runAsIs(() => dispatcher.runDue, callOptions)
    throw new ConfigurationError(
      "this process sends no webhooks, because createBilling was called with dispatcher: false",
    )
  }
  const handlers = makeHandlers(engine, http)
  const billing: object = Object.defineProperties(
    {
      ...handlers,
      dashboard: makeDashboard(engine, handlers.fetch),
      payerPages: makePayerPages(engine, { http, ...(payerPages && { payerPages }) }),
      deliverDue,
      runDue: (what?: RunDue, callOptions?: CallOptions) => runDue(calls, what, callOptions),
      rotateEncryption: (callOptions?: CallOptions) => rotateEncryption(calls, callOptions),
      prune: (what: Prune, callOptions?: CallOptions) => prune(calls, what, callOptions),
      close,
      [Symbol.asyncDispose]: close,
    },
    Object.getOwnPropertyDescriptors(account),
  )
  return billing as Billing<EventMap>
}

/** Starts the services, and makes their billing. */
export const startBilling = async (options: BillingOptions): Promise<Billing<EventMap>> =>
  makeBilling(await start(options), options)
