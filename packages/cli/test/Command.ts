/**
 * Runs the `billwright` command as a separate process, as people do.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { dirname, join } from "node:path"
import { text } from "node:stream/consumers"
import type * as InProcess from "./InProcess.ts"

/** The environment variable with the path of a bundle of the command (`globalSetup.ts`). */
export const BUNDLE = "BILLWRIGHT_TEST_COMMAND"

/** The script that tests start. Outside of a test run it is the source. */
export const bin = process.env[BUNDLE] ?? join(import.meta.dirname, "../src/bin.ts")

/** Programs that tests run often, by the names of their bundles. */
export const PROGRAMS = { Runner: "faults/billing/Runner.ts", Caller: "faults/credits/Caller.ts" } as const

/** The script of such a program: its bundle, or outside of a test run its source. */
export const program = (name: keyof typeof PROGRAMS): string =>
  process.env[BUNDLE] === undefined
    ? join(import.meta.dirname, PROGRAMS[name])
    : join(dirname(bin), `${name}.js`)

const inProcess = join(
  dirname(bin),
  process.env[BUNDLE] === undefined ? "../test/InProcess.ts" : "InProcess.js",
)

/** Keys for webhook secrets. A server with `--store postgres` doesn't start without them. */
export const ENCRYPTION = { BILLWRIGHT_ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 1).toString("base64")}` }

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

const children = new Set<ChildProcess>()

/** Ends the processes of tests that failed before they stopped them. */
export const killAll = (): void => children.forEach((child) => child.kill("SIGKILL"))

const start = (args: ReadonlyArray<string>, { cwd, env }: RunOptions): ChildProcess => {
  const child = spawn(process.execPath, [bin, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })
  children.add(child)
  child.once("close", () => children.delete(child))
  return child
}

/** Runs a command and waits until it ends. */
export const run = async (args: ReadonlyArray<string>, options: RunOptions = {}): Promise<Finished> => {
  const child = start(args, options)
  const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, "close")])
  return { code: child.exitCode, stdout, stderr }
}

/**
 * Runs a command in this process, for tests of what it does and prints. That it does the same in a process of its own
 * is what `run` is for.
 */
export const runHere = async (
  args: ReadonlyArray<string>,
  { env = {} }: Pick<RunOptions, "env"> = {},
): Promise<Finished> => {
  const { run: runInProcess } = (await import(inProcess)) as typeof InProcess
  return runInProcess(args, env)
}

/** A command that runs until it gets a signal. */
export interface Running {
  readonly child: ChildProcess
  /** The text that it has printed so far. */
  readonly stdout: () => string
  readonly stderr: () => string
  /** Sends a signal and waits for the end. Returns the exit code. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>
}

/** Starts a command and waits until it has printed a line that begins with the given text. */
export const runUntil = async (
  line: string,
  args: ReadonlyArray<string>,
  options: RunOptions = {},
): Promise<Running> => {
  const child = start(args, options)
  const seen = { stdout: "", stderr: "" }
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => (seen.stderr += chunk))
  child.stdout!.setEncoding("utf8").on("data", (chunk: string) => (seen.stdout += chunk))
  const isReady = () => seen.stdout.startsWith(line) || seen.stdout.includes(`\n${line}`)
  await new Promise<void>((done) => {
    child.stdout!.on("data", () => {
      if (isReady()) done()
    })
    child.once("close", () => done())
  })
  if (!isReady()) throw new Error(`billwright ${args.join(" ")} did not get ready: ${seen.stderr}`)
  return {
    child,
    stdout: () => seen.stdout,
    stderr: () => seen.stderr,
    stop: async (signal = "SIGTERM") => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      const closed = once(child, "close")
      child.kill(signal)
      await closed
      return child.exitCode
    },
  }
}

/** A server that is listening. */
export interface Serving extends Running {
  readonly url: string
  /** The keys that it printed. Empty if the store already had keys. */
  readonly keys: { readonly test: string; readonly live: string }
}

/** Allows webhooks to this machine, where the receivers of tests are. */
const loopback = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  args.includes("--no-allow-loopback") ? [] : ["--allow-loopback"]

/** Starts `billwright serve` and waits for its last line. */
export const serve = async (args: ReadonlyArray<string>, options: RunOptions = {}): Promise<Serving> => {
  const port = args.includes("--port") ? [] : ["--port", "0"]
  const running = await runUntil("API reference", ["serve", ...port, ...loopback(args), ...args], options)
  const find = (pattern: RegExp) => pattern.exec(running.stdout())?.[1] ?? ""
  return {
    ...running,
    url: find(/^Billwright listening on (\S+)$/m),
    keys: { test: find(/^test key {2}(\S+)$/m), live: find(/^live key {2}(\S+)$/m) },
  }
}

/** Starts a worker that only sends webhooks. */
export const dispatch = (args: ReadonlyArray<string>, options: RunOptions = {}): Promise<Running> =>
  runUntil(
    "Billwright sending webhooks",
    ["serve", "--dispatch-only", "--store", "postgres", ...loopback(args), ...args],
    options,
  )

export interface Answer {
  readonly status: number
  /** The text of the body. Totals in it may be larger than a number can be. */
  readonly text: string
  readonly body: Record<string, unknown>
  readonly headers: Headers
}

/** Much longer than an answer may take. With this limit, the error of a request that hangs names the request. */
const HANG_MILLIS = 20_000

/** Calls the API of a server. A body that is a string is sent unchanged. */
export const call = async (
  url: string,
  key: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(HANG_MILLIS),
  })
  const content = await response.text()
  return {
    status: response.status,
    text: content,
    body: JSON.parse(content) as Record<string, unknown>,
    headers: response.headers,
  }
}
