/**
 * Reads the keys that encrypt webhook secrets.
 */
import { Effect, Redacted } from "effect"
import type { BillingOptions } from "../BillingOptions.ts"
import { ConfigurationError } from "../errors/RuntimeError.ts"

const readFile = async (path: string): Promise<Redacted.Redacted<string>> => {
  const { KeyFile } = await import("@billwright/node")
  return Effect.runPromise(
    Effect.mapError(KeyFile.readOrMake(path), (cause) => new ConfigurationError(cause.message, { cause })),
  )
}

/** The keys in the form that the domain takes. */
export const resolve = async (
  keys: BillingOptions["encryptionKeys"],
): Promise<Redacted.Redacted<string> | "none" | undefined> =>
  keys === undefined || keys === "none"
    ? keys
    : read(keys, 'encryptionKeys must be a key, a list of keys, { file: "path" } or "none"')

/** Reads keys. `problem` is what to say if they have another form. */
export const read = async (keys: unknown, problem: string): Promise<Redacted.Redacted<string>> => {
  if (typeof keys === "string") return Redacted.make(keys)
  if (Array.isArray(keys)) return Redacted.make(keys.join("\n"))
  const { file } = (keys ?? {}) as { readonly file?: unknown }
  if (typeof file === "string") return readFile(file)
  throw new ConfigurationError(problem)
}
