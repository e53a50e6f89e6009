/**
 * The operations of entitlements (see `Operations`).
 */
import { type Entitlement, Entitlements, ExactJson, type Tenant } from "@billwright/core"
import { Effect } from "effect"
import type { EntitlementBody, EntitlementConsumptionBody } from "../api/EntitlementsApi.ts"
import { ok } from "./HttpExchange.ts"
import type { OperationsOf } from "./Operation.ts"
import * as Render from "./Render.ts"

const units = (value: bigint | null) => (value === null ? null : ExactJson.integer(value))

const fields = (value: Omit<Entitlement.Entitlement, "rolledOver">, { mode }: Tenant.Tenant) => ({
  customer_id: value.customerId,
  feature: value.feature,
  type: value.type,
  allowed: value.allowed,
  reason: value.reason,
  value: value.value,
  subscription_id: value.subscriptionId,
  meter: value.meter,
  limit_type: value.limitType,
  limit: units(value.limit),
  used: units(value.used),
  balance: units(value.balance),
  overage: units(value.overage),
  period_start: Render.instantOrNull(value.periodStart),
  resets_at: Render.instantOrNull(value.resetsAt),
  livemode: mode === "live",
})

const entitlement = (value: Entitlement.Entitlement, tenant: Tenant.Tenant): EntitlementBody => ({
  object: "entitlement",
  ...fields(value, tenant),
  rolled_over: units(value.rolledOver),
})

const consumption = (
  value: Entitlement.EntitlementConsumption,
  tenant: Tenant.Tenant,
): EntitlementConsumptionBody => ({
  object: "entitlement_consumption",
  ...fields(value, tenant),
  quantity: value.quantity,
  usage_record_id: value.usageRecordId,
  idempotency_key: value.idempotencyKey,
})

export const make: Effect.Effect<OperationsOf<"entitlements">, never, Entitlements> = Effect.gen(
  function* () {
    const entitlements = yield* Entitlements
    return {
      listEntitlements: ({ query }, tenant) =>
        Effect.map(entitlements.list(query), (values) =>
          ok(Render.completeList(values.map((value) => entitlement(value, tenant)))),
        ),
      checkEntitlement: ({ payload }, tenant) =>
        Effect.map(entitlements.check(payload), (value) => ok(entitlement(value, tenant))),
      consumeEntitlement: ({ payload }, tenant) =>
        Effect.map(entitlements.consume(payload), (value) => ok(consumption(value, tenant))),
    }
  },
)
