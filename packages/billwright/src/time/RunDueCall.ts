/**
 * Runs `billing.runDue`.
 */
import { BillingRuns } from "@billwright/core"
import type { CallOptions } from "../Call.ts"
import type { Calls } from "../runtime/Calls.ts"
import { toOptionalInput } from "../runtime/Input.ts"
import type { BillingRun, RunDue } from "./BillingRun.ts"

export const runDue = (
  calls: Calls,
  what: RunDue | undefined,
  options: CallOptions | undefined,
): Promise<BillingRun> => {
  const runs = calls.service(BillingRuns)
  return calls.runAsIs(() => runs.runDue(toOptionalInput(what, "until")), options)
}
