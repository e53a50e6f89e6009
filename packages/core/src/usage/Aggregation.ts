/**
 * How the records of a meter become one value.
 *
 * Records are aggregated into states, one for each UTC day and combination of dimensions. A state can be changed by one
 * record (`add`, `remove`) and merged with others, so a value is computed without reading all records. Nothing here
 * depends on the order in which records arrive: `latest` and `time_weighted` order them by `compare`.
 */
import { Schema } from "effect"

/**
 * - `sum`: the sum of the quantities;
 * - `count`: the number of records;
 * - `max`: the largest quantity, 0 when there is no record;
 * - `latest`: the quantity of the last record, 0 when there is no record;
 * - `unique_count`: the number of different values of one dimension. Records without this dimension have no value;
 * - `time_weighted`: each record sets a level. The value is the average level over the period.
 */
export const Aggregation = Schema.Literals(["sum", "count", "max", "latest", "unique_count", "time_weighted"])
export type Aggregation = typeof Aggregation.Type

/** The part of a record that is aggregated. Voided records are not aggregated. */
export interface Entry {
  /** Epoch milliseconds. */
  readonly timestamp: number
  readonly quantity: number
  readonly idempotencyKey: string | null
  readonly id: string
}

/**
 * The aggregate of some records. Which fields are used depends on the aggregation; the others keep the value that they
 * have in `zero`. States are never changed, only replaced.
 */
export interface State {
  readonly recordCount: number
  /**
   * The sum (`sum`), the largest quantity (`max`), or the sum of level × milliseconds between the first and the last
   * record (`time_weighted`).
   */
  readonly quantity: bigint
  /** The instant of the first record in epoch milliseconds (`time_weighted`). */
  readonly first: number | null
  /** The last record (`latest`, `time_weighted`). */
  readonly last: Entry | null
}

/** The state of no records. */
export const zero: State = Object.freeze({ recordCount: 0, quantity: 0n, first: null, last: null })

/** How states change. */
export interface Rule {
  /** Adds a record. `undefined` says that the state does not tell the result: the records have to be read again. */
  readonly add: (state: State, entry: Entry) => State | undefined
  /** Takes a record out that was added before. `undefined` as for `add`. */
  readonly remove: (state: State, entry: Entry) => State | undefined
  /**
   * Merges the states of two sets of records of the same combination. With `time_weighted`, all records of the first
   * set must come before all records of the second.
   */
  readonly merge: (first: State, second: State) => State
}

/** Compares texts by code points, as the databases do that compare UTF-8 bytes. */
export const compareText = (a: string, b: string): number => {
  if (a === b) return 0
  const [left, right] = [[...a], [...b]]
  for (const [index, character] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    if (character !== other) return character.codePointAt(0)! - other.codePointAt(0)!
  }
  return -1
}

/** Compares texts by code points. `null` comes first. */
export const compareNullable = (a: string | null, b: string | null): number => {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1
  return compareText(a, b)
}

/** The order of records in time: by timestamp, then by idempotency key (`null` first), then by id. */
export const compare = (a: Entry, b: Entry): number =>
  a.timestamp - b.timestamp || compareNullable(a.idempotencyKey, b.idempotencyKey) || compareText(a.id, b.id)

/** A state without records is `zero`. */
const orZero = (state: State): State => (state.recordCount === 0 ? zero : state)

const counted: Rule = {
  add: (state) => ({ ...state, recordCount: state.recordCount + 1 }),
  remove: (state) => orZero({ ...state, recordCount: state.recordCount - 1 }),
  merge: (a, b) => ({ ...a, recordCount: a.recordCount + b.recordCount }),
}

const sum: Rule = {
  add: ({ quantity, recordCount }, entry) => ({
    ...zero,
    recordCount: recordCount + 1,
    quantity: quantity + BigInt(entry.quantity),
  }),
  remove: ({ quantity, recordCount }, entry) => ({
    ...zero,
    recordCount: recordCount - 1,
    quantity: quantity - BigInt(entry.quantity),
  }),
  merge: (a, b) => ({
    ...zero,
    recordCount: a.recordCount + b.recordCount,
    quantity: a.quantity + b.quantity,
  }),
}

const larger = (a: bigint, b: bigint): bigint => (a < b ? b : a)

const max: Rule = {
  add: ({ quantity, recordCount }, entry) => ({
    ...zero,
    recordCount: recordCount + 1,
    quantity: larger(quantity, BigInt(entry.quantity)),
  }),
  remove: (state, entry) => {
    if (state.recordCount === 1) return zero
    if (BigInt(entry.quantity) === state.quantity && entry.quantity > 0) return undefined
    return { ...state, recordCount: state.recordCount - 1 }
  },
  merge: (a, b) => ({
    ...zero,
    recordCount: a.recordCount + b.recordCount,
    quantity: larger(a.quantity, b.quantity),
  }),
}

/** The part of an entry that a state keeps. */
const pointOf = ({ id, idempotencyKey, quantity, timestamp }: Entry): Entry => ({
  timestamp,
  quantity,
  idempotencyKey,
  id,
})

const later = (a: Entry | null, b: Entry | null): Entry | null => {
  if (a === null || b === null) return a ?? b
  return compare(a, b) < 0 ? b : a
}

const latest: Rule = {
  add: ({ last, recordCount }, entry) => ({
    ...zero,
    recordCount: recordCount + 1,
    last: later(last, pointOf(entry)),
  }),
  remove: (state, entry) => {
    if (state.recordCount === 1) return zero
    if (state.last?.id === entry.id) return undefined
    return { ...state, recordCount: state.recordCount - 1 }
  },
  merge: (a, b) => ({ ...zero, recordCount: a.recordCount + b.recordCount, last: later(a.last, b.last) }),
}

/** A level that lasts for a time. */
const areaOf = (level: number, millis: number): bigint => BigInt(level) * BigInt(millis)

const timeWeighted: Rule = {
  add: ({ first, last, quantity, recordCount }, entry) => {
    if (first === null || last === null) {
      return { recordCount: 1, quantity: 0n, first: entry.timestamp, last: pointOf(entry) }
    }
    // A record between others shortens a level that the state no longer knows.
    if (compare(entry, last) < 0) return undefined
    return {
      recordCount: recordCount + 1,
      quantity: quantity + areaOf(last.quantity, entry.timestamp - last.timestamp),
      first,
      last: pointOf(entry),
    }
  },
  remove: ({ recordCount }) => (recordCount === 1 ? zero : undefined),
  merge: (a, b) => {
    if (a.last === null || b.first === null) return a.last === null ? b : a
    return {
      recordCount: a.recordCount + b.recordCount,
      quantity: a.quantity + areaOf(a.last.quantity, b.first - a.last.timestamp) + b.quantity,
      first: a.first,
      last: b.last,
    }
  },
}

const RULES: Readonly<Record<Aggregation, Rule>> = {
  sum,
  count: counted,
  max,
  latest,
  unique_count: counted,
  time_weighted: timeWeighted,
}

/** The rule of an aggregation. */
export const ruleOf = (aggregation: Aggregation): Rule => RULES[aggregation]

/** The state of records in any order. */
export const stateOf = (aggregation: Aggregation, entries: Iterable<Entry>): State => {
  const { add } = RULES[aggregation]
  let state = zero
  // In the order of time, a record is never added between others.
  for (const entry of [...entries].sort(compare)) state = add(state, entry)!
  return state
}

/** The quantity to show for a state: that of the last record if the state has no other. */
export const quantityOf = ({ first, last, quantity }: State): bigint =>
  first === null && last !== null ? BigInt(last.quantity) : quantity

/** Whether two states are equal. */
export const isSame = (a: State, b: State): boolean =>
  a.recordCount === b.recordCount &&
  a.quantity === b.quantity &&
  a.first === b.first &&
  a.last?.id === b.last?.id &&
  a.last?.timestamp === b.last?.timestamp &&
  a.last?.quantity === b.last?.quantity

/** The records of a period with one combination of dimensions. */
export interface Part {
  /** The state of the period's records. */
  readonly state: State
  /** The value of the dimension whose different values are counted (`unique_count`). */
  readonly counted: string | null
  /** The level before the period (`time_weighted`): the quantity of the last record before it, or 0. */
  readonly carried: number
}

export interface Total {
  /** The value. With `time_weighted`, it is the sum of level × milliseconds over the period. */
  readonly quantity: bigint
  /** The records within the period. */
  readonly recordCount: number
}

/** The level × milliseconds of a period that has a start and an end. */
const areaWithin = (
  { carried, state }: Part,
  { end, start }: { readonly start: number; readonly end: number },
): bigint => {
  const { first, last, quantity } = state
  if (first === null || last === null) return areaOf(carried, end - start)
  return areaOf(carried, first - start) + quantity + areaOf(last.quantity, end - last.timestamp)
}

const TOTALS: Readonly<
  Record<
    Aggregation,
    (
      parts: ReadonlyArray<Part>,
      period: { readonly start: number | undefined; readonly end: number | undefined },
    ) => bigint
  >
> = {
  sum: (parts) => parts.reduce((total, { state }) => total + state.quantity, 0n),
  count: (parts) => parts.reduce((total, { state }) => total + BigInt(state.recordCount), 0n),
  max: (parts) => parts.reduce((total, { state }) => larger(total, state.quantity), 0n),
  latest: (parts) =>
    BigInt(parts.reduce<Entry | null>((last, { state }) => later(last, state.last), null)?.quantity ?? 0),
  unique_count: (parts) => {
    const used = parts.filter(({ counted: value, state }) => value !== null && state.recordCount > 0)
    return BigInt(new Set(used.map(({ counted: value }) => value)).size)
  },
  time_weighted: (parts, { end = 0, start = 0 }) =>
    parts.reduce((total, part) => total + areaWithin(part, { start, end }), 0n),
}

/**
 * The value of a period from its parts, one for each combination of dimensions. With `time_weighted`, the period must
 * have a start and an end, and a combination without records in the period is a part, too.
 */
export const totalOf = (
  aggregation: Aggregation,
  parts: ReadonlyArray<Part>,
  period: { readonly start: number | undefined; readonly end: number | undefined },
): Total => ({
  quantity: TOTALS[aggregation](parts, period),
  recordCount: parts.reduce((count, { state }) => count + state.recordCount, 0),
})
