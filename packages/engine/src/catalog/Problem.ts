/**
 * The problems of a plan: what is wrong, and where.
 */

/** A broken rule. `path` is the field, and `problem` continues the sentence: "must be greater than 1000". */
export interface Problem {
  readonly path: string
  readonly problem: string
}

/** A problem as a sentence: `charges.calls.tiers[2].up_to must be greater than 1000`. */
export const problemText = ({ path, problem }: Problem): string => `${path} ${problem}`

/** Longest name in a path, in characters. Names are the caller's text, so longer ones are cut. */
const MAX_STEP_LENGTH = 100

/** The path of a field or an element below a path: `charges.calls.tiers[2]`, `features["a b"]`. */
export const pathTo = (path: string, step: string | number): string => {
  if (typeof step === "number") return `${path}[${step}]`
  if (step.length > MAX_STEP_LENGTH) return pathTo(path, `${step.slice(0, MAX_STEP_LENGTH - 1)}…`)
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(step)) return `${path}[${JSON.stringify(step)}]`
  return path === "" ? step : `${path}.${step}`
}

/** Collects problems below a path. */
export class Problems {
  readonly found: Array<Problem>
  readonly #path: string

  constructor(path = "", found: Array<Problem> = []) {
    this.#path = path
    this.found = found
  }

  /** The same collection, for a field or an element below this path. */
  in(step: string | number): Problems {
    return new Problems(pathTo(this.#path, step), this.found)
  }

  /** Reports that the value at this path breaks a rule. */
  add(problem: string): void {
    this.found.push({ path: this.#path === "" ? "input" : this.#path, problem })
  }
}
