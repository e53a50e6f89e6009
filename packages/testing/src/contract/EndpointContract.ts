/**
 * The contract of `EndpointStore`.
 */
import {
  DeliveryStore,
  Endpoint,
  type EndpointOfTenant,
  EndpointStore,
  EndpointUrl,
  type Page,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, Exit, Option } from "effect"
import * as Generators from "../Generators.ts"
import { forAll } from "../Property.ts"
import * as Sample from "../Sample.ts"
import { asTenant, type ContractTest, Effort, otherTenants, same, times, together } from "./ContractTest.ts"
import { pagingContract } from "./PagingContract.ts"
import { claimOne, emptyQueue, firstPage, minute, newEndpoint, keyOf, publish } from "./WebhookProbe.ts"

const everyEndpoint = { status: undefined }

/** All endpoints of a storage, which other tests use, too. */
const allSealed = { now: Sample.CREATED_AT, limit: 10_000, after: undefined }

/** An endpoint with its secrets, in the form that `modify` reads. */
const storedOf = (id: Endpoint.EndpointId) =>
  Effect.flatMap(EndpointStore, (store) => store.modify(id, (stored) => Effect.succeed(stored)))

const basics = (test: ContractTest): void => {
  test(
    "returns every field of an inserted endpoint",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const effort = yield* Effort
      yield* forAll(Generators.storedEndpoint, effort, ({ endpoint, secrets }) =>
        Effect.gen(function* () {
          const stored = { endpoint: { ...endpoint, id: yield* Sample.endpointId }, secrets }
          assert.isTrue(yield* store.insert(stored))
          same(yield* store.find(stored.endpoint.id), Option.some(stored.endpoint))
          same(yield* storedOf(stored.endpoint.id), Option.some(stored))
        }),
      )
    }),
  )

  test(
    "stores values of the maximum length",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const endpoint = yield* newEndpoint(
        {
          url: `https://example.com/${"a".repeat(EndpointUrl.MAX_URL_LENGTH - 20)}`,
          description: "𝒩".repeat(Endpoint.MAX_DESCRIPTION_LENGTH),
          eventTypes: times(1_000, (index) => `${"x".repeat(90)}.a${index}`),
          headers: Object.fromEntries(
            times(20, (index) => [`x-${index}${"n".repeat(90)}`, "v".repeat(1_024)]),
          ),
          createdAt: Sample.instant("0001-01-01T00:00:00.000Z"),
          updatedAt: Sample.instant("9999-12-31T23:59:59.999Z"),
        },
        times(Endpoint.MAX_LIVE_SECRETS, (index) =>
          Sample.sealedSecret({ sealed: `k${index}.${"A".repeat(1_000)}` }),
        ),
      )
      same(yield* store.find(endpoint.id), Option.some(endpoint))
    }),
  )

  test(
    "finds no endpoint for an unknown id",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const id = yield* Sample.endpointId
      same(yield* store.find(id), Option.none())
      same(yield* store.delete(id, minute(1)), false)
      same(yield* store.modify(id, () => Effect.die("called")), Option.none())
    }),
  )

  test(
    "keeps tenants apart in every method",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const endpoint = yield* newEndpoint()
      for (const tenant of yield* otherTenants) {
        yield* Effect.gen(function* () {
          same(yield* store.find(endpoint.id), Option.none())
          same(yield* store.modify(endpoint.id, () => Effect.die("called")), Option.none())
          same(yield* store.delete(endpoint.id, minute(1)), false)
          same(yield* store.list(everyEndpoint, firstPage), { data: [], hasMore: false })
        }).pipe(asTenant(tenant))
      }
      same(yield* store.find(endpoint.id), Option.some(endpoint))
    }),
  )
}

const insertLimit = (test: ContractTest): void => {
  test(
    "stores a tenant's endpoints up to the limit and no more, also for concurrent inserts",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const limit = Endpoint.MAX_ENDPOINTS
      const made = yield* Effect.all(times(limit + 10, () => Sample.endpoint()))
      const first = yield* Effect.forEach(made.slice(0, limit - 5), (stored) => store.insert(stored))
      assert.isTrue(first.every((isStored) => isStored))
      const last = yield* together(made.slice(limit - 5).map((stored) => store.insert(stored)))
      assert.strictEqual(last.filter((isStored) => isStored).length, 5)
      const refused = made.slice(limit - 5).find((_, index) => !last[index])!
      same(yield* store.find(refused.endpoint.id), Option.none())
      // Other tenants have their own count. Disabled endpoints count, too.
      for (const tenant of yield* otherTenants) yield* newEndpoint().pipe(asTenant(tenant))
      yield* store.modify(made[0]!.endpoint.id, (stored) =>
        Effect.succeed({ ...stored, endpoint: { ...stored.endpoint, ...Sample.disabled } }),
      )
      assert.isFalse(yield* store.insert(refused))
      // A deleted endpoint makes room.
      assert.isTrue(yield* store.delete(made[0]!.endpoint.id, minute(1)))
      assert.isTrue(yield* store.insert(refused))
      assert.isFalse(yield* store.insert(yield* Sample.endpoint()))
    }),
  )
}

const modify = (test: ContractTest): void => {
  test(
    "replaces an endpoint and its secrets by the result of the change",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const effort = yield* Effort
      const bystander = yield* newEndpoint()
      const { id } = yield* newEndpoint()
      yield* forAll(Generators.storedEndpoint, effort, ({ endpoint, secrets }) =>
        Effect.gen(function* () {
          const changed = { endpoint: { ...endpoint, id }, secrets }
          same(yield* store.modify(id, () => Effect.succeed(changed)), Option.some(changed))
          same(yield* store.find(id), Option.some(changed.endpoint))
          same(yield* storedOf(id), Option.some(changed))
        }),
      )
      same(yield* store.find(bystander.id), Option.some(bystander))
    }),
  )

  test(
    "writes nothing when the change fails",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const { endpoint, secrets } = yield* Sample.endpoint()
      yield* store.insert({ endpoint, secrets })
      const exit = yield* Effect.exit(
        store.modify(endpoint.id, () => Effect.andThen(newEndpoint(), Effect.fail("no"))),
      )
      assert.deepStrictEqual(exit, Exit.fail("no"))
      same(yield* storedOf(endpoint.id), Option.some({ endpoint, secrets }))
      same(yield* store.list(everyEndpoint, firstPage), { data: [endpoint], hasMore: false })
    }),
  )

  test(
    "loses none of many concurrent changes",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const { id } = yield* newEndpoint()
      const increment = store.modify(id, ({ endpoint, secrets }) =>
        Effect.as(Effect.yieldNow, {
          endpoint: { ...endpoint, metadata: { n: String(Number(endpoint.metadata["n"] ?? 0) + 1) } },
          secrets,
        }),
      )
      yield* together(times(20, () => increment))
      same(Option.getOrThrow(yield* store.find(id)).metadata, { n: "20" })
    }),
  )

  test(
    "is undone with its transaction",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const { atomically } = yield* Transactor
      const endpoint = yield* newEndpoint()
      const deleted = yield* newEndpoint()
      yield* Effect.ignore(
        atomically(
          Effect.gen(function* () {
            yield* newEndpoint()
            yield* store.delete(deleted.id, minute(1))
            yield* store.modify(endpoint.id, ({ endpoint: old, secrets }) =>
              Effect.succeed({ endpoint: { ...old, ...Sample.disabled }, secrets }),
            )
            same((yield* store.list({ status: "enabled" }, firstPage)).data.length, 1)
            return yield* Effect.fail("no")
          }),
        ),
      )
      same(yield* store.list(everyEndpoint, firstPage), { data: [deleted, endpoint], hasMore: false })
      same(yield* store.list({ status: "disabled" }, firstPage), { data: [], hasMore: false })
      same(yield* storedOf(deleted.id), Option.some({ endpoint: deleted, secrets: [Sample.sealedSecret()] }))
    }),
  )
}

const deletion = (test: ContractTest): void => {
  test(
    "finds a deleted endpoint by no method",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const [older, endpoint, newer] = yield* Effect.all([newEndpoint(), newEndpoint(), newEndpoint()])
      same(yield* store.delete(endpoint.id, minute(1)), true)
      same(yield* store.delete(endpoint.id, minute(2)), false)
      same(yield* store.find(endpoint.id), Option.none())
      same(yield* store.modify(endpoint.id, () => Effect.die("called")), Option.none())
      same(yield* store.list(everyEndpoint, firstPage), { data: [newer, older], hasMore: false })
      same(yield* store.list({ status: "enabled" }, firstPage), { data: [newer, older], hasMore: false })
      // A page may begin at the deleted endpoint.
      const cursor = { direction: "older", id: endpoint.id } as const
      same(yield* store.list(everyEndpoint, { limit: 9, cursor }), { data: [older], hasMore: false })
    }),
  )

  test(
    "deletes secrets for good",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      yield* emptyQueue
      const endpoint = yield* newEndpoint({}, [Sample.sealedSecret({ sealed: "gone.secret" })])
      yield* publish()
      yield* store.delete(endpoint.id, minute(1))
      const claimed = yield* claimOne(minute(1))
      same([claimed.endpoint.status, claimed.endpoint.secrets], ["deleted", []])
      yield* (yield* DeliveryStore).cancel(endpoint.id, "endpoint_deleted", minute(1))
    }),
  )

  test(
    "returns true to exactly one of several concurrent deletions",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const { id } = yield* newEndpoint()
      const results = yield* together(times(10, () => store.delete(id, minute(1))))
      assert.strictEqual(results.filter((isDeleted) => isDeleted).length, 1)
    }),
  )
}

const sealing = (test: ContractTest): void => {
  test(
    "finds the endpoints of all tenants with a secret or a header that none of the given keys encrypted",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const old = Sample.sealedSecret({ sealed: "old.c2VhbGVk" })
      const tenants = [undefined, ...(yield* otherTenants)]
      const made = yield* Effect.forEach(tenants, (tenant) => {
        const add = Effect.all([
          newEndpoint({}, [Sample.sealedSecret(), old]),
          newEndpoint({}, [Sample.sealedSecret()]),
        ])
        return tenant === undefined ? add : asTenant(tenant)(add)
      })
      const ids = new Set(made.flat().map(({ id }) => id))
      const find = Effect.map(store.listSealedByOtherKeys([Sample.SEALED_BY], allSealed), (found) =>
        found.filter(({ id }) => ids.has(id)),
      )
      const found = yield* find
      same(found.map(({ id }) => id).sort(), made.map(([endpoint]) => endpoint.id).sort())
      // Each comes with its tenant and with all of its secrets.
      for (const { id, sealed, tenant } of found) {
        same(sealed, [Sample.sealedSecret().sealed, old.sealed])
        assert.isTrue(Option.isSome(yield* asTenant(tenant)(store.find(id))), keyOf({ id, tenant }))
      }
      const byNeither = yield* store.listSealedByOtherKeys([Sample.SEALED_BY, "old"], allSealed)
      same(
        byNeither.filter(({ id }) => ids.has(id)),
        [],
      )
      const two = yield* store.listSealedByOtherKeys([Sample.SEALED_BY], { ...allSealed, limit: 2 })
      assert.strictEqual(two.length, 2)
      for (const { id, tenant } of found.slice(0, 2)) {
        yield* store
          .modify(id, ({ endpoint }) => Effect.succeed({ endpoint, secrets: [Sample.sealedSecret()] }))
          .pipe(asTenant(tenant))
      }
      yield* store.delete(found[2]!.id, minute(1)).pipe(asTenant(found[2]!.tenant))
      same(yield* find, [])

      const own = { "x-a": `${Sample.SEALED_BY}.c2VhbGVk`, "x-b": "old.c2VhbGVk" }
      const ofHeaders = yield* newEndpoint({ headers: own }, [Sample.sealedSecret()])
      ids.add(ofHeaders.id)
      same(
        (yield* find).map(({ headers, id, sealed }) => [id, headers, sealed]),
        [[ofHeaders.id, own, [Sample.sealedSecret().sealed]]],
      )
      yield* store.modify(ofHeaders.id, (stored) =>
        Effect.succeed({
          ...stored,
          endpoint: { ...stored.endpoint, headers: { "x-b": `${Sample.SEALED_BY}.c2VhbGVk` } },
        }),
      )
      same(yield* find, [])
    }),
  )
}

const sealingOfExpired = (test: ContractTest): void => {
  test(
    "leaves out secrets that have expired when it looks for other keys",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const ending = Sample.sealedSecret({ sealed: "ending.c2VhbGVk", expiresAt: minute(5) })
      const old = Sample.sealedSecret({ sealed: "old.c2VhbGVk" })
      const expires = yield* newEndpoint({}, [Sample.sealedSecret(), ending])
      const stays = yield* newEndpoint({}, [old, ending])
      const findAt = (now: DateTime.Utc) =>
        Effect.map(store.listSealedByOtherKeys([Sample.SEALED_BY], { ...allSealed, now }), (found) => [
          ...found.filter(({ id }) => id === expires.id).map(({ sealed }) => sealed),
          ...found.filter(({ id }) => id === stays.id).map(({ sealed }) => sealed),
        ])
      same(yield* findAt(DateTime.subtract(minute(5), { milliseconds: 1 })), [
        [Sample.sealedSecret().sealed, ending.sealed],
        [old.sealed, ending.sealed],
      ])
      same(yield* findAt(minute(5)), [[old.sealed]])
      for (const { id } of [expires, stays]) yield* store.delete(id, minute(6))
    }),
  )
}

const sealingPages = (test: ContractTest): void => {
  test(
    "finds the endpoints sealed by other keys page by page, each once, also while they are changed",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const old = Sample.sealedSecret({ sealed: "old.c2VhbGVk" })
      const add = Effect.all(times(4, () => newEndpoint({}, [old])))
      const others = yield* Effect.forEach(yield* otherTenants, (tenant) => asTenant(tenant)(add))
      const ids = new Set([...(yield* add), ...others.flat()].map(({ id }) => id))
      const whole = yield* store.listSealedByOtherKeys([Sample.SEALED_BY], allSealed)
      const found: Array<EndpointOfTenant> = []
      let after: EndpointOfTenant | undefined
      do {
        const page = yield* store.listSealedByOtherKeys([Sample.SEALED_BY], { ...allSealed, limit: 3, after })
        after = page.at(-1)
        found.push(...page.filter(({ id }) => ids.has(id)))
        // A page begins behind the last endpoint of the one before, also when that one isn't found any more.
        if (after !== undefined && ids.has(after.id)) {
          yield* asTenant(after.tenant)(store.delete(after.id, minute(1)))
        }
      } while (after !== undefined)
      same(
        found,
        whole.filter(({ id }) => ids.has(id)),
      )
      assert.strictEqual(found.length, ids.size)
    }),
  )
}

const lists = (test: ContractTest): void => {
  pagingContract(
    test,
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const list = (page: Page.PageQuery) =>
        Effect.map(store.list(everyEndpoint, page), ({ data, hasMore }) => ({
          data: data.map(({ id }) => id),
          hasMore,
        }))
      const add = (count: number) => Effect.all(times(count, () => Effect.map(newEndpoint(), ({ id }) => id)))
      return { add, list, unknownId: Sample.endpointId }
    }),
  )

  test(
    "lists by status",
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const [a, b, c] = yield* Effect.all([newEndpoint(), newEndpoint(Sample.disabled), newEndpoint()])
      const list = (status: Endpoint.EndpointStatus | undefined) =>
        Effect.map(store.list({ status }, firstPage), ({ data }) => data)
      same(yield* list(undefined), [c, b, a])
      same(yield* list("enabled"), [c, a])
      same(yield* list("disabled"), [b])
      yield* store.modify(b.id, ({ endpoint, secrets }) =>
        Effect.succeed({
          endpoint: { ...endpoint, status: "enabled", disabledReason: null, disabledAt: null },
          secrets,
        }),
      )
      same(yield* list("disabled"), [])
      const cursor = { direction: "older", id: c.id } as const
      same(
        (yield* store.list({ status: "enabled" }, { limit: 1, cursor })).data.map(({ id }) => id),
        [b.id],
      )
    }),
  )
}

export const endpointContract = (test: ContractTest): void => {
  test.section("EndpointStore", () => {
    basics(test)
    insertLimit(test)
    modify(test)
    deletion(test)
    sealing(test)
    sealingOfExpired(test)
    sealingPages(test)
    test.section("list", () => lists(test))
  })
}
