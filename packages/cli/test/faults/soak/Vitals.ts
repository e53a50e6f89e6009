import { readdir, readFile } from "node:fs/promises"
/**
 * Measures memory and handles of processes over time, and whether they grow.
 */
import type { Running } from "../../Command.ts"
import { until } from "../../Until.ts"

/** A measurement of a process. Sizes are in MB. */
export interface Sample {
  readonly second: number
  /** The heap after a garbage collection. */
  readonly heap: number
  /** All of its memory, garbage included. */
  readonly resident: number
  /** Open files and sockets. `undefined` if the system doesn't say. */
  readonly handles: number | undefined
}

const MEGABYTE = 1_048_576
const KILOBYTES_OF_MEGABYTE = 1_024
/** Growth that is not a leak: caches that fill, compiled code, connections that are opened and closed. */
const HEAP_SLACK = 8
const HANDLES_SLACK = 20

const HEAP = /^heap (\d+)$/gm
const RESIDENT = /^VmRSS:\s+(\d+) kB$/m

const heapsOf = (running: Running): ReadonlyArray<number> =>
  [...running.stderr().matchAll(HEAP)].map(([, bytes]) => Number(bytes))

/** Measures a process that was started with `Weighed.ts`. */
export const sampleOf = async (running: Running, second: number): Promise<Sample> => {
  const { pid } = running.child
  const before = heapsOf(running).length
  running.child.kill("SIGUSR2")
  const heap = await until("the size of a heap", async () => heapsOf(running)[before])
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "")
  const handles = await readdir(`/proc/${pid}/fd`).catch(() => undefined)
  return {
    second,
    heap: heap / MEGABYTE,
    resident: Number(RESIDENT.exec(status)?.[1] ?? 0) / KILOBYTES_OF_MEGABYTE,
    handles: handles?.length,
  }
}

const median = (numbers: ReadonlyArray<number>): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

/** The medians of the second and the last quarter. The first quarter is for warming up. */
const quarters = (samples: ReadonlyArray<Sample>, of: (sample: Sample) => number) => {
  const quarter = Math.ceil(samples.length / 4)
  return {
    before: median(samples.slice(quarter, 2 * quarter).map(of)),
    after: median(samples.slice(-quarter).map(of)),
  }
}

/** Says what has grown in a process, as text. */
export const growthOf = (name: string, samples: ReadonlyArray<Sample>): ReadonlyArray<string> => {
  const heap = quarters(samples, (sample) => sample.heap)
  const handles = quarters(samples, (sample) => sample.handles ?? 0)
  const sentence = (what: string, { after, before }: typeof heap) =>
    `${what} of the ${name} grew from ${before.toFixed(1)} to ${after.toFixed(1)}`
  return [
    ...(heap.after > heap.before + HEAP_SLACK ? [sentence("the heap (MB)", heap)] : []),
    ...(handles.after > handles.before + HANDLES_SLACK ? [sentence("the handles", handles)] : []),
  ]
}
