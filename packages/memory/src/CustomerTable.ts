/**
 * Customers in memory, and the `CustomerStore` over them.
 */
import {
  Customer,
  type CustomerFilterQuery,
  type CustomerStatus,
  CustomerStore,
  Page,
  StorageError,
  Tenant,
} from "@billwright/core"
import { Effect, Exit, Option } from "effect"
import { IdOrder, toPage } from "./IdOrder.ts"
import type { Journal } from "./Journal.ts"

/** Where a customer is kept. */
export interface CustomerRow {
  readonly id: Customer.CustomerId
  /** `undefined` when the customer was erased. */
  readonly customer: Customer.Customer | undefined
}

interface Row extends CustomerRow {
  customer: Customer.Customer | undefined
  /** What is searched of the customer. */
  text: string
}

interface TenantCustomers {
  readonly tenant: Tenant.Tenant
  readonly byId: Map<string, Row>
  readonly active: IdOrder<Row>
  readonly byEmail: Map<string, IdOrder<Row>>
}

/** Values are copied when they are stored and when they are given out, so both sides may change their objects. */
const copyOf = (customer: Customer.Customer): Customer.Customer => ({
  ...customer,
  metadata: { ...customer.metadata },
})

/** Customers by tenant and id, in the order of ids, and by e-mail address. Its methods are synchronous. */
export class CustomerTable {
  readonly #journal: Journal
  readonly #tenants = new Map<string, TenantCustomers>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  insert(tenant: Tenant.Tenant, customer: Customer.Customer): Exit.Exit<void, StorageError> {
    const customers = this.#of(tenant)
    if (customers.byId.has(customer.id)) {
      const cause = new Error(`the customer id ${customer.id} is taken`)
      return Exit.fail(new StorageError({ operation: "CustomerStore.insert", retryable: false, cause }))
    }
    const row: Row = { id: customer.id, customer: undefined, text: "" }
    customers.byId.set(row.id, row)
    this.#journal.wrote(() => customers.byId.delete(row.id))
    this.#put(customers, row, copyOf(customer))
    return Exit.void
  }

  find(tenant: Tenant.Tenant, id: string): Option.Option<Customer.Customer> {
    return Option.map(Option.fromUndefinedOr(this.#of(tenant).byId.get(id)?.customer), copyOf)
  }

  status(tenant: Tenant.Tenant, id: string): CustomerStatus {
    const row = this.#of(tenant).byId.get(id)
    if (row === undefined) return "unknown"
    return row.customer === undefined ? "erased" : "active"
  }

  /** A customer's row, which shows later changes too. A row whose insertion was undone has no customer. */
  rowOf(tenant: Tenant.Tenant, id: string): CustomerRow | undefined {
    return this.#of(tenant).byId.get(id)
  }

  /** Replaces a customer. Gives false when there is none, or when it was erased. */
  replace(tenant: Tenant.Tenant, id: string, customer: Customer.Customer): boolean {
    const customers = this.#of(tenant)
    const row = customers.byId.get(id)
    if (row?.customer === undefined) return false
    this.#put(customers, row, copyOf(customer))
    return true
  }

  erase(tenant: Tenant.Tenant, id: string): boolean {
    const customers = this.#of(tenant)
    const row = customers.byId.get(id)
    if (row === undefined) return false
    if (row.customer !== undefined) this.#put(customers, row, undefined)
    return true
  }

  list(
    tenant: Tenant.Tenant,
    { email, search }: CustomerFilterQuery,
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<Customer.Customer>, Page.CursorNotFound> {
    const customers = this.#of(tenant)
    if (query.cursor !== undefined && !customers.byId.has(query.cursor.id)) {
      return Exit.fail(new Page.CursorNotFound({ id: query.cursor.id }))
    }
    const order = email === undefined ? customers.active : customers.byEmail.get(email)
    const isWanted = ({ text }: Row) => search === undefined || text.includes(search)
    const rows = order?.sliceWhere(query, isWanted) ?? []
    return Exit.succeed(toPage(rows, query, (row) => copyOf(row.customer!)))
  }

  /** Every customer of every tenant, oldest first by tenant; erased ones as `undefined`. */
  *rows(): Generator<{
    tenant: Tenant.Tenant
    id: Customer.CustomerId
    customer: Customer.Customer | undefined
  }> {
    for (const { byId, tenant } of this.#tenants.values()) {
      for (const { customer, id } of byId.values())
        yield { tenant, id, customer: customer && copyOf(customer) }
    }
  }

  /** Sets a row and updates the orders. */
  #put(customers: TenantCustomers, row: Row, customer: Customer.Customer | undefined): void {
    const before = row.customer
    this.#set(customers, row, customer)
    this.#journal.wrote(() => this.#set(customers, row, before))
  }

  #set(customers: TenantCustomers, row: Row, customer: Customer.Customer | undefined): void {
    const before = row.customer
    row.customer = customer
    row.text = customer === undefined ? "" : Customer.searchText(customer)
    if (before === undefined && customer !== undefined) customers.active.insert(row)
    if (before !== undefined && customer === undefined) customers.active.remove(row)
    if (before?.email === customer?.email) return
    if (before !== undefined) {
      const order = customers.byEmail.get(before.email)
      order?.remove(row)
      if (order?.size === 0) customers.byEmail.delete(before.email)
    }
    if (customer !== undefined) {
      const order = customers.byEmail.get(customer.email) ?? new IdOrder<Row>()
      customers.byEmail.set(customer.email, order)
      order.insert(row)
    }
  }

  #of(tenant: Tenant.Tenant): TenantCustomers {
    const key = Tenant.tenantKey(tenant)
    let customers = this.#tenants.get(key)
    if (customers === undefined) {
      customers = {
        tenant: Object.freeze({ ...tenant }),
        byId: new Map(),
        active: new IdOrder(),
        byEmail: new Map(),
      }
      this.#tenants.set(key, customers)
    }
    return customers
  }
}

/** The port over the table. */
export const customerStore = (table: CustomerTable, journal: Journal): CustomerStore["Service"] => {
  const verb = journal.tenantVerb

  return CustomerStore.of({
    insert: (customer) => verb((tenant) => table.insert(tenant, customer)),
    find: (id) => verb((tenant) => Exit.succeed(table.find(tenant, id))),
    status: (id) => verb((tenant) => Exit.succeed(table.status(tenant, id))),
    modify: (id, change) =>
      journal.atomically(
        Effect.gen(function* () {
          const found = yield* verb((tenant) => Exit.succeed(table.find(tenant, id)))
          if (Option.isNone(found)) return Option.none()
          const changed = yield* change(found.value)
          const isThere = yield* verb((tenant) => Exit.succeed(table.replace(tenant, id, changed)))
          return isThere ? Option.some(copyOf(changed)) : Option.none()
        }),
      ),
    erase: (id) => verb((tenant) => Exit.succeed(table.erase(tenant, id))),
    list: (filter, page) => verb((tenant) => table.list(tenant, filter, page)),
  })
}
