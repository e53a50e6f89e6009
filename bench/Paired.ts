/**
 * Measures sides in rounds whose order rotates, and compares two of them round by round: the median of the ratios, and its
 * 95 % interval.
 */
import { median, percentile } from "./Comparison.ts"
import { folder as profiles } from "./profiling/Statements.ts"

/** One side. `round` does the work once, and gives the times of its calls in milliseconds and how long all took. */
export interface Side {
  readonly name: string
  readonly round: (round: number) => Promise<Calls>
}

export interface Calls {
  readonly millis: ReadonlyArray<number>
  readonly seconds: number
}

/** What a side needed in each round. */
export interface Measured {
  readonly name: string
  readonly p50: ReadonlyArray<number>
  readonly p99: ReadonlyArray<number>
  readonly rates: ReadonlyArray<number>
  /** Processor time of a call in microseconds, of this process and of the servers. */
  readonly cpuMicros: ReadonlyArray<number>
}

export interface Ratio {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Calls that callers make at the same time, each its next one when it has the answer. */
export const callers = async (
  count: number,
  calls: number,
  call: (caller: number, index: number) => Promise<unknown>,
): Promise<Calls> => {
  const millis: Array<number> = []
  const started = performance.now()
  await Promise.all(
    Array.from({ length: count }, async (_, caller) => {
      for (let index = 0; index < calls; index++) {
        const asked = performance.now()
        await call(caller, index)
        millis.push(performance.now() - asked)
      }
    }),
  )
  return { millis, seconds: (performance.now() - started) / 1_000 }
}

/** Runs each side once to warm up, and then in each round, beginning with another one each time. */
export const measure = async (
  given: ReadonlyArray<Side>,
  rounds: number,
  /** The processor time of all servers so far. */
  serverMicros: () => number,
): Promise<ReadonlyArray<Measured>> => {
  // A profile is made of our side only, which is the first.
  const sides = profiles === undefined ? given : given.slice(0, 1)
  const micros = (): number => {
    const { system, user } = process.cpuUsage()
    return system + user + serverMicros()
  }
  const all = sides.map(({ name }) => ({
    name,
    p50: [] as Array<number>,
    p99: [] as Array<number>,
    rates: [] as Array<number>,
    cpuMicros: [] as Array<number>,
  }))
  for (let round = -1; round < rounds; round++) {
    for (let place = 0; place < sides.length; place++) {
      const index = (place + round + 1) % sides.length
      const before = micros()
      const { millis, seconds } = await sides[index]!.round(round)
      const cpu = (micros() - before) / millis.length
      const [p50, p99] = [percentile(millis, 0.5), percentile(millis, 0.99)]
      const rate = millis.length / seconds
      console.log(
        `  ${round < 0 ? "warm-up" : `round ${round + 1} of ${rounds}`}: ${sides[index]!.name}: ${rate.toFixed(0)}/s, p50 ${p50.toFixed(3)} ms, p99 ${p99.toFixed(3)} ms, cpu ${cpu.toFixed(0)} µs`,
      )
      if (round < 0) continue
      all[index]!.p50.push(p50)
      all[index]!.p99.push(p99)
      all[index]!.rates.push(rate)
      all[index]!.cpuMicros.push(cpu)
    }
  }
  return all
}

/** How many of the lowest and of the highest ratios are outside of the interval of the median: it then covers at least 95 %. */
const outside = (rounds: number): number => {
  let [covered, ways, count] = [1, 1, 0]
  for (;;) {
    covered -= (2 * ways) / 2 ** rounds
    if (covered < 0.95) return Math.max(0, count - 1)
    ways = (ways * (rounds - count)) / (count + 1)
    count++
  }
}

/**
 * The ratio of two figures in the same round: its median, and the 95 % interval of that. The interval lies between two of
 * the sorted ratios, which assumes nothing about how they are spread.
 */
export const ratioOf = (ours: ReadonlyArray<number>, theirs: ReadonlyArray<number>): Ratio => {
  const ratios = ours.map((figure, round) => figure / theirs[round]!).toSorted((a, b) => a - b)
  const left = outside(ratios.length)
  return { median: median(ratios), low: ratios[left]!, high: ratios.at(-1 - left)! }
}
