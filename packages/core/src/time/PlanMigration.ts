/**
 * A migration of plan: it moves all subscriptions of a plan to one of its versions.
 *
 * Versions never change, and new ones reach nobody by themselves. A migration is a change of plan for many subscriptions,
 * in the background, each in a transaction of its own.
 */
import { Schema } from "effect"
import { MAX_VERSION, VersionNumber } from "../catalog/Plan.ts"
import { SubscriptionId } from "../invoices/SubscriptionId.ts"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Resource from "../shared/Resource.ts"
import * as Text from "../shared/Text.ts"

/** The prefix of ids of plan migrations. */
export const PLAN_MIGRATION_ID_PREFIX = "mig"
/** The most subscriptions that a migration lists by name, of those that could not be moved, and of a dry run's amounts. */
export const MAX_LISTED = 100
/** More currencies than ISO 4217 has. */
const MAX_CURRENCIES = 200
/** The longest key of a plan, in code points. */
const MAX_KEY_LENGTH = 64
/** The longest problem that is listed, in code points. */
export const MAX_PROBLEM_LENGTH = 500

export const PlanMigrationId = Id.schema(PLAN_MIGRATION_ID_PREFIX).pipe(Schema.brand("PlanMigrationId"))
export type PlanMigrationId = typeof PlanMigrationId.Type

export const PlanMigrationStatus = Schema.Literals(["running", "completed"])
export type PlanMigrationStatus = typeof PlanMigrationStatus.Type

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
/**
 * The most digits of an amount, with its sign. Amounts are texts: a sum over all subscriptions of a plan may be larger than
 * the integers that JSON numbers hold exactly, and the field is kept as JSON.
 */
const MAX_DIGITS = 60
const units = Schema.String.check(Schema.isPattern(/^-?[0-9]+$/), Schema.isMaxCodePoints(MAX_DIGITS))

const Counts = Schema.Struct({
  migrated: count.annotate({ description: "Those that were moved, or will be at their period's end." }),
  unchanged: count.annotate({ description: "Those that were there already." }),
  failed: count.annotate({ description: "Those that could not be moved." }),
})

const Failure = Schema.Struct({
  subscription: SubscriptionId.annotate({ description: "The id of the subscription." }),
  problem: Schema.String.check(Schema.isMaxCodePoints(MAX_PROBLEM_LENGTH)).annotate({
    description: "Why it could not be moved.",
  }),
})

const amounts = {
  currency: Schema.String.check(Schema.isMaxCodePoints(3)).annotate({
    description: "The ISO 4217 code of the currency.",
  }),
  now: units.annotate({
    description: "The total of what is invoiced at once: an integer of the minor unit.",
  }),
  next: units.annotate({
    description:
      "By how much the next invoice rises, or falls when it is below 0, with the usage so far: an integer of the minor unit.",
  }),
}
const Amounts = Schema.Struct(amounts)
const Difference = Schema.Struct({
  subscription: SubscriptionId.annotate({ description: "The id of the subscription." }),
  ...amounts,
})

const atProblem = { message: "must be now or period_end" }

const given = {
  plan: Field.text(Text.bounded(1, MAX_KEY_LENGTH), "The key of the plan."),
  fromVersion: Field.jsonOrNull(
    VersionNumber,
    "The version whose subscriptions move. `null`: every other version.",
  ),
  toVersion: Field.json(VersionNumber, `The version to which they move: 1 to ${MAX_VERSION}.`),
  at: Field.text(
    Schema.Literals(["now", "period_end"]).annotate(atProblem),
    "When each subscription changes: at once, or at the end of its period. One that has not started changes at once.",
  ),
  dryRun: Field.json(
    Schema.Boolean,
    "`true`: nothing is changed, and `amounts` and `differences` say what the migration would cost.",
  ),
}

/** The definition of the resource; see `Resource`. */
export const planMigrations = Resource.make({
  type: "PlanMigration",
  noun: "plan migration",
  title: "Plan migrations",
  description: "Moves all subscriptions of a plan to one of its versions, in the background.",
  about: "Changes of version for all subscriptions of a plan.",
  path: "/plan_migrations",
  scope: "subscriptions",
  id: PlanMigrationId,
  prefix: PLAN_MIGRATION_ID_PREFIX,
  isReferring: true,
  progress: ["counts", "failures", "amounts", "differences", "position"],
  fields: {
    ...given,
    status: Field.text(
      PlanMigrationStatus,
      "`running` until every subscription was looked at, then `completed`.",
    ),
    counts: Field.json(Counts, "How many subscriptions were looked at so far, by outcome."),
    failures: Field.json(
      Schema.Array(Failure).check(Schema.isMaxLength(MAX_LISTED)),
      `The first ${MAX_LISTED} that could not be moved, with the reasons. They stay on their version.`,
    ),
    amounts: Field.json(
      Schema.Array(Amounts).check(Schema.isMaxLength(MAX_CURRENCIES)),
      "What a dry run adds up, for each currency. Otherwise empty.",
    ),
    differences: Field.json(
      Schema.Array(Difference).check(Schema.isMaxLength(MAX_LISTED)),
      `What a dry run finds for the first ${MAX_LISTED} subscriptions that would move. Otherwise empty.`,
    ),
    position: Field.textOrNull(
      Text.bounded(1, 64),
      "The id of the subscription that was looked at last. The newest ones come first.",
    ),
    completedAt: Field.instantOrNull("When it was completed."),
  },
  times: { createdAt: Field.instant("When the migration was created.") },
  create: {
    plan: given.plan,
    fromVersion: Field.optional(given.fromVersion),
    toVersion: Field.optional(
      Field.saying(
        given.toVersion,
        "The version to which they move. Default: the newest version of the plan.",
      ),
    ),
    at: given.at,
    dryRun: Field.optional(given.dryRun),
  },
  filters: {
    status: Field.optional(Field.text(PlanMigrationStatus, "Only migrations with this status.")),
  },
  indexed: ["status"],
  operations: {
    create:
      "Moves the subscriptions of a plan to a version, in the background. A subscription that is paused, or for which a change waits, is not moved, and is listed among the failures. Quantities that wait for the time of the migration are changed together with the plan. Migrating again moves those that are left.",
    remove: {
      verb: "Delete",
      past: "deleted",
      description: "If it is running, it stops. Subscriptions that were moved stay where they are.",
    },
  },
  example: {
    id: "mig_01kb2r9d3vffx9qd6k4v2n1h7c",
    plan: "pro",
    from_version: 1,
    to_version: 2,
    at: "period_end",
    dry_run: false,
    status: "running",
    counts: { migrated: 41, unchanged: 0, failed: 1 },
    failures: [
      {
        subscription: "sub_01kb2r6ghefxhs59czp23x4vmk",
        problem: "change is not possible while paused: the subscription must be scheduled, trialing, active",
      },
    ],
    amounts: [],
    differences: [],
    position: "sub_01kb2r6ghefxhs59czp23x4vmk",
    completed_at: null,
    created_at: "2026-11-21T09:32:00.000Z",
  },
})

/** A migration. */
export const PlanMigration = planMigrations.Value
export interface PlanMigration extends Schema.Schema.Type<typeof PlanMigration> {}

/** The input of `PlanMigrations.create`. */
export const CreatePlanMigration = planMigrations.Create
export interface CreatePlanMigration extends Schema.Schema.Type<typeof CreatePlanMigration> {}

/** Which migrations to list. */
export const ListPlanMigrations = planMigrations.List
export interface ListPlanMigrations extends Schema.Schema.Type<typeof ListPlanMigrations> {}

/** The tenant has no migration with this id. */
export const PlanMigrationNotFound = planMigrations.NotFound
export type PlanMigrationNotFound = InstanceType<typeof PlanMigrationNotFound>

/** What a migration found out about a subscription. Amounts are in the minor unit. */
export type Outcome =
  | { readonly type: "unchanged" }
  | { readonly type: "failed"; readonly problem: string }
  | { readonly type: "migrated"; readonly amounts: MigratedAmounts | null }

/** What moving a subscription costs, in a dry run. */
export interface MigratedAmounts {
  readonly currency: string
  readonly now: bigint
  readonly next: bigint
}

/** At most `MAX_LISTED` items, the first ones. */
const listed = <A>(all: ReadonlyArray<A>, more: A): ReadonlyArray<A> =>
  all.length < MAX_LISTED ? [...all, more] : all

const added = (all: PlanMigration["amounts"], { currency, next, now }: MigratedAmounts) => {
  const before = all.find((one) => one.currency === currency) ?? { currency, now: "0", next: "0" }
  const sum = {
    currency,
    now: String(BigInt(before.now) + now),
    next: String(BigInt(before.next) + next),
  }
  return [...all.filter((one) => one.currency !== currency), sum]
}

/** The migration after it has looked at one more subscription. */
export const recorded = (
  migration: PlanMigration,
  subscription: SubscriptionId,
  outcome: Outcome,
): PlanMigration => {
  const { counts, differences, failures } = migration
  const after = {
    ...migration,
    position: subscription,
    counts: { ...counts, [outcome.type]: counts[outcome.type] + 1 },
  }
  if (outcome.type === "failed") {
    const problem = [...outcome.problem].slice(0, MAX_PROBLEM_LENGTH).join("")
    return { ...after, failures: listed(failures, { subscription, problem }) }
  }
  if (outcome.type === "unchanged" || outcome.amounts === null) return after
  const { currency, next, now } = outcome.amounts
  return {
    ...after,
    amounts: added(migration.amounts, outcome.amounts),
    differences: listed(differences, { subscription, currency, now: String(now), next: String(next) }),
  }
}
