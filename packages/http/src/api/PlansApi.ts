/**
 * The REST definitions of plans.
 */
import { Plan, RateCard } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

const MAX_KEY_LENGTH = 64
const MAX_NAME_LENGTH = 200
const MAX_DESCRIPTION_LENGTH = 1_000
/** Most charges of a plan, and the line of its minimum. */
const MAX_LINES = 101
/** The longest path of a changed field, in code points. */
const MAX_PATH_LENGTH = 1_000
/** Most changed fields of a plan: more than its longest terms hold. */
const MAX_CHANGES = Plan.MAX_TERMS_LENGTH
/** Most steps of a line. A charge has at most 100 tiers. */
const MAX_STEPS = 200
/** The longest text of an exact amount, in code points: a number as a quantity may have 340 digits after the point. */
const MAX_EXACT_LENGTH = 500

const Key = Wire.text(MAX_KEY_LENGTH)
const KeyField = Key.annotate({ description: "The key of the plan. It never changes." })
const PushedKey = Key.annotate({ description: "The key of the plan or the rate card." })
const NameField = Wire.text(MAX_NAME_LENGTH).annotate({ description: "The name of the plan." })
const VersionField = Plan.VersionNumber.annotate({ description: "The number of the newest version." })
const HashField = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/), Schema.isMaxLength(64)).annotate({
  description: "The SHA-256 hash of the terms in canonical JSON (RFC 8785). Equal terms have equal hashes.",
})
const schemaOf = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const terms = Wire.described(schemaOf("PlanTerms"))

/** A plan in an answer. */
export const PlanBody = Schema.Struct({
  object: Schema.Literal("plan"),
  id: Plan.PlanId.annotate({ description: "The id of the plan." }),
  key: KeyField,
  name: NameField,
  description: Schema.NullOr(Wire.text(MAX_DESCRIPTION_LENGTH)).annotate({
    description: "A description of the plan.",
  }),
  version: VersionField,
  version_id: Plan.PlanVersionId.annotate({ description: "The id of the newest version." }),
  hash: HashField,
  terms,
  livemode: Wire.Livemode,
  created_at: Wire.instant("When the plan was created."),
  updated_at: Wire.instant("When its name, its description or its newest version last changed."),
}).annotate({ identifier: "Plan", description: "A plan, with the terms of its newest version." })

/** A version of a plan in an answer. */
export const PlanVersionBody = Schema.Struct({
  object: Schema.Literal("plan_version"),
  id: Plan.PlanVersionId.annotate({ description: "The id of the version." }),
  plan_key: KeyField,
  version: Plan.VersionNumber.annotate({ description: "The number of the version, from 1." }),
  hash: HashField,
  terms,
  livemode: Wire.Livemode,
  created_at: Wire.instant("When the version was published."),
}).annotate({ identifier: "PlanVersion", description: "A published version of a plan. It never changes." })

const ChangedField = Schema.Struct({
  path: Wire.text(MAX_PATH_LENGTH).annotate({
    description: "The field, such as `charges.calls.tiers[0].price.EUR`. Charges are named by their keys.",
  }),
  from: Wire.anyJson("The stored value. `null` if there is none."),
  to: Wire.anyJson("The value that was sent. `null` if there is none."),
}).annotate({
  identifier: "CatalogFieldChange",
  description: "A field of a plan or a rate card that differs.",
})

/** What a push does to a plan or a rate card. */
const CatalogChangeBody = Schema.Struct({
  object: Schema.Literals(["plan_change", "rate_card_change"]).annotate({ description: "What it is about." }),
  key: PushedKey,
  status: Schema.Literals(["created", "changed", "unchanged"]).annotate({
    description: "What happens to it. Only new terms make a version: a new name does not.",
  }),
  version: Plan.VersionNumber.annotate({ description: "The number of the newest version afterwards." }),
  previous_version: Schema.NullOr(Plan.VersionNumber).annotate({
    description: "The number of the newest version before. `null` for one that is created.",
  }),
  changes: Schema.Array(ChangedField).check(Schema.isMaxLength(MAX_CHANGES)).annotate({
    description: "The fields that differ from the newest stored version.",
  }),
}).annotate({
  identifier: "CatalogChange",
  description: "What a push does, or would do, to one plan or rate card.",
})

/** What a push does to each plan and rate card. */
export const CatalogChangesBody = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(CatalogChangeBody)
    .check(Schema.isMaxLength(Plan.MAX_PLANS_PER_PUSH + RateCard.MAX_CARDS_PER_PUSH))
    .annotate({
      description: "One for each plan, then one for each rate card, in the order of the request.",
    }),
  has_more: Schema.Literal(false),
}).annotate({ identifier: "CatalogChangeList", description: "What a push does, or would do." })

const PreviewLine = Schema.Struct({
  charge: Schema.NullOr(Key).annotate({
    description: "The key of the charge. `null` on the line that raises all usage to the plan's `minimum`.",
  }),
  name: NameField.annotate({ description: "The name of the charge, or else its key." }),
  amount: Wire.amount("What the charge costs"),
  exact: Wire.text(MAX_EXACT_LENGTH).annotate({
    description:
      "The amount before rounding, as a decimal in the currency's unit. Infinitely many digits are cut after 15 and followed by `…`.",
  }),
  steps: Schema.Array(Wire.described(schemaOf("RatingStep")))
    .check(Schema.isMaxLength(MAX_STEPS))
    .annotate({ description: "The computation of the amount, step by step." }),
}).annotate({ identifier: "PlanPreviewLine", description: "What one charge costs, and why." })

/** A preview. */
export const PlanPreviewBody = Schema.Struct({
  object: Schema.Literal("plan_preview"),
  plan: KeyField,
  version: Schema.NullOr(Plan.VersionNumber).annotate({
    description: "The version that was rated. `null` for a plan that was sent in the request.",
  }),
  currency: Wire.text(3).annotate({ description: "The ISO 4217 code of the currency." }),
  lines: Schema.Array(PreviewLine)
    .check(Schema.isMaxLength(MAX_LINES))
    .annotate({ description: "A line for each charge, in the order of the plan." }),
  total: Wire.amount("The sum of the lines"),
}).annotate({ identifier: "PlanPreview", description: "What a plan costs for a full period." })

const plansProblem = { message: Plan.PLANS_PROBLEM }
const cardsProblem = { message: RateCard.CARDS_PROBLEM }
const PushBody = Schema.Struct({
  plans: Schema.optionalKey(
    Schema.Array(Wire.described(schemaOf("PlanDefinition")))
      .check(Schema.isMinLength(1, plansProblem), Schema.isMaxLength(Plan.MAX_PLANS_PER_PUSH, plansProblem))
      .annotate({
        ...plansProblem,
        description: `1 to ${Plan.MAX_PLANS_PER_PUSH} plans with different keys. They can be left out if there are rate cards.`,
      }),
  ),
  rateCards: Schema.optionalKey(
    Schema.Array(Wire.described(schemaOf("RateCardDefinition")))
      .check(
        Schema.isMinLength(1, cardsProblem),
        Schema.isMaxLength(RateCard.MAX_CARDS_PER_PUSH, cardsProblem),
      )
      .annotate({
        ...cardsProblem,
        description: `1 to ${RateCard.MAX_CARDS_PER_PUSH} rate cards with different keys.`,
      }),
  ),
})
  .pipe(Schema.encodeKeys({ rateCards: "rate_cards" }))
  .annotate({
    identifier: "PushCatalog",
    description: "Plans and rate cards to push, or to compare with the stored ones.",
  })

const PreviewBody = Schema.Struct({
  plan: Wire.described({
    anyOf: [{ type: "string", maxLength: MAX_KEY_LENGTH }, schemaOf("PlanDefinition")],
    description: "The key of a stored plan, or a plan as it would be pushed.",
  }),
  version: Schema.optionalKey(
    Plan.VersionNumber.annotate({ description: "A version of the stored plan. Default: the newest." }),
  ),
  currency: Schema.optionalKey(
    Wire.text(3).annotate({ description: "A currency of the plan. Default: its only currency." }),
  ),
  quantities: Schema.optionalKey(
    Wire.anyJson(
      'The quantity of a full period by the key of the charge, as a decimal in a string or an integer: `{"calls": "2000", "seats": 5}`. Charges that are left out have 0.',
    ),
  ),
}).annotate({ identifier: "PreviewPlan", description: "A plan, and the quantities to rate." })

const EARLY_END =
  "A page holds at most 4 MiB of terms. With large terms it may be shorter than `limit`, and `has_more` is then true."

const KeyParam = Schema.Struct({ key: Schema.String.annotate({ description: "The key of the plan." }) })
const VersionParams = Schema.Struct({
  key: Schema.String.annotate({ description: "The key of the plan." }),
  version: Schema.String.annotate({ description: "The number of the version." }),
})

const PageQuery = Schema.Struct(Wire.pageFields).pipe(Schema.encodeKeys(Wire.pageKeys))

export const PlansApi = HttpApiGroup.make("plans")
  .add(
    HttpApiEndpoint.post("pushCatalog", "/catalog/push", {
      payload: PushBody,
      success: CatalogChangesBody,
      error: writeErrors(),
    })
      .annotate(RequiredPermission, "catalog:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Push plans and rate cards",
          description:
            "Stores plans and rate cards: all of them, or none if one is wrong. One with new terms gets the next version. A version never changes. A new name or description changes no version. An equal one changes nothing, and those that are not sent stay as they are. `problems` of a 400 lists everything that is wrong with all of them.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("diffCatalog", "/catalog/diff", {
      payload: PushBody,
      success: CatalogChangesBody,
      error: writeErrors(),
    })
      .annotate(RequiredPermission, "catalog:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Compare plans and rate cards",
          description: "Says what a push of these plans and rate cards would do. Changes nothing.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("previewPlan", "/catalog/preview", {
      payload: PreviewBody,
      success: PlanPreviewBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "catalog:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Preview a plan",
          description:
            "Computes what a stored plan, or one that is sent, costs for the quantities of a full period, as an invoice would. Changes nothing.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("listPlans", "/plans", {
      query: PageQuery,
      success: Wire.list(PlanBody, "PlanList"),
      error: readErrors(),
    })
      .annotate(RequiredPermission, "catalog:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "List plans",
          description: `Lists plans, newest first. ${EARLY_END}`,
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getPlan", "/plans/:key", {
      params: KeyParam,
      success: PlanBody,
      error: readErrors("not_found"),
    })
      .annotate(RequiredPermission, "catalog:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a plan",
          description: "Returns one plan, with the terms of its newest version.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("listPlanVersions", "/plans/:key/versions", {
      params: KeyParam,
      query: PageQuery,
      success: Wire.list(PlanVersionBody, "PlanVersionList"),
      error: readErrors("not_found"),
    })
      .annotate(RequiredPermission, "catalog:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "List the versions of a plan",
          description: `Lists the versions of a plan, newest first. ${EARLY_END}`,
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getPlanVersion", "/plans/:key/versions/:version", {
      params: VersionParams,
      success: PlanVersionBody,
      error: readErrors("not_found"),
    })
      .annotate(RequiredPermission, "catalog:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a version of a plan",
          description: "Returns one version of a plan by its number.",
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Plans",
      description: "What you sell: charges, features and grants, in versions that never change.",
    }),
  )
