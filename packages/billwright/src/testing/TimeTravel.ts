/**
 * Moves the clock of a test, and does what is due on the way, each at its instant.
 */
import { BillingRuns, DeliveryStore, Instant } from "@billwright/core"
import type { FixedClock } from "@billwright/core"
import { DateTime, Effect, Option } from "effect"
import type { Instant as DateOrText } from "../Call.ts"
import { InvalidInputError } from "../errors/BillingError.ts"
import type { Engine } from "../runtime/Engine.ts"
import type { TestDuration } from "./Testing.ts"

const UNITS: ReadonlyArray<keyof TestDuration> = [
  "years",
  "months",
  "days",
  "hours",
  "minutes",
  "seconds",
  "milliseconds",
]
const FORM = `{ ${UNITS.join(", ")} }`
/** The last instant that the clock can show: years have four digits. */
const MAX_MILLIS = Date.parse("9999-12-31T23:59:59.999Z")
/** The most rounds of building meters before the clock moves. On a Postgres that others use, building may have to wait. */
const MAX_REBUILD_ROUNDS = 1_000

const checked = (field: string, millis: number): number => {
  if (millis <= MAX_MILLIS) return millis
  throw new InvalidInputError(field, "must not lead beyond the year 9999")
}

/** The instant after a duration. Throws an `InvalidInputError` when the duration is malformed or negative. */
export const after = (millis: number, duration: TestDuration): number => {
  if (typeof duration !== "object" || duration === null) {
    throw new InvalidInputError(
      "duration",
      `must be an object such as { minutes: 1 }, with the units ${FORM}`,
    )
  }
  for (const [unit, amount] of Object.entries(duration)) {
    if (!UNITS.some((known) => known === unit)) {
      throw new InvalidInputError("duration", `has no unit "${unit}": the units are ${FORM}`)
    }
    if (amount === undefined || (Number.isSafeInteger(amount) && amount >= 0)) continue
    throw new InvalidInputError(`duration.${unit}`, "must be an integer of at least 0")
  }
  const { days = 0, hours = 0, milliseconds = 0, minutes = 0, months = 0, seconds = 0, years = 0 } = duration
  const parts = { months: 12 * years + months, days, hours, minutes, seconds, milliseconds }
  const end = Option.map(DateTime.make(millis), (start) => DateTime.add(start, parts).epochMilliseconds)
  return checked(
    "duration",
    Option.getOrElse(end, () => Number.POSITIVE_INFINITY),
  )
}

/** The instant to move to. Throws an `InvalidInputError` when it is malformed or before the clock. */
export const target = (millis: number, instant: DateOrText): number => {
  const parsed =
    instant instanceof Date
      ? instant.getTime()
      : typeof instant === "string"
        ? Instant.parse(instant)?.epochMilliseconds
        : undefined
  if (parsed === undefined || Number.isNaN(parsed)) {
    throw new InvalidInputError("instant", "must be a Date or an instant such as 2026-11-21T09:30:00Z")
  }
  if (parsed >= millis) return checked("instant", parsed)
  throw new InvalidInputError("instant", "must not be before the time of the test's clock")
}

/** What is due at an instant and after it. */
interface Source {
  /** Does what is due now. */
  readonly work: Effect.Effect<unknown, unknown>
  readonly nextDueAt: Effect.Effect<Option.Option<DateTime.Utc>, unknown>
}

/** A storage without subscriptions and invoices has nothing to bill. */
const billingOf = ({ nextDueAt, runDue }: BillingRuns["Service"]): Source => ({
  work: Effect.catchTag(runDue(), "InvoicingUnsupported", () => Effect.void),
  nextDueAt: Effect.catchTag(nextDueAt, "InvoicingUnsupported", () => Effect.succeedNone),
})

/** Moves the clock to an instant. Time stands still while something is done. */
export const makeAdvance = ({ calls, dispatcher, rebuilds }: Engine, clock: FixedClock) => {
  const sources: ReadonlyArray<Source> = [
    billingOf(calls.service(BillingRuns)),
    // After billing, whose events are due at once.
    { work: dispatcher!.runDue, nextDueAt: calls.service(DeliveryStore).nextDueAt },
  ]
  const buildMeters = Effect.gen(function* () {
    for (let rounds = 0; rounds < MAX_REBUILD_ROUNDS; rounds++) if ((yield* rebuilds!.round) === 0) return
  })
  const work = Effect.forEach(sources, (source) => source.work, { discard: true })
  /** When something is due next, after now. What is due and was not done belongs to another process on the database. */
  const next = Effect.map(
    Effect.forEach(sources, ({ nextDueAt }) => nextDueAt),
    (all) =>
      Math.min(
        ...all
          .flatMap((at) => Option.toArray(at).map(({ epochMilliseconds }) => epochMilliseconds))
          .filter((at) => at > clock.millis),
      ),
  )
  const to = Effect.fnUntraced(function* (end: number) {
    yield* buildMeters
    yield* work
    for (let at = yield* next; at <= end; at = yield* next) {
      clock.moveTo(at)
      yield* work
    }
    clock.moveTo(end)
  })
  return (end: number): Promise<void> => calls.runAsIs(() => to(end), undefined)
}
