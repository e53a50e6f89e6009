/**
 * What is due on subscriptions, invoices and payments in memory, and the `DueStore` over it.
 */
import {
  type ClaimedSubject,
  type Customer,
  type CustomerDue,
  type Due,
  type DueClaim,
  type DueCounts,
  DueStore,
  type FirstDue,
  type Lane,
  laneOf,
  MAX_SUBJECTS_OF_CUSTOMER,
  type Subject,
  Tenant,
  type TestClock,
} from "@billwright/core"
import { DateTime, Exit, Option } from "effect"
import type { CollectionTable } from "./CollectionTable.ts"
import { DueGroup, type DueItem, DueParty, DueQueue } from "./DueQueue.ts"
import type { Journal } from "./Journal.ts"

/** What is known of when a subject is due. It is replaced as a whole. */
interface State {
  readonly dueAt: number | null
  readonly failure: Due.DueFailure | null
  readonly lease: { readonly token: string; readonly until: number } | null
  /** The test clock by which it is due. */
  readonly clockId: TestClock.TestClockId | null
}

interface Row extends DueItem {
  readonly id: Subject["id"]
  readonly subject: Subject
  readonly tenant: Tenant.Tenant
  readonly customerId: Customer.CustomerId | null
  readonly group: DueGroup<Row>
  state: State
}

/** When a subject can be claimed, in epoch milliseconds. `undefined`: never, as things are. */
const claimableAt = ({ dueAt, failure, lease }: State): number | undefined => {
  if (dueAt === null) return undefined
  if (lease !== null) return lease.until
  if (failure === null) return dueAt
  return failure.retryAt === null ? undefined : Math.max(dueAt, failure.retryAt.epochMilliseconds)
}

/** How often a subject has failed in a row. */
const attemptsOf = ({ failure }: State): number => failure?.attempts ?? 0

const NONE: State = { dueAt: null, failure: null, lease: null, clockId: null }

/** Subjects by id, and in the order in which they are due. Its methods are synchronous. */
export class DueTable {
  readonly #journal: Journal
  readonly #rows = new Map<string, Row>()
  readonly #parties = new Map<string, DueParty<Row>>()
  readonly #queues: Readonly<Record<Lane, DueQueue<Row>>> = { billing: new DueQueue(), calls: new DueQueue() }
  /** The rows of subjects that are due by a test clock. */
  readonly #clocked = new Map<TestClock.TestClockId, Set<Row>>()
  /** The rows of customers' subjects. */
  readonly #ofCustomers = new Map<string, Set<Row>>()
  readonly #customers: CollectionTable<Customer.Customer>

  constructor(journal: Journal, customers: CollectionTable<Customer.Customer>) {
    this.#journal = journal
    this.#customers = customers
  }

  /** Sets when a subject is due, for the first time. Ends a lease on it. */
  put(
    tenant: Tenant.Tenant,
    subject: Subject,
    customerId: Customer.CustomerId | null,
    dueAt: number | null,
  ): void {
    let row = this.#rows.get(subject.id)
    if (row === undefined) {
      const group = new DueGroup(this.#partyOf(laneOf(subject), tenant))
      const customer = customerId === null ? undefined : this.#customers.peek(tenant, customerId)
      const clockId = customer?.testClockId ?? null
      const state = { ...NONE, clockId }
      row = { heapIndex: -1, dueAt: 0, group, id: subject.id, subject, tenant, customerId, state }
      this.#enter(row)
    }
    this.#set(row, { ...row.state, dueAt, failure: null, lease: null })
  }

  /** Takes a subject that is there no more off the queue. */
  remove(id: Subject["id"]): void {
    const row = this.#rows.get(id)
    if (row === undefined) return
    this.#set(row, NONE)
    this.#rows.delete(id)
    this.#siblingsOf(row).delete(row)
    this.#journal.wrote(() => this.#enter(row))
  }

  #enter(row: Row): void {
    this.#rows.set(row.id, row)
    this.#siblingsOf(row).add(row)
  }

  /** The rows of the customer of a row. */
  #siblingsOf({ customerId, tenant }: Pick<Row, "customerId" | "tenant">): Set<Row> {
    const key = `${Tenant.tenantKey(tenant)} ${customerId ?? ""}`
    const known = this.#ofCustomers.get(key) ?? new Set()
    this.#ofCustomers.set(key, known)
    return known
  }

  /** When a subject is due, and how that has gone. */
  of(id: Subject["id"]): Due.Due {
    const { dueAt, failure } = this.#rows.get(id)?.state ?? NONE
    return { dueAt, failure }
  }

  claim({ lane, leaseUntil, limit, now }: DueClaim): ReadonlyArray<ClaimedSubject> {
    const found = this.#queues[lane].due(now.epochMilliseconds, {
      inAll: limit,
      ofGroup: () => limit,
      ofParty: () => limit,
    })
    const claimed = found.map((row): ClaimedSubject => {
      const token = crypto.randomUUID()
      const { dueAt } = row.state
      this.#set(row, { ...row.state, lease: { token, until: leaseUntil.epochMilliseconds } })
      const { customerId, subject, tenant } = row
      return { tenant, subject, customerId, dueAt: dueAt!, attempts: attemptsOf(row.state), token }
    })
    return claimed.sort((a, b) => a.dueAt - b.dueAt || (a.subject.id < b.subject.id ? -1 : 1))
  }

  holds(tenant: Tenant.Tenant, claimed: ClaimedSubject): boolean {
    return this.#heldRow(tenant, claimed) !== undefined
  }

  release(tenant: Tenant.Tenant, claimed: ClaimedSubject, failure: Due.DueFailure | null): boolean {
    const row = this.#heldRow(tenant, claimed)
    if (row === undefined) return false
    this.#set(row, { ...row.state, lease: null, failure: failure ?? row.state.failure })
    return true
  }

  get nextDueAt(): number {
    const { billing, calls } = this.#queues
    return Math.min(billing.earliest ?? Infinity, calls.earliest ?? Infinity)
  }

  firstDue(tenant: Tenant.Tenant, clockId: TestClock.TestClockId): FirstDue | undefined {
    let first: Row | undefined
    for (const row of this.#clocked.get(clockId) ?? []) {
      if (Tenant.tenantKey(row.tenant) !== Tenant.tenantKey(tenant)) continue
      if (first === undefined || isEarlier(row, first)) first = row
    }
    // What is put in the queue without a customer has no test clock.
    if (first === undefined) return undefined
    const { subject } = first
    if (subject.kind !== "subscription" && subject.kind !== "invoice" && subject.kind !== "payment") {
      return undefined
    }
    return { subject, at: first.dueAt, attempts: attemptsOf(first.state) }
  }

  ofCustomer(
    tenant: Tenant.Tenant,
    customerId: Customer.CustomerId,
    until: number,
  ): ReadonlyArray<CustomerDue> {
    const found: Array<CustomerDue> = []
    for (const { state, subject } of this.#siblingsOf({ tenant, customerId })) {
      const { dueAt, failure } = state
      if (subject.kind !== "subscription" && subject.kind !== "invoice") continue
      if (dueAt === null || dueAt > until || failure?.retryAt === null) continue
      const retryAt = failure?.retryAt.epochMilliseconds ?? null
      found.push({ subject, dueAt, retryAt, attempts: attemptsOf(state) })
    }
    // Ids of invoices come before those of subscriptions.
    const sorted = found.sort((a, b) => a.dueAt - b.dueAt || (a.subject.id < b.subject.id ? -1 : 1))
    return sorted.slice(0, MAX_SUBJECTS_OF_CUSTOMER)
  }

  fail(tenant: Tenant.Tenant, { at, attempts, subject }: FirstDue, failure: Due.DueFailure): boolean {
    const row = this.#rows.get(subject.id)
    if (row === undefined || Tenant.tenantKey(row.tenant) !== Tenant.tenantKey(tenant)) return false
    const { state } = row
    if (state.clockId === null || claimableAt(state) !== at || attemptsOf(state) !== attempts) return false
    this.#set(row, { ...state, failure })
    return true
  }

  noteFailure(tenant: Tenant.Tenant, { id }: Subject, failure: Due.DueFailure): void {
    const row = this.#rows.get(id)
    if (row === undefined || Tenant.tenantKey(row.tenant) !== Tenant.tenantKey(tenant)) return
    this.#set(row, { ...row.state, failure })
  }

  endClock(tenant: Tenant.Tenant, clockId: TestClock.TestClockId, at: number): void {
    for (const row of this.#rows.values()) {
      const { dueAt, failure } = row.state
      if (row.state.clockId !== clockId || Tenant.tenantKey(row.tenant) !== Tenant.tenantKey(tenant)) continue
      this.#set(row, {
        ...row.state,
        clockId: null,
        dueAt: dueAt === null ? null : Math.min(dueAt, at),
        failure: failure === null ? null : { ...failure, retryAt: earlierOf(failure.retryAt, at) },
      })
    }
  }

  count(until: number): DueCounts {
    const counts = { subscriptions: 0, invoices: 0, setAside: 0 }
    for (const { state, subject } of this.#rows.values()) {
      if (state.clockId !== null || state.dueAt === null || state.dueAt > until) continue
      if (state.failure?.retryAt === null) counts.setAside++
      else if (subject.kind === "subscription") counts.subscriptions++
      else if (subject.kind === "invoice") counts.invoices++
    }
    return counts
  }

  /** The row of a subject of the tenant, if the lease holds. */
  #heldRow(tenant: Tenant.Tenant, { subject, token }: ClaimedSubject): Row | undefined {
    const row = this.#rows.get(subject.id)
    if (row === undefined || Tenant.tenantKey(row.tenant) !== Tenant.tenantKey(tenant)) return undefined
    return row.state.lease?.token === token ? row : undefined
  }

  #set(row: Row, state: State): void {
    const before = row.state
    this.#move(row, state)
    this.#journal.wrote(() => this.#move(row, before))
  }

  #move(row: Row, state: State): void {
    const queue = this.#queues[laneOf(row.subject)]
    if (row.heapIndex !== -1) queue.remove(row.group, row)
    const before = row.state.clockId
    if (before !== null) this.#clocked.get(before)?.delete(row)
    row.state = state
    const at = claimableAt(state)
    if (at === undefined) return
    row.dueAt = at
    if (state.clockId === null) queue.add(row.group, row)
    else this.#ofClock(state.clockId).add(row)
  }

  #ofClock(id: TestClock.TestClockId): Set<Row> {
    const known = this.#clocked.get(id) ?? new Set()
    this.#clocked.set(id, known)
    return known
  }

  #partyOf(lane: Lane, tenant: Tenant.Tenant): DueParty<Row> {
    const key = `${lane} ${Tenant.tenantKey(tenant)}`
    const known = this.#parties.get(key)
    if (known !== undefined) return known
    const party = new DueParty<Row>()
    this.#parties.set(key, party)
    return party
  }
}

const earlierOf = (instant: DateTime.Utc | null, at: number): DateTime.Utc | null =>
  instant === null ? null : DateTime.makeUnsafe(Math.min(instant.epochMilliseconds, at))

const isEarlier = (a: Row, b: Row): boolean => {
  if (a.dueAt !== b.dueAt) return a.dueAt < b.dueAt
  // Invoices come before payments before subscriptions, as their ids do.
  return a.id < b.id
}

/** The port over the table. */
export const dueStore = (table: DueTable, journal: Journal): DueStore["Service"] =>
  DueStore.of({
    claimDue: (claim) => journal.verb(() => Exit.succeed(table.claim(claim))),
    holds: (claimed) => journal.tenantVerb((tenant) => Exit.succeed(table.holds(tenant, claimed))),
    release: (claimed, failure) =>
      journal.tenantVerb((tenant) => Exit.succeed(table.release(tenant, claimed, failure))),
    firstDue: (clockId) =>
      journal.tenantVerb((tenant) => Exit.succeed(Option.fromUndefinedOr(table.firstDue(tenant, clockId)))),
    ofCustomer: (customerId, until) =>
      journal.tenantVerb((tenant) => Exit.succeed(table.ofCustomer(tenant, customerId, until))),
    fail: (first, failure) =>
      journal.tenantVerb((tenant) => Exit.succeed(table.fail(tenant, first, failure))),
    noteFailure: (subject, failure) =>
      journal.tenantVerb((tenant) => Exit.succeed(table.noteFailure(tenant, subject, failure))),
    endClock: (clockId, at) =>
      journal.tenantVerb((tenant) => Exit.succeed(table.endClock(tenant, clockId, at.epochMilliseconds))),
    countDue: (until) => journal.verb(() => Exit.succeed(table.count(until.epochMilliseconds))),
    schedule: (subject, dueAt) =>
      journal.tenantVerb((tenant) => {
        if (dueAt === null) table.remove(subject.id)
        else table.put(tenant, subject, null, dueAt)
        return Exit.void
      }),
    nextDueAt: journal.verb(() =>
      Exit.succeed(
        Number.isFinite(table.nextDueAt) ? Option.some(DateTime.makeUnsafe(table.nextDueAt)) : Option.none(),
      ),
    ),
  })
