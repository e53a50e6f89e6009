/**
 * Checks the plans and the rate cards of a push. All problems of all of them are found at once.
 */
import {
  canonicalJson,
  type CreditUnits,
  declaredDecimals,
  isKey,
  pathTo,
  type PlanDefinition,
  type Problem,
  problemsOfPlan,
  problemsOfRateCard,
  type RateCard,
  termsOf,
} from "@billwright/engine"
import { Effect, Predicate, Schema } from "effect"
import { decoder, type FieldProblem, type InvalidInput, ofProblems } from "../shared/InvalidInput.ts"
import { decimalsOption } from "./CreditSettings.ts"
import { MAX_PLANS_PER_PUSH, MAX_PROBLEMS, MAX_TERMS_LENGTH, PLANS_PROBLEM } from "./Plan.ts"
import { CARDS_PROBLEM, MAX_CARD_LENGTH, MAX_CARDS_PER_PUSH } from "./RateCard.ts"

const listOf = (message: string, maximum: number) =>
  Schema.Array(Schema.Unknown)
    .check(Schema.isMinLength(1, { message }), Schema.isMaxLength(maximum, { message }))
    .annotate({ message })

const decodePlans = decoder(Schema.Struct({ plans: listOf(PLANS_PROBLEM, MAX_PLANS_PER_PUSH) }))
const decodeCards = decoder(Schema.Struct({ rateCards: listOf(CARDS_PROBLEM, MAX_CARDS_PER_PUSH) }))

/** A kind of thing that is pushed. */
interface Pushed<A> {
  /** What errors name it by: `plans`. */
  readonly field: string
  readonly problemsOf: (value: unknown) => ReadonlyArray<Problem>
  /** The text whose length is limited. */
  readonly textOf: (value: A) => string
  readonly maxLength: number
}

const PLANS: Pushed<PlanDefinition> = {
  field: "plans",
  problemsOf: problemsOfPlan,
  textOf: (plan) => canonicalJson(termsOf(plan)),
  maxLength: MAX_TERMS_LENGTH,
}

const CARDS: Pushed<RateCard> = {
  field: "rateCards",
  // Its paths begin with `card`, as those of a card that is given to a rater.
  problemsOf: (card) =>
    problemsOfRateCard(card).map(({ path, problem }) => ({ path: path.replace(/^card\.?/, ""), problem })),
  textOf: (card) => canonicalJson(card),
  maxLength: MAX_CARD_LENGTH,
}

/** `charges.calls` of the plan at `plans.pro` is `plans.pro.charges.calls`. */
const below = (plan: string, path: string): string => (path.startsWith("[") ? plan + path : `${plan}.${path}`)

type Checked<A> = { readonly value: A } | { readonly problems: ReadonlyArray<FieldProblem> }

/** A copy of a valid plan or card that shares nothing with the caller, and the problems of one that is not valid. */
const checkValue = <A>(
  { maxLength, problemsOf, textOf }: Pushed<A>,
  at: string,
  value: unknown,
): Checked<A> => {
  if (!Predicate.isObject(value)) return { problems: [{ field: at, problem: "must be an object" }] }
  const problems = problemsOf(value).map(({ path, problem }) => ({ field: below(at, path), problem }))
  if (problems.length > 0) return { problems }
  const copy = JSON.parse(canonicalJson(value)) as A
  if (textOf(copy).length <= maxLength) return { value: copy }
  return { problems: [{ field: at, problem: `must have at most ${maxLength} characters as JSON` }] }
}

/** A plan is named by its key, which people know, where the key is valid and unique. */
const pathOf = (field: string, plan: unknown, index: number, keys: ReadonlySet<string>): string => {
  const key = Predicate.isObject(plan) && "key" in plan ? plan["key"] : undefined
  return typeof key === "string" && isKey(key) && !keys.has(key) ? pathTo(field, key) : pathTo(field, index)
}

/** The error for problems, of which there is at least one. */
export const refuse = (
  field: string,
  problems: ReadonlyArray<FieldProblem>,
): Effect.Effect<never, InvalidInput> => {
  const [first, ...others] = problems.slice(0, MAX_PROBLEMS)
  const rest = { field, problem: `has more problems than the ${MAX_PROBLEMS} that are listed` }
  if (first === undefined) return Effect.die(new TypeError("nothing is refused without a problem"))
  return Effect.fail(ofProblems([first, ...others, ...(problems.length > MAX_PROBLEMS ? [rest] : [])]))
}

/** The values of a push, or all their problems: `plans.pro.charges.calls.tiers[2].up_to must be greater than 1000`. */
const checkAll = <A extends { readonly key: string }>(pushed: Pushed<A>, all: ReadonlyArray<unknown>) => {
  const { field } = pushed
  const keys = new Set<string>()
  const problems: Array<FieldProblem> = []
  const valid: Array<A> = []
  for (const [index, one] of all.entries()) {
    const at = pathOf(field, one, index, keys)
    const checked = checkValue(pushed, at, one)
    if ("problems" in checked) {
      problems.push(...checked.problems)
      continue
    }
    const { key } = checked.value
    if (keys.has(key)) problems.push({ field: `${at}.key`, problem: `is used twice: ${JSON.stringify(key)}` })
    keys.add(key)
    valid.push(checked.value)
  }
  return problems.length === 0 ? Effect.succeed(valid) : refuse(field, problems)
}

/** The plans of a push, or all their problems. */
export const check = (input: unknown): Effect.Effect<ReadonlyArray<PlanDefinition>, InvalidInput> =>
  Effect.flatMap(decodePlans(input), ({ plans }) => checkAll(PLANS, plans))

/** What is wrong with the decimals of a valid card whose unit the host defines. */
const decimalsProblem = ({ decimals, unit }: RateCard, units: CreditUnits): string | undefined => {
  const declared = declaredDecimals(units, unit)
  if (declared === undefined || decimals === undefined || decimals === declared) return undefined
  return `must be left out, or ${declared} as ${decimalsOption(unit)}`
}

/** Cards in the units that the host defines. */
const cardsIn = (units: CreditUnits): Pushed<RateCard> => ({
  ...CARDS,
  problemsOf: (card) => {
    const problems = CARDS.problemsOf(card)
    if (problems.length > 0) return problems
    const problem = decimalsProblem(card as RateCard, units)
    return problem === undefined ? [] : [{ path: "decimals", problem }]
  },
})

/** A card says its decimals itself, so that what it has priced stays explained. */
const withDecimals = (card: RateCard, units: CreditUnits): RateCard => {
  const decimals = declaredDecimals(units, card.unit)
  return decimals === undefined ? card : { ...card, decimals }
}

/** The rate cards of a push, or all their problems. They have the decimals of their units. */
export const checkCards = (
  input: unknown,
  units: CreditUnits,
): Effect.Effect<ReadonlyArray<RateCard>, InvalidInput> =>
  Effect.flatMap(decodeCards(input), ({ rateCards }) =>
    Effect.map(checkAll(cardsIn(units), rateCards), (cards) =>
      cards.map((card) => withDecimals(card, units)),
    ),
  )

/** A plan that is not pushed, or all its problems below `field`. */
export const checkOne = (field: string, plan: unknown): Effect.Effect<PlanDefinition, InvalidInput> => {
  const checked = checkValue(PLANS, field, plan)
  return "value" in checked ? Effect.succeed(checked.value) : refuse(field, checked.problems)
}
