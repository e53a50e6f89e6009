import { assert, describe, it } from "vitest"
import {
  adjustPlanGrants,
  consumeCredits,
  type CreditAccount,
  type CreditChange,
  type CreditEntry,
  type CreditGrant,
  type CreditLedger,
  type Effect,
  type GrantTarget,
  extendHold,
  type CreditHold,
  linesOf,
  type Measure,
  NO_CREDITS,
  PAST_KINDS,
  planGrantsOf,
  type PlanVersion,
  releaseHold,
  reserveCredits,
  settleCredits,
  unusedSince,
  voidGrant,
} from "../../src/index.ts"
import { fc, holds } from "../property.ts"
import { Book } from "../subscriptions/Book.ts"
import { creations, END, run, scripts, START } from "../subscriptions/Scripts.ts"
import { advance, at, changeTo, creation, dates, done, plan } from "../subscriptions/Subscriptions.ts"

const granting = (key: string, amount: string, rollover?: { readonly maximum: string }): PlanVersion =>
  plan(key, { grants: [{ unit: "credits", amount, ...(rollover === undefined ? {} : { rollover }) }] })
const small = granting("small", "1000")
const large = granting("large", "5000")
const rolling = granting("rolling", "1000", { maximum: "300" })
const PLANS = [small, large, rolling]
const termsOf = ({ key }: { readonly key: string }) => PLANS.find((one) => one.key === key)!.terms

/** The account of a customer who has one subscription, as a store keeps it. */
class Account {
  account: CreditAccount = NO_CREDITS
  readonly grants = new Map<string, CreditGrant>()
  readonly holds = new Map<string, CreditHold>()
  readonly entries: Array<CreditEntry> = []

  ledger(now: number): CreditLedger {
    const live = ({ available, held, status }: CreditGrant) =>
      status === "pending" || available > 0n || held > 0n
    const lapsed = ({ expiresAt, status }: CreditHold) => status === "open" && expiresAt <= now
    return {
      account: this.account,
      grants: [...this.grants.values()].filter(live),
      holds: [...this.holds.values()].filter(lapsed),
    }
  }

  write({ account, entries, grants, holds: changed }: CreditChange): void {
    this.account = account
    for (const grant of grants) this.grants.set(grant.id, grant)
    for (const hold of changed) this.holds.set(hold.id, hold)
    this.entries.push(...entries)
  }

  /** Does what effects ask for, at an instant that may be late. */
  apply(effects: ReadonlyArray<Effect>, now: number): void {
    const made = new Map<string, CreditGrant>()
    const targets = effects.flatMap((effect) => {
      if (effect.kind !== "grant") return []
      const id = `${effect.period.number}`
      return planGrantsOf(effect.period, monthly, termsOf, () => 0).flatMap((one): Array<GrantTarget> => {
        const { amount, expiresAt, rollover } = one
        const known = this.grants.get(id) ?? made.get(id)
        if (known === undefined && amount === 0n) return []
        const left = { status: "pending", scope: null, available: 0n, held: 0n } as const
        const terms = { kind: "plan", amount, priority: 50, expiresAt, rollover, createdAt: now } as const
        const grant = known ?? { id, ...terms, ...left, effectiveAt: effect.at }
        made.set(id, grant)
        return [{ grant, amount, rollover, at: effect.at, end: expiresAt, past: this.pastOf(id) }]
      })
    })
    this.write(adjustPlanGrants(this.ledger(now), targets, now))
  }

  pastOf(id: string): ReadonlyArray<CreditEntry> {
    return this.entries.filter(
      ({ grantId, kind }) => grantId === id && PAST_KINDS.some((one) => one === kind),
    )
  }

  consume(amount: bigint, now: number): boolean {
    const result = consumeCredits(this.ledger(now), { amount, consumptionId: "c" }, now)
    if (result.type === "done") this.write(result.change)
    return result.type === "done"
  }

  settle(now: number): this {
    this.write(settleCredits(this.ledger(now), now))
    return this
  }

  get balance() {
    const { available, debt, held } = this.account
    return { available, held, debt }
  }

  get amounts() {
    return [...this.grants.values()].map(({ amount }) => amount)
  }
}
const monthly = { anchor: "2026-01-01", timezone: "UTC", unit: "month", count: 1 } as const

const of = (available: bigint, debt = 0n, held = 0n) => ({ available, held, debt })

describe("what a plan grants", () => {
  const startedWith = (of: PlanVersion, fields: object = {}, instant = "2026-04-01") => {
    const account = new Account()
    const made = done(null, { ...creation, plan: of, ...fields }, instant)
    account.apply(made.effects, at(instant))
    return { account, made }
  }

  it("is given at the start of each period, and ends with it", () => {
    const { account, made } = startedWith(small)
    assert.deepStrictEqual(account.balance, of(1_000n))
    account.consume(400n, at("2026-04-20"))
    const next = advance(made.subscription, "2026-05-01")
    account.apply(next.effects, at("2026-05-01"))
    assert.deepStrictEqual(account.balance, of(1_000n))
    assert.deepStrictEqual(
      account.entries.map(({ available, kind, at: when }) => [kind, available, ...dates(when)]),
      [
        ["grant", 1_000n, "2026-04-01"],
        ["consume", -400n, "2026-04-20"],
        ["expire", -600n, "2026-05-01"],
        ["grant", 1_000n, "2026-05-01"],
      ],
    )
  })

  it("is moved by the fee's fraction of time: 900 + 500 - 1,000 used leaves 400", () => {
    const { account, made } = startedWith(small)
    account.consume(1_000n, at("2026-04-10"))
    const changed = done(made.subscription, changeTo(large), "2026-04-28")
    account.apply(changed.effects, at("2026-04-28"))
    assert.deepStrictEqual(account.balance, of(400n))
    assert.deepStrictEqual(account.amounts, [1_400n])
    const { period } = changed.subscription
    const [{ steps } = { steps: [] }] = planGrantsOf(period!, monthly, termsOf, () => 0)
    assert.deepStrictEqual(
      steps.map(({ amount, from, granted, of: whole, plan: { key }, to }) => [
        key,
        granted,
        from,
        to,
        whole,
        amount,
      ]),
      [
        ["small", "1000", 0, 27, 30, 900n],
        ["large", "5000", 27, 30, 30, 500n],
      ],
    )
  })

  it("is taken back where the new plan grants less, and what was used beyond it is a debt", () => {
    const { account, made } = startedWith(large)
    account.consume(4_000n, at("2026-04-10"))
    const changed = done(made.subscription, changeTo(small), "2026-04-16")
    account.apply(changed.effects, at("2026-04-16"))
    // 2,500 + 500 - 4,000 used.
    assert.deepStrictEqual(account.balance, of(0n, 1_000n))
    const next = advance(changed.subscription, "2026-05-01")
    account.apply(next.effects, at("2026-05-01"))
    assert.deepStrictEqual(account.balance, of(0n))
  })

  it("counts what holds keep as used until they give it back", () => {
    const { account, made } = startedWith(large)
    const now = at("2026-04-10")
    const asked = { id: "h", amount: 4_500n, purpose: null, expiresAt: END }
    const reserved = reserveCredits(account.ledger(now), asked, now)
    if (reserved.type === "done") account.write(reserved.change)
    const later = at("2026-04-16")
    account.apply(done(made.subscription, changeTo(small), later).effects, later)
    assert.deepStrictEqual(account.balance, of(0n, 1_500n, 4_500n))
    const extended = extendHold(account.ledger(later), account.holds.get("h")!, END + 1, later)
    if (extended.type === "done") account.write(extended.change)
    const released = releaseHold(account.ledger(later), account.holds.get("h")!, later)
    if (released.type === "done") account.write(released.change)
    assert.deepStrictEqual(account.balance, of(3_000n))
  })

  it("is given for time that is served: a pause and a cancellation take back the rest", () => {
    const { account, made } = startedWith(small)
    const paused = done(made.subscription, { type: "pause" }, "2026-04-10T12:00:00Z")
    account.apply(paused.effects, at("2026-04-10T12:00:00Z"))
    assert.deepStrictEqual(account.amounts, [333n])
    const resumed = done(paused.subscription, { type: "resume" }, "2026-04-25")
    account.apply(resumed.effects, at("2026-04-25"))
    assert.deepStrictEqual(account.amounts, [333n + 200n])
    const ended = done(resumed.subscription, { type: "cancel", at: "now" }, "2026-04-28")
    account.apply(ended.effects, at("2026-04-28"))
    assert.deepStrictEqual(account.amounts, [433n])
    assert.deepStrictEqual(account.balance, of(433n))
    assert.deepStrictEqual(account.settle(at("2026-05-01")).balance, of(0n))
  })

  it("stays after a cancellation that keeps the fee", () => {
    const { account, made } = startedWith(small)
    const ended = done(made.subscription, { type: "cancel", at: "now", credit: "none" }, "2026-04-10")
    account.apply(ended.effects, at("2026-04-10"))
    assert.deepStrictEqual(account.balance, of(1_000n))
  })

  it("is whole in a trial, and is the fee's part in a shorter first period", () => {
    assert.deepStrictEqual(startedWith(small, { trial: { days: 3 } }).account.balance, of(1_000n))
    assert.deepStrictEqual(startedWith(small, { anchor: "2026-04-11" }).account.balance, of(323n))
  })

  it("stays up to a maximum for one more period, if the plan lets it roll over", () => {
    const { account, made } = startedWith(rolling)
    account.consume(500n, at("2026-04-20"))
    const next = advance(made.subscription, "2026-05-01")
    account.apply(next.effects, at("2026-05-01"))
    assert.deepStrictEqual(account.balance, of(1_300n))
    account.consume(1_100n, at("2026-05-20"))
    // What rolled over ends now, and of the 1,000 of May 200 are left: all of them stay.
    const last = advance(next.subscription, "2026-06-01")
    account.apply(last.effects, at("2026-06-01"))
    assert.deepStrictEqual(account.balance, of(1_200n))
  })
})

describe("any subscription", () => {
  const amounts = fc.integer({ min: 1, max: 200_000 })
  const measures = fc.constantFrom("day" as const, "time" as const, "none" as const)

  it("is granted what a fee of the same number costs, but in a trial", () => {
    holds(
      [creations, scripts, amounts, amounts, measures, measures],
      (input, script, one, two, measure, other) => {
        const priced = (version: PlanVersion, amount: number, proration: Measure): PlanVersion => ({
          ...version,
          terms: {
            ...version.terms,
            charges: [{ key: "base", model: "flat", price: { EUR: (amount / 100).toFixed(2) } }],
            grants: [{ unit: "EUR", amount: (amount / 100).toFixed(2) }],
            policy: { proration },
          },
        })
        const { effects, subscription } = run(input, script)
        const versions = effects.flatMap((effect) =>
          effect.kind === "event"
            ? []
            : effect.period.segments.flatMap(({ plan: of }) => (of === null ? [] : [of])),
        )
        const plans = [...new Set(versions.map(({ key }) => key))].map((key) =>
          key === "basic" ? priced(plan(key), one, measure) : priced(plan(key), two, other),
        )
        const book = new Book({ plans, timezone: subscription.periods.timezone })
        for (const effect of effects) {
          if (effect.kind !== "grant" || effect.period.trial !== null) continue
          const [granted] = planGrantsOf(effect.period, subscription.periods, book.termsOf, () => 2)
          const lines = linesOf({ ...book.input(effect.period, effect.at), documented: [] })
          // No more than the plans grant for a whole period.
          assert.isTrue((granted?.amount ?? 0n) <= BigInt(Math.max(one, two)))
          const fees = lines.reduce((sum, { gross }) => sum + gross, 0n)
          assert.strictEqual(granted?.amount ?? 0n, fees)
          assert.strictEqual(granted?.steps.reduce((sum, { amount }) => sum + amount, 0n) ?? 0n, fees)
        }
      },
      60,
    )
  })

  const commands = fc.array(
    fc.record({
      at: fc.integer({ min: at("2026-01-01"), max: at("2026-07-01") }),
      to: fc.constantFrom("small", "large", "rolling", "pause", "resume", "use"),
      amount: fc.integer({ min: 1, max: 3_000 }),
    }),
    { maxLength: 14 },
  )

  /** Asks for changes at their instants. Gives the account, and what was used of it. */
  const lived = (script: ReadonlyArray<{ at: number; to: string; amount: number }>, isLate: boolean) => {
    const account = new Account()
    const end = at("2026-08-01")
    const made = done(null, { ...creation, plan: small }, START)
    let { subscription } = made
    let used = 0n
    const effects: Array<Effect> = [...made.effects]
    const take = (
      after: { subscription: typeof subscription; effects: ReadonlyArray<Effect> },
      now: number,
    ) => {
      subscription = after.subscription
      if (isLate) effects.push(...after.effects)
      else account.apply(after.effects, now)
    }
    if (!isLate) account.apply(effects, START)
    for (const { amount, at: now, to } of script.toSorted((a, b) => a.at - b.at)) {
      take(advance(subscription, now), now)
      const { phase } = subscription
      const of = PLANS.find(({ key }) => key === to)
      if (to === "use") used += account.consume(BigInt(amount), now) ? BigInt(amount) : 0n
      else if (of !== undefined && phase === "active") take(done(subscription, changeTo(of), now), now)
      else if (to === "pause" && phase === "active") take(done(subscription, { type: "pause" }, now), now)
      else if (to === "resume" && phase === "paused") take(done(subscription, { type: "resume" }, now), now)
    }
    take(advance(subscription, end), end)
    if (isLate) account.apply(effects, end)
    return { account: account.settle(end), used }
  }

  const gone = ({ entries }: Account): bigint =>
    entries.filter(({ kind }) => kind === "expire").reduce((sum, { available }) => sum - available, 0n)

  it("keeps what it was granted, used and lost in balance, however often it is changed", () => {
    holds([commands], (script) => {
      const { account, used } = lived(script, false)
      const granted = account.amounts.reduce((sum, amount) => sum + amount, 0n)
      const { available, debt, held } = account.balance
      assert.strictEqual(held, 0n)
      assert.strictEqual(granted - used - gone(account), available - debt)
      for (const grant of account.grants.values()) {
        const own = account.entries.filter(({ grantId }) => grantId === grant.id)
        assert.strictEqual(
          grant.available,
          own.reduce((sum, one) => sum + one.available, 0n),
        )
      }
    })
  })

  /** What a grant of 100, from 0 to 50, has to be of since an instant. */
  const target = (
    account: Account,
    amount: bigint,
    rollover: CreditGrant["rollover"],
    at: number,
  ): GrantTarget => {
    const terms = {
      kind: "plan",
      amount: 100n,
      priority: 50,
      scope: null,
      effectiveAt: 0,
      expiresAt: 50,
    } as const
    const left = { status: "pending", available: 0n, held: 0n } as const
    const grant = account.grants.get("a") ?? { id: "a", ...terms, rollover, createdAt: 0, ...left }
    return { grant, amount, rollover, at, end: 50, past: account.pastOf("a") }
  }

  /** One period whose grant is used and moved, each in time or after the end of the period was written. */
  const moved = (
    rollover: CreditGrant["rollover"],
    used: bigint,
    amounts: ReadonlyArray<bigint>,
    isLate: boolean,
  ) => {
    const account = new Account()
    account.write(adjustPlanGrants(account.ledger(0), [target(account, 100n, rollover, 0)], 0))
    account.consume(used, 10)
    const end = 60
    if (isLate) account.settle(end)
    for (const [index, amount] of amounts.entries()) {
      const next = target(account, amount, rollover, 20 + index)
      const now = isLate ? end : next.at
      account.write(adjustPlanGrants(account.ledger(now), [next], now))
    }
    account.settle(end)
    const own = account.entries.filter(({ kind }) => kind === "expire")
    const [left] = account.grants.values()
    assert.strictEqual(
      left!.available,
      account.entries.reduce((sum, one) => (one.grantId === "a" ? sum + one.available : sum), 0n),
    )
    return {
      balance: account.balance,
      left: left!.available,
      unused: unusedSince(own, 50),
      gone: gone(account),
    }
  }

  it.each([
    {
      case: "leaves less that an invoice can burn",
      rollover: null,
      used: 40n,
      to: [48n],
      left: 0n,
      unused: 8n,
      debt: 0n,
    },
    { case: "covers once", rollover: null, used: 40n, to: [50n, 20n], left: 0n, unused: 0n, debt: 20n },
    { case: "leaves what rolled over", rollover: 30n, used: 0n, to: [50n], left: 30n, unused: 20n, debt: 0n },
  ])("a cut after the end was written $case", ({ debt, left, rollover: maximum, to, unused, used }) => {
    const rollover = maximum === null ? null : { maximum, expiresAt: 90 }
    const late = moved(rollover, used, to, true)
    assert.deepStrictEqual(late, { balance: of(left, debt), left, unused, gone: unused })
    assert.deepStrictEqual(late, moved(rollover, used, to, false))
  })

  const below = (most: bigint) => fc.bigInt({ min: 0n, max: most })

  it("comes to the same when its grant is used and moved, also after the end was written (J8)", () => {
    const moves = fc.array(below(150n), { maxLength: 5 })
    holds([fc.option(below(60n)), below(100n), moves], (maximum, used, amounts) => {
      const rollover = maximum === null ? null : { maximum, expiresAt: 90 }
      assert.deepStrictEqual(moved(rollover, used, amounts, true), moved(rollover, used, amounts, false))
    })
  })

  it("owes no more of a voided grant than was used beyond what the plan grants in the end", () => {
    holds([below(100n), fc.array(below(150n), { maxLength: 5 })], (used, amounts) => {
      const account = new Account()
      account.write(adjustPlanGrants(account.ledger(0), [target(account, 100n, null, 0)], 0))
      account.consume(used, 10)
      const voided = voidGrant(account.ledger(15), account.grants.get("a")!, 15)
      if (voided !== undefined) account.write(voided)
      for (const [index, amount] of amounts.entries()) {
        const now = 20 + index
        account.write(adjustPlanGrants(account.ledger(now), [target(account, amount, null, now)], now))
      }
      const granted = amounts.at(-1) ?? 100n
      assert.deepStrictEqual(account.balance, of(0n, used > granted ? used - granted : 0n))
    })
  })

  it("has the same grants, however late they are given (J8)", () => {
    holds([commands], (script) => {
      const unused = script.filter(({ to }) => to !== "use")
      const states = ({ account }: ReturnType<typeof lived>) => [
        account.balance,
        [...account.grants.values()].map((grant) => ({ ...grant, createdAt: 0 })),
        gone(account),
      ]
      assert.deepStrictEqual(states(lived(unused, true)), states(lived(unused, false)))
    })
  })
})
