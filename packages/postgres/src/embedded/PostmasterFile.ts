/**
 * What a data directory says about its server.
 */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"

const orNothing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === "ENOENT") return undefined
  throw error
}

/** The major version that made the directory; `undefined` when there is no cluster in it yet. */
export const majorVersion = async (cluster: string): Promise<string | undefined> =>
  (await readFile(join(cluster, "PG_VERSION"), "utf8").catch(orNothing))?.trim()

/** True for a process that lives, also when it is another user's. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** Process ids come round again: the name tells a Postgres from whatever has the number now. */
const isPostgres = async (pid: number): Promise<boolean> => {
  const name = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => undefined)
  return name === undefined || name.startsWith("postgres")
}

/** The process id of the server that works in the directory; a file that a dead one left counts for nothing. */
export const holder = async (cluster: string): Promise<number | undefined> => {
  const file = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(orNothing)
  const pid = Number.parseInt(file ?? "", 10)
  if (!Number.isSafeInteger(pid) || pid <= 0 || !isAlive(pid)) return undefined
  return (await isPostgres(pid)) ? pid : undefined
}

const POLL_MILLIS = 50
const SHUTDOWN_MILLIS = 10_000

/** Shuts down a server that isn't our child, in order; at once when that takes too long. */
export const end = async (pid: number): Promise<void> => {
  process.kill(pid, "SIGINT")
  for (let waited = 0; isAlive(pid); waited += POLL_MILLIS) {
    if (waited === SHUTDOWN_MILLIS) process.kill(pid, "SIGQUIT")
    if (waited > 2 * SHUTDOWN_MILLIS) throw new Error(`process ${pid} does not end`)
    await wait(POLL_MILLIS)
  }
}
