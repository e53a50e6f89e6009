/**
 * What worlds share in which processes collect from a bank: several of them at once, their faults, and the time that
 * passes until all that is due is done.
 */
import {
  BillingRuns,
  type DispatcherOptions,
  Disputes,
  DueStore,
  type InvoicesOptions,
  Payments,
  Refunds,
  type Tenant,
} from "@billwright/core"
import { MemoryInspector } from "@billwright/memory"
import { Cause, Context, Effect, Exit, Option } from "effect"
import type { Choice } from "../world/Choice.ts"
import { Machines } from "../world/Machines.ts"
import type { Noting, Work } from "../world/Noted.ts"
import { observed, type Ports } from "../world/Observer.ts"
import type { Process, Shared } from "../world/Process.ts"
import { Receivers } from "../world/Receivers.ts"
import type { Recorder } from "../world/Recorder.ts"
import type { Memory } from "../world/Seeded.ts"
import { Weather } from "../world/Weather.ts"
import { Bank } from "./Bank.ts"
import { type BreakProvider, connect, Network } from "./Connection.ts"
import { Post } from "./Post.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE
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
const OUTAGES = [HOUR, 24 * HOUR, 216 * HOUR]

/** How far the clock of a runner may be set back. A clock that is ahead would read too early. */
const SKEWS = [0, 0, 0, -HOUR, -10 * MINUTE, -40]
/** How late a runner may come. */
const DELAYS = [0, 0, 0, 40_000, MINUTE, HOUR, 9 * HOUR]

/** What a planted bug may change: the ports of the storage, and the provider. */
export interface PaymentMutations {
  readonly breakStorage?: ((ports: Ports) => Ports) | undefined
  readonly breakProvider?: BreakProvider | undefined
}

/** A command of a tenant. It may run several times. */
export interface Asked {
  readonly tenant: Tenant.Tenant
  readonly name: string
  readonly work: Work
}

export interface CollectingOptions {
  readonly choice: Choice
  readonly recorder: Recorder
  readonly memory: Memory
  /** The storage of all processes. */
  readonly ports: Ports
  readonly breakProvider: BreakProvider | undefined
  readonly tenants: ReadonlyArray<Tenant.Tenant>
  /** Chooses where a process is killed next. */
  readonly crashPoint: () => string
  /** How late a runner may come, each as often as it is chosen. */
  readonly delays?: ReadonlyArray<number>
  /** How processes send webhooks. Without it, they send none. */
  readonly dispatcher?: DispatcherOptions
  readonly pollMillis?: number
  readonly invoices?: InvoicesOptions
  /** What goes on beside whatever is done, in faults or not. */
  readonly beside?: (isStormy: boolean) => Effect.Effect<void>
  /** What is noted of the work of commands. */
  readonly noting?: Noting
}

const errorOf = (cause: Cause.Cause<unknown>) =>
  Cause.squash(cause) as { readonly _tag?: string; readonly name?: string }

export class Collecting {
  readonly #choice: Choice
  readonly #recorder: Recorder
  readonly #memory: Memory
  readonly #tenants: ReadonlyArray<Tenant.Tenant>
  readonly #crashPoint: () => string
  readonly #beside: (isStormy: boolean) => Effect.Effect<void>
  readonly #noting: Noting
  readonly #delays: ReadonlyArray<number>
  readonly #post: Post | undefined
  readonly #network: Network
  readonly shared: Shared
  readonly bank: Bank
  readonly machines: Machines
  /** While the bank is out of reach. */
  #outage: { readonly from: number; readonly to: number } | undefined
  /** In how many rounds of faults nothing is about to be set aside. */
  #bearableRounds = 0
  /** Whether there are faults. */
  isStormy = true

  constructor(options: CollectingOptions) {
    const { breakProvider = (same) => same, choice, crashPoint, memory, ports, recorder, tenants } = options
    this.#choice = choice
    this.#recorder = recorder
    this.#memory = memory
    this.#tenants = tenants
    this.#crashPoint = crashPoint
    this.#delays = options.delays ?? DELAYS
    this.#beside = options.beside ?? (() => Effect.void)
    this.#noting = options.noting ?? ((_process, _tenant, work) => work)
    this.#post = choice.chance(TOLD) ? new Post(choice.fork(), recorder) : undefined
    this.bank = new Bank(choice.fork(), this.#post)
    this.#network = new Network(choice.fork(), recorder)
    this.shared = {
      choice,
      recorder,
      weather: new Weather(choice.fork(), recorder),
      receivers: new Receivers(choice.fork(), recorder),
      time: { skippedMillis: 0 },
      dispatcher: options.dispatcher ?? null,
      pollMillis: options.pollMillis,
      invoices: options.invoices ?? {},
      payments: (process, life) =>
        breakProvider(connect(this.bank, this.#network, life, this.#standStill(process))),
      portsOf: (process) => observed(ports, recorder, process),
    }
    this.machines = new Machines(this.shared, STEPS)
  }

  get now(): number {
    return this.machines.now
  }

  /** The first of the processes. */
  get first(): Process {
    return this.machines.all[0]!.process
  }

  setTime(instant: number) {
    return Effect.map(this.machines.setTime(instant), () => this.bank.moveTo(instant))
  }

  /** What went back, as the services tell it: at most `limit` of each tenant. */
  returned(limit: number) {
    const ofTenant = (tenant: Tenant.Tenant) =>
      Effect.gen(function* () {
        const refunds = (yield* (yield* Refunds).list({ limit })).data
        const disputes = (yield* (yield* Disputes).list({ limit })).data
        return {
          refunds: refunds.map((refund) => ({ tenant, refund })),
          disputes: disputes.map((dispute) => ({ tenant, dispute })),
        }
      })
    return Effect.forEach(this.#tenants, (tenant) =>
      Effect.orDie(this.first.run(tenant, ofTenant(tenant))),
    ).pipe(
      Effect.map((all) => ({
        refunds: all.flatMap(({ refunds }) => refunds),
        disputes: all.flatMap(({ disputes }) => disputes),
      })),
    )
  }

  /** In a tenth of the runs, the bank is out of reach from some instant of a span on. */
  mayBeDown(start: number, millis: number): void {
    const choice = this.#choice
    if (!choice.chance(0.1)) return
    const from = start + choice.int(0, millis)
    this.#outage = { from, to: from + choice.pick(OUTAGES)! }
  }

  /** Does everything that is due until an instant, and moves the clock there. */
  advance(to: number) {
    return Effect.gen({ self: this }, function* () {
      const due = Context.get(this.#memory, DueStore)
      let vain = 0
      for (let round = 0; round < MAX_ROUNDS; round++) {
        // Dispatchers go on meanwhile, and the storage may wait for a slow transaction of theirs.
        const found = yield* this.machines.driven(Effect.orDie(due.nextDueAt))
        const dueAt = Option.getOrUndefined(found)?.epochMilliseconds ?? Infinity
        const next = Math.min(dueAt, this.#post?.nextAt ?? Infinity)
        if (next > to || vain > MAX_VAIN_ROUNDS) break
        const isStormy = this.isStormy && this.#choice.chance(0.7) && (yield* this.#isBearable())
        const delay = isStormy ? this.#choice.pick(this.#delays)! : 0
        vain = isStormy || next > this.machines.now ? 0 : vain + 1
        yield* this.setTime(Math.max(this.machines.now, next + delay))
        yield* this.#run(isStormy)
      }
      yield* this.setTime(Math.max(to, this.machines.now))
    }).pipe(Effect.orDie)
  }

  /**
   * Whether nothing has failed so often that it is about to be set aside. Something fails once in a round at most, so that it
   * is not looked at in each of them.
   */
  #isBearable() {
    return Effect.gen({ self: this }, function* () {
      if (this.#bearableRounds-- > 0) return true
      const { invoices, payments, subscriptions } = yield* this.machines.driven(
        Context.get(this.#memory, MemoryInspector).snapshot,
      )
      const failures = [
        ...invoices.map(({ invoice }) => invoice),
        ...payments.map(({ payment }) => payment),
        ...subscriptions.map(({ subscription }) => subscription),
      ].map(({ failure }) => failure?.attempts ?? 0)
      this.#bearableRounds = BEARABLE_FAILURES - Math.max(0, ...failures) - 1
      return this.#bearableRounds >= 0
    })
  }

  /**
   * Brings the notices that have arrived, each to one of the processes, and tells the bank which were taken. The bank knows
   * a mode, and not an account: each account of the mode gets the notice, and only one knows what it is about.
   */
  #deliver(isStormy: boolean): ReadonlyArray<Effect.Effect<void>> {
    const post = this.#post
    if (post === undefined) return []
    const choice = this.#choice
    return post.arrived(this.machines.now, isStormy).map((letter) => {
      const { process } = choice.pick(this.machines.all)!
      const tenants = this.#tenants.filter(({ mode }) => mode === letter.notice.mode)
      const body = new TextEncoder().encode(JSON.stringify(letter.notice))
      const isAnswered = !isStormy || choice.chance(0.9)
      const receive = Effect.flatMap(Payments, (payments) => payments.receive({ body, headers: {} }))
      const received = tenants.map((tenant) => Effect.exit(process.run(tenant, receive)))
      return Effect.map(Effect.all(received), (exits) => {
        for (const exit of exits) this.#noteDefect("notice", exit)
        const isTaken = exits.every((exit) => Exit.isSuccess(exit) && exit.value.httpStatus === 200)
        if (!isAnswered || !isTaken) post.again(letter, this.machines.now)
      })
    })
  }

  /** Lets runners work, one or several at once, while notices come. */
  #run(isStormy: boolean) {
    return Effect.gen({ self: this }, function* () {
      const choice = this.#choice
      this.#blow(isStormy)
      this.shared.weather.isInstant = false
      const runners = isStormy
        ? this.machines.all.filter((_, index) => index === 0 || choice.chance(0.6))
        : this.machines.all.slice(0, 1)
      for (const { process, skew } of runners) {
        if (!isStormy) continue
        skew.millis = choice.pick(SKEWS)!
        if (skew.millis < 0) this.#recorder.injects("process: clock set back")
        if (choice.chance(0.5)) process.dieAt(this.#crashPoint(), choice.int(1, 2))
      }
      const limit = isStormy ? choice.pick([1, 3, 1_000]) : 1_000
      const runDue = Effect.flatMap(BillingRuns, (all) => all.runDue({ limit }))
      const runs = runners.map(({ process }) =>
        Effect.map(Effect.exit(process.run(this.#tenants[0]!, runDue)), (exit) =>
          this.#noteDefect("run", exit, (tag) => tag === "StorageError"),
        ),
      )
      const all = [...runs, ...this.#deliver(isStormy), this.#beside(isStormy)]
      yield* this.machines.driven(Effect.all(all, { concurrency: "unbounded" }))
      yield* this.#calm()
    })
  }

  /** Runs commands until their outcomes are known, all at once. */
  perform(...all: ReadonlyArray<Asked>) {
    return Effect.gen({ self: this }, function* () {
      const choice = this.#choice
      let open = all
      for (let attempt = 0; open.length > 0 && attempt < MAX_ATTEMPTS; attempt++) {
        const isStormy = this.isStormy && attempt < STORMY_ATTEMPTS
        this.#blow(isStormy)
        this.shared.weather.isInstant = true
        const runs = open.map(({ tenant, work }) => {
          const { process } = choice.pick(this.machines.all)!
          if (isStormy && choice.chance(0.2)) process.dieAt(this.#crashPoint(), choice.int(1, 2))
          return Effect.exit(process.run(tenant, this.#noting(process, tenant, work)))
        })
        const beside = Effect.as(this.#beside(isStormy), [])
        const [exits] = yield* this.machines.driven(
          Effect.all([Effect.all(runs, { concurrency: "unbounded" }), beside], { concurrency: "unbounded" }),
        )
        yield* this.#calm()
        open = open.filter(({ name }, index) => {
          const exit = exits[index]!
          if (Exit.isSuccess(exit)) return false
          this.#noteDefect(name, exit)
          const error = errorOf(exit.cause)
          return error._tag === "StorageError" || error.name === "ProcessDied"
        })
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
    const { now } = this.machines
    this.shared.weather.isCalm = !isStormy
    this.shared.receivers.isCalm = !isStormy
    this.#network.isCalm = !isStormy
    this.#network.isDown = now >= from && now < to
  }

  #calm() {
    return Effect.gen({ self: this }, function* () {
      this.#network.isCalm = true
      this.shared.receivers.isCalm = true
      this.shared.weather.isOutage = false
      for (const { process } of this.machines.all) process.resume()
      yield* this.machines.calm()
      this.bank.moveTo(this.machines.now)
    })
  }
}
