/**
 * The REST definitions of holds.
 */
import { Hold, TokenUsage } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  AccountQuery,
  creditAmount,
  creditCount,
  CustomerIdField,
  keyField,
  KeyOrNull,
  purposeField,
  purposeOrNull,
  UnitField,
} from "./CreditsApi.ts"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as ResourceApi from "./ResourceApi.ts"
import * as Wire from "./Wire.ts"

const holdFields = {
  object: Schema.Literal("hold"),
  id: Hold.HoldId.annotate({ description: "The id of the hold." }),
  customer_id: CustomerIdField,
  unit: UnitField,
  amount: creditCount("What it keeps while it is open"),
  purpose: purposeOrNull("What it keeps them for"),
  status: Hold.HoldStatus.annotate({
    description:
      "`open`: nobody else can use what it keeps. `committed`: it was used. `released`: it was given back. `lapsed`: its time ran out, and it was given back.",
  }),
  committed: Schema.NullOr(creditCount("What was used")).annotate({
    description: "What was used, in the smallest unit. `null` unless it is committed.",
  }),
  is_late: Schema.Boolean.annotate({
    description: "Whether it had lapsed before it was committed. Then it was charged of what was available.",
  }),
  expires_at: Wire.instant("When it lapses."),
  settled_at: Wire.instantOrNull("When it was committed, released or lapsed. `null` while it is open."),
  idempotency_key: KeyOrNull,
  livemode: Wire.Livemode,
  created_at: Wire.instant("When it was made."),
}

const HoldBody = Schema.Struct(holdFields).annotate({
  identifier: "Hold",
  description: "Credits that are kept for work under way, until it is known how much of them it used.",
})

const CommittedBody = Schema.Struct({
  ...holdFields,
  token_usage: Schema.NullOr(ResourceApi.body(TokenUsage.tokenUsages)).annotate({
    description:
      "The tokens that it was committed with, and their price. `null`: it was committed with an amount.",
  }),
}).annotate({ identifier: "CommittedHold", description: "A hold that was committed." })

const ttl = (from: string) =>
  Schema.optionalKey(
    Hold.TtlSeconds.annotate({
      description: `How long it lasts from ${from}: 1 second to 7 days. Default: 900, which is 15 minutes.`,
    }),
  )

const ReserveInput = Schema.Struct({
  customerId: CustomerIdField,
  unit: UnitField,
  amount: creditAmount(1, "What is kept"),
  purpose: purposeField("kept"),
  ttlSeconds: ttl("now on"),
  idempotencyKey: keyField("hold"),
})
  .pipe(
    Schema.encodeKeys({
      customerId: "customer_id",
      ttlSeconds: "ttl_seconds",
      idempotencyKey: "idempotency_key",
    }),
  )
  .annotate({ identifier: "ReserveCredits", description: "Credits to keep for work under way." })

const ExtendInput = Schema.Struct({ ttlSeconds: ttl("now on") })
  .pipe(Schema.encodeKeys({ ttlSeconds: "ttl_seconds" }))
  .annotate({ identifier: "ExtendHold", description: "How long a hold lasts." })

const CommitInput = Schema.Struct({
  amount: Schema.optionalKey(
    creditAmount(0, "What was used. Default: what the tokens cost or, without tokens, all that is kept"),
  ),
  rateCard: Schema.optionalKey(
    TokenUsage.UsedTokens.fields.rateCard.annotate({
      description:
        "The key of the rate card that prices the tokens. It must be in the unit of the hold. It comes with `model` and `tokens`, and without `amount`.",
    }),
  ),
  model: Schema.optionalKey(TokenUsage.UsedTokens.fields.model),
  tokens: Schema.optionalKey(
    TokenUsage.UsedTokens.fields.tokens.annotate({
      description: "How many tokens of each kind were used. Kinds that are left out have none.",
    }),
  ),
  overdraft: Schema.optionalKey(
    Hold.Overdraft.annotate({
      description:
        "What to do with more than is kept and available: it becomes a `debt`, which the next grants repay, or the request is refused (`refuse`). Default: `debt`.",
    }),
  ),
})
  .pipe(Schema.encodeKeys({ rateCard: "rate_card" }))
  .annotate({ identifier: "CommitHold", description: "How much of a hold was used: an amount, or tokens." })

const Params = Schema.Struct({ id: Schema.String.annotate({ description: "The id of the hold." }) })

export const HoldsApi = HttpApiGroup.make("holds")
  .add(
    HttpApiEndpoint.post("reserveCredits", "/holds", {
      payload: ReserveInput,
      success: HoldBody.pipe(HttpApiSchema.status(201)),
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "credits:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Hold credits",
          description:
            "Keeps credits: the whole amount, or nothing. Until the hold is committed or released, or lapses, nobody else can use them. A `conflict` says that there is not enough, or that the customer has 1,000 open holds of the unit, and changes nothing.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("listHolds", "/holds", {
      query: AccountQuery,
      success: Wire.list(HoldBody, "HoldList"),
      error: readErrors("conflict"),
    })
      .annotate(RequiredPermission, "credits:read")
      .annotateMerge(
        OpenApi.annotations({ summary: "List holds", description: "Lists holds of credits, newest first." }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getHold", "/holds/:id", {
      params: Params,
      success: HoldBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "credits:read")
      .annotateMerge(OpenApi.annotations({ summary: "Get a hold", description: "Returns one hold." })),
  )
  .add(
    HttpApiEndpoint.post("extendHold", "/holds/:id/extend", {
      params: Params,
      payload: ExtendInput,
      success: HoldBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "credits:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Extend a hold",
          description:
            "Moves the instant at which an open hold lapses. One that is not open is a `conflict`.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("commitHold", "/holds/:id/commit", {
      params: Params,
      payload: CommitInput,
      success: CommittedBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "credits:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Commit a hold",
          description:
            "Says how much of a hold was used, and settles it. What is left over is given back. A hold that has lapsed is charged too, of what is available, and says so. With tokens, the version of the rate card that is in force says what was used, step by step in `token_usage`. If the card has no price for them, the hold is settled with 0, and the tokens are charged when they are rated. Committing the same amount or the same tokens again changes nothing. A `conflict` says that the hold was settled before in another way, or that an overdraft is refused.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("releaseHold", "/holds/:id/release", {
      params: Params,
      success: HoldBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "credits:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Release a hold",
          description:
            "Gives a hold back. One that was given back or has lapsed stays as it is. A committed one is a `conflict`.",
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Holds",
      description: "Credits that are kept for work under way.",
    }),
  )

export type HoldBody = typeof HoldBody.Encoded
export type CommittedBody = typeof CommittedBody.Encoded
