/**
 * The running server: when it is ready, what it last wrote, how it is stopped.
 */
import type { ChildProcess } from "node:child_process"

export interface ServerProcess {
  readonly pid: number
  readonly child: ChildProcess
  /** The end of what it wrote. */
  readonly log: () => string
  /** Settles when its process is gone, with the signal or the exit code that ended it. */
  readonly exited: Promise<string>
  /** Settles when all that it started is gone, too. */
  readonly ended: Promise<void>
}

const MAX_LOG_LENGTH = 16_384
const READY = "database system is ready to accept connections"
/** How long a clean shutdown may take before the server is told to drop everything; it recovers at the start. */
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

/** Waits until the server accepts connections; fails with its last words when it ends before. */
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

/** Shuts the server down: clients are disconnected, everything is written, nothing has to be recovered. */
export const stop = async (server: ServerProcess): Promise<void> => {
  if (server.child.exitCode !== null || server.child.signalCode !== null) return
  server.child.kill("SIGINT")
  const timer = setTimeout(() => server.child.kill("SIGQUIT"), SHUTDOWN_MILLIS)
  await server.ended
  clearTimeout(timer)
}
