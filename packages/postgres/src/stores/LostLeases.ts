/**
 * Leases of publications whose answers were lost. Nobody knows of these leases, so they are given back.
 *
 * A statement that nobody waits for any more may still be running, and commit later. So each publication is looked for again
 * and again, until its leases are found, or a minute has passed. After that they end by themselves.
 */
import { type Event, Id, OutageLog, Signal, type Tenant } from "@billwright/core"
import { Cause, Effect, type Scope } from "effect"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import type { CommitsService } from "../Commits.ts"
import type { DatabaseService } from "../Database.ts"
import { answeredWithin, waited } from "../Deadline.ts"
import { type Row, text } from "../Row.ts"

/** The pauses between two looks, in milliseconds: the first one, and the longest. Each is twice the one before. */
const FIRST_PAUSE_MILLIS = 50
const MAX_PAUSE_MILLIS = 2_000
/** How long a publication is looked for, in milliseconds: longer than a statement runs that nobody waits for. */
const LOOKED_FOR_MILLIS = 60_000
/** How many publications are remembered. The leases of others end by themselves. */
const MAX_LOST = 1_000
/** How long publications under way may take when the store closes, and the last look after that, in milliseconds. */
const CLOSE_MILLIS = 500

/** A publication whose leases nobody has. */
export interface Lost {
  readonly tenant: Tenant.Tenant
  readonly events: ReadonlyArray<Event.Event>
  /** That of its first lease. The others have the same first 80 bits. */
  readonly token: string
}

export interface LostLeases {
  /** Remembers a publication. It neither fails nor waits. */
  readonly add: (lost: Lost) => Effect.Effect<void>
  /** Runs a publication with leases. The store waits for it for a short time when it closes. */
  readonly during: <A, E, R>(publication: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

const OPERATION = "EventStore.publish"

/** Looks in the background until the scope closes, and once more then. */
export const make = Effect.fnUntraced(function* (
  database: DatabaseService,
  commits: CommitsService,
): Effect.fn.Return<LostLeases, never, Scope.Scope> {
  const { everyTenant, tables: t } = database
  /** By their tokens. `until`: how long each is looked for, by `performance.now`. */
  const waiting = new Map<string, Lost & { readonly until: number }>()
  const added = Signal.make()
  let underWay = 0
  const ended = Signal.make()
  const outage = OutageLog.make("leases of publications whose answers were lost are given back again")

  /** Ends the leases that it finds, and forgets their publications. */
  const giveBack = Effect.gen(function* () {
    const keys = [...waiting.values()].flatMap(({ events, tenant, token }) =>
      events.map(({ id }) => ({ id, tenant, token })),
    )
    const rows = yield* everyTenant.writeApart(
      OPERATION,
      (sql) => sql<Row>`update ${t.webhook_pending} q set leased_at = null, leased_until = null
from unnest(${ArrayLiteral.quoted(keys.map(({ tenant }) => tenant.accountId))}::text::text[],
  ${ArrayLiteral.plain(keys.map(({ tenant }) => tenant.mode))}::text::text[],
  ${ArrayLiteral.plain(keys.map(({ id }) => Id.toUuid(id)))}::text::uuid[],
  ${ArrayLiteral.plain(keys.map(({ token }) => token))}::text::uuid[]) as n (account_id, mode, event_id, token)
where q.event_id = n.event_id and q.account_id = n.account_id and q.mode = n.mode
  and q.leased_until is not null and left(q.lease_token::text, 24) = left(n.token::text, 24)
returning n.token::text as token`,
    )
    for (const row of rows) waiting.delete(text(row, "token"))
    if (rows.length > 0) yield* commits.announce
  })

  const look = Effect.suspend(() => {
    for (const [token, { until }] of waiting) if (until <= performance.now()) waiting.delete(token)
    if (waiting.size === 0) return Effect.void
    return Effect.matchCauseEffect(giveBack, {
      onSuccess: () => outage.worked,
      onFailure: (cause) =>
        outage.failed(
          "the leases of publications whose answers were lost can't be given back; they end by themselves",
          Cause.squash(cause),
        ),
    })
  })

  /** Looks until nothing is left. Begins with the first pause again when something is added. */
  const looking = (news: Signal.Awaiting, pause: number): Effect.Effect<void> =>
    Effect.flatMap(look, () =>
      waiting.size === 0
        ? Effect.void
        : Effect.flatMap(
            Effect.raceFirst(Effect.as(news, FIRST_PAUSE_MILLIS), Effect.as(waited(pause), 2 * pause)),
            (next) => looking(news, Math.min(next, MAX_PAUSE_MILLIS)),
          ),
    )

  const inTime = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.ignore(answeredWithin(effect, CLOSE_MILLIS, () => new Error("too late")))
  const end = yield* ended.subscribe
  const allEnded: Effect.Effect<void> = Effect.suspend(() =>
    underWay === 0 ? Effect.void : Effect.andThen(end, allEnded),
  )
  yield* Effect.addFinalizer(() => Effect.andThen(inTime(allEnded), inTime(look)))
  const news = yield* added.subscribe
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(news, looking(news, FIRST_PAUSE_MILLIS))))

  return {
    add: (lost) =>
      Effect.sync(() => {
        if (waiting.size >= MAX_LOST) return
        waiting.set(lost.token, { ...lost, until: performance.now() + LOOKED_FOR_MILLIS })
        added.notify()
      }),
    during: (publication) =>
      Effect.suspend(() => {
        underWay++
        return Effect.ensuring(
          publication,
          Effect.sync(() => {
            underWay--
            ended.notify()
          }),
        )
      }),
  }
})
