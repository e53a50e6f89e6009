/** The receiver, run as a child process. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url))

/** Starts the program with only these environment variables. */
export const startProgram = (env: Record<string, string>) =>
  spawn(process.execPath, [MAIN], { env, stdio: ["ignore", "pipe", "pipe"] })

export interface ReceiverProcess extends AsyncDisposable {
  readonly url: string
  /** Ends the receiver. Returns the printed lines for events and refusals. */
  readonly stop: () => Promise<{
    readonly events: ReadonlyArray<string>
    readonly refusals: ReadonlyArray<string>
  }>
}

/** Starts it on a free port, and waits until it listens. */
export const startReceiver = async (secret: string): Promise<ReceiverProcess> => {
  const child = startProgram({ WEBHOOK_SECRET: secret, PORT: "0" })
  const closed = once(child, "close")
  const output: Array<string> = []
  const refusals: Array<string> = []
  const lines = createInterface(child.stdout).on("line", (line) => output.push(line))
  createInterface(child.stderr).on("line", (line) => refusals.push(line))
  await Promise.race([once(lines, "line"), closed])
  const url = /^listening on (\S+)$/.exec(output.shift() ?? "")?.[1]
  if (url === undefined) throw new Error(`the receiver did not start: ${refusals.join("\n")}`)
  const stop = async () => {
    child.kill("SIGTERM")
    await closed
    return { events: output, refusals }
  }
  return { url, stop, [Symbol.asyncDispose]: async () => void (await stop()) }
}
