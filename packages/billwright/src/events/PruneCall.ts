/**
 * Runs `billing.prune`.
 */
import { Retention } from "@billwright/core"
import type { DateTime } from "effect"
import type { CallOptions } from "../Call.ts"
import { InvalidInputError } from "../errors/BillingError.ts"
import type { Calls } from "../runtime/Calls.ts"
import { toInput } from "../runtime/Input.ts"
import type { Prune, Pruned } from "./Prune.ts"

export const prune = (calls: Calls, input: Prune, options: CallOptions | undefined): Promise<Pruned> => {
  const retention = calls.service(Retention)
  return calls.runAsIs(() => {
    const given = toInput<{ readonly before?: DateTime.Utc; readonly isDryRun?: boolean }>(input, "before")
    const { before, isDryRun = false } = given ?? {}
    if (before === undefined) throw new InvalidInputError("before", "is required")
    return retention.prune({ before, isDryRun })
  }, options)
}
