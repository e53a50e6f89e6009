/**
 * Checks the plans of a push. All problems of all plans are found at once.
 */
import {
  canonicalJson,
  isKey,
  pathTo,
  type PlanDefinition,
  problemsOfPlan,
  termsOf,
} from "@billwright/engine"
import { Effect, Predicate, Schema } from "effect"
import { decoder, type FieldProblem, type InvalidInput, ofProblems } from "../shared/InvalidInput.ts"
import { MAX_PLANS_PER_PUSH, MAX_PROBLEMS, MAX_TERMS_LENGTH, PLANS_PROBLEM } from "./Plan.ts"

const countMessage = { message: PLANS_PROBLEM }
const Pushed = Schema.Struct({
  plans: Schema.Array(Schema.Unknown)
    .check(Schema.isMinLength(1, countMessage), Schema.isMaxLength(MAX_PLANS_PER_PUSH, countMessage))
    .annotate(countMessage),
})
const decodePushed = decoder(Pushed)

/** `charges.calls` of the plan at `plans.pro` is `plans.pro.charges.calls`. */
const below = (plan: string, path: string): string => (path.startsWith("[") ? plan + path : `${plan}.${path}`)

/** A copy of a valid plan that shares nothing with the caller, and the problems of a plan that is not valid. */
const checkPlan = (
  at: string,
  plan: unknown,
): { readonly plan: PlanDefinition } | { readonly problems: ReadonlyArray<FieldProblem> } => {
  if (!Predicate.isObject(plan)) return { problems: [{ field: at, problem: "must be an object" }] }
  const problems = problemsOfPlan(plan).map(({ path, problem }) => ({ field: below(at, path), problem }))
  if (problems.length > 0) return { problems }
  const copy = JSON.parse(canonicalJson(plan)) as PlanDefinition
  if (canonicalJson(termsOf(copy)).length <= MAX_TERMS_LENGTH) return { plan: copy }
  return {
    problems: [{ field: at, problem: `must have at most ${MAX_TERMS_LENGTH} characters as JSON` }],
  }
}

/** A plan is named by its key, which people know, where the key is valid and unique. */
const pathOf = (plan: unknown, index: number, keys: ReadonlySet<string>): string => {
  const key = Predicate.isObject(plan) && "key" in plan ? plan["key"] : undefined
  return typeof key === "string" && isKey(key) && !keys.has(key)
    ? pathTo("plans", key)
    : pathTo("plans", index)
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

/** The plans of a push, or all their problems: `plans.pro.charges.calls.tiers[2].up_to must be greater than 1000`. */
export const check = Effect.fnUntraced(function* (input: unknown) {
  const { plans } = yield* decodePushed(input)
  const keys = new Set<string>()
  const problems: Array<FieldProblem> = []
  const valid: Array<PlanDefinition> = []
  for (const [index, plan] of plans.entries()) {
    const at = pathOf(plan, index, keys)
    const checked = checkPlan(at, plan)
    if ("problems" in checked) {
      problems.push(...checked.problems)
      continue
    }
    const { key } = checked.plan
    if (keys.has(key)) problems.push({ field: `${at}.key`, problem: `is used twice: ${JSON.stringify(key)}` })
    keys.add(key)
    valid.push(checked.plan)
  }
  return problems.length === 0 ? valid : yield* refuse("plans", problems)
})

/** A plan that is not pushed, or all its problems below `field`. */
export const checkOne = (field: string, plan: unknown): Effect.Effect<PlanDefinition, InvalidInput> => {
  const checked = checkPlan(field, plan)
  return "plan" in checked ? Effect.succeed(checked.plan) : refuse(field, checked.problems)
}
