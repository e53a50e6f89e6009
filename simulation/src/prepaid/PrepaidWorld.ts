/**
 * The world of a simulation of prepaid credits: subscriptions whose plans grant credits, top-ups that a bank is asked to
 * pay, and customers who use credits, are billed, and are erased. Several processes do what is due, in faults.
 */
import {
  AutoTopUps,
  CreditAlerts,
  Customer,
  Customers,
  Meters,
  Plans,
  RateCards,
  Subscriptions,
  SubscriptionStore,
  Tenant,
  TokenUsages,
  TopUps,
} from "@billwright/core"
import { MemoryInspector, type MemorySnapshot } from "@billwright/memory"
import { Context, Effect } from "effect"
import { Collecting, type PaymentMutations } from "../payments/Collecting.ts"
import { cancelAll, MANY } from "../payments/PaymentCommands.ts"
import { CALL_POINTS, STORAGE_POINTS } from "../payments/PaymentsWorld.ts"
import type { Choice } from "../world/Choice.ts"
import type { Recorder } from "../world/Recorder.ts"
import type { Memory } from "../world/Seeded.ts"
import type { PrepaidBooks, Transaction } from "./PrepaidBooks.ts"
import { erase, PREPAID_COMMANDS } from "./PrepaidCommands.ts"
import type { PrepaidHost } from "./PrepaidHost.ts"
import { CALLS, KEYS, METERED_KEYS, PLANS } from "./PrepaidPlans.ts"
import { CARDS } from "./TokenCommands.ts"
import { reconcileAll } from "./UsageCommands.ts"
import { watch } from "./Watched.ts"

/** 2026-11-21, 15:00. */
export const START = 1_795_273_200_000
const SECOND = 1_000
const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR
const WEEK = 7 * DAY
const MIN_ROUNDS = 10
const MAX_ROUNDS = 24
/** How many commands of a tenant run at once, each as often as it is chosen. */
const CROWDS = [1, 1, 1, 2, 4]
const PAUSES = [0, 1, SECOND, 61 * SECOND, HOUR, 9 * HOUR, DAY, 4 * DAY, 11 * DAY]
/** How long the world goes on after the last command. All payments end in that time. */
const SETTLING_WEEKS = 12
/** Whether a customer of a run is erased. */
const ERASED = 0.25

/** Where a process can be killed, beside the points of payments. */
const CREDIT_POINTS = [
  "Collections(AutoTopUp).modify: in a transaction",
  "Collections(TokenUsage).insert: in a transaction",
  "Collections(TokenUsage).modify: in a transaction",
  "Collections(TopUp).insert: in a transaction",
  "Collections(TopUp).modify: in a transaction",
  "CreditStore.grantOfSource: in a transaction",
  "CreditStore.listEntries: in a transaction",
  "CreditStore.lock: in a transaction",
  "CreditStore.write: in a transaction",
  "SubscriptionStore.save: in a transaction",
]

const TENANTS: ReadonlyArray<Tenant.Tenant> = [
  { accountId: Tenant.AccountId.make("acme"), mode: "live" },
  { accountId: Tenant.AccountId.make("acme"), mode: "test" },
]

type Read = Pick<PrepaidBooks, "topUps" | "autos" | "alerts" | "subscriptions" | "tokenUsages" | "rateCards">
type StoredSubscription = MemorySnapshot["subscriptions"][number]["subscription"]

export class PrepaidWorld {
  readonly #choice: Choice
  readonly #memory: Memory
  readonly #world: Collecting
  readonly #hosts: Array<PrepaidHost> = []
  readonly #transactions: Array<Transaction> = []
  #read: Read = { topUps: [], autos: [], alerts: [], subscriptions: [], tokenUsages: [], rateCards: [] }
  #returned: Pick<PrepaidBooks, "refunds" | "disputes"> = { refunds: [], disputes: [] }

  constructor(choice: Choice, recorder: Recorder, memory: Memory, mutations: PaymentMutations) {
    const { breakProvider, breakStorage = (same) => same } = mutations
    const pointsOf = () => choice.pick([CALL_POINTS, STORAGE_POINTS, CREDIT_POINTS, CREDIT_POINTS])
    this.#choice = choice
    this.#memory = memory
    this.#world = new Collecting({
      choice,
      recorder,
      memory,
      ports: watch(breakStorage(memory), this.#transactions),
      breakProvider,
      tenants: TENANTS,
      crashPoint: () => choice.pick(pointsOf())!,
    })
  }

  /** Commands, while time passes and what is due is done. Then faults end, and everything is waited for. */
  readonly work = Effect.gen({ self: this }, function* () {
    const [choice, world] = [this.#choice, this.#world]
    yield* world.machines.start(choice.int(2, 3))
    yield* world.setTime(START)
    for (const tenant of TENANTS) yield* this.#begin(tenant)
    const rounds = choice.int(MIN_ROUNDS, MAX_ROUNDS)
    const erasedAt = TENANTS.map(() => (choice.chance(ERASED) ? choice.int(MIN_ROUNDS / 2, rounds) : rounds))
    let number = 0
    for (let round = 0; round < rounds; round++) {
      yield* world.advance(world.now + choice.pick(PAUSES)!)
      const index = choice.int(0, TENANTS.length - 1)
      const commands = Array.from({ length: choice.pick(CROWDS)! }, () =>
        choice.weighted(PREPAID_COMMANDS.map((each) => [each.weight, each] as const)),
      )
      if (erasedAt[index] === round) commands.push(erase)
      yield* world.perform(
        ...commands.map(({ decide, name }) => ({
          tenant: TENANTS[index]!,
          name,
          work: decide(choice, ++number)(this.#hosts[index]!),
        })),
      )
    }
    for (const [index, tenant] of TENANTS.entries()) {
      yield* world.perform({ tenant, name: "cancel", work: cancelAll(this.#hosts[index]!) })
    }
    yield* world.advance(world.now + WEEK)
    world.isStormy = false
    for (const [index, tenant] of TENANTS.entries()) {
      yield* world.perform({ tenant, name: "reconcile", work: reconcileAll(this.#hosts[index]!) })
    }
    for (let week = 0; week < SETTLING_WEEKS; week++) yield* world.advance(world.now + WEEK)
    this.#read = yield* this.#readAll()
    this.#returned = yield* world.returned(MANY)
    world.machines.kill()
  })

  readonly books = Effect.suspend(() =>
    Effect.map(
      Context.get(this.#memory, MemoryInspector).snapshot,
      ({ creditNotes, credits, events, invoices, payments, records }): PrepaidBooks => ({
        creditNotes,
        credits,
        events,
        invoices,
        payments,
        records,
        ...this.#read,
        ...this.#returned,
        transactions: this.#transactions,
        recorded: this.#hosts.flatMap(({ recorded }) => [...recorded.values()]),
        facts: this.#world.bank.facts,
        now: this.#world.now,
      }),
    ),
  )

  /** A customer with a subscription and an automatic top-up, or without. */
  #begin(tenant: Tenant.Tenant) {
    const choice = this.#choice
    const plan = choice.chance(0.85) ? choice.pick(KEYS) : undefined
    const maxPerDay = choice.chance(0.8) ? choice.int(1, 3) : undefined
    const metered = choice.chance(0.7) ? choice.pick(METERED_KEYS) : undefined
    // Invoices that nobody is charged for stay open, and can be voided.
    const collectionMethod = choice.chance(0.5) ? "send_invoice" : "charge_automatically"
    const begin = Effect.gen(function* () {
      const ada = { name: "Ada", email: "ada@example.com", collectionMethod } as const
      const { id: customerId } = yield* (yield* Customers).create(ada)
      const account = { customerId, unit: "token" }
      yield* (yield* CreditAlerts).create({ ...account, level: 25n })
      yield* (yield* Meters).create(CALLS)
      yield* (yield* Plans).push({ plans: PLANS })
      yield* (yield* RateCards).push({ rateCards: CARDS.slice(0, 1) })
      const { create } = yield* Subscriptions
      if (metered !== undefined) {
        yield* create({ customerId, plan: metered, metadata: { beside: "another" } })
      }
      if (plan !== undefined) yield* create({ customerId, plan })
      if (maxPerDay !== undefined) {
        const pack = { ...account, amount: 30n, currency: "EUR", price: 500n }
        yield* (yield* AutoTopUps).create({ ...pack, level: 20n, maxPerDay })
      }
      return Customer.CustomerId.make(customerId)
    })
    return Effect.map(Effect.orDie(this.#world.first.run(tenant, begin)), (customerId) => {
      this.#hosts.push({ customerId, recorded: new Map(), holds: [], records: [] })
    })
  }

  /** What services and the storage tell of each tenant. */
  #readAll() {
    const ofTenant = (tenant: Tenant.Tenant) =>
      Effect.gen({ self: this }, function* () {
        const topUps = (yield* (yield* TopUps).list({ limit: MANY })).data
        const autos = (yield* (yield* AutoTopUps).list({ limit: MANY })).data
        const alerts = (yield* (yield* CreditAlerts).list({ limit: MANY })).data
        const usages = (yield* (yield* TokenUsages).list({ limit: MANY })).data
        const cards = (yield* (yield* RateCards).list({ limit: MANY })).data
        const { subscriptions } = yield* Context.get(this.#memory, MemoryInspector).snapshot
        const own = subscriptions.filter((one) => one.tenant.mode === tenant.mode)
        return {
          topUps: topUps.map((topUp) => ({ tenant, topUp })),
          autos: autos.map((auto) => ({ tenant, auto })),
          alerts: alerts.map((alert) => ({ tenant, alert })),
          tokenUsages: usages.map((usage) => ({ tenant, usage })),
          rateCards: cards.map((card) => ({ tenant, card })),
          subscriptions: yield* Effect.forEach(own, ({ subscription }) =>
            Effect.map(this.#periodsOf(subscription), (periods) => ({ tenant, subscription, periods })),
          ),
        }
      })
    return Effect.forEach(TENANTS, (tenant) =>
      Effect.orDie(this.#world.first.run(tenant, ofTenant(tenant))),
    ).pipe(
      Effect.map((all): Read => ({
        topUps: all.flatMap(({ topUps }) => topUps),
        autos: all.flatMap(({ autos }) => autos),
        alerts: all.flatMap(({ alerts }) => alerts),
        tokenUsages: all.flatMap(({ tokenUsages }) => tokenUsages),
        rateCards: all.flatMap(({ rateCards }) => rateCards),
        subscriptions: all.flatMap(({ subscriptions }) => subscriptions),
      })),
    )
  }

  #periodsOf({ id, state: { closed, opened, period } }: StoredSubscription) {
    const stored = Effect.flatMap(SubscriptionStore, (store) => store.periodsBefore(id, opened, opened))
    return Effect.map(stored, (periods) => {
      const last = [closed?.period, period].flatMap((one) => one ?? [])
      const isOld = ({ number }: { readonly number: number }) => last.every((one) => one.number !== number)
      return [...periods.filter(isOld), ...last]
    })
  }
}
