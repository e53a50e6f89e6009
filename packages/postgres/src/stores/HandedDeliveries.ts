/**
 * Reads deliveries that publications of other processes leased to this one, and gives each of them once: to a dispatcher, or
 * back. See docs/decisions/0059.
 */
import { type Claimed, type DeliveryStore, MAX_CLAIM, OutageLog, Signal } from "@billwright/core"
import { Cause, DateTime, Effect, type Scope } from "effect"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import type { DatabaseService } from "../Database.ts"
import { waited } from "../Deadline.ts"
import type { Handed } from "../Notices.ts"
import { decoding, instant, type Row } from "../Row.ts"
import * as ClaimedRow from "./ClaimedRow.ts"
import { GivenLeases } from "./GivenLeases.ts"
import { UnreadDeliveries } from "./UnreadDeliveries.ts"

/** The pause after a read that failed, in milliseconds. */
const AGAIN_MILLIS = 100
/** The pause between two looks whether everything was read, in milliseconds. */
const LOOK_AGAIN_MILLIS = 20

const OPERATION = "DeliveryStore.handTo"

export interface Takers {
  /** Gives deliveries to a dispatcher. Gives false when none takes them. */
  readonly take: (leased: Claimed, leaseUntil: DateTime.Utc) => boolean
  /** By which those are given back that no dispatcher takes. */
  readonly settle: DeliveryStore["Service"]["settle"]
}

export interface HandedDeliveries {
  /** Has deliveries read and given. */
  readonly announce: (handed: ReadonlyArray<Handed>) => void
  /** Waits until everything was read, and given. */
  readonly settled: Effect.Effect<void>
}

/** Reads and gives in the background until the scope closes. */
export const make: (
  database: DatabaseService,
  takers: Takers,
) => Effect.Effect<HandedDeliveries, never, Scope.Scope> = Effect.fnUntraced(function* (
  { everyTenant, schema },
  { settle, take },
) {
  const reading = `select ${ClaimedRow.columns}, leased_until
from ${schema}.handed_deliveries($1::text::text[], $2::text::uuid[], $3::text::tid[])`
  const scope = yield* Effect.scope
  const endpointOf = ClaimedRow.readingOnce()
  const unread = new UnreadDeliveries()
  const given = new GivenLeases()
  /** How many reads are being given back. */
  let givingBack = 0
  const news = Signal.make()
  const outage = OutageLog.make("deliveries that other processes leased to this one can be read again")

  const giveBack = Effect.fnUntraced(function* ({ deliveries, unreadable }: Claimed) {
    const at = yield* DateTime.now
    yield* settle(
      [...deliveries, ...unreadable].map(({ attemptCount, id, tenant, token }) => ({
        tenant,
        id,
        endpointId: undefined,
        token,
        at,
        state: { status: "Pending", attemptCount, dueAt: at.epochMilliseconds },
        attempt: undefined,
      })),
    )
  })

  /** Beside the reads, because somebody may have locked a row. If it fails, the leases end by themselves. */
  const giveBackApart = (leased: Claimed) => {
    givingBack++
    const ended = Effect.sync(() => {
      givingBack--
    })
    return Effect.forkIn(Effect.ensuring(Effect.ignoreCause(giveBack(leased)), ended), scope)
  }

  const read = Effect.fnUntraced(function* (handed: ReadonlyArray<Handed>) {
    const rows = yield* everyTenant.read(OPERATION, (sql) =>
      sql.unsafe<Row>(reading, [
        ArrayLiteral.plain(handed.map(({ worker }) => worker)),
        ArrayLiteral.plain(handed.map(({ id }) => id)),
        ArrayLiteral.quoted(handed.map(({ place }) => place)),
      ]),
    )
    if (rows.length === 0) return undefined
    return yield* decoding(OPERATION, (all: ReadonlyArray<Row>) => ({
      ...ClaimedRow.claimedFromRows(all, endpointOf),
      leaseUntil: all.map((row) => instant(row, "leased_until")).reduce(DateTime.min),
    }))(rows)
  })

  const readAndGive = Effect.fnUntraced(function* (handed: ReadonlyArray<Handed>) {
    const found = yield* read(handed)
    if (found === undefined) return
    const leased = {
      deliveries: given.neverGiven(found.deliveries),
      unreadable: given.neverGiven(found.unreadable),
    }
    if (leased.deliveries.length + leased.unreadable.length === 0) return
    if (!take(leased, found.leaseUntil)) yield* giveBackApart(leased)
  })

  const round = Effect.suspend(() => {
    const some = unread.first(MAX_CLAIM)
    return Effect.matchCauseEffect(readAndGive(some), {
      onSuccess: () => {
        unread.removeFirst(some.length)
        return outage.worked
      },
      onFailure: (cause) => {
        unread.removeLate(performance.now())
        const what =
          "deliveries that other processes leased to this one can't be read; their leases end by themselves"
        return Effect.andThen(outage.failed(what, Cause.squash(cause)), waited(AGAIN_MILLIS))
      },
    })
  })
  const all: Effect.Effect<void> = Effect.suspend(() =>
    unread.size === 0 ? Effect.void : Effect.andThen(round, all),
  )
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(yield* news.subscribe, all)))

  const settled: Effect.Effect<void> = Effect.suspend(() =>
    unread.size + givingBack === 0 ? Effect.void : Effect.andThen(waited(LOOK_AGAIN_MILLIS), settled),
  )

  return {
    announce: (handed) => {
      unread.add(handed, performance.now())
      news.notify()
    },
    settled,
  }
})
