/**
 * The expected behaviour of a storage, written as directly as possible: lists of values, and loops over them.
 *
 * It is slow, supports no concurrency, and shares no code with an adapter. The state is never changed, only replaced,
 * so a transaction is undone by restoring the old state.
 */
import {
  type ApiKey,
  type AppendOutcome,
  type AppendResult,
  type Customer,
  type IdempotentRequest,
  type IdStatus,
  type Meter,
  type OnceOutcome,
  Page,
  type Rollup,
  type StoredApiKey,
  type StoredResponse,
  Threshold,
  type TotalsQuery,
  type UsageRecord,
  type UsageTotal,
} from "@billwright/core"
import { type DateTime, Option } from "effect"
import { totalsOf } from "./ReferenceTotals.ts"

interface ThresholdRow {
  readonly id: string
  readonly threshold: Threshold.Threshold
  readonly fired: ReadonlyArray<string>
}

/** A meter, and the definitions that answer and that are being built. */
export interface MeterRow {
  readonly id: Meter.MeterId
  readonly key: string
  readonly productId: string
  readonly unit: string
  readonly answering: Rollup.Definition | undefined
  readonly wanted: Rollup.Definition | undefined
}

interface AnswerRow {
  readonly request: IdempotentRequest
  readonly response: StoredResponse
  readonly expiresAt: DateTime.Utc
}

interface State {
  readonly customers: ReadonlyArray<{
    readonly id: string
    readonly customer: Customer.Customer | undefined
  }>
  readonly records: ReadonlyArray<UsageRecord.UsageRecord>
  readonly meters: ReadonlyArray<MeterRow>
  readonly thresholds: ReadonlyArray<ThresholdRow>
  readonly keys: ReadonlyArray<StoredApiKey>
  /** The ids of keys that were rolled. */
  readonly rolled: ReadonlyArray<string>
  readonly answers: ReadonlyArray<AnswerRow>
}

const replace = <A>(items: ReadonlyArray<A>, isIt: (item: A) => boolean, change: (item: A) => A): Array<A> =>
  items.map((item) => (isIt(item) ? change(item) : item))

/** A page of items, or `CursorNotFound` if `known` doesn't contain the cursor. */
export const pageOf = <A extends { readonly id: string }>(
  items: ReadonlyArray<A>,
  known: ReadonlyArray<{ readonly id: string }>,
  { cursor, limit }: Page.PageQuery,
): Page.Page<A> | Page.CursorNotFound => {
  if (cursor !== undefined && !known.some(({ id }) => id === cursor.id)) {
    return new Page.CursorNotFound({ id: cursor.id })
  }
  const newestFirst = [...items].sort((a, b) => (a.id < b.id ? 1 : -1))
  if (cursor?.direction === "newer") {
    const newer = newestFirst.filter(({ id }) => id > cursor.id)
    return { data: newer.slice(Math.max(0, newer.length - limit)), hasMore: newer.length > limit }
  }
  const older = cursor === undefined ? newestFirst : newestFirst.filter(({ id }) => id < cursor.id)
  return { data: older.slice(0, limit), hasMore: older.length > limit }
}

const isSameMeter = (a: Metered, b: Metered): boolean =>
  a.customerId === b.customerId && a.productId === b.productId && a.unit === b.unit

type Metered = Pick<UsageRecord.UsageRecord, "customerId" | "productId" | "unit">

const sortedText = (dimensions: UsageRecord.UsageRecord["dimensions"]): string =>
  JSON.stringify(Object.entries(dimensions).sort(([a], [b]) => (a < b ? -1 : 1)))

/** One tenant's storage. */
export class ReferenceStorage {
  state: State = { customers: [], records: [], meters: [], thresholds: [], keys: [], rolled: [], answers: [] }

  insertCustomer(customer: Customer.Customer): void {
    this.state = { ...this.state, customers: [...this.state.customers, { id: customer.id, customer }] }
  }

  findCustomer(id: string): Option.Option<Customer.Customer> {
    return Option.fromUndefinedOr(this.state.customers.find((row) => row.id === id)?.customer)
  }

  status(id: string): IdStatus {
    if (Option.isSome(this.findCustomer(id))) return "active"
    return this.state.customers.some((row) => row.id === id) ? "removed" : "unknown"
  }

  setCustomer(id: string, customer: Customer.Customer | undefined): void {
    const customers = replace(
      this.state.customers,
      (row) => row.id === id,
      () => ({ id, customer }),
    )
    this.state = { ...this.state, customers }
  }

  erase(id: string): boolean {
    this.setCustomer(id, undefined)
    return this.status(id) === "removed"
  }

  listCustomers(
    email: string | undefined,
    page: Page.PageQuery,
  ): Page.Page<Customer.Customer> | Page.CursorNotFound {
    const active = this.state.customers.flatMap(({ customer }) => (customer === undefined ? [] : [customer]))
    const chosen = email === undefined ? active : active.filter((customer) => customer.email === email)
    return pageOf(chosen, this.state.customers, page)
  }

  append(records: ReadonlyArray<UsageRecord.NewUsageRecord>): AppendResult {
    const outcomes = records.map((record) => this.#appendOne(record))
    const recorded = outcomes.flatMap((outcome) => (outcome._tag === "Recorded" ? [outcome.record] : []))
    return { outcomes, crossings: this.#fire(recorded) }
  }

  findRecord(id: string): Option.Option<UsageRecord.UsageRecord> {
    return Option.fromUndefinedOr(this.state.records.find((record) => record.id === id))
  }

  void(id: string, at: DateTime.Utc): Option.Option<UsageRecord.UsageRecord> {
    const records = replace(
      this.state.records,
      (record) => record.id === id && record.voidedAt === null,
      (record) => ({ ...record, voidedAt: at }),
    )
    this.state = { ...this.state, records }
    return this.findRecord(id)
  }

  listRecords(
    filter: {
      readonly customerId: string
      readonly productId: string | undefined
      readonly unit: string | undefined
    },
    page: Page.PageQuery,
  ): Page.Page<UsageRecord.UsageRecord> | Page.CursorNotFound {
    const chosen = this.state.records.filter(
      ({ customerId, productId, unit }) =>
        customerId === filter.customerId &&
        (filter.productId === undefined || productId === filter.productId) &&
        (filter.unit === undefined || unit === filter.unit),
    )
    return pageOf(chosen, this.state.records, page)
  }

  totals(query: TotalsQuery): ReadonlyArray<UsageTotal> {
    return totalsOf(this.state.records, query)
  }

  units(customerId: string): ReadonlyArray<string> {
    const own = this.state.records.filter((record) => record.customerId === customerId)
    return [...new Set(own.map(({ unit }) => unit))]
  }

  /** Gives false when the key is taken. */
  insertMeter({ aggregation, counted, dimensions, id, key, productId, unit }: Meter.Meter): boolean {
    if (this.state.meters.some((row) => row.key === key)) return false
    const wanted = { aggregation, counted, dimensions }
    const row = { id, key, productId, unit, answering: undefined, wanted }
    this.state = { ...this.state, meters: [...this.state.meters, row] }
    return true
  }

  findMeter(id: string): MeterRow | undefined {
    return this.state.meters.find((row) => row.id === id)
  }

  /** Gives false when there is no such meter. */
  redefineMeter(id: string, wanted: Rollup.Definition): boolean {
    const meters = replace(
      this.state.meters,
      (row) => row.id === id,
      (row) => ({ ...row, wanted }),
    )
    this.state = { ...this.state, meters }
    return this.findMeter(id) !== undefined
  }

  /** Every meter answers by the definition that was asked for last. */
  buildMeters(): void {
    const meters = this.state.meters.map((row) => ({
      ...row,
      answering: row.wanted ?? row.answering,
      wanted: undefined,
    }))
    this.state = { ...this.state, meters }
  }

  insertThreshold(threshold: Threshold.Threshold): void {
    const row = { id: threshold.id, threshold, fired: [] }
    this.state = { ...this.state, thresholds: [...this.state.thresholds, row] }
  }

  findThreshold(id: string): Option.Option<Threshold.Threshold> {
    return Option.fromUndefinedOr(this.state.thresholds.find((row) => row.id === id)?.threshold)
  }

  deleteThreshold(id: string): boolean {
    const thresholds = this.state.thresholds.filter((row) => row.id !== id)
    const isDeleted = thresholds.length < this.state.thresholds.length
    this.state = { ...this.state, thresholds }
    return isDeleted
  }

  listThresholds(
    customerId: string | undefined,
    page: Page.PageQuery,
  ): Page.Page<Threshold.Threshold> | Page.CursorNotFound {
    const all = this.state.thresholds.map(({ threshold }) => threshold)
    const chosen =
      customerId === undefined ? all : all.filter((threshold) => threshold.customerId === customerId)
    return pageOf(chosen, all, page)
  }

  insertKey(stored: StoredApiKey): void {
    this.state = { ...this.state, keys: [...this.state.keys, stored] }
  }

  findKey(id: string): Option.Option<ApiKey.ApiKey> {
    return Option.fromUndefinedOr(this.state.keys.find(({ key }) => key.id === id)?.key)
  }

  findByDigest(digest: string): StoredApiKey | undefined {
    return this.state.keys.find((stored) => stored.digest === digest)
  }

  changeKey(
    id: string,
    change: (key: ApiKey.ApiKey) => Partial<ApiKey.ApiKey>,
  ): Option.Option<ApiKey.ApiKey> {
    const keys = replace(
      this.state.keys,
      ({ key }) => key.id === id,
      ({ digest, key }) => ({ digest, key: { ...key, ...change(key) } }),
    )
    this.state = { ...this.state, keys }
    return this.findKey(id)
  }

  expireKey(id: string, at: DateTime.Utc): Option.Option<ApiKey.ApiKey> {
    if (this.state.rolled.includes(id)) return Option.none()
    this.state = { ...this.state, rolled: [...this.state.rolled, id] }
    return this.changeKey(id, ({ expiresAt }) => ({
      expiresAt: expiresAt !== null && expiresAt.epochMilliseconds < at.epochMilliseconds ? expiresAt : at,
    }))
  }

  listKeys(page: Page.PageQuery): Page.Page<ApiKey.ApiKey> | Page.CursorNotFound {
    const keys = this.state.keys.map(({ key }) => key)
    return pageOf(keys, keys, page)
  }

  /** The stored answer to a request, or nothing when the request should run. */
  answer(request: IdempotentRequest, now: DateTime.Utc): OnceOutcome | undefined {
    const row = this.state.answers.find(
      (other) =>
        other.request.method === request.method &&
        other.request.path === request.path &&
        other.request.key === request.key &&
        other.expiresAt.epochMilliseconds >= now.epochMilliseconds,
    )
    if (row === undefined) return undefined
    if (row.request.fingerprint !== request.fingerprint) return { _tag: "Reused" }
    return { _tag: "Replayed", response: row.response }
  }

  remember(row: AnswerRow): void {
    // The newest first, so that it is found before an expired one.
    this.state = { ...this.state, answers: [row, ...this.state.answers] }
  }

  #appendOne(record: UsageRecord.NewUsageRecord): AppendOutcome {
    const { hasOwnTimestamp, ...content } = record
    if (this.status(record.customerId) !== "active") return { _tag: "CustomerNotFound" }
    const first = this.state.records.find(
      ({ customerId, idempotencyKey }) =>
        customerId === record.customerId &&
        idempotencyKey !== null &&
        idempotencyKey === record.idempotencyKey,
    )
    if (first === undefined) {
      this.state = { ...this.state, records: [...this.state.records, content] }
      return { _tag: "Recorded", record: content }
    }
    const isSame =
      isSameMeter(first, record) &&
      first.quantity === record.quantity &&
      sortedText(first.dimensions) === sortedText(record.dimensions) &&
      (!hasOwnTimestamp || first.timestamp.epochMilliseconds === record.timestamp.epochMilliseconds)
    return isSame ? { _tag: "Duplicate", record: first } : { _tag: "KeyConflict", recordId: first.id }
  }

  #fire(recorded: ReadonlyArray<UsageRecord.UsageRecord>): ReadonlyArray<Threshold.ThresholdCrossing> {
    const crossings: Array<Threshold.ThresholdCrossing> = []
    for (const { id, threshold } of this.state.thresholds) {
      const keyOf = (record: UsageRecord.UsageRecord) =>
        Threshold.periodKey(threshold.period, record.timestamp)
      const own = recorded.filter((record) => isSameMeter(record, threshold))
      for (const periodKey of new Set(own.map(keyOf))) {
        const counted = this.state.records.filter(
          (record) =>
            isSameMeter(record, threshold) && record.voidedAt === null && keyOf(record) === periodKey,
        )
        const total = counted.reduce((sum, { quantity }) => sum + BigInt(quantity), 0n)
        const row = this.state.thresholds.find((other) => other.id === id)
        if (row === undefined || total < threshold.quantity || row.fired.includes(periodKey)) continue
        const fired = { ...row.threshold, lastFiredAt: own[0]!.createdAt }
        const thresholds = replace(
          this.state.thresholds,
          (other) => other.id === id,
          () => ({ id, threshold: fired, fired: [...row.fired, periodKey] }),
        )
        this.state = { ...this.state, thresholds }
        crossings.push({ threshold: fired, periodKey, total })
      }
    }
    return crossings
  }
}
