/**
 * Encryption keys that a key management service has encrypted ("wrapped"): envelope encryption.
 *
 * The text of the keys then has entries `<id>:wrapped:<base64>`. Whoever reads that text learns no key. A process that
 * may use the service has the keys decrypted once, at its start, and keeps them in memory. So the service is asked for
 * no single secret, webhooks go on when it is out of reach, and the service's log has each start.
 */
import { Effect, Redacted, Schema } from "effect"
import { fromBase64, toBase64 } from "../shared/Base64.ts"
import { answerWithin } from "../shared/OutsideCall.ts"
import { entriesOf, InvalidKeyring, KEY_BYTES } from "./Keyring.ts"

/** How long the service may take for a key. */
const DEADLINE_MILLIS = 10_000
/** Most bytes of a wrapped key. Services add at most a few hundred to the 32 of the key. */
const MAX_WRAPPED_BYTES = 8_192
/** Most characters of the service's own message that an error repeats. */
const MAX_MESSAGE = 300

/** `<id>:wrapped:<base64>`. Other entries are left to `Keyring.layer`. */
const WRAPPED = /^([^:]*):wrapped:(.*)$/

/** A key management service, such as AWS KMS, Google Cloud KMS, Azure Key Vault or the transit engine of Vault. */
export interface KeyManagement {
  /**
   * Decrypts a key that the service has encrypted, and gives its 32 bytes. `keyId` is the id of the entry.
   *
   * Called once for each wrapped key, for all of them at the same time. An answer that takes longer than 10 s is a
   * failure.
   */
  readonly decrypt: (wrapped: Uint8Array, keyId: string) => Effect.Effect<Uint8Array, unknown>
}

/** The key management service did not decrypt a key. The message has what the service said, but no key. */
export class KeyManagementFailed extends Schema.TaggedError<KeyManagementFailed>()("KeyManagementFailed", {
  /** The id of the key. */
  keyId: Schema.String,
  problem: Schema.String,
}) {
  override get message(): string {
    return `the key management service did not decrypt the key "${this.keyId}": ${this.problem}`
  }
}

const problemOf = (error: unknown): string =>
  (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, MAX_MESSAGE)

const unwrapEntry = (entry: string, { decrypt }: KeyManagement) =>
  Effect.gen(function* () {
    const [, keyId = "", base64 = ""] = WRAPPED.exec(entry) ?? []
    if (keyId === "") return entry
    const wrapped = fromBase64(base64)
    if (wrapped === undefined || wrapped.length === 0 || wrapped.length > MAX_WRAPPED_BYTES) {
      const problem = `the wrapped key "${keyId}" is not base64 of 1 to ${MAX_WRAPPED_BYTES} bytes`
      return yield* new InvalidKeyring({ problem })
    }
    const failed = (problem: string) => new KeyManagementFailed({ keyId, problem })
    const bytes = yield* answerWithin(
      () => Effect.mapError(decrypt(wrapped, keyId), (error) => failed(problemOf(error))),
      DEADLINE_MILLIS,
      (error) => failed(problemOf(error)),
    )
    if (!(bytes instanceof Uint8Array) || bytes.length !== KEY_BYTES) {
      return yield* failed(`it did not answer ${KEY_BYTES} bytes`)
    }
    return `${keyId}:${toBase64(bytes)}`
  })

/**
 * Replaces the wrapped keys of a text by what the service decrypts them to, in the form that `Keyring.layer` takes. The
 * other entries stay as they are.
 *
 * Fails with `KeyManagementFailed` when the service fails, takes longer than 10 s or gives anything but 32 bytes, and
 * with `InvalidKeyring` for a wrapped key that is not base64, and for more than 20 keys.
 */
export const unwrapKeys = (
  keys: Redacted.Redacted<string>,
  service: KeyManagement,
): Effect.Effect<Redacted.Redacted<string>, InvalidKeyring | KeyManagementFailed> =>
  Effect.gen(function* () {
    const entries = yield* entriesOf(keys)
    const plain = yield* Effect.forEach(entries, (entry) => unwrapEntry(entry, service), {
      concurrency: "unbounded",
    })
    return Redacted.make(plain.join(","))
  }).pipe(Effect.withSpan("unwrapKeys"))
