import { assert, describe, it } from "vitest"
import {
  type Charge,
  linesOf,
  type Period,
  type PlanTerms,
  Periods,
  type PlanVersion,
} from "../../src/index.ts"
import { fc, holds } from "../property.ts"
import { flatCharges, quantityCharges } from "../rating/Charges.ts"
import { Rational } from "../Rational.ts"
import { Book } from "./Book.ts"
import { creations, DAY, END, run, scripts, START } from "./Scripts.ts"
import { advance, at, basic, changeTo, creation, done, plan, pro, yearly } from "./Subscriptions.ts"

/** Charges with keys of their own, a meter or a quantity, and a timing that they may have. */
const chargeLists: fc.Arbitrary<ReadonlyArray<Charge>> = fc
  .array(fc.oneof(flatCharges, quantityCharges), { minLength: 1, maxLength: 4 })
  .map((charges) =>
    charges.map((charge, index) => {
      const named = { ...charge, key: `charge_${index}` }
      if (charge.model === "flat" || charge.quantity !== undefined) return named
      const { timing: _, ...usage } = named
      return { ...usage, meter: index % 2 === 0 ? "calls" : "bytes" } as Charge
    }),
  )

const uses = fc.array(
  fc.record({ at: fc.integer({ min: START, max: END }), quantity: fc.integer({ min: 0, max: 300 }) }),
  { maxLength: 30 },
)

const sums = (lines: ReadonlyArray<{ readonly charge: string | null; readonly gross: bigint }>) => {
  const byCharge: Record<string, bigint> = {}
  for (const { charge, gross } of lines) {
    byCharge[charge ?? "minimum"] = (byCharge[charge ?? "minimum"] ?? 0n) + gross
  }
  return Object.fromEntries(Object.entries(byCharge).filter(([, sum]) => sum !== 0n))
}

/** What a period costs when it is billed once, at the end. */
const atOnce = (book: Book, period: Period) => sums(linesOf({ ...book.input(period, END), documented: [] }))

describe("the lines of a period", () => {
  const measures = fc.constantFrom("day" as const, "time" as const, "none" as const)
  const minima = fc.option(
    fc.integer({ min: 0, max: 50_000 }).map((cents) => ({ EUR: (cents / 100).toFixed(2) })),
    {
      nil: undefined,
    },
  )
  const month = Periods.boundary({ anchor: "2026-02-01", timezone: "UTC", unit: "month", count: 1 }, 0)

  it("sum to the same, wherever the period is cut by a change to an equal plan (L1)", () => {
    const cuts = fc.array(fc.integer({ min: START + 1, max: month - 1 }), { maxLength: 4 })
    const januaryUses = uses.map((list) =>
      list.map((one) => ({ ...one, at: START + ((one.at - START) % (31 * DAY)) })),
    )
    holds(
      [chargeLists, januaryUses, cuts, measures, measures, minima],
      (charges, usage, at, measure, later, minimum) => {
        const hasUsage = charges.some(({ meter }) => meter !== undefined)
        // Later plans are measured as the first one is, whatever they say.
        const terms = (version: number): Partial<PlanTerms> => ({
          charges,
          policy: { proration: version === 1 ? measure : later },
          ...(minimum !== undefined && hasUsage ? { minimum } : {}),
        })
        const quantities = charges.some(({ quantity }) => quantity !== undefined) ? { seats: "2" } : {}
        const versions = [1, 2, 3, 4, 5].map((version) => plan("same", terms(version), version))
        const [first, ...others] = versions
        const billed = (instants: ReadonlyArray<number>) => {
          const book = new Book({ plans: versions, usage })
          let { effects, subscription } = done(null, { ...creation, plan: first!, quantities }, START)
          book.apply(effects)
          for (const [index, instant] of instants.toSorted((a, b) => a - b).entries()) {
            ;({ effects, subscription } = done(subscription, changeTo(others[index]!), instant))
            book.apply(effects)
          }
          const canceled = done(subscription, { type: "cancel", at: "period_end" }, month - 1)
          book.apply(advance(canceled.subscription, month).effects)
          return sums(book.lines)
        }
        assert.deepStrictEqual(billed(at), billed([]))
      },
      100,
    )
  })

  it("sum to what the period costs at once, after any script, and again after late usage (J3)", () => {
    holds(
      [creations, scripts, chargeLists, uses, uses, measures, minima, fc.constantFrom(0n, 10n, 33n)],
      (made, script, charges, usage, late, proration, minimum, discount) => {
        const withTerms = (one: PlanVersion, index: number): PlanVersion => ({
          ...one,
          terms: {
            ...one.terms,
            charges: charges.slice(index % 2),
            policy: { proration },
            ...(minimum === undefined ? {} : { minimum }),
          },
        })
        const weekly = plan("weekly", { interval: { unit: "week", count: 2 } })
        const plans = [basic, pro, yearly, weekly].map(withTerms)
        const book = new Book({ plans, usage, discount, timezone: made.timezone ?? "UTC" })
        book.apply(run(made, script).effects)
        for (const [round, used] of [usage, [...usage, ...late], late].entries()) {
          book.usage = used
          book.invoice(END + round)
          for (const period of book.periods.values()) {
            const documented = book.documented(period.number)
            if (discount === 0n) assert.deepStrictEqual(sums(documented), atOnce(book, period))
            for (const line of documented.filter(({ creditOf, gross }) => creditOf === null && gross > 0n)) {
              const credits = documented.filter(({ creditOf }) => creditOf?.lineId === line.lineId)
              assert.isTrue(credits.every(({ net }) => net < 0n))
              assert.isTrue(credits.reduce((left, { net }) => left + net, line.net) >= 0n)
            }
          }
          assert.deepStrictEqual(book.invoice(END + round), [])
        }
      },
      25,
    )
  })

  it("sum to the same with invoices of the usage so far, over any script and late usage", () => {
    const instants = fc.array(fc.integer({ min: START, max: END }), { minLength: 1, maxLength: 6 })
    holds(
      [creations, scripts, chargeLists, uses, uses, instants, minima],
      (made, script, charges, usage, late, thresholds, minimum) => {
        const withTerms = (one: PlanVersion, index: number): PlanVersion => ({
          ...one,
          terms: {
            ...one.terms,
            charges: charges.slice(index % 2),
            ...(minimum === undefined ? {} : { minimum }),
          },
        })
        const weekly = plan("weekly", { interval: { unit: "week", count: 2 } })
        const plans = [basic, pro, yearly, weekly].map(withTerms)
        const book = new Book({ plans, timezone: made.timezone ?? "UTC" })
        const left = thresholds.toSorted((a, b) => a - b)
        for (const effect of run(made, script).effects) {
          while (left[0] !== undefined && left[0] < effect.at) {
            const at = left.shift()!
            book.usage = usage.filter((one) => one.at <= at)
            book.invoiceSoFar(at)
            assert.deepStrictEqual(book.invoiceSoFar(at), [])
          }
          book.usage = usage.filter((one) => one.at <= effect.at)
          book.apply([effect])
        }
        book.usage = [...usage, ...late]
        book.invoice(END)
        for (const period of book.periods.values()) {
          if (period.end > END) continue
          assert.deepStrictEqual(sums(book.documented(period.number)), atOnce(book, period))
        }
      },
      60,
    )
  })

  describe("that credit notes gave back", () => {
    const rounds = fc.array(
      fc.record({ quantity: fc.integer({ min: 0, max: 300 }), forgiven: fc.integer({ min: 0, max: 300 }) }),
      { minLength: 1, maxLength: 8 },
    )
    const begun = (discount: bigint) => {
      const calls: Charge = { key: "calls", model: "unit", meter: "calls", price: { EUR: "0.01" } }
      const metered = plan("metered", { charges: [calls] })
      const book = new Book({ plans: [metered], discount })
      book.apply(done(null, { ...creation, plan: metered, quantities: {} }, START).effects)
      const [period] = [...book.periods.values()]
      const bill = (quantity: number) => {
        book.usage = [{ at: START, quantity }]
        book.invoice(period!.end)
        const sum = (of: "gross" | "net") => book.lines.reduce((all, line) => all + line[of], 0n)
        return { gross: sum("gross"), net: sum("net") }
      }
      return { book, bill }
    }

    it("are not billed again, and not given back twice", () => {
      holds([rounds], (list) => {
        const { bill, book } = begun(0n)
        let given = 0
        for (const { forgiven, quantity } of list) {
          // What credit notes gave back can't be credited again: so much stays billed.
          const billed = Math.max(quantity, given)
          assert.strictEqual(bill(quantity).net, BigInt(billed))
          given += book.forgive(Math.min(forgiven, billed - given))
        }
      })
    })

    it("keep the part of the discount that they had", () => {
      holds([rounds], (list) => {
        const { bill, book } = begun(33n)
        let given = 0
        for (const { forgiven, quantity } of list) {
          const { gross, net } = bill(quantity)
          // All is billed, or more than that, because nothing is left to give back.
          assert.isTrue(gross === BigInt(quantity) || (gross > BigInt(quantity) && net === BigInt(given)))
          // Each line and each credit is rounded once.
          assert.isTrue(Math.abs(Number(net) - Number(gross) * 0.67) <= book.lines.length)
          given += book.forgive(Math.min(forgiven, Number(net) - given))
        }
      })
    })
  })

  it("cost what an independent computation says, however often the seats change", () => {
    const changes = fc.array(
      fc.tuple(fc.integer({ min: START, max: START + 100 * DAY }), fc.integer({ min: 0, max: 20 })),
      { maxLength: 8 },
    )
    const prices = fc.integer({ min: 1, max: 99_999 }).map((cents) => (cents / 100).toFixed(2))
    holds(
      [changes, prices],
      (list, price) => {
        const seats: Charge = { key: "seats", model: "unit", quantity: "seats", price: { EUR: price } }
        const team = plan("team", { charges: [seats] })
        const ordered = list.toSorted(([a], [b]) => a - b)
        const book = new Book({ plans: [team] })
        let { effects, subscription } = done(
          null,
          { ...creation, plan: team, quantities: { seats: "3" } },
          START,
        )
        book.apply(effects)
        for (const [instant, count] of ordered) {
          const change = { type: "change", quantities: { seats: `${count}` }, at: "now" } as const
          ;({ effects, subscription } = done(subscription, change, instant))
          book.apply(effects)
        }
        book.apply(advance(subscription, "2026-06-01").effects)
        // Day by day: how many seats there were at the end of each day of a month. Equal days in a row are billed together.
        for (const [month, length] of [31, 28, 31, 30, 31].entries()) {
          const first = at(`2026-0${month + 1}-01`)
          const onDay = (day: number) =>
            ordered.filter(([instant]) => instant < first + (day + 1) * DAY).at(-1)?.[1] ?? 3
          const upTo = (count: number, day: number) =>
            Rational.of(price)
              .times(Rational.of(count * 100))
              .times(new Rational(BigInt(day), BigInt(length)))
              .nearest()
          let expected = 0n
          let begin = 0
          for (let day = 1; day <= length; day++) {
            if (day < length && onDay(day) === onDay(day - 1)) continue
            expected += upTo(onDay(begin), day) - upTo(onDay(begin), begin)
            begin = day
          }
          const billed = book.lines
            .filter(({ periodStart }) => periodStart >= first && periodStart < first + length * DAY)
            .reduce((sum, { gross }) => sum + gross, 0n)
          assert.strictEqual(billed, expected)
        }
      },
      60,
    )
  })
})
