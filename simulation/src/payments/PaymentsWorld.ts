/**
 * The world of a simulation of payments: a bank, several processes that collect from it, their faults, and the time that
 * passes between commands.
 */
import {
  type Billing,
  BillingRuns,
  Customer,
  Customers,
  Disputes,
  DueStore,
  Payments,
  Plans,
  Refunds,
  Subscriptions,
  Tenant,
} from "@billwright/core"
import { MemoryInspector } from "@billwright/memory"
import { Cause, Context, Effect, Exit, Option } from "effect"
import type { Choice } from "../world/Choice.ts"
import { Machines } from "../world/Machines.ts"
import { observed, type Ports } from "../world/Observer.ts"
import type { Process, Shared } from "../world/Process.ts"
import { Receivers } from "../world/Receivers.ts"
import type { Recorder } from "../world/Recorder.ts"
import { Weather } from "../world/Weather.ts"
import { Bank } from "./Bank.ts"
import { connect, Network, type BreakProvider } from "./Connection.ts"
import type { PaymentBooks } from "./PaymentBooks.ts"
import { cancelAll, COMMANDS, type Host, issue, MANY, type Work } from "./PaymentCommands.ts"
import { Post } from "./Post.ts"
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
const MAX_ROUNDS = 200
/** What is due after so many rounds without faults and without time that passes, stays due: it is a bug. */
const MAX_VAIN_ROUNDS = 20
const MAX_ATTEMPTS = 8
const STORMY_ATTEMPTS = 3
/** How often a subject may fail in faults. It is set aside after more. */
const BEARABLE_FAILURES = 4
/** How long a process stands still. It is longer than its leases. */
const STANDSTILL_MILLIS = 180_000
const STEPS = { millis: 5_000, most: 2_000 }
/** The share of runs in which the host has told the bank where to send notices. */
const TOLD = 0.5
/** How long the bank may be out of reach. */
const OUTAGES = [HOUR, DAY, 9 * DAY]

/** How far the clock of a runner may be set back. A clock that is ahead would read too early. */
const SKEWS = [0, 0, 0, -HOUR, -10 * MINUTE, -40]
/** How late a runner may come. */
const DELAYS = [0, 0, 0, 40_000, MINUTE, HOUR, 9 * HOUR]

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
const CALL_POINTS = CALLS.flatMap((call) => [
  `PaymentProvider.${call}: before`,
  `PaymentProvider.${call}: after`,
])
/** The other points: around each commit, and within transactions. */
const STORAGE_POINTS = [
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

const PLAN = {
  key: "base",
  name: "Base",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
} as const

/** What a planted bug may change: the ports of the storage, and the provider. */
export interface PaymentMutations {
  readonly breakStorage?: ((ports: Ports) => Ports) | undefined
  readonly breakProvider?: BreakProvider | undefined
}

const ALL_COMMANDS = [...COMMANDS, refund, creditWithRefund, refundOfNote]

const TENANTS: ReadonlyArray<Tenant.Tenant> = [
  { accountId: Tenant.AccountId.make("acme"), mode: "live" },
  { accountId: Tenant.AccountId.make("acme"), mode: "test" },
]

type Memory = Context.Context<Billing.Storage | Billing.InvoicingStorage | MemoryInspector>

const errorOf = (cause: Cause.Cause<unknown>) =>
  Cause.squash(cause) as { readonly _tag?: string; readonly name?: string }

export class PaymentsWorld {
  readonly #choice: Choice
  readonly #recorder: Recorder
  readonly #memory: Memory
  readonly #post: Post | undefined
  readonly #bank: Bank
  readonly #network: Network
  readonly #shared: Shared
  readonly #machines: Machines
  readonly #hosts: Array<Host> = []
  #returned: Pick<PaymentBooks, "refunds" | "disputes"> = { refunds: [], disputes: [] }
  #outage: { readonly from: number; readonly to: number } | undefined
  #isStormy = true

  constructor(choice: Choice, recorder: Recorder, memory: Memory, mutations: PaymentMutations) {
    const { breakProvider = (same) => same, breakStorage = (same) => same } = mutations
    const ports = breakStorage(memory)
    this.#choice = choice
    this.#recorder = recorder
    this.#memory = memory
    this.#post = choice.chance(TOLD) ? new Post(choice.fork(), recorder) : undefined
    this.#bank = new Bank(choice.fork(), this.#post)
    this.#network = new Network(choice.fork(), recorder)
    this.#shared = {
      choice,
      recorder,
      weather: new Weather(choice.fork(), recorder),
      receivers: new Receivers(choice.fork(), recorder),
      time: { skippedMillis: 0 },
      dispatcher: null,
      invoices: {},
      payments: (process, life) =>
        breakProvider(connect(this.#bank, this.#network, life, this.#standStill(process))),
      portsOf: (process) => observed(ports, recorder, process),
    }
    this.#machines = new Machines(this.#shared, STEPS)
  }

  /** A subscription for each tenant, and commands in between. Then faults end, and everything is waited for. */
  readonly work = Effect.gen({ self: this }, function* () {
    const choice = this.#choice
    yield* this.#machines.start(choice.int(2, 3))
    yield* this.#setTime(START)
    for (const tenant of TENANTS) yield* this.#begin(tenant)
    if (choice.chance(0.1)) {
      const from = START + choice.int(0, 5 * DAY)
      this.#outage = { from, to: from + choice.pick(OUTAGES)! }
    }
    const count = choice.int(MIN_COMMANDS, MAX_COMMANDS)
    for (let number = 0; number < count; number++) {
      yield* this.#advance(this.#machines.now + choice.pick(PAUSES)!)
      const command =
        number === 0 ? issue : choice.weighted(ALL_COMMANDS.map((each) => [each.weight, each] as const))
      yield* this.#perform(choice.int(0, TENANTS.length - 1), command.name, command.decide(choice, number))
    }
    for (const index of TENANTS.keys()) yield* this.#perform(index, "cancel", cancelAll)
    yield* this.#advance(this.#machines.now + WEEK)
    this.#isStormy = false
    for (let week = 0; week < SETTLING_WEEKS; week++) yield* this.#advance(this.#machines.now + WEEK)
    this.#returned = yield* this.#readReturned()
    this.#machines.kill()
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
        facts: this.#bank.facts,
        now: this.#machines.now,
      }),
    ),
  )

  /** What went back, as the services tell it. */
  #readReturned() {
    const { process } = this.#machines.all[0]!
    const ofTenant = (tenant: Tenant.Tenant) =>
      Effect.gen(function* () {
        const refunds = (yield* (yield* Refunds).list({ limit: MANY })).data
        const disputes = (yield* (yield* Disputes).list({ limit: MANY })).data
        return {
          refunds: refunds.map((refund) => ({ tenant, refund })),
          disputes: disputes.map((dispute) => ({ tenant, dispute })),
        }
      })
    return Effect.forEach(TENANTS, (tenant) => Effect.orDie(process.run(tenant, ofTenant(tenant)))).pipe(
      Effect.map((all) => ({
        refunds: all.flatMap(({ refunds }) => refunds),
        disputes: all.flatMap(({ disputes }) => disputes),
      })),
    )
  }

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
    return Effect.map(Effect.orDie(this.#machines.all[0]!.process.run(tenant, begin)), (customerId) => {
      this.#hosts.push({ customerId, recorded: new Map() })
    })
  }

  /** Does everything that is due until an instant, and moves the clock there. */
  #advance(to: number) {
    return Effect.gen({ self: this }, function* () {
      const due = Context.get(this.#memory, DueStore)
      let vain = 0
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const dueAt = Option.getOrUndefined(yield* due.nextDueAt)?.epochMilliseconds ?? Infinity
        const next = Math.min(dueAt, this.#post?.nextAt ?? Infinity)
        if (next > to || vain > MAX_VAIN_ROUNDS) break
        const isStormy = this.#isStormy && this.#choice.chance(0.7) && (yield* this.#isBearable())
        const delay = isStormy ? this.#choice.pick(DELAYS)! : 0
        vain = isStormy || next > this.#machines.now ? 0 : vain + 1
        yield* this.#setTime(Math.max(this.#machines.now, next + delay))
        yield* this.#run(isStormy)
      }
      yield* this.#setTime(Math.max(to, this.#machines.now))
    }).pipe(Effect.orDie)
  }

  /** Whether nothing has failed so often that it is about to be set aside. */
  #isBearable() {
    return Effect.map(
      Context.get(this.#memory, MemoryInspector).snapshot,
      ({ invoices, payments, subscriptions }) =>
        [
          ...invoices.map(({ invoice }) => invoice),
          ...payments.map(({ payment }) => payment),
          ...subscriptions.map(({ subscription }) => subscription),
        ].every(({ failure }) => (failure?.attempts ?? 0) < BEARABLE_FAILURES),
    )
  }

  /** Brings the notices that have arrived, each to one of the processes, and tells the bank which were taken. */
  #deliver(isStormy: boolean): ReadonlyArray<Effect.Effect<void>> {
    const post = this.#post
    if (post === undefined) return []
    const choice = this.#choice
    return post.arrived(this.#machines.now, isStormy).map((letter) => {
      const { process } = choice.pick(this.#machines.all)!
      const tenant = TENANTS.find(({ mode }) => mode === letter.notice.mode)!
      const body = new TextEncoder().encode(JSON.stringify(letter.notice))
      const isAnswered = !isStormy || choice.chance(0.9)
      const received = process.run(
        tenant,
        Effect.flatMap(Payments, (payments) => payments.receive({ body, headers: {} })),
      )
      return Effect.map(Effect.exit(received), (exit) => {
        this.#noteDefect("notice", exit)
        const isTaken = isAnswered && Exit.isSuccess(exit) && exit.value.httpStatus === 200
        if (!isTaken) post.again(letter, this.#machines.now)
      })
    })
  }

  /** Lets runners work, one or several at once, while notices come. */
  #run(isStormy: boolean) {
    return Effect.gen({ self: this }, function* () {
      const choice = this.#choice
      this.#blow(isStormy)
      this.#shared.weather.isInstant = false
      const runners = isStormy
        ? this.#machines.all.filter((_, index) => index === 0 || choice.chance(0.6))
        : this.#machines.all.slice(0, 1)
      for (const { process, skew } of runners) {
        if (!isStormy) continue
        skew.millis = choice.pick(SKEWS)!
        if (skew.millis < 0) this.#recorder.injects("process: clock set back")
        if (choice.chance(0.5)) process.dieAt(this.#crashPoint(), choice.int(1, 2))
      }
      const limit = isStormy ? choice.pick([1, 3, 1_000]) : 1_000
      const runDue = Effect.flatMap(BillingRuns, (all) => all.runDue({ limit }))
      const runs = runners.map(({ process }) =>
        Effect.map(Effect.exit(process.run(TENANTS[0]!, runDue)), (exit) =>
          this.#noteDefect("run", exit, (tag) => tag === "StorageError"),
        ),
      )
      const all = [...runs, ...this.#deliver(isStormy)]
      yield* this.#machines.driven(Effect.all(all, { concurrency: "unbounded" }))
      yield* this.#calm()
    })
  }

  /** Runs a command until its outcome is known. */
  #perform(tenant: number, name: string, work: Work) {
    return Effect.gen({ self: this }, function* () {
      const choice = this.#choice
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const isStormy = this.#isStormy && attempt < STORMY_ATTEMPTS
        this.#blow(isStormy)
        this.#shared.weather.isInstant = true
        const { process } = choice.pick(this.#machines.all)!
        if (isStormy && choice.chance(0.2)) process.dieAt(this.#crashPoint(), choice.int(1, 2))
        const run = process.run(TENANTS[tenant]!, work(this.#hosts[tenant]!))
        const exit = yield* this.#machines.driven(Effect.exit(run))
        yield* this.#calm()
        if (Exit.isSuccess(exit)) return
        this.#noteDefect(name, exit)
        const error = errorOf(exit.cause)
        if (error._tag === "StorageError" || error.name === "ProcessDied") continue
        return
      }
    })
  }

  /** What nobody expects is a bug. */
  #noteDefect(
    name: string,
    exit: Exit.Exit<unknown, unknown>,
    isExpected = (tag: string | undefined): boolean => tag !== undefined,
  ): void {
    if (Exit.isSuccess(exit)) return
    const { _tag, name: kind } = errorOf(exit.cause)
    const isBug = !isExpected(_tag) && kind !== "ProcessDied"
    if (isBug) this.#recorder.defects.push(`${name}: ${Cause.pretty(exit.cause)}`)
  }

  #crashPoint(): string {
    return this.#choice.pick(this.#choice.chance(0.7) ? CALL_POINTS : STORAGE_POINTS)!
  }

  /** Stops a process for longer than its leases. It then goes on with what it was told before. */
  #standStill(process: Process) {
    return Effect.suspend(() => {
      process.stop()
      const resume = Effect.sync(() => process.resume())
      return Effect.asVoid(Effect.forkDetach(Effect.delay(resume, STANDSTILL_MILLIS)))
    })
  }

  #blow(isStormy: boolean): void {
    const { from, to } = this.#outage ?? { from: 0, to: 0 }
    const { now } = this.#machines
    this.#shared.weather.isCalm = !isStormy
    this.#network.isCalm = !isStormy
    this.#network.isDown = now >= from && now < to
  }

  #calm() {
    return Effect.gen({ self: this }, function* () {
      this.#network.isCalm = true
      for (const { process } of this.#machines.all) process.resume()
      yield* this.#machines.calm()
      this.#bank.moveTo(this.#machines.now)
    })
  }

  #setTime(instant: number) {
    return Effect.map(this.#machines.setTime(instant), () => this.#bank.moveTo(instant))
  }
}
