/**
 * Runs commands on a storage and on the reference, and compares their answers.
 */
import {
  Collections,
  CurrentTenant,
  Customer,
  DueStore,
  LANES,
  LiveSubscriptions,
  type Subscription,
  SubscriptionStore,
  Tenant,
  TestClock,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { asTenant, otherTenants, same } from "../contract/ContractTest.ts"
import { insertCustomer, millisOf, minuteOf, periodOf, subscriptionOf } from "../contract/InvoicingProbe.ts"
import * as Sample from "../Sample.ts"
import { creditNoteVerb } from "./CreditNoteInterpreter.ts"
import { invoiceVerb } from "./InvoiceInterpreter.ts"
import type { InvoicingCommand, InvoicingTransaction, InvoicingVerb } from "./InvoicingCommand.ts"
import {
  dueAtOf,
  type InvoicingServices,
  type InvoicingWorld,
  isOf,
  nth,
  ofOwner,
  pageFrom,
} from "./InvoicingWorld.ts"
import { ReferenceInvoicing } from "./ReferenceInvoicing.ts"
import { EndedOnPurpose } from "./World.ts"

type CommandOf<Name extends InvoicingVerb["command"]> = Extract<InvoicingVerb, { readonly command: Name }>

/** Beyond every instant of a command. */
const FAR = 100_000_000
const MOST = 500

/** Leases everything that is due, of all tenants, for longer than any run. */
const setAside = Effect.gen(function* () {
  const due = yield* DueStore
  const claim = { now: minuteOf(FAR), leaseUntil: minuteOf(2 * FAR), limit: MOST }
  for (const lane of LANES) while ((yield* due.claimDue({ ...claim, lane })).length > 0);
})

/** A new customer of a new test clock. */
const insertClocked = Effect.gen(function* () {
  const collections = yield* Collections
  const { id } = yield* Sample.of(TestClock.testClocks).pipe(
    Effect.tap((clock) => collections.of(TestClock.testClocks).insert(clock)),
  )
  const customer = yield* Sample.of(Customer.customers, undefined, { testClockId: id })
  yield* collections.of(Customer.customers).insert(customer)
  return { customer, id }
})

const makeWorld = Effect.gen(function* () {
  yield* setAside
  const tenants = [yield* CurrentTenant, ...(yield* otherTenants)]
  const made = yield* Effect.forEach(tenants, (tenant) =>
    asTenant(tenant)(
      Effect.gen(function* () {
        const customer = yield* insertCustomer
        return { tenant, customer, clocked: tenant.mode === "test" ? yield* insertClocked : undefined }
      }),
    ),
  )
  const clocks = made.flatMap(({ clocked }) =>
    clocked === undefined ? [] : [[clocked.customer.id as string, clocked.id as string] as const],
  )
  const world: InvoicingWorld = {
    reference: new ReferenceInvoicing(new Map(clocks)),
    tenants: made,
    subscriptions: [],
    invoices: [],
    creditNotes: [],
    claims: [],
    firsts: [],
  }
  return world
})

const subscriptionVerb = Effect.fnUntraced(function* (
  { reference, subscriptions, tenants }: InvoicingWorld,
  command: CommandOf<
    | "subscribe"
    | "saveSubscription"
    | "findSubscription"
    | "listSubscriptions"
    | "savePeriods"
    | "periodsBefore"
    | "liveSubscriptions"
  >,
) {
  const store = yield* SubscriptionStore
  switch (command.command) {
    case "subscribe": {
      const { clocked, customer, tenant } = tenants[command.tenant]!
      const owner = command.isClocked ? (clocked?.customer ?? customer) : customer
      const value = yield* subscriptionOf(owner.id, { dueAt: dueAtOf(command.due) })
      subscriptions.push({ tenant, id: value.id })
      reference.insertSubscription(tenant, value)
      return yield* asTenant(tenant)(store.insert(value))
    }
    case "saveSubscription":
      return yield* ofOwner(nth(subscriptions, command.subscription), (id, tenant) =>
        Effect.gen(function* () {
          const found = yield* store.lock(id as Subscription.StoredSubscription["id"])
          if (Option.isNone(found)) return
          const { state } = found.value
          const value = {
            ...found.value,
            dueAt: dueAtOf(command.due),
            state: { ...state, phase: command.phase },
          }
          reference.saveSubscription(tenant, value)
          yield* store.save(value)
        }),
      )
    case "findSubscription": {
      const { tenant } = tenants[command.tenant]!
      const id = nth(subscriptions, command.subscription)?.id as Subscription.StoredSubscription["id"]
      if (id === undefined) return
      const found = yield* asTenant(tenant)(store.find(id))
      return same(Option.getOrUndefined(found), reference.subscription(tenant, id))
    }
    case "listSubscriptions": {
      const { tenant } = tenants[command.tenant]!
      const own = subscriptions.filter((one) => isOf(tenant, one, reference))
      const after = command.after === null ? undefined : nth(own, command.after)
      const phase = command.phase ?? undefined
      const page = yield* asTenant(tenant)(store.list({ phase }, pageFrom(command.limit, after)))
      const asked = { limit: command.limit, after: after?.id }
      const expected = reference.listSubscriptions(
        tenant,
        ({ state }) => phase === undefined || state.phase === phase,
        asked,
      )
      return same(page, expected)
    }
    case "savePeriods":
      return yield* ofOwner(nth(subscriptions, command.subscription), (id, tenant) => {
        if (reference.subscription(tenant, id) === undefined) return Effect.void
        const periods = [...new Set(command.numbers)].map(periodOf)
        reference.savePeriods(id, periods)
        return store.savePeriods(id as Subscription.StoredSubscription["id"], periods)
      })
    case "periodsBefore": {
      const { tenant } = tenants[command.tenant]!
      const id = nth(subscriptions, command.subscription)?.id as Subscription.StoredSubscription["id"]
      if (id === undefined) return
      const { before, limit } = command
      const found = yield* asTenant(tenant)(store.periodsBefore(id, before, limit))
      return same(found, reference.periodsBefore(tenant, id, before, limit))
    }
    case "liveSubscriptions": {
      const { customer, tenant } = tenants[command.tenant]!
      const found = yield* asTenant(tenant)(
        Effect.flatMap(LiveSubscriptions, ({ exist }) => exist(customer.id)),
      )
      return same(found, reference.liveSubscriptions(tenant, customer.id))
    }
  }
})

/** A failure that is tried again at a minute, or never. */
const failureOf = (attempts: number, retry: number | null) => ({
  attempts,
  problem: "it failed",
  at: minuteOf(1),
  retryAt: retry === null ? null : minuteOf(retry),
})

const dueVerb = Effect.fnUntraced(function* (
  { claims, reference }: InvoicingWorld,
  command: CommandOf<"holds" | "release">,
) {
  const due = yield* DueStore
  const transactor = yield* Transactor
  const claimed = nth(claims, command.claim)
  if (claimed === undefined) return
  const theirs = asTenant(claimed.tenant)
  if (command.command === "holds") {
    return same(yield* theirs(transactor.atomically(due.holds(claimed))), reference.holds(claimed))
  }
  const failure = command.retry === undefined ? null : failureOf(claimed.attempts + 1, command.retry)
  const isReleased = yield* theirs(due.release(claimed, failure))
  return same(isReleased, reference.release(claimed, failure))
})

const clockVerb = Effect.fnUntraced(function* (
  { firsts, reference, tenants }: InvoicingWorld,
  command: CommandOf<"firstDue" | "fail">,
) {
  const due = yield* DueStore
  if (command.command === "firstDue") {
    const { clocked, tenant } = tenants[command.tenant]!
    if (clocked === undefined) return
    const found = Option.getOrUndefined(yield* asTenant(tenant)(due.firstDue(clocked.id)))
    if (found !== undefined) firsts.push({ ...found, tenant })
    return same(found, reference.firstDue(tenant, clocked.id))
  }
  const found = nth(firsts, command.first)
  if (found === undefined) return
  const { tenant, ...first } = found
  const failure = failureOf(first.attempts + 1, command.retry)
  const isNoted = yield* asTenant(tenant)(due.fail(first, failure))
  return same(isNoted, reference.fail(tenant, first, failure))
})

/**
 * What is leased is due, as many as are due, and in their order. Of a tenant's subjects that nobody has claimed yet, the
 * longest due come first. Where those come that are due again is for the storage to say.
 */
const claim = Effect.fnUntraced(function* (
  { claims, reference }: InvoicingWorld,
  { lease, limit, now }: Extract<InvoicingCommand, { readonly command: "claim" }>,
) {
  const due = yield* DueStore
  const waiting = reference.due(millisOf(now))
  const found = yield* due.claimDue({
    lane: "billing",
    now: minuteOf(now),
    leaseUntil: minuteOf(now + lease),
    limit,
  })
  assert.lengthOf(found, Math.min(limit, waiting.length))
  const ids = found.map(({ subject }) => subject.id as string)
  const isFound = (id: string) => ids.includes(id)
  same(ids, waiting.map(({ value }) => value.id).filter(isFound))
  const fresh = waiting.filter(({ lease, value }) => lease === null && value.failure === null)
  for (const own of Map.groupBy(fresh, ({ tenant }) => Tenant.tenantKey(tenant)).values()) {
    const taken = own.filter(({ value }) => isFound(value.id)).length
    same(
      own.slice(0, taken).map(({ value }) => isFound(value.id)),
      Array.from({ length: taken }, () => true),
    )
  }
  for (const claimed of found) {
    const { tenant, value } = waiting.find((row) => row.value.id === claimed.subject.id)!
    same(
      [claimed.tenant, claimed.customerId, claimed.dueAt, claimed.attempts],
      [tenant, value.customerId, value.dueAt, value.failure?.attempts ?? 0],
    )
    reference.claim(claimed, millisOf(now + lease))
    claims.push(claimed)
  }
})

const perform = (
  world: InvoicingWorld,
  command: InvoicingVerb,
): Effect.Effect<unknown, unknown, InvoicingServices> => {
  switch (command.command) {
    case "subscribe":
    case "saveSubscription":
    case "findSubscription":
    case "listSubscriptions":
    case "savePeriods":
    case "periodsBefore":
    case "liveSubscriptions":
      return subscriptionVerb(world, command)
    case "holds":
    case "release":
      return dueVerb(world, command)
    case "firstDue":
    case "fail":
      return clockVerb(world, command)
    case "creditNote":
    case "findCreditNote":
    case "listCreditNotes":
    case "creditNotesOf":
    case "creditsOf":
    case "couponUses":
      return creditNoteVerb(world, command)
    default:
      return invoiceVerb(world, command)
  }
}

const inTransaction = Effect.fnUntraced(function* (
  world: InvoicingWorld,
  { commands, fails }: InvoicingTransaction,
) {
  const transactor = yield* Transactor
  const before = world.reference.copy()
  const body = Effect.andThen(
    Effect.forEach(commands, (one) => perform(world, one), { discard: true }),
    fails ? Effect.fail(new EndedOnPurpose()) : Effect.void,
  )
  const exit = yield* Effect.exit(transactor.atomically(body))
  if (Exit.isSuccess(exit)) return
  if (!fails) return yield* exit
  world.reference.restore(before)
})

const nextDue = ({ reference }: InvoicingWorld) =>
  Effect.gen(function* () {
    const expected = reference.nextDueAt()
    const found = yield* Effect.flatMap(DueStore, (due) => due.nextDueAt)
    if (expected !== undefined) same(Option.getOrUndefined(found)?.epochMilliseconds, expected)
  })

/** Runs commands, and compares everything at the end. */
export const performInvoicing = Effect.fnUntraced(function* (commands: ReadonlyArray<InvoicingCommand>) {
  const world = yield* makeWorld
  for (const command of commands) {
    if (command.command === "claim") yield* claim(world, command)
    else if (command.command === "nextDue") yield* nextDue(world)
    else if (command.command === "transaction") yield* inTransaction(world, command)
    else yield* perform(world, command)
  }
  const retry = 7
  for (const tenant of [0, 1, 2]) {
    const all = { after: null, limit: 100 }
    yield* perform(world, { command: "listSubscriptions", tenant, phase: null, ...all })
    yield* perform(world, { command: "listInvoices", tenant, status: null, subscription: null, ...all })
    yield* perform(world, { command: "listCreditNotes", tenant, invoice: null, ...all })
    for (const invoice of world.invoices.keys()) {
      yield* perform(world, { command: "creditsOf", tenant, invoice })
      yield* perform(world, { command: "creditNotesOf", tenant, invoice })
    }
    for (const subscription of world.subscriptions.keys()) {
      yield* perform(world, { command: "couponUses", tenant, subscription, from: 0 })
      yield* perform(world, { command: "billedLines", tenant, subscription, from: 0 })
    }
    for (const first of world.firsts.keys()) yield* perform(world, { command: "fail", tenant, first, retry })
    yield* perform(world, { command: "firstDue", tenant })
  }
  yield* setAside
})
