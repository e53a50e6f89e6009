/**
 * Bills subscriptions as a service would: applies effects in their order, and keeps every line that it billed.
 */
import { assert } from "vitest"
import {
  type Documented,
  type Effect,
  fold,
  linesOf,
  type Period,
  type PeriodInput,
  type PeriodLine,
  type PlanVersion,
  type TermsOf,
  usageQueries,
  type UsageTotal,
} from "../../src/index.ts"

/** Usage of a meter. */
export interface Use {
  readonly at: number
  readonly quantity: number
  /** The value of the dimension by which some charges have lines. */
  readonly group?: string
}

export interface BookOptions {
  readonly plans: ReadonlyArray<PlanVersion>
  readonly usage?: ReadonlyArray<Use>
  readonly timezone?: string
  /** The percentage that a coupon takes off each line but credits, in whole percent. */
  readonly discount?: bigint
}

type Billed = PeriodLine & { readonly period: number; readonly line: string; readonly net: bigint }

export class Book {
  readonly lines: Array<Billed> = []
  readonly periods = new Map<number, Period>()
  /** What credit notes gave back of each line. */
  readonly forgiven: Record<string, bigint> = {}
  usage: ReadonlyArray<Use>
  readonly timezone: string
  readonly #discount: bigint
  readonly plans: ReadonlyArray<PlanVersion>
  #invoices = 0

  constructor({ discount = 0n, plans, timezone = "UTC", usage = [] }: BookOptions) {
    this.plans = plans
    this.usage = usage
    this.timezone = timezone
    this.#discount = discount
  }

  readonly termsOf: TermsOf = ({ key, version }) =>
    this.plans.find((one) => one.key === key && one.version === version)!.terms

  /** Usage is the sum of what happened in the span, by group where the charge asks for it. */
  totals(period: Period, until: number): ReadonlyArray<UsageTotal> {
    return usageQueries(period, this.timezone, this.termsOf, until).flatMap((query) => {
      const { after, before, charge, segment } = query
      const groups =
        charge.by === undefined ? [null] : [...new Set(this.usage.map(({ group = "" }) => group))]
      return groups.map((group): UsageTotal => {
        const sum = (from: number, to: number) => ({
          quantity: this.usage
            .filter((one) => from <= one.at && one.at < to && (group === null || one.group === group))
            .reduce((total, one) => total + one.quantity, 0),
        })
        const total = { segment, charge: charge.key, group, after: sum(after.start, after.end) }
        return before === null ? total : { ...total, before: sum(before.start, before.end) }
      })
    })
  }

  /** The lines of a period. `forgiven`: what credit notes gave back of lines. Default: all that they have so far. */
  documented(
    period: number,
    forgiven: Readonly<Record<string, bigint>> = this.forgiven,
  ): ReadonlyArray<Documented> {
    return this.lines
      .filter((one) => one.period === period)
      .map(({ charge, creditOf, gross, group, kind, line, net, quantity, segment }) => ({
        invoiceId: "invoice",
        lineId: line,
        kind,
        segment,
        charge,
        group,
        quantity,
        gross,
        net,
        creditOf,
        forgiven: forgiven[line] ?? 0n,
      }))
  }

  input(period: Period, until: number): PeriodInput {
    return {
      period,
      timezone: this.timezone,
      currency: "EUR",
      termsOf: this.termsOf,
      until,
      totals: this.totals(period, until),
      documented: this.documented(period.number),
    }
  }

  /** Gives back an amount by credit notes, as far as something is left of the lines. Gives what it gave back. */
  forgive(amount: number): number {
    let rest = BigInt(amount)
    for (const { creditOf, line, net } of this.lines) {
      if (creditOf !== null || rest === 0n) continue
      const credited = this.lines.filter((one) => one.creditOf?.lineId === line)
      const left = credited.reduce((sum, one) => sum + one.net, net) - (this.forgiven[line] ?? 0n)
      const part = left < rest ? left : rest
      this.forgiven[line] = (this.forgiven[line] ?? 0n) + part
      rest -= part
    }
    return amount - Number(rest)
  }

  /** What bills the usage of a period so far. */
  inputSoFar(period: Period, at: number): PeriodInput {
    return { ...this.input(period, at), totals: this.totals(period, period.end), soFar: true }
  }

  /** Bills the usage so far of the period that is open at an instant. */
  invoiceSoFar(at: number): ReadonlyArray<PeriodLine> {
    const open = [...this.periods.values()].find(({ end, start }) => start <= at && at < end)
    return open === undefined ? [] : this.invoice(at, open.number, (period) => this.inputSoFar(period, at))
  }

  /** Bills what periods differ from what was billed, all or the last ones, and gives the new lines. */
  invoice(
    until: number,
    from = 0,
    inputOf = (period: Period) => this.input(period, until),
  ): ReadonlyArray<PeriodLine> {
    const invoice = this.#invoices++
    const made: Array<PeriodLine> = []
    for (const period of this.periods.values()) {
      if (period.number < from) continue
      for (const [index, line] of linesOf(inputOf(period)).entries()) {
        assert.strictEqual(fold(line.steps, 2), line.amount)
        // Money goes back only of a line that was billed.
        assert.isTrue(line.amount >= 0n || line.creditOf !== null)
        const discount = line.creditOf === null ? (line.amount * this.#discount) / 100n : 0n
        made.push(line)
        this.lines.push({
          ...line,
          period: period.number,
          line: `${invoice}.${period.number}.${index}`,
          net: line.amount - discount,
        })
      }
    }
    return made
  }

  apply(effects: ReadonlyArray<Effect>): ReadonlyArray<PeriodLine> {
    return effects.flatMap((effect) => {
      if (effect.kind === "event") return []
      this.periods.set(effect.period.number, effect.period)
      return effect.kind === "invoice" ? this.invoice(effect.at, effect.period.number - 1) : []
    })
  }
}

/** A line in short: `advance base 1000`. */
export const lineText = ({ amount, charge, group, kind }: PeriodLine): string =>
  [kind, charge ?? "minimum", ...(group === null ? [] : [group]), amount].join(" ")
