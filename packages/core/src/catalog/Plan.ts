/**
 * Plans and their versions.
 *
 * A plan has a key, a name and a description. What it costs and includes are its terms. Every version fixes terms for
 * good; new terms are a new version. The rules of terms are those of `@billwright/engine`.
 */
import {
  canonicalJson,
  changesOf,
  type FieldChange,
  type JsonSchema,
  type PlanDefinition,
  type PlanTerms,
  planSchemas,
  type Quantity,
  rateCardSchemas,
  stepSchemas,
  termsOf,
} from "@billwright/engine"
import { type DateTime, Schema } from "effect"
import * as Id from "../shared/Id.ts"
import { pageFields } from "../shared/Page.ts"
import * as Sha256 from "../shared/Sha256.ts"

/**
 * The JSON Schemas of plans, of rate cards, of their parts and of the steps of a rating, by name. `PlanDefinition` is that of
 * a plan, and `RateCardDefinition` that of a rate card.
 */
export const schemas: Readonly<Record<string, JsonSchema>> = {
  ...planSchemas,
  ...rateCardSchemas,
  ...stepSchemas,
}

/** The prefix of plan ids. */
export const PLAN_ID_PREFIX = "pln"
/** The prefix of ids of versions. */
export const PLAN_VERSION_ID_PREFIX = "plv"
/** Most plans of one push. */
export const MAX_PLANS_PER_PUSH = 50
/** What is wrong with a push of none or of too many plans. */
export const PLANS_PROBLEM = `must be a list of 1 to ${MAX_PLANS_PER_PUSH} plans`
/** Longest canonical JSON of the terms of a version, in characters: 64 Ki. */
export const MAX_TERMS_LENGTH = 65_536
/** Most problems that a refused push lists. */
export const MAX_PROBLEMS = 1_000

/** Largest number of a version. */
export const MAX_VERSION = 2 ** 31 - 1
const versionMessage = { message: `must be an integer from 1 to ${MAX_VERSION}` }

export const PlanId = Id.schema(PLAN_ID_PREFIX).pipe(Schema.brand("PlanId"))
export type PlanId = typeof PlanId.Type

export const PlanVersionId = Id.schema(PLAN_VERSION_ID_PREFIX).pipe(Schema.brand("PlanVersionId"))
export type PlanVersionId = typeof PlanVersionId.Type

/** A plan, with the terms of its newest version. */
export interface Plan {
  readonly id: PlanId
  /** Names the plan in code. Unique in its account and mode. It never changes. */
  readonly key: string
  readonly name: string
  readonly description: string | null
  /** The number of the newest version. The first has 1, each next one 1 more. */
  readonly version: number
  readonly versionId: PlanVersionId
  /** The hash of the newest version; see `hashOf`. */
  readonly hash: string
  readonly terms: PlanTerms
  readonly createdAt: DateTime.Utc
  /** When the plan last changed: its name, its description or its newest version. */
  readonly updatedAt: DateTime.Utc
}

/** A published version of a plan. It never changes. */
export interface PlanVersion {
  readonly id: PlanVersionId
  readonly planKey: string
  readonly version: number
  readonly hash: string
  readonly terms: PlanTerms
  readonly createdAt: DateTime.Utc
}

/** What a push does, or would do, to one plan. */
export interface PlanChange {
  readonly key: string
  /** `changed`: the name, the description or the terms are new. Only new terms make a version. */
  readonly status: "created" | "changed" | "unchanged"
  /** The number of the newest version afterwards. */
  readonly version: number
  /** The number of the newest version before. `null` for a plan that is created. */
  readonly previousVersion: number | null
  /** The fields that differ. Empty for a plan that is created or unchanged. */
  readonly changes: ReadonlyArray<FieldChange>
}

/** The plans to push. Plans that are left out stay as they are. */
export interface PushPlans {
  /** 1 to 50 plans with different keys. */
  readonly plans: ReadonlyArray<PlanDefinition>
}

/** What to preview. */
export interface PreviewPlan {
  /** The key of a stored plan, or a plan that need not be stored. */
  readonly plan: string | PlanDefinition
  /** The number of a version of the stored plan. Default: the newest. */
  readonly version?: number
  /** A currency of the plan. Default: its only currency. */
  readonly currency?: string
  /** The quantity of a full period by the key of the charge. Default: 0. */
  readonly quantities?: { readonly [key: string]: Quantity }
}

/** A version by its number: 1 to 2^31 − 1. */
export const VersionNumber = Schema.Int.annotate(versionMessage).check(
  Schema.isBetween({ minimum: 1, maximum: MAX_VERSION }, versionMessage),
)

export const ListPlans = Schema.Struct({ ...pageFields })
export interface ListPlans extends Schema.Schema.Type<typeof ListPlans> {}

/** The tenant has no plan with this key, or the plan has no such version. */
export class PlanNotFound extends Schema.TaggedError<PlanNotFound>()(
  "PlanNotFound",
  { id: Schema.String, version: Schema.optionalKey(Schema.Number), field: Schema.optionalKey(Schema.String) },
  { httpApiStatus: 404 },
) {
  override get message(): string {
    return this.version === undefined
      ? `no plan has the key ${this.id}`
      : `the plan ${this.id} has no version ${this.version}`
  }
}

/** The SHA-256 hash of terms in canonical JSON, as 64 hexadecimal digits. Equal terms have equal hashes. */
export const hashOf = (terms: PlanTerms): string => Sha256.hex(canonicalJson(terms))

/** The plan as it can be pushed. */
export const definitionOf = ({ description, key, name, terms }: Plan): PlanDefinition => ({
  key,
  name,
  ...(description === null ? {} : { description }),
  ...terms,
})

/** What pushing a plan does. `before` is the stored plan with its key, if there is one. */
export const changeOf = (before: Plan | undefined, pushed: PlanDefinition): PlanChange => {
  const { key } = pushed
  if (before === undefined) return { key, status: "created", version: 1, previousVersion: null, changes: [] }
  const previousVersion = before.version
  const changes = changesOf(definitionOf(before), pushed)
  if (changes.length === 0) {
    return { key, status: "unchanged", version: previousVersion, previousVersion, changes }
  }
  const version = hashOf(termsOf(pushed)) === before.hash ? previousVersion : previousVersion + 1
  return { key, status: "changed", version, previousVersion, changes }
}
