/**
 * Runs simulations, of webhooks and usage, of billing, of payments, of credits, of prepaid credits and of the whole: `npm run
 * simulate -- --seeds 10000`. `--from 20001` changes the first seed. `--only payments` runs one of the simulations. `--seed 42`
 * runs a single seed and prints a short report.
 */
import { once } from "node:events"
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads"
import { judgeBilling } from "./src/billing/BillingCheckers.ts"
import { simulateBilling } from "./src/billing/BillingSimulation.ts"
import { judge } from "./src/Checkers.ts"
import { judgeCredits } from "./src/credits/CreditCheckers.ts"
import { simulateCredits } from "./src/credits/CreditsSimulation.ts"
import type { History } from "./src/History.ts"
import { judgePayments } from "./src/payments/PaymentCheckers.ts"
import { simulatePayments } from "./src/payments/PaymentsSimulation.ts"
import { judgePrepaid } from "./src/prepaid/PrepaidCheckers.ts"
import { simulatePrepaid } from "./src/prepaid/PrepaidSimulation.ts"
import { simulate } from "./src/Simulation.ts"
import { storyOf } from "./src/Story.ts"
import { judgeWhole } from "./src/whole/WholeCheckers.ts"
import { simulateWhole } from "./src/whole/WholeSimulation.ts"

const DEFAULT_SEEDS = 1_000
/** How many problems of one seed are printed. */
const MAX_PROBLEMS = 5

/** Every `step`-th seed from `from` to `to`. */
interface Share {
  readonly from: number
  readonly to: number
  readonly step: number
  readonly names: ReadonlyArray<Name>
}

/** What contradicts an invariant of one of the simulations. */
interface Violation {
  readonly invariant: string
  readonly problem: string
}

/** The result of one seed. */
interface Verdict {
  readonly seed: number
  readonly faults: ReadonlyMap<string, number>
  readonly violations: ReadonlyArray<Violation>
}

const sumOf = (...all: ReadonlyArray<ReadonlyMap<string, number>>): Map<string, number> => {
  const sum = new Map<string, number>()
  for (const faults of all) for (const [fault, times] of faults) sum.set(fault, (sum.get(fault) ?? 0) + times)
  return sum
}

/** What one simulation of a seed came to. */
type Result = Pick<Verdict, "faults" | "violations">

/** The simulations by name. A seed runs all of them, or one. */
const SIMULATIONS = {
  usage: async (seed: number): Promise<Result> => {
    const { faults, history } = await simulate({ seed })
    return { faults, violations: judge(history) }
  },
  billing: async (seed: number): Promise<Result> => {
    const { faults, history } = await simulateBilling({ seed })
    return { faults, violations: judgeBilling(history) }
  },
  payments: async (seed: number): Promise<Result> => {
    const { faults, history } = await simulatePayments({ seed })
    return { faults, violations: judgePayments(history) }
  },
  credits: async (seed: number): Promise<Result> => {
    const { faults, history } = await simulateCredits({ seed })
    return { faults, violations: judgeCredits(history) }
  },
  prepaid: async (seed: number): Promise<Result> => {
    const { faults, history } = await simulatePrepaid({ seed })
    return { faults, violations: judgePrepaid(history) }
  },
  whole: async (seed: number): Promise<Result> => {
    const { faults, history } = await simulateWhole({ seed })
    return { faults, violations: judgeWhole(history) }
  },
} satisfies Readonly<Record<string, (seed: number) => Promise<Result>>>

type Name = keyof typeof SIMULATIONS

const NAMES: ReadonlyArray<Name> = ["usage", "billing", "payments", "credits", "prepaid", "whole"]

const verdictOf = async (seed: number, names: ReadonlyArray<Name>): Promise<Verdict> => {
  const results = []
  for (const name of names) results.push(await SIMULATIONS[name](seed))
  return {
    seed,
    faults: sumOf(...results.map(({ faults }) => faults)),
    violations: results.flatMap(({ violations }) => violations),
  }
}

/** In a worker: runs seeds up to the first that fails. */
const runShare = async ({ from, names, step, to }: Share) => {
  for (let seed = from; seed <= to; seed += step) {
    const verdict = await verdictOf(seed, names)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a worker has none
    parentPort!.postMessage(verdict)
    if (verdict.violations.length > 0) return
  }
}

const print = (line: string) => process.stdout.write(`${line}\n`)

const printFaults = (faults: ReadonlyMap<string, number>) => {
  const rows = [...faults].toSorted(([a], [b]) => (a < b ? -1 : 1))
  for (const [fault, count] of rows) print(`${String(count).padStart(10)}  ${fault}`)
}

/** The histories in which the story of a problem is found, and the problems that they have. */
const STORIES: Partial<
  Record<Name, (seed: number) => Promise<{ history: History; problems: ReadonlyArray<string> }>>
> = {
  usage: async (seed) => {
    const { history } = await simulate({ seed })
    return { history, problems: judge(history).map(({ problem }) => problem) }
  },
  whole: async (seed) => {
    const { history } = await simulateWhole({ seed })
    return { history: history.history, problems: judgeWhole(history).map(({ problem }) => problem) }
  },
}

/** Prints what belongs to the first problem of a simulation that has a history. */
const tellStory = async (seed: number, name: Name) => {
  const told = await STORIES[name]?.(seed)
  const [first] = told?.problems ?? []
  if (told !== undefined && first !== undefined) print(`\n${storyOf(told.history, first).join("\n")}`)
}

/** Runs one seed and prints a short report. */
const tell = async (seed: number, names: ReadonlyArray<Name>): Promise<boolean> => {
  const { faults, violations } = await verdictOf(seed, names)
  printFaults(faults)
  for (const { invariant, problem } of violations.slice(0, MAX_PROBLEMS)) print(`\n${invariant}: ${problem}`)
  for (const name of names) await tellStory(seed, name)
  print(`\nseed ${seed}: ${violations.length === 0 ? "every invariant holds" : "see the problems above"}`)
  return violations.length === 0
}

/** Runs many seeds on all processors. */
const runAll = async (from: number, to: number, names: ReadonlyArray<Name>): Promise<boolean> => {
  let faults: ReadonlyMap<string, number> = new Map()
  const failed: Array<number> = []
  const started = performance.now()
  let count = 0
  const step = Math.min(availableParallelism(), to - from + 1)
  const workers = Array.from({ length: step }, (_, index) => {
    const share: Share = { from: from + index, to, step, names }
    const worker = new Worker(new URL(import.meta.url), { workerData: share })
    worker.on("message", (verdict: Verdict) => {
      count++
      faults = sumOf(faults, verdict.faults)
      if (verdict.violations.length > 0) failed.push(verdict.seed)
      if (count % 1_000 === 0) print(`${count} of ${to - from + 1} seeds`)
    })
    return once(worker, "exit")
  })
  const codes = (await Promise.all(workers)).map(([code]: ReadonlyArray<unknown>) => code)
  const seconds = (performance.now() - started) / 1_000
  print("\nfaults injected:")
  printFaults(faults)
  const only = names.length === 1 ? ` --only ${names[0]}` : ""
  const [first] = failed.toSorted((a, b) => a - b)
  print(`\n${count} seeds in ${seconds.toFixed(1)} s: ${(count / seconds).toFixed(1)} seeds/s`)
  if (first === undefined) {
    print("every invariant holds")
    return codes.every((code) => code === 0) && count === to - from + 1
  }
  print(
    `\nthe first seed that fails is ${first}. Repeat it with: npm run simulate -- --seed ${first}${only}\n`,
  )
  return await tell(first, names)
}

const main = async () => {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string" },
      seed: { type: "string" },
      from: { type: "string" },
      only: { type: "string" },
    },
  })
  const names = values.only === undefined ? NAMES : NAMES.filter((name) => name === values.only)
  if (names.length === 0) throw new TypeError(`expected one of ${NAMES.join(", ")}, not ${values.only}`)
  const numberOf = (text: string | undefined, otherwise: number): number => {
    const number = text === undefined ? otherwise : Number(text)
    if (!Number.isSafeInteger(number) || number < 1)
      throw new TypeError(`expected a whole number from 1, not ${text}`)
    return number
  }
  const from = numberOf(values.from, 1)
  const isFine =
    values.seed === undefined
      ? await runAll(from, from + numberOf(values.seeds, DEFAULT_SEEDS) - 1, names)
      : await tell(numberOf(values.seed, 1), names)
  process.exitCode = isFine ? 0 : 1
}

await (isMainThread ? main() : runShare(workerData as Share))
