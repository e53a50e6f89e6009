/**
 * The error of `rate`.
 */
import { type Problem, problemText } from "../catalog/Problem.ts"

/**
 * The charge, the quantity or the context breaks a rule, so nothing was rated. `problems` names each field. The message
 * is the first problem, with the number of the others.
 */
export class RatingError extends Error {
  override readonly name = "RatingError"
  readonly problems: ReadonlyArray<Problem>

  constructor(problems: readonly [Problem, ...ReadonlyArray<Problem>]) {
    const others = problems.length - 1
    super(`${problemText(problems[0])}${others === 0 ? "" : ` (and ${others} more)`}`)
    this.problems = problems
  }
}
