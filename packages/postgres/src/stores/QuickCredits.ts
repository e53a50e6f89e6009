/**
 * The quick ways of `CreditStore`. Calls that arrive at the same time are one statement of the functions `take_credits`,
 * `hold_credits` and `settle_holds`.
 *
 * A statement waits for nobody: while somebody else has an account, calls of other accounts go on. The calls of that account
 * then wait together.
 */
import {
  type Credit,
  type CreditStore,
  CurrentTenant,
  GroupCommit,
  type Hold,
  Id,
  type Settling,
} from "@billwright/core"
import { Effect } from "effect"
import { type SqlClient, Statement } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import { noteXid } from "../CurrentTransaction.ts"
import type { DatabaseService } from "../Database.ts"
import { bigint, decoding, integer, json, type Row, text } from "../Row.ts"
import { holdFromRow } from "./CreditRow.ts"

/** Most calls of a statement. */
const MAX_CALLS = 100
/** Most statements at a time that wait for somebody else's transaction. Each keeps a connection. */
const MAX_WAITING_STATEMENTS = 4

/** Statements of a tenant and a verb that run side by side. Each is for other accounts. */
const LANES = 2

/** The lane of an account: always the same one, so calls of one account share a statement. */
const laneOf = (account: string): string => {
  let sum = 0
  for (let index = 0; index < account.length; index++) sum = (sum * 31 + account.charCodeAt(index)) % 65_521
  return String(sum % LANES)
}

/** Somebody else has the account. */
const BUSY = "busy"

interface Quick<Call, Answer> {
  readonly operation: string
  /** The function of the database. */
  readonly called: Statement.Fragment
  /** Its arguments of some calls, after those that all functions have: arrays, with their types. */
  readonly argumentsOf: (calls: ReadonlyArray<Call>) => ReadonlyArray<readonly [array: string, type: string]>
  /** What waits together when an account is busy. */
  readonly queueOf: (call: Call) => string
  /** The lane of a call. Without it, all calls of a tenant are in one. */
  readonly inLane?: (call: Call) => string
  readonly fromRow: (answer: Row) => Answer
}

const argument = ([array, type]: readonly [string, string]): ReadonlyArray<Statement.Segment> => [
  Statement.literal(", "),
  Statement.parameter(array),
  Statement.literal(`::text::${type}[]`),
]

/** A verb that carries out calls quickly. */
const makeQuick = Effect.fnUntraced(function* <Call, Answer>(
  database: DatabaseService,
  { argumentsOf, called, fromRow, inLane, operation, queueOf }: Quick<Call, Answer>,
) {
  /** Gives the answer of each call, `undefined` for those that can't be carried out quickly. */
  const carryOut = (waits: boolean) =>
    Effect.fnUntraced(function* (calls: ReadonlyArray<Call>) {
      const { accountId, mode } = yield* CurrentTenant
      const given = Statement.fragment(argumentsOf(calls).flatMap(argument))
      const rows = yield* database.write(
        operation,
        (sql: SqlClient.SqlClient) =>
          sql<Row>`select ordinal::text as ordinal, is_busy::text as is_busy, answer::text as answer
from ${called}(${accountId}::text, ${mode}::text, ${String(waits)}::text::boolean${given})`,
      )
      const answers: Array<Answer | typeof BUSY | undefined> = calls.map(() => undefined)
      const read = (all: ReadonlyArray<Row>): unknown => {
        let xid: unknown
        for (const row of all) {
          const isBusy = text(row, "is_busy") === "true"
          const answer = isBusy ? {} : (json(row, "answer") as Row)
          answers[integer(row, "ordinal") - 1] = isBusy ? BUSY : fromRow(answer)
          xid ??= answer["xid"]
        }
        return xid
      }
      yield* noteXid(yield* decoding(operation, read)(rows))
      return answers
    })

  const together = (waits: boolean, maxConcurrentCommits?: number) =>
    GroupCommit.make(carryOut(waits), {
      operation,
      name: "the queue of credits",
      maxGroup: MAX_CALLS,
      ...(maxConcurrentCommits === undefined ? {} : { maxConcurrentCommits }),
    })
  const atOnce = yield* together(false)
  const patiently = yield* together(true, MAX_WAITING_STATEMENTS)

  return Effect.fnUntraced(function* (call: Call) {
    if (yield* database.inTransaction) {
      const [answer] = yield* carryOut(true)([call])
      return answer === BUSY ? undefined : answer
    }
    const answer = yield* atOnce.submit(call, inLane?.(call))
    if (answer !== BUSY) return answer
    const later = yield* patiently.submit(call, queueOf(call))
    return later === BUSY ? undefined : later
  })
})

type Port = CreditStore["Service"]
/** The verbs that a storage may lack. */
type Verbs = { readonly [Name in "hold" | "settle" | "take"]: NonNullable<Port[Name]> }

interface Using {
  readonly customerId: string
  readonly unit: string
  readonly id: string
  readonly entryId: string
  readonly amount: bigint
  readonly idempotencyKey: string | null
  readonly createdAt: number
}

const uuids = (ids: ReadonlyArray<string>): readonly [string, string] => [
  ArrayLiteral.plain(ids.map(Id.toUuid)),
  "uuid",
]
const numbers = (values: ReadonlyArray<bigint | number | null>, type: string): readonly [string, string] => [
  ArrayLiteral.plain(values.map((value) => (value === null ? null : String(value)))),
  type,
]

/** The arguments that `take_credits` and `hold_credits` have. */
const usingArguments = (calls: ReadonlyArray<Using>): ReadonlyArray<readonly [string, string]> => [
  uuids(calls.map(({ customerId }) => customerId)),
  [ArrayLiteral.quoted(calls.map(({ unit }) => unit)), "text"],
  uuids(calls.map(({ id }) => id)),
  uuids(calls.map(({ entryId }) => entryId)),
  numbers(
    calls.map(({ amount }) => amount),
    "numeric",
  ),
  [ArrayLiteral.quoted(calls.map(({ idempotencyKey }) => idempotencyKey)), "text"],
  numbers(
    calls.map(({ createdAt }) => createdAt),
    "bigint",
  ),
]

const accountOf = ({ customerId, unit }: Using): string => `${customerId} ${unit}`

type Taking = Omit<Credit.StoredConsumption, "balance"> & { readonly entryId: string }
type Holding = Omit<Hold.StoredHold, "slices"> & { readonly entryId: string }

type Settled = Settling & { readonly entryId: string }

export const make = Effect.fnUntraced(function* (database: DatabaseService) {
  const { tables: t } = database
  const taken = yield* makeQuick(database, {
    operation: "CreditStore.take",
    called: t.take_credits,
    argumentsOf: (calls: ReadonlyArray<Taking>) => usingArguments(calls),
    queueOf: accountOf,
    inLane: (call) => laneOf(accountOf(call)),
    fromRow: (row) => ({
      available: bigint(row, "available"),
      held: bigint(row, "held"),
      debt: bigint(row, "debt"),
    }),
  })
  const held = yield* makeQuick(database, {
    operation: "CreditStore.hold",
    called: t.hold_credits,
    argumentsOf: (calls: ReadonlyArray<Holding>) => [
      ...usingArguments(calls),
      numbers(
        calls.map(({ ttlSeconds }) => ttlSeconds),
        "integer",
      ),
    ],
    queueOf: accountOf,
    inLane: (call) => laneOf(accountOf(call)),
    fromRow: () => true,
  })
  const settled = yield* makeQuick(database, {
    operation: "CreditStore.settle",
    called: t.settle_holds,
    argumentsOf: (calls: ReadonlyArray<Settled>): ReadonlyArray<readonly [string, string]> => [
      uuids(calls.map(({ id }) => id)),
      uuids(calls.map(({ entryId }) => entryId)),
      [ArrayLiteral.plain(calls.map(({ status }) => status)), "text"],
      numbers(
        calls.map(({ amount }) => amount),
        "numeric",
      ),
      numbers(
        calls.map(({ settledAt }) => settledAt),
        "bigint",
      ),
    ],
    queueOf: ({ id }) => id,
    fromRow: holdFromRow,
  })
  const verbs: Verbs = {
    take: (consumption, entryId) => taken({ ...consumption, entryId }),
    hold: (hold, entryId) => Effect.map(held({ ...hold, entryId }), (found) => found === true),
    settle: (settling, entryId) => settled({ ...settling, entryId }),
  }
  return verbs
})
