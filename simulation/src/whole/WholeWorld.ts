/**
 * One world of everything. Several processes send webhooks, bill and collect, and build meters. Clients record usage and
 * operate endpoints, customers subscribe, change and pay, hosts give credits, refund, void and erase, and test clocks
 * advance. All of it happens to the same customers, at once, in faults. Then the faults end, and everything is waited for.
 */
import { Customer, EventStore, Meters, RetryPolicy, Signal, type Tenant } from "@billwright/core"
import { MemoryInspector } from "@billwright/memory"
import { Context, Effect } from "effect"
import { BILLING_POINTS } from "../billing/BillingWorld.ts"
import type { Books } from "../billing/Books.ts"
import { type Command, type Made, nothingMade } from "../billing/Command.ts"
import { STORAGE } from "../billing/Plans.ts"
import { readBooks, statedIn } from "../billing/Reading.ts"
import { scriptOf, TEST_TENANT } from "../billing/Script.ts"
import { taxTable } from "../billing/Taxation.ts"
import { advance } from "../billing/Travel.ts"
import { type Asked, Collecting, type PaymentMutations } from "../payments/Collecting.ts"
import { cancelAll, MANY } from "../payments/PaymentCommands.ts"
import { CALL_POINTS, STORAGE_POINTS } from "../payments/PaymentsWorld.ts"
import { beginHost } from "../prepaid/PrepaidBeginning.ts"
import type { Transaction } from "../prepaid/PrepaidBooks.ts"
import type { PrepaidHost } from "../prepaid/PrepaidHost.ts"
import { readPrepaid } from "../prepaid/PrepaidReading.ts"
import { CREDIT_POINTS } from "../prepaid/PrepaidWorld.ts"
import { reconcileAll } from "../prepaid/UsageCommands.ts"
import { watch } from "../prepaid/Watched.ts"
import { auditOf, dispatcherOptions, drain } from "../Simulation.ts"
import type { Choice } from "../world/Choice.ts"
import { Clients } from "../world/Clients.ts"
import { type Known, newcomers } from "../world/Known.ts"
import { WEBHOOK_POINTS } from "../world/Nemesis.ts"
import { noted } from "../world/Noted.ts"
import type { Ports } from "../world/Observer.ts"
import type { Recorder } from "../world/Recorder.ts"
import type { Memory } from "../world/Seeded.ts"
import type { WholeHistory } from "./WholeBooks.ts"
import { HOST_COMMANDS } from "./WholeCommands.ts"

/** 2026-11-21, 15:00. */
export const START = 1_795_273_200_000
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const WEEK = 7 * DAY
const MIN_ROUNDS = 5
const MAX_ROUNDS = 10
/** How many commands of hosts are done at once, each as often as it is chosen. */
const CROWDS = [1, 2, 3, 5]
const PAUSES = [0, SECOND, MINUTE, HOUR, 9 * HOUR, DAY, 4 * DAY, 11 * DAY]
/** How late runners come. Later than in other simulations, so that much is due at once. */
const DELAYS = [0, MINUTE, HOUR, 9 * HOUR, 26 * HOUR]
/** How many commands a script has, beyond those that begin it. */
const SCRIPTED = 14
/** The most calls of clients beside other work. */
const MOST_CALLS = 2
/** The share of rounds of work in faults in which something happens to a whole process, or to the storage. */
const STRIKES = 0.2
/** How long the world goes on after the last command. All payments end in that time. */
const SETTLING_WEEKS = 12
/** How long dispatchers work at least on what is due after time has passed. */
const MOMENT = 1_100
/** How often dispatchers look for what is due when nothing tells them to. */
const POLL = 20 * SECOND

type HostOf = PrepaidHost & { readonly tenant: number }

/** The customers with test clocks, and what those show. */
const clockedIn = ({ clocks, customers }: Books): ReadonlyMap<string, number> => {
  const times = new Map(clocks.map(({ clock }) => [clock.id as string, clock.now.epochMilliseconds]))
  return new Map(
    customers.flatMap(({ id, testClockId }) => {
      const now = times.get(testClockId ?? "")
      return now === undefined ? [] : [[id, now] as const]
    }),
  )
}

/** Ports whose dispatchers can be told to look for what is due, as those of other processes tell them. */
const awakened = (ports: Ports, { subscribe }: Signal.Signal): Ports => {
  const events = Context.get(ports, EventStore)
  const either = Effect.map(Effect.all([events.committed, subscribe]), ([committed, told]) =>
    Effect.raceFirst(committed, told),
  )
  return Context.add(ports, EventStore, { ...events, committed: either })
}

export class WholeWorld {
  readonly #choice: Choice
  readonly #recorder: Recorder
  readonly #memory: Memory
  readonly #world: Collecting
  readonly #known: ReadonlyArray<Known> = newcomers()
  readonly #clients: Clients
  readonly #hosts: Array<HostOf> = []
  readonly #transactions: Array<Transaction> = []
  readonly #seen = new Map<string, Books["seen"][number]>()
  readonly #made: Made
  readonly #script: Array<Command>
  readonly #done = new Map<string, number>()
  #books: Omit<WholeHistory, "defects"> | undefined
  readonly #awaken = Signal.make()
  #count = 0

  constructor(choice: Choice, recorder: Recorder, memory: Memory, mutations: PaymentMutations) {
    const { breakProvider, breakStorage = (same) => same } = mutations
    const pointsOf = () =>
      choice.pick([BILLING_POINTS, CALL_POINTS, STORAGE_POINTS, CREDIT_POINTS, WEBHOOK_POINTS])
    this.#choice = choice
    this.#recorder = recorder
    this.#memory = memory
    this.#script = [...scriptOf(choice.fork(), this.#known.length, SCRIPTED)]
    this.#world = new Collecting({
      choice,
      recorder,
      memory,
      ports: awakened(watch(breakStorage(memory), this.#transactions), this.#awaken),
      breakProvider,
      tenants: this.#known.map(({ tenant }) => tenant),
      crashPoint: () => choice.pick<string>(pointsOf())!,
      delays: DELAYS,
      pollMillis: POLL,
      dispatcher: dispatcherOptions(choice),
      invoices: { tax: taxTable("exclusive") },
      beside: (isStormy) => this.#beside(isStormy),
      noting: noted(recorder, this.#known),
    })
    this.#made = {
      ...nothingMade(),
      stopsOf: (_, to) => [to],
      calm: () => {
        this.#world.shared.weather.isCalm = true
      },
    }
    this.#clients = new Clients(choice.fork(), recorder, this.#known, () => this.#living())
  }

  readonly work = Effect.gen({ self: this }, function* () {
    const [choice, world] = [this.#choice, this.#world]
    yield* world.machines.start(choice.int(2, 3))
    yield* world.setTime(START)
    yield* this.#clients.setUp
    for (const [index, { tenant }] of this.#known.entries()) yield* this.#begin(index, tenant)
    world.mayBeDown(START, 30 * DAY)
    const rounds = choice.int(MIN_ROUNDS, MAX_ROUNDS)
    const scripted = Math.ceil(this.#script.length / rounds)
    for (let round = 0; round < rounds; round++) {
      yield* world.advance(world.now + choice.pick(PAUSES)!)
      const script = this.#script.splice(0, scripted)
      // What begins a script is done in order: others need it.
      if (round < 3) for (const command of script) yield* world.perform(this.#scripted(command))
      else yield* world.perform(...script.map((command) => this.#scripted(command)))
      yield* world.perform(...this.#someOfHosts())
      if (choice.chance(0.4)) yield* this.#look()
    }
    yield* this.#end()
  })

  readonly books = Effect.suspend(() => Effect.succeed(this.#books!))

  #living() {
    return this.#world.machines.all.flatMap(({ process }) => (process.isDead ? [] : [process]))
  }

  #begin(index: number, tenant: Tenant.Tenant) {
    const { first } = this.#world
    const known = this.#known
    const begin = noted(this.#recorder, known)(
      first,
      tenant,
      Effect.gen({ self: this }, function* () {
        yield* (yield* Meters).create(STORAGE)
        const host = yield* beginHost(this.#choice, `host of ${index}`)
        this.#hosts.push({ ...host, tenant: index })
      }),
    )
    return Effect.orDie(first.run(tenant, begin))
  }

  /** A command of a tenant, which is counted when it was carried out. */
  #asked(tenant: number, name: string, work: Asked["work"]): Asked {
    const count = () => this.#done.set(name, (this.#done.get(name) ?? 0) + 1)
    return { tenant: this.#known[tenant]!.tenant, name, work: Effect.tap(work, () => Effect.sync(count)) }
  }

  #scripted({ name, run, tenant }: Command): Asked {
    return this.#asked(tenant, name, run(this.#made))
  }

  #someOfHosts(): ReadonlyArray<Asked> {
    const choice = this.#choice
    const host = this.#someHost()
    return Array.from({ length: choice.pick(CROWDS)! }, () => {
      const { decide, name } = choice.weighted(HOST_COMMANDS.map((each) => [each.weight, each] as const))
      const work = decide(choice, 10_000 + ++this.#count)(host)
      return this.#asked(host.tenant, name, work)
    })
  }

  /** Mostly the host of a customer with plan grants and top-ups, and sometimes that of any other that clients know. */
  #someHost(): HostOf {
    const choice = this.#choice
    const host = choice.pick(this.#hosts)!
    const other = choice.chance(0.3) ? choice.pick(this.#known[host.tenant]!.customers) : undefined
    if (other === undefined) return host
    const customerId = Customer.CustomerId.make(other)
    const known = this.#hosts.find((one) => one.customerId === customerId)
    if (known !== undefined) return known
    const made: HostOf = { customerId, recorded: new Map(), holds: [], records: [], tenant: host.tenant }
    this.#hosts.push(made)
    return made
  }

  /** Calls of clients, and faults of whole processes, while other work is done. */
  #beside(isStormy: boolean) {
    return Effect.gen({ self: this }, function* () {
      const choice = this.#choice
      this.#awaken.notify()
      const strike = isStormy && choice.chance(STRIKES) ? this.#strike() : Effect.void
      const calls = this.#world.isStormy ? this.#clients.calls(choice.int(0, MOST_CALLS)) : Effect.void
      yield* Effect.all([strike, calls], { concurrency: "unbounded" })
      if (isStormy || choice.chance(0.5)) yield* Effect.sleep(MOMENT)
    })
  }

  /** Kills or stops a process at some instant, or cuts all of them off from the storage. */
  #strike() {
    const choice = this.#choice
    const { recorder, weather } = this.#world.shared
    const { process } = choice.pick(this.#world.machines.all)!
    const strike = choice.pick([
      () => {
        recorder.injects("process: crash anywhere")
        process.kill()
      },
      () => {
        recorder.injects("process: stopped and continued")
        process.stop()
      },
      () => {
        recorder.injects("process: storage out of reach")
        weather.isOutage = true
      },
    ])
    return Effect.gen(function* () {
      yield* Effect.sleep(choice.int(0, 2_000))
      if (process.isDead) return
      strike()
      yield* Effect.sleep(choice.int(1_000, 8_000))
      process.resume()
      weather.isOutage = false
    })
  }

  #look() {
    const read = this.#world.machines.driven(Context.get(this.#memory, MemoryInspector).snapshot)
    return Effect.map(read, (snapshot) => {
      for (const stated of statedIn(snapshot)) {
        if (!this.#seen.has(stated.id)) this.#seen.set(stated.id, stated)
      }
    })
  }

  /** Ends the faults, and waits for everything. */
  #end() {
    const world = this.#world
    return Effect.gen({ self: this }, function* () {
      for (const command of this.#script.splice(0)) yield* world.perform(this.#scripted(command))
      for (const { tenant } of this.#known) {
        yield* world.perform({ tenant, name: "cancel", work: cancelAll(this.#hosts[0]!) })
      }
      yield* world.advance(world.now + WEEK)
      world.isStormy = false
      yield* this.#clients.settle
      for (const host of this.#hosts) {
        const { tenant } = this.#known[host.tenant]!
        yield* world.perform({ tenant, name: "reconcile", work: reconcileAll(host) })
      }
      for (let week = 0; week < SETTLING_WEEKS; week++) {
        yield* world.advance(world.now + WEEK)
        if (week % 3 !== 2) continue
        for (const clock of this.#made.clocks.keys()) {
          const { tenant } = this.#known[TEST_TENANT]!
          yield* world.perform({ tenant, name: "settle", work: advance(clock, 21)(this.#made) })
        }
      }
      yield* this.#look()
      this.#books = yield* this.#read()
      world.machines.kill()
    })
  }

  #read() {
    const [world, recorder] = [this.#world, this.#recorder]
    const tenants = this.#known.map(({ tenant }) => tenant)
    return Effect.gen({ self: this }, function* () {
      const { now } = world
      const quietSince = recorder.order
      const inspector = Context.get(this.#memory, MemoryInspector)
      const stuck = yield* drain(world.shared, inspector)
      yield* this.#clients.readTotals
      const stored = yield* inspector.snapshot
      const discrepancies = yield* auditOf(world.first, tenants)
      const books = yield* readBooks(this.#memory, {
        tenants,
        now,
        seen: [...this.#seen.values()],
        writtenAt: this.#made.writtenAt,
      })
      return {
        ...(yield* readPrepaid(this.#memory, tenants, world.first)),
        ...(yield* world.returned(MANY)),
        credits: stored.credits,
        payments: stored.payments,
        transactions: this.#transactions,
        recorded: this.#hosts.flatMap(({ recorded }) => [...recorded.values()]),
        facts: world.bank.facts,
        clocked: clockedIn(books),
        clockSlack: HOUR,
        done: this.#done,
        now,
        ...books,
        history: {
          ...recorder.history(),
          stored,
          discrepancies,
          quietSince,
          stuck,
          maxAttempts: { live: RetryPolicy.live.maxAttempts, test: RetryPolicy.test.maxAttempts },
        },
      }
    })
  }
}
