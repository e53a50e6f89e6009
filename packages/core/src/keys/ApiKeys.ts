/**
 * The use cases of API keys.
 */
import { Context, DateTime, Effect, Layer, Option, type Redacted, Schema } from "effect"
import type { Actor } from "../shared/Actor.ts"
import * as ById from "../shared/ById.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant, type Mode, type Tenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import {
  API_KEY_ID_PREFIX,
  type ApiKey,
  ApiKeyId,
  ApiKeyNotFound,
  isAllowedFrom,
  IssueApiKey,
  isValidAt,
  ListApiKeys,
  ROLES,
  RollApiKey,
  Unauthorized,
} from "./ApiKey.ts"
import * as ApiKeySecret from "./ApiKeySecret.ts"
import { ApiKeyStore, type StoredApiKey } from "./ApiKeyStore.ts"

/** How long the look-up of a valid key may be reused: 3 s. A key revoked in another process may work for this long. */
const MAX_CACHE_MILLIS = 3_000
/** Most keys whose look-ups are cached. */
const MAX_CACHED_KEYS = 10_000
/** The least maximum age of keys. */
const MIN_MAX_AGE_MILLIS = 60_000
/** `lastUsedAt` is written at most this often for a key. */
const TOUCH_INTERVAL_MILLIS = 60_000

export interface ApiKeysOptions {
  /**
   * A secret that is part of the digests, so that a stolen database is not enough to check keys. Keep it for ever: keys
   * issued with another pepper are refused.
   */
  readonly pepper?: Redacted.Redacted<string>
  /**
   * How long a key may be valid at most, in milliseconds: at least a minute. An older key is refused, also one that was
   * issued before this was set. A key that is issued without `expiresAt` expires then. Default: no limit.
   */
  readonly maxAgeMillis?: number
  /** How long the look-up of a valid key is reused, in milliseconds: 0 to 3,000. Default 3,000. */
  readonly cacheMillis?: number
}

/** A new key with its secret. The secret can't be read again later. */
export interface IssuedApiKey {
  readonly key: ApiKey
  readonly secret: Redacted.Redacted<string>
}

/** A key that was verified, and the tenant that it acts for. */
export interface VerifiedApiKey {
  readonly key: ApiKey
  readonly tenant: Tenant
  /** The person who acts, if the host has authorized one instead of a key. */
  readonly operator?: Pick<Actor, "id" | "role">
}

/**
 * The IP address that the current request comes from. It is asked for only if the key has networks. Default: unknown, so
 * that such a key is refused.
 */
export const ClientAddress = Context.Reference<() => string | undefined>(
  "@billwright/core/keys/ClientAddress",
  { defaultValue: () => () => undefined },
)

/** Issues, verifies, rolls and revokes API keys. Secrets are `Redacted` throughout and stored as digests. */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /** Makes a key for the current tenant. */
    readonly issue: (
      input: IssueApiKey,
    ) => Effect.Effect<IssuedApiKey, InvalidInput | StorageError, CurrentTenant>

    /**
     * The key and tenant of a secret. Fails with `Unauthorized` for every secret that is not valid, whatever the reason.
     * A revocation counts at once in this process, and within 3 seconds in others. A key with networks is valid only where
     * `ClientAddress` is in one of them.
     *
     * Each run of the effect verifies the secret again. Running the same effect again saves computing its digest.
     */
    readonly verify: (
      secret: Redacted.Redacted<string>,
    ) => Effect.Effect<VerifiedApiKey, Unauthorized | StorageError>

    /**
     * Makes a key like the old one, valid for as long as that was when it was issued. The old one expires after the grace
     * time; by default at once. A key can be rolled once. After that, roll the new one.
     */
    readonly roll: (
      id: string,
      input?: RollApiKey,
    ) => Effect.Effect<IssuedApiKey, InvalidInput | ApiKeyNotFound | StorageError, CurrentTenant>

    /** Revokes a key for good. Revoking it again changes nothing. */
    readonly revoke: (id: string) => Effect.Effect<ApiKey, ApiKeyNotFound | StorageError, CurrentTenant>

    readonly get: (id: string) => Effect.Effect<ApiKey, ApiKeyNotFound | StorageError, CurrentTenant>

    /** All keys, also revoked and expired ones, newest first. */
    readonly list: (
      query?: ListApiKeys,
    ) => Effect.Effect<Page<ApiKey>, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/keys/ApiKeys") {
  static readonly layerWith = (options: ApiKeysOptions) =>
    Layer.effect(
      ApiKeys,
      Effect.suspend(() => make(options)),
    )

  static readonly layer = ApiKeys.layerWith({})
}

const decodeIssue = decoder(IssueApiKey)
const decodeRoll = decoder(RollApiKey)
const decodeList = decoder(ListApiKeys)
const isApiKeyId = Schema.is(ApiKeyId)
const { knownId, orNotFound } = ById.make(isApiKeyId, (id) => new ApiKeyNotFound({ id }))

const make = Effect.fnUntraced(function* (options: ApiKeysOptions) {
  const store = yield* ApiKeyStore
  const transactor = yield* Transactor
  const ids = yield* IdGenerator
  const digestOf = ApiKeySecret.digester(options.pepper)
  const cacheMillis = Math.min(options.cacheMillis ?? MAX_CACHE_MILLIS, MAX_CACHE_MILLIS)
  const cache = new Map<string, { readonly stored: StoredApiKey; readonly until: number }>()
  /** How often a key was dropped from the cache. A look-up that began before a drop must not be cached after it. */
  let forgotten = 0
  const touched = new Map<ApiKeyId, number>()

  const maxAgeMillis = Math.max(options.maxAgeMillis ?? Infinity, MIN_MAX_AGE_MILLIS)
  /** When a key expires that is issued now without an expiry. */
  const newestExpiry = (now: number): DateTime.Utc | null =>
    Number.isFinite(maxAgeMillis) ? DateTime.makeUnsafe(now + maxAgeMillis) : null

  const insert = Effect.fnUntraced(function* (
    fields: Pick<ApiKey, "name" | "scopes" | "networks" | "creditLimits" | "expiresAt">,
  ) {
    const tenant = yield* CurrentTenant
    const secret = ApiKeySecret.generate(tenant.mode)
    const key: ApiKey = {
      id: ApiKeyId.make(yield* ids.next(API_KEY_ID_PREFIX)),
      accountId: tenant.accountId,
      mode: tenant.mode,
      name: fields.name,
      scopes: fields.scopes,
      networks: fields.networks,
      creditLimits: fields.creditLimits,
      hint: ApiKeySecret.hint(secret),
      createdAt: yield* DateTime.now,
      expiresAt: fields.expiresAt,
      revokedAt: null,
      lastUsedAt: null,
    }
    yield* store.insert({ key, digest: digestOf(secret) })
    const issued: IssuedApiKey = { key, secret }
    return issued
  })

  const issue = Effect.fn("ApiKeys.issue")(function* (input: IssueApiKey) {
    const { creditLimits = {}, expiresAt, name, networks = [], role, scopes } = yield* decodeIssue(input)
    if (role !== undefined && scopes !== undefined) {
      return yield* new InvalidInput({ field: "role", problem: "can't be given together with scopes" })
    }
    const now = (yield* DateTime.now).epochMilliseconds
    const expiry = expiresAt ?? newestExpiry(now)
    if (expiry !== null && expiry.epochMilliseconds <= now) {
      return yield* new InvalidInput({ field: "expiresAt", problem: "must be in the future" })
    }
    if (expiry !== null && expiry.epochMilliseconds > now + maxAgeMillis) {
      const problem = `must be at most ${maxAgeMillis} ms from now, the maximum age of keys`
      return yield* new InvalidInput({ field: "expiresAt", problem })
    }
    const granted = role === undefined ? (scopes ?? []) : ROLES[role]
    return yield* insert({ name, scopes: granted, networks, creditLimits, expiresAt: expiry })
  })

  const lookUp = Effect.fnUntraced(function* (digest: string, mode: Mode, now: number) {
    const before = forgotten
    const found = Option.getOrUndefined(yield* store.findByDigest(digest))
    if (found?.key.mode !== mode || !ApiKeySecret.isSameDigest(found.digest, digest))
      return yield* new Unauthorized()
    if (forgotten !== before) return found
    if (cache.size >= MAX_CACHED_KEYS) cache.clear()
    cache.set(digest, { stored: found, until: now + cacheMillis })
    return found
  })

  const isTouchDue = (key: ApiKey, now: number): boolean =>
    now - Math.max(touched.get(key.id) ?? -Infinity, key.lastUsedAt?.epochMilliseconds ?? -Infinity) >=
    TOUCH_INTERVAL_MILLIS

  const touch = (key: ApiKey, now: number): Effect.Effect<void> => {
    if (touched.size >= MAX_CACHED_KEYS) touched.clear()
    touched.set(key.id, now)
    // A failure to write `lastUsedAt` must not refuse the key.
    return Effect.ignore(store.touch(key.id, DateTime.makeUnsafe(now)))
  }

  const admit = ({ key }: StoredApiKey, now: number): Effect.Effect<VerifiedApiKey, Unauthorized> => {
    const isTooOld = now >= key.createdAt.epochMilliseconds + maxAgeMillis
    if (isTooOld || !isValidAt(key, now)) return Effect.fail(new Unauthorized())
    const verified: VerifiedApiKey = { key, tenant: { accountId: key.accountId, mode: key.mode } }
    if (key.networks.length > 0) {
      return Effect.flatMap(ClientAddress, (address) =>
        isAllowedFrom(key, address()) ? used(key, now, verified) : Effect.fail(new Unauthorized()),
      )
    }
    return used(key, now, verified)
  }

  const used = (key: ApiKey, now: number, verified: VerifiedApiKey): Effect.Effect<VerifiedApiKey> =>
    isTouchDue(key, now) ? Effect.as(touch(key, now), verified) : Effect.succeed(verified)

  const verify = (secret: Redacted.Redacted<string>) => {
    let digest: string | undefined // computed once, however often the effect is run
    return Effect.clockWith((clock): Effect.Effect<VerifiedApiKey, Unauthorized | StorageError> => {
      const now = clock.currentTimeMillisUnsafe()
      digest ??= digestOf(secret)
      const cached = cache.get(digest)
      if (cached !== undefined && now < cached.until) return admit(cached.stored, now)
      const mode = ApiKeySecret.modeOf(secret)
      return mode === undefined
        ? Effect.fail(new Unauthorized())
        : Effect.flatMap(lookUp(digest, mode, now), (stored) => admit(stored, now))
    })
  }

  const forget = (id: ApiKeyId): void => {
    forgotten++
    for (const [digest, { stored }] of cache) if (stored.key.id === id) cache.delete(digest)
  }

  const get = Effect.fn("ApiKeys.get")(function* (id: string) {
    return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
  })

  /** A key that is rolled is valid for as long as the old one was when it was issued. */
  const rolledExpiry = ({ createdAt, expiresAt }: ApiKey, now: number): DateTime.Utc | null => {
    if (expiresAt === null) return newestExpiry(now)
    const lifeMillis = expiresAt.epochMilliseconds - createdAt.epochMilliseconds
    return DateTime.makeUnsafe(now + Math.min(lifeMillis, maxAgeMillis))
  }

  const roll = Effect.fn("ApiKeys.roll")(function* (id: string, input: RollApiKey = {}) {
    const { graceMillis } = yield* decodeRoll(input)
    const now = yield* DateTime.now
    const issued = yield* transactor.atomically(
      Effect.gen(function* () {
        const expiresAt = DateTime.add(now, { milliseconds: graceMillis ?? 0 })
        const old = yield* get(id)
        if (!isValidAt(old, now.epochMilliseconds)) return yield* new ApiKeyNotFound({ id })
        if (Option.isNone(yield* store.expire(old.id, expiresAt))) {
          const problem = "is that of a key that was rolled already: roll the key that replaced it"
          return yield* new InvalidInput({ field: "id", problem })
        }
        return yield* insert({ ...old, expiresAt: rolledExpiry(old, now.epochMilliseconds) })
      }),
    )
    forget(id as ApiKeyId)
    return issued
  })

  const revoke = Effect.fn("ApiKeys.revoke")(function* (id: string) {
    const key = yield* orNotFound(yield* store.revoke(yield* knownId(id), yield* DateTime.now), id)
    forget(key.id)
    return key
  })

  const list = Effect.fn("ApiKeys.list")(function* (query: ListApiKeys = {}) {
    const request = yield* decodeList(query)
    const page = yield* toQuery(request)
    return yield* store.list(page).pipe(nameCursor(request))
  })

  return ApiKeys.of({ issue, verify, roll, revoke, get, list })
})
