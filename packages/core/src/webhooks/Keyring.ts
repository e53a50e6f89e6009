/**
 * Encrypts stored secrets with AES-256-GCM under one of several keys.
 *
 * The first key encrypts, and all keys decrypt. So a key can be replaced without an outage: add the new key after the
 * old one in every process, then move it to the front, run `rotateEncryption`, and remove the old key.
 *
 * The additional data of the encryption binds a secret to its context: a secret that was copied to another row can't be
 * decrypted. A secret without encryption is refused too, because otherwise anyone who can write the table could replace
 * secrets with their own. The entry `plain` allows such secrets while they are being encrypted.
 */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { fromBase64, toBase64 } from "../shared/Base64.ts"
import type { Mode } from "../shared/Tenant.ts"

/** Bytes of a key: AES-256. */
export const KEY_BYTES = 32
/**
 * Bytes of a nonce, as GCM recommends (NIST SP 800-38D §8.2). Nonces are random, so a key must not encrypt more than 2^32
 * times.
 */
const NONCE_BYTES = 12
/** Most keys of a keyring. */
const MAX_KEYS = 20

const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/
/** The key id of secrets without encryption. As an entry among the keys, it allows such secrets to be opened. */
export const PLAIN = "plain"

/** A stored secret: `<key id>.<base64 of nonce, ciphertext and tag>`, or `plain.<secret>` without encryption. */
export type SealedSecret = string

/** The text of the encryption keys is not valid. The message never contains a key. */
export class InvalidKeyring extends Schema.TaggedError<InvalidKeyring>()("InvalidKeyring", {
  problem: Schema.String,
  /** What the keys are for. Default: encryption. */
  purpose: Schema.optionalKey(Schema.Literal("link")),
}) {
  override get message(): string {
    return `the ${this.purpose ?? "encryption"} keys are not valid: ${this.problem}`
  }
}

/** A secret of live mode can't be stored, because there is no encryption key. */
export class EncryptionKeyRequired extends Schema.TaggedError<EncryptionKeyRequired>()(
  "EncryptionKeyRequired",
  {},
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return "live webhook endpoints need an encryption key for their secrets: configure one first"
  }
}

/** A stored secret can't be decrypted: its key is missing from the keyring, or it was changed or moved. */
export class SecretUnavailable extends Schema.TaggedError<SecretUnavailable>()("SecretUnavailable", {
  /** The id of the key that sealed it. */
  keyId: Schema.String,
}) {
  override get message(): string {
    if (this.keyId === PLAIN) {
      return `a stored secret is not encrypted, which is refused when there are encryption keys: add "${PLAIN}" after the keys until rotate-encryption has encrypted it`
    }
    return `a secret that was encrypted with the key "${this.keyId}" cannot be decrypted`
  }
}

/** Encrypts (seals) and decrypts (opens) secrets. */
export class Keyring extends Context.Service<
  Keyring,
  {
    /** The id of the key that seals. */
    readonly primaryKeyId: string
    /** The ids of all keys that open secrets. */
    readonly keyIds: ReadonlyArray<string>
    /** The modes whose secrets can be sealed. Without encryption only `test`, unless the layer is `layerPlain`. */
    readonly modes: ReadonlyArray<Mode>
    /** Encrypts a secret. `context` names the row that it is stored in. Opening it needs the same context. */
    readonly seal: (secret: Redacted.Redacted<string>, context: string) => Effect.Effect<SealedSecret>
    readonly open: (
      sealed: SealedSecret,
      context: string,
    ) => Effect.Effect<Redacted.Redacted<string>, SecretUnavailable>
  }
>()("@billwright/core/webhooks/Keyring") {
  /**
   * Reads the keys from a text such as `BILLWRIGHT_ENCRYPTION_KEYS`: entries `id:base64` of 32 bytes, separated by
   * commas or white space. The first key seals. The entry `plain` after the keys allows secrets that were stored without
   * encryption, until `rotateEncryption` has encrypted them. Keys that a key management service has encrypted come from
   * `unwrapKeys`.
   */
  static readonly layer = (keys: Redacted.Redacted<string>): Layer.Layer<Keyring, InvalidKeyring> =>
    Layer.effect(Keyring, Effect.flatMap(parse(keys), make))

  /** Stores secrets of both modes without encryption. For databases that are encrypted as a whole. */
  static readonly layerPlain: Layer.Layer<Keyring> = Layer.sync(Keyring, () => plain(["live", "test"]))

  /** The default without a key: stores secrets of test mode without encryption, and refuses those of live mode. */
  static readonly layerTestOnly: Layer.Layer<Keyring> = Layer.sync(Keyring, () => plain(["test"]))
}

/** Makes a new key with the given id, in the form that `Keyring.layer` takes. */
export const generateKey = (id: string): Redacted.Redacted<string> =>
  Redacted.make(`${id}:${toBase64(crypto.getRandomValues(new Uint8Array(KEY_BYTES)))}`)

/** A key, with its bytes kept out of logs. */
export interface RawKey {
  readonly id: string
  readonly bytes: Redacted.Redacted<Uint8Array<ArrayBuffer>>
}

const invalid = (problem: string) => Effect.fail(new InvalidKeyring({ problem }))

interface Parsed {
  /** The first key seals. */
  readonly keys: ReadonlyArray<RawKey>
  /** Whether secrets without encryption are opened, too. */
  readonly takesPlain: boolean
}

/** The entries of a text of keys. */
export const entriesOf = (
  text: Redacted.Redacted<string>,
): Effect.Effect<ReadonlyArray<string>, InvalidKeyring> => {
  const entries = Redacted.value(text)
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
  if (entries.length === 0) return invalid("there are no keys")
  if (entries.length > MAX_KEYS) return invalid(`there are more than ${MAX_KEYS} keys`)
  return Effect.succeed(entries)
}

const parse = Effect.fnUntraced(function* (
  text: Redacted.Redacted<string>,
): Effect.fn.Return<Parsed, InvalidKeyring> {
  const entries = yield* entriesOf(text)
  const keys: Array<RawKey> = []
  for (const [index, entry] of entries.entries()) {
    if (entry === PLAIN && index > 0) continue
    const colon = entry.indexOf(":")
    const id = entry.slice(0, colon)
    if (colon === -1 || !KEY_ID.test(id) || id === PLAIN) {
      return yield* invalid(
        `entry ${index + 1} must be an id of letters, digits, - or _, then a colon and a key`,
      )
    }
    const key = entry.slice(colon + 1)
    if (key.startsWith("wrapped:")) {
      return yield* invalid(`the key "${id}" is wrapped, and no key management service was given`)
    }
    const bytes = fromBase64(key)
    if (bytes?.length !== KEY_BYTES) {
      return yield* invalid(`the key "${id}" is not ${KEY_BYTES} bytes of base64`)
    }
    if (keys.some((other) => other.id === id)) return yield* invalid(`the id "${id}" is used twice`)
    keys.push({ id, bytes: Redacted.make(bytes) })
  }
  return { keys, takesPlain: entries.includes(PLAIN) }
})

/** Reads keys that sign links for payers, in the same form. There is always one at least. */
export const parseLinkKeys = (
  text: Redacted.Redacted<string>,
): Effect.Effect<readonly [RawKey, ...ReadonlyArray<RawKey>], InvalidKeyring> =>
  Effect.flatMap(
    Effect.mapError(parse(text), ({ problem }) => new InvalidKeyring({ problem, purpose: "link" })),
    ({ keys: [first, ...others], takesPlain }) =>
      first === undefined || takesPlain
        ? Effect.fail(new InvalidKeyring({ problem: `the entry "${PLAIN}" signs nothing`, purpose: "link" }))
        : Effect.succeed([first, ...others]),
  )

const additionalData = (keyId: string, context: string): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(`billwright:${keyId}:${context}`)

const make = Effect.fnUntraced(function* ({ keys: raw, takesPlain }: Parsed) {
  const keys = new Map<string, CryptoKey>()
  for (const { bytes, id } of raw) {
    const key = yield* Effect.promise(() =>
      crypto.subtle.importKey("raw", Redacted.value(bytes), "AES-GCM", false, ["encrypt", "decrypt"]),
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
