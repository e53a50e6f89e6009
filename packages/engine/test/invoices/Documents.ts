/**
 * Lines and invoices for tests, and amounts of them computed with rationals, apart from what is tested.
 */
import {
  type Allowance,
  assemble,
  type AssembleInput,
  type Assembled,
  type CouponInput,
  type CreditInput,
  draftOf,
  applyToInvoice,
  type Invoice,
  type InvoiceInput,
  type LineInput,
  type LineOrigin,
  type Scope,
  stepsOfAmount,
  type TaxBehavior,
  type TaxRate,
} from "../../src/index.ts"
import { fc } from "../property.ts"
import { Rational } from "../Rational.ts"

export const standard = (rate: string): TaxRate => ({ category: "S", rate, country: "DE", reason: null })

export const line = (id: string, amount: bigint, more: Partial<LineInput> = {}): LineInput => ({
  id,
  kind: "item",
  origin: null,
  charge: null,
  description: `Line ${id}`,
  periodStart: null,
  periodEnd: null,
  quantity: null,
  amount,
  steps: stepsOfAmount(amount, 2),
  receipt: null,
  taxCode: null,
  fixedTax: null,
  creditOf: null,
  ...more,
})

/** What a line of this plan bills. */
export const originOf = (key: string, gross = 0n): LineOrigin => ({
  subscriptionId: "sub_1",
  plan: { key, version: 1 },
  period: 0,
  segment: 0,
  group: null,
  gross,
})

/** Lines of these amounts: a, b, c, … */
export const linesOf = (...amounts: ReadonlyArray<bigint>): ReadonlyArray<LineInput> =>
  amounts.map((amount, index) => line(String.fromCodePoint(97 + index), amount))

/** One rate for all lines. */
export const quoteOf = (
  lines: ReadonlyArray<LineInput>,
  rate: TaxRate,
  behavior: TaxBehavior = "exclusive",
) => ({ behavior, rates: Object.fromEntries(lines.map(({ id }) => [id, rate])) })

export const assembled = (input: AssembleInput): Assembled => {
  const made = assemble(input)
  if (made === undefined) throw new Error("no lines")
  return made
}

export const draft = (input: AssembleInput): Invoice =>
  draftOf(
    {
      id: "inv_1",
      customerId: "cus_1",
      subscriptionId: null,
      currency: "EUR",
      periodStart: null,
      periodEnd: null,
    },
    assembled(input),
  )

/** The invoice after actions that it allows. */
export const after = (invoice: Invoice, ...inputs: ReadonlyArray<InvoiceInput>): Invoice =>
  inputs.reduce((current, input) => {
    const change = applyToInvoice(current, input)
    if (change.type === "rejected") throw new Error(`The invoice ${change.problem}.`)
    return change.invoice
  }, invoice)

export const finalize: InvoiceInput = {
  action: "finalize",
  number: "2026-0001",
  issuedAt: Date.UTC(2026, 10, 22),
  dueAt: Date.UTC(2026, 11, 6),
}

export const issued = (input: AssembleInput): Invoice => after(draft(input), finalize)

const RATES: ReadonlyArray<TaxRate> = [
  ...["19", "7", "20", "5.5", "25.5", "0.1"].map(standard),
  { category: "Z", rate: "0", country: "IE", reason: null },
  { category: "AE", rate: "0", country: "FR", reason: "VATEX-EU-AE" },
]

const scopes: fc.Arbitrary<Scope | undefined> = fc.constantFrom<Scope | undefined>(
  undefined,
  undefined,
  { plans: ["pro"] },
  { charges: ["calls"] },
  { plans: ["pro"], charges: ["calls", "seats"] },
)

const allowances: fc.Arbitrary<Allowance> = fc.oneof(
  fc.constantFrom("10", "33.3", "100", "0.5").map((percent) => ({ type: "percent" as const, percent })),
  fc.bigInt({ min: 1n, max: 20_000n }).map((amount) => ({ type: "fixed" as const, amount })),
)

const withScope = <A extends object>(value: A, scope: Scope | undefined): A & { readonly scope?: Scope } =>
  scope === undefined ? value : { ...value, scope }

const coupons: fc.Arbitrary<ReadonlyArray<CouponInput>> = fc
  .array(fc.tuple(allowances, scopes), { maxLength: 4 })
  .map((list) =>
    list.map(([allowance, scope], index) =>
      withScope({ id: `red_${index}`, name: `Coupon ${index}`, allowance }, scope),
    ),
  )

const credits = (id: string): fc.Arbitrary<ReadonlyArray<CreditInput>> =>
  fc
    .array(fc.tuple(fc.bigInt({ min: 0n, max: 9_000n }), scopes), { maxLength: 3 })
    .map((list) =>
      list.map(([available, scope], index) => withScope({ id: `${id}_${index}`, available }, scope)),
    )

const amounts = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: 0n, max: 50_000n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: -20_000n, max: -1n }) },
)

const oneLine = fc.tuple(
  amounts,
  fc.constantFrom("pro", "team", null),
  fc.constantFrom("calls", "seats", null),
  fc.constantFrom(...RATES),
  fc.boolean(),
)

/** Everything that an invoice can be assembled from. `taxed` gives the rate of each line. */
export const inputs: fc.Arbitrary<AssembleInput> = fc
  .tuple(
    fc.array(oneLine, { minLength: 1, maxLength: 8 }),
    fc.constantFrom<TaxBehavior>("exclusive", "inclusive"),
    coupons,
    credits("promo"),
    credits("paid"),
  )
  .map(([list, behavior, couponList, promotional, paid]) => {
    const lines = list.map(([amount, plan, charge, rate, isFixed], index) =>
      line(`line_${index}`, amount, {
        kind: amount < 0n && isFixed ? "credit" : "usage",
        origin: plan === null ? null : originOf(plan, amount),
        charge,
        fixedTax: isFixed ? rate : null,
      }),
    )
    const rates = Object.fromEntries(
      list.flatMap(([, , , rate, isFixed], index) => (isFixed ? [] : [[`line_${index}`, rate] as const])),
    )
    return {
      lines,
      coupons: couponList,
      promotional,
      quote: { behavior, rates },
      paid,
    }
  })

export const total = (values: ReadonlyArray<bigint>): bigint => values.reduce((sum, value) => sum + value, 0n)

const covers = (scope: Scope | undefined, { charge, origin }: LineInput): boolean =>
  [
    [scope?.plans, origin?.plan.key],
    [scope?.charges, charge],
  ].every(([keys, key]) => !Array.isArray(keys) || keys.includes(key))

/** Whole units by largest remainder, worked out with rationals. Earlier lines come first where remainders are equal. */
const spread = (amount: bigint, weights: ReadonlyArray<bigint>): ReadonlyArray<bigint> => {
  const sum = total(weights)
  if (sum === 0n) return weights.map(() => 0n)
  const exact = weights.map((weight) => new Rational(amount * weight, sum))
  const parts = exact.map((share) => share.floor())
  const order = exact
    .map((share, index) => ({ index, rest: share.minus(new Rational(parts[index]!)) }))
    .sort((a, b) => (a.rest.isLessThan(b.rest) ? 1 : b.rest.isLessThan(a.rest) ? -1 : a.index - b.index))
  for (let next = 0; total(parts) < amount; next++) parts[order[next]!.index]! += 1n
  return parts
}

const least = (...values: ReadonlyArray<bigint>): bigint => values.reduce((a, b) => (b < a ? b : a))

/** What the discounts leave of each line. */
const leftOf = ({ coupons: given = [], lines, promotional = [] }: AssembleInput): ReadonlyArray<bigint> => {
  let left = lines.map(({ amount }) => amount)
  const take = (scope: Scope | undefined, amountOf: (base: bigint, most: bigint) => bigint) => {
    const weights = lines.map((one, index) => (left[index]! > 0n && covers(scope, one) ? left[index]! : 0n))
    const base = total(weights)
    const parts = spread(amountOf(base, least(base, total(left) > 0n ? total(left) : 0n)), weights)
    left = left.map((amount, index) => amount - parts[index]!)
  }
  for (const isForLines of [true, false]) {
    for (const { allowance, scope } of given) {
      if ((scope !== undefined) !== isForLines) continue
      take(scope, (base, most) =>
        allowance.type === "fixed"
          ? least(allowance.amount, most)
          : new Rational(base).times(Rational.of(allowance.percent)).over(new Rational(100n)).nearest(),
      )
    }
  }
  for (const { available, scope } of promotional) take(scope, (_, most) => least(available, most))
  return left
}

/** The total, the tax and what is left of the lines, worked out with rationals. */
export const oracle = (input: AssembleInput) => {
  const left = leftOf(input)
  const groups = new Map<string, { readonly rate: TaxRate; sum: bigint }>()
  for (const [index, { fixedTax, id }] of input.lines.entries()) {
    const rate = fixedTax ?? input.quote.rates[id]!
    const key = JSON.stringify([rate.category, rate.rate, rate.country])
    const group = groups.get(key) ?? { rate, sum: 0n }
    group.sum += left[index]!
    groups.set(key, group)
  }
  const hundred = new Rational(100n)
  const taxes = [...groups.values()].map(({ rate, sum }) => {
    const percent = Rational.of(rate.rate)
    if (input.quote.behavior === "exclusive") {
      return { taxable: sum, tax: new Rational(sum).times(percent).over(hundred).nearest() }
    }
    const taxable = new Rational(sum).times(hundred).over(hundred.plus(percent)).nearest()
    return { taxable, tax: sum - taxable }
  })
  const tax = total(taxes.map((one) => one.tax))
  return { left, taxes, tax, total: total(taxes.map((one) => one.taxable)) + tax }
}
