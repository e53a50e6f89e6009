/**
 * Subscriptions in memory, and the ports over them.
 */
import {
  type Customer,
  Due,
  LiveSubscriptions,
  Page,
  type SameTerms,
  StorageError,
  type Subscription,
  type SubscriptionFilter,
  type SubscriptionId,
  SubscriptionStore,
  Tenant,
} from "@billwright/core"
import { Exit, Option } from "effect"
import type { DueTable } from "./DueTable.ts"
import { frozen } from "./Frozen.ts"
import { IdOrder, toPage } from "./IdOrder.ts"
import type { InvoiceTable } from "./InvoiceTable.ts"
import type { Journal } from "./Journal.ts"

type Period = NonNullable<Subscription.StoredSubscription["state"]["period"]>

interface Row {
  readonly id: SubscriptionId
  /** This object is frozen. */
  value: Subscription.StoredSubscription
  /** By their numbers. They are frozen. */
  readonly periods: Array<Period | undefined>
}

interface TenantRows {
  readonly tenant: Tenant.Tenant
  readonly all: IdOrder<Row>
  readonly byCustomer: Map<string, IdOrder<Row>>
}

/** Subscriptions by tenant, each with its periods. Its methods are synchronous. */
export class SubscriptionTable {
  readonly #journal: Journal
  readonly #due: DueTable
  readonly #tenants = new Map<string, TenantRows>()

  constructor(journal: Journal, due: DueTable) {
    this.#journal = journal
    this.#due = due
  }

  insert(
    tenant: Tenant.Tenant,
    subscription: Subscription.StoredSubscription,
  ): Exit.Exit<void, StorageError> {
    const rows = this.#of(tenant)
    const row: Row = { id: subscription.id, value: frozen(subscription), periods: [] }
    if (!rows.all.insert(row)) {
      const cause = new Error(`the subscription id ${row.id} is taken`)
      return Exit.fail(new StorageError({ operation: "SubscriptionStore.insert", retryable: false, cause }))
    }
    const ofCustomer = orderOf(rows, row.value.customerId)
    ofCustomer.insert(row)
    this.#journal.wrote(() => {
      rows.all.remove(row)
      ofCustomer.remove(row)
    })
    this.#putDue(rows.tenant, row.value)
    return Exit.void
  }

  find(tenant: Tenant.Tenant, id: string): Option.Option<Subscription.StoredSubscription> {
    return Option.map(Option.fromUndefinedOr(this.#of(tenant).all.find(id)), (row) => this.#toValue(row))
  }

  /** A subscription and those that it shares invoices with, in the order of their ids. `hasDraft` says who has a draft. */
  group(
    tenant: Tenant.Tenant,
    id: string,
    hasDraft: (id: string) => boolean,
  ): ReadonlyArray<Subscription.StoredSubscription> {
    const rows = this.#of(tenant)
    const row = rows.all.find(id)
    if (row === undefined) return []
    const { customerId, invoiceGroup, state } = row.value
    if (invoiceGroup === null) return [this.#toValue(row)]
    return Array.from(rows.byCustomer.get(customerId)?.values() ?? [])
      .filter(
        ({ id: one, value }) =>
          value.invoiceGroup === invoiceGroup &&
          value.state.currency === state.currency &&
          (one === id || value.state.phase !== "ended" || hasDraft(one)),
      )
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .map((one) => this.#toValue(one))
  }

  list(
    tenant: Tenant.Tenant,
    { currency, customerId, failure, invoiceGroup, isLive, phase, plan, version }: SubscriptionFilter,
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<Subscription.StoredSubscription>, Page.CursorNotFound> {
    const rows = this.#of(tenant)
    if (query.cursor !== undefined && rows.all.find(query.cursor.id) === undefined) {
      return Exit.fail(new Page.CursorNotFound({ id: query.cursor.id }))
    }
    const order = customerId === undefined ? rows.all : rows.byCustomer.get(customerId)
    const found = order?.sliceWhere(
      query,
      ({ id, value: { invoiceGroup: group, state } }) =>
        (invoiceGroup === undefined || group === invoiceGroup) &&
        (currency === undefined || state.currency === currency) &&
        (phase === undefined || state.phase === phase) &&
        (isLive === undefined || state.phase !== "ended") &&
        (plan === undefined || state.plan.key === plan) &&
        (version === undefined || state.plan.version === version) &&
        Due.isFailure(failure, this.#due.of(id).failure),
    )
    return Exit.succeed(toPage(found ?? [], query, (row) => this.#toValue(row)))
  }

  sameTerms(tenant: Tenant.Tenant, limit: number): ReadonlyArray<SameTerms> {
    const found = new Map<string, SameTerms>()
    for (const { value } of this.#of(tenant).all.values()) {
      const { currency, phase, plan, quantities } = value.state
      if (phase !== "active") continue
      const key = JSON.stringify([plan.key, plan.version, currency, Object.entries(quantities).toSorted()])
      const count = (found.get(key)?.count ?? 0) + 1
      found.set(key, { plan, currency, quantities, count })
    }
    return [...found.values()].slice(0, limit)
  }

  save(tenant: Tenant.Tenant, subscription: Subscription.StoredSubscription): void {
    const rows = this.#of(tenant)
    const row = rows.all.find(subscription.id)
    if (row === undefined) return
    const before = row.value
    const { createdAt, customerId, invoiceGroup } = before
    row.value = frozen({ ...subscription, customerId, invoiceGroup, createdAt })
    this.#journal.wrote(() => {
      row.value = before
    })
    this.#putDue(rows.tenant, row.value)
  }

  savePeriods(tenant: Tenant.Tenant, id: string, saved: ReadonlyArray<Period>): void {
    const row = this.#of(tenant).all.find(id)
    if (row === undefined) return
    for (const period of saved) {
      const before = row.periods[period.number]
      row.periods[period.number] = frozen(period)
      this.#journal.wrote(() => {
        row.periods[period.number] = before
      })
    }
  }

  periodsBefore(tenant: Tenant.Tenant, id: string, before: number, limit: number): ReadonlyArray<Period> {
    const periods = this.#of(tenant).all.find(id)?.periods ?? []
    const stored = periods.slice(0, before).filter((period) => period !== undefined)
    return stored.slice(Math.max(0, stored.length - limit))
  }

  hasLive(tenant: Tenant.Tenant, customerId: Customer.CustomerId): boolean {
    for (const { value } of this.#of(tenant).byCustomer.get(customerId)?.values() ?? [])
      if (value.state.phase !== "ended") return true
    return false
  }

  /** Every subscription of every tenant. */
  *rows(): Generator<{ readonly tenant: Tenant.Tenant; readonly value: Subscription.StoredSubscription }> {
    for (const { all, tenant } of this.#tenants.values())
      for (const row of all.values()) yield { tenant, value: this.#toValue(row) }
  }

  #toValue({ value }: Row): Subscription.StoredSubscription {
    return { ...value, ...this.#due.of(value.id) }
  }

  #putDue(tenant: Tenant.Tenant, { customerId, dueAt, id }: Subscription.StoredSubscription): void {
    this.#due.put(tenant, { kind: "subscription", id }, customerId, dueAt)
  }

  #of(tenant: Tenant.Tenant): TenantRows {
    const key = Tenant.tenantKey(tenant)
    let rows = this.#tenants.get(key)
    if (rows === undefined) {
      rows = { tenant: Object.freeze({ ...tenant }), all: new IdOrder(), byCustomer: new Map() }
      this.#tenants.set(key, rows)
    }
    return rows
  }
}

const orderOf = ({ byCustomer }: TenantRows, customerId: string): IdOrder<Row> => {
  const known = byCustomer.get(customerId)
  if (known !== undefined) return known
  const order = new IdOrder<Row>()
  byCustomer.set(customerId, order)
  return order
}

/** The port over the table. Transactions run one after another, so the one that runs holds everything. */
export const subscriptionStore = (
  table: SubscriptionTable,
  invoices: InvoiceTable,
  journal: Journal,
): SubscriptionStore["Service"] => {
  const verb = journal.tenantVerb
  return SubscriptionStore.of({
    insert: (subscription) => verb((tenant) => table.insert(tenant, subscription)),
    find: (id) => verb((tenant) => Exit.succeed(table.find(tenant, id))),
    list: (filter, page) => verb((tenant) => table.list(tenant, filter, page)),
    sameTerms: (limit) => verb((tenant) => Exit.succeed(table.sameTerms(tenant, limit))),
    lock: (id) => verb((tenant) => Exit.succeed(table.find(tenant, id))),
    lockGroup: (id) =>
      verb((tenant) => {
        return Exit.succeed(table.group(tenant, id, (one) => invoices.hasDraft(tenant, one)))
      }),
    save: (subscription) =>
      verb((tenant) => {
        table.save(tenant, subscription)
        return Exit.void
      }),
    savePeriods: (id, periods) =>
      verb((tenant) => {
        table.savePeriods(tenant, id, periods)
        return Exit.void
      }),
    periodsBefore: (id, before, limit) =>
      verb((tenant) => Exit.succeed(table.periodsBefore(tenant, id, before, limit))),
  })
}

/** The port that guards the erasure of customers. */
export const liveSubscriptions = (table: SubscriptionTable, journal: Journal): LiveSubscriptions["Service"] =>
  LiveSubscriptions.of({
    exist: (customerId) => journal.tenantVerb((tenant) => Exit.succeed(table.hasLive(tenant, customerId))),
  })
