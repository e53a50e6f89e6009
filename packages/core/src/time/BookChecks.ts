/**
 * The use cases of checks of the books. `BillingRuns` does the work.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import * as Actor from "../shared/Actor.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { lasting } from "../shared/Lasting.ts"
import * as OutageLog from "../shared/OutageLog.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import * as Resource from "../shared/Resource.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant, type Tenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import {
  begun,
  BOOK_CHECK_ID_PREFIX,
  type BookCheck,
  BookCheckId,
  type BookCheckNotFound,
  bookChecks,
  CreateBookCheck,
  ListBookChecks,
} from "./BookCheck.ts"
import { DueStore } from "./DueStore.ts"

/** Most tenants that are read at once. */
const TENANTS_AT_ONCE = 500
/** How long after the beginning of the night (midnight in UTC) the first check is due, so that bills of that instant come first. */
const FIRST_MILLIS = 2 * 3_600_000
/** How far the checks of tenants are spread: one tenant after another, a second apart, and again from the beginning. */
const SPREAD_SECONDS = 7_200
/** How often the clock is looked at. */
const POLL_MILLIS = 600_000

const decodeCreate = decoder(CreateBookCheck)
const decodeList = decoder(ListBookChecks)
const { knownId, orNotFound } = ById.of(bookChecks)

type Failure = InvoicingUnsupported | StorageError

/** Begins, reads and lists the checks of the current tenant's books. */
export class BookChecks extends Context.Service<
  BookChecks,
  {
    /**
     * Begins a check. `BillingRuns` looks at invoices and balances, some at a time, and goes on where it stopped. It reads
     * only, and takes no locks.
     */
    readonly create: (
      input?: CreateBookCheck,
    ) => Effect.Effect<BookCheck, InvalidInput | Failure, CurrentTenant>

    readonly get: (id: string) => Effect.Effect<BookCheck, BookCheckNotFound | StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListBookChecks,
    ) => Effect.Effect<Page<BookCheck>, InvalidInput | StorageError, CurrentTenant>

    /**
     * Begins the check of the current night for every tenant that has invoices. A tenant has one check a night, also when
     * several processes call this. The checks are due from 2 o'clock in UTC on, spread over 2 hours. Gives how many were begun.
     */
    readonly beginNight: Effect.Effect<number, Failure>
  }
>()("@billwright/core/time/BookChecks") {
  static readonly layer = Layer.effect(
    BookChecks,
    Effect.gen(function* () {
      const store = (yield* Collections).of(bookChecks)
      const duePort = yield* optionalPort(DueStore)
      const invoicePort = yield* optionalPort(InvoiceStore)
      const { atomically } = yield* Transactor
      const ids = yield* IdGenerator

      /** Stores a check, unless the night has one. */
      const begin = (night: string | null, part: BookCheck["part"], dueAt: number | undefined) =>
        Effect.gen(function* () {
          const due = yield* duePort
          const createdAt = yield* DateTime.now
          const check = begun({
            ...Resource.unset(bookChecks),
            id: BookCheckId.make(yield* ids.next(BOOK_CHECK_ID_PREFIX)),
            night,
            part,
            status: "running",
            createdAt,
          })
          if (!(yield* store.insert(check))) return undefined
          yield* due.schedule({ kind: "book_check", id: check.id }, dueAt ?? createdAt.epochMilliseconds)
          return check
        }).pipe(atomically)

      const create = Effect.fn("BookChecks.create")(function* (input: CreateBookCheck = {}) {
        const { part = "invoices" } = yield* decodeCreate(input)
        // Only a night can have been checked before.
        return (yield* begin(null, part, undefined))!
      })

      const get = Effect.fn("BookChecks.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      const list = Effect.fn("BookChecks.list")(function* (query: ListBookChecks = {}) {
        const request = yield* decodeList(query)
        const page = yield* toQuery(request)
        return yield* store.list(filterOf(request), page).pipe(nameCursor(request))
      })

      const beginNight = Effect.gen(function* () {
        const invoices = yield* invoicePort
        const now = yield* DateTime.now
        const night = nightOf(now)
        const start = DateTime.startOf(now, "day").epochMilliseconds + FIRST_MILLIS
        let begun = 0
        let place = 0
        let after: Tenant | undefined
        for (;;) {
          const tenants: ReadonlyArray<Tenant> = yield* invoices.tenants(after, TENANTS_AT_ONCE)
          for (const tenant of tenants) {
            const dueAt = start + (place++ % SPREAD_SECONDS) * 1_000
            const check = yield* Effect.provideService(begin(night, "invoices", dueAt), CurrentTenant, tenant)
            if (check !== undefined) begun++
          }
          after = tenants.at(-1)
          if (tenants.length < TENANTS_AT_ONCE) return begun
        }
      }).pipe(
        Effect.provideService(Actor.CurrentActor, Actor.runner),
        Effect.withSpan("BookChecks.beginNight"),
      )

      return BookChecks.of({ create, get, list, beginNight })
    }),
  )

  /** Calls `beginNight` once a night in the background, until the scope closes. On a storage without invoices nothing runs. */
  static readonly nightly = Layer.effectDiscard(
    Effect.gen(function* () {
      const { beginNight } = yield* BookChecks
      const outage = OutageLog.make("nightly checks of the books begin again")
      let done: string | undefined
      const round = Effect.gen(function* () {
        const night = nightOf(yield* DateTime.now)
        if (night !== done) {
          yield* beginNight
          yield* outage.worked
          done = night
        }
        yield* Effect.sleep(POLL_MILLIS)
      })
      const problem = "the nightly checks of the books can't begin"
      yield* Effect.forkScoped(
        Effect.forever(lasting(round, { outage, problem, pauseMillis: POLL_MILLIS })).pipe(
          Effect.catchTag("InvoicingUnsupported", () => Effect.void),
        ),
      )
    }),
  )
}

/** The date in UTC. */
const nightOf = (now: DateTime.Utc): string => DateTime.formatIsoDateUtc(now)
