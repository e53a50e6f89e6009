/**
 * The directory with the data, the passwords, and the id of the process that uses it.
 */
import { randomBytes } from "node:crypto"
import { chmod, chown, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import * as DirectoryClaim from "./DirectoryClaim.ts"
import type { ProcessUser } from "./ProcessUser.ts"

/** The folder inside it for Postgres's own files. */
export const CLUSTER = "postgres"
/** The password of the superuser. */
export const PASSWORD_FILE = "password"
/** The password of the user that the application connects as. */
const APPLICATION_PASSWORD_FILE = "application-password"

export interface Passwords {
  readonly superuser: string
  readonly application: string
}

/** Makes git ignore the directory: data and passwords belong in no repository. */
const GITIGNORE = ".gitignore"
const IGNORE_EVERYTHING = "*\n"

const unlessThere = (error: NodeJS.ErrnoException): void => {
  if (error.code !== "EEXIST") throw error
}

/** The keys that encrypt webhook secrets. `billwright serve` creates them before it starts Postgres. */
const KEY_FILE = "encryption.keys"

/** The files of a directory that is used for nothing else. */
const OURS: ReadonlyArray<string> = [
  CLUSTER,
  PASSWORD_FILE,
  APPLICATION_PASSWORD_FILE,
  GITIGNORE,
  DirectoryClaim.FILE,
  KEY_FILE,
]

/**
 * Creates the directory. Only its owner may enter it, and git ignores all of it. If the directory also has other
 * files, its mode stays as it is and git doesn't ignore it: it may be somebody's project.
 */
export const make = async (directory: string): Promise<void> => {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const names = await readdir(directory)
  if (!names.every((name) => OURS.includes(name))) return
  await chmod(directory, 0o700)
  await writeFile(join(directory, GITIGNORE), IGNORE_EVERYTHING, { flag: "wx" }).catch(unlessThere)
}

const writePassword = async (file: string): Promise<void> => {
  const password = randomBytes(24).toString("base64url")
  await writeFile(file, password, { mode: 0o600, flag: "wx" }).catch(unlessThere)
}

/** What a password is made of. It is written into SQL. */
const PASSWORD = /^[A-Za-z0-9_-]+$/

/** Reads the passwords. */
export const passwords = async (directory: string): Promise<Passwords> => {
  const [superuser, application] = await Promise.all(
    [PASSWORD_FILE, APPLICATION_PASSWORD_FILE].map((name) => readFile(join(directory, name), "utf8")),
  )
  if (PASSWORD.test(application!.trim()))
    return { superuser: superuser!.trim(), application: application!.trim() }
  throw new Error(
    `the file ${APPLICATION_PASSWORD_FILE} must have letters, digits, - and _, and nothing else`,
  )
}

/** Creates the cluster's folder and the passwords. Reads those that are there. */
export const prepare = async (
  directory: string,
  cluster: string,
  { id }: ProcessUser,
  program: string,
): Promise<Passwords> => {
  await mkdir(cluster, { recursive: true, mode: 0o700 })
  const passwordFile = join(directory, PASSWORD_FILE)
  await writePassword(passwordFile)
  await writePassword(join(directory, APPLICATION_PASSWORD_FILE))
  await chmod(cluster, 0o700)
  if (id !== undefined) {
    // Postgres runs as another user. That user may pass through the directory to its own folder, and see nothing
    // else.
    await chmod(directory, 0o711)
    await requireReachable(directory)
    await requireReachable(dirname(program))
    if ((await stat(cluster)).uid !== id.uid) await chown(cluster, id.uid, id.gid)
    await chown(passwordFile, id.uid, id.gid)
  }
  return passwords(directory)
}

const OTHERS_MAY_ENTER = 0o001

/** Otherwise Postgres would fail with "Permission denied" and no explanation. */
const requireReachable = async (directory: string): Promise<void> => {
  for (let path = directory; path !== dirname(path); path = dirname(path)) {
    if (((await stat(path)).mode & OTHERS_MAY_ENTER) !== 0) continue
    throw new Error(
      `run by root, Postgres uses the user postgres, who may not enter ${path}. Choose another directory, or run as another user than root`,
    )
  }
}
