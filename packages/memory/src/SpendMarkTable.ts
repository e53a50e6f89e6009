/**
 * Marks of customers whose spend alerts have to be checked, in memory, and the `SpendMarks` over them.
 */
import { type Customer, type MarkedCustomer, type SpendAlert, SpendMarks, Tenant } from "@billwright/core"
import { type DateTime, Exit } from "effect"
import type { CollectionTable } from "./CollectionTable.ts"
import type { Journal } from "./Journal.ts"

interface Row extends Omit<MarkedCustomer, "seen"> {
  /** The number of its last mark. */
  readonly last: number
  /** When it is checked, in epoch milliseconds. */
  readonly dueAt: number
}

/** Marks by customer, in the order in which they were made. Several of a customer count as one. Its methods are synchronous. */
export class SpendMarkTable {
  readonly #journal: Journal
  /** How many spend alerts customers have. */
  readonly #alerts = new Map<string, number>()
  readonly #rows = new Map<string, Row>()
  /** How many marks were made. It never goes back, so that no two marks have the same number. */
  #made = 0

  constructor(journal: Journal, alerts: CollectionTable<SpendAlert.SpendAlert>) {
    this.#journal = journal
    alerts.observe((tenant, before, after) => {
      if (before === undefined && after !== undefined) this.#count(tenant, after, 1)
      if (before !== undefined && after === undefined) this.#count(tenant, before, -1)
    })
  }

  /** Marks the customers that have spend alerts. */
  markWatched(tenant: Tenant.Tenant, customerIds: Iterable<Customer.CustomerId>): void {
    if (this.#alerts.size === 0) return
    for (const id of customerIds) if (this.#alerts.has(keyOf(tenant, id))) this.mark(tenant, id)
  }

  mark(tenant: Tenant.Tenant, customerId: Customer.CustomerId): void {
    const { accountId, mode } = tenant
    const attempts = this.#rows.get(keyOf(tenant, customerId))?.attempts ?? 0
    const last = ++this.#made
    this.#put({ tenant: { accountId, mode }, customerId, attempts, last, dueAt: Number.NEGATIVE_INFINITY })
  }

  waiting(now: number, limit: number): ReadonlyArray<MarkedCustomer> {
    const found: Array<MarkedCustomer> = []
    for (const { attempts, customerId, dueAt, last, tenant } of this.#rows.values()) {
      if (found.length >= limit) break
      if (dueAt <= now) found.push({ tenant: { ...tenant }, customerId, attempts, seen: String(last) })
    }
    return found
  }

  take(tenant: Tenant.Tenant, customerId: Customer.CustomerId): boolean {
    const key = keyOf(tenant, customerId)
    if (!this.#rows.has(key)) return false
    this.#set(key, undefined)
    return true
  }

  putOff(
    tenant: Tenant.Tenant,
    { customerId, seen }: Pick<MarkedCustomer, "customerId" | "seen">,
    attempts: number,
    until: DateTime.Utc,
  ): void {
    const row = this.#rows.get(keyOf(tenant, customerId))
    if (row === undefined) return
    const dueAt = String(row.last) === seen ? until.epochMilliseconds : row.dueAt
    this.#put({ ...row, attempts, dueAt })
  }

  #put(row: Row): void {
    this.#set(keyOf(row.tenant, row.customerId), row)
  }

  #set(key: string, row: Row | undefined): void {
    const before = this.#rows.get(key)
    this.#keep(key, row)
    this.#journal.wrote(() => this.#keep(key, before))
  }

  /** A row that gets another instant is the last one. With another mark it keeps its place, and waits no longer for that. */
  #keep(key: string, row: Row | undefined): void {
    if (row === undefined || this.#rows.get(key)?.dueAt !== row.dueAt) this.#rows.delete(key)
    if (row !== undefined) this.#rows.set(key, row)
  }

  /** The table of alerts undoes by telling its observers again. */
  #count(tenant: Tenant.Tenant, { customerId }: SpendAlert.SpendAlert, by: number): void {
    const key = keyOf(tenant, customerId)
    const count = (this.#alerts.get(key) ?? 0) + by
    if (count === 0) this.#alerts.delete(key)
    else this.#alerts.set(key, count)
  }
}

const keyOf = (tenant: Tenant.Tenant, id: string): string => `${Tenant.tenantKey(tenant)}/${id}`

/** The port over the table. */
export const spendMarks = (table: SpendMarkTable, journal: Journal): SpendMarks["Service"] => {
  const verb = journal.tenantVerb
  return SpendMarks.of({
    mark: (id) => verb((tenant) => Exit.succeed(table.mark(tenant, id))),
    waiting: (now, limit) => journal.verb(() => Exit.succeed(table.waiting(now.epochMilliseconds, limit))),
    take: (id) => verb((tenant) => Exit.succeed(table.take(tenant, id))),
    putOff: (marked, attempts, until) =>
      verb((tenant) => Exit.succeed(table.putOff(tenant, marked, attempts, until))),
  })
}
