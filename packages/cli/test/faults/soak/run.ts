/**
 * Runs servers and workers under load for minutes, with one fault after the other. Then all faults end, all deliveries
 * end, and the invariants are checked: `npm run soak -- --minutes 10`. `--seed N` repeats the faults and requests of
 * another run.
 *
 * Fails when an invariant is broken, or when the memory or the handles of a process keep growing.
 */
import { setTimeout as pause } from "node:timers/promises"
import { parseArgs } from "node:util"
import { Choice } from "@billwright/simulation"
import * as Cli from "../../Command.ts"
import { answers } from "../../Receiver.ts"
import { moody } from "../Moody.ts"
import { Traffic } from "../Traffic.ts"
import { preloading, SHORT_LEASE, World } from "../World.ts"
import { Nemesis } from "./Nemesis.ts"
import { growthOf, type Sample, sampleOf } from "./Vitals.ts"

const SECOND = 1_000
const MINUTE = 60 * SECOND
const CLIENTS = 8
const PAUSE_MILLIS = 400
const SAMPLE_MILLIS = 5 * SECOND
const DEFAULT_MINUTES = 10
const MAX_PROBLEMS = 20

const print = (text: string) => process.stdout.write(`${text}\n`)

const options = () => {
  const { values } = parseArgs({ options: { minutes: { type: "string" }, seed: { type: "string" } } })
  const minutes = Number(values.minutes ?? DEFAULT_MINUTES)
  const seed = Number(values.seed ?? Date.now() % 1_000_000)
  if (!(minutes > 0) || !Number.isSafeInteger(seed)) throw new TypeError("usage: --minutes 10 --seed 1")
  return { minutes, seed }
}

/** Measures processes repeatedly, and prints the results. */
const watch = async (
  processes: ReadonlyMap<string, Cli.Running>,
  traffic: Traffic,
  isOver: () => boolean,
): Promise<ReadonlyMap<string, ReadonlyArray<Sample>>> => {
  const started = Date.now()
  const samples = new Map<string, Array<Sample>>([...processes.keys()].map((name) => [name, []]))
  while (!isOver()) {
    await pause(SAMPLE_MILLIS)
    const second = Math.round((Date.now() - started) / SECOND)
    const told: Array<string> = []
    for (const [name, running] of processes) {
      const sample = await sampleOf(running, second)
      samples.get(name)!.push(sample)
      const { handles = 0, heap, resident } = sample
      told.push(`${name}: heap ${heap.toFixed(1)} MB, resident ${resident.toFixed(0)} MB, ${handles} handles`)
    }
    print(`${String(second).padStart(5)} s  ${traffic.answered} requests  ${told.join(" · ")}`)
  }
  return samples
}

const soak = async (world: World, minutes: number, seed: number): Promise<ReadonlyArray<string>> => {
  const choice = new Choice(seed)
  const weighed = preloading("soak/Weighed.ts")
  const server = await world.server(["--no-dispatch"], weighed)
  const steady = await world.worker(SHORT_LEASE, weighed)
  const nemesis = new Nemesis(world, choice.fork(), await world.worker())
  const accounts = await world.accounts()
  const traffic = new Traffic({
    journal: world.journal,
    receiver: world.receiver,
    accounts,
    choice: choice.fork(),
    servers: () => [server.url],
    pauseMillis: PAUSE_MILLIS,
  })
  await traffic.setUp("/well", "/moody")
  for (const { name } of accounts) world.receiver.script(`/${name}/moody`, moody(choice.fork()))
  traffic.begin(CLIENTS)
  let isOver = false
  const breaking = nemesis.work()
  const watching = watch(
    new Map<string, Cli.Running>([
      ["server", server],
      ["worker", steady],
    ]),
    traffic,
    () => isOver,
  )
  await pause(minutes * MINUTE)
  nemesis.end()
  await breaking
  isOver = true
  const samples = await watching
  await traffic.end()
  for (const { name } of accounts) world.receiver.script(`/${name}/moody`, answers(204))
  await world.drain()
  print(`\n${traffic.answered} requests, the slowest in ${Math.round(traffic.slowest)} ms; faults:`)
  for (const [fault, count] of [...nemesis.counts].toSorted()) print(`${String(count).padStart(5)}  ${fault}`)
  const audit = await Cli.run(["audit", "usage", "--store", "postgres"], { env: world.env })
  return [
    ...(await world.violations()),
    ...(audit.code === 0 ? [] : [`the audit: ${audit.stdout}${audit.stderr}`]),
    ...[...samples].flatMap(([name, some]) => growthOf(name, some)),
  ]
}

const main = async (): Promise<void> => {
  const { minutes, seed } = options()
  print(`seed ${seed}: ${minutes} minutes`)
  const world = new World({ isProxied: true })
  try {
    await world.start()
    const problems = await soak(world, minutes, seed)
    for (const problem of problems.slice(0, MAX_PROBLEMS)) print(problem)
    print(
      problems.length === 0
        ? "\nevery invariant holds, and nothing grows"
        : `\nseed ${seed}: ${problems.length} problems`,
    )
    process.exitCode = problems.length === 0 ? 0 : 1
  } finally {
    await world.stop()
    Cli.killAll()
  }
}

await main()
