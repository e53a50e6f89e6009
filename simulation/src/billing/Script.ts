/**
 * What customers of the simulation do: commands at instants. All of it is chosen before the run, so that runs with and
 * without faults do the same.
 */
import {
  Customers,
  type CurrentTenant,
  Invoices,
  type Billing,
  Plans,
  type Subscription,
  Subscriptions,
  Usage,
} from "@billwright/core"
import { DateTime, Effect } from "effect"
import type { Choice } from "../world/Choice.ts"
import { CALLS, plansOf, STORAGE } from "./Plans.ts"

/** The ids of what the commands made, by the number of the command. */
export interface Made {
  readonly customers: Map<number, string>
  readonly subscriptions: Map<number, string>
  readonly records: Map<number, string>
}

type Services = Billing.Services | CurrentTenant

export interface Command {
  readonly number: number
  /** The index of the tenant. */
  readonly tenant: number
  /** How long after the command before it. */
  readonly afterMillis: number
  /** Whether it may come right after something is due, so that it matters what was done before it. */
  readonly isTight: boolean
  readonly name: string
  /** Does it once: repeated after an unknown outcome, it finds what it did. */
  readonly run: (made: Made) => Effect.Effect<void, unknown, Services>
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

const skipped = Effect.void

/** Sends a command to a subscription, unless an earlier attempt has changed it. */
const once = (
  made: Made,
  target: number,
  send: (id: string) => Effect.Effect<unknown, unknown, Services>,
): (() => Effect.Effect<void, unknown, Services>) => {
  let before: number | undefined
  return () =>
    Effect.gen(function* () {
      const id = made.subscriptions.get(target)
      if (id === undefined) return
      const { sequence } = yield* (yield* Subscriptions).get(id)
      before ??= sequence
      if (sequence === before) yield* send(id)
    })
}

/** Repeats of a command share what the first attempt has read. */
const command = (send: (id: string) => Effect.Effect<unknown, unknown, Services>, target: number) => {
  const attempts = new WeakMap<Made, () => Effect.Effect<void, unknown, Services>>()
  return (made: Made) => {
    const attempt = attempts.get(made) ?? once(made, target, send)
    attempts.set(made, attempt)
    return attempt()
  }
}

class Author {
  readonly #choice: Choice
  readonly commands: Array<Command> = []
  readonly #customers: Array<Array<number>>
  readonly #subscriptions: Array<Array<number>>
  readonly #records: Array<Array<number>>
  #tenant = 0

  constructor(choice: Choice, tenants: number) {
    this.#choice = choice
    const none = (): Array<Array<number>> => Array.from({ length: tenants }, () => [])
    this.#customers = none()
    this.#subscriptions = none()
    this.#records = none()
  }

  write(count: number): ReadonlyArray<Command> {
    for (let tenant = 0; tenant < this.#customers.length; tenant++) {
      this.#tenant = tenant
      this.#push(1)
      this.#customer()
      this.#subscribe()
    }
    for (let n = 0; n < count; n++) {
      this.#tenant = this.#choice.int(0, this.#customers.length - 1)
      this.#choice.weighted<() => void>([
        [1, () => this.#push(this.#choice.int(2, 4))],
        [1, () => this.#customer()],
        [3, () => this.#subscribe()],
        [12, () => this.#use()],
        [2, () => this.#voidRecord()],
        [4, () => this.#change()],
        [2, () => this.#cancel()],
        [1, () => this.#target("uncancel", (id) => Effect.flatMap(Subscriptions, (all) => all.uncancel(id)))],
        [2, () => this.#pause()],
        [2, () => this.#resume()],
        [2, () => this.#settle()],
      ])()
    }
    return this.commands
  }

  #add(name: string, run: Command["run"]): number {
    const number = this.commands.length
    const afterMillis =
      number < 9 ? HOUR : this.#choice.pick([1, HOUR / 2, 5 * HOUR, DAY, 3 * DAY, 11 * DAY])!
    const isTight = this.#choice.chance(0.25)
    this.commands.push({ number, tenant: this.#tenant, afterMillis, isTight, name, run })
    return number
  }

  #push(version: number): void {
    this.#add("push", () => Effect.flatMap(Plans, ({ push }) => push({ plans: plansOf(version) })))
  }

  #customer(): void {
    const number = this.commands.length
    const marker = `customer ${number}`
    this.#customers[this.#tenant]!.push(number)
    this.#add("customer", (made) =>
      Effect.gen(function* () {
        const { create, list } = yield* Customers
        const { data } = yield* list({ limit: 100 })
        const found = data.find(({ name }) => name === marker)
        const customer = found ?? (yield* create({ name: marker, email: `c${number}@example.com` }))
        made.customers.set(number, customer.id)
      }),
    )
  }

  #subscribe(): void {
    const choice = this.#choice
    const owner = choice.pick(this.#customers[this.#tenant]!)!
    const plan = choice.pick(["pro", "team", "weekly", "yen"])
    const startsIn = choice.weighted([
      [6, undefined],
      [1, -70 * DAY],
      [1, -9 * DAY],
      [1, 4 * DAY],
    ])
    const trialDays = choice.weighted([
      [4, undefined],
      [1, null],
      [1, 2],
      [1, 10],
    ])
    const timezone = choice.pick(["UTC", "Europe/Berlin", "America/New_York", "Pacific/Auckland"])
    const seats = String(choice.int(1, 9))
    const currency = choice.pick(["EUR", "USD"])
    const number = this.commands.length
    this.#subscriptions[this.#tenant]!.push(number)
    this.#add("subscribe", (made) =>
      Effect.gen(function* () {
        const { create, list } = yield* Subscriptions
        const { data } = yield* list({ limit: 100 })
        const found = data.find(({ metadata }) => metadata["command"] === String(number))
        const now = yield* DateTime.now
        const customerId = made.customers.get(owner)
        if (customerId === undefined) return yield* skipped
        const subscription =
          found ??
          (yield* create({
            customerId: customerId as never,
            plan,
            timezone,
            currency: plan === "yen" ? "JPY" : currency,
            metadata: { command: String(number) },
            ...(plan === "team" ? { quantities: { seats } } : {}),
            ...(startsIn === undefined ? {} : { startAt: DateTime.add(now, { milliseconds: startsIn }) }),
            ...(trialDays === undefined ? {} : { trial: trialDays === null ? null : { days: trialDays } }),
          }))
        made.subscriptions.set(number, subscription.id)
      }),
    )
  }

  #use(): void {
    const choice = this.#choice
    const owner = choice.pick(this.#customers[this.#tenant]!)!
    const { productId, unit } = choice.pick([CALLS, CALLS, STORAGE])
    const quantity = choice.pick([0, 1, 99, 250, 1_000, 1_001, 40_000])
    const lateness = choice.weighted([
      [6, 0],
      [2, 2 * HOUR],
      [2, 8 * DAY],
      [2, 40 * DAY],
    ])
    const number = this.commands.length
    this.#records[this.#tenant]!.push(number)
    this.#add("use", (made) =>
      Effect.gen(function* () {
        const now = yield* DateTime.now
        const customerId = made.customers.get(owner)
        if (customerId === undefined) return
        const { record } = yield* (yield* Usage).record({
          customerId: customerId as never,
          productId,
          unit,
          quantity,
          timestamp: DateTime.subtract(now, { milliseconds: lateness }),
          idempotencyKey: `command ${number}`,
        })
        made.records.set(number, record.id)
      }),
    )
  }

  #voidRecord(): void {
    const target = this.#choice.pick(this.#records[this.#tenant]!)
    this.#add("void record", (made) => {
      const id = made.records.get(target ?? -1)
      return id === undefined ? skipped : Effect.flatMap(Usage, ({ voidRecord }) => voidRecord(id))
    })
  }

  #target(name: string, send: (id: string) => Effect.Effect<unknown, unknown, Services>): void {
    const target = this.#choice.pick(this.#subscriptions[this.#tenant]!)!
    this.#add(name, command(send, target))
  }

  #change(): void {
    const choice = this.#choice
    const at = choice.pick(["now", "now", "period_end"] as const)
    const bill = choice.pick(["now", "next_invoice"] as const)
    const isOfPlan = choice.chance(0.5)
    const plan = choice.pick(["pro", "team", "weekly"])
    const quantities = { seats: String(choice.int(0, 12)) }
    const input: Subscription.ChangeSubscription = isOfPlan
      ? { plan, at, bill, ...(plan === "team" ? { quantities } : {}) }
      : { quantities, ...(choice.chance(0.5) ? { at } : {}), bill }
    this.#target("change", (id) => Effect.flatMap(Subscriptions, (all) => all.change(id, input)))
  }

  #cancel(): void {
    const choice = this.#choice
    const when = choice.pick(["now", "period_end", "later"] as const)
    const credit = choice.pick(["prorate", "none"] as const)
    this.#target("cancel", (id) =>
      Effect.gen(function* () {
        const now = yield* DateTime.now
        const at = when === "later" ? DateTime.add(now, { days: 17 }) : when
        yield* (yield* Subscriptions).cancel(id, { at, credit })
      }),
    )
  }

  #pause(): void {
    const choice = this.#choice
    const credit = choice.pick(["prorate", "none"] as const)
    const anchor = choice.pick(["keep", "now"] as const)
    const days = choice.pick([undefined, 6, 45])
    this.#target("pause", (id) =>
      Effect.gen(function* () {
        const now = yield* DateTime.now
        const date = days === undefined ? {} : { resumeAt: DateTime.add(now, { days }), anchor }
        yield* (yield* Subscriptions).pause(id, { credit, ...date })
      }),
    )
  }

  #resume(): void {
    const anchor = this.#choice.pick(["keep", "now"] as const)
    this.#target("resume", (id) => Effect.flatMap(Subscriptions, (all) => all.resume(id, { anchor })))
  }

  /** Voids or writes off the oldest open invoice of a subscription. */
  #settle(): void {
    const isVoid = this.#choice.chance(0.6)
    const target = this.#choice.pick(this.#subscriptions[this.#tenant]!)!
    const chosen = new WeakMap<Made, string | undefined>()
    this.#add(isVoid ? "void" : "write off", (made) =>
      Effect.gen(function* () {
        const subscriptionId = made.subscriptions.get(target)
        if (subscriptionId === undefined) return
        const { list, markUncollectible, void: cancel } = yield* Invoices
        if (!chosen.has(made)) {
          const { data } = yield* list({
            limit: 100,
            status: "open",
            subscriptionId: subscriptionId as never,
          })
          const [first] = data.toSorted(
            (a, b) => (a.periodEnd ?? 0) - (b.periodEnd ?? 0) || (a.total < b.total ? -1 : 1),
          )
          chosen.set(made, first?.id)
        }
        const id = chosen.get(made)
        if (id !== undefined) yield* isVoid ? cancel(id) : markUncollectible(id)
      }),
    )
  }
}

/** The commands of a run. */
export const scriptOf = (choice: Choice, tenants: number, count: number): ReadonlyArray<Command> =>
  new Author(choice, tenants).write(count)
