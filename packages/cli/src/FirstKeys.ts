/**
 * Issues the first API keys of a new store, so that somebody can sign in.
 */
import { ApiKeys, CurrentTenant, Idempotency, type StorageError, Tenant } from "@billwright/core"
import type { PrivateFile } from "@billwright/node"
import { Effect, Option, Redacted, Schedule } from "effect"

/** A key of one mode. It is shown only once. */
export interface FirstKey {
  readonly mode: Tenant.Mode
  readonly secret: string
}

const MODES = ["test", "live"] as const
const NAMES = { test: "first test key", live: "first live key" } as const

/** Servers that start on one store at the same time issue its first keys once: as one request does something once. */
const REQUEST = { method: "START", path: "first keys", key: "first keys", fingerprint: "" }
/** How often it is looked whether another server, which is at it, has issued them. */
const LOOK_AGAIN = Schedule.spaced("100 millis")
/** How often at most: for 5 seconds. */
const MAX_LOOKS = 50

const tenantOf = (mode: Tenant.Mode): Tenant.Tenant => ({ accountId: Tenant.defaultAccountId, mode })

const hasKeys = (mode: Tenant.Mode): Effect.Effect<boolean, StorageError, ApiKeys> =>
  Effect.gen(function* () {
    const { data } = yield* (yield* ApiKeys).list({ limit: 1 })
    return data.length > 0
  }).pipe(
    // The library's own input breaks no rule.
    Effect.catchTag("InvalidInput", Effect.die),
    Effect.provideService(CurrentTenant, tenantOf(mode)),
  )

const issueFor = (mode: Tenant.Mode): Effect.Effect<FirstKey, StorageError, ApiKeys> =>
  Effect.gen(function* () {
    const { secret } = yield* (yield* ApiKeys).issue({ name: NAMES[mode] })
    return { mode, secret: Redacted.value(secret) }
  }).pipe(Effect.catchTag("InvalidInput", Effect.die), Effect.provideService(CurrentTenant, tenantOf(mode)))

const withoutKeys = Effect.filter(MODES, (mode) => Effect.map(hasKeys(mode), (found) => !found))

/** Keeps keys where somebody finds them, before they count. Run again with other keys when the transaction is. */
export type Keep = (keys: ReadonlyArray<FirstKey>) => Effect.Effect<void, PrivateFile.PrivateFileError>

/** Issues what is missing, in one transaction. Gives nothing when another server has. */
const issueOnce = Effect.fnUntraced(function* (keep: Keep) {
  const idempotency = yield* Idempotency
  let issued: ReadonlyArray<FirstKey> = []
  const issue = Effect.gen(function* () {
    issued = yield* Effect.forEach(yield* withoutKeys, issueFor)
    yield* keep(issued)
    // What is remembered of it tells no secret.
    return { status: 201, body: "" }
  })
  const { isReplay } = yield* idempotency.run(REQUEST, issue, () => Option.none())
  return isReplay ? [] : issued
})

/**
 * Issues a key for each mode of the default account that has none, one time for each store. When `keep` fails, none is
 * issued.
 */
export const ensure = (
  keep: Keep = () => Effect.void,
): Effect.Effect<
  ReadonlyArray<FirstKey>,
  StorageError | PrivateFile.PrivateFileError,
  ApiKeys | Idempotency
> =>
  Effect.gen(function* () {
    if ((yield* withoutKeys).length === 0) return []
    return yield* issueOnce(keep).pipe(
      Effect.retry({
        while: ({ _tag }) => _tag === "RequestInProgress",
        schedule: LOOK_AGAIN,
        times: MAX_LOOKS,
      }),
      Effect.catchTag("RequestInProgress", () => Effect.succeed([])),
      Effect.catchTag("IdempotencyKeyReused", Effect.die),
      Effect.provideService(CurrentTenant, tenantOf("test")),
    )
  })
