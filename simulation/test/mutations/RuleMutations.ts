/**
 * Rules of the engine with one planted bug each, and the checker of the whole world that finds it. Checkers judge with the
 * rules as they are.
 */
import type * as Rules from "@billwright/engine"

export type Engine = typeof Rules

type Rule = {
  readonly [Name in keyof Engine]: Engine[Name] extends (...input: never) => unknown ? Name : never
}[keyof Engine]

export interface RuleBug {
  readonly name: string
  readonly checker: string
  /** The rule that is broken. */
  readonly rule: keyof Engine
  readonly breakRules: (engine: Engine) => Partial<Engine>
}

const rule = <Name extends Rule>(
  of: Name,
  name: string,
  checker: string,
  broken: (right: Engine[Name], engine: Engine) => Engine[Name],
): RuleBug => ({
  name,
  checker,
  rule: of,
  breakRules: (engine) => {
    const changed: Partial<Engine> = {}
    changed[of] = broken(engine[of], engine)
    return changed
  },
})

export const rules: ReadonlyArray<RuleBug> = [
  rule("linesOf", "the last unit of usage is not rated", "billing.J3", (linesOf) => (input) => {
    const totals = input.totals.map((total) => {
      const { quantity } = total.after
      if (typeof quantity !== "bigint" || quantity === 0n) return total
      return { ...total, after: { ...total.after, quantity: quantity - 1n } }
    })
    return linesOf({ ...input, totals })
  }),
  rule("assemble", "an invoice comes to one more than its parts", "billing.J2", (assemble) => (input) => {
    const made = assemble(input)
    return made === undefined ? undefined : { ...made, total: made.total + 1n }
  }),
  rule("takeNumbers", "a number is left out", "billing.J4", (takeNumbers) => (series, count, now) => {
    const taken = takeNumbers(series, count + 1, now)
    return { ...taken, numbers: taken.numbers.slice(1) }
  }),
  rule("reversalOf", "an invoice stays paid with what was refunded", "payments.invoices", () => () => 0n),
  rule(
    "closeAccount",
    "a customer who is erased keeps the credits",
    "prepaid.erased",
    (_, { settleCredits }) => settleCredits,
  ),
  rule(
    "planGrantsOf",
    "a plan grants one more",
    "prepaid.plans",
    (planGrantsOf) =>
      (...input) =>
        planGrantsOf(...input).map((grant) => ({ ...grant, amount: grant.amount + 1n })),
  ),
  rule(
    "restoreCredits",
    "a void invoice gives the first credits that it used not back",
    "prepaid.invoices",
    (restoreCredits) => (ledger, grants, invoiceId, uses, now) =>
      restoreCredits(ledger, grants, invoiceId, uses.slice(1), now),
  ),
  rule("burnCredits", "usage burns one less", "prepaid.burns", (burnCredits) => (ledger, burning, now) => {
    const uses = burning.uses.map((use) => (use.amount > 0n ? { ...use, amount: use.amount - 1n } : use))
    return burnCredits(ledger, { ...burning, uses }, now)
  }),
  rule(
    "rateTokens",
    "all rate cards have a markup",
    "prepaid.tokens",
    (rateTokens) => (card, call) => rateTokens({ ...card, markup: "50" }, call),
  ),
  rule(
    "chargeCredits",
    "tokens are charged twice",
    "prepaid.tokens",
    (chargeCredits) => (ledger, use, now) => chargeCredits(ledger, { ...use, amount: 2n * use.amount }, now),
  ),
]
