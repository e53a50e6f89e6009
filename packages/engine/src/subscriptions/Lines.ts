/**
 * The lines of a period: what it costs by now, less what earlier documents billed of it.
 *
 * It is one formula for fees in advance, credits for unused time, usage, changes of plan and late usage. A line is the
 * difference between the target of its run and everything that was documented for the run. So the lines of a period
 * always sum to its cost, however often it was billed.
 */
import { isUsageForMoney } from "../catalog/Charge.ts"
import * as Exact from "../money/Exact.ts"
import { creditLines } from "./Credits.ts"
import { Explained } from "./Explained.ts"
import type { PeriodInput } from "./PeriodInput.ts"
import type { Documented, LineSubject, PeriodLine, PeriodLineKind } from "./PeriodLine.ts"
import { type Denomination, digitsOf, raterOf } from "./Raters.ts"
import { isAdvance, isFee, type Run, runsOf } from "./Runs.ts"
import { isSettled } from "./Settled.ts"
import { quantityText, type RatedUsage, rateUsage, receiptOf } from "./Usage.ts"

const isOf = (
  { charge, group, segment }: Pick<LineSubject, "charge" | "group" | "segment">,
  one: Documented,
): boolean => one.segment === segment && one.charge === charge && one.group === group

/**
 * The difference between a target and what was documented, as lines: none, one, or credits of several lines. A difference
 * of 0 has a line only if nothing was documented, or if it is restated.
 */
const difference = (
  subject: LineSubject,
  target: Explained,
  all: ReadonlyArray<Documented>,
  first: PeriodLineKind,
  isRestated = false,
): ReadonlyArray<PeriodLine> => {
  const documented = all.filter((one) => isOf(subject, one))
  const change = documented.reduce((left, one) => left.less(one.gross, one), target)
  if (change.amount < 0n && documented.length > 0)
    return creditLines(subject, target.amount, change, documented)
  if (change.amount === 0n && documented.length > 0 && !isRestated) return []
  const kind = documented.length === 0 ? first : "adjustment"
  const { amount, steps } = change
  return [{ ...subject, kind, amount, gross: amount, steps, creditOf: null, burns: null }]
}

/** A line whose amounts are credits of a unit: it burns them, and is of no money. */
const burning = (line: PeriodLine, unit: string, digits: number): PeriodLine => {
  const { amount, creditOf, gross, steps } = line
  const credits = Exact.text(Exact.ofUnits(amount, digits))
  return {
    ...line,
    kind: line.kind === "credit" ? "adjustment" : line.kind,
    amount: 0n,
    gross: 0n,
    steps: [...steps, { type: "burn", unit, credits, amount: "0" }],
    creditOf: null,
    burns: { unit, decimals: digits, amount, gross, of: creditOf },
  }
}

const subjectOf = (run: Run, group: string | null, quantity: string | null): LineSubject => ({
  plan: run.plan,
  segment: run.segment,
  charge: run.charge.key,
  group,
  description: run.charge.name ?? run.charge.key,
  periodStart: run.start,
  periodEnd: run.end,
  quantity,
  receipt: null,
})

/** What a fee costs for its run: its price up to the end of the run, less its price up to the run. */
const feeOf = ({ charge, quantity, share }: Run, denomination: Denomination): Explained => {
  const { digits, rates } = raterOf(charge, denomination)
  const before = rates.amount(quantity ?? 0n, { share: [share.from, share.of] })
  return Explained.of(rates.rate(quantity ?? 0n, { share: [share.to, share.of] }), digits).less(before)
}

const feeLines = (run: Run, input: PeriodInput): ReadonlyArray<PeriodLine> => {
  const subject = subjectOf(run, null, run.quantity)
  const isDue = isAdvance(run.charge) || run.end <= input.until
  const isBilled = input.documented.some((one) => isOf(subject, one))
  if (!isBilled && (!isDue || run.share.from === run.share.to)) return []
  const target = feeOf(run, input)
  return difference(subject, target, input.documented, isAdvance(run.charge) ? "advance" : "usage")
}

const usageLines = (usage: ReadonlyArray<RatedUsage>, input: PeriodInput): ReadonlyArray<PeriodLine> =>
  usage.flatMap(({ explained, run, total }) => {
    const subject = subjectOf(run, total.group, quantityText(total.after))
    const receipt = receiptOf(run, total, input.period)
    const { documented, isRestated = false } = input
    const lines = difference({ ...subject, receipt }, explained, documented, "usage", isRestated)
    const { burns } = run.charge
    if (burns === undefined) return lines
    const { digits } = raterOf(run.charge, input)
    return lines.map((line) => burning(line, burns, digits))
  })

/** The line that raises usage to the minimum of the plan, for the part of the period that was served. */
const trueUpLines = (
  runs: ReadonlyArray<Run>,
  usage: ReadonlyArray<RatedUsage>,
  input: PeriodInput,
  digits: number,
): ReadonlyArray<PeriodLine> => {
  const { currency, documented, period, until } = input
  const last = period.segments.at(-1)!
  const bounded = runs.filter(({ terms }) => terms.minimum?.[currency] !== undefined)
  // All usage of a plan has the same runs, so one of each stands for the plan.
  const parts = bounded.filter(
    ({ segment }, index) => bounded.findIndex((one) => one.segment === segment) === index,
  )
  const [first] = parts
  if (first === undefined || period.trial !== null || last.end > until) return []
  const minima = parts.map(({ share: { from, of, to }, terms }) =>
    Exact.multiply(
      Exact.ofDecimal(terms.minimum![currency]!),
      Exact.ofFraction(BigInt(to - from), BigInt(of)),
    ),
  )
  const exact = minima.reduce(Exact.add, Exact.zero)
  const amount = Exact.roundTo(exact, digits)
  const rounded = Exact.text(Exact.ofUnits(amount, digits))
  const minimum = new Explained(
    amount,
    [
      ...minima.map((one) => ({ type: "flat", amount: Exact.text(one) }) as const),
      { type: "round", digits, amount: rounded },
    ],
    digits,
  )
  const cost = usage
    .filter(
      ({ run: { charge, terms } }) => isUsageForMoney(charge) && terms.minimum?.[currency] !== undefined,
    )
    .reduce((sum, { explained }) => sum + explained.amount, 0n)
  const subject: LineSubject = {
    plan: first.plan,
    segment: first.segment,
    charge: null,
    group: null,
    description: "Minimum",
    periodStart: first.start,
    periodEnd: last.end,
    quantity: null,
    receipt: null,
  }
  const target = minimum.less(cost < amount ? cost : amount)
  const isBilled = documented.some((one) => isOf(subject, one))
  return target.amount === 0n && !isBilled ? [] : difference(subject, target, documented, "true_up")
}

/**
 * The lines that are due for a period, in the order of time, then of the plan, with the minimum of the plan last.
 *
 * Usage that costs nothing has a line, too. Throws a {@link RatingError} when a total is missing or is not valid.
 */
export const linesOf = (input: PeriodInput): ReadonlyArray<PeriodLine> => {
  if (isSettled(input)) return []
  const { currency, documented, period, soFar = false, termsOf, timezone, totals, until } = input
  const digits = digitsOf(currency)
  const runs = runsOf(period, timezone, termsOf)
  // An invoice of the usage so far bills no fee, nor does it credit one: the period may have changed since it was made.
  const fees = period.trial === null && !soFar ? runs.filter(({ charge }) => isFee(charge)) : []
  const over = runs.filter(({ charge, end }) => !isFee(charge) && (soFar || end <= until))
  const groupsOf = ({ charge, segment }: Run) =>
    documented.filter((one) => one.segment === segment && one.charge === charge.key).map(({ group }) => group)
  const usage = rateUsage(period, over, totals, groupsOf, input)
  return [
    ...fees.flatMap((run) => feeLines(run, input)),
    ...usageLines(usage, input),
    ...trueUpLines(over, usage, input, digits),
  ]
}
