import { Data, Runtime } from "effect"

/** A push would change something. What it would change was printed. */
export class PlansDiffer extends Data.TaggedError("PlansDiffer")<{}> {
  override readonly message = "a push would change plans"
  override readonly [Runtime.errorReported] = false
}

/** The exit code of `catalog diff` when a push would change something. */
export const DIFFERS = 2
