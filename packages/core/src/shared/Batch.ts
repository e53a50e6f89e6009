/**
 * Effects that run side by side in one transaction, and whose calls of the same kind become one.
 *
 * A member of a batch that calls `together` waits until every other member waits, too, or has ended. Then all calls with
 * the same key are one call, with the inputs in the order of the members. So a batch in which all members do the same
 * makes as many calls as one member alone.
 */
import { Context, Deferred, Effect, Exit } from "effect"

interface Waiting {
  readonly place: number
  readonly input: unknown
  readonly answered: Deferred.Deferred<unknown, unknown>
}

/** How many members go on at once when a call is answered. Then the process has a chance to do something else. */
const RESUMED_AT_ONCE = 10

/** Calls that become one. */
interface Round {
  readonly ask: (inputs: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<unknown>, unknown, unknown>
  readonly calls: Array<Waiting>
}

class Batch {
  #running: number
  #waiting = 0
  #rounds = new Map<string, Round>()
  /** Whether a part failed that only a savepoint could have undone. */
  hasFailed = false

  constructor(members: number) {
    this.#running = members
  }

  /** Adds a call. Gives its answer. */
  call(
    key: string,
    place: number,
    input: unknown,
    ask: Round["ask"],
  ): Effect.Effect<unknown, unknown, unknown> {
    return Effect.suspend(() => {
      const answered = Deferred.makeUnsafe<unknown, unknown>()
      const round = this.#rounds.get(key) ?? { ask, calls: [] }
      this.#rounds.set(key, round)
      round.calls.push({ place, input, answered })
      this.#waiting++
      return Effect.andThen(this.#askIfAllWait, Deferred.await(answered))
    })
  }

  /** A member has ended. The others may be waiting for it only. */
  get ended(): Effect.Effect<void, unknown, unknown> {
    return Effect.suspend(() => {
      this.#running--
      return this.#askIfAllWait
    })
  }

  readonly #askIfAllWait: Effect.Effect<void, unknown, unknown> = Effect.suspend(() => {
    if (this.#waiting === 0 || this.#waiting < this.#running) return Effect.void
    const rounds = [...this.#rounds.values()]
    this.#rounds = new Map()
    this.#waiting = 0
    return Effect.provideService(Effect.forEach(rounds, askRound, { discard: true }), Membership, {
      batch: this,
      place: undefined,
    })
  })
}

const askRound = ({ ask, calls }: Round): Effect.Effect<void, unknown, unknown> => {
  calls.sort((a, b) => a.place - b.place)
  return Effect.flatMap(Effect.exit(ask(calls.map(({ input }) => input))), (exit) =>
    Effect.forEach(
      calls,
      ({ answered }, index) => {
        const done = Deferred.done(
          answered,
          Exit.map(exit, (answers) => answers[index]),
        )
        return (index + 1) % RESUMED_AT_ONCE === 0 ? Effect.andThen(done, Effect.yieldNow) : done
      },
      { discard: true },
    ),
  )
}

/** The batch that the current fiber belongs to. */
interface Belonging {
  readonly batch: Batch
  /** The place of the member. `undefined` while calls of many members are made. */
  readonly place: number | undefined
}

class Membership extends Context.Reference<Belonging | undefined>(
  "@billwright/core/shared/Batch/Membership",
  {
    defaultValue: () => undefined,
  },
) {}

/** Runs effects as the members of a batch. Gives their results in their order, or the failure of one of them. */
export const run = <A, E, R, F>(
  members: ReadonlyArray<Effect.Effect<A, E, R>>,
  /** What it fails with when a member has recovered from the failure of a part that can't be undone alone. */
  failedPart: () => F,
): Effect.Effect<ReadonlyArray<A>, E | F, R> =>
  Effect.suspend(() => {
    const batch = new Batch(members.length)
    const ended = batch.ended as Effect.Effect<void>
    const all = Effect.forEach(
      members,
      (member, place) => Effect.tap(Effect.provideService(member, Membership, { batch, place }), () => ended),
      { concurrency: "unbounded" },
    )
    return Effect.flatMap(all, (results) =>
      batch.hasFailed ? Effect.fail(failedPart()) : Effect.succeed(results),
    )
  })

/** Whether the current fiber belongs to a batch. */
export const isMember: Effect.Effect<boolean> = Effect.map(Membership, (found) => found !== undefined)

/** A part of a member that can't be undone alone. When it fails, the whole batch fails. */
export const part = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Membership, (found) =>
    Effect.onError(effect, () =>
      Effect.sync(() => {
        if (found !== undefined) found.batch.hasFailed = true
      }),
    ),
  )

/**
 * Makes one call of those that the members of a batch make at the same time. `ask` gets their inputs, and gives as many
 * answers in their order. Calls with the same key must do the same with their inputs. Outside of a batch, `ask` gets the
 * one input.
 */
export const together = <Input, Answer, E, R>(
  key: string,
  input: Input,
  ask: (inputs: ReadonlyArray<Input>) => Effect.Effect<ReadonlyArray<Answer>, E, R>,
): Effect.Effect<Answer, E, R> =>
  Effect.flatMap(Membership, (found) =>
    found?.place === undefined
      ? Effect.map(ask([input]), ([answer]) => answer as Answer)
      : (found.batch.call(key, found.place, input, ask as Round["ask"]) as Effect.Effect<Answer, E, R>),
  )
