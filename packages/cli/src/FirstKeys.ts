/**
 * The keys that a new store starts with, so that there is something to sign in with.
 */
import { ApiKeys, CurrentTenant, type StorageError, Tenant } from "@billwright/core"
import { Effect, Redacted } from "effect"

/** A key of one mode, shown once. */
export interface FirstKey {
  readonly mode: Tenant.Mode
  readonly secret: string
}

const NAMES = { test: "first test key", live: "first live key" } as const

const issueFor = (mode: Tenant.Mode): Effect.Effect<FirstKey | undefined, StorageError, ApiKeys> =>
  Effect.gen(function* () {
    const keys = yield* ApiKeys
    const { data } = yield* keys.list({ limit: 1 })
    if (data.length > 0) return undefined
    const { secret } = yield* keys.issue({ name: NAMES[mode] })
    return { mode, secret: Redacted.value(secret) }
  }).pipe(
    // The library's own input breaks no rule.
    Effect.catchTag("InvalidInput", Effect.die),
    Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode }),
  )

/** Issues a key for each mode of the default account that has none. */
export const ensure: Effect.Effect<ReadonlyArray<FirstKey>, StorageError, ApiKeys> = Effect.forEach(
  ["test", "live"] as const,
  issueFor,
).pipe(Effect.map((keys) => keys.filter((key) => key !== undefined)))
