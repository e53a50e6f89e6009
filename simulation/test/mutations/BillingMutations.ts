/**
 * Bugs in the storage of subscriptions and invoices.
 */
import {
  CurrentTenant,
  DueStore,
  EventStore,
  InvoiceStore,
  type NumberSeries,
  type Subscription,
  SubscriptionStore,
  Tenant,
  Transactor,
  UsageStore,
} from "@billwright/core"
import { Context, Effect, Exit, Option } from "effect"
import type { Ports } from "../../src/world/Observer.ts"
import { type BillingMutation, bug } from "./BillingMutation.ts"
import { change, everyNth } from "./Mutation.ts"

type State = Parameters<InvoiceStore["Service"]["insert"]>[0]["state"]

/** Stores every invoice with another state. */
const storing = (changed: (state: State) => State) =>
  change(InvoiceStore, ({ insert, save }) => ({
    insert: (invoice) => insert({ ...invoice, state: changed(invoice.state) }),
    save: (invoice) => save({ ...invoice, state: changed(invoice.state) }),
  }))

/** Writes what a transaction has saved although it is rolled back. */
const surviving = (ports: Ports): Ports => {
  const transactor = Context.get(ports, Transactor)
  const store = Context.get(ports, SubscriptionStore)
  let last: { readonly tenant: Tenant.Tenant; readonly value: Subscription.StoredSubscription } | undefined
  return ports.pipe(
    Context.add(SubscriptionStore, {
      ...store,
      save: (value) =>
        Effect.tap(store.save(value), () =>
          Effect.map(CurrentTenant, (tenant) => {
            last = { tenant, value }
          }),
        ),
    }),
    Context.add(Transactor, {
      ...transactor,
      atomically: (effect) =>
        Effect.gen(function* () {
          if (yield* transactor.inTransaction) return yield* transactor.atomically(effect)
          last = undefined
          const exit = yield* Effect.exit(transactor.atomically(effect))
          if (Exit.isFailure(exit) && last !== undefined) {
            const { tenant, value } = last
            yield* Effect.provideService(store.save(value), CurrentTenant, tenant)
          }
          return yield* exit
        }),
    }),
  )
}

/** What is read first is given again later, in its tenant. */
const numbers = change(InvoiceStore, ({ lockSeries, saveSeries }) => {
  const taken = new Map<string, NumberSeries>()
  return {
    lockSeries: (name) =>
      Effect.gen(function* () {
        const known = taken.get(Tenant.tenantKey(yield* CurrentTenant))
        const stored = yield* lockSeries(name)
        return known === undefined ? stored : Option.some(known)
      }),
    saveSeries: (name, series) =>
      Effect.gen(function* () {
        taken.set(Tenant.tenantKey(yield* CurrentTenant), series)
        yield* saveSeries(name, series)
      }),
  }
})

export const billing: ReadonlyArray<BillingMutation> = [
  bug(
    "the explanation of a line loses its last step but one",
    ["J1"],
    storing((state) => ({
      ...state,
      lines: state.lines.map((line) => ({ ...line, steps: line.steps.toSpliced(-2, 1) })),
    })),
  ),
  bug(
    "the total is one more than it should be",
    ["J2"],
    storing((state) => ({ ...state, total: state.total + 1n, amountDue: state.amountDue + 1n })),
  ),
  bug(
    "what draft invoices bill is not found, so that the next one bills it again",
    ["J3"],
    change(InvoiceStore, ({ billedLines }) => ({
      billedLines: (id, from) =>
        Effect.map(billedLines(id, from), (all) => all.filter(({ status }) => status !== "open")),
    })),
  ),
  bug(
    "late usage is not seen, because the total was read before",
    ["J3"],
    change(UsageStore, ({ totals }) => {
      const known = new Map<string, Effect.Success<ReturnType<typeof totals>>>()
      return {
        totals: (query) =>
          Effect.gen(function* () {
            const tenant = yield* CurrentTenant
            const answer = yield* totals(query)
            const { boundaries, ...of } = query
            return boundaries.slice(1).flatMap((end, window) => {
              const key = JSON.stringify([tenant, of, boundaries[window], end])
              const found = known.get(key) ?? answer.filter((one) => one.window === window)
              known.set(key, found)
              return found.map((one) => ({ ...one, window }))
            })
          }),
      }
    }),
  ),
  bug("a number is taken although its transaction is rolled back", ["J4"], numbers),
  bug(
    "all tenants take their numbers from one series",
    ["J4"],
    change(InvoiceStore, ({ lockSeries, saveSeries }) => {
      const shared = Effect.provideService(CurrentTenant, {
        accountId: Tenant.AccountId.make("shared"),
        mode: "live",
      })
      return {
        lockSeries: (name) => shared(lockSeries(name)),
        saveSeries: (name, series) => shared(saveSeries(name, series)),
      }
    }),
  ),
  bug(
    "a voided invoice states that nothing was charged",
    ["J5"],
    change(InvoiceStore, ({ save }) => ({
      save: (invoice) => {
        const { state } = invoice
        return save(state.status === "void" ? { ...invoice, state: { ...state, issuedAt: 0 } } : invoice)
      },
    })),
  ),
  bug("a subscription moves on although its transaction is rolled back", ["J8", "J10"], surviving),
  bug(
    "a lease never holds",
    ["J8"],
    change(DueStore, () => ({ holds: () => Effect.succeed(false) })),
  ),
  bug(
    "a subject that is due is forgotten when its runner dies",
    ["J8"],
    change(DueStore, ({ claimDue }) => {
      const given = new Set<string>()
      return {
        claimDue: (claim) =>
          Effect.map(claimDue(claim), (all) =>
            all.filter(({ dueAt, subject }) => {
              const name = `${subject.id} ${dueAt}`
              const isNew = !given.has(name)
              given.add(name)
              return isNew
            }),
          ),
      }
    }),
  ),
  bug(
    "every ninth event is not stored",
    ["J10"],
    change(EventStore, ({ publish }) => {
      const isLost = everyNth(9)
      return {
        publish: (event) => (isLost() ? Effect.succeed({ _tag: "Published", event }) : publish(event)),
      }
    }),
  ),
  bug(
    "invoices are stored in live mode",
    ["J11"],
    change(InvoiceStore, ({ insert }) => ({
      insert: (invoice) =>
        Effect.updateService(insert(invoice), CurrentTenant, (tenant) => ({
          ...tenant,
          mode: "live" as const,
        })),
    })),
  ),
  bug(
    "the currency of an invoice is that of the seller",
    ["J11"],
    storing((state) => ({ ...state, currency: "EUR" })),
  ),
]
