import { assert, describe, it } from "vitest"
import {
  type Charge,
  type Effect,
  linesOf,
  type PeriodLine,
  type PlanTerms,
  type PlanVersion,
  RatingError,
  usageQueries,
} from "../../src/index.ts"
import { Book, lineText } from "./Book.ts"
import { advance, at, changeTo, done, plan } from "./Subscriptions.ts"

const fee = (price: string, fields: Partial<Charge> = {}): Charge =>
  ({ key: "base", model: "flat", price: { EUR: price }, ...fields }) as Charge
const seats: Charge = { key: "seats", model: "unit", quantity: "seats", price: { EUR: "5.00" } }
const calls = (price: string, free = "1000"): Charge => ({
  key: "calls",
  model: "unit",
  meter: "api_calls",
  free,
  price: { EUR: price },
})
const of = (key: string, charges: ReadonlyArray<Charge>, fields: Partial<PlanTerms> = {}): PlanVersion =>
  plan(key, { charges, ...fields })

const january = at("2026-01-01")
const create = (to: PlanVersion, quantities = {}) =>
  done(null, { type: "create", plan: to, quantities, trial: null }, january)
const texts = (lines: ReadonlyArray<PeriodLine>) => lines.map(lineText)
const opened = (effects: ReadonlyArray<Effect>) =>
  effects.flatMap((effect) => (effect.kind === "open_period" ? [effect.period] : []))[0]!

describe("fees", () => {
  it("of three plans of 10.00 cost 3.23, 3.22 and 3.55 for 10, 10 and 11 of 31 days", () => {
    const plans = ["a", "b", "c"].map((key) => of(key, [fee("10.00")]))
    const book = new Book({ plans })
    const first = create(plans[0]!)
    const second = done(first.subscription, changeTo(plans[1]!), "2026-01-11T15:00:00Z")
    const third = done(second.subscription, changeTo(plans[2]!), "2026-01-21T08:00:00Z")
    assert.deepStrictEqual(
      [first, second, third].map(({ effects }) => texts(book.apply(effects))),
      [
        ["advance base 1000"],
        ["credit base -677", "advance base 677"],
        ["credit base -355", "advance base 355"],
      ],
    )
    const kept = [0, 1, 2].map((segment) =>
      book.lines.filter((line) => line.segment === segment).reduce((sum, { amount }) => sum + amount, 0n),
    )
    assert.deepStrictEqual(kept, [323n, 322n, 355n])
  })

  it("that do not change with the quantity get no lines", () => {
    const team = of("team", [fee("10.00"), seats])
    const book = new Book({ plans: [team] })
    const first = create(team, { seats: "2" })
    const more = done(first.subscription, { type: "change", quantities: { seats: "3" } }, "2026-01-11")
    assert.deepStrictEqual(texts(book.apply(first.effects)), ["advance base 1000", "advance seats 1000"])
    assert.deepStrictEqual(texts(book.apply(more.effects)), ["credit seats -677", "advance seats 1016"])
  })

  it("can be billed by the invoice of the next period", () => {
    const team = of("team", [seats])
    const book = new Book({ plans: [team] })
    const first = create(team, { seats: "2" })
    book.apply(first.effects)
    const change = { type: "change", quantities: { seats: "3" }, bill: "next_invoice" } as const
    const more = done(first.subscription, change, "2026-01-11")
    assert.deepStrictEqual(texts(book.apply(more.effects)), [])
    assert.deepStrictEqual(texts(book.apply(advance(more.subscription, "2026-02-01").effects)), [
      "credit seats -677",
      "advance seats 1016",
      "advance seats 1500",
    ])
  })

  it("of a stub are the share of the full period", () => {
    const basic = of("basic", [fee("31.00")])
    const book = new Book({ plans: [basic] })
    const made = done(
      null,
      { type: "create", plan: basic, trial: null, anchor: "2026-02-01" },
      "2026-01-12T10:00:00Z",
    )
    assert.deepStrictEqual(texts(book.apply(made.effects)), ["advance base 2000"])
  })

  it("in arrears are billed when their period is over", () => {
    const late = of("late", [fee("31.00", { timing: "arrears" })])
    const book = new Book({ plans: [late] })
    const made = create(late)
    assert.deepStrictEqual(texts(book.apply(made.effects)), [])
    const ended = done(made.subscription, { type: "cancel", at: "now" }, "2026-01-10T12:00:00Z")
    assert.deepStrictEqual(texts(book.apply(ended.effects)), ["usage base 1000"])
  })

  it("are given back when the subscription ends or pauses, unless they are kept", () => {
    const basic = of("basic", [fee("31.00")])
    const billed = (...commands: ReadonlyArray<readonly [Parameters<typeof done>[1], string]>) => {
      const book = new Book({ plans: [basic] })
      const made = create(basic)
      book.apply(made.effects)
      let { subscription } = made
      return commands.flatMap(([command, instant]) => {
        const after = done(subscription, command, instant)
        subscription = after.subscription
        return texts(book.apply(after.effects))
      })
    }
    const noon = "2026-01-11T12:00:00Z"
    // The day of the cancellation was served.
    assert.deepStrictEqual(billed([{ type: "cancel", at: "now" }, noon]), ["credit base -2000"])
    assert.deepStrictEqual(billed([{ type: "cancel", at: "now", credit: "none" }, noon]), [])
    const resumed = [{ type: "resume" }, "2026-01-21T12:00:00Z"] as const
    assert.deepStrictEqual(billed([{ type: "pause" }, noon], resumed), [
      "credit base -2000",
      "advance base 1100",
    ])
    // What was kept pays for the rest of the period.
    assert.deepStrictEqual(billed([{ type: "pause", credit: "none" }, noon], resumed), [])
  })

  it("of plans with other measures are all measured as the first one", () => {
    const billed = (from: "day" | "none" | "time", to: "day" | "none" | "time") => {
      const book = new Book({
        plans: [
          of("first", [fee("31.00")], { policy: { proration: from } }),
          of("second", [fee("310.00")], { policy: { proration: to } }),
        ],
      })
      const made = create(book.plans[0]!)
      const changed = done(made.subscription, changeTo(book.plans[1]!), "2026-01-16T18:00:00Z")
      return [made, changed].flatMap(({ effects }) => texts(book.apply(effects)))
    }
    for (const to of ["day", "time", "none"] as const) {
      assert.deepStrictEqual(billed("day", to), [
        "advance base 3100",
        "credit base -1600",
        "advance base 16000",
      ])
      assert.deepStrictEqual(billed("time", to), [
        "advance base 3100",
        "credit base -1525",
        "advance base 15250",
      ])
      assert.deepStrictEqual(billed("none", to), ["advance base 3100"])
    }
  })

  it("are measured as the first plan that served any time of the period", () => {
    const measured = (key: string, proration: "day" | "none") =>
      of(key, [fee("31.00")], { policy: { proration } })
    const book = new Book({ plans: [measured("first", "none"), measured("second", "day")] })
    const made = create(book.plans[0]!)
    const changed = done(made.subscription, changeTo(book.plans[1]!), "2026-01-01")
    assert.deepStrictEqual(
      [made, changed].flatMap(({ effects }) => texts(book.apply(effects))),
      ["advance base 3100", "credit base -3100", "advance base 3100"],
    )
  })

  it("without proration are due in full, and a change costs nothing until the next period", () => {
    const policy = { proration: "none" } as const
    const [small, large] = [of("small", [fee("10.00")], { policy }), of("large", [fee("99.00")], { policy })]
    const book = new Book({ plans: [small, large] })
    const made = create(small)
    const changed = done(made.subscription, changeTo(large), "2026-01-11")
    const next = advance(changed.subscription, "2026-02-01")
    assert.deepStrictEqual(
      [made, changed, next].map(({ effects }) => texts(book.apply(effects))),
      [["advance base 1000"], [], ["advance base 9900"]],
    )
  })
})

describe("usage over a change", () => {
  const usage = [
    { at: at("2026-01-05"), quantity: 800 },
    { at: at("2026-01-20"), quantity: 700 },
  ]
  const billed = (before: PlanVersion, after: PlanVersion) => {
    const book = new Book({ plans: [before, after], usage })
    const made = create(before)
    const changed = done(made.subscription, changeTo(after), "2026-01-11")
    const closed = advance(changed.subscription, "2026-02-01")
    return [made, changed, closed].flatMap(({ effects }) => texts(book.apply(effects)))
  }

  it("goes on at the position that it has reached: 0 and 25.00", () => {
    assert.deepStrictEqual(billed(of("old", [calls("0.10")]), of("new", [calls("0.05")])), [
      "usage calls 0",
      "usage calls 2500",
    ])
  })

  it("starts at zero again where the plan says so", () => {
    const restart = of("new", [calls("0.05", "500")], { policy: { usage_on_change: "restart" } })
    assert.deepStrictEqual(billed(of("old", [calls("0.10")]), restart), ["usage calls 0", "usage calls 1000"])
  })

  describe("when a price falls with the volume", () => {
    const volume = (key: string): Charge => ({
      key,
      model: "volume",
      meter: "api_calls",
      tiers: [{ up_to: "1000", price: { EUR: "0.10" } }, { price: { EUR: "0.01" } }],
    })
    const closed = (from: PlanVersion, to: PlanVersion, more: number, discount = 0n) => {
      const book = new Book({ plans: [from, to], usage: usage.slice(0, 1), discount })
      const made = create(from)
      const changed = done(made.subscription, changeTo(to), "2026-01-11")
      for (const { effects } of [made, changed]) book.apply(effects)
      book.usage = [...usage.slice(0, 1), { at: at("2026-01-20"), quantity: more }]
      const end = advance(changed.subscription, "2026-02-01")
      const lines = book.apply(end.effects)
      return { book, lines: texts(lines), credits: lines.filter(({ creditOf }) => creditOf !== null) }
    }
    const afterMore = (book: Book, more: number) => {
      book.usage = [...usage.slice(0, 1), { at: at("2026-01-20"), quantity: more }]
      return texts(book.invoice(at("2026-02-02")))
    }

    it("gives back of what the meter cost before, and never more than that", () => {
      const { lines } = closed(of("old", [calls("0.01", "0")]), of("new", [volume("calls")]), 700)
      // 1500 cost 15.00 and 800 would have cost 80.00. The old plan billed 8.00 of that.
      assert.deepStrictEqual(lines, ["credit calls -800", "usage calls 0"])
      const both = of("both", [volume("calls"), volume("calls_again")])
      assert.deepStrictEqual(closed(of("old", [calls("0.01", "0")]), both, 700).lines, [
        "credit calls -800",
        "usage calls 0",
        "usage calls_again 0",
      ])
    })

    it("names the line that the money was paid with, and takes back the same part of its discount", () => {
      const { book, credits, lines } = closed(
        of("old", [volume("calls")]),
        of("new", [volume("calls")]),
        700,
        50n,
      )
      assert.deepStrictEqual(lines, ["credit calls -3250", "usage calls 0"])
      const [line] = book.lines
      assert.deepStrictEqual(credits[0]?.creditOf, { invoiceId: "invoice", lineId: line!.line })
    })

    it("gives back of what the same charge billed before what others did", () => {
      const unit: Charge = { key: "per_call", model: "unit", meter: "api_calls", price: { EUR: "0.05" } }
      const plans = [1, 2].map((version) => plan("same", { charges: [volume("calls"), unit] }, version))
      assert.deepStrictEqual(closed(plans[0]!, plans[1]!, 700).lines, [
        "credit calls -6500",
        "usage calls 0",
        "usage per_call 3500",
      ])
    })

    it("gives back of several parts, the newest first, and of the same value only", () => {
      const by = (key: string): Charge => ({ ...volume(key), by: "project" })
      const plans = ["a", "b", "c"].map((key) => of(key, [by("calls")]))
      const at0 = january
      const book = new Book({
        plans,
        usage: [500, 100].map((quantity, index) => ({ at: at0, quantity, group: "xy"[index]! })),
      })
      const made = create(plans[0]!)
      const second = done(made.subscription, changeTo(plans[1]!), "2026-01-11")
      book.apply([...made.effects, ...second.effects])
      book.usage = [...book.usage, { at: at("2026-01-12"), quantity: 400, group: "x" }]
      const third = done(second.subscription, changeTo(plans[2]!), "2026-01-21")
      assert.deepStrictEqual(texts(book.apply(third.effects)), ["usage calls x 4000", "usage calls y 0"])
      book.usage = [...book.usage, { at: at("2026-01-22"), quantity: 300, group: "x" }]
      // 900 cost 90.00, and 1200 cost 12.00: all 40.00 of the second part, and 38.00 of the first.
      assert.deepStrictEqual(texts(book.apply(advance(third.subscription, "2026-02-01").effects)), [
        "credit calls x -3800",
        "credit calls x -4000",
        "usage calls x 0",
        "usage calls y 0",
      ])
    })

    it("follows usage that comes late and that is voided", () => {
      const { book } = closed(of("old", [volume("calls")]), of("new", [volume("calls")]), 700)
      const cost = () => book.lines.reduce((sum, { amount }) => sum + amount, 0n)
      assert.strictEqual(cost(), 1_500n)
      assert.deepStrictEqual(afterMore(book, 500), ["credit calls -200"])
      assert.strictEqual(cost(), 1_300n)
      assert.deepStrictEqual(afterMore(book, 100), ["adjustment calls 6700", "adjustment calls 1000"])
      assert.strictEqual(cost(), 9_000n)
    })
  })

  it("is not free where its part of the period is too short to be counted", () => {
    const capped: Charge = { ...calls("0.10", "0"), maximum: { EUR: "60.00" } }
    const restarting = (key: string) =>
      of(key, [capped], { policy: { proration: "none", usage_on_change: "restart" } })
    // Without proration, all of the period is the first part's.
    assert.deepStrictEqual(billed(restarting("old"), restarting("new")), [
      "usage calls 6000",
      "usage calls 6000",
    ])
    // A change on the first day: its 500 calls cost at most what the maximum is for a day, and all together 60.00.
    const book = new Book({ plans: [of("old", [capped]), of("new", [capped])] })
    const made = create(book.plans[0]!)
    const changed = done(made.subscription, changeTo(book.plans[1]!), "2026-01-01T15:00:00Z")
    book.usage = [{ at: january, quantity: 500 }]
    const first = texts(book.apply([...made.effects, ...changed.effects]))
    book.usage = [...book.usage, { at: at("2026-01-20"), quantity: 700 }]
    const rest = texts(book.apply(advance(changed.subscription, "2026-02-01").effects))
    assert.deepStrictEqual([first, rest], [["usage calls 194"], ["usage calls 5806"]])
  })

  it("asks for the usage before and after each change", () => {
    const plans = [of("old", [fee("1.00"), calls("0.10")]), of("new", [calls("0.05")])]
    const book = new Book({ plans })
    const changed = done(create(plans[0]!).subscription, changeTo(plans[1]!), "2026-01-11").subscription
    const queries = usageQueries(changed.period!, "UTC", book.termsOf, at("2026-02-01"))
    assert.deepStrictEqual(
      queries.map(({ after, before, charge, records, segment }) => ({
        segment,
        charge: charge.key,
        before,
        after,
        records,
      })),
      [
        {
          segment: 0,
          charge: "calls",
          before: null,
          after: { start: january, end: at("2026-01-11") },
          records: false,
        },
        {
          segment: 1,
          charge: "calls",
          before: { start: january, end: at("2026-01-11") },
          after: { start: january, end: at("2026-02-01") },
          records: false,
        },
      ],
    )
    assert.lengthOf(usageQueries(changed.period!, "UTC", book.termsOf, at("2026-01-31")), 1)
  })

  it("must be there: a missing total is named", () => {
    const plans = [of("old", [calls("0.10")])]
    const book = new Book({ plans })
    const period = opened(create(plans[0]!).effects)
    const input = { ...book.input(period, period.end), totals: [] }
    assert.throws(
      () => linesOf(input),
      RatingError,
      `totals must have one total of the charge "calls" from segment 0`,
    )
  })
})

describe("a trial", () => {
  const metered = of("metered", [
    fee("10.00"),
    { ...calls("0.10", "0"), minimum: { EUR: "50.00" }, maximum: { EUR: "60.00" } },
  ])
  const usage = [{ at: at("2026-01-05"), quantity: 800 }]
  const billed = (trialUsage: "free" | "charged") => {
    const book = new Book({ plans: [metered], usage })
    const input = { type: "create", plan: metered, trial: { days: 14 }, trialUsage } as const
    const made = done(null, input, january)
    book.apply(made.effects)
    return texts(book.apply(advance(made.subscription, "2026-01-15").effects))
  }

  it("shows its usage and charges 0", () => {
    assert.deepStrictEqual(billed("free"), ["usage calls 0", "advance base 1000"])
  })

  it("charges its usage if asked, without the minimum and maximum of a period", () => {
    assert.deepStrictEqual(billed("charged"), ["usage calls 8000", "advance base 1000"])
  })
})

describe("the minimum of a plan", () => {
  const minimum = { EUR: "31.00" }
  const usage = (quantity: number) => [{ at: at("2026-01-05"), quantity }]

  it("is filled up when usage costs less, and for the served part of the period", () => {
    const bounded = of("bounded", [calls("0.01", "0")], { minimum })
    const billed = (quantity: number, end: string) => {
      const book = new Book({ plans: [bounded], usage: usage(quantity) })
      const made = create(bounded)
      const after =
        end === ""
          ? advance(made.subscription, "2026-02-01")
          : done(made.subscription, { type: "cancel", at: "now" }, end)
      return texts(book.apply(after.effects))
    }
    assert.deepStrictEqual(billed(1_000, ""), ["usage calls 1000", "true_up minimum 2100"])
    assert.deepStrictEqual(billed(3_100, ""), ["usage calls 3100"])
    assert.deepStrictEqual(billed(500, "2026-01-10T12:00:00Z"), ["usage calls 500", "true_up minimum 500"])
  })

  it("counts the parts of all plans that have one, and their usage", () => {
    const plans = [
      of("old", [calls("0.01", "0")], { minimum }),
      of("new", [calls("0.01", "0")], { minimum: { EUR: "62.00" } }),
    ]
    const book = new Book({ plans, usage: usage(1_500) })
    const made = create(plans[0]!)
    const changed = done(made.subscription, changeTo(plans[1]!), "2026-01-11")
    book.apply([...made.effects, ...changed.effects])
    // 10 days of 31.00 and 21 of 62.00 are 52.00.
    assert.deepStrictEqual(texts(book.apply(advance(changed.subscription, "2026-02-01").effects)), [
      "usage calls 0",
      "true_up minimum 3700",
    ])
  })

  it("shrinks when usage comes late", () => {
    const bounded = of("bounded", [calls("0.01", "0")], { minimum })
    const book = new Book({ plans: [bounded], usage: usage(1_000) })
    const made = create(bounded)
    book.apply(made.effects)
    book.apply(advance(made.subscription, "2026-02-01").effects)
    book.usage = usage(2_000)
    assert.deepStrictEqual(texts(book.invoice(at("2026-02-02"))), [
      "adjustment calls 1000",
      "credit minimum -1000",
    ])
    book.usage = usage(9_000)
    assert.deepStrictEqual(texts(book.invoice(at("2026-02-03"))), [
      "adjustment calls 7000",
      "credit minimum -1100",
    ])
  })
})

describe("late usage", () => {
  const metered = of("metered", [calls("0.10", "0")])
  const bookOf = (discount: bigint) => {
    const book = new Book({ plans: [metered], usage: [{ at: at("2026-01-05"), quantity: 100 }], discount })
    const made = create(metered)
    book.apply(made.effects)
    book.apply(advance(made.subscription, "2026-02-01").effects)
    return book
  }

  it("is billed as the difference, with the original service period, and only once", () => {
    const book = bookOf(0n)
    book.usage = [{ at: at("2026-01-05"), quantity: 150 }]
    const [line] = book.invoice(at("2026-02-10"))
    assert.deepStrictEqual(
      [line && lineText(line), line?.periodStart, line?.periodEnd],
      ["adjustment calls 500", january, at("2026-02-01")],
    )
    assert.deepStrictEqual(texts(book.invoice(at("2026-02-11"))), [])
  })

  it("that was voided is given back, of the newest lines first", () => {
    const book = bookOf(0n)
    book.usage = [{ at: at("2026-01-05"), quantity: 150 }]
    book.invoice(at("2026-02-10"))
    book.usage = [{ at: at("2026-01-05"), quantity: 20 }]
    const credits = book.invoice(at("2026-02-12"))
    assert.deepStrictEqual(
      credits.map((line) => [lineText(line), line.creditOf?.lineId]),
      [
        ["credit calls -500", "2.0.0"],
        ["credit calls -800", "1.0.0"],
      ],
    )
    // Nothing is left of the newest line.
    book.usage = []
    const rest = book.invoice(at("2026-02-13"))
    assert.deepStrictEqual(
      rest.map((line) => [lineText(line), line.creditOf?.lineId]),
      [["credit calls -200", "1.0.0"]],
    )
  })

  it("is given back without the discount that it had", () => {
    const book = bookOf(10n)
    book.usage = [{ at: at("2026-01-05"), quantity: 50 }]
    assert.deepStrictEqual(texts(book.invoice(at("2026-02-10"))), ["credit calls -450"])
    book.usage = []
    assert.deepStrictEqual(texts(book.invoice(at("2026-02-12"))), ["credit calls -450"])
    assert.deepStrictEqual(texts(book.invoice(at("2026-02-13"))), [])
  })

  it("is given back only as far as something is left of the line", () => {
    const book = bookOf(0n)
    const [period] = [...book.periods.values()]
    const line = book.lines[0]!.line
    const billed = (quantity: number, forgiven: bigint) => {
      book.usage = [{ at: at("2026-01-05"), quantity }]
      return texts(
        linesOf({
          ...book.input(period!, period!.end),
          documented: book.documented(0, { [line]: forgiven }),
        }),
      )
    }
    assert.deepStrictEqual(billed(50, 200n), ["credit calls -500"])
    assert.deepStrictEqual(billed(50, 700n), ["credit calls -300"])
    assert.deepStrictEqual(billed(50, 1_000n), [])
    // What was forgiven is not billed again.
    assert.deepStrictEqual(billed(100, 700n), [])
  })
})

describe("usage that was billed so far", () => {
  it("has lines of 0 if it is restated, and otherwise none", () => {
    const billing = of("used", [
      { ...calls("0.10", "0"), by: "project" },
      { key: "images", model: "unit", meter: "images", burns: "credits", price: { credits: "2" } },
    ])
    const book = new Book({
      plans: [billing],
      usage: [
        { at: at("2026-01-05"), quantity: 100, group: "a" },
        { at: at("2026-01-06"), quantity: 200, group: "b" },
      ],
    })
    book.apply(create(billing).effects)
    const [period] = [...book.periods.values()]
    const made = book.invoiceSoFar(at("2026-01-20"))
    const burnt = made.find(({ burns }) => burns !== null)!.burns!.amount
    // The test keeps money only, so what was burnt is documented here.
    const documented = book
      .documented(0)
      .map((one) => (one.charge === "images" ? { ...one, gross: burnt, net: burnt } : one))
    const input = { ...book.input(period!, period!.end), documented }
    assert.deepStrictEqual(texts(linesOf(input)), [])
    const restated = linesOf({ ...input, isRestated: true })
    assert.deepStrictEqual(texts(restated), [
      "adjustment calls a 0",
      "adjustment calls b 0",
      "adjustment images 0",
    ])
    assert.deepInclude(restated[2]!.burns, { amount: 0n, gross: 0n, of: null })
  })
})

describe("a charge by a dimension", () => {
  it("has a line for each value, also for one that has no usage any more", () => {
    const grouped = of("grouped", [{ ...calls("0.10", "0"), by: "project" }])
    const book = new Book({
      plans: [grouped],
      usage: [
        { at: at("2026-01-05"), quantity: 100, group: "a" },
        { at: at("2026-01-06"), quantity: 200, group: "b" },
      ],
    })
    const made = create(grouped)
    book.apply(made.effects)
    assert.deepStrictEqual(texts(book.apply(advance(made.subscription, "2026-02-01").effects)), [
      "usage calls a 1000",
      "usage calls b 2000",
    ])
    book.usage = [{ at: at("2026-01-06"), quantity: 200, group: "b" }]
    assert.deepStrictEqual(texts(book.invoice(at("2026-02-02"))), ["credit calls a -1000"])
  })
})
