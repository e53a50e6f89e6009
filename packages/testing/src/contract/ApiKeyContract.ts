/**
 * The contract of `ApiKeyStore`.
 */
import { ApiKey, ApiKeyStore, type Page } from "@billwright/core"
import { DateTime, Effect, Option } from "effect"
import * as Generators from "../Generators.ts"
import { forAll } from "../Property.ts"
import * as Sample from "../Sample.ts"
import { asTenant, type ContractTest, Effort, otherTenants, same, times, together } from "./ContractTest.ts"
import { pagingContract } from "./PagingContract.ts"

const insert = Effect.fnUntraced(function* (fields: Partial<ApiKey.ApiKey> = {}) {
  const stored = yield* Sample.apiKey(fields)
  yield* (yield* ApiKeyStore).insert(stored)
  return stored
})

const later = (minutes: number) => DateTime.add(Sample.CREATED_AT, { minutes })

export const apiKeyContract = (test: ContractTest): void => {
  test.section("ApiKeyStore", () => {
    test(
      "returns every field of an inserted key, by id and by digest",
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const effort = yield* Effort
        const blank = yield* Sample.apiKey()
        yield* forAll(Generators.apiKey, effort, (generated) =>
          Effect.gen(function* () {
            const { accountId, mode } = blank.key
            const stored = yield* Sample.apiKey({ ...generated, id: yield* Sample.apiKeyId, accountId, mode })
            yield* store.insert(stored)
            same(yield* store.find(stored.key.id), Option.some(stored.key))
            same(yield* store.findByDigest(stored.digest), Option.some(stored))
          }),
        )
      }),
    )

    test(
      "finds no key for an unknown id or digest",
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const id = yield* Sample.apiKeyId
        same(yield* store.find(id), Option.none())
        same(yield* store.findByDigest(yield* Sample.digest), Option.none())
        same(yield* store.revoke(id, Sample.CREATED_AT), Option.none())
        same(yield* store.expire(id, Sample.CREATED_AT), Option.none())
        yield* store.touch(id, Sample.CREATED_AT)
      }),
    )

    test(
      "keeps tenants apart, except in the look-up by digest, which finds the tenant, and in touch",
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const stored = yield* insert()
        for (const tenant of yield* otherTenants) {
          yield* Effect.gen(function* () {
            same(yield* store.find(stored.key.id), Option.none())
            same(yield* store.revoke(stored.key.id, later(1)), Option.none())
            same(yield* store.expire(stored.key.id, later(1)), Option.none())
            same(yield* store.list({ limit: 9, cursor: undefined }), { data: [], hasMore: false })
            same(yield* store.findByDigest(stored.digest), Option.some(stored))
          }).pipe(asTenant(tenant))
        }
        const [, otherAccount] = yield* otherTenants
        yield* store.touch(stored.key.id, later(2)).pipe(asTenant(otherAccount!))
        const touched = { ...stored, key: { ...stored.key, lastUsedAt: later(2) } }
        same(yield* store.findByDigest(stored.digest), Option.some(touched))
      }),
    )

    test(
      "revokes a key once, and still finds it",
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const { digest, key } = yield* insert()
        const bystander = yield* insert()
        const revoked = { ...key, revokedAt: later(1) }
        same(yield* store.revoke(key.id, later(1)), Option.some(revoked))
        same(yield* store.revoke(key.id, later(2)), Option.some(revoked))
        same(yield* store.find(key.id), Option.some(revoked))
        same(yield* store.findByDigest(digest), Option.some({ key: revoked, digest }))
        same(yield* store.find(bystander.key.id), Option.some(bystander.key))
      }),
    )

    test(
      "returns the same key to concurrent revocations",
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const { key } = yield* insert()
        const results = yield* together(times(10, (index) => store.revoke(key.id, later(index))))
        const stored = yield* store.find(key.id)
        for (const result of results) same(result, stored)
      }),
    )

    test(
      "moves an expiry to an earlier time, never to a later one, once for each key",
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const { key } = yield* insert()
        same(yield* store.expire(key.id, later(10)), Option.some({ ...key, expiresAt: later(10) }))
        same(yield* store.expire(key.id, later(5)), Option.none())
        same(yield* store.find(key.id), Option.some({ ...key, expiresAt: later(10) }))
        const { key: shorter } = yield* insert({ expiresAt: later(5) })
        same(yield* store.expire(shorter.id, later(10)), Option.some(shorter))
        const { key: one } = yield* insert()
        const taken = yield* together(times(10, (index) => store.expire(one.id, later(index))))
        same(taken.filter(Option.isSome).length, 1)
      }),
    )

    test(
      "stores a key with every scope",
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const { key } = yield* insert({ scopes: [...ApiKey.Scope.literals] })
        same(yield* store.find(key.id), Option.some(key))
      }),
    )

    test(
      "records the last use, and changes no other field",
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const { key } = yield* insert({ expiresAt: later(30), scopes: ["usage:write", "customers:*"] })
        yield* store.touch(key.id, later(1))
        yield* store.touch(key.id, later(2))
        same(yield* store.find(key.id), Option.some({ ...key, lastUsedAt: later(2) }))
      }),
    )

    test.section("list", () => {
      pagingContract(
        test,
        Effect.gen(function* () {
          const store = yield* ApiKeyStore
          const list = (page: Page.PageQuery) =>
            Effect.map(store.list(page), ({ data, hasMore }) => ({ data: data.map(({ id }) => id), hasMore }))
          const add = (count: number) =>
            Effect.all(times(count, () => Effect.map(insert(), ({ key }) => key.id)))
          return { add, list, unknownId: Sample.apiKeyId }
        }),
      )

      test(
        "lists keys with all fields, including revoked and expired ones",
        Effect.gen(function* () {
          const store = yield* ApiKeyStore
          const a = yield* insert({ expiresAt: later(-10) })
          const b = yield* insert({ revokedAt: later(1), scopes: ["usage:read"] })
          same(yield* store.list({ limit: 9, cursor: undefined }), { data: [b.key, a.key], hasMore: false })
        }),
      )
    })
  })
}
