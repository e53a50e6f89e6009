/**
 * Runs the operations of the engine on a stored account: locks it, writes what changes, and publishes its events.
 */
import {
  availableFor,
  type CreditAccount,
  type CreditBalance,
  type CreditChange,
  settleCredits,
} from "@billwright/engine"
import { Clock, Effect, Option } from "effect"
import { CustomerNotFound, customers } from "../customers/Customer.ts"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { Outbox } from "../events/Outbox.ts"
import { InvoiceId } from "../invoices/Invoice.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import * as WallClock from "../shared/WallClock.ts"
import {
  type AccountKey,
  CONSUMPTION_ID_PREFIX,
  ConsumptionId,
  CreditEntryId,
  ENTRY_ID_PREFIX,
  CreditKeyConflict,
  type StoredConsumption,
  type StoredEntry,
  type StoredGrant,
} from "./Credit.ts"
import { eventsOf } from "./CreditEvents.ts"
import { makeCreditLevels } from "./CreditLevels.ts"
import { CreditStore, type Settling, type StoredLedger } from "./CreditStore.ts"
import { GrantQueue, nextLookAt } from "./GrantQueue.ts"
import { HOLD_ID_PREFIX, HoldId, type StoredHold, toHold } from "./Hold.ts"

/** What an operation writes that is new. */
export interface New {
  readonly grants?: ReadonlyArray<StoredGrant>
  readonly hold?: StoredHold
  readonly consumption?: Omit<StoredConsumption, "balance">
}

export type CreditFailure = InvoicingUnsupported | StorageError

/** Gives the functions that change the accounts of the current tenant. */
export const makeCreditBook = Effect.gen(function* () {
  const port = yield* optionalPort(CreditStore)
  const collections = yield* Collections
  const owners = collections.of(customers)
  const outbox = yield* Outbox
  const transactor = yield* Transactor
  const ids = yield* IdGenerator
  const time = new CustomerTime(collections)
  const { crossedBy } = yield* makeCreditLevels
  const queue = yield* GrantQueue

  /** Runs an effect in one transaction, in the time of the customer. */
  const within = <A, E, R>({ customerId }: Pick<AccountKey, "customerId">, effect: Effect.Effect<A, E, R>) =>
    transactor.atomically(time.within(customerId, effect))

  /** Uses credits in one step, if the storage can and nothing else is to be done. */
  const takeNow = Effect.fnUntraced(function* (
    asked: Omit<StoredConsumption, "balance" | "id" | "createdAt">,
  ) {
    const store = yield* port
    if (store.take === undefined || asked.purpose !== null) return undefined
    const createdAt = yield* Clock.currentTimeMillis
    const id = ConsumptionId.make(yield* ids.next(CONSUMPTION_ID_PREFIX))
    const consumption = { ...asked, id, createdAt }
    const balance = yield* store.take(consumption, CreditEntryId.make(yield* ids.next(ENTRY_ID_PREFIX)))
    return balance === undefined ? undefined : { ...consumption, balance }
  })
  /** It needs no transaction: the step is atomic. */
  const take = (asked: Parameters<typeof takeNow>[0]) => time.within(asked.customerId, takeNow(asked))

  /** Holds credits in one step, if the storage can and nothing else is to be done. Gives the hold as it is then. */
  const holdNow = Effect.fnUntraced(function* (
    asked: Pick<StoredHold, "amount" | "customerId" | "idempotencyKey" | "purpose" | "ttlSeconds" | "unit">,
  ) {
    const store = yield* port
    if (store.hold === undefined || asked.purpose !== null) return undefined
    const createdAt = yield* Clock.currentTimeMillis
    const id = HoldId.make(yield* ids.next(HOLD_ID_PREFIX))
    const expiresAt = createdAt + asked.ttlSeconds * 1_000
    const open = { status: "open", committed: null, isLate: false, settledAt: null } as const
    const hold = { ...asked, ...open, id, expiresAt, createdAt }
    const entryId = CreditEntryId.make(yield* ids.next(ENTRY_ID_PREFIX))
    return (yield* store.hold(hold, entryId)) ? toHold({ ...hold, slices: [] }, createdAt) : undefined
  })
  const hold = (asked: Parameters<typeof holdNow>[0]) => time.within(asked.customerId, holdNow(asked))

  /** The time of a hold's customer. In live mode all customers have the same time, and nothing is read. */
  const timeOfHold = Effect.fnUntraced(function* (id: HoldId) {
    const { mode } = yield* CurrentTenant
    if (mode === "live") return yield* Clock.currentTimeMillis
    const found = Option.getOrUndefined(yield* (yield* port).findHold(id))
    return found === undefined ? undefined : yield* time.within(found.customerId, Clock.currentTimeMillis)
  })

  /** Settles a hold in one step, if the storage can and nothing else is to be done. Gives it as it is then. */
  const settle = Effect.fnUntraced(function* (id: HoldId, status: Settling["status"], amount: bigint | null) {
    const store = yield* port
    if (store.settle === undefined) return undefined
    const settledAt = yield* timeOfHold(id)
    if (settledAt === undefined) return undefined
    const entryId = CreditEntryId.make(yield* ids.next(ENTRY_ID_PREFIX))
    const settled = yield* store.settle({ id, status, amount, settledAt }, entryId)
    return settled === undefined ? undefined : toHold(settled, settledAt)
  })

  /** Whether there is such a customer, who is not erased. */
  const isKnown = ({ customerId }: AccountKey) =>
    Effect.map(owners.status(customerId), (status) => status === "active")

  const requireCustomer = Effect.fnUntraced(function* (key: AccountKey) {
    if (yield* isKnown(key)) return
    return yield* new CustomerNotFound({ id: key.customerId, field: "customerId" })
  })

  /** Holds a customer until the transaction ends, so that it is not erased meanwhile. Call it before an account is locked. */
  const holdCustomer = Effect.fnUntraced(function* ({ customerId }: Pick<AccountKey, "customerId">) {
    if (Option.isSome(yield* owners.modify(customerId, Effect.succeed))) return
    return yield* new CustomerNotFound({ id: customerId, field: "customerId" })
  })

  /** Of an account that was never used, the customer is looked at: a wrong id is not an empty account. */
  const requireAccount = (key: AccountKey, { account }: StoredLedger) =>
    account.sequence === 0 ? requireCustomer(key) : Effect.void

  const publish = ({ data, type }: ReturnType<typeof eventsOf>[number], key: AccountKey) =>
    outbox.publish(type, data, { customerId: key.customerId })

  const entriesOf = (key: AccountKey, { entries }: CreditChange) =>
    Effect.forEach(entries, (entry) =>
      Effect.map(ids.next(ENTRY_ID_PREFIX), (id): StoredEntry => ({
        ...key,
        ...entry,
        id: CreditEntryId.make(id),
        invoiceId: entry.invoiceId === null ? null : InvoiceId.make(entry.invoiceId),
      })),
    )

  /** Has a runner come when paid credits begin or end. Most changes move no such instant, and write nothing for it. */
  const lookAtEnds = Effect.fnUntraced(function* (
    known: ReadonlyArray<StoredGrant>,
    changed: ReadonlyArray<StoredGrant>,
  ) {
    const now = yield* Clock.currentTimeMillis
    for (const grant of changed) {
      const before = known.find(({ id }) => id === grant.id)
      const at = nextLookAt(grant, now)
      const isNew = at !== (before === undefined ? null : nextLookAt(before, now))
      // The queue is in real time.
      if (isNew && (yield* WallClock.isReal)) yield* queue.lookAt(grant.id, at)
    }
  })

  /** Writes what an operation on a locked ledger changes. */
  const write = Effect.fnUntraced(function* (
    key: AccountKey,
    ledger: StoredLedger,
    change: CreditChange,
    { consumption, grants: made = [], hold }: New = {},
  ) {
    const store = yield* port
    const { account } = change
    const grants = [...ledger.grants, ...made]
    const holds = [...ledger.holds, ...(hold === undefined ? [] : [hold])]
    yield* store.write(key, {
      account,
      grants: merged(grants, change.grants),
      holds: merged(holds, change.holds),
      entries: yield* entriesOf(key, change),
      consumption:
        consumption === undefined
          ? null
          : { ...consumption, balance: balanceAfter(ledger, account, consumption) },
    })
    const events = [...eventsOf(key, ledger.account, change), ...(yield* crossedBy(key, ledger, change))]
    // A level may be crossed by an entry before the last one. A receiver that drops what is stale has to get its event first.
    for (const event of events.toSorted((a, b) => a.data.sequence - b.data.sequence)) {
      yield* publish(event, key)
    }
    yield* lookAtEnds(ledger.grants, merged(grants, change.grants))
  })

  /** Locks an account, and writes what has happened to it by the clock. Gives what it has now. */
  const settled = Effect.fnUntraced(function* (key: AccountKey, now: number) {
    const ledger = yield* (yield* port).lock(key, now, "open")
    const change = settleCredits(ledger, now)
    if (change.entries.length > 0) yield* write(key, ledger, change)
    return change.account
  })

  return {
    port,
    holdCustomer,
    isKnown,
    requireAccount,
    requireCustomer,
    settled,
    within,
    write,
    take,
    hold,
    settle,
    ids,
  }
})

/** What changes the accounts of the current tenant. */
export type CreditBook = Effect.Success<typeof makeCreditBook>

/** What an account has after a use, for its purpose. `ledger` is what it was before, and `account` what it is now. */
export const balanceAfter = (
  ledger: StoredLedger,
  { debt, held }: CreditAccount,
  { amount, createdAt, purpose }: Pick<StoredConsumption, "amount" | "createdAt" | "purpose">,
): CreditBalance => {
  const left = availableFor(ledger, purpose, createdAt) - amount
  return { available: left > 0n ? left : 0n, held, debt }
}

/** The stored values that changed, as they are now. */
const merged = <Stored extends { readonly id: string }, Changed extends { readonly id: string }>(
  known: ReadonlyArray<Stored>,
  changed: ReadonlyArray<Changed>,
): ReadonlyArray<Stored> =>
  changed.flatMap((now) => {
    const before = known.find(({ id }) => id === now.id)
    return before === undefined ? [] : [{ ...before, ...now, id: before.id }]
  })

/** What was made with a key before, if it is the same as what is asked for now. */
export const sameAs = <A extends { readonly id: string }>(
  earlier: Option.Option<A>,
  isSame: (value: A) => boolean,
): Effect.Effect<A | undefined, CreditKeyConflict> => {
  if (Option.isNone(earlier)) return Effect.succeed(undefined)
  return isSame(earlier.value)
    ? Effect.succeed(earlier.value)
    : Effect.fail(new CreditKeyConflict({ id: earlier.value.id }))
}
