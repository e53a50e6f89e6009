/**
 * The reference of subscriptions, invoices and credit notes: a few maps, and the rules of the ports in the shortest form.
 */
import {
  type ClaimedSubject,
  type CouponUse,
  type CreditNote,
  type Customer,
  type Due,
  type FirstDue,
  type Invoice,
  type LineCredit,
  type NumberSeries,
  type SeriesName,
  type Subscription,
  Tenant,
} from "@billwright/core"
import type { DateTime } from "effect"

type Period = NonNullable<Subscription.StoredSubscription["state"]["period"]>

interface Lease {
  readonly token: string
  readonly until: number
}

interface Row<Value> {
  readonly tenant: Tenant.Tenant
  readonly value: Value
  readonly lease: Lease | null
}

type SubscriptionRow = Row<Subscription.StoredSubscription>
type InvoiceRow = Row<Invoice.StoredInvoice>
type DueRow = Row<Due.Due & { readonly id: string; readonly customerId: Customer.CustomerId }>

interface Tables {
  readonly subscriptions: Map<string, SubscriptionRow>
  readonly invoices: Map<string, InvoiceRow>
  readonly creditNotes: Map<string, Row<CreditNote.CreditNote>>
  readonly periods: Map<string, ReadonlyMap<number, Period>>
  readonly series: Map<string, NumberSeries>
}

const isOf = (tenant: Tenant.Tenant, row: { readonly tenant: Tenant.Tenant } | undefined): boolean =>
  row !== undefined && Tenant.tenantKey(row.tenant) === Tenant.tenantKey(tenant)

/** What is asked of a list. */
export interface Asked {
  readonly limit: number
  readonly after: string | undefined
}

export class ReferenceInvoicing {
  #tables: Tables = {
    subscriptions: new Map(),
    invoices: new Map(),
    creditNotes: new Map(),
    periods: new Map(),
    series: new Map(),
  }
  /** The test clocks of customers. */
  readonly #clocks: ReadonlyMap<string, string>

  constructor(clocks: ReadonlyMap<string, string>) {
    this.#clocks = clocks
  }

  /** Everything as it is, to come back to. */
  copy(): Tables {
    const { creditNotes, invoices, periods, series, subscriptions } = this.#tables
    return {
      creditNotes: new Map(creditNotes),
      subscriptions: new Map(subscriptions),
      invoices: new Map(invoices),
      periods: new Map(periods),
      series: new Map(series),
    }
  }

  restore(tables: Tables): void {
    this.#tables = tables
  }

  insertSubscription(tenant: Tenant.Tenant, value: Subscription.StoredSubscription): void {
    this.#tables.subscriptions.set(value.id, { tenant, value, lease: null })
  }

  subscription(tenant: Tenant.Tenant, id: string): Subscription.StoredSubscription | undefined {
    const row = this.#tables.subscriptions.get(id)
    return isOf(tenant, row) ? row?.value : undefined
  }

  saveSubscription(tenant: Tenant.Tenant, value: Subscription.StoredSubscription): void {
    if (this.subscription(tenant, value.id) === undefined) return
    this.#tables.subscriptions.set(value.id, { tenant, value: { ...value, failure: null }, lease: null })
  }

  savePeriods(id: string, periods: ReadonlyArray<Period>): void {
    const known = new Map(this.#tables.periods.get(id))
    for (const period of periods) known.set(period.number, period)
    this.#tables.periods.set(id, known)
  }

  periodsBefore(tenant: Tenant.Tenant, id: string, before: number, limit: number): ReadonlyArray<Period> {
    if (this.subscription(tenant, id) === undefined) return []
    return [...(this.#tables.periods.get(id)?.values() ?? [])]
      .filter(({ number }) => number < before)
      .toSorted((a, b) => a.number - b.number)
      .slice(-limit)
  }

  liveSubscriptions(tenant: Tenant.Tenant, customerId: string): boolean {
    return [...this.#tables.subscriptions.values()].some(
      (row) => isOf(tenant, row) && row.value.customerId === customerId && row.value.state.phase !== "ended",
    )
  }

  /** Newest first. */
  listSubscriptions(
    tenant: Tenant.Tenant,
    isAsked: (value: Subscription.StoredSubscription) => boolean,
    asked: Asked,
  ) {
    return pageOf(tenant, this.#tables.subscriptions.values(), isAsked, asked)
  }

  /** Whether it was stored. */
  insertInvoice(tenant: Tenant.Tenant, value: Invoice.StoredInvoice): boolean {
    const causesOf = ({ causes }: Invoice.StoredInvoice) =>
      causes.map(
        ({ effect, subscriptionId }) => `${subscriptionId} ${effect.period.number} ${effect.segment}`,
      )
    const causes = new Set(causesOf(value))
    const isTaken = [...this.#tables.invoices.values()].some(
      (row) => isOf(tenant, row) && causesOf(row.value).some((cause) => causes.has(cause)),
    )
    if (!isTaken) this.#tables.invoices.set(value.id, { tenant, value, lease: null })
    return !isTaken
  }

  invoice(tenant: Tenant.Tenant, id: string): Invoice.StoredInvoice | undefined {
    const row = this.#tables.invoices.get(id)
    return isOf(tenant, row) ? row?.value : undefined
  }

  saveInvoice(tenant: Tenant.Tenant, value: Invoice.StoredInvoice): void {
    if (this.invoice(tenant, value.id) === undefined) return
    this.#tables.invoices.set(value.id, { tenant, value: { ...value, failure: null }, lease: null })
  }

  /** Newest first. */
  listInvoices(tenant: Tenant.Tenant, isAsked: (value: Invoice.StoredInvoice) => boolean, asked: Asked) {
    return pageOf(tenant, this.#tables.invoices.values(), isAsked, asked)
  }

  /** The invoices of a subscription, in the order of their ids. */
  invoicesOf(tenant: Tenant.Tenant, subscriptionId: string): ReadonlyArray<Invoice.StoredInvoice> {
    return [...this.#tables.invoices.values()]
      .filter(
        (row) => isOf(tenant, row) && row.value.causes.some((one) => one.subscriptionId === subscriptionId),
      )
      .map(({ value }) => value)
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }

  series(tenant: Tenant.Tenant, name: SeriesName): NumberSeries | undefined {
    return this.#tables.series.get(`${Tenant.tenantKey(tenant)} ${name}`)
  }

  saveSeries(tenant: Tenant.Tenant, name: SeriesName, series: NumberSeries): void {
    this.#tables.series.set(`${Tenant.tenantKey(tenant)} ${name}`, series)
  }

  insertCreditNote(tenant: Tenant.Tenant, value: CreditNote.CreditNote): void {
    this.#tables.creditNotes.set(value.id, { tenant, value, lease: null })
  }

  creditNote(tenant: Tenant.Tenant, id: string): CreditNote.CreditNote | undefined {
    const row = this.#tables.creditNotes.get(id)
    return isOf(tenant, row) ? row?.value : undefined
  }

  /** Newest first. */
  listCreditNotes(tenant: Tenant.Tenant, isAsked: (value: CreditNote.CreditNote) => boolean, asked: Asked) {
    return pageOf(tenant, this.#tables.creditNotes.values(), isAsked, asked)
  }

  /** The credit notes of an invoice, in the order of their ids. */
  creditNotesOf(tenant: Tenant.Tenant, invoiceId: string): ReadonlyArray<CreditNote.CreditNote> {
    return [...this.#tables.creditNotes.values()]
      .filter((row) => isOf(tenant, row) && row.value.invoiceId === invoiceId)
      .map(({ value }) => value)
      .toSorted((a, b) => compare(a.id, b.id))
  }

  /** What credit notes gave back of a line. */
  forgivenOf(tenant: Tenant.Tenant, invoiceId: string, lineId: string): bigint {
    return this.creditNotesOf(tenant, invoiceId)
      .flatMap(({ lines }) => lines)
      .reduce((sum, line) => sum + (line.lineId === lineId ? line.amount : 0n), 0n)
  }

  /**
   * What lines of issued invoices give back of an invoice, in the order of their ids. Void ones give nothing back, nor do lines
   * whose credit notes have taken it back.
   */
  creditsOf(tenant: Tenant.Tenant, invoiceId: string): ReadonlyArray<LineCredit> {
    return [...this.#tables.invoices.values()]
      .filter((row) => isOf(tenant, row) && !["draft", "void"].includes(row.value.state.status))
      .toSorted((a, b) => compare(a.value.id, b.value.id))
      .flatMap(({ value: { id, state } }) =>
        state.lines.flatMap(({ amount, creditOf, id: lineId }) => {
          const left = this.forgivenOf(tenant, id, lineId) - amount
          return creditOf?.invoiceId === invoiceId && left !== 0n
            ? [{ lineId: creditOf.lineId, amount: left }]
            : []
        }),
      )
  }

  /** What coupons took off for periods from a number on: issued invoices in the order of their instants, then drafts. */
  couponUses(tenant: Tenant.Tenant, subscriptionId: string, from: number): ReadonlyArray<CouponUse> {
    const issuedAt = ({ state }: Invoice.StoredInvoice) => state.issuedAt ?? Number.POSITIVE_INFINITY
    const inOrder = this.invoicesOf(tenant, subscriptionId).toSorted((a, b) =>
      issuedAt(a) < issuedAt(b) ? -1 : issuedAt(a) > issuedAt(b) ? 1 : 0,
    )
    return inOrder.flatMap(({ causes, id, state: { discounts, status } }) => {
      const cause = causes.find((one) => one.subscriptionId === subscriptionId)
      const period = cause?.effect.period.number ?? -1
      if (period < from) return []
      return discounts.map(({ amount, id: redemptionId }) => ({
        invoiceId: id,
        status,
        period,
        redemptionId,
        amount,
      }))
    })
  }

  /** Everything that is due at an instant, and leased to nobody, in the order of the queue. */
  due(now: number): ReadonlyArray<DueRow & { readonly kind: "invoice" | "subscription" }> {
    return this.#queue(undefined)
      .filter(({ lease, value: { dueAt, failure } }) => {
        const isTried = failure === null || (failure.retryAt !== null && millis(failure.retryAt) <= now)
        return dueAt! <= now && isTried && (lease === null || lease.until <= now)
      })
      .toSorted(
        (a, b) =>
          a.value.dueAt! - b.value.dueAt! ||
          compare(a.kind, b.kind) ||
          compare(uuidPart(a.value.id), uuidPart(b.value.id)),
      )
  }

  /** When the next subject is due, or its lease ends. */
  nextDueAt(): number | undefined {
    const instants = this.#queue(undefined).flatMap(({ lease, value: { dueAt, failure } }) => {
      if (failure !== null && failure.retryAt === null) return []
      const retryAt = failure?.retryAt === undefined || failure.retryAt === null ? 0 : millis(failure.retryAt)
      return [Math.max(dueAt!, retryAt, lease?.until ?? 0)]
    })
    return instants.length === 0 ? undefined : Math.min(...instants)
  }

  /** The first subject of a test clock that is not set aside. */
  firstDue(tenant: Tenant.Tenant, clockId: string): FirstDue | undefined {
    const [first] = this.#queue(clockId)
      .filter((row) => isOf(tenant, row) && row.value.failure?.retryAt !== null)
      .toSorted(
        (a, b) =>
          workableAt(a.value) - workableAt(b.value) ||
          compare(a.kind, b.kind) ||
          compare(uuidPart(a.value.id), uuidPart(b.value.id)),
      )
    if (first === undefined) return undefined
    const { kind, value } = first
    const subject = { kind, id: value.id } as FirstDue["subject"]
    return { subject, at: workableAt(value), attempts: value.failure?.attempts ?? 0 }
  }

  /** Whether it is as it was found, and has failed now. */
  fail(tenant: Tenant.Tenant, { at, attempts, subject }: FirstDue, failure: Due.DueFailure): boolean {
    const row = this.#rowOf(subject.id)
    if (row === undefined || !isOf(tenant, row) || row.value.dueAt === null) return false
    const isSetAside = row.value.failure?.retryAt === null
    const isAsFound = workableAt(row.value) === at && (row.value.failure?.attempts ?? 0) === attempts
    if (isSetAside || !isAsFound) return false
    this.#fails(subject.id, failure)
    return true
  }

  claim({ subject, token }: ClaimedSubject, until: number): void {
    this.#lease(subject.id, { token, until })
  }

  holds({ subject, tenant, token }: ClaimedSubject): boolean {
    const row = this.#rowOf(subject.id)
    return isOf(tenant, row) && row?.lease?.token === token
  }

  release(claimed: ClaimedSubject, failure: Due.DueFailure | null): boolean {
    if (!this.holds(claimed)) return false
    const { id } = claimed.subject
    this.#lease(id, null)
    if (failure !== null) this.#fails(id, failure)
    return true
  }

  #fails(id: string, failure: Due.DueFailure): void {
    const { invoices, subscriptions } = this.#tables
    const subscription = subscriptions.get(id)
    const invoice = invoices.get(id)
    if (subscription !== undefined)
      subscriptions.set(id, { ...subscription, value: { ...subscription.value, failure } })
    if (invoice !== undefined) invoices.set(id, { ...invoice, value: { ...invoice.value, failure } })
  }

  #rowOf(id: string): DueRow | undefined {
    return this.#tables.subscriptions.get(id) ?? this.#tables.invoices.get(id)
  }

  #lease(id: string, lease: Lease | null): void {
    const { invoices, subscriptions } = this.#tables
    const subscription = subscriptions.get(id)
    const invoice = invoices.get(id)
    if (subscription !== undefined) subscriptions.set(id, { ...subscription, lease })
    if (invoice !== undefined) invoices.set(id, { ...invoice, lease })
  }

  /** What is due by a test clock, or without one. */
  #queue(clockId: string | undefined) {
    const { invoices, subscriptions } = this.#tables
    return [
      ...Array.from(invoices.values(), (row): DueRow & { kind: "invoice" } => ({ ...row, kind: "invoice" })),
      ...Array.from(subscriptions.values(), (row): DueRow & { kind: "subscription" } => ({
        ...row,
        kind: "subscription",
      })),
    ].filter(({ value }) => value.dueAt !== null && this.#clocks.get(value.customerId) === clockId)
  }
}

/** When it can be worked on: when it is due, or tried again. */
const workableAt = ({ dueAt, failure }: Due.Due): number =>
  Math.max(dueAt ?? 0, failure?.retryAt === null ? 0 : (failure?.retryAt.epochMilliseconds ?? 0))

const millis = (instant: DateTime.Utc): number => instant.epochMilliseconds
const compare = (a: string, b: string): number => (a < b ? -1 : a === b ? 0 : 1)
const uuidPart = (id: string): string => id.slice(id.lastIndexOf("_") + 1)

const pageOf = <Value extends { readonly id: string }>(
  tenant: Tenant.Tenant,
  rows: Iterable<Row<Value>>,
  isAsked: (value: Value) => boolean,
  { after, limit }: Asked,
) => {
  const all = Array.from(rows)
    .filter((row) => isOf(tenant, row) && isAsked(row.value))
    .map(({ value }) => value)
    .filter(({ id }) => after === undefined || id < after)
    .toSorted((a, b) => compare(b.id, a.id))
  return { data: all.slice(0, limit), hasMore: all.length > limit }
}
