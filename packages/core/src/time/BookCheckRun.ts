/**
 * Does the work of checks of the books, page by page.
 */
import { DateTime, Effect, Metric, Option, Schema } from "effect"
import { AccountKey } from "../credits/Credit.ts"
import { makeCreditAudit } from "../credits/CreditAudit.ts"
import { Outbox } from "../events/Outbox.ts"
import { InvoiceId } from "../invoices/Invoice.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { makeBookAudit } from "../payments/BookAudit.ts"
import { Collections } from "../shared/Collections.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import {
  begun,
  type BookCheck,
  type BookCheckId,
  bookChecks,
  looked,
  type Looked,
  ofCredits,
  ofInvoice,
} from "./BookCheck.ts"
import { bookCheckFailed, bookCheckFailedData } from "./BookCheckEvent.ts"
import { type ClaimedSubject, DueStore } from "./DueStore.ts"

/** Most pages of one claim: 1,000 invoices. They take a small part of its lease. */
const PAGES_OF_CLAIM = 50

type Run<A> = Effect.Effect<A, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant>

const invoiceOf = Schema.decodeUnknownSync(InvoiceId)
const accountOf = Schema.decodeUnknownSync(AccountKey)

/** The account of a position such as `cus_…/token`. */
const accountAt = (position: string): AccountKey => {
  const [customerId, ...unit] = position.split("/")
  return accountOf({ customerId, unit: unit.join("/") })
}

/** Makes the work on a check that a runner has claimed. */
export const makeBookCheckRun = Effect.gen(function* () {
  const duePort = yield* optionalPort(DueStore)
  const checks = (yield* Collections).of(bookChecks)
  const books = yield* makeBookAudit
  const credits = yield* makeCreditAudit
  const outbox = yield* Outbox
  const { atomically } = yield* Transactor

  /** The position may be a draft that was removed since. Then the check begins again. */
  const beginAgain = (claimed: ClaimedSubject, id: BookCheckId): Run<BookCheck | undefined> =>
    Effect.gen(function* () {
      if (!(yield* (yield* duePort).holds(claimed))) return undefined
      return Option.getOrUndefined(yield* checks.modify(id, (check) => Effect.succeed(begun(check))))
    }).pipe(atomically)

  const lookAt = ({ part, position }: BookCheck): Run<Looked> =>
    part === "invoices"
      ? Effect.map(
          books.page(position === null ? {} : { startingAfter: invoiceOf(position) }),
          ({ discrepancies, hasMore, invoices, last }) => ({
            count: invoices,
            differences: discrepancies.map(ofInvoice),
            position: last,
            hasMore,
          }),
        )
      : Effect.map(
          credits.page(position === null ? {} : { startingAfter: accountAt(position) }),
          ({ accounts, discrepancies, hasMore, last }) => ({
            count: accounts,
            differences: discrepancies.map(ofCredits),
            position: last === null ? null : `${last.customerId}/${last.unit}`,
            hasMore,
          }),
        )

  const complete = Effect.fnUntraced(function* (check: BookCheck) {
    const due = yield* duePort
    yield* due.schedule({ kind: "book_check", id: check.id }, null)
    if (check.differences === 0) return
    yield* outbox.publish(bookCheckFailed, bookCheckFailedData(check))
    yield* Effect.logError(
      `a check of the books found ${check.differences} differences: they are bugs, or the database is damaged`,
      check.id,
    )
    yield* Metric.update(differences, check.differences)
  })

  /** Notes what a page found, if the lease holds. Gives the check if it has more to look at. */
  const note = (claimed: ClaimedSubject, before: BookCheck, page: Looked): Run<BookCheck | undefined> =>
    Effect.gen(function* () {
      const due = yield* duePort
      if (!(yield* due.holds(claimed))) return undefined
      const now = yield* DateTime.now
      const isLast = before.part === "credits" && !page.hasMore
      const noted = yield* checks.modify(before.id, (check) => {
        const after = looked(check, page)
        return Effect.succeed(isLast ? { ...after, status: "completed" as const, completedAt: now } : after)
      })
      if (Option.isNone(noted)) return undefined
      if (!isLast) return noted.value
      yield* complete(noted.value)
      return undefined
    }).pipe(atomically)

  return (claimed: ClaimedSubject, id: BookCheckId): Run<void> =>
    Effect.gen(function* () {
      let check = Option.getOrUndefined(yield* checks.find(id))
      for (let pages = 0; check !== undefined && pages < PAGES_OF_CLAIM; pages++) {
        const before: BookCheck = check
        check = yield* Effect.matchEffect(lookAt(before), {
          onSuccess: (page) => note(claimed, before, page),
          onFailure: (error) =>
            error._tag === "InvalidInput" ? beginAgain(claimed, id) : Effect.fail(error),
        })
      }
      // The next claim goes on, after what waits of other tenants.
      if (check !== undefined) yield* (yield* duePort).release(claimed, null)
    })
})

const differences = Metric.counter("billwright_book_differences", {
  description: "Differences that checks of the books found.",
  incremental: true,
})
