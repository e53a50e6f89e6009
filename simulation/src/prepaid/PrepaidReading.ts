/**
 * Reads what services and the storage tell of prepaid credits.
 */
import {
  AutoTopUps,
  CreditAlerts,
  RateCards,
  SubscriptionStore,
  Tenant,
  TokenUsages,
  TopUps,
} from "@billwright/core"
import { MemoryInspector, type MemorySnapshot } from "@billwright/memory"
import { Context, Effect } from "effect"
import { MANY } from "../payments/PaymentCommands.ts"
import type { Process } from "../world/Process.ts"
import type { Memory } from "../world/Seeded.ts"
import type { PrepaidBooks } from "./PrepaidBooks.ts"

type Read = Pick<PrepaidBooks, "topUps" | "autos" | "alerts" | "subscriptions" | "tokenUsages" | "rateCards">
type StoredSubscription = MemorySnapshot["subscriptions"][number]["subscription"]

export const nothingRead: Read = {
  topUps: [],
  autos: [],
  alerts: [],
  subscriptions: [],
  tokenUsages: [],
  rateCards: [],
}

const periodsOf = ({ id, state: { closed, opened, period } }: StoredSubscription) => {
  const stored = Effect.flatMap(SubscriptionStore, (store) => store.periodsBefore(id, opened, opened))
  return Effect.map(stored, (periods) => {
    const last = [closed?.period, period].flatMap((one) => one ?? [])
    const isOld = ({ number }: { readonly number: number }) => last.every((one) => one.number !== number)
    return [...periods.filter(isOld), ...last]
  })
}

/** Reads it of each tenant, by a process. */
export const readPrepaid = (
  memory: Memory,
  tenants: ReadonlyArray<Tenant.Tenant>,
  process: Process,
): Effect.Effect<Read> => {
  const ofTenant = (tenant: Tenant.Tenant, { subscriptions }: MemorySnapshot) =>
    Effect.gen(function* () {
      const topUps = (yield* (yield* TopUps).list({ limit: MANY })).data
      const autos = (yield* (yield* AutoTopUps).list({ limit: MANY })).data
      const alerts = (yield* (yield* CreditAlerts).list({ limit: MANY })).data
      const usages = (yield* (yield* TokenUsages).list({ limit: MANY })).data
      const cards = (yield* (yield* RateCards).list({ limit: MANY })).data
      const own = subscriptions.filter((one) => Tenant.tenantKey(one.tenant) === Tenant.tenantKey(tenant))
      return {
        topUps: topUps.map((topUp) => ({ tenant, topUp })),
        autos: autos.map((auto) => ({ tenant, auto })),
        alerts: alerts.map((alert) => ({ tenant, alert })),
        tokenUsages: usages.map((usage) => ({ tenant, usage })),
        rateCards: cards.map((card) => ({ tenant, card })),
        subscriptions: yield* Effect.forEach(own, ({ subscription }) =>
          Effect.map(periodsOf(subscription), (periods) => ({ tenant, subscription, periods })),
        ),
      }
    })
  return Effect.gen(function* () {
    const snapshot = yield* Context.get(memory, MemoryInspector).snapshot
    const all = yield* Effect.forEach(tenants, (tenant) =>
      Effect.orDie(process.run(tenant, ofTenant(tenant, snapshot))),
    )
    return {
      topUps: all.flatMap(({ topUps }) => topUps),
      autos: all.flatMap(({ autos }) => autos),
      alerts: all.flatMap(({ alerts }) => alerts),
      tokenUsages: all.flatMap(({ tokenUsages }) => tokenUsages),
      rateCards: all.flatMap(({ rateCards }) => rateCards),
      subscriptions: all.flatMap(({ subscriptions }) => subscriptions),
    }
  })
}
