/**
 * The invariants of the library. Each has a checker, which takes a history and returns everything that contradicts
 * it.
 */
import { acknowledgedSurvives, nothingUnasked } from "./checkers/Acknowledged.ts"
import { repeatsAreAnsweredAlike } from "./checkers/Answers.ts"
import { deliveriesMove, requestsHaveAttempts, staleLeasesWriteNothing } from "./checkers/Attempts.ts"
import { nothingCrosses, secretsStayInside } from "./checkers/Boundaries.ts"
import { dueWorkDrains, everyEventArrives, outboxIsWhole, wantedBy } from "./checkers/Deliveries.ts"
import { metersExactly, totalsAgree } from "./checkers/Metered.ts"
import { requestsAreRight } from "./checkers/Requests.ts"
import type { History } from "./History.ts"

export type Checker = (history: History) => ReadonlyArray<string>

export const checkers = {
  /** No fiber dies of a bug. */
  I0: ({ defects }) => defects,
  I1: acknowledgedSurvives,
  I2: (history) => {
    const wanted = wantedBy(history)
    return nothingUnasked(history, (eventId, endpointId) => wanted(eventId).has(endpointId))
  },
  I3: metersExactly,
  I4: outboxIsWhole,
  I5: everyEventArrives,
  I6: deliveriesMove,
  I7: staleLeasesWriteNothing,
  I8: requestsAreRight,
  I9: repeatsAreAnsweredAlike,
  I10: requestsHaveAttempts,
  I11: nothingCrosses,
  I12: dueWorkDrains,
  I13: totalsAgree,
  I14: secretsStayInside,
} satisfies Readonly<Record<string, Checker>>

export type Invariant = keyof typeof checkers

export interface Violation {
  readonly invariant: Invariant
  readonly problem: string
}

/** Everything that contradicts an invariant. */
export const judge = (history: History): ReadonlyArray<Violation> =>
  Object.entries(checkers).flatMap(([name, check]) =>
    check(history).map((problem) => ({ invariant: name as Invariant, problem })),
  )
