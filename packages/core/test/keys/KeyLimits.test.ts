/**
 * What keys are limited by: roles, networks and a maximum age.
 */
import { ApiKey, ApiKeys, ClientAddress } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { inWorld, NOON } from "../world.ts"

const DAY = 86_400_000
const afterNoon = (millis: number) => DateTime.makeUnsafe(NOON.epochMilliseconds + millis)

describe("roles", () => {
  const may = (role: ApiKey.Role, permission: ApiKey.Permission) =>
    ApiKey.permits(ApiKey.ROLES[role], permission)

  it("let support send again and grant, and change nothing else", () => {
    assert.isTrue(may("support", "webhooks:replay") && may("support", "events:replay"))
    assert.isTrue(may("support", "credits:grant") && may("support", "invoices:read"))
    assert.isFalse(may("support", "credits:write") || may("support", "webhooks:write"))
  })

  it("let viewers read only, finance change money only, and admins do everything", () => {
    for (const scope of ApiKey.ROLES.viewer) assert.match(scope, /:read$/)
    assert.isFalse(may("viewer", "credits:grant") || may("viewer", "webhooks:replay"))
    assert.isTrue(may("finance", "invoices:write") && may("finance", "credits:grant"))
    assert.isFalse(may("finance", "webhooks:write") || may("finance", "usage:write"))
    assert.isTrue(may("admin", "webhooks:write"))
  })

  it.effect("are given to a key as scopes, and not beside scopes", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { key } = yield* keys.issue({ name: "desk", role: "support", creditLimits: { EUR: 500n } })
      assert.deepStrictEqual(key.scopes, ApiKey.ROLES.support)
      assert.deepStrictEqual((yield* keys.get(key.id)).creditLimits, { EUR: 500n })
      const both = yield* Effect.flip(keys.issue({ name: "a", role: "viewer", scopes: ["usage:read"] }))
      assert.strictEqual(both.message, "role can't be given together with scopes")
    }).pipe(inWorld()),
  )
})

describe("networks", () => {
  it.effect("refuse other addresses, unknown ones, and note no use of them", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { key, secret } = yield* keys.issue({ name: "office", networks: ["203.0.113.0/24"] })
      const from = (address: string | undefined) =>
        keys.verify(secret).pipe(
          Effect.provideService(ClientAddress, () => address),
          Effect.match({ onFailure: () => false, onSuccess: () => true }),
        )
      for (const other of ["198.51.100.7", undefined, "", "203.0.113.7%eth0", "::ffff:198.51.100.7"])
        assert.isFalse(yield* from(other), other)
      assert.isNull((yield* keys.get(key.id)).lastUsedAt)
      assert.isTrue(yield* from("203.0.113.7"))
      assert.isTrue(yield* from("::ffff:203.0.113.7"))
    }).pipe(inWorld()),
  )
})

describe("a maximum age", () => {
  it.effect("ends keys without an expiry, bounds others, and starts anew when a key is rolled", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { key, secret } = yield* keys.issue({ name: "ci" })
      assert.deepStrictEqual(key.expiresAt, afterNoon(90 * DAY))
      const late = yield* Effect.flip(keys.issue({ name: "ci", expiresAt: afterNoon(91 * DAY) }))
      assert.match(late.message, /^expiresAt must be at most/)
      yield* TestClock.adjust("80 days")
      const rolled = yield* keys.roll(key.id, { graceMillis: DAY })
      assert.deepStrictEqual(rolled.key.expiresAt, afterNoon(170 * DAY))
      yield* TestClock.adjust("10 days")
      assert.strictEqual((yield* Effect.flip(keys.verify(secret)))._tag, "Unauthorized")
      yield* keys.verify(rolled.secret)
    }).pipe(inWorld({ keys: { maxAgeMillis: 90 * DAY } })),
  )
})
