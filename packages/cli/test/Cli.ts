/**
 * The `billwright` command as a person runs it: a process of its own.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { text } from "node:stream/consumers"

const bin = join(import.meta.dirname, "../src/bin.ts")

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

const start = (args: ReadonlyArray<string>, { cwd, env }: RunOptions): ChildProcess =>
  spawn(process.execPath, [bin, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })

/** Runs a command to its end. */
export const run = async (args: ReadonlyArray<string>, options: RunOptions = {}): Promise<Finished> => {
  const child = start(args, options)
  const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, "close")])
  return { code: child.exitCode, stdout, stderr }
}

/** A server that has said that it listens. */
export interface Serving {
  readonly url: string
  /** The keys that it printed; empty when the store had some. */
  readonly keys: { readonly test: string; readonly live: string }
  readonly child: ChildProcess
  /** Sends a signal and waits for the end; gives the exit code. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>
}

/** Starts `billwright serve` and waits for its last line. */
export const serve = async (args: ReadonlyArray<string>, options: RunOptions = {}): Promise<Serving> => {
  const child = start(["serve", "--port", "0", ...args], options)
  let errors = ""
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => (errors += chunk))
  const seen = { url: "", test: "", live: "" }
  for await (const line of createInterface({ input: child.stdout! })) {
    seen.url = /^Billwright listening on (\S+)$/.exec(line)?.[1] ?? seen.url
    seen.test = /^test key {2}(\S+)$/.exec(line)?.[1] ?? seen.test
    seen.live = /^live key {2}(\S+)$/.exec(line)?.[1] ?? seen.live
    if (line.startsWith("API reference")) break
  }
  if (seen.url === "") throw new Error(`billwright serve did not start: ${errors}`)
  return {
    url: seen.url,
    keys: { test: seen.test, live: seen.live },
    child,
    stop: async (signal = "SIGTERM") => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      const closed = once(child, "close")
      child.kill(signal)
      await closed
      return child.exitCode
    },
  }
}

export interface Answer {
  readonly status: number
  /** As sent: totals may be beyond what a number holds. */
  readonly text: string
  readonly body: Record<string, unknown>
}

/** Calls the API of a server. */
export const call = async (
  url: string,
  key: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const content = await response.text()
  return { status: response.status, text: content, body: JSON.parse(content) as Record<string, unknown> }
}
