/**
 * Checks before billing starts, so that mistakes are reported at the start instead of failing later.
 */
import { EventCatalogue, problemOfStoredSecrets } from "@billwright/core"
import { Effect } from "effect"
import type { BillingOptions } from "../BillingOptions.ts"
import { ConfigurationError } from "../errors/RuntimeError.ts"

/** How `createBilling` names its keys, and that it sends nothing. */
const NAMES = { keys: "encryptionKeys", sendNothing: "pass dispatcher: false" }

/**
 * A process that sends webhooks needs the keys of all stored secrets: deliveries to the other endpoints would fail.
 */
const secrets = Effect.fnUntraced(function* ({ dispatcher, encryptionKeys }: BillingOptions) {
  // This process doesn't use secrets.
  if (dispatcher === false && encryptionKeys === undefined) return
  const problem = yield* problemOfStoredSecrets(NAMES)
  if (problem === undefined) return
  // The processes that send webhooks may have the key, so this is only a warning.
  if (dispatcher === false) return yield* Effect.logWarning(problem)
  return yield* Effect.fail(new ConfigurationError(problem))
})

/** Not logged for memory, which is mostly used for trying things out. */
const liveEndpoints = ({ dispatcher, encryptionKeys, mode, store }: BillingOptions) =>
  encryptionKeys === undefined && dispatcher !== false && mode !== "test" && store.kind !== "memory"
    ? Effect.logInfo(
        "no encryptionKeys were given, so webhook endpoints can be created in test mode only (generateEncryptionKey() makes a key)",
      )
    : Effect.void

const replacedTypes = ({ events = [] }: BillingOptions) =>
  Effect.forEach(
    events.filter(({ name }) => EventCatalogue.builtIn.some((type) => type.name === name)),
    ({ name }) => Effect.logWarning(`the definition of "${name}" replaces the built-in event type`),
    { discard: true },
  )

/** Fails with a `ConfigurationError`. What may be intended is only logged. */
export const run = (options: BillingOptions) =>
  Effect.all([secrets(options), liveEndpoints(options), replacedTypes(options)], { discard: true })
