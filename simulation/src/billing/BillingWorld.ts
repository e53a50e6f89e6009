/**
 * The world of a simulation of billing: processes, their faults, and the time that passes between commands.
 */
import { BillingRuns, type Billing, DueStore, Meters } from "@billwright/core"
import { MemoryInspector } from "@billwright/memory"
import { Cause, Context, Effect, Exit, Option } from "effect"
import type { Choice } from "../world/Choice.ts"
import { newcomers } from "../world/Known.ts"
import { Machines } from "../world/Machines.ts"
import { observed, type Ports } from "../world/Observer.ts"
import type { Shared } from "../world/Process.ts"
import { DEADLINE_MILLIS, Receivers } from "../world/Receivers.ts"
import type { Recorder } from "../world/Recorder.ts"
import { Weather } from "../world/Weather.ts"
import type { Books } from "./Books.ts"
import { type Command, type Made, nothingMade } from "./Command.ts"
import { CALLS, STORAGE } from "./Plans.ts"
import { readBooks, statedIn } from "./Reading.ts"
import { taxTable } from "./Taxation.ts"
import { CALM_END } from "./Travel.ts"

/** 2026-11-21, 15:00. */
export const START = 1_795_273_200_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** How long nothing may have been due before a command, so that all retries have ended. */
const QUIET_MILLIS = 24 * HOUR
/** How often a command waits for that. */
const MAX_WAITS = 20
/** How long the world goes on after the last command. Late usage is billed in that time. */
const SETTLING_WEEKS = 10
const WEEK = 7 * 24 * HOUR
/** How often what is due is tried with faults. It is fewer times than a runner tries before it sets something aside. */
const STORMY_ROUNDS = 5
const MAX_ROUNDS = 200
/** Within this time, what has failed in every round of a storm is tried again. */
const RETRIES_MILLIS = 2 * HOUR
const MAX_ATTEMPTS = 8
/** How long work that a command has begun may take. Nothing else is due meanwhile. */
const ROOM_MILLIS = 4 * HOUR
/** The most faults of an attempt on a test clock: each is a failure of what is due, which is set aside after 10. */
const FAULTS_OF_ADVANCE = 2
/** The most stops on the way of a test clock. */
const MAX_STOPS = 3
const STEP_MILLIS = 20
const MAX_STEPS = 2_000

/** The points where a process can be killed: before and after each commit, and within transactions. */
export const BILLING_POINTS = [
  "DueStore.claimDue: before",
  "DueStore.claimDue: after",
  "DueStore.release: after",
  "Transactor.atomically: before",
  "Transactor.atomically: after",
  "Transactor.commit",
  "DueStore.holds: in a transaction",
  "EventStore.publish: in a transaction",
  "InvoiceStore.insert: in a transaction",
  "InvoiceStore.lockSeries: in a transaction",
  "InvoiceStore.save: in a transaction",
  "InvoiceStore.saveSeries: in a transaction",
  "CreditNoteStore.insert: in a transaction",
  "Collections(Coupon).modify: in a transaction",
  "Collections(InvoiceItem).insert: in a transaction",
  "Collections(InvoiceItem).modify: in a transaction",
  "Collections(PlanMigration).modify: in a transaction",
  "Collections(Redemption).insert: in a transaction",
  "Collections(TestClock).modify: in a transaction",
  "SubscriptionStore.insert: in a transaction",
  "SubscriptionStore.save: in a transaction",
  "SubscriptionStore.savePeriods: in a transaction",
  "UsageStore.append: after",
  "UsageStore.void: after",
] as const

/** How far the clock of a runner may be set back. A clock that is ahead would bill too early. */
const SKEWS = [0, 0, 0, -HOUR, -10 * MINUTE, -40]
/** How late a runner may come. */
const DELAYS = [0, 0, 0, MINUTE, HOUR, 9 * HOUR]

export class BillingWorld {
  readonly #choice: Choice
  readonly #shared: Shared
  readonly #recorder: Recorder
  readonly #machines: Machines
  readonly #made: Made
  readonly #memory: Context.Context<Billing.Storage | Billing.InvoicingStorage | MemoryInspector>
  readonly #seen = new Map<string, Books["seen"][number]>()
  readonly #isStormy: boolean
  /** Whether what was due did not end. Then nothing more is done. */
  #isStuck = false
  /** When something was due last. */
  #lastDue = START

  constructor(
    choice: Choice,
    recorder: Recorder,
    memory: Context.Context<Billing.Storage | Billing.InvoicingStorage | MemoryInspector>,
    ports: Ports,
    isStormy: boolean,
    isTaxInclusive: boolean,
  ) {
    this.#choice = choice
    this.#recorder = recorder
    this.#memory = memory
    this.#isStormy = isStormy
    this.#made = {
      ...nothingMade(),
      stopsOf: (from, to) => this.#stopsOf(from, to),
      calm: () => {
        this.#shared.weather.isCalm = true
      },
    }
    this.#shared = {
      choice,
      recorder,
      weather: new Weather(choice.fork(), recorder),
      receivers: new Receivers(choice.fork(), recorder),
      time: { skippedMillis: 0 },
      dispatcher: {
        leaseMillis: MINUTE,
        attemptDeadlineMillis: DEADLINE_MILLIS,
        maxInFlight: 2,
        maxInFlightPerEndpoint: 2,
      },
      invoices: { tax: taxTable(isTaxInclusive ? "inclusive" : "exclusive") },
      portsOf: (process) => observed(ports, recorder, process),
    }
    this.#machines = new Machines(this.#shared, { millis: STEP_MILLIS, most: MAX_STEPS })
  }

  readonly start = Effect.gen({ self: this }, function* () {
    yield* this.#machines.start(this.#isStormy ? this.#choice.int(2, 3) : 1)
    yield* this.#machines.setTime(START)
    for (const { tenant } of newcomers()) {
      for (const meter of [CALLS, STORAGE]) {
        const create = Effect.flatMap(Meters, (meters) => meters.create(meter))
        yield* Effect.orDie(this.#machines.all[0]!.process.run(tenant, create))
      }
    }
  })

  /**
   * Runs commands at their instants. Gives the instants: without them, each command waits until all is quiet.
   */
  readonly work = Effect.fnUntraced(function* (
    this: BillingWorld,
    commands: ReadonlyArray<Command>,
    instants: ReadonlyArray<number> | undefined,
  ) {
    const taken: Array<number> = []
    for (const [index, command] of commands.entries()) {
      const at =
        instants?.[index] ?? (yield* this.#quietAfter(this.#machines.now + command.afterMillis, command))
      yield* this.#advance(at, !command.isTight)
      taken.push(at)
      yield* this.#perform(command, at)
      if (command.isBegun) yield* this.#advance(at + ROOM_MILLIS, true)
      yield* this.#look()
    }
    for (let week = 0; week < SETTLING_WEEKS; week++) yield* this.#advance(this.#machines.now + WEEK, true)
    yield* this.#look()
    return taken
  })

  /** The first instant from `at` on that comes long enough after everything that is due before. */
  #quietAfter(at: number, { isBegun, isTight }: Command) {
    return Effect.gen({ self: this }, function* () {
      let instant = at
      if (isTight) return at
      for (let waits = 0; waits < MAX_WAITS; waits++) {
        yield* this.#advance(instant, false)
        const busy = isBegun ? yield* this.#nextDueWithin(instant + ROOM_MILLIS) : undefined
        if (busy === undefined && instant - this.#lastDue >= QUIET_MILLIS) break
        instant = (busy ?? this.#lastDue) + QUIET_MILLIS
      }
      return instant
    })
  }

  /** When something is due next, if that is soon. */
  #nextDueWithin(until: number) {
    return Effect.map(Context.get(this.#memory, DueStore).nextDueAt, (next) => {
      const at = Option.getOrUndefined(next)?.epochMilliseconds
      return at === undefined || at > until ? undefined : at
    }).pipe(Effect.orDie)
  }

  /** A test clock goes in one way. With faults, it stops anywhere, and goes its last part without them. */
  #stopsOf(from: number, to: number): ReadonlyArray<number> {
    if (!this.#isStormy || to - from <= CALM_END) return [to]
    const count = this.#choice.int(1, MAX_STOPS)
    const stops = Array.from({ length: count }, () => this.#choice.int(from, to - CALM_END))
    return [...stops.toSorted((a, b) => a - b), to]
  }

  /** Does everything that is due until an instant, and moves the clock there. */
  #advance(to: number, mayBreak: boolean) {
    return Effect.gen({ self: this }, function* () {
      const due = Context.get(this.#memory, DueStore)
      if (this.#isStuck) return
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const next = Option.getOrUndefined(yield* due.nextDueAt)?.epochMilliseconds
        if (next === undefined || next > to) {
          yield* this.#machines.setTime(to)
          return
        }
        const earliest = Math.max(this.#machines.now, next)
        // What fails in a storm is tried again in time.
        const latest = to - RETRIES_MILLIS
        const isStormy = this.#isStormy && mayBreak && round < STORMY_ROUNDS && earliest <= latest
        const delay = isStormy ? this.#choice.pick(DELAYS)! : 0
        yield* this.#machines.setTime(isStormy ? Math.min(latest, earliest + delay) : earliest)
        this.#lastDue = Math.max(this.#lastDue, next)
        yield* this.#run(isStormy)
      }
      this.#isStuck = true
    }).pipe(Effect.orDie)
  }

  /** Lets runners work, one or several at once. */
  #run(isStormy: boolean) {
    return Effect.gen({ self: this }, function* () {
      const choice = this.#choice
      const { weather } = this.#shared
      weather.isCalm = !isStormy
      weather.isInstant = false
      const runners = isStormy
        ? this.#machines.all.filter((_, index) => index === 0 || choice.chance(0.6))
        : this.#machines.all.slice(0, 1)
      for (const { process, skew } of runners) {
        if (!isStormy) continue
        skew.millis = choice.pick(SKEWS)!
        if (skew.millis < 0) this.#recorder.injects("process: clock set back")
        if (choice.chance(0.5)) process.dieAt(choice.pick(BILLING_POINTS), choice.int(1, 4))
      }
      const limit = isStormy ? choice.pick([1, 3, 1_000])! : 1_000
      const { tenant } = newcomers()[0]!
      const runs = runners.map(({ process }) =>
        process.run(
          tenant,
          Effect.flatMap(BillingRuns, ({ runDue }) => runDue({ limit })),
        ),
      )
      yield* this.#machines.driven(
        Effect.all(
          runs.map((run) => Effect.exit(run)),
          { concurrency: "unbounded" },
        ),
      )
      yield* this.#machines.calm()
    })
  }

  /** Runs a command until its outcome is known. */
  #perform({ name, run, tenant }: Command, at: number) {
    return Effect.gen({ self: this }, function* () {
      const choice = this.#choice
      const { weather } = this.#shared
      const owner = newcomers()[tenant]!.tenant
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const isStormy = this.#isStormy && attempt < 3
        yield* this.#machines.setTime(at)
        weather.isCalm = !isStormy
        weather.isInstant = true
        if (name === "advance") weather.faultsLeft = FAULTS_OF_ADVANCE
        const { process } = choice.pick(this.#machines.all)!
        if (isStormy && choice.chance(0.3)) process.dieAt(choice.pick(BILLING_POINTS), choice.int(1, 3))
        const exit = yield* this.#machines.driven(Effect.exit(process.run(owner, run(this.#made))))
        yield* this.#machines.calm()
        if (Exit.isSuccess(exit)) return
        const error = Cause.squash(exit.cause) as { readonly _tag?: string; readonly name?: string }
        if (error._tag === "StorageError" || error.name === "ProcessDied") continue
        if (error._tag === undefined) this.#recorder.defects.push(`${name}: ${Cause.pretty(exit.cause)}`)
        return
      }
    })
  }

  /** Notes what issued invoices and credit notes state. */
  #look() {
    return Effect.gen({ self: this }, function* () {
      const snapshot = yield* Context.get(this.#memory, MemoryInspector).snapshot
      for (const stated of statedIn(snapshot)) {
        if (!this.#seen.has(stated.id)) this.#seen.set(stated.id, stated)
      }
    })
  }

  readonly books = Effect.suspend(() =>
    readBooks(this.#memory, {
      tenants: newcomers().map(({ tenant }) => tenant),
      now: this.#machines.now,
      seen: [...this.#seen.values()],
      writtenAt: this.#made.writtenAt,
    }),
  )

  kill(): void {
    this.#machines.kill()
  }
}
