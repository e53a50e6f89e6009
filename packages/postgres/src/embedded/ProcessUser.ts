/**
 * The user that Postgres runs as: it refuses to run as root.
 */
import { execFile } from "node:child_process"
import { userInfo } from "node:os"
import { promisify } from "node:util"

/** The options of `spawn` that say who. Empty: the same user. */
export interface ProcessUser {
  readonly uid?: number
  readonly gid?: number
}

const run = promisify(execFile)
const NAME = "postgres"

const idOf = async (flag: string): Promise<number> =>
  Number.parseInt((await run("id", [flag, NAME])).stdout, 10)

/** For root, as in a container, the user \`postgres\`, which is made when it isn't there. */
export const userFor = async (): Promise<ProcessUser> => {
  if (process.platform === "win32" || userInfo().uid !== 0) return {}
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
  return { uid: await idOf("-u"), gid: await idOf("-g") }
}
