/**
 * The error of functions that make documents.
 */
import { type Problem, problemText } from "../catalog/Problem.ts"

/** The input breaks a rule, so nothing was made. `problems` names each field. The message lists them all. */
export class InvoiceError extends Error {
  override readonly name = "InvoiceError"
  readonly problems: ReadonlyArray<Problem>

  constructor(problems: ReadonlyArray<Problem>) {
    super(problems.map(problemText).join("; "))
    this.problems = problems
  }
}

/** Throws an {@link InvoiceError} if there are problems. */
export const refuse = (problems: ReadonlyArray<Problem>): void => {
  if (problems.length > 0) throw new InvoiceError(problems)
}
