/**
 * The world of a simulation of payments: a bank, several processes that collect from it, their faults, and the time that
 * passes between commands.
 */
import { Customer, Customers, Plans, Subscriptions, Tenant } from "@billwright/core"
import { MemoryInspector } from "@billwright/memory"
import { Context, Effect } from "effect"
import type { Choice } from "../world/Choice.ts"
import type { Recorder } from "../world/Recorder.ts"
import type { Memory } from "../world/Seeded.ts"
import { Collecting, type PaymentMutations } from "./Collecting.ts"
import type { PaymentBooks } from "./PaymentBooks.ts"
import { cancelAll, COMMANDS, type Host, issue, MANY, type Work } from "./PaymentCommands.ts"
import { creditWithRefund, refund, refundOfNote } from "./RefundCommands.ts"

/** 2026-11-21, 15:00. */
export const START = 1_795_273_200_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const WEEK = 7 * DAY
/** How many commands a run has, beyond those that begin it. */
const MIN_COMMANDS = 6
const MAX_COMMANDS = 14
const PAUSES = [1, MINUTE, 2 * MINUTE, HOUR, 5 * HOUR, DAY, 3 * DAY, 8 * DAY]
/** How long the world goes on after the last command. Everything that waits for the bank or a customer ends in that time. */
const SETTLING_WEEKS = 12
/** The calls of the bank around which a process can be killed, each as often as it is chosen. */
const CALLS = [
  "openPayment",
  "attemptPayment",
  "attemptPayment",
  "attemptPayment",
  "readPayment",
  "closePayment",
  "refund",
  "refund",
  "readRefund",
  "readDispute",
]
export const CALL_POINTS = CALLS.flatMap((call) => [
  `PaymentProvider.${call}: before`,
  `PaymentProvider.${call}: after`,
])
/** The other points: around each commit, and within transactions. */
export const STORAGE_POINTS = [
  "Collections(Dispute).insert: in a transaction",
  "Collections(Dispute).modify: in a transaction",
  "Collections(Refund).insert: in a transaction",
  "Collections(Refund).modify: in a transaction",
  "DueStore.schedule: in a transaction",
  "PaymentStore.noteEvent: in a transaction",
  "DueStore.claimDue: before",
  "DueStore.claimDue: after",
  "DueStore.release: after",
  "DueStore.holds: in a transaction",
  "EventStore.publish: in a transaction",
  "InvoiceStore.lock: in a transaction",
  "InvoiceStore.save: in a transaction",
  "PaymentStore.insert: in a transaction",
  "PaymentStore.save: in a transaction",
  "Transactor.atomically: before",
  "Transactor.atomically: after",
  "Transactor.commit",
]

/** 20 euros a month. */
export const PLAN = {
  key: "base",
  name: "Base",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
} as const

const ALL_COMMANDS = [...COMMANDS, refund, creditWithRefund, refundOfNote]

const TENANTS: ReadonlyArray<Tenant.Tenant> = [
  { accountId: Tenant.AccountId.make("acme"), mode: "live" },
  { accountId: Tenant.AccountId.make("acme"), mode: "test" },
]

export class PaymentsWorld {
  readonly #choice: Choice
  readonly #memory: Memory
  readonly #world: Collecting
  readonly #hosts: Array<Host> = []
  #returned: Pick<PaymentBooks, "refunds" | "disputes"> = { refunds: [], disputes: [] }

  constructor(choice: Choice, recorder: Recorder, memory: Memory, mutations: PaymentMutations) {
    const { breakProvider, breakStorage = (same) => same } = mutations
    const crashPoint = () => choice.pick(choice.chance(0.7) ? CALL_POINTS : STORAGE_POINTS)!
    const ports = breakStorage(memory)
    this.#choice = choice
    this.#memory = memory
    this.#world = new Collecting({
      choice,
      recorder,
      memory,
      ports,
      breakProvider,
      tenants: TENANTS,
      crashPoint,
    })
  }

  /** A subscription for each tenant, and commands in between. Then faults end, and everything is waited for. */
  readonly work = Effect.gen({ self: this }, function* () {
    const choice = this.#choice
    yield* this.#world.machines.start(choice.int(2, 3))
    yield* this.#world.setTime(START)
    for (const tenant of TENANTS) yield* this.#begin(tenant)
    this.#world.mayBeDown(START, 5 * DAY)
    const count = choice.int(MIN_COMMANDS, MAX_COMMANDS)
    for (let number = 0; number < count; number++) {
      yield* this.#world.advance(this.#world.now + choice.pick(PAUSES)!)
      const command =
        number === 0 ? issue : choice.weighted(ALL_COMMANDS.map((each) => [each.weight, each] as const))
      yield* this.#perform(choice.int(0, TENANTS.length - 1), command.name, command.decide(choice, number))
    }
    for (const index of TENANTS.keys()) yield* this.#perform(index, "cancel", cancelAll)
    yield* this.#world.advance(this.#world.now + WEEK)
    this.#world.isStormy = false
    for (let week = 0; week < SETTLING_WEEKS; week++) yield* this.#world.advance(this.#world.now + WEEK)
    this.#returned = yield* this.#world.returned(MANY)
    this.#world.machines.kill()
  })

  readonly books = Effect.suspend(() =>
    Effect.map(
      Context.get(this.#memory, MemoryInspector).snapshot,
      ({ creditNotes, events, invoices, payments }): PaymentBooks => ({
        creditNotes,
        events,
        invoices,
        payments,
        ...this.#returned,
        recorded: this.#hosts.flatMap(({ recorded }) => [...recorded.values()]),
        facts: this.#world.bank.facts,
        now: this.#world.now,
      }),
    ),
  )

  /** A customer with a subscription or without. */
  #begin(tenant: Tenant.Tenant) {
    const isSubscribed = this.#choice.chance(0.6)
    const timezone = this.#choice.pick(["UTC", "Europe/Berlin", "Pacific/Auckland"])
    const begin = Effect.gen(function* () {
      const { id } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com", timezone })
      if (isSubscribed) {
        yield* (yield* Plans).push({ plans: [PLAN] })
        yield* (yield* Subscriptions).create({ customerId: id, plan: PLAN.key })
      }
      return Customer.CustomerId.make(id)
    })
    return Effect.map(Effect.orDie(this.#world.first.run(tenant, begin)), (customerId) => {
      this.#hosts.push({ customerId, recorded: new Map() })
    })
  }

  /** Runs a command of a host until its outcome is known. */
  #perform(index: number, name: string, work: Work) {
    return this.#world.perform({ tenant: TENANTS[index]!, name, work: work(this.#hosts[index]!) })
  }
}
