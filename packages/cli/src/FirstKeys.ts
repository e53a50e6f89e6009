/**
 * Issues the first API keys of a new store, so that somebody can sign in.
 */
import { ApiKeys, CurrentTenant, Idempotency, type StorageError, Tenant } from "@billwright/core"
import type { PrivateFile } from "@billwright/node"
import { Effect, Option, Redacted, Schedule } from "effect"

/** The first key of a mode. Its secret is shown only once. */
export interface FirstKey {
  readonly mode: Tenant.Mode
  readonly secret: string
}

const MODES = ["test", "live"] as const
const NAMES = { test: "first test key", live: "first live key" } as const

/**
 * An idempotent request. When several servers start at the same time on one store, all of them send it, and the keys
 * are issued once.
 */
const REQUEST = { method: "START", path: "first keys", key: "first keys", fingerprint: "" }
/** While another server issues the keys: how long to wait before looking again. */
const LOOK_AGAIN = Schedule.spaced("100 millis")
/** How often to look again at most: for 5 seconds. */
const MAX_LOOKS = 50

const tenantOf = (mode: Tenant.Mode): Tenant.Tenant => ({ accountId: Tenant.defaultAccountId, mode })

const hasKeys = (mode: Tenant.Mode): Effect.Effect<boolean, StorageError, ApiKeys> =>
  Effect.gen(function* () {
    const { data } = yield* (yield* ApiKeys).list({ limit: 1 })
    return data.length > 0
  }).pipe(
    // The input is a constant, and it is valid.
    Effect.catchTag("InvalidInput", Effect.die),
    Effect.provideService(CurrentTenant, tenantOf(mode)),
  )

const issueFor = (mode: Tenant.Mode): Effect.Effect<FirstKey, StorageError, ApiKeys> =>
  Effect.gen(function* () {
    const { secret } = yield* (yield* ApiKeys).issue({ name: NAMES[mode] })
    return { mode, secret: Redacted.value(secret) }
  }).pipe(Effect.catchTag("InvalidInput", Effect.die), Effect.provideService(CurrentTenant, tenantOf(mode)))

const withoutKeys = Effect.filter(MODES, (mode) => Effect.map(hasKeys(mode), (found) => !found))

/**
 * Saves new keys before their transaction commits, so that no key is valid that nobody knows. When the transaction is
 * run again, this is called again, with other keys.
 */
export type Keep = (keys: ReadonlyArray<FirstKey>) => Effect.Effect<void, PrivateFile.PrivateFileError>

/** Issues the missing keys in one transaction. Returns no keys when another server has issued them. */
const issueOnce = Effect.fnUntraced(function* (keep: Keep) {
  const idempotency = yield* Idempotency
  let issued: ReadonlyArray<FirstKey> = []
  const issue = Effect.gen(function* () {
    issued = yield* Effect.forEach(yield* withoutKeys, issueFor)
    yield* keep(issued)
    // This answer is stored, so it must not contain a secret. An empty one would be that of somebody who was erased.
    return { status: 201, body: "{}" }
  })
  const { isReplay } = yield* idempotency.run(REQUEST, issue, () => Option.none())
  return isReplay ? [] : issued
})

/**
 * Issues a key for each mode of the default account that has no key. It does so once per store. When `keep` fails, no
 * key is issued.
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
      // Servers of older releases stored an empty answer.
      Effect.catchTag(["AnswerErased", "RequestInProgress"], () => Effect.succeed([])),
      Effect.catchTag("IdempotencyKeyReused", Effect.die),
      Effect.provideService(CurrentTenant, tenantOf("test")),
    )
  })
