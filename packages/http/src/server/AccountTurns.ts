/**
 * Lets accounts take turns with what reads much, so that one account that asks for a lot doesn't slow down the others: in
 * this process, which has one thread for all of them.
 *
 * While an account is alone, it may have `MAX_ALONE` heavy reads at once. While others send requests, too, it has few, one by
 * default, and they may take an eighth of the time. A few pages come at once; who asks for more rests in between. So others
 * find most of the time free. Further reads wait in the order in which they came. Accounts are counted without their modes.
 */
import type { Tenant } from "@billwright/core"
import { Clock, Deferred, Effect, Stream } from "effect"
import { TooManyReads } from "./ErrorResponse.ts"
import type { HttpResponse } from "./HttpExchange.ts"

/** Most heavy reads at once of an account that is alone. */
const MAX_ALONE = 16
/** The default of `heavyReads`. */
const DEFAULT_HEAVY_READS = 1
/** Most heavy reads of an account that wait. */
const MAX_WAITING = 64
/** How long a heavy read waits for its turn, in milliseconds. */
const MAX_WAIT_MILLIS = 10_000
/** Most accounts that are kept track of. When there are more, those without a read are forgotten, and with that their rest. */
const MAX_ACCOUNTS = 10_000
/** How long after its last request an account counts as active, in milliseconds. */
const ACTIVE_MILLIS = 1_000
/** What a millisecond of a heavy read costs, in milliseconds in which the account may read no more. */
const COST = 8
/** How much of that an account may owe before it rests, in milliseconds: a quarter of a second of heavy reads. */
const MAX_OWED_MILLIS = 2_000
/** The longest rest, in milliseconds. */
const MAX_REST_MILLIS = 3_000

export interface TurnsOptions {
  /**
   * Most heavy reads of an account at once, in this process, while other accounts are active. They may take as many eighths
   * of the time. Default 1.
   */
  readonly heavyReads?: number
}

interface Account {
  running: number
  readonly waiting: Set<Deferred.Deferred<void>>
  /** When it owes nothing any more, in epoch milliseconds. */
  owesUntil: number
}

interface Activity {
  readonly accountId: Tenant.AccountId
  at: number
}

/** Makes an answer in the account's turns: what begins it, and each piece of a streamed answer. */
export type Taking = <E, R>(
  answering: Effect.Effect<HttpResponse, E, R>,
) => Effect.Effect<HttpResponse, E | TooManyReads, R>

export interface AccountTurns {
  /** Notes a request of an account. */
  readonly note: (accountId: Tenant.AccountId, now: number) => void
  /** Runs a heavy read when it is the account's turn. Fails when too many wait, or the wait is too long. */
  readonly inTurn: (
    accountId: Tenant.AccountId,
  ) => <A, E, R>(read: Effect.Effect<A, E, R>) => Effect.Effect<A, E | TooManyReads, R>
  /** The same for an answer, which may be a stream. A stream that has begun waits for as long as it takes. */
  readonly taking: (accountId: Tenant.AccountId) => Taking
}

export const make = ({ heavyReads = DEFAULT_HEAVY_READS }: TurnsOptions = {}): AccountTurns => {
  const accounts = new Map<string, Account>()
  /** The account of the last request, and the last one of another account before. */
  let last: Activity | undefined
  let other: Activity | undefined

  const note = (accountId: Tenant.AccountId, now: number): void => {
    if (last?.accountId === accountId) {
      last.at = now
      return
    }
    other = last
    last = { accountId, at: now }
  }

  const isAlone = (accountId: Tenant.AccountId, now: number): boolean => {
    const found = last?.accountId === accountId ? other : last
    return found === undefined || now - found.at > ACTIVE_MILLIS
  }

  const accountOf = (accountId: Tenant.AccountId): Account => {
    const known = accounts.get(accountId)
    if (known !== undefined) return known
    if (accounts.size >= MAX_ACCOUNTS) {
      for (const [id, { running, waiting }] of accounts) {
        if (running === 0 && waiting.size === 0) accounts.delete(id)
      }
    }
    const account: Account = { running: 0, waiting: new Set(), owesUntil: 0 }
    accounts.set(accountId, account)
    return account
  }

  const limitOf = (accountId: Tenant.AccountId, now: number): number =>
    isAlone(accountId, now) ? MAX_ALONE : heavyReads

  /** Wakes those whose turn it is. Each is counted as running from then on. */
  const admit = (accountId: Tenant.AccountId, account: Account, now: number): void => {
    for (const turn of account.waiting) {
      if (account.running >= limitOf(accountId, now)) return
      account.waiting.delete(turn)
      account.running++
      Deferred.doneUnsafe(turn, Effect.void)
    }
  }

  const leave = (accountId: Tenant.AccountId, account: Account, now: number): void => {
    account.running--
    admit(accountId, account, now)
  }

  /** Waits for a place. It is the caller's to leave it, also if the caller is interrupted while it waits. */
  const enter = Effect.fnUntraced(function* (accountId: Tenant.AccountId, account: Account) {
    if (account.waiting.size >= MAX_WAITING) return yield* new TooManyReads()
    const turn = Deferred.makeUnsafe<void>()
    account.waiting.add(turn)
    admit(accountId, account, yield* Clock.currentTimeMillis)
    yield* Effect.onExit(
      Deferred.await(turn).pipe(
        Effect.timeoutOrElse({ duration: MAX_WAIT_MILLIS, orElse: () => new TooManyReads() }),
      ),
      (exit) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          // Its turn may have come in the same moment.
          if (exit._tag === "Failure" && !account.waiting.delete(turn)) leave(accountId, account, now)
        }),
    )
  })

  const inTurn: AccountTurns["inTurn"] = (accountId) => (read) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const account = accountOf(accountId)
        yield* restore(enter(accountId, account))
        const resting = Effect.flatMap(Clock.currentTimeMillis, (now) =>
          isAlone(accountId, now)
            ? Effect.void
            : Effect.sleep(Math.max(0, account.owesUntil - MAX_OWED_MILLIS - now)),
        )
        let begun: number | undefined
        return yield* Effect.onExit(
          restore(
            Effect.andThen(
              Effect.tap(Effect.andThen(resting, Clock.currentTimeMillis), (now) =>
                Effect.sync(() => (begun = now)),
              ),
              read,
            ),
          ),
          () =>
            Effect.map(Clock.currentTimeMillis, (now) => {
              if (begun !== undefined && !isAlone(accountId, now)) {
                const owes = Math.max(account.owesUntil, now) + (COST / heavyReads) * (now - begun)
                account.owesUntil = Math.min(owes, now + MAX_OWED_MILLIS + MAX_REST_MILLIS)
              }
              leave(accountId, account, now)
            }),
        )
      }),
    )

  const taking: AccountTurns["taking"] = (accountId) => (answering) =>
    Effect.map(inTurn(accountId)(answering), (response) => {
      const { stream } = response
      if (stream === undefined) return response
      const paced = Stream.transformPull(stream, (pull) => Effect.succeed(patiently(accountId, pull)))
      return { ...response, stream: paced }
    })

  const patiently = <A, E, R>(accountId: Tenant.AccountId, pull: Effect.Effect<A, E, R>) => {
    const turn: Effect.Effect<A, E, R> = Effect.catchIf(
      inTurn(accountId)(pull),
      (error): error is TooManyReads & typeof error => error instanceof TooManyReads,
      () =>
        Effect.andThen(
          Effect.sleep(ACTIVE_MILLIS),
          Effect.suspend(() => turn),
        ),
    )
    return turn
  }

  return { note, inTurn, taking }
}
