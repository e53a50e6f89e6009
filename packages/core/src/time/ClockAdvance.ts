/**
 * Does what is due for the customers of a test clock, at the instants of the clock.
 *
 * An advance is in the queue of billing runs, in real time, as long as it is not there. A caller of it has it for a while.
 * When that is over, because the process died or nobody calls again, a billing run goes on with it.
 */
import { Cause, DateTime, Effect, Exit, Option } from "effect"
import { type TestClock, type TestClockId, testClocks } from "../customers/TestClock.ts"
import { optionalPort } from "../invoices/InvoicingUnsupported.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import type { DueFailure } from "../shared/Due.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import { Transactor } from "../shared/Transactor.ts"
import * as WallClock from "../shared/WallClock.ts"
import { type ClaimedSubject, type CustomerDue, DueStore, type FirstDue } from "./DueStore.ts"
import * as DueWork from "./DueWork.ts"
import { makePaymentRun } from "./PaymentRun.ts"
import { failureOf, isWaitedFor, mostAttemptsOf, waitingFor } from "./RunFailure.ts"

/** Most subjects that one call or claim works on. */
const MAX_SUBJECTS_OF_CALL = 100
/** How many times a step may find that something else has to be done first. */
const MAX_TURNS = 100
/** How long after the last call billing runs wait before they go on with an advance. */
const TAKEOVER_MILLIS = 60_000

const { orNotFound } = ById.of(testClocks)

const subjectOf = (id: TestClockId) => ({ kind: "test_clock", id }) as const

/** Gives the work on test clocks. */
export const make = Effect.gen(function* () {
  const store = (yield* Collections).of(testClocks)
  const duePort = yield* optionalPort(DueStore)
  const dueWork = yield* DueWork.make
  const { visit: collectPayment } = yield* makePaymentRun
  const transactor = yield* Transactor

  const aimAt = (to: DateTime.Utc) => (clock: TestClock) => {
    const least = clock.advancingTo ?? clock.now
    if (DateTime.isGreaterThanOrEqualTo(to, least)) {
      return Effect.succeed({ ...clock, status: "advancing" as const, advancingTo: to })
    }
    const problem = `must not be before ${DateTime.formatIso(least)}, where the clock ${clock.advancingTo === null ? "stands" : "advances to"}`
    return Effect.fail(new InvalidInput({ field: "to", problem }))
  }

  /** Takes the instant to advance to. */
  const begin = (id: TestClockId, to: DateTime.Utc) =>
    Effect.gen(function* () {
      const due = yield* duePort
      yield* orNotFound(yield* store.modify(id, aimAt(to)), id)
      const takeover = DateTime.add(yield* DateTime.now, { milliseconds: TAKEOVER_MILLIS })
      yield* due.schedule(subjectOf(id), takeover.epochMilliseconds)
    }).pipe(transactor.atomically)

  /** Notes why something was not done, at the time of the clock. Others go on. */
  const note = Effect.fnUntraced(function* (
    id: TestClockId,
    first: FirstDue,
    failureAt: (now: DateTime.Utc) => DueFailure,
  ) {
    const due = yield* duePort
    yield* transactor.atomically(
      Effect.gen(function* () {
        const clock = yield* orNotFound(yield* store.modify(id, (found) => movedTo(found, first.at)), id)
        yield* due.fail(first, failureAt(clock.now))
      }),
    )
  })

  const fail = (id: TestClockId, first: FirstDue, cause: Cause.Cause<unknown>) =>
    Effect.andThen(
      note(id, first, (now) => failureOf(first.attempts + 1, mostAttemptsOf(first.subject), cause, now)),
      Effect.logError(`billing a ${first.subject.kind} failed on a test clock`, first.subject.id, cause),
    )

  /** The clock, held until the transaction ends so that one thing happens after another, and what is due first. */
  const look = Effect.fnUntraced(function* (id: TestClockId) {
    const due = yield* duePort
    const clock = yield* orNotFound(yield* store.modify(id, Effect.succeed), id)
    const first = Option.getOrUndefined(yield* due.firstDue(id))
    const to = clock.advancingTo
    const isLeft = to !== null && first !== undefined && first.at <= to.epochMilliseconds
    return { clock, to, first: isLeft ? first : undefined }
  })

  /** Ends the advance if nothing is left to do. Otherwise gives what is due first. */
  const nextOf = Effect.fnUntraced(function* (id: TestClockId) {
    const { clock, first, to } = yield* look(id)
    if (to === null || first !== undefined) return first
    const ended: TestClock = { ...clock, now: to, status: "ready", advancingTo: null }
    yield* store.modify(id, () => Effect.succeed(ended))
    yield* (yield* duePort).schedule(subjectOf(id), null)
    return undefined
  })

  /** Works on a subject, if what is due first is still that of `next`. Gives what has to be done before it. */
  const workOn = Effect.fnUntraced(function* (id: TestClockId, next: FirstDue, chosen: FirstDue) {
    const atItsInstant = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      transactor.atomically(
        Effect.gen(function* () {
          const { first } = yield* look(id)
          // Somebody else has done it, or something else is due first by now.
          if (first?.subject.id !== next.subject.id || first.at !== next.at) return undefined
          const moved = yield* orNotFound(yield* store.modify(id, (found) => movedTo(found, first.at)), id)
          return yield* WallClock.standingAt(moved.now, effect)
        }),
      )
    const { subject } = chosen
    if (subject.kind === "payment") {
      return yield* Effect.as(
        collectPayment<unknown>(subject.id, Effect.succeed(true), atItsInstant),
        undefined,
      )
    }
    const hold = DueWork.unclaimed(chosen.attempts)
    const done = yield* dueWork.run(subject, next.at, hold, atItsInstant)
    return done?.before
  })

  /** Does what is due first, or what has to be done before it. Gives false if nothing is left to do. */
  const step = Effect.fnUntraced(function* (id: TestClockId) {
    const next = yield* transactor.atomically(nextOf(id))
    if (next === undefined) return false
    let chosen: FirstDue = next
    for (let turns = 0; turns < MAX_TURNS; turns++) {
      const exit: Exit.Exit<CustomerDue | undefined, unknown> = yield* Effect.exit(workOn(id, next, chosen))
      if (Exit.isFailure(exit)) {
        if (Cause.hasInterrupts(exit.cause)) return yield* Effect.interrupt
        yield* fail(id, chosen, exit.cause)
        return true
      }
      const before = exit.value
      if (before === undefined) return true
      if (isWaitedFor(before, next.at)) {
        yield* note(id, next, (now) => waitingFor(next.attempts, before, now))
        return true
      }
      chosen = { subject: before.subject, at: next.at, attempts: before.attempts }
    }
    return true
  })

  /** Does what is due, at most 100 things. */
  const work = Effect.fnUntraced(function* (id: TestClockId) {
    for (let subjects = 0; subjects < MAX_SUBJECTS_OF_CALL; subjects++) if (!(yield* step(id))) return
  })

  /** Ends a claim. What is left to do is as due as before. */
  const finish = (claimed: ClaimedSubject, id: TestClockId) =>
    Effect.gen(function* () {
      const due = yield* duePort
      if (!(yield* due.holds(claimed))) return
      const clock = Option.getOrUndefined(yield* store.find(id))
      if (clock?.status === "advancing") yield* due.release(claimed, null)
      else yield* due.schedule(subjectOf(id), null)
    }).pipe(transactor.atomically)

  /** Goes on with an advance that a billing run has claimed. A clock that was deleted meanwhile is left alone. */
  const takeOver = (claimed: ClaimedSubject, id: TestClockId) =>
    Effect.andThen(
      Effect.catchTag(work(id), "TestClockNotFound", () => Effect.void),
      finish(claimed, id),
    )

  return { begin, work, takeOver }
})

/** A clock never goes back. */
const movedTo = (clock: TestClock, millis: number) =>
  Effect.succeed({ ...clock, now: DateTime.makeUnsafe(Math.max(clock.now.epochMilliseconds, millis)) })
