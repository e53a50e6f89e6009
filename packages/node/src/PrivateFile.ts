/**
 * Files that only their owner may read, for secrets on hosts without a better place for them.
 */
import { randomBytes } from "node:crypto"
import { constants, link, open, rm } from "node:fs/promises"
import { Effect, Redacted, Schema } from "effect"

/** The largest file that is read, in bytes. */
export const MAX_BYTES = 4_096
/** The mode of the file: only the owner may read and write. */
const OWNER_ONLY = 0o600
const OTHERS = 0o077

/** The file at the path can't be used or created. The message never contains the file's text. */
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

/** Why a file can't be used. The message continues a sentence that begins with the path of the file. */
export class Unusable extends Error {}

const problemOfMode = (path: string, mode: number): string | undefined =>
  // Windows has no such bits and reports all of them as set.
  process.platform !== "win32" && (mode & OTHERS) !== 0
    ? `may be read by others (its mode is ${(mode & 0o777).toString(8)}): run "chmod 600 ${path}"`
    : undefined

/** The text of a file, without white space at its ends. Rejects with `Unusable` or with an error of the file system. */
export const readText = async (path: string): Promise<string> => {
  // Without `O_NONBLOCK`, opening a pipe would wait for its writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const { mode, size, isFile } = await statOf(file)
    if (!isFile) throw new Unusable("is not a regular file")
    // Checked on the open file, so that nobody can replace the file between the check and the reading.
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
 * Creates a file, whole or not at all. Returns `false` and changes nothing if the file exists. It writes another file and
 * links it to the path: of two processes that start at the same time, one creates the file, and none reads half of it.
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

/** Explains an error. The text continues a sentence that begins with the path of the file. */
export const explain = (error: unknown): string => {
  if (error instanceof Unusable) return error.message
  switch (codeOf(error)) {
    case "ENOENT":
      return "can't be created: its directory does not exist"
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return `can't be read or created: permission denied (${codeOf(error)})`
    default:
      return `can't be read or created (${codeOf(error)})`
  }
}

const attempt = <A>(path: string, act: () => Promise<A>): Effect.Effect<A, PrivateFileError> =>
  Effect.tryPromise({
    try: act,
    catch: (error) => new PrivateFileError({ path, problem: explain(error) }),
  })

/**
 * Reads a secret, without white space at its ends. Fails with `PrivateFileError` if the file doesn't exist, may be read
 * by its group or others, is not a regular file, is larger than 4 KiB, is empty, or can't be read.
 */
export const read = (path: string): Effect.Effect<Redacted.Redacted<string>, PrivateFileError> =>
  attempt(path, async () => {
    const text = await readText(path).catch((error: unknown) => {
      throw codeOf(error) === "ENOENT" ? new Unusable("does not exist") : error
    })
    if (text === "") throw new Unusable("is empty")
    return Redacted.make(text)
  })

/** Like `read`, for a file that may be missing. */
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
 * Creates a file that only its owner may read (mode 0600), whole or not at all. Fails with `PrivateFileError` if the
 * file exists or can't be created. Directories are not created. The file system must support hard links.
 */
export const make = (path: string, text: Redacted.Redacted<string>): Effect.Effect<void, PrivateFileError> =>
  attempt(path, async () => {
    if (!(await makeText(path, Redacted.value(text)))) throw new Unusable("exists already")
  })

/** Removes a file that `make` has created. */
export const remove = (path: string): Effect.Effect<void, PrivateFileError> =>
  attempt(path, () => rm(path, { force: true }))
