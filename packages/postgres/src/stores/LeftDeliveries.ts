/**
 * Looks for deliveries that were leased to a worker of this process, also for those of which no notification came: after its
 * session has ended, and when its dispatcher stops. See docs/decisions/0059.
 */
import { Signal } from "@billwright/core"
import { Effect, type Scope } from "effect"
import type { DatabaseService } from "../Database.ts"
import { answeredWithin, waited } from "../Deadline.ts"
import type { Handed } from "../Notices.ts"
import { json, type Row } from "../Row.ts"

/** The pause after a look that failed, in milliseconds. */
const AGAIN_MILLIS = 100
/** The pause between two looks while a publication is under way, in milliseconds. */
const LOOK_AGAIN_MILLIS = 20
/** How long it is looked in the background, in milliseconds. */
const LOOKED_FOR_MILLIS = 30_000

const OPERATION = "DeliveryStore.handTo"

export interface LeftDeliveries {
  /** Announces everything that is leased to the worker with this name. It waits for publications that may still lease something. */
  readonly look: (name: string) => Effect.Effect<void>
  /** The same in the background, for a while. */
  readonly lookApart: (name: string) => void
}

/** Looks in the background until the scope closes. */
export const make: (
  database: DatabaseService,
  announce: (handed: ReadonlyArray<Handed>) => void,
) => Effect.Effect<LeftDeliveries, never, Scope.Scope> = Effect.fnUntraced(function* (
  { everyTenant, schema },
  announce,
) {
  const looking = `select ${schema}.left_deliveries($1::text)::text as deliveries`
  const names: Array<string> = []
  const news = Signal.make()

  const look = (name: string): Effect.Effect<void> =>
    Effect.matchCauseEffect(
      everyTenant.read(OPERATION, (sql) => sql.unsafe<Row>(looking, [name])),
      {
        onFailure: () => Effect.andThen(waited(AGAIN_MILLIS), look(name)),
        onSuccess: ([row]) => {
          const found = json(row ?? {}, "deliveries") as ReadonlyArray<[string, string]> | null
          // A publication is under way that may still lease some.
          if (found === null) return Effect.andThen(waited(LOOK_AGAIN_MILLIS), look(name))
          return Effect.sync(() => announce(found.map(([id, place]) => ({ worker: name, id, place }))))
        },
      },
    )

  const lookForAll: Effect.Effect<void> = Effect.suspend(() => {
    const name = names.shift()
    if (name === undefined) return Effect.void
    const late = Effect.logWarning(
      "not everything could be looked for in time that other processes leased to this one before its session ended; those deliveries may go on only when their leases end",
    )
    return Effect.andThen(within(look(name), LOOKED_FOR_MILLIS, late), lookForAll)
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(yield* news.subscribe, lookForAll)))

  return {
    look,
    lookApart: (name) => {
      names.push(name)
      news.notify()
    },
  }
})

/** Runs an effect, and `late` when it takes longer than that. Then it is interrupted. */
export const within = (
  effect: Effect.Effect<void>,
  millis: number,
  late: Effect.Effect<void>,
): Effect.Effect<void> =>
  Effect.catch(
    answeredWithin(effect, millis, () => new Error("too late")),
    () => late,
  )
