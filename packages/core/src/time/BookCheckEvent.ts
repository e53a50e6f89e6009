/**
 * The event of checks of the books.
 */
import { Schema } from "effect"
import * as EventType from "../events/EventType.ts"
import { type BookCheck, BookCheckId } from "./BookCheck.ts"

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** The type of the event of a check that found differences. It commits with the completion of the check. */
export const bookCheckFailed = EventType.make({
  name: "book_check.failed",
  description: "A check of the books found invoices or balances that are not what they consist of.",
  data: Schema.Struct({
    book_check_id: BookCheckId,
    /** The night of a nightly check, as the date in UTC. `null`: somebody asked for it. */
    night: Schema.NullOr(Schema.String),
    invoices: count,
    credit_accounts: count,
    /** How many differences there are. The check lists the first ones. */
    differences: count,
  }),
  example: {
    book_check_id: "chk_01kb2r9d3vffx9qd6k4v2n1h7c",
    night: "2026-11-26",
    invoices: 1204,
    credit_accounts: 88,
    differences: 1,
  },
})

/** The data of the event. */
export const bookCheckFailedData = (check: BookCheck) => ({
  book_check_id: check.id,
  night: check.night,
  invoices: check.invoices,
  credit_accounts: check.creditAccounts,
  differences: check.differences,
})
