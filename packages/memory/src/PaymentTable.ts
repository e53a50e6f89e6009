/**
 * Payments in memory, and the `PaymentStore` over them.
 */
import { Page, type Payment, type PaymentFilter, PaymentStore, StorageError, Tenant } from "@billwright/core"
import { Exit, Option } from "effect"
import { IdOrder, toPage } from "./IdOrder.ts"
import type { Journal } from "./Journal.ts"
import { copyOf } from "./PlainData.ts"

type Row = Payment.Payment

interface TenantRows {
  readonly tenant: Tenant.Tenant
  readonly all: IdOrder<Row>
  readonly byInvoice: Map<string, IdOrder<Row>>
}

const taken = (problem: string): Exit.Exit<never, StorageError> =>
  Exit.fail(
    new StorageError({ operation: "PaymentStore.insert", retryable: false, cause: new Error(problem) }),
  )

/** Payments by tenant. Its methods are synchronous. */
export class PaymentTable {
  readonly #journal: Journal
  readonly #tenants = new Map<string, TenantRows>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  insert(tenant: Tenant.Tenant, payment: Row): Exit.Exit<void, StorageError> {
    const rows = this.#of(tenant)
    const row = copyOf(payment)
    const known = rows.byInvoice.get(row.invoiceId)
    const problem = problemOf(row, known?.values() ?? [])
    if (problem !== undefined) return taken(problem)
    if (!rows.all.insert(row)) return taken(`the payment id ${row.id} is taken`)
    const ofInvoice = known ?? new IdOrder<Row>()
    if (known === undefined) rows.byInvoice.set(row.invoiceId, ofInvoice)
    ofInvoice.insert(row)
    this.#journal.wrote(() => {
      rows.all.remove(row)
      ofInvoice.remove(row)
    })
    return Exit.void
  }

  find(tenant: Tenant.Tenant, id: string): Option.Option<Row> {
    return Option.map(Option.fromUndefinedOr(this.#of(tenant).all.find(id)), copyOf)
  }

  list(
    tenant: Tenant.Tenant,
    { customerId, invoiceId, status }: PaymentFilter,
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<Row>, Page.CursorNotFound> {
    const rows = this.#of(tenant)
    if (query.cursor !== undefined && rows.all.find(query.cursor.id) === undefined) {
      return Exit.fail(new Page.CursorNotFound({ id: query.cursor.id }))
    }
    const order = invoiceId === undefined ? rows.all : rows.byInvoice.get(invoiceId)
    const found =
      order?.sliceWhere(
        query,
        (row) =>
          (customerId === undefined || row.customerId === customerId) &&
          (status === undefined || row.status === status),
      ) ?? []
    return Exit.succeed(toPage(found, query, copyOf))
  }

  ofInvoice(tenant: Tenant.Tenant, invoiceId: string): ReadonlyArray<Row> {
    return Array.from(this.#of(tenant).byInvoice.get(invoiceId)?.values() ?? [], copyOf)
  }

  /** Every payment of every tenant. */
  *rows(): Generator<{ readonly tenant: Tenant.Tenant; readonly payment: Row }> {
    for (const { all, tenant } of this.#tenants.values())
      for (const row of all.values()) yield { tenant, payment: copyOf(row) }
  }

  #of(tenant: Tenant.Tenant): TenantRows {
    const key = Tenant.tenantKey(tenant)
    let rows = this.#tenants.get(key)
    if (rows === undefined) {
      rows = { tenant: Object.freeze({ ...tenant }), all: new IdOrder(), byInvoice: new Map() }
      this.#tenants.set(key, rows)
    }
    return rows
  }
}

/** Which rule a payment breaks beside the others of its invoice. */
const problemOf = ({ provider, reference, status }: Row, others: Iterable<Row>): string | undefined => {
  for (const other of others) {
    if (status === "open" && other.status === "open") return `the invoice has the open payment ${other.id}`
    if (reference !== null && other.reference === reference && other.provider === provider) {
      return `the payment ${other.id} has the reference`
    }
  }
  return undefined
}

/** The port over the table. */
export const paymentStore = (table: PaymentTable, journal: Journal): PaymentStore["Service"] => {
  const verb = journal.tenantVerb
  return PaymentStore.of({
    insert: (payment) => verb((tenant) => table.insert(tenant, payment)),
    find: (id) => verb((tenant) => Exit.succeed(table.find(tenant, id))),
    list: (filter, page) => verb((tenant) => table.list(tenant, filter, page)),
    ofInvoice: (id) => verb((tenant) => Exit.succeed(table.ofInvoice(tenant, id))),
  })
}
