/** The shops, run as child processes. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

export interface Shop extends AsyncDisposable {
  readonly url: string
  /** Ends it like a service manager. Returns the exit code. */
  readonly stop: () => Promise<number | null>
}

/** Starts a program of `src` on a free port, and waits until it listens. */
export const startShop = async (program: string, databaseUrl: string): Promise<Shop> => {
  const child = spawn(process.execPath, [fileURLToPath(new URL(`../src/${program}`, import.meta.url))], {
    env: { DATABASE_URL: databaseUrl, PORT: "0" },
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
  if (url === undefined) throw new Error(`${program} did not start: ${complaints.join("\n")}`)
  const stop = async () => {
    child.kill("SIGTERM")
    await closed
    return child.exitCode
  }
  return { url, stop, [Symbol.asyncDispose]: async () => void (await stop()) }
}
