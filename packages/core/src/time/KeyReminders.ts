/**
 * Reminds of API keys that expire soon, by the event `api_key.expiring`. The reminder of a key is in the queue of billing
 * runs. A key that is rolled or revoked has none.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import { Outbox } from "../events/Outbox.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { type ApiKey, type ApiKeyId, isValidAt } from "../keys/ApiKey.ts"
import { ApiKeyStore } from "../keys/ApiKeyStore.ts"
import { apiKeyExpiring, apiKeyExpiringData } from "../keys/KeyEvents.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { type ClaimedSubject, DueStore } from "./DueStore.ts"

/** How long before its expiry a key is reminded of: a week. */
const REMINDER_MILLIS = 7 * 86_400_000
/** A key that lives no longer than this has no reminder: it was made to end by itself. */
const SHORT_LIFE_MILLIS = 2 * 86_400_000

/** When a key is reminded of, in epoch milliseconds: a week before it expires, or after half of its life. `null`: never. */
const reminderAt = ({ createdAt, expiresAt }: Pick<ApiKey, "createdAt" | "expiresAt">): number | null => {
  if (expiresAt === null) return null
  const life = expiresAt.epochMilliseconds - createdAt.epochMilliseconds
  return life <= SHORT_LIFE_MILLIS
    ? null
    : expiresAt.epochMilliseconds - Math.min(REMINDER_MILLIS, Math.floor(life / 2))
}

/**
 * The store of keys, which puts the reminder of a new key in the queue, and takes it off when the key is rolled or revoked.
 * A storage without the queue has no reminders.
 */
export const layer: Layer.Layer<ApiKeyStore, never, ApiKeyStore | Transactor> = Layer.effect(
  ApiKeyStore,
  Effect.gen(function* () {
    const store = yield* ApiKeyStore
    const { atomically } = yield* Transactor
    const found = yield* Effect.serviceOption(DueStore)
    if (Option.isNone(found)) return store
    const remind = (id: ApiKeyId, at: number | null) => found.value.schedule({ kind: "api_key", id }, at)
    return ApiKeyStore.of({
      ...store,
      insert: (stored) => {
        const at = reminderAt(stored.key)
        const inserted = store.insert(stored)
        return at === null ? inserted : atomically(Effect.andThen(inserted, remind(stored.key.id, at)))
      },
      revoke: (id, at) => atomically(Effect.tap(store.revoke(id, at), () => remind(id, null))),
      expire: (id, at) => atomically(Effect.tap(store.expire(id, at), () => remind(id, null))),
    })
  }),
)

/** Makes the work on a reminder that a runner has claimed. */
export const makeReminderRun = Effect.gen(function* () {
  const duePort = yield* optionalPort(DueStore)
  const store = yield* ApiKeyStore
  const outbox = yield* Outbox
  const { atomically } = yield* Transactor

  return (
    claimed: ClaimedSubject,
    id: ApiKeyId,
  ): Effect.Effect<void, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant> =>
    Effect.gen(function* () {
      const due = yield* duePort
      if (!(yield* due.holds(claimed))) return
      yield* due.schedule({ kind: "api_key", id }, null)
      const key = Option.getOrUndefined(yield* store.find(id))
      const now = (yield* DateTime.now).epochMilliseconds
      if (key === undefined || key.expiresAt === null || !isValidAt(key, now)) return
      yield* outbox.publish(apiKeyExpiring, apiKeyExpiringData(key, key.expiresAt))
    }).pipe(atomically)
})
