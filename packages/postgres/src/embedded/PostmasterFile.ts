/**
 * Reads what a data directory says about its server.
 */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"

const orNothing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === "ENOENT") return undefined
  throw error
}

/** The major version that created the directory; `undefined` when it has no cluster yet. */
export const majorVersion = async (cluster: string): Promise<string | undefined> =>
  (await readFile(join(cluster, "PG_VERSION"), "utf8").catch(orNothing))?.trim()

/** Whether a process is running, even as another user. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** Process ids are reused. The name tells whether the process with this id is Postgres. */
const isPostgres = async (pid: number): Promise<boolean> => {
  const name = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => undefined)
  return name === undefined || name.startsWith("postgres")
}

/** The process id of the server that runs in the directory. The file of a dead server is ignored. */
export const holder = async (cluster: string): Promise<number | undefined> => {
  const file = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(orNothing)
  const pid = Number.parseInt(file ?? "", 10)
  if (!Number.isSafeInteger(pid) || pid <= 0 || !isAlive(pid)) return undefined
  return (await isPostgres(pid)) ? pid : undefined
}

/** The lines of postmaster.pid with the port and the state of the server (miscadmin.h, LOCK_FILE_LINE_*). */
const PORT_LINE = 3
const STATUS_LINE = 7

/** The process id and port of a server that accepts connections; `undefined` while it starts or stops. */
export const ready = async (
  cluster: string,
): Promise<{ readonly pid: number; readonly port: number } | undefined> => {
  const pid = await holder(cluster)
  if (pid === undefined) return undefined
  const file = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(orNothing)
  const lines = file?.split("\n") ?? []
  const port = Number.parseInt(lines[PORT_LINE] ?? "", 10)
  const isReady = lines[STATUS_LINE]?.trim() === "ready" && Number.parseInt(lines[0] ?? "", 10) === pid
  return isReady && Number.isSafeInteger(port) ? { pid, port } : undefined
}

const POLL_MILLIS = 50
const SHUTDOWN_MILLIS = 10_000

/** Shuts down a server that isn't our child process. First cleanly; if that takes too long, immediately. */
export const end = async (pid: number): Promise<void> => {
  process.kill(pid, "SIGINT")
  for (let waited = 0; isAlive(pid); waited += POLL_MILLIS) {
    if (waited === SHUTDOWN_MILLIS) process.kill(pid, "SIGQUIT")
    if (waited > 2 * SHUTDOWN_MILLIS) throw new Error(`process ${pid} does not end`)
    await wait(POLL_MILLIS)
  }
}
