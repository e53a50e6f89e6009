/**
 * Invoices and the series of their numbers in memory, and the `InvoiceStore` over them.
 */
import {
  amountIn,
  type BilledLine,
  type CouponUse,
  Due,
  ExactJson,
  figuresOf,
  Invoice,
  type InvoiceFilter,
  InvoiceStore,
  type InvoiceSum,
  type LineCredit,
  Page,
  type NumberSeries,
  type SeriesName,
  StorageError,
  Tenant,
} from "@billwright/core"
import { Exit, Option } from "effect"
import type { CreditNoteTable } from "./CreditNoteTable.ts"
import type { DueTable } from "./DueTable.ts"
import { frozen } from "./Frozen.ts"
import { IdOrder, toPage } from "./IdOrder.ts"
import type { Journal } from "./Journal.ts"

interface Row {
  readonly id: Invoice.InvoiceId
  /** This object is frozen. */
  value: Invoice.StoredInvoice
  /** The lines of `value` that bill subscriptions. */
  billed: ReadonlyArray<BilledLine["line"]>
}

const withoutExplanation = (line: Invoice.Invoice["lines"][number]): BilledLine["line"] => {
  const { receipt: _, steps: __, ...billed } = line
  return frozen(billed)
}

/** The lines that bill subscriptions, without their explanations. */
const billedLinesOf = ({ state }: Invoice.StoredInvoice): Row["billed"] =>
  state.lines.filter(({ origin }) => origin !== null).map(withoutExplanation)

interface TenantRows {
  readonly tenant: Tenant.Tenant
  readonly all: IdOrder<Row>
  readonly bySubscription: Map<string, IdOrder<Row>>
  /** By subscription, number of the period and segment. An invoice of several subscriptions has several. */
  readonly causes: Set<string>
  /** The numbers of issued invoices. */
  readonly numbers: Set<string>
  readonly series: Map<SeriesName, NumberSeries>
}

const causesOf = ({ causes }: Invoice.StoredInvoice): ReadonlyArray<string> =>
  causes.map(({ effect, subscriptionId }) => `${subscriptionId} ${effect.period.number} ${effect.segment}`)

/** The subscriptions by which an invoice is found. */
const subscriptionsOf = ({ causes, subscriptionId }: Invoice.StoredInvoice): ReadonlyArray<string> =>
  subscriptionId === null ? causes.map((cause) => cause.subscriptionId) : [subscriptionId]

const refused = (problem: string, verb = "insert"): Exit.Exit<never, StorageError> =>
  Exit.fail(
    new StorageError({ operation: `InvoiceStore.${verb}`, retryable: false, cause: new Error(problem) }),
  )

/** Invoices by tenant. Its methods are synchronous. */
export class InvoiceTable {
  readonly #journal: Journal
  readonly #due: DueTable
  readonly #notes: CreditNoteTable
  readonly #tenants = new Map<string, TenantRows>()

  constructor(journal: Journal, due: DueTable, notes: CreditNoteTable) {
    this.#journal = journal
    this.#due = due
    this.#notes = notes
  }

  insert(tenant: Tenant.Tenant, invoice: Invoice.StoredInvoice): Exit.Exit<void, StorageError> {
    const rows = this.#of(tenant)
    const value = frozen(invoice)
    const row: Row = { id: invoice.id, value, billed: billedLinesOf(value) }
    const causes = causesOf(invoice)
    const known = causes.find((cause) => rows.causes.has(cause))
    if (known !== undefined) {
      return refused(`the subscription has an invoice for this period and segment: ${known}`)
    }
    const { number } = invoice.state
    if (number !== null && rows.numbers.has(number)) {
      return refused(`another invoice has the number ${number}`)
    }
    if (!rows.all.insert(row)) return refused(`the invoice id ${row.id} is taken`)
    if (number !== null) rows.numbers.add(number)
    const orders = subscriptionsOf(invoice).map((id) => orderOf(rows, id))
    for (const order of orders) order.insert(row)
    for (const cause of causes) rows.causes.add(cause)
    this.#journal.wrote(() => {
      rows.all.remove(row)
      for (const order of orders) order.remove(row)
      for (const cause of causes) rows.causes.delete(cause)
      if (number !== null) rows.numbers.delete(number)
    })
    this.#putDue(rows.tenant, row.value)
    return Exit.void
  }

  find(tenant: Tenant.Tenant, id: string): Option.Option<Invoice.StoredInvoice> {
    return Option.map(Option.fromUndefinedOr(this.#of(tenant).all.find(id)), (row) => this.#toValue(row))
  }

  list(
    tenant: Tenant.Tenant,
    { currency, customerId, failure, figure, status, subscriptionId }: InvoiceFilter,
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<Invoice.StoredInvoice>, Page.CursorNotFound> {
    const rows = this.#of(tenant)
    if (query.cursor !== undefined && rows.all.find(query.cursor.id) === undefined) {
      return Exit.fail(new Page.CursorNotFound({ id: query.cursor.id }))
    }
    const order = subscriptionId === undefined ? rows.all : rows.bySubscription.get(subscriptionId)
    const found =
      order?.sliceWhere(
        query,
        ({ id, value }) =>
          (customerId === undefined || value.customerId === customerId) &&
          (status === undefined || value.state.status === status) &&
          (currency === undefined || value.state.currency === currency) &&
          (figure === undefined || figuresOf(value.state, figure.at).includes(figure.figure)) &&
          Due.isFailure(failure, this.#due.of(id).failure),
      ) ?? []
    const fit = Page.countWithinBytes(found, ({ value }) => linesBytes(value))
    return Exit.succeed(
      toPage(found, { ...query, limit: Math.min(query.limit, fit) }, (row) => this.#toValue(row)),
    )
  }

  save(tenant: Tenant.Tenant, invoice: Invoice.StoredInvoice): Exit.Exit<void, StorageError> {
    const rows = this.#of(tenant)
    const row = rows.all.find(invoice.id)
    if (row === undefined) return Exit.void
    const { billed, value: before } = row
    const number = before.state.number === null ? invoice.state.number : null
    if (number !== null && rows.numbers.has(number)) {
      return refused(`another invoice has the number ${number}`, "save")
    }
    if (number !== null) rows.numbers.add(number)
    const { causes, createdAt, customerId, subscriptionId } = before
    row.value = frozen({ ...invoice, causes, createdAt, customerId, subscriptionId })
    row.billed = billedLinesOf(row.value)
    this.#journal.wrote(() => {
      row.value = before
      row.billed = billed
      if (number !== null) rows.numbers.delete(number)
    })
    this.#putDue(rows.tenant, row.value)
    return Exit.void
  }

  remove(tenant: Tenant.Tenant, id: Invoice.InvoiceId): Exit.Exit<void, StorageError> {
    const rows = this.#of(tenant)
    const row = rows.all.find(id)
    if (row === undefined) return Exit.void
    const { value } = row
    if (value.state.status !== "draft") return refused(`the invoice ${id} is issued`, "remove")
    const causes = causesOf(value)
    const orders = subscriptionsOf(value).map((of) => orderOf(rows, of))
    rows.all.remove(row)
    for (const order of orders) order.remove(row)
    for (const cause of causes) rows.causes.delete(cause)
    this.#journal.wrote(() => {
      rows.all.insert(row)
      for (const order of orders) order.insert(row)
      for (const cause of causes) rows.causes.add(cause)
    })
    this.#due.remove(id)
    return Exit.void
  }

  billedLines(tenant: Tenant.Tenant, subscriptionId: string, from: number): ReadonlyArray<BilledLine> {
    const order = this.#of(tenant).bySubscription.get(subscriptionId)
    const found: Array<BilledLine> = []
    for (const { billed, id, value } of order?.values() ?? []) {
      const { amountCredited, status } = value.state
      const forgiven = amountCredited === 0n ? undefined : this.#notes.forgiven(tenant, id)
      for (const line of billed) {
        if (line.origin?.subscriptionId !== subscriptionId || line.origin.period < from) continue
        found.push({ invoiceId: id, status, line, forgiven: forgiven?.get(line.id) ?? 0n })
      }
    }
    return found
  }

  couponUses(tenant: Tenant.Tenant, subscriptionId: string, from: number): ReadonlyArray<CouponUse> {
    const order = this.#of(tenant).bySubscription.get(subscriptionId)
    const issuedAt = ({ state }: Invoice.StoredInvoice) => state.issuedAt ?? Number.POSITIVE_INFINITY
    return Array.from(order?.values() ?? [], ({ value }) => value)
      .filter(({ state }) => state.discounts.length > 0)
      .sort((a, b) => (issuedAt(a) === issuedAt(b) ? (a.id < b.id ? -1 : 1) : issuedAt(a) - issuedAt(b)))
      .flatMap(({ causes, id, state: { discounts, status } }) => {
        const cause = causes.find((one) => one.subscriptionId === subscriptionId)
        if (cause === undefined || cause.effect.period.number < from) return []
        const period = cause.effect.period.number
        return discounts.flatMap(({ amount, id: redemptionId, type }) =>
          type === "coupon" ? [{ invoiceId: id, status, period, redemptionId, amount }] : [],
        )
      })
  }

  creditsOf(tenant: Tenant.Tenant, id: string): ReadonlyArray<LineCredit> {
    const found = this.#of(tenant).all.find(id)
    if (found === undefined) return []
    const subscriptions = new Set(found.value.state.lines.map(({ origin }) => origin?.subscriptionId))
    return this.#ofSubscriptions(tenant, subscriptions)
      .filter(({ value }) => value.state.status !== "draft" && value.state.status !== "void")
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .flatMap(({ id: invoiceId, value }) => {
        const noted = this.#notes.forgiven(tenant, invoiceId)
        return value.state.lines.flatMap(({ amount, creditOf, id: lineId }) => {
          const left = (noted.get(lineId) ?? 0n) - amount
          return creditOf?.invoiceId === id && left !== 0n ? [{ lineId: creditOf.lineId, amount: left }] : []
        })
      })
  }

  sums(tenant: Tenant.Tenant, at: number): ReadonlyArray<InvoiceSum> {
    const sums = new Map<string, InvoiceSum>()
    for (const { value } of this.#of(tenant).all.values()) {
      const { currency } = value.state
      for (const figure of figuresOf(value.state, at)) {
        const key = `${figure} ${currency}`
        const { amount, count } = sums.get(key) ?? { amount: 0n, count: 0 }
        const more = amountIn(figure, value.state)
        sums.set(key, { figure, currency, count: count + 1, amount: amount + more })
      }
    }
    return [...sums.values()]
  }

  /** The tenants with invoices, by account and mode. */
  tenants(after: Tenant.Tenant | undefined, limit: number): ReadonlyArray<Tenant.Tenant> {
    const nameOf = ({ accountId, mode }: Tenant.Tenant) => `${accountId} ${mode}`
    return [...this.#tenants.values()]
      .flatMap(({ all, tenant }) => (all.size === 0 ? [] : [tenant]))
      .filter((tenant) => after === undefined || nameOf(tenant) > nameOf(after))
      .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
      .slice(0, limit)
  }

  /** Since when an open invoice of a subscription is late. */
  pastDueSince(tenant: Tenant.Tenant, subscriptionId: string): number | null {
    const order = this.#of(tenant).bySubscription.get(subscriptionId)
    let first: number | null = null
    for (const { value } of order?.values() ?? []) {
      const since = Invoice.pastDueSinceOf(value)
      if (since !== null && (first === null || since < first)) first = since
    }
    return first
  }

  /** Whether a subscription has a draft. */
  hasDraft(tenant: Tenant.Tenant, subscriptionId: string): boolean {
    return this.drafts(tenant, [subscriptionId]).length > 0
  }

  drafts(
    tenant: Tenant.Tenant,
    subscriptionIds: ReadonlyArray<string>,
  ): ReadonlyArray<Invoice.StoredInvoice> {
    return this.#ofSubscriptions(tenant, subscriptionIds)
      .filter(({ value }) => value.state.status === "draft")
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .map((row) => this.#toValue(row))
  }

  /** The invoices of subscriptions, each once. */
  #ofSubscriptions(tenant: Tenant.Tenant, ids: Iterable<string | undefined>): Array<Row> {
    const { bySubscription } = this.#of(tenant)
    const found = new Set<Row>()
    for (const id of ids) for (const row of bySubscription.get(id ?? "")?.values() ?? []) found.add(row)
    return [...found]
  }

  series(tenant: Tenant.Tenant, name: SeriesName): Option.Option<NumberSeries> {
    return Option.fromUndefinedOr(this.#of(tenant).series.get(name))
  }

  saveSeries(tenant: Tenant.Tenant, name: SeriesName, saved: NumberSeries): void {
    const { series } = this.#of(tenant)
    const before = series.get(name)
    series.set(name, { ...saved })
    this.#journal.wrote(() => {
      if (before === undefined) series.delete(name)
      else series.set(name, before)
    })
  }

  /** Every invoice of every tenant. */
  *rows(): Generator<{ readonly tenant: Tenant.Tenant; readonly value: Invoice.StoredInvoice }> {
    for (const { all, tenant } of this.#tenants.values())
      for (const row of all.values()) yield { tenant, value: this.#toValue(row) }
  }

  #toValue({ value }: Row): Invoice.StoredInvoice {
    return { ...value, ...this.#due.of(value.id) }
  }

  #putDue(tenant: Tenant.Tenant, { customerId, dueAt, id }: Invoice.StoredInvoice): void {
    this.#due.put(tenant, { kind: "invoice", id }, customerId, dueAt)
  }

  #of(tenant: Tenant.Tenant): TenantRows {
    const key = Tenant.tenantKey(tenant)
    let rows = this.#tenants.get(key)
    if (rows === undefined) {
      rows = {
        tenant: Object.freeze({ ...tenant }),
        all: new IdOrder(),
        bySubscription: new Map(),
        causes: new Set(),
        numbers: new Set(),
        series: new Map(),
      }
      this.#tenants.set(key, rows)
    }
    return rows
  }
}

const orderOf = ({ bySubscription }: TenantRows, id: string): IdOrder<Row> => {
  const known = bySubscription.get(id)
  if (known !== undefined) return known
  const order = new IdOrder<Row>()
  bySubscription.set(id, order)
  return order
}

const encoder = new TextEncoder()
const linesBytes = ({ state: { lines } }: Invoice.StoredInvoice): number =>
  encoder.encode(ExactJson.stringify(lines)).length

/** The port over the table. Transactions run one after another, so the one that runs holds everything. */
export const invoiceStore = (table: InvoiceTable, journal: Journal): InvoiceStore["Service"] => {
  const verb = journal.tenantVerb
  return InvoiceStore.of({
    insert: (invoice) => verb((tenant) => table.insert(tenant, invoice)),
    find: (id) => verb((tenant) => Exit.succeed(table.find(tenant, id))),
    list: (filter, page) => verb((tenant) => table.list(tenant, filter, page)),
    tenants: (after, limit) => journal.verb(() => Exit.succeed(table.tenants(after, limit))),
    sums: (at) => verb((tenant) => Exit.succeed(table.sums(tenant, at))),
    lock: (id) => verb((tenant) => Exit.succeed(table.find(tenant, id))),
    lockWithSubscriptions: (id) => verb((tenant) => Exit.succeed(table.find(tenant, id))),
    couponUses: (id, from) => verb((tenant) => Exit.succeed(table.couponUses(tenant, id, from))),
    creditsOf: (id) => verb((tenant) => Exit.succeed(table.creditsOf(tenant, id))),
    save: (invoice) => verb((tenant) => table.save(tenant, invoice)),
    remove: (id) => verb((tenant) => table.remove(tenant, id)),
    pastDueSince: (ids) => verb((tenant) => Exit.succeed(ids.map((id) => table.pastDueSince(tenant, id)))),
    billedLines: (id, from) => verb((tenant) => Exit.succeed(table.billedLines(tenant, id, from))),
    lockDrafts: (ids) => verb((tenant) => Exit.succeed(table.drafts(tenant, ids))),
    lockSeries: (name) => verb((tenant) => Exit.succeed(table.series(tenant, name))),
    findSeries: (name) => verb((tenant) => Exit.succeed(table.series(tenant, name))),
    saveSeries: (name, series) =>
      verb((tenant) => {
        table.saveSeries(tenant, name, series)
        return Exit.void
      }),
  })
}
