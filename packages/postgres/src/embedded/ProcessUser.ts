/**
 * The user that Postgres runs as. Postgres refuses to run as root.
 */
import { execFile, spawn, type ChildProcess, type SpawnOptions } from "node:child_process"
import { stat } from "node:fs/promises"
import { userInfo } from "node:os"
import { promisify } from "node:util"

/** How to start a program of Postgres. */
export interface ProcessUser {
  /** The user to run as, who has to own the files and be able to reach them. */
  readonly id: { readonly uid: number; readonly gid: number } | undefined
  /** The command line that comes before the program's own. */
  readonly prefix: ReadonlyArray<string>
}

const run = promisify(execFile)
const NAME = "postgres"
const SAME_USER: ProcessUser = { id: undefined, prefix: [] }

/** Any id but root's. Inside the namespace, the program sees itself as this user. */
const INNER_ID = 1000

/**
 * A user namespace of Linux in which root has another id. For file access the program is still root, so it works in
 * every directory, and no file needs a new owner. Containers often forbid namespaces.
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

/** The user `postgres`. Created if missing. */
const postgresUser = async (): Promise<ProcessUser> => {
  try {
    await idOf("-u")
  } catch {
    await run("groupadd", ["--force", NAME])
    await run("useradd", ["-g", NAME, NAME]).catch(async (error: unknown) => {
      // Another process may have created it at the same time.
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
 * The current user, unless that is root. For root: a namespace if that is allowed and the files don't belong to the
 * user `postgres` already; otherwise the user `postgres`.
 */
export const userFor = async (cluster: string): Promise<ProcessUser> => {
  if (process.platform === "win32" || userInfo().uid !== 0) return SAME_USER
  if ((await ownerOf(cluster)) === 0 && (await canUnshare())) return { id: undefined, prefix: NAMESPACE }
  return postgresUser()
}

/** Starts a program as that user. The child process is the program itself, and no shell or other process around it. */
export const spawnAs = (
  user: ProcessUser,
  file: string,
  args: ReadonlyArray<string>,
  options: SpawnOptions,
): ChildProcess => {
  const [command = file, ...rest] = [...user.prefix, file, ...args]
  return spawn(command, rest, { ...options, ...user.id })
}
