import { Data } from "effect"

/** What customers pay would rise by more than is allowed. What it comes to was printed. */
export class RiseTooLarge extends Data.TaggedError("RiseTooLarge")<{ readonly message: string }> {}
