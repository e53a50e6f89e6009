/**
 * What is looked at before billing starts, and better said then than by what fails later.
 */
import { checkStoredSecrets, EventCatalogue, Keyring } from "@billwright/core"
import { Effect } from "effect"
import type { BillingOptions } from "../BillingOptions.ts"
import { ConfigurationError } from "../errors/RuntimeError.ts"

const sentenceOf = (keyId: string, hasIt: boolean): string =>
  hasIt
    ? `there are webhook endpoints whose secrets another key "${keyId}" encrypted than the one in encryptionKeys: pass that one, or dispatcher: false if others send`
    : `there are webhook endpoints whose secrets the key "${keyId}" encrypted: pass it in encryptionKeys, behind the first one, or dispatcher: false if others send`

/** Who sends needs the keys of all secrets: without them every delivery would fail. */
const secrets = Effect.fnUntraced(function* ({ dispatcher, encryptionKeys }: BillingOptions) {
  // It does nothing with secrets.
  if (dispatcher === false && encryptionKeys === undefined) return
  const { keyIds } = yield* Keyring
  yield* Effect.catchTag(checkStoredSecrets, "SecretUnavailable", ({ keyId }) => {
    const sentence = sentenceOf(keyId, keyIds.includes(keyId))
    // Those that send may have it.
    return dispatcher === false ? Effect.logWarning(sentence) : Effect.fail(new ConfigurationError(sentence))
  })
})

/** Not in memory, where nothing is kept: trials begin there. */
const liveEndpoints = ({ dispatcher, encryptionKeys, mode, store }: BillingOptions) =>
  encryptionKeys === undefined && dispatcher !== false && mode !== "test" && store.kind !== "memory"
    ? Effect.logInfo(
        "no encryptionKeys were given: webhook endpoints can be created in test mode, and none in live mode (generateEncryptionKey() makes a key)",
      )
    : Effect.void

const replacedTypes = ({ events = [] }: BillingOptions) =>
  Effect.forEach(
    events.filter(({ name }) => EventCatalogue.builtIn.some((type) => type.name === name)),
    ({ name }) => Effect.logWarning(`the definition of "${name}" takes the place of the built-in event type`),
    { discard: true },
  )

/** Fails with a `ConfigurationError`; what is no mistake for certain is logged. */
export const run = (options: BillingOptions) =>
  Effect.all([secrets(options), liveEndpoints(options), replacedTypes(options)], { discard: true })
