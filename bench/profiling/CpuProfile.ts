/**
 * Which code a Node process spent its processor time in, from a profile of V8 (`--cpu-prof`).
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

export interface ProcessProfile {
  /** The script that the process was started with, if it is one of these. */
  readonly script: string
  /** The share of the process's time in which it was busy. */
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

/** Reads a profile. `undefined`: the process is none of ours. */
export const read = (path: string): ProcessProfile | undefined => {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(path, "utf8")) as V8Profile
  const urls = new Set(nodes.map(({ callFrame }) => callFrame.url))
  const script = SCRIPTS.find((end) => [...urls].some((url) => url.endsWith(end)))
  if (script === undefined) return undefined
  const frames = new Map(nodes.map(({ callFrame, id }) => [id, callFrame]))
  const micros = new Map<string, number>()
  let all = 0
  let busy = 0
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id)!
    const delta = timeDeltas[index]!
    all += delta
    if (frame.functionName === "(idle)") continue
    busy += delta
    const part = partOf(frame)
    micros.set(part, (micros.get(part) ?? 0) + delta)
  }
  const parts = Array.from(micros, ([name, time]): Part => ({ name, share: time / busy }))
  return {
    script: script.slice(1),
    busy: busy / all,
    seconds: all / 1e6,
    parts: parts.toSorted((a, b) => b.share - a.share),
  }
}
