/**
 * Runs the programs of the test as child processes: the billing server, the meter, and awk.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export const ACCESS_LOG = here("../data/access.log")

const findBillwright = (): string => {
  const require = createRequire(import.meta.url)
  const manifest = require.resolve("@billwright/cli/package.json")
  const { bin } = require(manifest) as { readonly bin: { readonly billwright: string } }
  return join(dirname(manifest), bin.billwright)
}

/** A new, empty billing server. */
export interface BillingServer extends AsyncDisposable {
  readonly url: string
  readonly key: string
}

/** Starts the real server on a free port and reads its address and key from what it prints. */
export const startBilling = async (): Promise<BillingServer> => {
  const child = spawn(process.execPath, [findBillwright(), "serve", "--port", "0", "--store", "memory"], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  let url: string | undefined
  for await (const line of createInterface(child.stdout)) {
    url ??= /listening on (\S+)/.exec(line)?.[1]
    const key = /^test key\s+(\S+)/.exec(line)?.[1]
    if (url !== undefined && key !== undefined)
      return { url, key, [Symbol.asyncDispose]: () => stop(child, "SIGTERM") }
  }
  throw new Error("the billing server did not start")
}

/** Ends a child process and waits for its end. */
export const stop = async (child: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, "exit")
  child.kill(signal)
  await exit
}

export interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const collect = (child: ChildProcess): Promise<Run> =>
  new Promise((resolve, reject) => {
    let [stdout, stderr] = ["", ""]
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    child.on("error", reject)
    child.on("close", (code) => resolve({ code, stdout, stderr }))
  })

/** Runs one of the example's programs; `options` are those of node. */
const start = (program: string, args: ReadonlyArray<string>, options: ReadonlyArray<string> = []) =>
  spawn(process.execPath, [...options, here(`../src/${program}.ts`), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, BILLWRIGHT_API_KEY: undefined },
  })

export const startMeter = (args: ReadonlyArray<string>): ChildProcess => start("meter", args)

export const runMeter = (args: ReadonlyArray<string>, nodeOptions: ReadonlyArray<string> = []) =>
  collect(start("meter", args, nodeOptions))

export const runProduceLog = (args: ReadonlyArray<string>) => collect(start("produce-log", args))

/** The result of count.awk for a log: "customer product requests bytes", sorted. */
export const countWithAwk = (log: string): Promise<ReadonlyArray<string>> =>
  new Promise((resolve, reject) => {
    execFile("awk", ["-f", here("count.awk"), log], { env: { LC_ALL: "C" } }, (error, stdout) =>
      error === null ? resolve(stdout.trim().replaceAll("\t", " ").split("\n").sort()) : reject(error),
    )
  })
