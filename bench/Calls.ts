/**
 * Sides that are measured by their calls: how many in a second, how long each takes, and its processor time.
 */
import { nameOf, rotate } from "./Rounds.ts"
import { percentile } from "./Statistics.ts"

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
  sides: ReadonlyArray<Side>,
  rounds: number,
  /** The processor time of all servers so far. */
  serverMicros: () => number,
): Promise<ReadonlyArray<Measured>> => {
  const micros = (): number => {
    const { system, user } = process.cpuUsage()
    return system + user + serverMicros()
  }
  const all = sides.map((side) => ({
    ...side,
    p50: [] as Array<number>,
    p99: [] as Array<number>,
    rates: [] as Array<number>,
    cpuMicros: [] as Array<number>,
  }))
  await rotate(all, rounds, async (side, round) => {
    const before = micros()
    const { millis, seconds } = await side.round(round)
    const cpu = (micros() - before) / millis.length
    const [p50, p99] = [percentile(millis, 0.5), percentile(millis, 0.99)]
    const rate = millis.length / seconds
    console.log(
      `  ${nameOf(round, rounds)}: ${side.name}: ${rate.toFixed(0)}/s, p50 ${p50.toFixed(3)} ms, p99 ${p99.toFixed(3)} ms, cpu ${cpu.toFixed(0)} µs`,
    )
    if (round < 0) return
    side.p50.push(p50)
    side.p99.push(p99)
    side.rates.push(rate)
    side.cpuMicros.push(cpu)
  })
  return all.filter(({ rates }) => rates.length > 0)
}
