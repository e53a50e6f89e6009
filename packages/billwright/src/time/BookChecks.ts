/**
 * Checks of the books, which derive all invoices and all balances of credits again.
 */
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** `running` until everything was looked at, then `completed`. */
export type BookCheckStatus = "running" | "completed"

/** Something that is not what it consists of. It is a bug, or the database is damaged. */
export interface BookDifference {
  /** The id of the invoice; or of the customer and the unit of a balance, such as `cus_…/token`. */
  readonly object: string
  /** What of it differs, such as `lines[0].amount`. */
  readonly path: string
  /** What is stated, and what was derived. It continues the sentence. */
  readonly problem: string
}

/** Derives all issued invoices and all balances of credits again, in the background, and says what differs. */
export interface BookCheck {
  /** `chk_…` */
  readonly id: string
  /** The night of a nightly check, as the date in UTC, such as `2026-11-26`. `null`: somebody asked for it. */
  readonly night: string | null
  readonly status: BookCheckStatus
  /** How many invoices were looked at so far. */
  readonly invoices: number
  /** How many balances of credits were looked at so far. */
  readonly creditAccounts: number
  /** How many differences were found so far. */
  readonly differences: number
  /** The first 100 differences. */
  readonly found: ReadonlyArray<BookDifference>
  /** What it looks at: first invoices, the newest first, and then balances of credits. */
  readonly part: "invoices" | "credits"
  /** The last of them that was looked at. */
  readonly position: string | null
  readonly createdAt: Date
  readonly completedAt: Date | null
}

/** A new check. */
export interface CreateBookCheck {
  /** What it begins with. `credits` leaves invoices out. Default: `invoices`. */
  readonly part?: "invoices" | "credits" | undefined
}

/** Selects checks, newest first. */
export interface ListBookChecks extends PageQuery {
  readonly status?: BookCheckStatus | undefined
  /** The date of the night, in UTC. */
  readonly night?: string | undefined
}

/**
 * A check reads only, some invoices at a time, and goes on where it stopped when a process dies. If it finds differences,
 * the event `book_check.failed` is published when it is complete. `nightlyBookChecks` of `createBilling` begins one each night.
 *
 * Errors: `BookCheckNotFoundError`, `InvoicingUnsupportedError`.
 */
export interface BookChecks {
  create(input?: CreateBookCheck, options?: CallOptions): Promise<BookCheck>
  get(id: string, options?: CallOptions): Promise<BookCheck>
  list(query?: ListBookChecks, options?: CallOptions): Listing<BookCheck>
}
