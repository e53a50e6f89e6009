/**
 * Who Postgres runs as: it refuses to run as root.
 */
import { execFile, spawn, type ChildProcess, type SpawnOptions } from "node:child_process"
import { stat } from "node:fs/promises"
import { userInfo } from "node:os"
import { promisify } from "node:util"

/** How a program of Postgres is started. */
export interface ProcessUser {
  /** A user of its own, who has to own the files and get to them. */
  readonly id: { readonly uid: number; readonly gid: number } | undefined
  /** What comes before the program's own command. */
  readonly prefix: ReadonlyArray<string>
}

const run = promisify(execFile)
const NAME = "postgres"
const SAME_USER: ProcessUser = { id: undefined, prefix: [] }

/** Any id but root's: what the program takes itself for inside of its namespace. */
const INNER_ID = 1000

/**
 * A user namespace of Linux in which root has another id. The program is still root to the files, so that it
 * works in every directory, and nothing has to change hands. Containers often forbid it.
 */
const NAMESPACE = ["unshare", "--user", `--map-user=${INNER_ID}`, `--map-group=${INNER_ID}`]

const canUnshare = async (): Promise<boolean> => {
  const [command = "", ...flags] = NAMESPACE
  return run(command, [...flags, "true"]).then(
    () => true,
    () => false,
  )
}

const idOf = async (flag: string): Promise<number> =>
  Number.parseInt((await run("id", [flag, NAME])).stdout, 10)

/** The user `postgres`, who is made when there is none. */
const postgresUser = async (): Promise<ProcessUser> => {
  try {
    await idOf("-u")
  } catch {
    await run("groupadd", ["--force", NAME])
    await run("useradd", ["-g", NAME, NAME]).catch(async (error: unknown) => {
      // Another process may have made it in the meantime.
      await idOf("-u").catch(() => {
        throw error
      })
    })
  }
  return { id: { uid: await idOf("-u"), gid: await idOf("-g") }, prefix: [] }
}

const ownerOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ uid }) => uid,
    () => 0,
  )

/**
 * For everybody but root: the same user. For root: root in a namespace, where that is allowed and the files
 * aren't the user postgres's already; else the user `postgres`.
 */
export const userFor = async (cluster: string): Promise<ProcessUser> => {
  if (process.platform === "win32" || userInfo().uid !== 0) return SAME_USER
  if ((await ownerOf(cluster)) === 0 && (await canUnshare())) return { id: undefined, prefix: NAMESPACE }
  return postgresUser()
}

/** Starts a program as that user. The process is the program itself. */
export const spawnAs = (
  user: ProcessUser,
  file: string,
  args: ReadonlyArray<string>,
  options: SpawnOptions,
): ChildProcess => {
  const [command = file, ...rest] = [...user.prefix, file, ...args]
  return spawn(command, rest, { ...options, ...user.id })
}
