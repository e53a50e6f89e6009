/** The shop, run as a child process. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url))

export interface Shop extends AsyncDisposable {
  readonly url: string
  /** What it said on standard error. */
  readonly complaints: ReadonlyArray<string>
  /** Ends it like a service manager. Returns the exit code. */
  readonly stop: () => Promise<number | null>
}

/** Starts it on a free port, and waits until it listens. */
export const startShop = async (env: Record<string, string> = {}): Promise<Shop> => {
  const child = spawn(process.execPath, [MAIN], {
    env: { ...env, PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const closed = once(child, "close")
  const complaints: Array<string> = []
  createInterface(child.stderr).on("line", (line) => complaints.push(line))
  let url: string | undefined
  for await (const line of createInterface(child.stdout)) {
    url = /^listening on (\S+)$/.exec(line)?.[1]
    if (url !== undefined) break
  }
  if (url === undefined) throw new Error(`the shop did not start: ${complaints.join("\n")}`)
  child.stdout.resume()
  const stop = async () => {
    child.kill("SIGTERM")
    await closed
    return child.exitCode
  }
  return { url, complaints, stop, [Symbol.asyncDispose]: async () => void (await stop()) }
}
