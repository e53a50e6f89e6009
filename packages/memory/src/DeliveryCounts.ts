/**
 * Counts of deliveries by tenant, endpoint and hour.
 */
import { type Endpoint, type PrunedCounts, type PruneStep, Tenant, WebhookStatistics } from "@billwright/core"
import type { DateTime } from "effect"
import type { DeliveryRow } from "./DeliveryRow.ts"
import type { Journal } from "./Journal.ts"

type Counts = { -readonly [Key in keyof WebhookStatistics.Counts]: number }

interface EndpointTallies {
  readonly endpointId: Endpoint.EndpointId
  readonly byHour: Map<number, Counts>
}

/** The counts of all tenants. Its methods are synchronous. */
export class DeliveryCounts {
  readonly #journal: Journal
  readonly #tenants = new Map<string, Map<Endpoint.EndpointId, EndpointTallies>>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** Counts what happened to a delivery at an instant. */
  count({ group, tenant }: DeliveryRow, at: DateTime.Utc, change: Partial<WebhookStatistics.Counts>): void {
    const counts = this.#of(tenant, group.endpoint.id, WebhookStatistics.hourOf(at.epochMilliseconds))
    const { delivered = 0, failed = 0, failedAttempts = 0 } = change
    const add = (sign: 1 | -1): void => {
      counts.delivered += sign * delivered
      counts.failed += sign * failed
      counts.failedAttempts += sign * failedAttempts
    }
    add(1)
    this.#journal.wrote(() => add(-1))
  }

  /** The counts of a tenant from an hour on, without those that are all 0. */
  since(tenant: Tenant.Tenant, sinceMillis: number): ReadonlyArray<WebhookStatistics.HourCounts> {
    const endpoints = this.#tenants.get(Tenant.tenantKey(tenant))?.values() ?? []
    return Array.from(endpoints).flatMap(({ byHour, endpointId }) =>
      Array.from(byHour)
        .filter(([hour, counts]) => hour >= sinceMillis && isSomething(counts))
        .map(([hour, counts]) => ({ endpointId, hour, ...counts })),
    )
  }

  /** Removes counts of hours that began before an instant. In a dry run, the cursor is the number of counts passed. */
  prune({ after, before, isDryRun, limit }: PruneStep): PrunedCounts {
    const passed = isDryRun ? Number(after ?? 0) : 0
    const old = Array.from(this.#before(before.epochMilliseconds).drop(passed).take(limit))
    if (!isDryRun) {
      for (const { byHour, counts, hour } of old) {
        byHour.delete(hour)
        this.#journal.wrote(() => byHour.set(hour, counts))
      }
    }
    return { counts: old.length, next: old.length < limit ? undefined : String(passed + limit) }
  }

  *#before(millis: number) {
    for (const endpoints of this.#tenants.values()) {
      for (const { byHour } of endpoints.values()) {
        for (const [hour, counts] of byHour) {
          if (hour < millis && isSomething(counts)) yield { byHour, hour, counts }
        }
      }
    }
  }

  #of(tenant: Tenant.Tenant, endpointId: Endpoint.EndpointId, hour: number): Counts {
    const key = Tenant.tenantKey(tenant)
    const endpoints = this.#tenants.get(key) ?? new Map<Endpoint.EndpointId, EndpointTallies>()
    this.#tenants.set(key, endpoints)
    const ofEndpoint = endpoints.get(endpointId) ?? { endpointId, byHour: new Map<number, Counts>() }
    endpoints.set(endpointId, ofEndpoint)
    const counts = ofEndpoint.byHour.get(hour) ?? { delivered: 0, failed: 0, failedAttempts: 0 }
    ofEndpoint.byHour.set(hour, counts)
    return counts
  }
}

const isSomething = ({ delivered, failed, failedAttempts }: Counts): boolean =>
  delivered + failed + failedAttempts > 0
