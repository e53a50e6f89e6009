/**
 * A file with the keys that encrypt webhook secrets, for hosts without a better place for secrets.
 *
 * Its text is the input of `Keyring.layer` of `@billwright/core`: a line `<id>:<base64 of 32 bytes>` for each key. The
 * first key encrypts. If the file is lost, the encrypted secrets are lost too. Back it up, separately from the
 * database.
 */
import { randomBytes } from "node:crypto"
import { Effect, Redacted, Schema } from "effect"
import * as PrivateFile from "./PrivateFile.ts"

/** The length of a key in bytes, for AES-256. */
const KEY_BYTES = 32

const ENTRY = /^[A-Za-z0-9_-]{1,32}:[A-Za-z0-9+/]{43}=$/

/** The key file at the path can't be used or created. The message never contains a key. */
export class KeyFileError extends Schema.TaggedError<KeyFileError>()("KeyFileError", {
  path: Schema.String,
  problem: Schema.String,
}) {
  override get message(): string {
    return `the key file ${this.path} ${this.problem}`
  }
}

const problemOfText = (text: string): string | undefined => {
  const lines = text.split(/\r?\n/)
  return lines.every((line) => ENTRY.test(line))
    ? undefined
    : "must hold lines of the form <id>:<base64 of 32 bytes>"
}

const readChecked = async (path: string): Promise<string> => {
  const text = await PrivateFile.readText(path)
  const problem = problemOfText(text)
  if (problem !== undefined) throw new PrivateFile.Unusable(problem)
  return text
}

/** A new key with a random id, which reveals nothing about the key. */
const makeLine = (): string =>
  `key_${randomBytes(4).toString("hex")}:${randomBytes(KEY_BYTES).toString("base64")}`

const readOrMakeFile = async (path: string): Promise<string> => {
  try {
    return await readChecked(path)
  } catch (error) {
    if (PrivateFile.codeOf(error) !== "ENOENT") throw error
  }
  await PrivateFile.makeText(path, `${makeLine()}\n`)
  return readChecked(path)
}

/**
 * Reads the keys of a file. If the file doesn't exist, it creates the file with one new key: 32 random bytes with a
 * random id. Only the owner can read the file (mode 0600). Processes that do this at the same time get the same key.
 *
 * Fails with `KeyFileError` if the file may be read by its group or others, is not a regular file, is larger than 4 KiB,
 * contains anything but keys, or can't be read or created. Directories are not created. The file system must support
 * hard links.
 */
export const readOrMake = (path: string): Effect.Effect<Redacted.Redacted<string>, KeyFileError> =>
  Effect.tryPromise({
    try: async () => Redacted.make(await readOrMakeFile(path)),
    catch: (error) => new KeyFileError({ path, problem: PrivateFile.explain(error) }),
  })
