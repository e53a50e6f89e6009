/**
 * A file with the keys that encrypt webhook secrets, for hosts without a better place for secrets.
 *
 * Its text is what `Keyring.layer` of `@billwright/core` takes: `<id>:<base64 of 32 bytes>`, one a line, the first
 * of which encrypts. If the file is lost, the encrypted secrets are lost too. Back it up, separately from the
 * database.
 */
import { randomBytes } from "node:crypto"
import { Effect, Redacted, Schema } from "effect"
import * as PrivateFile from "./PrivateFile.ts"

/** Bytes of a key: AES-256. */
const KEY_BYTES = 32

const ENTRY = /^[A-Za-z0-9_-]{1,32}:[A-Za-z0-9+/]{43}=$/

/** There is no usable key file at the path, and none could be made. The message never contains a key. */
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

/** A new key; its id tells one key from another and says nothing of it. */
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
    catch: (error) => new KeyFileError({ path, problem: PrivateFile.explain(error) }),
  })
