/**
 * A line of an invoice. Amounts are integers of the currency's minor unit, and instants are in epoch milliseconds.
 */
import * as Exact from "../money/Exact.ts"
import type { Step } from "../rating/Step.ts"
import type { PlanVersionRef } from "../subscriptions/Subscription.ts"
import type { TaxRate } from "./Tax.ts"

/**
 * What a line bills. `advance`: a fee or a quantity before its period. `usage`: usage after its period. `credit`: money
 * back for time that was paid and not served. `adjustment`: the difference when a billed period is rated again. `item`:
 * a one-off charge or credit. `true_up`: what is missing to the minimum of a plan. `top_up`: credits that are bought.
 */
export type LineKind = "advance" | "usage" | "credit" | "adjustment" | "item" | "true_up" | "top_up"

/** The usage behind a line as it was when the line was made: which records, how many, and what they come to. */
export interface Receipt {
  readonly meter: string
  readonly where: Readonly<Record<string, ReadonlyArray<string>>>
  /** The span of the usage, half open. Over a change of plan that continues, it begins before the line. */
  readonly periodStart: number
  readonly periodEnd: number
  /** The total of the records, as an exact text: a decimal or a fraction. */
  readonly total: string
  readonly recordCount: number
}

/** Credits that usage burns. */
export interface Burnt {
  readonly unit: string
  /** How many decimals the unit had. Lines from before units had any don't say it: 0. */
  readonly decimals?: number
  /** In the smallest part of the unit. Below 0: they are given back. */
  readonly amount: bigint
  /** The amount. Where several lines give back of one charge, the first has the amounts of all, and the others 0. */
  readonly gross: bigint
  /** The line whose credits are given back. `null` for a line that burns. */
  readonly of: LineRef | null
}

/** What a line bills of a subscription. With the charge, it finds what was documented before of the same thing. */
export interface LineOrigin {
  readonly subscriptionId: string
  readonly plan: PlanVersionRef
  /** The number of the subscription's period, and the index of a segment of it. */
  readonly period: number
  readonly segment: number
  /** The value of the dimension that the charge has a line for each of. `null` for other charges. */
  readonly group: string | null
  /**
   * The amount of a credit with the discounts of what it gives back. Where several credits give back of one charge, the first
   * has that of all, and the others 0. Of all other lines, the amount.
   */
  readonly gross: bigint
  /** The credits that the line burns instead of costing money: its amount is 0. */
  readonly burns?: Burnt | null
}

/** A line before discounts and taxes are known. */
export interface LineInput {
  readonly id: string
  readonly kind: LineKind
  /** What it bills of a subscription. `null` for an item of the customer. */
  readonly origin: LineOrigin | null
  /** The key of the charge. `null` for an item, and for the minimum of a plan. */
  readonly charge: string | null
  readonly description: string
  /** The service period, half open. Both are `null` for a line without one. */
  readonly periodStart: number | null
  readonly periodEnd: number | null
  /** The quantity, as an exact text. `null` for a line without one. */
  readonly quantity: string | null
  /** The amount that counts, in the minor unit, before discounts. Negative for money back. */
  readonly amount: bigint
  /** The computation of `amount`: `fold` computes it again. */
  readonly steps: ReadonlyArray<Step>
  readonly receipt: Receipt | null
  /** What the tax rate depends on, such as `standard` or `reduced`: a word of the host's tax table. `null`: `standard`. */
  readonly taxCode: string | null
  /**
   * The rate that applies whatever today's table says. A credit gets the rate of the line that it gives back. `null`
   * for other lines.
   */
  readonly fixedTax: TaxRate | null
  /** The line of an earlier invoice that a credit gives money back of. `null` for other lines. */
  readonly creditOf: LineRef | null
}

/** A line of an invoice that was issued before. */
export interface LineRef {
  readonly invoiceId: string
  readonly lineId: string
}

/** A line of an invoice, with its part of the discounts and its tax rate. */
export interface Line extends LineInput {
  /** The discounts of this line together: 0 or more. */
  readonly discount: bigint
  /** The amount after discounts and without tax. The sum of a rate's lines is the base of its tax. */
  readonly net: bigint
  readonly tax: TaxRate
}

/** The steps of an amount that was not rated: a one-off charge, or a credit. */
export const stepsOfAmount = (amount: bigint, digits: number): ReadonlyArray<Step> => {
  const written = Exact.text(Exact.ofUnits(amount, digits))
  return [
    { type: "flat", amount: written },
    { type: "round", digits, amount: written },
  ]
}

/** Which lines a discount or a credit covers. Without plans and charges: all. With both, a line must match both. */
export interface Scope {
  readonly plans?: ReadonlyArray<string>
  readonly charges?: ReadonlyArray<string>
}

const includes = (keys: ReadonlyArray<string> | undefined, key: string | null): boolean =>
  keys === undefined || (key !== null && keys.includes(key))

/** The lines of a scope, or only those of them that bill one subscription. */
export interface Cover extends Scope {
  readonly subscriptionId?: string
}

/** Whether a line is covered. */
export const isCovered = (line: LineInput, cover: Cover | undefined): boolean =>
  includes(cover?.plans, line.origin?.plan.key ?? null) &&
  includes(cover?.charges, line.charge) &&
  (cover?.subscriptionId === undefined || cover.subscriptionId === line.origin?.subscriptionId)

/** Whether a scope names plans or charges. A scope that names none covers the whole invoice. */
export const isScoped = (scope: Scope | undefined): boolean =>
  scope?.plans !== undefined || scope?.charges !== undefined
