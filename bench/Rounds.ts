/**
 * Rounds in which all sides of a benchmark take part, each round in another order.
 */
import { folder as profiles } from "./profiling/Statements.ts"

/** With fewer rounds an interval says little, so their results are not kept. */
const ENOUGH = 15

const given = process.env["BENCH_ROUNDS"]

/** Whether this is a trial run of one round. */
const isQuick = process.env["BENCH_QUICK"] === "1"

/** Whether the run is profiled. */
export const isProfiled = profiles !== undefined

/** Whether the figures are kept: not those of a trial, of a profile, or of too few rounds. */
export const isKept = !isQuick && !isProfiled && (given === undefined || Number(given) >= ENOUGH)

/** How many rounds to measure: `BENCH_ROUNDS`, or as many as the benchmark asks for, and one in a trial run. */
export const roundsOf = (asked = ENOUGH): number => (isQuick ? 1 : Number(given ?? asked))

/** The place of a side in a round: a side begins the warm-up when it is the first, and the round after it when it is the second. */
export const placeOf = (side: number, sides: number, round: number): number =>
  (((side - round - 1) % sides) + sides) % sides

/**
 * Runs each side once to warm up, which is round -1, and then in each round, beginning with another one each time. Of a profile
 * only the first side takes part, which is ours.
 */
export const rotate = async <A>(
  all: ReadonlyArray<A>,
  rounds: number,
  turn: (side: A, round: number) => Promise<void>,
): Promise<void> => {
  const sides = isProfiled ? all.slice(0, 1) : all
  for (let round = -1; round < rounds; round++) {
    const inOrder = sides.toSorted(
      (a, b) =>
        placeOf(sides.indexOf(a), sides.length, round) - placeOf(sides.indexOf(b), sides.length, round),
    )
    for (const side of inOrder) await turn(side, round)
  }
}

/** What a round is called in the output. */
export const nameOf = (round: number, rounds: number): string =>
  round < 0 ? "warm-up" : `round ${round + 1} of ${rounds}`
