/**
 * What customers of the simulation do: commands at instants. All of it is chosen before the run, so that runs with and
 * without faults do the same.
 */
import { Customers, type Customer, Plans, Subscriptions, type TestClock, Usage } from "@billwright/core"
import { DateTime, Effect } from "effect"
import type { Choice } from "../world/Choice.ts"
import {
  archiveCoupon,
  createCoupon,
  createItem,
  creditNote,
  deleteItem,
  endRedemption,
  redeem,
  settle,
} from "./Adjustments.ts"
import { type Command, DAY, HOUR, makeOnce, timeOf, toSubscription } from "./Command.ts"
import { cancel, change, pause, resume, type Sent, uncancel } from "./Lifecycle.ts"
import { billItems, createOneOff, endDraft } from "./OneOffs.ts"
import { CALLS, plansOf, STORAGE } from "./Plans.ts"
import { taxedAs } from "./Taxation.ts"
import { advance, createClock, migrate } from "./Travel.ts"

const skipped = Effect.void

/** The tenant in test mode. */
export const TEST_TENANT = 1
/** How far test clocks go at the end, so that late usage is billed. */
const LAST_DAYS = 70

/** Subscriptions of a group renew at the same instants, so that they share invoices. Others may do so, too. */
const ALIGNED = { anchor: "2025-01-05", timezone: "Europe/Berlin" }
const GROUPED = { invoiceGroup: "all", ...ALIGNED }

/** A subscription, and what it is known by. */
interface Subscriber {
  readonly number: number
  readonly customer: number
  readonly plan: string
  readonly currency: string
}

/** What a script has of a tenant so far, by the numbers of commands. */
interface Known {
  readonly clocks: Array<number>
  readonly coupons: Array<number>
  readonly customers: Array<number>
  readonly items: Array<number>
  readonly oneOffs: Array<number>
  readonly records: Array<number>
  /** The subscriptions for which a coupon was redeemed. */
  readonly redeemed: Array<number>
  readonly subscriptions: Array<Subscriber>
}

const nothing = (): Known => ({
  clocks: [],
  coupons: [],
  customers: [],
  items: [],
  oneOffs: [],
  records: [],
  redeemed: [],
  subscriptions: [],
})

class Author {
  readonly #choice: Choice
  readonly commands: Array<Command> = []
  readonly #tenants: ReadonlyArray<Known>
  /** The test clocks of customers. */
  readonly #clockOf = new Map<number, number>()
  /** Customers that have one subscription at most. */
  readonly #single = new Set<number>()
  #tenant = 0

  constructor(choice: Choice, tenants: number) {
    this.#choice = choice
    this.#tenants = Array.from({ length: tenants }, nothing)
  }

  /** The customers that may have one more subscription. */
  get #free(): ReadonlyArray<number> {
    const { customers, subscriptions } = this.#known
    return customers.filter(
      (one) => !this.#single.has(one) || !subscriptions.some(({ customer }) => customer === one),
    )
  }

  get #known(): Known {
    return this.#tenants[this.#tenant]!
  }

  write(count: number): ReadonlyArray<Command> {
    const { length } = this.#tenants
    for (let tenant = 0; tenant < length; tenant++) {
      this.#tenant = tenant
      this.#push(1)
      if (tenant === TEST_TENANT && this.#choice.chance(0.7)) this.#clock()
      this.#customer()
      if (this.#choice.chance(0.8)) this.#coupon()
      this.#subscribe()
    }
    for (let n = 0; n < count; n++) {
      this.#tenant = this.#choice.int(0, length - 1)
      this.#one()
    }
    this.#tenant = TEST_TENANT
    for (const clock of this.#known.clocks) this.#add("advance", advance(clock, LAST_DAYS))
    return this.commands
  }

  #one(): void {
    const choice = this.#choice
    const { clocks, coupons, items, oneOffs, redeemed } = this.#known
    const target = choice.pick(this.#known.subscriptions)!.number
    choice.weighted<() => void>([
      [1, () => this.#push(choice.int(2, 4))],
      [1, () => this.#customer()],
      [1, () => this.#move()],
      [3, () => this.#subscribe()],
      [20, () => this.#use()],
      [2, () => this.#voidRecord()],
      [4, () => this.#change()],
      [2, () => this.#send("cancel", cancel(choice))],
      [1, () => this.#send("uncancel", uncancel)],
      [2, () => this.#send("pause", pause(choice))],
      [2, () => this.#send("resume", resume(choice))],
      [1, () => this.#coupon()],
      [coupons.length > 0 ? 3 : 0, () => this.#redeem(target)],
      [coupons.length > 0 ? 1 : 0, () => this.#add("archive coupon", archiveCoupon(choice.pick(coupons)!))],
      [redeemed.length > 0 ? 3 : 0, () => this.#add("end redemption", endRedemption(choice.pick(redeemed)!))],
      [6, () => this.#item()],
      [items.length > 0 ? 1 : 0, () => this.#add("delete item", deleteItem(choice.pick(items)!))],
      [5, () => this.#oneOff()],
      [oneOffs.length > 0 ? 5 : 0, () => this.#endDraft()],
      [3, () => this.#add("credit note", creditNote(choice, target))],
      [1, () => this.#add("void", settle(target, "void"))],
      [1, () => this.#add("write off", settle(target, "mark_uncollectible"))],
      [2, () => this.#migrate()],
      [clocks.length > 0 ? 6 : 0, () => this.#advance()],
    ])()
  }

  #add(name: string, run: Command["run"], isBegun = false): number {
    const number = this.commands.length
    const afterMillis =
      number < 9 ? HOUR : this.#choice.pick([1, HOUR / 2, 5 * HOUR, DAY, 3 * DAY, 11 * DAY])!
    const isTight = this.#choice.chance(0.25) && !isBegun
    this.commands.push({ number, tenant: this.#tenant, afterMillis, isTight, isBegun, name, run })
    return number
  }

  #push(version: number): void {
    this.#add("push", () => Effect.flatMap(Plans, ({ push }) => push({ plans: plansOf(version) })))
  }

  /** Moves the subscriptions of a plan to a version that they don't have. */
  #migrate(): void {
    const { plan } = this.#choice.pick(this.#known.subscriptions)!
    this.#push(this.#choice.int(2, 4))
    this.#add("migrate", migrate(plan), true)
  }

  #clock(): void {
    const number = this.commands.length
    this.#known.clocks.push(number)
    this.#add("clock", createClock(this.#choice, number))
  }

  #advance(): void {
    const clock = this.#choice.pick(this.#known.clocks)!
    this.#add("advance", advance(clock, this.#choice.pick([1, 20, 45, 130])))
  }

  #customer(isSingle = this.#choice.chance(0.5)): void {
    const number = this.commands.length
    const marker = `customer ${number}`
    const { clocks, customers } = this.#known
    const clock = this.#choice.chance(0.8) ? this.#choice.pick(clocks) : undefined
    if (clock !== undefined) this.#clockOf.set(number, clock)
    if (isSingle) this.#single.add(number)
    customers.push(number)
    const taxed = taxedAs(this.#choice)
    this.#add("customer", (made) =>
      Effect.gen(function* () {
        const { create, list } = yield* Customers
        const testClockId =
          clock === undefined ? null : ((made.clocks.get(clock) ?? null) as TestClock.TestClockId | null)
        const customer = yield* makeOnce(
          list,
          ({ name }) => name === marker,
          create({ name: marker, email: `c${number}@example.com`, testClockId, ...taxed }),
        )
        made.customers.set(number, customer.id)
      }),
    )
  }

  /** A customer is taxed by other rules from now on. */
  #move(): void {
    const customer = this.#choice.pick(this.#known.customers)!
    const taxed = taxedAs(this.#choice)
    this.#add("move", (made) => {
      const id = made.customers.get(customer)
      return id === undefined ? skipped : Effect.flatMap(Customers, ({ update }) => update(id, taxed))
    })
  }

  #coupon(): void {
    const number = this.commands.length
    this.#known.coupons.push(number)
    this.#add("coupon", createCoupon(this.#choice, number))
  }

  #redeem(subscription: number): void {
    this.#known.redeemed.push(subscription)
    this.#add("redeem", redeem(this.#choice.pick(this.#known.coupons)!, subscription))
  }

  #subscribe(): void {
    const choice = this.#choice
    const { coupons, subscriptions } = this.#known
    if (this.#free.length === 0) this.#customer(false)
    const customer = choice.pick(this.#free)!
    const clock = this.#clockOf.get(customer)
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
    const euroOrDollar = choice.pick(["EUR", "USD"])
    const currency = plan === "yen" ? "JPY" : euroOrDollar
    const coupon = choice.chance(0.3) ? choice.pick(coupons) : undefined
    const isGrouped = !this.#single.has(customer) && choice.chance(0.6)
    const isAligned = choice.chance(0.6)
    const number = this.commands.length
    subscriptions.push({ number, customer, plan, currency })
    if (coupon !== undefined) this.#known.redeemed.push(number)
    this.#add("subscribe", (made) =>
      Effect.gen(function* () {
        const { create, list } = yield* Subscriptions
        const now = yield* timeOf(made, clock)
        const customerId = made.customers.get(customer) as Customer.CustomerId | undefined
        const couponId = coupon === undefined ? undefined : made.coupons.get(coupon)
        if (customerId === undefined) return
        const subscription = yield* makeOnce(
          list,
          ({ metadata }) => metadata["command"] === String(number),
          create({
            customerId,
            plan,
            timezone,
            currency,
            metadata: { command: String(number) },
            ...(couponId === undefined ? {} : { coupon: couponId }),
            ...(isAligned ? ALIGNED : {}),
            ...(isGrouped ? GROUPED : {}),
            ...(plan === "team" ? { quantities: { seats } } : {}),
            ...(startsIn === undefined ? {} : { startAt: DateTime.add(now, { milliseconds: startsIn }) }),
            ...(trialDays === undefined ? {} : { trial: trialDays === null ? null : { days: trialDays } }),
          }),
        )
        made.subscriptions.set(number, subscription.id)
      }),
    )
  }

  #use(): void {
    const choice = this.#choice
    const owner = choice.pick(this.#known.customers)!
    const clock = this.#clockOf.get(owner)
    const { productId, unit } = choice.pick([CALLS, CALLS, STORAGE])
    const quantity = choice.pick([0, 1, 99, 250, 1_000, 1_001, 40_000])
    const lateness = choice.weighted([
      [6, 0],
      [2, 2 * HOUR],
      [2, 8 * DAY],
      [2, 40 * DAY],
    ])
    const number = this.commands.length
    // Records say when they were voided by the clock of the process alone.
    if (clock === undefined) this.#known.records.push(number)
    this.#add("use", (made) =>
      Effect.gen(function* () {
        const now = yield* timeOf(made, clock)
        const customerId = made.customers.get(owner) as Customer.CustomerId | undefined
        if (customerId === undefined) return
        const { record } = yield* (yield* Usage).record({
          customerId,
          productId,
          unit,
          quantity,
          timestamp: DateTime.subtract(now, { milliseconds: lateness }),
          idempotencyKey: `command ${number}`,
        })
        made.records.set(number, record.id)
        if (clock !== undefined) made.writtenAt.set(record.id, now.epochMilliseconds)
      }),
    )
  }

  #voidRecord(): void {
    const target = this.#choice.pick(this.#known.records)
    this.#add("void record", (made) => {
      const id = made.records.get(target ?? -1)
      return id === undefined ? skipped : Effect.flatMap(Usage, ({ voidRecord }) => voidRecord(id))
    })
  }

  /** A charge or a credit of a customer, or for one subscription of it. */
  #item(): void {
    const { currency, customer, number: subscription } = this.#choice.pick(this.#known.subscriptions)!
    const owner = { customer, currency, subscription: this.#choice.chance(0.5) ? undefined : subscription }
    const number = this.commands.length
    this.#known.items.push(number)
    this.#add("item", createItem(this.#choice, number, owner))
  }

  /** An invoice without a subscription, of lines, or of the items of a customer. */
  #oneOff(): void {
    const { customer, currency } = this.#choice.pick(this.#known.subscriptions)!
    const number = this.commands.length
    this.#known.oneOffs.push(number)
    if (this.#choice.chance(0.4)) this.#add("bill items", billItems(number, { customer, currency }))
    else this.#add("one-off", createOneOff(this.#choice, number, { customer, currency }))
  }

  #endDraft(): void {
    const action = this.#choice.pick(["finalize", "delete"] as const)
    this.#add(`${action} draft`, endDraft(this.#choice.pick(this.#known.oneOffs)!, action))
  }

  #change(): void {
    this.#send("change", change(this.#choice))
  }

  /** Sends something to a subscription. */
  #send(name: string, send: Sent): void {
    const { customer, number } = this.#choice.pick(this.#known.subscriptions)!
    const clock = this.#clockOf.get(customer)
    this.#add(
      name,
      toSubscription(number, (id, made) => Effect.flatMap(timeOf(made, clock), (now) => send(id, now))),
    )
  }
}

/** The commands of a run. */
export const scriptOf = (choice: Choice, tenants: number, count: number): ReadonlyArray<Command> =>
  new Author(choice, tenants).write(count)
