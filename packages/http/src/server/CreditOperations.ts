/**
 * The operations of credits and holds (see `Operations`).
 */
import {
  type CommitHold,
  type Credit,
  Credits,
  ExactJson,
  type Hold,
  Holds,
  type Tenant,
  TokenUsage,
  type Transactor,
} from "@billwright/core"
import { Effect } from "effect"
import type { BalanceBody, ConsumptionBody, EntryBody, GrantBody } from "../api/CreditsApi.ts"
import type { CommittedBody, HoldBody } from "../api/HoldsApi.ts"
import { created, ok } from "./HttpExchange.ts"
import * as LimitedGrant from "./LimitedGrant.ts"
import type { OperationsOf } from "./Operation.ts"
import * as Render from "./Render.ts"
import * as ResourceBody from "./ResourceBody.ts"

const { integer } = ExactJson

const grant = (value: Credit.CreditGrant, { mode }: Tenant.Tenant): GrantBody => ({
  object: "credit_grant",
  id: value.id,
  customer_id: value.customerId,
  unit: value.unit,
  kind: value.kind,
  amount: integer(value.amount),
  priority: value.priority,
  scope: value.scope,
  status: value.status,
  available: integer(value.available),
  held: integer(value.held),
  rollover:
    value.rollover === null
      ? null
      : { maximum: integer(value.rollover.maximum), expires_at: Render.instant(value.rollover.expiresAt) },
  steps: value.steps.map((step) => ({ ...step, amount: integer(step.amount) })),
  source: value.source,
  effective_at: Render.instant(value.effectiveAt),
  expires_at: Render.instantOrNull(value.expiresAt),
  idempotency_key: value.idempotencyKey,
  livemode: mode === "live",
  created_at: Render.instant(value.createdAt),
})

type Amounts = Record<"available" | "held" | "debt", bigint>

const amounts = ({ available, debt, held }: Amounts) => ({
  available: integer(available),
  held: integer(held),
  debt: integer(debt),
})

const balance = (value: Credit.AccountBalance, { mode }: Tenant.Tenant): BalanceBody => ({
  object: "credit_balance",
  customer_id: value.customerId,
  unit: value.unit,
  decimals: value.decimals,
  purpose: value.purpose,
  ...amounts(value),
  scoped: integer(value.scoped),
  sequence: value.sequence,
  livemode: mode === "live",
})

const consumption = (value: Credit.Consumption, { mode }: Tenant.Tenant): ConsumptionBody => ({
  object: "credit_consumption",
  id: value.id,
  customer_id: value.customerId,
  unit: value.unit,
  amount: integer(value.amount),
  purpose: value.purpose,
  idempotency_key: value.idempotencyKey,
  balance: amounts(value.balance),
  livemode: mode === "live",
  created_at: Render.instant(value.createdAt),
})

const entry = (value: Credit.CreditEntry, { mode }: Tenant.Tenant): EntryBody => ({
  object: "credit_entry",
  id: value.id,
  customer_id: value.customerId,
  unit: value.unit,
  sequence: value.sequence,
  kind: value.kind,
  grant_id: value.grantId,
  hold_id: value.holdId,
  consumption_id: value.consumptionId,
  invoice_id: value.invoiceId,
  purpose: value.purpose,
  ...amounts(value),
  scoped: integer(value.scoped),
  at: Render.instant(value.at),
  livemode: mode === "live",
})

const hold = (value: Hold.Hold, { mode }: Tenant.Tenant): HoldBody => ({
  object: "hold",
  id: value.id,
  customer_id: value.customerId,
  unit: value.unit,
  amount: integer(value.amount),
  purpose: value.purpose,
  status: value.status,
  committed: value.committed === null ? null : integer(value.committed),
  is_late: value.isLate,
  expires_at: Render.instant(value.expiresAt),
  settled_at: Render.instantOrNull(value.settledAt),
  idempotency_key: value.idempotencyKey,
  livemode: mode === "live",
  created_at: Render.instant(value.createdAt),
})

const usageBody = ResourceBody.make<TokenUsage.TokenUsage>(TokenUsage.tokenUsages)

const committed = (value: CommitHold.CommittedHold, tenant: Tenant.Tenant): CommittedBody =>
  ({
    ...hold(value, tenant),
    token_usage: value.tokenUsage === null ? null : usageBody(value.tokenUsage, tenant),
  }) as CommittedBody

export const make: Effect.Effect<
  OperationsOf<"credits" | "holds">,
  never,
  Credits | Holds | Transactor
> = Effect.gen(function* () {
  const [credits, holds] = [yield* Credits, yield* Holds]
  const grantLimited = yield* LimitedGrant.make
  const answerHold = (tenant: Tenant.Tenant) => (value: Hold.Hold) => ok(hold(value, tenant))
  return {
    grantCredits: ({ payload }, tenant, key) =>
      Effect.map(grantLimited(key, payload), (value) => created(grant(value, tenant))),
    listCreditGrants: ({ query }, tenant) =>
      Effect.map(credits.listGrants(query), (page) => ok(Render.list(page, tenant, grant))),
    getCreditGrant: ({ params }, tenant) =>
      Effect.map(credits.getGrant(params.id), (value) => ok(grant(value, tenant))),
    voidCreditGrant: ({ params }, tenant) =>
      Effect.map(credits.voidGrant(params.id), (value) => ok(grant(value, tenant))),
    getCreditBalance: ({ query }, tenant) =>
      Effect.map(credits.balance(query), (value) => ok(balance(value, tenant))),
    consumeCredits: ({ payload }, tenant) =>
      Effect.map(credits.consume(payload), (value) => created(consumption(value, tenant))),
    listCreditEntries: ({ query }, tenant) =>
      Effect.map(credits.listEntries(query), (page) => ok(Render.list(page, tenant, entry))),

    reserveCredits: ({ payload }, tenant) =>
      Effect.map(holds.reserve(payload), (value) => created(hold(value, tenant))),
    listHolds: ({ query }, tenant) =>
      Effect.map(holds.list(query), (page) => ok(Render.list(page, tenant, hold))),
    getHold: ({ params }, tenant) => Effect.map(holds.get(params.id), answerHold(tenant)),
    extendHold: ({ params, payload }, tenant) =>
      Effect.map(holds.extend(params.id, payload), answerHold(tenant)),
    commitHold: ({ params, payload }, tenant) =>
      Effect.map(holds.commit(params.id, payload), (value) => ok(committed(value, tenant))),
    releaseHold: ({ params }, tenant) => Effect.map(holds.release(params.id), answerHold(tenant)),
  }
})
