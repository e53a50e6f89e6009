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

/** Collects problems below a path. */
export class Problems {
  readonly found: Array<Problem>
  readonly #path: string

  constructor(path = "", found: Array<Problem> = []) {
    this.#path = path
    this.found = found
  }

  /** The same collection, for a field or an element below this path: `tiers[2]`, `features["a b"]`. */
  in(step: string | number): Problems {
    if (typeof step === "number") return new Problems(`${this.#path}[${step}]`, this.found)
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(step)) {
      return new Problems(`${this.#path}[${JSON.stringify(step)}]`, this.found)
    }
    return new Problems(this.#path === "" ? step : `${this.#path}.${step}`, this.found)
  }

  /** Reports that the value at this path breaks a rule. */
  add(problem: string): void {
    this.found.push({ path: this.#path === "" ? "input" : this.#path, problem })
  }
}
