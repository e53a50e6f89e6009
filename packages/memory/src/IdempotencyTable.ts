/**
 * Answers to requests with an idempotency key in memory, and the `IdempotencyStore` over them.
 */
import {
  CurrentTenant,
  IdempotencyStore,
  type IdempotentRequest,
  type OnceOutcome,
  type StoredResponse,
  type Tenant,
} from "@billwright/core"
import { type DateTime, Effect, Exit } from "effect"
import type { Journal, TransactionIdentity } from "./Journal.ts"

/** A stored answer. */
export interface IdempotencyRow {
  readonly tenant: Tenant.Tenant
  readonly request: IdempotentRequest
  readonly response: StoredResponse
  readonly expiresAt: DateTime.Utc
}

/** A request from its start until its answer is visible to all. */
interface Run {
  /** The transaction that has the answer but has not committed it. */
  answeredIn: TransactionIdentity | undefined
  readonly end: () => void
}

const keyOf = (tenant: Tenant.Tenant, { key, method, path }: IdempotentRequest): string =>
  JSON.stringify([tenant.accountId, tenant.mode, method, path, key])

/** Stored answers and running requests. Its methods are synchronous. */
export class IdempotencyTable {
  readonly #journal: Journal
  readonly #rows = new Map<string, IdempotencyRow>()
  readonly #running = new Map<string, Run>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** Whether a request is running, or its answer is not yet committed by another transaction than the given one. */
  isRunning(
    tenant: Tenant.Tenant,
    request: IdempotentRequest,
    transaction: TransactionIdentity | undefined,
  ): boolean {
    const run = this.#running.get(keyOf(tenant, request))
    return run !== undefined && (run.answeredIn === undefined || run.answeredIn !== transaction)
  }

  /** The stored answer of a request. */
  answer(tenant: Tenant.Tenant, request: IdempotentRequest, now: DateTime.Utc): OnceOutcome | undefined {
    const row = this.#rows.get(keyOf(tenant, request))
    if (row === undefined || isExpired(row, now)) return undefined
    if (row.request.fingerprint !== request.fingerprint) return { _tag: "Reused" }
    const { body, status } = row.response
    return { _tag: "Replayed", response: { status, body } }
  }

  /** Marks a request as running, until `end` is called. */
  start(tenant: Tenant.Tenant, request: IdempotentRequest): Run {
    const key = keyOf(tenant, request)
    const run: Run = {
      answeredIn: undefined,
      end: () => {
        if (this.#running.get(key) === run) this.#running.delete(key)
      },
    }
    this.#running.set(key, run)
    return run
  }

  /** Stores an answer. It replaces an expired one. */
  remember(row: IdempotencyRow): void {
    const key = keyOf(row.tenant, row.request)
    const before = this.#rows.get(key)
    // Deleted first, so that rows stay in the order in which they were stored.
    this.#rows.delete(key)
    this.#rows.set(key, row)
    this.#journal.wrote(() => {
      if (before === undefined) this.#rows.delete(key)
      else this.#rows.set(key, before)
    })
  }

  /** Removes the answers about a subject. */
  forget(tenant: Tenant.Tenant, subject: string): void {
    for (const [key, row] of this.#about(tenant, subject)) {
      this.#rows.delete(key)
      this.#journal.wrote(() => this.#rows.set(key, row))
    }
  }

  /** Makes the bodies of the answers about a subject empty. */
  redact(tenant: Tenant.Tenant, subject: string): void {
    for (const [key, row] of this.#about(tenant, subject)) {
      this.#rows.set(key, { ...row, response: { ...row.response, body: "" } })
      this.#journal.wrote(() => this.#rows.set(key, row))
    }
  }

  /** The answers about a subject. It reads every row, which is fast enough because erasures are rare. */
  #about(tenant: Tenant.Tenant, subject: string): Array<[string, IdempotencyRow]> {
    return Array.from(this.#rows).filter(
      ([, row]) =>
        row.tenant.accountId === tenant.accountId &&
        row.tenant.mode === tenant.mode &&
        row.response.subject === subject,
    )
  }

  /** Removes expired rows. It reads rows in the order in which they were stored, which is nearly that of their expiry. */
  sweep(now: DateTime.Utc, limit: number): number {
    let swept = 0
    for (const [key, row] of this.#rows) {
      if (swept >= limit) break
      if (!isExpired(row, now)) continue
      this.#rows.delete(key)
      this.#journal.wrote(() => this.#rows.set(key, row))
      swept++
    }
    return swept
  }

  /** Every row of every tenant. */
  *rows(): Generator<IdempotencyRow> {
    for (const row of this.#rows.values()) {
      yield { ...row, tenant: { ...row.tenant }, request: { ...row.request }, response: { ...row.response } }
    }
  }
}

const isExpired = (row: IdempotencyRow, now: DateTime.Utc): boolean =>
  row.expiresAt.epochMilliseconds < now.epochMilliseconds

/** The port over the table. */
export const idempotencyStore = (table: IdempotencyTable, journal: Journal): IdempotencyStore["Service"] => {
  const once = <E, R>(
    tenant: Tenant.Tenant,
    request: IdempotentRequest,
    lifetime: { readonly now: DateTime.Utc; readonly expiresAt: DateTime.Utc },
    effect: Effect.Effect<StoredResponse, E, R>,
  ): Effect.Effect<OnceOutcome, E, R> => {
    const answer = () => table.answer(tenant, request, lifetime.now)

    const runOnce = Effect.fnUntraced(function* (run: Run) {
      // Reads again, because a sweep that this waited for may have been undone.
      const known = yield* journal.verb(() => Exit.succeed(answer()))
      if (known !== undefined) return known
      const response: StoredResponse = { ...(yield* effect) }
      yield* Effect.withFiber((fiber) =>
        journal.verb(() => {
          table.remember({
            tenant: Object.freeze({ ...tenant }),
            request: { ...request },
            response,
            expiresAt: lifetime.expiresAt,
          })
          // Others get `Running` until the outermost transaction has ended.
          run.answeredIn = journal.transactionOf(fiber)
          journal.whenEnded(run.end)
          return Exit.void
        }),
      )
      const outcome: OnceOutcome = { _tag: "Ran", response: { ...response } }
      return outcome
    })

    let run: Run | undefined
    const start = Effect.withFiber((fiber) => {
      if (table.isRunning(tenant, request, journal.transactionOf(fiber))) {
        return Effect.succeed<OnceOutcome>({ _tag: "Running" })
      }
      // Does not wait for open transactions, because an answer that is not committed belongs to a running request.
      const known = answer()
      if (known !== undefined) return Effect.succeed(known)
      run = table.start(tenant, request)
      return journal.atomically(runOnce(run))
    })
    return Effect.onExit(start, (exit) => {
      if (Exit.isFailure(exit) || exit.value._tag !== "Ran") run?.end()
      return Effect.void
    })
  }

  return IdempotencyStore.of({
    once: (request, lifetime, effect) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.suspend(() => once(tenant, request, lifetime, effect)),
      ),
    forget: (subject) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        journal.verb(() => {
          table.forget(tenant, subject)
          return Exit.void
        }),
      ),
    redact: (subject) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        journal.verb(() => {
          table.redact(tenant, subject)
          return Exit.void
        }),
      ),
    sweep: (now, limit) => journal.verb(() => Exit.succeed(table.sweep(now, limit))),
  })
}
