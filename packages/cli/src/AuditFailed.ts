import { Data } from "effect"

/** The audit found differences, which are already printed. */
export class AuditFailed extends Data.TaggedError("AuditFailed")<{ readonly message: string }> {}
