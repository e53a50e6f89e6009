/**
 * Secrets at rest: encrypted with AES-256-GCM under one of several keys.
 *
 * The first key encrypts, all of them decrypt, so that keys are changed gradually: put the new key behind the old one
 * in every process, then first, let `rotateEncryption` go through what is stored, take the old key away. What is sealed
 * is bound to its context by additional data: moved to another row it does not open. Nor does a secret that isn't
 * encrypted, unless the keys say so for a change-over: whoever may write the table could put one of their own in
 * place of each.
 */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { fromBase64, toBase64 } from "../shared/Base64.ts"
import type { Mode } from "../shared/Tenant.ts"

/** Bytes of a key: AES-256. */
const KEY_BYTES = 32
/** Bytes of a nonce: what GCM is made for (NIST SP 800-38D §8.2). Random, so a key seals at most 2^32 times. */
const NONCE_BYTES = 12
/** Most keys of a keyring. */
const MAX_KEYS = 20

const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/
/** The key id that stands for no encryption, and the entry among keys that lets what was stored so be opened. */
const PLAIN = "plain"

/** `<key id>.<base64 of nonce, ciphertext and tag>`, or `plain.<secret>` where encryption was turned off. */
export type SealedSecret = string

/** A text is no keyring. The message never holds a key. */
export class InvalidKeyring extends Schema.TaggedError<InvalidKeyring>()("InvalidKeyring", {
  problem: Schema.String,
}) {
  override get message(): string {
    return `the encryption keys are not valid: ${this.problem}`
  }
}

/** There is no key to encrypt a live secret with. */
export class EncryptionKeyRequired extends Schema.TaggedError<EncryptionKeyRequired>()(
  "EncryptionKeyRequired",
  {},
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return "live webhook endpoints need an encryption key for their secrets: configure one first"
  }
}

/** What is sealed can't be opened with the keys at hand: its key is missing, or it was changed or moved. */
export class SecretUnavailable extends Schema.TaggedError<SecretUnavailable>()("SecretUnavailable", {
  /** The id of the key that sealed it. */
  keyId: Schema.String,
}) {
  override get message(): string {
    if (this.keyId === PLAIN) {
      return `a secret is stored without encryption, which is not taken beside encryption keys: put "${PLAIN}" behind them until it is encrypted (rotate-encryption)`
    }
    return `a secret that was encrypted with the key "${this.keyId}" cannot be decrypted`
  }
}

/** Seals and opens secrets. */
export class Keyring extends Context.Service<
  Keyring,
  {
    /** The id of the key that seals. */
    readonly primaryKeyId: string
    /** The ids of all that open. */
    readonly keyIds: ReadonlyArray<string>
    /** Modes whose secrets may be sealed: without encryption `test` alone, unless told otherwise. */
    readonly modes: ReadonlyArray<Mode>
    /** Encrypts. `context` names where it is stored, and is needed to open it. */
    readonly seal: (secret: Redacted.Redacted<string>, context: string) => Effect.Effect<SealedSecret>
    readonly open: (
      sealed: SealedSecret,
      context: string,
    ) => Effect.Effect<Redacted.Redacted<string>, SecretUnavailable>
  }
>()("@billwright/core/webhooks/Keyring") {
  /**
   * The keys of a text such as `BILLWRIGHT_ENCRYPTION_KEYS`: `id:base64` of 32 bytes, separated by commas or
   * white space; the first one seals. `plain` behind them lets secrets be opened that were stored without a key, until
   * `rotateEncryption` has encrypted them.
   */
  static readonly layer = (keys: Redacted.Redacted<string>): Layer.Layer<Keyring, InvalidKeyring> =>
    Layer.effect(Keyring, Effect.flatMap(parse(keys), make))

  /** Stores secrets as they are, in both modes: for databases that are encrypted as a whole. */
  static readonly layerPlain: Layer.Layer<Keyring> = Layer.sync(Keyring, () => plain(["live", "test"]))

  /** Stores the secrets of test mode as they are and takes none of live mode: what there is without a key. */
  static readonly layerTestOnly: Layer.Layer<Keyring> = Layer.sync(Keyring, () => plain(["test"]))
}

/** A new key with an id, as `layer` takes it. */
export const generateKey = (id: string): Redacted.Redacted<string> =>
  Redacted.make(`${id}:${toBase64(crypto.getRandomValues(new Uint8Array(KEY_BYTES)))}`)

interface RawKey {
  readonly id: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

const invalid = (problem: string) => Effect.fail(new InvalidKeyring({ problem }))

interface Parsed {
  /** The first one seals. */
  readonly keys: ReadonlyArray<RawKey>
  /** Whether what isn't encrypted is opened, too. */
  readonly takesPlain: boolean
}

const parse = (text: Redacted.Redacted<string>): Effect.Effect<Parsed, InvalidKeyring> => {
  const entries = Redacted.value(text)
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
  if (entries.length === 0) return invalid("there is none")
  if (entries.length > MAX_KEYS) return invalid(`there are more than ${MAX_KEYS}`)
  const keys: Array<RawKey> = []
  for (const [index, entry] of entries.entries()) {
    if (entry === PLAIN && index > 0) continue
    const colon = entry.indexOf(":")
    const id = entry.slice(0, colon)
    if (colon === -1 || !KEY_ID.test(id) || id === PLAIN) {
      return invalid(`entry ${index + 1} is not an id of letters, digits, - or _, a colon and a key`)
    }
    const bytes = fromBase64(entry.slice(colon + 1))
    if (bytes?.length !== KEY_BYTES) return invalid(`the key "${id}" is not ${KEY_BYTES} bytes of base64`)
    if (keys.some((key) => key.id === id)) return invalid(`the id "${id}" is there twice`)
    keys.push({ id, bytes })
  }
  return Effect.succeed({ keys, takesPlain: entries.includes(PLAIN) })
}

const additionalData = (keyId: string, context: string): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(`billwright:${keyId}:${context}`)

const make = Effect.fnUntraced(function* ({ keys: raw, takesPlain }: Parsed) {
  const keys = new Map<string, CryptoKey>()
  for (const { bytes, id } of raw) {
    const key = yield* Effect.promise(() =>
      crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]),
    )
    keys.set(id, key)
  }
  const primaryKeyId = raw[0]!.id

  const seal = (secret: Redacted.Redacted<string>, context: string) =>
    Effect.promise(async () => {
      const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
      const text = new TextEncoder().encode(Redacted.value(secret))
      const sealed = await crypto.subtle.encrypt(
        { name: "AES-GCM", iv, additionalData: additionalData(primaryKeyId, context) },
        keys.get(primaryKeyId)!,
        text,
      )
      return `${primaryKeyId}.${toBase64(new Uint8Array([...iv, ...new Uint8Array(sealed)]))}`
    })

  const open = (sealed: SealedSecret, context: string) => {
    const keyId = keyIdOf(sealed)
    if (keyId === PLAIN && takesPlain) return openPlain(sealed)
    const key = keys.get(keyId)
    const bytes = fromBase64(sealed.slice(keyId.length + 1))
    if (key === undefined || bytes === undefined) return Effect.fail(new SecretUnavailable({ keyId }))
    return Effect.tryPromise({
      try: async () => {
        const text = await crypto.subtle.decrypt(
          {
            name: "AES-GCM",
            iv: bytes.subarray(0, NONCE_BYTES),
            additionalData: additionalData(keyId, context),
          },
          key,
          bytes.subarray(NONCE_BYTES),
        )
        return Redacted.make(new TextDecoder().decode(text))
      },
      catch: () => new SecretUnavailable({ keyId }),
    })
  }

  const keyIds = [...keys.keys(), ...(takesPlain ? [PLAIN] : [])]
  return Keyring.of({ primaryKeyId, keyIds, modes: ["live", "test"], seal, open })
})

const plain = (modes: ReadonlyArray<Mode>) =>
  Keyring.of({
    primaryKeyId: PLAIN,
    keyIds: [PLAIN],
    modes,
    seal: (secret) => Effect.succeed(`${PLAIN}.${Redacted.value(secret)}`),
    open: (sealed) => openPlain(sealed),
  })

/** The id of the key that sealed a secret. */
export const keyIdOf = (sealed: SealedSecret): string => sealed.slice(0, Math.max(sealed.indexOf("."), 0))

const openPlain = (sealed: SealedSecret): Effect.Effect<Redacted.Redacted<string>, SecretUnavailable> => {
  const keyId = keyIdOf(sealed)
  return keyId === PLAIN
    ? Effect.succeed(Redacted.make(sealed.slice(PLAIN.length + 1)))
    : Effect.fail(new SecretUnavailable({ keyId }))
}
