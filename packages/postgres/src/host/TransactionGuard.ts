/**
 * Holds the statements of a join to the transaction that it was made in.
 *
 * A connection outlives its transactions: a call that nobody awaited may reach it when the host has committed, or when a
 * pool has lent it to somebody else. So a join leaves a mark in its transaction, by a setting that ends with it (and with
 * a savepoint that is rolled back), and each statement asks for the mark itself: see docs/decisions/0018.
 */
import { sqlState } from "../StorageFailure.ts"
import type { HostClient } from "./HostClient.ts"
import { TransactionGone } from "./TransactionGone.ts"

/** The marks of all joins of a transaction that are under way, with commas between. */
const SETTING = "billwright.joins"
/** A setting that nobody has: to ask for its value fails. */
const NEVER = "billwright.transaction_has_ended"

const isMarked = (mark: string): string =>
  `${mark}::text = any (string_to_array(current_setting('${SETTING}', true), ','))`

/** Of no active transaction, and of a savepoint that isn't there. */
const GONE = new Set(["25P01", "3B001"])
const CONTROL = /^(savepoint|release|rollback)\b/i
const SELECT = /^select\b/i
/** Every statement of ours that writes is about some row. */
const FIRST_PARAMETER = /\$1(?!\d)/

/** Turns what Postgres says into `TransactionGone` where it means that. */
const translated = (error: unknown): unknown => {
  const state = sqlState(error)
  const isGone = GONE.has(state ?? "") || (state === "42704" && String(error).includes(NEVER))
  return isGone ? new TransactionGone({ cause: error }) : error
}

/**
 * Leaves a mark in the transaction that is open on a connection now, beside those of `others`. It is sent at once, so
 * that nothing the host sends afterwards comes before it.
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
 * The client, whose statements do nothing but in the transaction that has the mark: they reject with `TransactionGone`
 * elsewhere.
 *
 * A query becomes one that has no rows without the mark: Postgres looks at such a condition once, before anything else,
 * and calls no function of the query then. That costs no round trip, unless there are no rows: then it asks why. Others
 * ask first; should the transaction end in between, the value of their first parameter can't be had, and they fail.
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
