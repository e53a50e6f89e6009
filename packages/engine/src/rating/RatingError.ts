/**
 * The error of `rate`.
 */
import { type Problem, problemText } from "../catalog/Problem.ts"

/**
 * The charge, the quantity or the context breaks a rule, so that nothing can be rated. `problems` names each field; the
 * message is the first of them.
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
