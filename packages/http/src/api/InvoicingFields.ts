/**
 * What answers about subscriptions and about invoices have in common.
 */
import { Plan } from "@billwright/core"
import { Schema } from "effect"
import * as Wire from "./Wire.ts"

const MAX_KEY_LENGTH = 64
const MAX_ATTEMPTS = 2 ** 31 - 1
const MAX_PROBLEM_LENGTH = 500

/** A version of a plan. */
export const PlanRefBody = Schema.Struct({
  key: Wire.text(MAX_KEY_LENGTH).annotate({ description: "The key of the plan." }),
  version: Plan.VersionNumber.annotate({ description: "The number of the version." }),
}).annotate({ identifier: "PlanRef", description: "A version of a plan." })

/** Most digits of a currency and of a unit of credits. */
const MAX_DECIMALS = 6

/** How many decimals a unit of credits has. */
export const UnitDecimals = Schema.Int.check(
  Schema.isBetween({ minimum: 0, maximum: MAX_DECIMALS }),
).annotate({
  description: "How many decimals the unit has: with 2, the amount 150 is 1.50.",
})

/** Why the last run of what is due failed. */
export const DueFailureBody = Schema.Struct({
  attempts: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_ATTEMPTS })).annotate({
    description: "How often it has failed in a row.",
  }),
  problem: Wire.text(MAX_PROBLEM_LENGTH).annotate({ description: "What went wrong, for people." }),
  at: Wire.instant("When it failed last."),
  retry_at: Wire.instantOrNull(
    "When it is tried again. `null`: not before somebody changes the object, because it failed too often.",
  ),
}).annotate({
  identifier: "DueFailure",
  description: "Why something that was due could not be done.",
})
