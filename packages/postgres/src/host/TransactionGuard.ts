/**
 * Keeps the statements of a join inside the transaction that it joined.
 *
 * A connection is used for many transactions. A call that nobody awaited may run after the host has committed, or
 * after the pool has lent the connection to somebody else. So a join leaves a mark in its transaction: a setting that
 * ends with the transaction (and with a savepoint that is rolled back). Each statement checks for the mark: see
 * docs/decisions/0018.
 */
import { sqlState } from "../StorageFailure.ts"
import type { HostClient } from "./HostClient.ts"
import { TransactionGone } from "./TransactionGone.ts"

/** The marks of all running joins of a transaction, separated by commas. */
const SETTING = "billwright.joins"
/** A setting that nobody sets. Reading its value fails. */
const NEVER = "billwright.transaction_has_ended"

const isMarked = (mark: string): string =>
  `${mark}::text = any (string_to_array(current_setting('${SETTING}', true), ','))`

/** The SQLSTATEs of "no active transaction" and of "savepoint does not exist". */
const GONE = new Set(["25P01", "3B001"])
const CONTROL = /^(savepoint|release|rollback)\b/i
const SELECT = /^select\b/i
/** Every statement of ours that writes has at least one parameter. */
const FIRST_PARAMETER = /\$1(?!\d)/

/** Turns errors of Postgres that mean so into `TransactionGone`. */
const translated = (error: unknown): unknown => {
  const state = sqlState(error)
  const isGone = GONE.has(state ?? "") || (state === "42704" && String(error).includes(NEVER))
  return isGone ? new TransactionGone({ cause: error }) : error
}

/**
 * Leaves a mark in the transaction that is now open on a connection, next to those of `others`. It is sent at once,
 * so that no later statement of the host can come before it.
 */
export const leave = async (client: HostClient, mark: string, others: Iterable<string>): Promise<void> => {
  await client.query(
    `select set_config('${SETTING}', array_to_string(array(
  select m from unnest(string_to_array(current_setting('${SETTING}', true), ',')) as m
  where m = any (string_to_array($1::text, ','))
) || $2::text, ','), true) as marks`,
    [[...others].join(), mark],
  )
}

/**
 * The client, whose statements run only in the transaction that has the mark. Elsewhere they reject with
 * `TransactionGone`.
 *
 * A query gets a condition that leaves no rows without the mark. Postgres evaluates such a condition once, before
 * everything else, and then calls no function of the query. That costs no round trip, except when there are no rows:
 * then a second query asks whether the mark is there. Other statements ask first. If the transaction ends in between,
 * reading the value of their first parameter fails, and so does the statement.
 */
export const guarded = (client: HostClient, mark: string): HostClient => {
  const query: HostClient["query"] = async (text, values) => {
    try {
      return await client.query(text, values)
    } catch (error) {
      throw translated(error)
    }
  }
  const requireMark = async () => {
    const { rows } = await query(`select 1 as one where ${isMarked("$1")}`, [mark])
    if (rows.length === 0) throw new TransactionGone()
  }
  return {
    query: async (text, values) => {
      if (CONTROL.test(text)) return query(text, values)
      const place = `$${values.length + 1}`
      if (SELECT.test(text)) {
        const result = await query(`select * from (${text}) as guarded where ${isMarked(place)}`, [
          ...values,
          mark,
        ])
        if (result.rows.length === 0) await requireMark()
        return result
      }
      if (!FIRST_PARAMETER.test(text)) throw new TypeError(`a statement without parameters: ${text}`)
      await requireMark()
      const first = `(case when ${isMarked(place)} then $1::text else current_setting('${NEVER}') end)`
      return query(
        text.replace(FIRST_PARAMETER, () => first),
        [...values, mark],
      )
    },
  }
}
