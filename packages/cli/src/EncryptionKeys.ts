import { randomBytes } from "node:crypto"
/**
 * `billwright keys new-encryption-key` and `rotate-encryption`: the keys that webhook secrets are encrypted with.
 */
import { Billing, Endpoints, generateKey } from "@billwright/core"
import { Console, Effect, Layer, Redacted } from "effect"
import { Command } from "effect/cli"
import * as Encryption from "./Encryption.ts"
import type { Failure } from "./Failure.ts"
import * as Store from "./Store.ts"
import { json } from "./TenantFlags.ts"

/** A random id, which reveals nothing about the key. */
const newKeyId = (): string => `key_${randomBytes(4).toString("hex")}`

export const newEncryptionKey = Command.make(
  "new-encryption-key",
  {},
  Effect.fn(function* () {
    yield* Console.log(Redacted.value(generateKey(newKeyId())))
  }),
).pipe(Command.withDescription("Print a new key for BILLWRIGHT_ENCRYPTION_KEYS"))

/** `Endpoints` with the encryption keys of the options. */
const services = (options: Store.DatabaseOptions): Layer.Layer<Endpoints, Failure> =>
  Layer.unwrap(
    Effect.gen(function* () {
      // Checked before the next line, which may create a key file in the data directory.
      yield* Store.requireData(options)
      const encryption = yield* Encryption.keys({ ...options, allowPlaintextSecrets: false })
      return Billing.layerWith({ encryption }).pipe(Layer.provide(Store.layerBeside(options)))
    }),
  )

/** Encrypts secrets again in batches, and prints the progress after each. */
const rotateAll = Effect.fnUntraced(function* (isQuiet: boolean) {
  const endpoints = yield* Endpoints
  let count = 0
  for (;;) {
    const changed = yield* endpoints.rotateEncryption
    if (changed === 0) return count
    count += changed
    if (!isQuiet) yield* Console.error(`${count} endpoints so far`)
  }
})

export const rotateEncryption = Command.make(
  "rotate-encryption",
  { ...Store.databaseFlags, json },
  Effect.fn(function* (options) {
    const count = yield* rotateAll(options.json).pipe(
      Effect.catchTag("SecretUnavailable", ({ message }) =>
        Effect.fail(new Store.Misconfigured({ message: `${message}: add this key behind the first one` })),
      ),
      Effect.provide(services(options)),
    )
    if (options.json) return yield* Console.log(JSON.stringify({ endpoints: count }))
    return yield* Console.log(
      count === 0
        ? "All webhook secrets are already encrypted with the first key."
        : `The secrets of ${count} webhook ${count === 1 ? "endpoint" : "endpoints"} are now encrypted with the first key.`,
    )
  }),
).pipe(
  Command.withDescription("Encrypt webhook secrets with the first of the encryption keys, while servers run"),
)
