/**
 * Files that only their owner may read. They hold secrets, for hosts without a better place for them.
 */
import { randomBytes } from "node:crypto"
import { constants, link, open, rm } from "node:fs/promises"
import { Effect, Redacted, Schema } from "effect"

/** The largest file that is read, in bytes. */
export const MAX_BYTES = 4_096
/** The mode of the file: only the owner may read and write. */
const OWNER_ONLY = 0o600
const OTHERS = 0o077

/** There is no usable file at the path, and none could be made. The message never contains the file's text. */
export class PrivateFileError extends Schema.TaggedError<PrivateFileError>()("PrivateFileError", {
  path: Schema.String,
  problem: Schema.String,
}) {
  override get message(): string {
    return `the file ${this.path} ${this.problem}`
  }
}

/** The code of an error of the file system. */
export const codeOf = (error: unknown): string => {
  const code = (error as { readonly code?: unknown }).code
  return typeof code === "string" ? code : String(error)
}

/** Why a file can't be used. The message is worded to follow its path. */
export class Unusable extends Error {}

const problemOfMode = (path: string, mode: number): string | undefined =>
  // Windows has no such bits, and reports all of them.
  process.platform !== "win32" && (mode & OTHERS) !== 0
    ? `may be read by others (its mode is ${(mode & 0o777).toString(8)}): run "chmod 600 ${path}"`
    : undefined

/** The text of a file, without white space at its ends. Rejects with `Unusable`, or as the file system does. */
export const readText = async (path: string): Promise<string> => {
  // Not to wait for the writer of a pipe.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const { mode, size, isFile } = await statOf(file)
    if (!isFile) throw new Unusable("is no file")
    // Of the open file, so that none can be put in its place meanwhile.
    const problem = problemOfMode(path, mode)
    if (problem !== undefined) throw new Unusable(problem)
    if (size > MAX_BYTES) throw new Unusable(`is larger than ${MAX_BYTES} bytes`)
    return (await file.readFile("utf8")).trim()
  } finally {
    await file.close()
  }
}

const statOf = async (file: Awaited<ReturnType<typeof open>>) => {
  const stat = await file.stat()
  return { mode: stat.mode, size: stat.size, isFile: stat.isFile() }
}

/**
 * Puts a new file at the path, whole or not at all; leaves one that is there, and says `false` then. Written beside it
 * and linked: of two processes that start at once one makes it, and neither reads half of it.
 */
export const makeText = async (path: string, text: string): Promise<boolean> => {
  const draft = `${path}.${randomBytes(8).toString("hex")}`
  const file = await open(draft, "wx", OWNER_ONLY)
  try {
    await file.writeFile(text)
    await file.sync()
    await link(draft, path)
    return true
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error
    return false
  } finally {
    await file.close()
    await rm(draft)
  }
}

/** What was in the way, to be read on from the path. */
export const explain = (error: unknown): string => {
  if (error instanceof Unusable) return error.message
  switch (codeOf(error)) {
    case "ENOENT":
      return "can't be made: its directory does not exist"
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return `can't be read or made: permission denied (${codeOf(error)})`
    default:
      return `can't be read or made (${codeOf(error)})`
  }
}

const attempt = <A>(path: string, act: () => Promise<A>): Effect.Effect<A, PrivateFileError> =>
  Effect.tryPromise({
    try: act,
    catch: (error) => new PrivateFileError({ path, problem: explain(error) }),
  })

/**
 * Reads a secret, without white space at its ends. Fails with `PrivateFileError` when the file is not there, may be
 * read by its group or others, is no plain file, is larger than 4 KiB, is empty, or can't be read.
 */
export const read = (path: string): Effect.Effect<Redacted.Redacted<string>, PrivateFileError> =>
  attempt(path, async () => {
    const text = await readText(path).catch((error: unknown) => {
      throw codeOf(error) === "ENOENT" ? new Unusable("does not exist") : error
    })
    if (text === "") throw new Unusable("is empty")
    return Redacted.make(text)
  })

/** The same for a file that may be missing. */
export const readIfAny = (
  path: string,
): Effect.Effect<Redacted.Redacted<string> | undefined, PrivateFileError> =>
  attempt(path, async () => {
    try {
      return Redacted.make(await readText(path))
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined
      throw error
    }
  })

/**
 * Makes a file that its owner alone may read (mode 0600), whole or not at all. Fails with `PrivateFileError` when one
 * is there, or it can't be made. Directories are not made. The file system must know hard links.
 */
export const make = (path: string, text: Redacted.Redacted<string>): Effect.Effect<void, PrivateFileError> =>
  attempt(path, async () => {
    if (!(await makeText(path, Redacted.value(text)))) throw new Unusable("exists already")
  })

/** Removes a file that `make` has made. */
export const remove = (path: string): Effect.Effect<void, PrivateFileError> =>
  attempt(path, () => rm(path, { force: true }))
