/**
 * Credit notes in memory, and the `CreditNoteStore` over them.
 */
import {
  type CreditNote,
  type CreditNoteFilter,
  CreditNoteStore,
  ExactJson,
  Page,
  StorageError,
  Tenant,
} from "@billwright/core"
import { Exit, Option } from "effect"
import { IdOrder, toPage } from "./IdOrder.ts"
import type { Journal } from "./Journal.ts"
import { copyOf } from "./PlainData.ts"

/** Credit notes never change, so a row is the note. */
type Row = CreditNote.CreditNote

interface TenantRows {
  readonly tenant: Tenant.Tenant
  readonly all: IdOrder<Row>
  readonly byInvoice: Map<string, IdOrder<Row>>
}

/** Credit notes by tenant. Its methods are synchronous. */
export class CreditNoteTable {
  readonly #journal: Journal
  readonly #tenants = new Map<string, TenantRows>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  insert(tenant: Tenant.Tenant, note: Row): Exit.Exit<void, StorageError> {
    const rows = this.#of(tenant)
    const row = copyOf(note)
    if (!rows.all.insert(row)) {
      const cause = new Error(`the credit note id ${row.id} is taken`)
      return Exit.fail(new StorageError({ operation: "CreditNoteStore.insert", retryable: false, cause }))
    }
    const known = rows.byInvoice.get(row.invoiceId)
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
    { customerId, invoiceId }: CreditNoteFilter,
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<Row>, Page.CursorNotFound> {
    const rows = this.#of(tenant)
    if (query.cursor !== undefined && rows.all.find(query.cursor.id) === undefined) {
      return Exit.fail(new Page.CursorNotFound({ id: query.cursor.id }))
    }
    const order = invoiceId === undefined ? rows.all : rows.byInvoice.get(invoiceId)
    const isOfCustomer = (row: Row) => customerId === undefined || row.customerId === customerId
    const found = order?.sliceWhere(query, isOfCustomer) ?? []
    const fit = Page.countWithinBytes(found, linesBytes)
    return Exit.succeed(toPage(found, { ...query, limit: Math.min(query.limit, fit) }, copyOf))
  }

  ofInvoice(tenant: Tenant.Tenant, invoiceId: string): ReadonlyArray<Row> {
    return Array.from(this.#of(tenant).byInvoice.get(invoiceId)?.values() ?? [], copyOf)
  }

  /** What the notes of an invoice give back of each of its lines. */
  forgiven(tenant: Tenant.Tenant, invoiceId: string): ReadonlyMap<string, bigint> {
    const sums = new Map<string, bigint>()
    for (const { lines } of this.#of(tenant).byInvoice.get(invoiceId)?.values() ?? [])
      for (const { amount, lineId } of lines) sums.set(lineId, (sums.get(lineId) ?? 0n) + amount)
    return sums
  }

  /** Every credit note of every tenant. */
  *rows(): Generator<{ readonly tenant: Tenant.Tenant; readonly note: Row }> {
    for (const { all, tenant } of this.#tenants.values())
      for (const row of all.values()) yield { tenant, note: copyOf(row) }
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

const encoder = new TextEncoder()
const linesBytes = ({ lines }: Row): number => encoder.encode(ExactJson.stringify(lines)).length

/** The port over the table. */
export const creditNoteStore = (table: CreditNoteTable, journal: Journal): CreditNoteStore["Service"] => {
  const verb = journal.tenantVerb
  return CreditNoteStore.of({
    insert: (note) => verb((tenant) => table.insert(tenant, note)),
    find: (id) => verb((tenant) => Exit.succeed(table.find(tenant, id))),
    list: (filter, page) => verb((tenant) => table.list(tenant, filter, page)),
    ofInvoice: (id) => verb((tenant) => Exit.succeed(table.ofInvoice(tenant, id))),
  })
}
