/**
 * Entitlements in memory, and the `EntitlementStore` over them.
 */
import { type Entitlement, EntitlementStore, StorageError, Tenant } from "@billwright/core"
import { Effect, Exit, Option } from "effect"
import type { Journal } from "./Journal.ts"
import { copyOf } from "./PlainData.ts"

type Consumption = Entitlement.StoredEntitlementConsumption

const keyOf = (tenant: Tenant.Tenant, ...parts: ReadonlyArray<unknown>): string =>
  JSON.stringify([Tenant.tenantKey(tenant), ...parts])

/** Consumptions by tenant, customer and key, and the limits that were reached. Its methods are synchronous. */
export class EntitlementTable {
  readonly #journal: Journal
  readonly #consumptions = new Map<string, Consumption>()
  readonly #reached = new Set<string>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  byKey(tenant: Tenant.Tenant, customerId: string, idempotencyKey: string): Option.Option<Consumption> {
    const found = this.#consumptions.get(keyOf(tenant, customerId, idempotencyKey))
    return Option.map(Option.fromUndefinedOr(found), copyOf)
  }

  insert(tenant: Tenant.Tenant, consumption: Consumption): Exit.Exit<void, StorageError> {
    const key = keyOf(tenant, consumption.customerId, consumption.idempotencyKey)
    if (this.#consumptions.has(key)) {
      const cause = new Error("another consumption has the key")
      return Exit.fail(new StorageError({ operation: "EntitlementStore.insert", retryable: false, cause }))
    }
    this.#consumptions.set(key, copyOf(consumption))
    this.#journal.wrote(() => this.#consumptions.delete(key))
    return Exit.void
  }

  reach(tenant: Tenant.Tenant, reached: Entitlement.ReachedLimit): boolean {
    const { customerId, feature, limit, periodStart, subscriptionId } = reached
    const key = keyOf(tenant, customerId, feature, subscriptionId, periodStart, String(limit))
    if (this.#reached.has(key)) return false
    this.#reached.add(key)
    this.#journal.wrote(() => this.#reached.delete(key))
    return true
  }
}

/** The port over the table. Transactions run one after another, so that nothing has to be locked. */
export const entitlementStore = (table: EntitlementTable, journal: Journal): EntitlementStore["Service"] => {
  const verb = journal.tenantVerb
  return EntitlementStore.of({
    lock: () => Effect.void,
    byKey: (customerId, key) => verb((tenant) => Exit.succeed(table.byKey(tenant, customerId, key))),
    insert: (consumption) => verb((tenant) => table.insert(tenant, consumption)),
    reach: (reached) => verb((tenant) => Exit.succeed(table.reach(tenant, reached))),
  })
}
