/**
 * Finds the keys that encrypt webhook secrets.
 */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { type Billing, problemOfStoredSecrets } from "@billwright/core"
import { KeyFile } from "@billwright/node"
import { Config, Effect, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import { type KeyCommandFailure, unwrapped } from "./KeyCommand.ts"
import { type DatabaseOptions, explainConfig, Misconfigured } from "./Store.ts"

const VARIABLE = "BILLWRIGHT_ENCRYPTION_KEYS"
/** The file in the data directory of an embedded Postgres. */
const KEY_FILE = "encryption.keys"

export const allowPlaintextSecrets = Flag.Boolean("allow-plaintext-secrets").pipe(
  Flag.withDescription(
    "With --store postgres and no encryption keys: store webhook secrets in plain text. For databases that are encrypted as a whole.",
  ),
  Flag.withDefault(false),
)

export interface EncryptionOptions {
  readonly store: DatabaseOptions["store"] | "memory"
  readonly dataDir: string
  readonly allowPlaintextSecrets: boolean
}

/** The errors of reading the keys. */
export type EncryptionFailure = KeyCommandFailure | KeyFile.KeyFileError | Misconfigured

/** The keys of an environment variable, unwrapped. An empty variable counts as not set. */
export const fromEnvironment = Effect.fnUntraced(function* (
  variable: string,
): Effect.fn.Return<Option.Option<Redacted.Redacted<string>>, KeyCommandFailure> {
  const given = yield* Config.option(Config.Redacted(variable)).pipe(Effect.mapError(explainConfig))
  const keys = Option.filter(given, (text) => Redacted.value(text).trim() !== "")
  return Option.isSome(keys) ? Option.some(yield* unwrapped(keys.value)) : keys
})

/** A key file is outside the database, so that a dump of the database doesn't contain the key. */
export const fromFile = (
  dataDir: string,
  name: string,
): Effect.Effect<Redacted.Redacted<string>, EncryptionFailure> =>
  Effect.andThen(
    Effect.tryPromise({
      try: () => mkdir(dataDir, { recursive: true, mode: 0o700 }),
      catch: (cause) => new Misconfigured({ message: `${dataDir} can't be created: ${String(cause)}` }),
    }),
    KeyFile.readOrMake(join(dataDir, name)),
  )

const missing = new Misconfigured({
  message:
    `--store postgres needs keys that encrypt webhook secrets: run "billwright keys new-encryption-key", ` +
    `set the environment variable ${VARIABLE} to what it prints, and keep that as safe as a password ` +
    `(or store the secrets in plain text: --allow-plaintext-secrets)`,
})

/**
 * The keys of the environment variable, or else those of the key file in the data directory, which is created if it
 * is missing. Storage in memory needs no keys, because nothing is stored on disk.
 */
export const keys = Effect.fnUntraced(function* (
  options: EncryptionOptions,
): Effect.fn.Return<NonNullable<Billing.BillingOptions["encryption"]>, EncryptionFailure> {
  const given = yield* fromEnvironment(VARIABLE)
  if (Option.isSome(given)) return given.value
  if (options.store === "memory") return "none"
  if (options.store === "embedded") return yield* fromFile(options.dataDir, KEY_FILE)
  return options.allowPlaintextSecrets ? "none" : yield* missing
})

/** Where the keys of the options are. */
const placeOf = ({ dataDir, store }: EncryptionOptions): string =>
  store === "embedded" ? `${VARIABLE} or ${join(dataDir, KEY_FILE)}` : VARIABLE

/**
 * Checks that the keys are those of the stored secrets, because a process that sends webhooks would fail deliveries otherwise.
 * One that sends none only logs what is wrong: those that send may have the key. A single damaged secret is only logged, too.
 */
export const check = Effect.fnUntraced(function* (
  options: EncryptionOptions & { readonly dispatch: boolean; readonly dispatchOnly: boolean },
) {
  const problem = yield* problemOfStoredSecrets({
    keys: placeOf(options),
    ...(options.dispatchOnly ? {} : { sendNothing: "pass --no-dispatch" }),
  })
  if (problem === undefined) return
  if (!options.dispatch) return yield* Effect.logWarning(problem)
  return yield* new Misconfigured({ message: problem })
})
