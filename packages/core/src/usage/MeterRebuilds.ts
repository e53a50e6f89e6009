/**
 * Builds the roll-ups of meters in the background, of all tenants in turn.
 *
 * Any number of processes can do this on one storage: a batch holds the meter, and what it has done stays done. So when a
 * process dies, another one goes on.
 */
import { Cause, Context, Effect, Layer, Option } from "effect"
import { asRunner } from "../shared/Actor.ts"
import { Collections } from "../shared/Collections.ts"
import { lasting } from "../shared/Lasting.ts"
import * as OutageLog from "../shared/OutageLog.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant, type Tenant } from "../shared/Tenant.ts"
import { type Meter, meters } from "./Meter.ts"
import * as RollupWork from "./RollupWork.ts"
import { type UnfinishedMeter, UsageStore } from "./UsageStore.ts"

/**
 * How long to wait after a round that changed no meter. There was no work, or building waits for transactions of others
 * that are open. A meter that was created in a transaction is built after this time, and people wait for it.
 */
export const REBUILD_POLL_MILLIS = 1_000
/** The most unfinished meters whose last state is remembered. */
const MAX_REMEMBERED = 10_000
/** The most tenants whose meters get a batch in one round. */
const TENANTS_PER_ROUND = 20

export class MeterRebuilds extends Context.Service<
  MeterRebuilds,
  {
    /**
     * Makes a batch for one meter of each of up to 20 tenants, beginning after the tenants of the round before. Gives how
     * many batches it made. For tests, and for hosts that can't run work in the background.
     */
    readonly round: Effect.Effect<number, StorageError>
  }
>()("@billwright/core/usage/MeterRebuilds") {
  /** Does nothing in the background: it works only when it is called. */
  static readonly layerManual = Layer.effect(
    MeterRebuilds,
    Effect.map(
      Effect.suspend(() => make),
      ({ service }) => service,
    ),
  )

  /** Works in the background until the scope closes. A batch under way is then undone, and made again later. */
  static readonly layer = Layer.effect(
    MeterRebuilds,
    Effect.flatMap(
      Effect.suspend(() => make),
      ({ service, turn }) => Effect.as(work(turn), service),
    ),
  )
}

const make = Effect.gen(function* () {
  const store = yield* UsageStore
  const step = RollupWork.make(store, (yield* Collections).of(meters))
  const outage = OutageLog.make("the roll-ups of meters can be built again")
  let last: Tenant | undefined
  /** The work of each unfinished meter after its last batch, as JSON. */
  const left = new Map<string, string>()

  /** Whether a batch changed what is left of a meter's work. */
  const hasMoved = (id: string, meter: Option.Option<Meter>): boolean => {
    const before = left.get(id)
    left.delete(id)
    if (Option.isNone(meter) || meter.value.rebuild === null) return true
    const now = JSON.stringify(meter.value.rebuild)
    if (left.size >= MAX_REMEMBERED) left.clear()
    left.set(id, now)
    return now !== before
  }

  /** A batch for one meter. A failure or a bug must not stop the other tenants. */
  const batch = ({ meterId, tenant }: UnfinishedMeter) =>
    step(meterId).pipe(
      Effect.provideService(CurrentTenant, tenant),
      Effect.tap(() => outage.worked),
      Effect.map((meter) => ({ isMade: true, isMoved: hasMoved(meterId, meter) })),
      Effect.catchCause((cause) =>
        Effect.as(
          outage.failed("a batch of a meter's roll-up failed; it is tried again", Cause.squash(cause)),
          { isMade: false, isMoved: false },
        ),
      ),
    )

  /** The next tenants in turn. At the end of all tenants it begins anew. */
  const next = Effect.gen(function* () {
    const found = yield* store.unfinished(last, TENANTS_PER_ROUND)
    if (found.length > 0 || last === undefined) return found
    return yield* store.unfinished(undefined, TENANTS_PER_ROUND)
  })

  const turn = Effect.gen(function* () {
    const found = yield* next
    last = found.at(-1)?.tenant
    const batches = yield* Effect.forEach(found, batch)
    const made = batches.filter(({ isMade }) => isMade).length
    return { made, isMoved: batches.some(({ isMoved }) => isMoved) }
  }).pipe(Effect.withSpan("MeterRebuilds.round"), asRunner)

  return { service: MeterRebuilds.of({ round: Effect.map(turn, ({ made }) => made) }), turn }
})

type Turn = Effect.Success<typeof make>["turn"]

/** Runs rounds in the background: one after another while there is work, otherwise from time to time. */
const work = Effect.fnUntraced(function* (turn: Turn) {
  const outage = OutageLog.make("meters with work can be found again")
  const next = Effect.gen(function* () {
    const { isMoved } = yield* turn
    yield* outage.worked
    if (!isMoved) yield* Effect.sleep(REBUILD_POLL_MILLIS)
  })
  const problem = "meters with work can't be found"
  yield* Effect.forkScoped(
    Effect.forever(lasting(next, { outage, problem, pauseMillis: REBUILD_POLL_MILLIS })),
  )
})
