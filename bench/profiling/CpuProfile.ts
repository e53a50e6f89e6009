/**
 * Which code Node processes spent their processor time in, from profiles of V8 (`--cpu-prof`).
 */
import { readFileSync } from "node:fs"

interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string }
}

interface V8Profile {
  readonly nodes: ReadonlyArray<ProfileNode>
  readonly samples: ReadonlyArray<number>
  readonly timeDeltas: ReadonlyArray<number>
}

interface Part {
  readonly name: string
  /** As a share of the time in which the process was busy. */
  readonly share: number
}

/** All processes of a script. */
export interface ScriptProfile {
  readonly script: string
  /** How many processes. */
  readonly processes: number
  /** The share of their time in which they were busy. */
  readonly busy: number
  readonly seconds: number
  readonly parts: ReadonlyArray<Part>
}

/**
 * Our scripts that run as processes. The most specific come first, because the benchmark itself loads some of them,
 * too.
 */
const SCRIPTS = [
  "/packages/cli/src/bin.ts",
  "/bench/baselines/FastifyUsage.ts",
  "/bench/webhooks/BillwrightWorker.ts",
  "/bench/webhooks/Receiver.ts",
  "/bench/run.ts",
]

/** The part that a piece of code belongs to, by its location. The first match counts. */
const PLACES: ReadonlyArray<readonly [part: string, place: RegExp]> = [
  ["the Postgres driver (@effect/sql-pg)", /\/node_modules\/@effect\/sql-pg\//],
  ["Effect", /\/node_modules\/(effect|@effect)\//],
  ["undici", /\/node_modules\/undici\/|^node:internal\/deps\/undici/],
  ["Billwright", /\/packages\/[^/]+\/(src|dist)\//],
  ["the benchmark", /\/bench\//],
  ["other libraries", /\/node_modules\//],
  ["Node: its own JavaScript", /^node:/],
]

const NATIVE = "Node: sockets, streams, cryptography and JSON, natively"

const partOf = ({ functionName, url }: ProfileNode["callFrame"]): string => {
  if (functionName === "(garbage collector)") return "garbage collection"
  if (url === "") return NATIVE
  return PLACES.find(([, place]) => place.test(url))?.[0] ?? NATIVE
}

/** The times of a process, in microseconds. */
interface Times {
  readonly script: string
  readonly all: number
  readonly ofParts: ReadonlyMap<string, number>
}

/** Reads a profile. `undefined`: the process is none of ours. */
const read = (path: string): Times | undefined => {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(path, "utf8")) as V8Profile
  const urls = new Set(nodes.map(({ callFrame }) => callFrame.url))
  const script = SCRIPTS.find((end) => [...urls].some((url) => url.endsWith(end)))
  if (script === undefined) return undefined
  const frames = new Map(nodes.map(({ callFrame, id }) => [id, callFrame]))
  const ofParts = new Map<string, number>()
  let all = 0
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id)!
    const delta = timeDeltas[index]!
    all += delta
    if (frame.functionName === "(idle)") continue
    const part = partOf(frame)
    ofParts.set(part, (ofParts.get(part) ?? 0) + delta)
  }
  return { script: script.slice(1), all, ofParts }
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, each) => total + each, 0)

const together = (script: string, processes: ReadonlyArray<Times>): ScriptProfile => {
  const ofParts = new Map<string, number>()
  for (const process of processes) {
    for (const [part, time] of process.ofParts) ofParts.set(part, (ofParts.get(part) ?? 0) + time)
  }
  const all = sum(processes.map((process) => process.all))
  const busy = sum(ofParts.values())
  const parts = Array.from(ofParts, ([name, time]): Part => ({ name, share: time / busy }))
  return {
    script,
    processes: processes.length,
    busy: busy / all,
    seconds: all / 1e6,
    parts: parts.toSorted((a, b) => b.share - a.share),
  }
}

/** Reads the profiles of a run, and adds those up that have the same script. */
export const readAll = (paths: ReadonlyArray<string>): ReadonlyArray<ScriptProfile> => {
  const found = paths.map(read).filter((times): times is Times => times !== undefined)
  const byScript = Map.groupBy(found, ({ script }) => script)
  return Array.from(byScript, ([script, processes]) => together(script, processes))
}
