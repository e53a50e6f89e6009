/**
 * The world of a simulation of credits: hosts whose processes ask the same accounts at once, their faults, and the time
 * that passes in between.
 */
import { Customers, Tenant } from "@billwright/core"
import { MemoryInspector } from "@billwright/memory"
import { Cause, Context, Effect, Exit } from "effect"
import type { Choice } from "../world/Choice.ts"
import { Machines } from "../world/Machines.ts"
import type { Ports } from "../world/Observer.ts"
import { Receivers } from "../world/Receivers.ts"
import type { Recorder } from "../world/Recorder.ts"
import type { Memory } from "../world/Seeded.ts"
import { Weather } from "../world/Weather.ts"
import { accountName, type Ask, type Command, type CreditBooks, type Told, type Turn } from "./CreditBooks.ts"
import { decide, type Host, perform } from "./CreditCommands.ts"
import { CurrentCommand, observe, outcomeOf, type UnderWay } from "./Observed.ts"

/** 2026-11-21, 15:00. */
export const START = 1_795_273_200_000
const SECOND = 1_000
const HOUR = 3_600 * SECOND
const DAY = 24 * HOUR
/** Longer than any hold or grant of a run lasts. */
const SETTLING = 30 * DAY
const MIN_ROUNDS = 8
const MAX_ROUNDS = 24
/** How many ask at once, each as often as it is chosen. */
const CROWDS = [1, 1, 1, 2, 3, 8, 64]
const PAUSES = [0, 0, 1, 900, SECOND, 5 * SECOND, 61 * SECOND, HOUR]
/** How far the clock of a process may be off. */
const SKEWS = [0, 0, 0, -HOUR, -6 * SECOND, -40, 40, 6 * SECOND, HOUR]
const MAX_ATTEMPTS = 8
const STORMY_ATTEMPTS = 3
const STEPS = { millis: 20, most: 20_000 }

/** Where a process can be killed. */
const CRASH_POINTS = [
  "CreditStore.lock: in a transaction",
  "CreditStore.consumptionByKey: in a transaction",
  "CreditStore.write: in a transaction",
  "EventStore.publish: in a transaction",
  "Transactor.atomically: before",
  "Transactor.atomically: after",
  "Transactor.commit",
]

const TENANTS: ReadonlyArray<Tenant.Tenant> = [
  { accountId: Tenant.AccountId.make("acme"), mode: "live" },
  { accountId: Tenant.AccountId.make("acme"), mode: "test" },
]
const UNITS = ["token", "EUR"]

/** A bug that may be planted into the storage. */
export interface CreditMutations {
  readonly breakStorage?: ((ports: Ports) => Ports) | undefined
}

interface Account extends Host {
  readonly name: string
  readonly tenant: Tenant.Tenant
  readonly grants: Array<string>
  readonly holds: Array<string>
}

export class CreditsWorld {
  readonly #choice: Choice
  readonly #recorder: Recorder
  readonly #memory: Memory
  readonly #weather: Weather
  readonly #machines: Machines
  readonly #accounts: Array<Account> = []
  readonly #turns: Array<Turn> = []
  readonly #told: Array<Told> = []
  #count = 0

  constructor(choice: Choice, recorder: Recorder, memory: Memory, mutations: CreditMutations) {
    const { breakStorage = (same) => same } = mutations
    const ports = observe(breakStorage(memory), this.#turns)
    this.#choice = choice
    this.#recorder = recorder
    this.#memory = memory
    this.#weather = new Weather(choice.fork(), recorder)
    this.#machines = new Machines(
      {
        choice,
        recorder,
        weather: this.#weather,
        receivers: new Receivers(choice.fork(), recorder),
        time: { skippedMillis: 0 },
        dispatcher: null,
        invoices: {},
        portsOf: () => ports,
      },
      STEPS,
    )
  }

  /** Rounds of commands in faults. Then faults end, and each account is used once more, after all that time does. */
  readonly work = Effect.gen({ self: this }, function* () {
    const choice = this.#choice
    yield* this.#machines.start(choice.int(2, 3))
    yield* this.#machines.setTime(START)
    for (const tenant of TENANTS) yield* this.#begin(tenant)
    const rounds = choice.int(MIN_ROUNDS, MAX_ROUNDS)
    for (let round = 0; round < rounds; round++) {
      yield* this.#machines.setTime(this.#machines.now + choice.pick(PAUSES)!)
      const account = choice.pick(this.#accounts)!
      const asks = Array.from({ length: choice.pick(CROWDS)! }, () =>
        decide(choice, account, this.#machines.now),
      )
      yield* this.#ask(account, asks, STORMY_ATTEMPTS)
    }
    yield* this.#machines.setTime(this.#machines.now + SETTLING)
    for (const account of this.#accounts) {
      yield* this.#ask(account, [{ type: "balance" }], 0)
      yield* this.#ask(account, [{ type: "consume", amount: 1n }], 0)
    }
    this.#machines.kill()
  })

  readonly books = Effect.suspend(() =>
    Effect.map(Context.get(this.#memory, MemoryInspector).snapshot, ({ credits, events }): CreditBooks => ({
      credits,
      events,
      turns: this.#turns,
      told: this.#told,
    })),
  )

  /** A customer with an account for each unit. */
  #begin(tenant: Tenant.Tenant) {
    const create = Effect.flatMap(Customers, (all) => all.create({ name: "Ada", email: "ada@example.com" }))
    const run = this.#machines.all[0]!.process.run(tenant, create)
    return Effect.map(Effect.orDie(run), ({ id }) => {
      for (const unit of UNITS) {
        const name = accountName(tenant, id, unit)
        this.#accounts.push({ name, tenant, customerId: id, unit, grants: [], holds: [] })
      }
    })
  }

  /** Asks all of it at once, and again what has no answer. */
  #ask(account: Account, asks: ReadonlyArray<Ask>, stormyAttempts: number) {
    return Effect.gen({ self: this }, function* () {
      let open = asks.map((ask): Command => ({ number: ++this.#count, account: account.name, ask }))
      for (let attempt = 0; open.length > 0 && attempt < MAX_ATTEMPTS; attempt++) {
        this.#blow(attempt < stormyAttempts)
        const all = Effect.forEach(open, (command) => this.#attempt(account, command), {
          concurrency: "unbounded",
        })
        const isKnown = yield* this.#machines.driven(all)
        yield* this.#machines.calm()
        open = open.filter((_, index) => !isKnown[index])
      }
      for (const { ask, number } of open) this.#recorder.defects.push(`${ask.type} ${number} has no answer`)
    })
  }

  /** Asks once, and gives whether there is an answer. */
  #attempt(account: Account, command: Command) {
    return Effect.gen({ self: this }, function* () {
      const { process } = this.#choice.pick(this.#machines.all)!
      const underWay: UnderWay = { command, now: undefined, isWritten: false, read: undefined }
      const work = Effect.provideService(perform(command, account), CurrentCommand, underWay)
      const exit = yield* Effect.exit(process.run(account.tenant, work))
      const outcome = outcomeOf(exit)
      if (outcome === undefined) {
        const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
        const isFault = error instanceof Error && ["StorageError", "ProcessDied"].includes(error.name)
        if (!isFault) this.#recorder.defects.push(`${command.ask.type}: ${String(error)}`)
        return !isFault
      }
      if (underWay.read !== undefined) underWay.read.outcome = outcome
      this.#told.push({ command, outcome })
      if (outcome.type === "done") this.#learn(account, command, outcome.value)
      return true
    })
  }

  #learn({ grants, holds }: Account, { ask }: Command, value: unknown): void {
    const { id } = value as { readonly id: string }
    if (ask.type === "grant") grants.push(id)
    if (ask.type === "reserve") holds.push(id)
  }

  #blow(isStormy: boolean): void {
    const choice = this.#choice
    this.#weather.isCalm = !isStormy
    if (!isStormy) return
    for (const { process, skew } of this.#machines.all) {
      skew.millis = choice.pick(SKEWS)!
      if (skew.millis < 0) this.#recorder.injects("process: clock set back")
      if (skew.millis > 0) this.#recorder.injects("process: clock set forward")
      if (choice.chance(0.25)) process.dieAt(choice.pick(CRASH_POINTS)!, choice.int(1, 3))
    }
  }
}
