/**
 * Reads the keys that encrypt webhook secrets, and those that sign links.
 */
import { type KeyManagement as KeyService, unwrapKeys } from "@billwright/core"
import { Effect, Redacted } from "effect"
import type { BillingOptions, KeyManagement } from "../BillingOptions.ts"
import { ConfigurationError } from "../errors/RuntimeError.ts"

const readFile = async (path: string): Promise<Redacted.Redacted<string>> => {
  const { KeyFile } = await import("@billwright/node")
  return Effect.runPromise(
    Effect.mapError(KeyFile.readOrMake(path), (cause) => new ConfigurationError(cause.message, { cause })),
  )
}

const toService = ({ decrypt }: KeyManagement): KeyService => ({
  decrypt: (wrapped, keyId) =>
    Effect.tryPromise({ try: async () => decrypt(wrapped, keyId), catch: (error) => error }),
})

/** Has the key management service decrypt the keys that it has encrypted. Without one, nothing is done. */
const unwrapped = (keys: Redacted.Redacted<string>, service: KeyManagement | undefined) =>
  service === undefined
    ? Promise.resolve(keys)
    : Effect.runPromise(
        Effect.mapError(
          unwrapKeys(keys, toService(service)),
          (cause) => new ConfigurationError(cause.message, { cause }),
        ),
      )

/** The keys in the form that the domain takes. */
export const resolve = async ({
  encryptionKeys: keys,
  keyManagement,
}: BillingOptions): Promise<Redacted.Redacted<string> | "none" | undefined> =>
  keys === undefined || keys === "none"
    ? keys
    : read(keys, keyManagement, 'encryptionKeys must be a key, a list of keys, { file: "path" } or "none"')

/** Reads keys. `problem` is what to say if they have another form. */
export const read = async (
  keys: unknown,
  service: KeyManagement | undefined,
  problem: string,
): Promise<Redacted.Redacted<string>> => {
  if (typeof keys === "string") return unwrapped(Redacted.make(keys), service)
  if (Array.isArray(keys)) return unwrapped(Redacted.make(keys.join("\n")), service)
  const { file } = (keys ?? {}) as { readonly file?: unknown }
  if (typeof file === "string") return readFile(file)
  throw new ConfigurationError(problem)
}
