/**
 * The contract of `CustomerStore`.
 */
import { Customer, CustomerStore, Page } from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, Exit, Option } from "effect"
import * as Generators from "../Generators.ts"
import { forAll } from "../Property.ts"
import * as Sample from "../Sample.ts"
import { asTenant, type ContractTest, Effort, otherTenants, same, times, together } from "./ContractTest.ts"
import { pagingContract } from "./PagingContract.ts"

const everything = { email: undefined, search: undefined }
const firstPage: Page.PageQuery = { limit: 100, cursor: undefined }

const insert = Effect.fnUntraced(function* (fields: Partial<Customer.Customer> = {}) {
  const customer = yield* Sample.customer(fields)
  yield* (yield* CustomerStore).insert(customer)
  return customer
})

const basics = (test: ContractTest): void => {
  test(
    "gives back what was inserted, in every field",
    Effect.gen(function* () {
      const store = yield* CustomerStore
      const effort = yield* Effort
      yield* forAll(Generators.customer, effort, (customer) =>
        Effect.gen(function* () {
          yield* store.insert(customer).pipe(asTenant(yield* Sample.tenant))
          const own = { ...customer, id: yield* Sample.customerId }
          yield* store.insert(own)
          same(yield* store.find(own.id), Option.some(own))
        }),
      )
    }),
  )

  test(
    "keeps the longest values",
    Effect.gen(function* () {
      const store = yield* CustomerStore
      const customer = yield* insert({
        name: "𝒩".repeat(256),
        email: `${"a".repeat(240)}@example.com`,
        metadata: Object.fromEntries(
          times(
            50,
            (index) => [`${String(index).padStart(2, "0")}${"🗝".repeat(38)}`, "🂡".repeat(500)] as const,
          ),
        ),
        createdAt: Sample.instant("0001-01-01T00:00:00.000Z"),
        updatedAt: Sample.instant("9999-12-31T23:59:59.999Z"),
      })
      same(yield* store.find(customer.id), Option.some(customer))
    }),
  )

  test(
    "finds nothing of an id that was never used",
    Effect.gen(function* () {
      const store = yield* CustomerStore
      const id = yield* Sample.customerId
      same(yield* store.find(id), Option.none())
      same(yield* store.status(id), "unknown")
      same(yield* store.erase(id), false)
      same(yield* store.modify(id, () => Effect.die("called")), Option.none())
    }),
  )

  test(
    "keeps tenants apart in every verb",
    Effect.gen(function* () {
      const store = yield* CustomerStore
      const customer = yield* insert()
      for (const tenant of yield* otherTenants) {
        yield* Effect.gen(function* () {
          same(yield* store.find(customer.id), Option.none())
          same(yield* store.status(customer.id), "unknown")
          same(yield* store.modify(customer.id, () => Effect.die("called")), Option.none())
          same(yield* store.erase(customer.id), false)
          same(yield* store.list(everything, firstPage), { data: [], hasMore: false })
          same(yield* store.list({ ...everything, email: customer.email }, firstPage), {
            data: [],
            hasMore: false,
          })
          const cursor = { direction: "older", id: customer.id } as const
          const error = yield* Effect.flip(store.list(everything, { limit: 1, cursor }))
          same(error, new Page.CursorNotFound({ id: customer.id }))
        }).pipe(asTenant(tenant))
      }
      same(yield* store.find(customer.id), Option.some(customer))
    }),
  )

  test(
    "shares no objects with its callers",
    Effect.gen(function* () {
      const store = yield* CustomerStore
      const metadata: Record<string, string> = { plan: "pro" }
      const customer = yield* insert({ metadata })
      const scribble = (value: Option.Option<Customer.Customer>) => {
        const found = Option.getOrThrow(value) as { name: string; metadata: Record<string, string> }
        found.name = "scribbled"
        found.metadata["plan"] = "scribbled"
      }
      metadata["plan"] = "changed by the caller"
      scribble(yield* store.find(customer.id))
      scribble(yield* store.modify(customer.id, (old) => Effect.succeed(old)))
      scribble(Option.fromUndefinedOr((yield* store.list(everything, firstPage)).data[0]))
      yield* Effect.exit(
        store.modify(customer.id, (old) => {
          scribble(Option.some(old))
          return Effect.fail("no")
        }),
      )
      const expected = { ...customer, metadata: { plan: "pro" } }
      same(yield* store.find(customer.id), Option.some(expected))
    }),
  )
}

const modifying = (test: ContractTest): void => {
  test(
    "replaces a customer by what the change makes of it",
    Effect.gen(function* () {
      const store = yield* CustomerStore
      const customer = yield* insert({ metadata: { a: "1", b: "2" } })
      const bystander = yield* insert()
      const changed: Customer.Customer = {
        ...customer,
        name: "Grace Hopper",
        email: "grace@example.com",
        metadata: { b: "3" },
        updatedAt: DateTime.add(customer.updatedAt, { minutes: 5 }),
      }
      const result = yield* store.modify(customer.id, (old) => {
        same(old, customer)
        return Effect.succeed(changed)
      })
      same(result, Option.some(changed))
      same(yield* store.find(customer.id), Option.some(changed))
      same(yield* store.find(bystander.id), Option.some(bystander))
    }),
  )

  test(
    "writes nothing when the change fails, dies or writes elsewhere before it fails",
    Effect.gen(function* () {
      const store = yield* CustomerStore
      const customer = yield* insert()
      const other = yield* Sample.customer()
      const exits = [
        yield* Effect.exit(store.modify(customer.id, () => Effect.fail("no"))),
        yield* Effect.exit(store.modify(customer.id, () => Effect.die("broken"))),
        yield* Effect.exit(
          store.modify(customer.id, () => Effect.andThen(store.insert(other), Effect.fail("late"))),
        ),
      ]
      assert.deepStrictEqual(exits, [Exit.fail("no"), Exit.die("broken"), Exit.fail("late")])
      same(yield* store.find(customer.id), Option.some(customer))
      same(yield* store.status(other.id), "unknown")
    }),
  )

  test(
    "loses none of many changes at once",
    Effect.gen(function* () {
      const store = yield* CustomerStore
      const customer = yield* insert({ metadata: { n: "0" } })
      yield* together(
        times(20, (index) =>
          store.modify(customer.id, (old) =>
            Effect.as(Effect.yieldNow, {
              ...old,
              metadata: { ...old.metadata, n: String(Number(old.metadata["n"]) + 1), [`k${index}`]: "set" },
            }),
          ),
        ),
      )
      const { metadata } = Option.getOrThrow(yield* store.find(customer.id))
      same(metadata, { n: "20", ...Object.fromEntries(times(20, (index) => [`k${index}`, "set"] as const)) })
    }),
  )
}

const erasing = (test: ContractTest): void => {
  test(
    "erases for good, and says so again",
    Effect.gen(function* () {
      const store = yield* CustomerStore
      const customer = yield* insert()
      const bystander = yield* insert()
      same(yield* store.status(customer.id), "active")
      same(yield* store.erase(customer.id), true)
      same(yield* store.status(customer.id), "erased")
      same(yield* store.find(customer.id), Option.none())
      same(yield* store.modify(customer.id, () => Effect.die("called")), Option.none())
      same(yield* store.list(everything, firstPage), { data: [bystander], hasMore: false })
      same(yield* store.list({ ...everything, email: customer.email }, firstPage), {
        data: [bystander],
        hasMore: false,
      })
      same(yield* store.erase(customer.id), true)
      same(yield* store.status(customer.id), "erased")
    }),
  )

  test(
    "lets a change and an erasure at once end erased",
    Effect.gen(function* () {
      const store = yield* CustomerStore
      const customers = yield* Effect.all(times(10, () => insert()))
      yield* together(
        customers.flatMap(({ id }) => [
          Effect.asVoid(store.modify(id, (old) => Effect.as(Effect.yieldNow, { ...old, name: "changed" }))),
          Effect.asVoid(store.erase(id)),
        ]),
      )
      same(
        yield* Effect.forEach(customers, ({ id }) => store.status(id)),
        times(10, () => "erased"),
      )
      same(yield* store.list(everything, firstPage), { data: [], hasMore: false })
    }),
  )
}

const listing = (test: ContractTest): void => {
  pagingContract(
    test,
    Effect.gen(function* () {
      const store = yield* CustomerStore
      const list = (page: Page.PageQuery) =>
        Effect.map(store.list(everything, page), ({ data, hasMore }) => ({
          data: data.map(({ id }) => id),
          hasMore,
        }))
      const add = (count: number) => Effect.all(times(count, () => Effect.map(insert(), ({ id }) => id)))
      return { add, list, unknownId: Sample.customerId }
    }),
  )

  test(
    "lists whole customers",
    Effect.gen(function* () {
      const store = yield* CustomerStore
      const customers = yield* Effect.all([insert({ metadata: { a: "1" } }), insert({ name: "Grace" })])
      same(yield* store.list(everything, firstPage), { data: [...customers].reverse(), hasMore: false })
    }),
  )

  test(
    "lists those with exactly an e-mail address, in pages, as it changes",
    Effect.gen(function* () {
      const store = yield* CustomerStore
      const email = "shared@example.com"
      const [first, , second, third] = yield* Effect.all([
        insert({ email }),
        insert({ email: "Shared@example.com" }),
        insert({ email }),
        insert({ email: "later@example.com" }),
      ])
      same((yield* store.list({ ...everything, email }, firstPage)).data, [second, first])
      const page = { limit: 1, cursor: { direction: "older", id: second.id } } as const
      same(yield* store.list({ ...everything, email }, page), { data: [first], hasMore: false })
      const moved = { ...third, email }
      yield* store.modify(third.id, () => Effect.succeed(moved))
      yield* store.modify(first.id, () => Effect.succeed({ ...first, email: "gone@example.com" }))
      same((yield* store.list({ ...everything, email }, firstPage)).data, [moved, second])
      same(yield* store.list({ ...everything, email: "nobody@example.com" }, firstPage), {
        data: [],
        hasMore: false,
      })
    }),
  )

  test(
    "lists those with a text in name or e-mail address, whatever the case, in pages, as it changes",
    Effect.gen(function* () {
      const store = yield* CustomerStore
      const [ada, zoe, grace] = yield* Effect.all([
        insert({ name: "Ada Lovelace", email: "ada@analytical.example" }),
        insert({ name: "Zoë 100%_Analytic", email: "z@example.com" }),
        insert({ name: "Grace Hopper", email: "GRACE@Analytical.example" }),
      ])
      const search = (text: string, page = firstPage) =>
        Effect.map(store.list({ ...everything, search: Customer.folded(text) }, page), ({ data }) => data)
      same(yield* search("lovelace"), [ada])
      same(yield* search("ANALYTIC"), [grace, zoe, ada])
      same(yield* search("ana"), [grace, zoe, ada])
      same(yield* search("@analytical.example"), [grace, ada])
      same(yield* search("ZOË"), [zoe])
      // The two ways to write an accent are one.
      same(yield* search("Zoe\u0308"), [zoe])
      same(yield* search("100%_a"), [zoe])
      same(yield* search("a%l"), [])
      same(yield* search("lovelaced"), [])
      same(yield* search("analytic", { limit: 1, cursor: { direction: "older", id: grace.id } }), [zoe])
      same(yield* search("analytic", { limit: 1, cursor: { direction: "newer", id: ada.id } }), [zoe])
      const both = { email: ada.email, search: "lovelace" }
      same((yield* store.list(both, firstPage)).data, [ada])
      same((yield* store.list({ ...both, search: "hopper" }, firstPage)).data, [])
      const married = { ...grace, name: "Grace Murray" }
      yield* store.modify(grace.id, () => Effect.succeed(married))
      same(yield* search("hopper"), [])
      same(yield* search("murray"), [married])
      yield* store.erase(ada.id)
      same(yield* search("lovelace"), [])
      for (const tenant of yield* otherTenants) same(yield* search("zoë").pipe(asTenant(tenant)), [])
    }),
  )

  test(
    "takes an erased customer's id as cursor, so that paging survives an erasure",
    Effect.gen(function* () {
      const store = yield* CustomerStore
      const [a, b, c, d] = yield* Effect.all([insert(), insert(), insert(), insert()])
      yield* store.erase(c.id)
      const older = { limit: 9, cursor: { direction: "older", id: c.id } } as const
      const newer = { limit: 9, cursor: { direction: "newer", id: c.id } } as const
      same(yield* store.list(everything, older), { data: [b, a], hasMore: false })
      same(yield* store.list(everything, newer), { data: [d], hasMore: false })
    }),
  )

  test(
    "orders by id, whatever the order of insertion",
    Effect.gen(function* () {
      const store = yield* CustomerStore
      const [a, b, c] = yield* Effect.all([Sample.customer(), Sample.customer(), Sample.customer()])
      for (const customer of [c, a, b]) yield* store.insert(customer)
      same((yield* store.list(everything, firstPage)).data, [c, b, a])
    }),
  )
}

export const customerContract = (test: ContractTest): void => {
  test.section("CustomerStore", () => {
    test.section("basics", () => basics(test))
    test.section("modify", () => modifying(test))
    test.section("erase", () => erasing(test))
    test.section("list", () => listing(test))
  })
}
