/**
 * The file that holds the encryption keys of webhook secrets, for hosts that have no better place for them.
 *
 * Its text is what `Keyring.layer` of `@billwright/core` takes: `<id>:<base64 of 32 bytes>`, one a line, the first
 * of which encrypts. Losing it is losing what is encrypted: back it up, apart from the database.
 */
import { randomBytes } from "node:crypto"
import { constants, link, open, rm } from "node:fs/promises"
import { Effect, Redacted, Schema } from "effect"

/** Largest file that is read, in bytes. */
const MAX_BYTES = 4_096
/** Bytes of a key: AES-256. */
const KEY_BYTES = 32
/** What only the owner may do: read and write. */
const OWNER_ONLY = 0o600
const OTHERS = 0o077

const ENTRY = /^[A-Za-z0-9_-]{1,32}:[A-Za-z0-9+/]{43}=$/

/** There is no usable key file at the path, and none could be made. The message never holds a key. */
export class KeyFileError extends Schema.TaggedError<KeyFileError>()("KeyFileError", {
  path: Schema.String,
  problem: Schema.String,
}) {
  override get message(): string {
    return `the key file ${this.path} ${this.problem}`
  }
}

const codeOf = (error: unknown): string => {
  const code = (error as { readonly code?: unknown }).code
  return typeof code === "string" ? code : String(error)
}

class Unusable extends Error {}

const problemOfMode = (path: string, mode: number): string | undefined =>
  // Windows has no such bits, and reports all of them.
  process.platform !== "win32" && (mode & OTHERS) !== 0
    ? `may be read by others (its mode is ${(mode & 0o777).toString(8)}): run "chmod 600 ${path}"`
    : undefined

const problemOfText = (text: string): string | undefined => {
  const lines = text.split(/\r?\n/)
  return lines.every((line) => ENTRY.test(line))
    ? undefined
    : "must hold lines of the form <id>:<base64 of 32 bytes>"
}

const readChecked = async (path: string): Promise<string> => {
  // Not to wait for the writer of a pipe.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const { mode, size, isFile } = await statOf(file)
    if (!isFile) throw new Unusable("is no file")
    // Of the open file, so that none can be put in its place meanwhile.
    const problem = problemOfMode(path, mode)
    if (problem !== undefined) throw new Unusable(problem)
    if (size > MAX_BYTES) throw new Unusable(`is larger than ${MAX_BYTES} bytes`)
    const text = (await file.readFile("utf8")).trim()
    const problemInside = problemOfText(text)
    if (problemInside !== undefined) throw new Unusable(problemInside)
    return text
  } finally {
    await file.close()
  }
}

const statOf = async (file: Awaited<ReturnType<typeof open>>) => {
  const stat = await file.stat()
  return { mode: stat.mode, size: stat.size, isFile: stat.isFile() }
}

/** A new key; its id tells one key from another and says nothing of it. */
const makeLine = (): string =>
  `key_${randomBytes(4).toString("hex")}:${randomBytes(KEY_BYTES).toString("base64")}`

/**
 * Puts a new file at the path, whole or not at all; leaves one that is there. Written beside it and linked: two
 * processes that start at once agree on one key, and neither reads half of it.
 */
const makeFile = async (path: string): Promise<void> => {
  const draft = `${path}.${randomBytes(8).toString("hex")}`
  const file = await open(draft, "wx", OWNER_ONLY)
  try {
    await file.writeFile(`${makeLine()}\n`)
    await file.sync()
    await link(draft, path)
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error
  } finally {
    await file.close()
    await rm(draft)
  }
}

const readOrMakeFile = async (path: string): Promise<string> => {
  try {
    return await readChecked(path)
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error
  }
  await makeFile(path)
  return readChecked(path)
}

const explain = (error: unknown): string => {
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

/**
 * Reads the keys of a file, and makes the file with one new key when there is none: 32 random bytes under a
 * random id, readable by its owner alone (mode 0600). Processes that do so at the same time get the same key.
 *
 * Fails with `KeyFileError` when the file may be read by its group or others, is no plain file, is larger than
 * 4 KiB, holds anything but keys, or can't be read or made. Directories are not made. The file system must
 * know hard links.
 */
export const readOrMake = (path: string): Effect.Effect<Redacted.Redacted<string>, KeyFileError> =>
  Effect.tryPromise({
    try: async () => Redacted.make(await readOrMakeFile(path)),
    catch: (error) => new KeyFileError({ path, problem: explain(error) }),
  })
