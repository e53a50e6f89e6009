/**
 * The REST definitions of credits.
 */
import { Credit, Customer, Hold, Invoice } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import { UnitDecimals } from "./InvoicingFields.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

/** An amount that callers give: an integer of the smallest unit. */
export const creditAmount = (minimum: number, description: string) =>
  Wire.exactInteger({
    minimum,
    maximum: 1e30,
    problem: `must be an integer from ${minimum} to 10^30`,
    description: `${description}, an integer of the smallest unit. ${Wire.LARGE_INTEGERS}`,
  })

/** An amount of an answer. */
export const creditCount = (description: string) =>
  Wire.exactInteger({
    minimum: -Number.MAX_VALUE,
    maximum: Number.MAX_VALUE,
    problem: "must be an integer",
    description: `${description}, in the smallest unit. ${Wire.LARGE_INTEGERS}`,
  })

export const CustomerIdField = Customer.CustomerId.annotate({ description: "The customer." })
export const UnitField = Credit.CreditUnit.annotate({
  description:
    "What the credits count: an ISO 4217 currency code, then in its minor unit, or a unit of yours such as `token`.",
})

const PURPOSE = "the key of a charge or a feature"

/** What credits are used for, of an input. */
export const purposeField = (used: string) =>
  Schema.optionalKey(
    Credit.Purpose.annotate({
      description: `What they are ${used} for: ${PURPOSE}. Then grants are used, too, that have it in their \`scope\`. Default: only grants for anything.`,
    }),
  )
/** What credits are used for, of an answer. */
export const purposeOrNull = (description: string) =>
  Schema.NullOr(Credit.Purpose).annotate({
    description: `${description}: ${PURPOSE}. \`null\`: nobody said it.`,
  })

const SCOPE = "What it pays for: keys of charges and features"

/** The idempotency key of an input. */
export const keyField = (things: string) =>
  Schema.optionalKey(
    Wire.text(Credit.MAX_CREDIT_KEY_LENGTH)
      .check(Schema.isMinLength(1))
      .annotate({
        description: `With a key, the same again changes nothing and gives the first ${things}, for ever. Other content is a \`conflict\`. Unique for the customer and the unit.`,
      }),
  )
export const KeyOrNull = Schema.NullOr(Wire.text(Credit.MAX_CREDIT_KEY_LENGTH)).annotate({
  description: "The idempotency key that it was made with.",
})

const KIND = "`paid`: the customer bought it. `promotional`: a present. `plan`: a plan includes it."
const PRIORITY = "Grants of a lower number are used first, then those that expire sooner, then older ones"

/** Most steps of a grant: one for each plan that served a part of the period. */
const MAX_GRANT_STEPS = 10_000
const MAX_PLAN_KEY_LENGTH = 64
/** Longest decimal: 18 digits, a point and 12 more. */
const MAX_DECIMAL_LENGTH = 31

const GrantSource = Schema.Struct({
  type: Credit.GrantSourceType.annotate({
    description:
      "`credit_note`: it gave money back. `invoice`: it came to less than 0, and this is the difference. `subscription`: its plan grants it for a period.",
  }),
  id: Wire.text(30).annotate({ description: "The id of the credit note, the invoice or the subscription." }),
  period: Schema.NullOr(Wire.Count).annotate({
    description: "The number of the period of the subscription. `null` for the others.",
  }),
})

const GrantRollover = Schema.Struct({
  maximum: creditCount("Most that stays"),
  expires_at: Wire.instant("When that ends."),
})

const GrantStep = Schema.Struct({
  plan: Schema.Struct({
    key: Wire.text(MAX_PLAN_KEY_LENGTH).annotate({ description: "The key of the plan." }),
    version: Wire.Count.annotate({ description: "The number of its version." }),
  }).annotate({ description: "The plan that served this part of the period." }),
  granted: Wire.text(MAX_DECIMAL_LENGTH).annotate({
    description: "What the plan grants for a full period: a decimal.",
  }),
  from: Wire.Count.annotate({ description: "Where the part begins: days or milliseconds of the period." }),
  to: Wire.Count.annotate({ description: "Where it ends." }),
  of: Wire.Count.annotate({ description: "How long the period is." }),
  amount: creditCount("What is granted for the part"),
})

const GrantBody = Schema.Struct({
  object: Schema.Literal("credit_grant"),
  id: Credit.CreditGrantId.annotate({ description: "The id of the grant." }),
  customer_id: CustomerIdField,
  unit: UnitField,
  kind: Credit.GrantKind.annotate({ description: KIND }),
  amount: creditCount("What was granted"),
  priority: Credit.Priority.annotate({ description: `${PRIORITY}.` }),
  scope: Schema.NullOr(Credit.GrantScope).annotate({ description: `${SCOPE}. \`null\`: anything.` }),
  status: Credit.GrantStatus.annotate({
    description:
      "`pending`: it begins later. `active`: it can be used. `expired` and `voided`: what was left is gone.",
  }),
  available: creditCount("What is left of it, without what is held"),
  held: creditCount("What open holds keep of it. It stays held when the grant ends"),
  rollover: Schema.NullOr(GrantRollover).annotate({
    description: "How much of what is left at the end of a period stays for some more time. `null`: nothing.",
  }),
  steps: Schema.Array(GrantStep).check(Schema.isMaxLength(MAX_GRANT_STEPS)).annotate({
    description: "How the amount comes about, if a plan grants it. The amounts of the steps sum to it.",
  }),
  source: Schema.NullOr(GrantSource).annotate({
    description: "What made it by itself. `null`: it was granted by a call.",
  }),
  effective_at: Wire.instant("When its credits begin."),
  expires_at: Wire.instantOrNull("When its credits end. `null`: never."),
  idempotency_key: KeyOrNull,
  livemode: Wire.Livemode,
  created_at: Wire.instant("When it was created."),
}).annotate({ identifier: "CreditGrant", description: "A grant of credits to a customer." })

const balanceFields = {
  available: creditCount("What can be used or held now"),
  held: creditCount("What open holds keep"),
  debt: creditCount("What was used beyond all grants. The next grants repay it"),
}

const BalanceBody = Schema.Struct({
  object: Schema.Literal("credit_balance"),
  customer_id: CustomerIdField,
  unit: UnitField,
  decimals: UnitDecimals,
  purpose: Schema.NullOr(Credit.Purpose).annotate({
    description: "What `available` can be used for. `null`: anything.",
  }),
  ...balanceFields,
  scoped: creditCount(
    "What is available for other things alone, of grants with a scope. It is no part of `available`",
  ),
  sequence: Wire.Count.annotate({ description: "Rises with each change. 0: there never were credits." }),
  livemode: Wire.Livemode,
}).annotate({ identifier: "CreditBalance", description: "What a customer has of a unit now." })

const ConsumptionBody = Schema.Struct({
  object: Schema.Literal("credit_consumption"),
  id: Credit.ConsumptionId.annotate({ description: "The id of the consumption." }),
  customer_id: CustomerIdField,
  unit: UnitField,
  amount: creditCount("What was used"),
  purpose: purposeOrNull("What they were used for"),
  idempotency_key: KeyOrNull,
  balance: Schema.Struct(balanceFields).annotate({
    description: "What the customer had after it, for this purpose.",
  }),
  livemode: Wire.Livemode,
  created_at: Wire.instant("When it was used."),
}).annotate({ identifier: "CreditConsumption", description: "Credits that were used at once." })

const EntryBody = Schema.Struct({
  object: Schema.Literal("credit_entry"),
  id: Credit.CreditEntryId.annotate({ description: "The id of the entry." }),
  customer_id: CustomerIdField,
  unit: UnitField,
  sequence: Wire.Count.annotate({
    description: "1 for the first entry of the customer and unit, and one more each.",
  }),
  kind: Credit.EntryKind.annotate({
    description:
      "What changed: `grant`, `expire` and `void` of a grant; `consume`; `reserve`, `commit`, `release` and `lapse` of a hold; `repay` of a debt; `adjust` when a plan is changed; `apply` to an invoice that is issued, `burn` for usage of one that is issued, and `restore` when it is voided or less was used.",
  }),
  grant_id: Schema.NullOr(Credit.CreditGrantId).annotate({
    description: "The grant whose credits they are. `null` for a use that became debt.",
  }),
  hold_id: Schema.NullOr(Hold.HoldId).annotate({ description: "The hold that it is about." }),
  consumption_id: Schema.NullOr(Credit.ConsumptionId).annotate({
    description: "The consumption that it is about.",
  }),
  invoice_id: Schema.NullOr(Invoice.InvoiceId).annotate({
    description: "The invoice that they lower or pay.",
  }),
  purpose: purposeOrNull("What they were used or kept for"),
  available: creditCount("By how much what is available for anything changed"),
  scoped: creditCount("By how much what is available of a grant with a scope changed"),
  held: creditCount("By how much what is held changed"),
  debt: creditCount("By how much the debt changed"),
  at: Wire.instant("When it happened."),
  livemode: Wire.Livemode,
}).annotate({
  identifier: "CreditEntry",
  description: "A change of a customer's credits. The balance is the sum of all entries.",
})

const GrantInput = Schema.Struct({
  customerId: CustomerIdField,
  unit: UnitField,
  kind: Credit.GrantKind.annotate({ description: KIND }),
  amount: creditAmount(1, "What is granted"),
  priority: Schema.optionalKey(Credit.Priority.annotate({ description: `${PRIORITY}. Default: 50.` })),
  scope: Schema.optionalKey(
    Credit.GrantScope.annotate({
      description: `${SCOPE}, at most 20. On invoices it lowers and pays, and is burnt by, the lines of these charges alone. Default: anything.`,
    }),
  ),
  effectiveAt: Schema.optionalKey(Wire.instant("When its credits begin. Default: now.")),
  expiresAt: Schema.optionalKey(
    Wire.instant("When its credits end: in the future, and after they begin. Default: never."),
  ),
  idempotencyKey: keyField("grant"),
})
  .pipe(
    Schema.encodeKeys({
      customerId: "customer_id",
      effectiveAt: "effective_at",
      expiresAt: "expires_at",
      idempotencyKey: "idempotency_key",
    }),
  )
  .annotate({ identifier: "GrantCredits", description: "Credits for a customer." })

const ConsumeInput = Schema.Struct({
  customerId: CustomerIdField,
  unit: UnitField,
  amount: creditAmount(1, "What is used"),
  purpose: purposeField("used"),
  idempotencyKey: keyField("answer"),
})
  .pipe(Schema.encodeKeys({ customerId: "customer_id", idempotencyKey: "idempotency_key" }))
  .annotate({ identifier: "ConsumeCredits", description: "Credits to use at once." })

const filterFields = {
  ...Wire.pageFields,
  customerId: Schema.optionalKey(
    Customer.CustomerId.annotate({ description: "Only those of this customer." }),
  ),
  unit: Schema.optionalKey(Credit.CreditUnit.annotate({ description: "Only those of this unit." })),
}
/** Lists grants or holds. */
export const AccountQuery = Schema.Struct(filterFields).pipe(
  Schema.encodeKeys({ ...Wire.pageKeys, customerId: "customer_id" }),
)
const ListEntriesQuery = Schema.Struct({
  ...filterFields,
  grantId: Schema.optionalKey(Credit.CreditGrantId.annotate({ description: "Only those of this grant." })),
}).pipe(Schema.encodeKeys({ ...Wire.pageKeys, customerId: "customer_id", grantId: "grant_id" }))
const BalanceQuery = Schema.Struct({
  customerId: CustomerIdField,
  unit: UnitField,
  purpose: Schema.optionalKey(
    Credit.Purpose.annotate({
      description: `What they are to be used for: ${PURPOSE}. Then \`available\` counts grants, too, that have it in their \`scope\`. Default: anything.`,
    }),
  ),
}).pipe(Schema.encodeKeys({ customerId: "customer_id" }))

const Params = Schema.Struct({ id: Schema.String.annotate({ description: "The id of the grant." }) })

export const CreditsApi = HttpApiGroup.make("credits")
  .add(
    HttpApiEndpoint.post("grantCredits", "/credit_grants", {
      payload: GrantInput,
      success: GrantBody.pipe(HttpApiSchema.status(201)),
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "credits:grant")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Grant credits",
          description:
            "Grants credits to a customer. A debt is repaid first. A customer has at most 100 grants of a unit that have something left: one more is a `conflict`.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("listCreditGrants", "/credit_grants", {
      query: AccountQuery,
      success: Wire.list(GrantBody, "CreditGrantList"),
      error: readErrors("conflict"),
    })
      .annotate(RequiredPermission, "credits:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "List credit grants",
          description: "Lists grants of credits, newest first.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getCreditGrant", "/credit_grants/:id", {
      params: Params,
      success: GrantBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "credits:read")
      .annotateMerge(
        OpenApi.annotations({ summary: "Get a credit grant", description: "Returns one grant of credits." }),
      ),
  )
  .add(
    HttpApiEndpoint.post("voidCreditGrant", "/credit_grants/:id/void", {
      params: Params,
      success: GrantBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "credits:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Void a credit grant",
          description:
            "Takes back what is left of a grant. What open holds keep of it stays held, and is gone when it is given back. Voiding it again changes nothing. One that has expired stays: a `conflict`.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getCreditBalance", "/credit_balance", {
      query: BalanceQuery,
      success: BalanceBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "credits:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a credit balance",
          description:
            "Returns what a customer has of a unit now, for anything or for a purpose. All amounts are 0 if there never were credits.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("consumeCredits", "/credit_consumptions", {
      payload: ConsumeInput,
      success: ConsumptionBody.pipe(HttpApiSchema.status(201)),
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "credits:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Consume credits",
          description:
            "Uses credits: the whole amount, or nothing. Of any number of requests at once, those succeed for whom there is enough. A `conflict` says that there is not enough, and changes nothing.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("listCreditEntries", "/credit_entries", {
      query: ListEntriesQuery,
      success: Wire.list(EntryBody, "CreditEntryList"),
      error: readErrors("conflict"),
    })
      .annotate(RequiredPermission, "credits:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "List credit entries",
          description:
            "Lists what changed the credits of customers, newest first. What happens by the clock is there from the next change of the same customer and unit.",
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Credits",
      description:
        "Credits that customers have bought, were given or have with their plan, and what they use of them.",
    }),
  )

export type GrantBody = typeof GrantBody.Encoded
export type BalanceBody = typeof BalanceBody.Encoded
export type ConsumptionBody = typeof ConsumptionBody.Encoded
export type EntryBody = typeof EntryBody.Encoded
