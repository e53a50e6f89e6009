/**
 * The world of a simulation of prepaid credits: subscriptions whose plans grant credits, top-ups that a bank is asked to
 * pay, and customers who use credits, are billed, and are erased. Several processes do what is due, in faults.
 */
import { Tenant } from "@billwright/core"
import { MemoryInspector } from "@billwright/memory"
import { Context, Effect } from "effect"
import { Collecting, type PaymentMutations } from "../payments/Collecting.ts"
import { cancelAll, MANY } from "../payments/PaymentCommands.ts"
import { CALL_POINTS, STORAGE_POINTS } from "../payments/PaymentsWorld.ts"
import type { Choice } from "../world/Choice.ts"
import type { Recorder } from "../world/Recorder.ts"
import type { Memory } from "../world/Seeded.ts"
import { beginHost } from "./PrepaidBeginning.ts"
import type { PrepaidBooks, Transaction } from "./PrepaidBooks.ts"
import { erase, PREPAID_COMMANDS } from "./PrepaidCommands.ts"
import type { PrepaidHost } from "./PrepaidHost.ts"
import { nothingRead, readPrepaid } from "./PrepaidReading.ts"
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
export const CREDIT_POINTS = [
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

export class PrepaidWorld {
  readonly #choice: Choice
  readonly #memory: Memory
  readonly #world: Collecting
  readonly #hosts: Array<PrepaidHost> = []
  readonly #transactions: Array<Transaction> = []
  #read = nothingRead
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
    this.#read = yield* readPrepaid(this.#memory, TENANTS, world.first)
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

  #begin(tenant: Tenant.Tenant) {
    return Effect.map(Effect.orDie(this.#world.first.run(tenant, beginHost(this.#choice, "Ada"))), (host) => {
      this.#hosts.push(host)
    })
  }
}
