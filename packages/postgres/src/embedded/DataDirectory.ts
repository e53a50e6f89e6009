/**
 * The directory that holds the data, the password and the name of the process that has it.
 */
import { randomBytes } from "node:crypto"
import { chmod, chown, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import * as DirectoryClaim from "./DirectoryClaim.ts"
import type { ProcessUser } from "./ProcessUser.ts"

/** The folder in the directory that is Postgres's own. */
export const CLUSTER = "postgres"
export const PASSWORD_FILE = "password"

/** What tells git to leave the directory out: data and passwords belong in no repository. */
const GITIGNORE = ".gitignore"
const IGNORE_EVERYTHING = "*\n"

const unlessThere = (error: NodeJS.ErrnoException): void => {
  if (error.code !== "EEXIST") throw error
}

/** The keys of webhook secrets, which `billwright serve` makes before it starts Postgres. */
const KEY_FILE = "encryption.keys"

/** What a directory holds that is used for nothing else. */
const OURS: ReadonlyArray<string> = [CLUSTER, PASSWORD_FILE, GITIGNORE, DirectoryClaim.FILE, KEY_FILE]

/**
 * Makes the directory. Nobody but its owner may enter it, and git ignores all of it. A directory that holds other
 * things, too, is left as it is: it may be somebody's project.
 */
export const make = async (directory: string): Promise<void> => {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const names = await readdir(directory)
  if (!names.every((name) => OURS.includes(name))) return
  await chmod(directory, 0o700)
  await writeFile(join(directory, GITIGNORE), IGNORE_EVERYTHING, { flag: "wx" }).catch(unlessThere)
}

/** Makes the cluster's folder and the password, or reads the password that is there. */
export const prepare = async (
  directory: string,
  cluster: string,
  { id }: ProcessUser,
  program: string,
): Promise<string> => {
  await mkdir(cluster, { recursive: true, mode: 0o700 })
  const passwordFile = join(directory, PASSWORD_FILE)
  const password = randomBytes(24).toString("base64url")
  await writeFile(passwordFile, password, { mode: 0o600, flag: "wx" }).catch(unlessThere)
  await chmod(cluster, 0o700)
  if (id !== undefined) {
    // Postgres runs as another user, which must get as far as its own directory and no further.
    await chmod(directory, 0o711)
    await requireReachable(directory)
    await requireReachable(dirname(program))
    if ((await stat(cluster)).uid !== id.uid) await chown(cluster, id.uid, id.gid)
    await chown(passwordFile, id.uid, id.gid)
  }
  return (await readFile(passwordFile, "utf8")).trim()
}

const OTHERS_MAY_ENTER = 0o001

/** Without this, Postgres would fail with no more than "Permission denied". */
const requireReachable = async (directory: string): Promise<void> => {
  for (let path = directory; path !== dirname(path); path = dirname(path)) {
    if (((await stat(path)).mode & OTHERS_MAY_ENTER) !== 0) continue
    throw new Error(
      `as root, Postgres is run as the user postgres, who may not enter ${path}. Choose a directory elsewhere, or don't run as root`,
    )
  }
}
