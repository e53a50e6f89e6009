/**
 * Ports that write down what each transaction does to credits, when it has committed.
 */
import {
  AutoTopUp,
  type Collection,
  Collections,
  CreditStore,
  CurrentTenant,
  Customer,
  type Tenant,
  TokenUsage,
  TopUp,
  Transactor,
} from "@billwright/core"
import { Context, Effect, Option } from "effect"
import { accountName } from "../credits/CreditBooks.ts"
import type { Ports } from "../world/Observer.ts"
import type { Change, Transaction } from "./PrepaidBooks.ts"

/** What the transaction that the fiber is in has done. */
interface Open {
  readonly changes: Array<Change>
  /** When each account was locked, by name. */
  readonly locked: Map<string, number>
}

const CurrentChanges = Context.Reference<Open | undefined>("@billwright/simulation/CurrentChanges", {
  defaultValue: () => undefined,
})

/** Writes down something that the current transaction does, if there is one. */
const note = (write: (open: Open, tenant: Tenant.Tenant) => void) =>
  Effect.flatMap(CurrentChanges, (open) =>
    open === undefined ? Effect.void : Effect.map(CurrentTenant, (tenant) => write(open, tenant)),
  )

const noting = <A>(change: (tenant: Tenant.Tenant, value: A) => Change, values: Collection<A>) => {
  const see = (value: A) => note(({ changes }, tenant) => changes.push(change(tenant, value)))
  return {
    insert: (value: A) => Effect.tap(values.insert(value), () => see(value)),
    modify: <E, R>(id: string, by: (value: A) => Effect.Effect<A, E, R>) =>
      Effect.tap(values.modify(id, by), Option.match({ onNone: () => Effect.void, onSome: see })),
  }
}

const inserting = ({ insert }: Collection<TokenUsage.TokenUsage>) => ({
  insert: (usage: TokenUsage.TokenUsage) =>
    Effect.tap(insert(usage), () =>
      note(({ changes }, tenant) => changes.push({ type: "token usage", tenant, usage })),
    ),
})

const erasing = ({ remove }: Collection<Customer.Customer>) => ({
  remove: (customerId: string) =>
    Effect.tap(remove(customerId), (isRemoved) =>
      isRemoved
        ? note(({ changes }, tenant) => changes.push({ type: "erased", tenant, customerId }))
        : Effect.void,
    ),
})

const watchedCollections = (collections: Collections["Service"]): Collections["Service"] => ({
  of: (resource) => {
    const values = collections.of(resource)
    const changed = () => {
      switch (resource.type) {
        case TopUp.topUps.type:
          return noting(
            (tenant, topUp) => ({ type: "top up", tenant, topUp }),
            values as object as Collection<TopUp.TopUp>,
          )
        case AutoTopUp.autoTopUps.type:
          return noting(
            (tenant, auto) => ({ type: "auto", tenant, auto }),
            values as object as Collection<AutoTopUp.AutoTopUp>,
          )
        case TokenUsage.tokenUsages.type:
          return inserting(values as object as Collection<TokenUsage.TokenUsage>)
        case Customer.customers.type:
          return erasing(values as object as Collection<Customer.Customer>)
        default:
          return {}
      }
    }
    return { ...values, ...(changed() as object) }
  },
})

/** Writes the transactions of all processes into one list. */
export const watch = (ports: Ports, transactions: Array<Transaction>): Ports => {
  const store = Context.get(ports, CreditStore)
  const transactor = Context.get(ports, Transactor)
  return ports.pipe(
    Context.add(Collections, watchedCollections(Context.get(ports, Collections))),
    Context.add(CreditStore, {
      ...store,
      lock: (key, now, mode) =>
        Effect.tap(store.lock(key, now, mode), () =>
          note(({ locked }, tenant) => locked.set(accountName(tenant, key.customerId, key.unit), now)),
        ),
      write: (key, change) =>
        Effect.tap(store.write(key, change), () =>
          note(({ changes, locked }, tenant) => {
            const name = accountName(tenant, key.customerId, key.unit)
            const { account, entries, grants } = change
            const { available, debt, held } = account
            const balance = { available, held, debt }
            changes.push({ type: "account", name, now: locked.get(name) ?? 0, balance, grants, entries })
          }),
        ),
    }),
    Context.add(Transactor, {
      ...transactor,
      atomically: (effect) =>
        Effect.flatMap(transactor.inTransaction, (isNested) => {
          if (isNested) return transactor.atomically(effect)
          const open: Open = { changes: [], locked: new Map() }
          // The last thing in a transaction. From here on, it commits.
          const end = Effect.sync(() => {
            if (open.changes.length > 0) transactions.push(open.changes)
          })
          const whole = Effect.tap(Effect.provideService(effect, CurrentChanges, open), () => end)
          return transactor.atomically(whole)
        }),
    }),
  )
}
