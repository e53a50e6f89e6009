/**
 * The server's process: when it is ready, its last output, and how to stop it.
 */
import type { ChildProcess } from "node:child_process"

export interface ServerProcess {
  readonly pid: number
  readonly child: ChildProcess
  /** The end of its output. */
  readonly log: () => string
  /** Resolves when the process has ended, with its signal or exit code. */
  readonly exited: Promise<string>
  /** Resolves when all processes that it started have ended, too. */
  readonly ended: Promise<void>
}

const MAX_LOG_LENGTH = 16_384
const READY = "database system is ready to accept connections"
/** How long clients may take to disconnect by themselves: an ended pool may still be closing its connections. */
const LEAVE_MILLIS = 500
/** The time limit of a clean shutdown. After it the server stops immediately, and recovers at its next start. */
const SHUTDOWN_MILLIS = 10_000

export const watch = (child: ChildProcess): ServerProcess => {
  let log = ""
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    log = (log + chunk).slice(-MAX_LOG_LENGTH)
  })
  const exited = new Promise<string>((done) => {
    child.once("exit", (code, signal) => done(signal ?? `exit code ${code}`))
  })
  const ended = new Promise<void>((done) => {
    child.once("close", () => done())
    child.once("error", (error) => {
      log += String(error)
      done()
    })
  })
  return { pid: child.pid ?? 0, child, log: () => log, exited, ended }
}

/** Waits until the server accepts connections. If it ends before that, fails with its last output. */
export const awaitReady = (server: ServerProcess): Promise<ServerProcess> =>
  new Promise((done, fail) => {
    const look = (): void => {
      if (!server.log().includes(READY)) return
      server.child.stderr?.off("data", look)
      done(server)
    }
    server.child.stderr?.on("data", look)
    void server.ended.then(() => fail(new Error(server.log().trim())))
  })

/** Shuts the server down: waits shortly for clients, disconnects them, and writes everything, so that nothing needs recovery. */
export const stop = async (server: ServerProcess): Promise<void> => {
  if (server.child.exitCode !== null || server.child.signalCode !== null) return
  server.child.kill("SIGTERM")
  const timers = [
    setTimeout(() => server.child.kill("SIGINT"), LEAVE_MILLIS),
    setTimeout(() => server.child.kill("SIGQUIT"), SHUTDOWN_MILLIS),
  ]
  await server.ended
  for (const timer of timers) clearTimeout(timer)
}
