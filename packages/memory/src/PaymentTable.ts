/**
 * Payments in memory, and the `PaymentStore` over them.
 */
import {
  EVENT_RETENTION_DAYS,
  isOfFigure,
  MAX_FORGOTTEN_EVENTS,
  type MoneySum,
  Page,
  type Payment,
  type PaymentFilter,
  PaymentStore,
  StorageError,
  Tenant,
} from "@billwright/core"
import { Exit, Option } from "effect"
import type { DueTable } from "./DueTable.ts"
import { IdOrder, toPage } from "./IdOrder.ts"
import type { Journal } from "./Journal.ts"
import { copyOf } from "./PlainData.ts"

const DAY_MILLIS = 86_400_000

interface Row {
  readonly id: Payment.PaymentId
  value: Payment.StoredPayment
}

interface TenantRows {
  readonly tenant: Tenant.Tenant
  readonly all: IdOrder<Row>
  readonly byInvoice: Map<string, IdOrder<Row>>
  /** When each event of a provider was received, in epoch milliseconds. */
  readonly events: Map<string, number>
}

const taken = (problem: string, verb = "insert"): Exit.Exit<never, StorageError> =>
  Exit.fail(
    new StorageError({ operation: `PaymentStore.${verb}`, retryable: false, cause: new Error(problem) }),
  )

/** Payments by tenant. Its methods are synchronous. */
export class PaymentTable {
  readonly #journal: Journal
  readonly #due: DueTable
  readonly #tenants = new Map<string, TenantRows>()

  constructor(journal: Journal, due: DueTable) {
    this.#journal = journal
    this.#due = due
  }

  insert(tenant: Tenant.Tenant, payment: Payment.StoredPayment): Exit.Exit<void, StorageError> {
    const rows = this.#of(tenant)
    const row: Row = { id: payment.id, value: copyOf(payment) }
    const { invoiceId } = payment
    const known = rows.byInvoice.get(invoiceId)
    const problem = problemOf(payment, known?.values() ?? [])
    if (problem !== undefined) return taken(problem)
    if (!rows.all.insert(row)) return taken(`the payment id ${row.id} is taken`)
    const ofInvoice = known ?? new IdOrder<Row>()
    if (known === undefined) rows.byInvoice.set(invoiceId, ofInvoice)
    ofInvoice.insert(row)
    this.#journal.wrote(() => {
      rows.all.remove(row)
      ofInvoice.remove(row)
    })
    this.#putDue(rows.tenant, payment)
    return Exit.void
  }

  save(tenant: Tenant.Tenant, payment: Payment.StoredPayment): Exit.Exit<void, StorageError> {
    const rows = this.#of(tenant)
    const row = rows.all.find(payment.id)
    if (row === undefined) return Exit.void
    const before = row.value
    const others = Array.from(rows.byInvoice.get(before.invoiceId)?.values() ?? []).filter(
      (one) => one !== row,
    )
    const { amount, createdAt, currency, customerId, invoiceId, provider } = before
    const value = copyOf({ ...payment, amount, createdAt, currency, customerId, invoiceId, provider })
    const problem = problemOf(value, others)
    if (problem !== undefined) return taken(problem, "save")
    row.value = value
    this.#journal.wrote(() => {
      row.value = before
    })
    this.#putDue(rows.tenant, value)
    return Exit.void
  }

  find(tenant: Tenant.Tenant, id: string): Option.Option<Payment.StoredPayment> {
    return Option.map(Option.fromUndefinedOr(this.#of(tenant).all.find(id)), (row) => this.#toValue(row))
  }

  findByReference(
    tenant: Tenant.Tenant,
    provider: string,
    reference: string,
  ): Option.Option<Payment.StoredPayment> {
    const found = Array.from(this.#of(tenant).all.values()).findLast(
      ({ value }) => value.provider === provider && value.reference === reference,
    )
    return Option.map(Option.fromUndefinedOr(found), (row) => this.#toValue(row))
  }

  noteEvent(tenant: Tenant.Tenant, provider: string, eventId: string, at: number): boolean {
    const { events } = this.#of(tenant)
    const key = eventKey(provider, eventId)
    const isKnown = events.has(key)
    this.#forget(events, at - EVENT_RETENTION_DAYS * DAY_MILLIS)
    if (isKnown) return false
    events.set(key, at)
    this.#journal.wrote(() => events.delete(key))
    return true
  }

  #forget(events: Map<string, number>, before: number): void {
    const old = Array.from(events).filter(([, at]) => at < before)
    for (const [key, at] of old.toSorted(([, a], [, b]) => a - b).slice(0, MAX_FORGOTTEN_EVENTS)) {
      events.delete(key)
      this.#journal.wrote(() => events.set(key, at))
    }
  }

  hasEvent(tenant: Tenant.Tenant, provider: string, eventId: string): boolean {
    return this.#of(tenant).events.has(eventKey(provider, eventId))
  }

  list(
    tenant: Tenant.Tenant,
    { currency, customerId, figure, invoiceId, status }: PaymentFilter,
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<Payment.StoredPayment>, Page.CursorNotFound> {
    const rows = this.#of(tenant)
    if (query.cursor !== undefined && rows.all.find(query.cursor.id) === undefined) {
      return Exit.fail(new Page.CursorNotFound({ id: query.cursor.id }))
    }
    const order = invoiceId === undefined ? rows.all : rows.byInvoice.get(invoiceId)
    const found =
      order?.sliceWhere(
        query,
        ({ value }) =>
          (customerId === undefined || value.customerId === customerId) &&
          (status === undefined || value.status === status) &&
          (currency === undefined || value.currency === currency) &&
          (figure === undefined || isOfFigure(figure.figure, value, figure.at)),
      ) ?? []
    return Exit.succeed(toPage(found, query, (row) => this.#toValue(row)))
  }

  collected(tenant: Tenant.Tenant, at: number): ReadonlyArray<MoneySum> {
    const sums = new Map<string, MoneySum>()
    for (const { value } of this.#of(tenant).all.values()) {
      if (!isOfFigure("collected", value, at)) continue
      const { amount, count } = sums.get(value.currency) ?? { amount: 0n, count: 0 }
      const { currency } = value
      sums.set(currency, { currency, count: count + 1, amount: amount + value.amount })
    }
    return [...sums.values()]
  }

  ofInvoice(tenant: Tenant.Tenant, invoiceId: string): ReadonlyArray<Payment.StoredPayment> {
    return Array.from(this.#of(tenant).byInvoice.get(invoiceId)?.values() ?? [], (row) => this.#toValue(row))
  }

  /** Every payment of every tenant. */
  *rows(): Generator<{ readonly tenant: Tenant.Tenant; readonly payment: Payment.StoredPayment }> {
    for (const { all, tenant } of this.#tenants.values())
      for (const row of all.values()) yield { tenant, payment: this.#toValue(row) }
  }

  #toValue({ value }: Row): Payment.StoredPayment {
    return copyOf({ ...value, ...this.#due.of(value.id) })
  }

  #putDue(tenant: Tenant.Tenant, { customerId, dueAt, id }: Payment.StoredPayment): void {
    this.#due.put(tenant, { kind: "payment", id }, customerId, dueAt)
  }

  #of(tenant: Tenant.Tenant): TenantRows {
    const key = Tenant.tenantKey(tenant)
    let rows = this.#tenants.get(key)
    if (rows === undefined) {
      rows = {
        tenant: Object.freeze({ ...tenant }),
        all: new IdOrder(),
        byInvoice: new Map(),
        events: new Map(),
      }
      this.#tenants.set(key, rows)
    }
    return rows
  }
}

const eventKey = (provider: string, eventId: string): string => JSON.stringify([provider, eventId])

/** Which rule a payment breaks beside the others of its invoice. */
const problemOf = (
  { provider, reference, status }: Payment.StoredPayment,
  others: Iterable<Row>,
): string | undefined => {
  for (const { id, value } of others) {
    if (status === "open" && value.status === "open") return `the invoice has the open payment ${id}`
    if (reference !== null && value.reference === reference && value.provider === provider) {
      return `the payment ${id} has the reference`
    }
  }
  return undefined
}

/** The port over the table. */
export const paymentStore = (table: PaymentTable, journal: Journal): PaymentStore["Service"] => {
  const verb = journal.tenantVerb
  return PaymentStore.of({
    insert: (payment) => verb((tenant) => table.insert(tenant, payment)),
    save: (payment) => verb((tenant) => table.save(tenant, payment)),
    find: (id) => verb((tenant) => Exit.succeed(table.find(tenant, id))),
    findByReference: (provider, reference) =>
      verb((tenant) => Exit.succeed(table.findByReference(tenant, provider, reference))),
    noteEvent: (provider, eventId, at) =>
      verb((tenant) => Exit.succeed(table.noteEvent(tenant, provider, eventId, at.epochMilliseconds))),
    hasEvent: (provider, eventId) =>
      verb((tenant) => Exit.succeed(table.hasEvent(tenant, provider, eventId))),
    list: (filter, page) => verb((tenant) => table.list(tenant, filter, page)),
    collected: (at) => verb((tenant) => Exit.succeed(table.collected(tenant, at))),
    ofInvoice: (id) => verb((tenant) => Exit.succeed(table.ofInvoice(tenant, id))),
  })
}
