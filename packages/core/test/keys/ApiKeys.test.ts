import { inspect } from "node:util"
import {
  ApiKey,
  ApiKeys,
  ApiKeySecret,
  ApiKeyStore,
  InvalidInput,
  StorageError,
  Tenant,
} from "@billwright/core"
import { MemoryInspector } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Context, DateTime, Deferred, Effect, Fiber, Layer, Logger, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { acme, acmeTest, as, at, globex, inWorld, NOON } from "../world.ts"

const afterNoon = (millis: number) => DateTime.makeUnsafe(NOON.epochMilliseconds + millis)
const unknownId = `key_${"0".repeat(26)}`

/** Whether a secret is accepted now. */
const works = Effect.fnUntraced(function* (secret: Redacted.Redacted<string>) {
  const keys = yield* ApiKeys
  return yield* Effect.match(keys.verify(secret), { onFailure: () => false, onSuccess: () => true })
})

/** A second service over the same storage: another process. */
const elsewhere = Effect.gen(function* () {
  return Context.get(yield* Layer.build(Layer.fresh(ApiKeys.layer)), ApiKeys)
})

describe("permits", () => {
  const resources = ["customers", "catalog", "usage", "events", "webhooks"] as const
  const permissions = resources.flatMap((resource) => [`${resource}:read`, `${resource}:write`] as const)
  const allowed = (scopes: ReadonlyArray<ApiKey.Scope>) =>
    permissions.filter((permission) => ApiKey.permits(scopes, permission))

  it.each<[ReadonlyArray<ApiKey.Scope>, ReadonlyArray<ApiKey.Permission>]>([
    [[], permissions],
    [["customers:read"], ["customers:read"]],
    [["customers:write"], ["customers:write"]],
    [["customers:*"], ["customers:read", "customers:write"]],
    [["catalog:read"], ["catalog:read"]],
    [["usage:*"], ["usage:read", "usage:write"]],
    [["events:read"], ["events:read"]],
    [["webhooks:*"], ["webhooks:read", "webhooks:write"]],
    [
      ["usage:write", "customers:read"],
      ["customers:read", "usage:write"],
    ],
    [
      ["usage:read", "usage:*"],
      ["usage:read", "usage:write"],
    ],
    [["customers:*", "catalog:*", "usage:*", "events:*", "webhooks:*"], permissions],
  ])("%j permits %j", (scopes, expected) => {
    assert.deepStrictEqual(allowed(scopes), expected)
  })
})

describe("ApiKeys.issue", () => {
  it.effect("makes a key of the current tenant and mode", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const expiresAt = afterNoon(1)
      const none = yield* Effect.flip(keys.issue({ name: "ci", scopes: [] }))
      assert.strictEqual(
        none.message,
        "scopes must have at least one scope: leave them out for a key that may do everything",
      )
      const { key, secret } = yield* keys.issue({ name: "ci", scopes: ["usage:write"], expiresAt })
      assert.deepStrictEqual(key, {
        id: key.id,
        accountId: acme.accountId,
        mode: "live",
        name: "ci",
        scopes: ["usage:write"],
        networks: [],
        creditLimits: {},
        hint: Redacted.value(secret).slice(-4),
        createdAt: NOON,
        expiresAt,
        revokedAt: null,
        lastUsedAt: null,
      })
      assert.deepStrictEqual(yield* keys.get(key.id), key)
      const other = yield* as(acmeTest)(keys.issue({ name: "ci" }))
      assert.deepStrictEqual([other.key.mode, other.key.scopes, other.key.expiresAt], ["test", [], null])
      assert.strictEqual(ApiKeySecret.modeOf(other.secret), "test")
      assert.strictEqual(ApiKeySecret.modeOf(secret), "live")
    }).pipe(inWorld()),
  )

  it.effect("refuses an expiry that is not in the future", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      for (const expiresAt of [NOON, afterNoon(-1), at("1970-01-01T00:00:00Z")]) {
        const error = yield* Effect.flip(keys.issue({ name: "ci", expiresAt }))
        assert.instanceOf(error, InvalidInput)
        assert.strictEqual(error.message, "expiresAt must be in the future")
      }
      assert.deepStrictEqual((yield* keys.list()).data, [])
    }).pipe(inWorld()),
  )

  it.effect("refuses what breaks a rule", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      assert.strictEqual(
        (yield* Effect.flip(keys.issue({ name: "" }))).message,
        "name must be 1 to 128 characters",
      )
    }).pipe(inWorld()),
  )

  it.effect("stores a digest and never the secret", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { secret } = yield* keys.issue({ name: "ci" })
      const stored = (yield* (yield* MemoryInspector).snapshot).keys
      assert.deepStrictEqual(
        stored.map(({ digest }) => digest),
        [ApiKeySecret.digester(undefined)(secret)],
      )
      assert.notInclude(inspect(stored, { depth: Infinity }), Redacted.value(secret).slice(8, -4))
    }).pipe(inWorld()),
  )

  it.effect("mixes the pepper into the digest", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { secret } = yield* keys.issue({ name: "ci" })
      const [stored] = (yield* (yield* MemoryInspector).snapshot).keys
      assert.strictEqual(stored?.digest, ApiKeySecret.digester(Redacted.make("pepper"))(secret))
      assert.isTrue(yield* works(secret))
      assert.strictEqual((yield* Effect.flip((yield* elsewhere).verify(secret)))._tag, "Unauthorized")
    }).pipe(inWorld({ keys: { pepper: Redacted.make("pepper") } })),
  )
})

describe("a secret", () => {
  it.effect("appears in no JSON, inspection or log of what was issued or failed", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const lines: Array<string> = []
      const logger = Logger.make(({ cause, message }) => {
        lines.push(inspect([message, cause], { depth: Infinity }), JSON.stringify([message, cause]))
      })
      const issued = yield* keys.issue({ name: "ci" })
      const rolled = yield* keys.roll(issued.key.id)
      const verified = yield* keys.verify(rolled.secret)
      const refused = yield* Effect.flip(keys.verify(issued.secret))
      for (const value of [issued, rolled, verified, refused]) {
        lines.push(
          JSON.stringify(value),
          inspect(value, { depth: Infinity, showHidden: true }),
          String(value),
        )
        yield* Effect.log("made", value).pipe(Effect.provide(Logger.layer([logger, Logger.consolePretty()])))
      }
      const text = lines.join("\n")
      assert.include(text, issued.key.id)
      for (const { secret } of [issued, rolled]) {
        assert.notInclude(text, Redacted.value(secret))
        assert.notInclude(text, Redacted.value(secret).slice(8, 40))
      }
    }).pipe(inWorld()),
  )
})

describe("ApiKeys.verify", () => {
  it.effect("tells the key and its tenant", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      for (const tenant of [acme, acmeTest, globex]) {
        const { key, secret } = yield* as(tenant)(keys.issue({ name: "ci" }))
        // Whoever asks: the secret is what tells the tenant.
        const verified = yield* as(globex)(keys.verify(secret))
        assert.deepStrictEqual(verified.tenant, tenant)
        assert.strictEqual(verified.key.id, key.id)
      }
    }).pipe(inWorld()),
  )

  it.effect("refuses with one and the same error, whatever the reason", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const store = yield* ApiKeyStore
      const revoked = yield* keys.issue({ name: "revoked" })
      yield* keys.revoke(revoked.key.id)
      const expired = yield* keys.issue({ name: "expired", expiresAt: afterNoon(1) })
      const rolled = yield* keys.issue({ name: "rolled" })
      yield* keys.roll(rolled.key.id)
      // A row whose mode is not the one that its secret claims.
      const swapped = ApiKeySecret.generate("live")
      const digest = ApiKeySecret.digester(undefined)(swapped)
      yield* as(acmeTest)(
        store.insert({
          key: { ...expired.key, id: ApiKey.ApiKeyId.make(unknownId), expiresAt: null, mode: "test" },
          digest,
        }),
      )
      const good = Redacted.value((yield* keys.issue({ name: "good" })).secret)
      yield* TestClock.adjust(1)
      const secrets = {
        missing: "",
        malformed: "Bearer",
        "a typo": good.slice(0, -1) + (good.endsWith("0") ? "1" : "0"),
        unknown: Redacted.value(ApiKeySecret.generate("live")),
        revoked: Redacted.value(revoked.secret),
        expired: Redacted.value(expired.secret),
        rolled: Redacted.value(rolled.secret),
        "of the other mode": Redacted.value(swapped),
      }
      for (const [reason, secret] of Object.entries(secrets)) {
        const error = yield* Effect.flip(keys.verify(Redacted.make(secret)))
        assert.instanceOf(error, ApiKey.Unauthorized, reason)
        assert.deepStrictEqual(Object.entries(error), Object.entries(new ApiKey.Unauthorized()), reason)
        assert.strictEqual(error.message, "a valid API key is required: Authorization: Bearer <API key>")
      }
      assert.isTrue(yield* works(Redacted.make(good)))
    }).pipe(inWorld()),
  )

  it.effect("asks no storage for a secret with a wrong form or checksum", () =>
    Effect.gen(function* () {
      const down = new StorageError({ operation: "ApiKeyStore.findByDigest", retryable: true })
      const store = ApiKeyStore.of({ ...(yield* ApiKeyStore), findByDigest: () => Effect.fail(down) })
      const keys = yield* Effect.provideService(elsewhere, ApiKeyStore, store)
      for (const text of ["", "sk_live_", `${"sk"}_live_${"A".repeat(38)}`]) {
        assert.instanceOf(yield* Effect.flip(keys.verify(Redacted.make(text))), ApiKey.Unauthorized)
      }
      // Storage that is down is no reason to call a key wrong.
      assert.strictEqual(yield* Effect.flip(keys.verify(ApiKeySecret.generate("live"))), down)
    }).pipe(inWorld()),
  )

  it.effect("trusts no storage that finds another key than the one asked for", () =>
    Effect.gen(function* () {
      const real = yield* ApiKeyStore
      const issued = yield* (yield* ApiKeys).issue({ name: "victim" })
      const digest = ApiKeySecret.digester(undefined)(issued.secret)
      const store = ApiKeyStore.of({ ...real, findByDigest: () => real.findByDigest(digest) })
      const keys = yield* Effect.provideService(elsewhere, ApiKeyStore, store)
      assert.instanceOf(yield* Effect.flip(keys.verify(ApiKeySecret.generate("live"))), ApiKey.Unauthorized)
      assert.strictEqual((yield* keys.verify(issued.secret)).key.id, issued.key.id)
    }).pipe(inWorld()),
  )

  it.effect("accepts a key until the millisecond before it expires", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { secret } = yield* keys.issue({ name: "ci", expiresAt: afterNoon(3_000) })
      yield* TestClock.adjust(2_999)
      assert.isTrue(yield* works(secret))
      yield* TestClock.adjust(1)
      assert.isFalse(yield* works(secret))
      yield* TestClock.adjust(60_000)
      assert.isFalse(yield* works(secret))
    }).pipe(inWorld()),
  )
})

describe("a revocation", () => {
  it.effect("counts at once through the service", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { key, secret } = yield* keys.issue({ name: "ci" })
      assert.isTrue(yield* works(secret))
      const revoked = yield* keys.revoke(key.id)
      assert.deepStrictEqual(revoked.revokedAt, NOON)
      assert.isFalse(yield* works(secret))
    }).pipe(inWorld()),
  )

  it.effect("counts at once for a look-up that was under way, too", () =>
    Effect.gen(function* () {
      const real = yield* ApiKeyStore
      const answer = yield* Deferred.make<void>()
      const found = yield* Deferred.make<void>()
      // A slow storage: what it found is on its way while the key is revoked.
      const store = ApiKeyStore.of({
        ...real,
        findByDigest: (digest) =>
          real.findByDigest(digest).pipe(
            Effect.tap(() => Deferred.succeed(found, undefined)),
            Effect.tap(() => Deferred.await(answer)),
          ),
      })
      const keys = yield* Effect.provideService(elsewhere, ApiKeyStore, store)
      const { key, secret } = yield* keys.issue({ name: "ci" })
      const before = yield* Effect.forkChild(keys.verify(secret), { startImmediately: true })
      yield* Deferred.await(found)
      yield* keys.revoke(key.id)
      yield* Deferred.succeed(answer, undefined)
      yield* Effect.exit(Fiber.join(before))
      assert.instanceOf(yield* Effect.flip(keys.verify(secret)), ApiKey.Unauthorized)
    }).pipe(inWorld()),
  )

  it.effect("elsewhere counts after 3 seconds at most", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const other = yield* elsewhere
      const { key, secret } = yield* keys.issue({ name: "ci" })
      assert.isTrue(yield* works(secret))
      yield* other.revoke(key.id)
      yield* TestClock.adjust(2_999)
      assert.isTrue(yield* works(secret))
      yield* TestClock.adjust(1)
      assert.isFalse(yield* works(secret))
    }).pipe(inWorld()),
  )

  it.effect(
    "elsewhere counts after 3 seconds also when the cache is to be longer or the key is used all the time",
    () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeys
        const { key, secret } = yield* keys.issue({ name: "ci" })
        assert.isTrue(yield* works(secret))
        yield* (yield* ApiKeyStore).revoke(key.id, NOON)
        const answers: Array<boolean> = []
        for (let second = 1; second <= 6; second++) {
          yield* TestClock.adjust(1_000)
          answers.push(yield* works(secret))
        }
        assert.deepStrictEqual(answers, [true, true, false, false, false, false])
      }).pipe(inWorld({ keys: { cacheMillis: 3_600_000 } })),
  )

  it.effect("elsewhere counts at once without a cache, and sooner with a shorter one", () =>
    Effect.gen(function* () {
      for (const cacheMillis of [0, 100]) {
        const keys = yield* Effect.map(
          Layer.build(Layer.fresh(ApiKeys.layerWith({ cacheMillis }))),
          Context.get(ApiKeys),
        )
        const { key, secret } = yield* keys.issue({ name: "ci" })
        yield* keys.verify(secret)
        yield* (yield* ApiKeyStore).revoke(key.id, NOON)
        yield* TestClock.adjust(cacheMillis)
        assert.instanceOf(yield* Effect.flip(keys.verify(secret)), ApiKey.Unauthorized)
      }
    }).pipe(inWorld()),
  )

  it.effect("happens once: the first instant stays", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { key } = yield* keys.issue({ name: "ci" })
      const first = yield* keys.revoke(key.id)
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(yield* keys.revoke(key.id), first)
      assert.deepStrictEqual(yield* keys.get(key.id), first)
    }).pipe(inWorld()),
  )

  it.effect("is remembered of no failure: a key that is issued later works at once", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const store = yield* ApiKeyStore
      const secret = ApiKeySecret.generate("live")
      assert.isFalse(yield* works(secret))
      const { key } = yield* keys.issue({ name: "ci" })
      const digest = ApiKeySecret.digester(undefined)(secret)
      yield* store.insert({ key: { ...key, id: ApiKey.ApiKeyId.make(unknownId) }, digest })
      assert.isTrue(yield* works(secret))
    }).pipe(inWorld()),
  )
})

describe("ApiKeys.roll", () => {
  it.effect("makes a key like the old one, which ends at once", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const expiresAt = afterNoon(86_400_000)
      const old = yield* keys.issue({ name: "ci", scopes: ["usage:*"], expiresAt })
      assert.isTrue(yield* works(old.secret))
      yield* TestClock.adjust(1_000)
      const { key, secret } = yield* keys.roll(old.key.id)
      assert.deepStrictEqual(key, {
        ...old.key,
        id: key.id,
        hint: Redacted.value(secret).slice(-4),
        createdAt: afterNoon(1_000),
        expiresAt: DateTime.add(old.key.expiresAt!, { milliseconds: 1_000 }),
      })
      assert.notStrictEqual(key.id, old.key.id)
      assert.notStrictEqual(Redacted.value(secret), Redacted.value(old.secret))
      assert.deepStrictEqual([yield* works(old.secret), yield* works(secret)], [false, true])
      assert.deepStrictEqual((yield* keys.get(old.key.id)).expiresAt, afterNoon(1_000))
    }).pipe(inWorld()),
  )

  it.effect("lets the old key live for the grace time, up to 7 days", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const old = yield* keys.issue({ name: "ci" })
      const { secret } = yield* keys.roll(old.key.id, { graceMillis: 604_800_000 })
      assert.deepStrictEqual((yield* keys.get(old.key.id)).expiresAt, afterNoon(604_800_000))
      yield* TestClock.adjust(604_799_999)
      assert.deepStrictEqual([yield* works(old.secret), yield* works(secret)], [true, true])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual([yield* works(old.secret), yield* works(secret)], [false, true])
    }).pipe(inWorld()),
  )

  it.effect("never lets the old key live longer than it would have", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const expiresAt = afterNoon(1_000)
      const old = yield* keys.issue({ name: "ci", expiresAt })
      yield* keys.roll(old.key.id, { graceMillis: 60_000 })
      assert.deepStrictEqual((yield* keys.get(old.key.id)).expiresAt, expiresAt)
    }).pipe(inWorld()),
  )

  it.effect("refuses a grace time outside 0 to 7 days, and then changes nothing", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const old = yield* keys.issue({ name: "ci" })
      for (const graceMillis of [-1, 604_800_001, 0.5]) {
        const error = yield* Effect.flip(keys.roll(old.key.id, { graceMillis }))
        assert.strictEqual(error.message, "graceMillis must be an integer from 0 to 604800000 (7 days)")
      }
      assert.deepStrictEqual((yield* keys.list()).data, [old.key])
    }).pipe(inWorld()),
  )

  it.effect("of a key that was rolled is refused, and that of its successor has its whole life", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const old = yield* keys.issue({ name: "ci" })
      const brief = yield* keys.issue({ name: "brief", expiresAt: afterNoon(1_000) })
      const [next, nextBrief] = [
        yield* keys.roll(old.key.id, { graceMillis: 60_000 }),
        yield* keys.roll(brief.key.id, { graceMillis: 10 }),
      ]
      const again = yield* Effect.flip(keys.roll(old.key.id, { graceMillis: 60_000 }))
      assert.strictEqual(
        again.message,
        "id is that of a key that was rolled already: roll the key that replaced it",
      )
      assert.isNull((yield* keys.roll(next.key.id)).key.expiresAt)
      assert.deepStrictEqual((yield* keys.roll(nextBrief.key.id)).key.expiresAt, afterNoon(1_000))
      assert.lengthOf((yield* keys.list()).data, 6)
    }).pipe(inWorld()),
  )

  it.effect("refuses keys that have ended: they can't be brought back to life", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const revoked = yield* keys.issue({ name: "revoked" })
      yield* keys.revoke(revoked.key.id)
      const expired = yield* keys.issue({ name: "expired", expiresAt: afterNoon(1) })
      yield* TestClock.adjust(1)
      for (const { key } of [revoked, expired]) {
        assert.instanceOf(yield* Effect.flip(keys.roll(key.id)), ApiKey.ApiKeyNotFound)
      }
      assert.lengthOf((yield* keys.list()).data, 2)
    }).pipe(inWorld()),
  )

  it.effect("of many at once happens once", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const old = yield* keys.issue({ name: "ci" })
      const exits = yield* Effect.forEach([1, 2, 3], () => Effect.exit(keys.roll(old.key.id)), {
        concurrency: "unbounded",
      })
      assert.lengthOf(
        exits.filter((exit) => exit._tag === "Success"),
        1,
      )
      assert.lengthOf((yield* keys.list()).data, 2)
    }).pipe(inWorld()),
  )

  it.effect("leaves the old key as it is when the new one can't be stored", () =>
    Effect.gen(function* () {
      const real = yield* ApiKeyStore
      const old = yield* (yield* ApiKeys).issue({ name: "ci" })
      const down = new StorageError({ operation: "ApiKeyStore.insert", retryable: true })
      const store = ApiKeyStore.of({ ...real, insert: () => Effect.fail(down) })
      const keys = yield* Effect.provideService(elsewhere, ApiKeyStore, store)
      assert.strictEqual(yield* Effect.flip(keys.roll(old.key.id)), down)
      assert.deepStrictEqual(yield* keys.get(old.key.id), old.key)
    }).pipe(inWorld()),
  )
})

describe("lastUsedAt", () => {
  it.effect("is written at most once a minute", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { key, secret } = yield* keys.issue({ name: "ci" })
      const seen: Array<number | undefined> = []
      for (const millis of [0, 1, 59_998, 1, 1, 59_999, 1]) {
        yield* TestClock.adjust(millis)
        yield* keys.verify(secret)
        const { lastUsedAt } = yield* keys.get(key.id)
        seen.push(lastUsedAt === null ? undefined : lastUsedAt.epochMilliseconds - NOON.epochMilliseconds)
      }
      assert.deepStrictEqual(seen, [0, 0, 0, 60_000, 60_000, 120_000, 120_000])
    }).pipe(inWorld()),
  )

  it.effect("is written once for many uses at once, and by all processes together", () =>
    Effect.gen(function* () {
      const real = yield* ApiKeyStore
      let writes = 0
      const store = ApiKeyStore.of({
        ...real,
        touch: (id, instant) => {
          writes++
          return real.touch(id, instant)
        },
      })
      const [one, two] = yield* Effect.provideService(Effect.all([elsewhere, elsewhere]), ApiKeyStore, store)
      const { secret } = yield* one.issue({ name: "ci" })
      yield* Effect.forEach(Array.from({ length: 20 }), () => one.verify(secret), {
        concurrency: "unbounded",
      })
      assert.strictEqual(writes, 1)
      yield* TestClock.adjust(30_000)
      yield* two.verify(secret)
      assert.strictEqual(writes, 1)
      yield* TestClock.adjust(30_000)
      yield* two.verify(secret)
      assert.strictEqual(writes, 2)
    }).pipe(inWorld()),
  )

  it.effect("is not written for a key that is refused", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { key, secret } = yield* keys.issue({ name: "ci" })
      yield* keys.revoke(key.id)
      yield* Effect.flip(keys.verify(secret))
      assert.isNull((yield* keys.get(key.id)).lastUsedAt)
    }).pipe(inWorld()),
  )

  it.effect("that can't be written keeps no key from being used", () =>
    Effect.gen(function* () {
      const store = ApiKeyStore.of({
        ...(yield* ApiKeyStore),
        touch: () => Effect.fail(new StorageError({ operation: "ApiKeyStore.touch", retryable: true })),
      })
      const keys = yield* Effect.provideService(elsewhere, ApiKeyStore, store)
      const { key, secret } = yield* keys.issue({ name: "ci" })
      assert.strictEqual((yield* keys.verify(secret)).key.id, key.id)
    }).pipe(inWorld()),
  )
})

describe("ApiKeys.list and get", () => {
  it.effect("give the tenant's keys, newest first, ended ones too", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const a = yield* keys.issue({ name: "a" })
      const b = yield* keys.issue({ name: "b" })
      const revoked = yield* keys.revoke(a.key.id)
      yield* as(globex)(keys.issue({ name: "theirs" }))
      assert.deepStrictEqual(yield* keys.list(), { data: [b.key, revoked], hasMore: false })
      assert.deepStrictEqual(yield* keys.list({ limit: 1 }), { data: [b.key], hasMore: true })
      assert.deepStrictEqual((yield* keys.list({ startingAfter: b.key.id })).data, [revoked])
      const error = yield* Effect.flip(keys.list({ endingBefore: unknownId }))
      assert.strictEqual(error.message, "endingBefore is not the id of an item of this list")
    }).pipe(inWorld()),
  )

  it.effect("know no other tenant's keys", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { key, secret } = yield* keys.issue({ name: "ci" })
      for (const tenant of [acmeTest, globex]) {
        for (const id of [key.id, unknownId, "x"]) {
          const errors = yield* Effect.all([
            Effect.flip(keys.get(id)),
            Effect.flip(keys.revoke(id)),
            Effect.flip(keys.roll(id)),
          ]).pipe(as(tenant))
          for (const error of errors) {
            assert.instanceOf(error, ApiKey.ApiKeyNotFound)
            assert.strictEqual(error.message, `no API key has the id ${id}`)
          }
        }
        assert.deepStrictEqual((yield* as(tenant)(keys.list())).data, [])
        assert.instanceOf(yield* Effect.flip(as(tenant)(keys.list({ startingAfter: key.id }))), InvalidInput)
      }
      assert.isTrue(yield* works(secret))
    }).pipe(inWorld()),
  )
})

describe("a tenant", () => {
  it("is one map key: no two share it", () => {
    assert.strictEqual(new Set([acme, acmeTest, globex].map(Tenant.tenantKey)).size, 3)
  })
})
