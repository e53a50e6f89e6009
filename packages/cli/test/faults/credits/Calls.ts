/**
 * What callers do to one account of credits. Each call has a number, and may be repeated until its outcome is known: it then
 * counts once.
 */
import {
  Credits,
  type CurrentTenant,
  Customers,
  type Customer,
  Holds,
  RateCards,
  StorageError,
  TokenUsages,
} from "@billwright/core"
import { DateTime, Effect, Schedule } from "effect"

/** The unit of all credits here. */
export const UNIT = "token"
/** What holds keep. Each is committed with less, or released. */
const HELD = 5n
const TTL_SECONDS = 600
/** 4 tokens of the unit. */
const USED = { rateCard: "llm", model: "large", tokens: { input: 4_000_000 } }
const MAX_TRIES = 500

interface Account {
  readonly customerId: Customer.CustomerId
  readonly unit: string
}

/** What a call came to: the id of what it made with what it used, or why it was refused. */
export type Called = { readonly id: string; readonly used: number } | { readonly refused: string }

/** Asks again, with the same key, until the outcome is known. */
const untilKnown = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.retry(effect, {
    while: (error) => error instanceof StorageError,
    schedule: Schedule.spaced("20 millis"),
    times: MAX_TRIES,
  })

/** A customer with so many credits for ever, and some until an instant. */
export const account = (amount: bigint, promotion: { readonly amount: bigint; readonly expiresAt: number }) =>
  Effect.gen(function* () {
    const { id: customerId } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
    yield* (yield* RateCards).push({
      rateCards: [{ key: USED.rateCard, unit: UNIT, models: { [USED.model]: { input: "1" } } }],
    })
    const { grant } = yield* Credits
    const own = { customerId, unit: UNIT }
    yield* grant({ ...own, kind: "paid", amount })
    const expiresAt = DateTime.makeUnsafe(promotion.expiresAt)
    yield* grant({ ...own, kind: "promotional", amount: promotion.amount, expiresAt })
    return own
  })

/** A call with a key. */
type Call = (
  own: Account,
  idempotencyKey: string,
) => Effect.Effect<Called, { readonly _tag: string }, Credits | Holds | TokenUsages | CurrentTenant>

const CALLS: ReadonlyArray<Call> = [
  (own, idempotencyKey) =>
    Effect.map(
      Effect.flatMap(Credits, ({ consume }) => consume({ ...own, amount: 3n, idempotencyKey })),
      ({ id }) => ({ id, used: 3 }),
    ),
  (own, idempotencyKey) =>
    Effect.gen(function* () {
      const { commit, reserve } = yield* Holds
      const asked = { ...own, amount: HELD, ttlSeconds: TTL_SECONDS, idempotencyKey }
      const { id } = yield* untilKnown(reserve(asked))
      yield* untilKnown(commit(id, { amount: 2n }))
      return { id, used: 2 }
    }),
  (own, idempotencyKey) =>
    Effect.gen(function* () {
      const { commit, reserve } = yield* Holds
      const asked = { ...own, amount: HELD, ttlSeconds: TTL_SECONDS, idempotencyKey }
      const { id } = yield* untilKnown(reserve(asked))
      yield* untilKnown(commit(id, USED))
      return { id, used: 4 }
    }),
  (own, idempotencyKey) =>
    Effect.map(
      Effect.flatMap(TokenUsages, ({ create }) =>
        create({ ...USED, customerId: own.customerId, idempotencyKey }),
      ),
      ({ id }) => ({ id, used: 4 }),
    ),
  (own, idempotencyKey) =>
    Effect.gen(function* () {
      const { release, reserve } = yield* Holds
      const asked = { ...own, amount: HELD, ttlSeconds: TTL_SECONDS, idempotencyKey }
      const { id } = yield* untilKnown(reserve(asked))
      yield* untilKnown(release(id))
      return { id, used: 0 }
    }),
]

/** A call by its number, until its outcome is known. */
export const called = (own: Account, number: number) =>
  untilKnown(CALLS[number % CALLS.length]!(own, `call ${number}`)).pipe(
    Effect.catch((error) => Effect.succeed<Called>({ refused: error._tag })),
  )
