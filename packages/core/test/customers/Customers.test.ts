import { Customer, Customers, InvalidInput, type Page, Transactor } from "@billwright/core"
import { MemoryInspector } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { acme, acmeTest, as, at, globex, inWorld, newCustomer, NOON, recordUsage } from "../world.ts"

const unknownId = `cus_${"0".repeat(26)}`
const ada = { name: "Ada", email: "ada@example.com" }

describe("Customers.create", () => {
  it.effect("creates a customer with the current time", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const customer = yield* customers.create({ ...ada, metadata: { plan: "pro" } })
      assert.match(customer.id, /^cus_/)
      assert.deepStrictEqual(customer, {
        id: customer.id,
        ...Customer.NOTHING_KNOWN,
        testClockId: null,
        ...ada,
        metadata: { plan: "pro" },
        createdAt: NOON,
        updatedAt: NOON,
      })
      assert.deepStrictEqual(yield* customers.get(customer.id), customer)
      assert.deepStrictEqual((yield* customers.create(ada)).metadata, {})
    }).pipe(inWorld()),
  )

  it.effect("refuses invalid input, and stores nothing", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const error = yield* Effect.flip(customers.create({ ...ada, email: "ada" }))
      assert.instanceOf(error, InvalidInput)
      assert.strictEqual(error.field, "email")
      // An unknown field: callers without types can send one.
      const untyped = { ...ada, e_mail: "x" }
      const typo = yield* Effect.flip(customers.create(untyped))
      assert.include(typo.message, "e_mail is not a known field")
      assert.lengthOf((yield* customers.list()).data, 0)
    }).pipe(inWorld()),
  )
})

/** What subscriptions and invoices go by. */
const billed = {
  timezone: "Europe/Berlin",
  locale: "de-AT",
  currency: "EUR",
  country: "AT",
  taxId: "ATU12345678",
  taxStatus: "reverse_charge",
  address: { line1: "Ring 1", city: "Wien", postcode: "1010" },
  netDays: 30,
} as const

describe("what subscriptions and invoices of a customer go by", () => {
  it.effect("is kept, changed and set back to nothing", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const created = yield* customers.create({ ...ada, ...billed })
      assert.deepInclude(yield* customers.get(created.id), billed)
      const changed = yield* customers.update(created.id, { country: "DE", netDays: null })
      assert.deepStrictEqual(changed, { ...created, country: "DE", netDays: null })
      const emptied = yield* customers.update(created.id, Customer.NOTHING_KNOWN)
      assert.deepInclude(emptied, { ...ada, ...Customer.NOTHING_KNOWN })
    }).pipe(inWorld()),
  )

  it.effect("is refused field by field when it breaks a rule", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const wrong: ReadonlyArray<[string, object]> = [
        ["timezone", { timezone: "Mars/Olympus" }],
        ["locale", { locale: "Deutsch" }],
        ["currency", { currency: "eur" }],
        ["country", { country: "Germany" }],
        ["taxId", { taxId: "" }],
        ["taxStatus", { taxStatus: "never" }],
        ["address.city", { address: { city: "" } }],
        ["address.country", { address: { country: "DE" } }],
        ["netDays", { netDays: 366 }],
        ["netDays", { netDays: 1.5 }],
      ]
      for (const [field, change] of wrong) {
        const error = yield* Effect.flip(customers.create({ ...ada, ...change }))
        assert.instanceOf(error, InvalidInput)
        assert.strictEqual(error.field, field)
      }
    }).pipe(inWorld()),
  )
})

describe("Customers.get", () => {
  it.effect("fails in the same way for unknown ids, ids of other kinds and malformed ids", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      for (const id of [unknownId, `usg_${"0".repeat(26)}`, "", "cus_", "'; drop table customers", "\0"]) {
        const error = yield* Effect.flip(customers.get(id))
        assert.instanceOf(error, Customer.CustomerNotFound)
        assert.strictEqual(error.message, `no customer has the id ${id}`)
      }
    }).pipe(inWorld()),
  )
})

describe("Customers.update", () => {
  it.effect("changes only the given fields, and null removes a metadata key", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const created = yield* newCustomer({ metadata: { plan: "pro", seats: "3" } })
      yield* TestClock.adjust("1 second")
      const updated = yield* customers.update(created.id, {
        name: "Ada L.",
        metadata: { plan: null, region: "eu" },
      })
      assert.deepStrictEqual(updated, {
        ...created,
        name: "Ada L.",
        metadata: { seats: "3", region: "eu" },
        updatedAt: at("2026-11-21T12:00:01.000Z"),
      })
      assert.deepStrictEqual(yield* customers.get(created.id), updated)
      const again = yield* customers.update(created.id, { email: "lovelace@example.com" })
      assert.deepStrictEqual(again, { ...updated, email: "lovelace@example.com" })
      const emptied = yield* customers.update(created.id, { metadata: null })
      assert.deepStrictEqual(emptied, { ...again, metadata: {} })
    }).pipe(inWorld()),
  )

  it.effect("leaves everything as it is for an empty update", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const created = yield* newCustomer({})
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* customers.update(created.id, {}), created)
    }).pipe(inWorld()),
  )

  it.effect("refuses more than 50 metadata keys in total, and then changes nothing", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, ""]))
      const created = yield* newCustomer({ metadata })
      const error = yield* Effect.flip(
        customers.update(created.id, { name: "New", metadata: { one: "more" } }),
      )
      assert.strictEqual(error.message, "metadata must have at most 50 keys")
      assert.deepStrictEqual(yield* customers.get(created.id), created)
      const swapped = yield* customers.update(created.id, { metadata: { k0: null, one: "more" } })
      assert.lengthOf(Object.keys(swapped.metadata), 50)
    }).pipe(inWorld()),
  )

  it.effect("refuses null for required fields", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const { id } = yield* newCustomer()
      const error = yield* Effect.flip(customers.update(id, { ...({ name: null } as object) }))
      assert.strictEqual(error.message, "name must be a string")
    }).pipe(inWorld()),
  )

  it.effect("fails for an unknown customer", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      for (const id of [unknownId, "x"]) {
        assert.instanceOf(yield* Effect.flip(customers.update(id, { name: "A" })), Customer.CustomerNotFound)
      }
    }).pipe(inWorld()),
  )

  it.effect("loses none of many concurrent changes", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const { id } = yield* newCustomer()
      yield* Effect.forEach([1, 2, 3, 4, 5], (i) => customers.update(id, { metadata: { [`k${i}`]: "" } }), {
        concurrency: "unbounded",
      })
      assert.lengthOf(Object.keys((yield* customers.get(id)).metadata), 5)
    }).pipe(inWorld()),
  )
})

describe("Customers.erase", () => {
  it.effect("removes name, e-mail and metadata for good and keeps id and usage", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const customer = yield* newCustomer({ metadata: { plan: "pro" } })
      yield* recordUsage(customer)
      yield* customers.erase(customer.id)
      const errors = yield* Effect.all([
        Effect.flip(customers.get(customer.id)),
        Effect.flip(customers.update(customer.id, { name: "Back" })),
        Effect.flip(recordUsage(customer)),
      ])
      assert.isTrue(errors.every((error) => error instanceof Customer.CustomerNotFound))
      assert.deepStrictEqual((yield* customers.list()).data, [])
      const stored = yield* (yield* MemoryInspector).snapshot
      assert.deepStrictEqual(stored.customers, [{ tenant: acme, id: customer.id, customer: null }])
      assert.lengthOf(stored.records, 1)
    }).pipe(inWorld()),
  )

  it.effect("changes nothing the second time, and fails for an unknown customer", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const { id } = yield* newCustomer()
      yield* customers.erase(id)
      yield* customers.erase(id)
      for (const id of [unknownId, "x"]) {
        assert.instanceOf(yield* Effect.flip(customers.erase(id)), Customer.CustomerNotFound)
      }
    }).pipe(inWorld()),
  )
})

describe("Customers.list", () => {
  const create = Effect.fnUntraced(function* (count: number) {
    const made: Array<Customer.Customer> = []
    for (let i = 0; i < count; i++)
      made.push(yield* newCustomer({ name: `n${i}`, email: `${i % 2}@example.com` }))
    return made.toReversed()
  })
  const ids = (page: Page.Page<Customer.Customer>) => page.data.map(({ id }) => id)

  it.effect("is newest first, with 20 items by default, and says whether there are more", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      assert.deepStrictEqual(yield* customers.list(), { data: [], hasMore: false })
      const made = (yield* create(21)).map(({ id }) => id)
      const page = yield* customers.list()
      assert.deepStrictEqual(ids(page), made.slice(0, 20))
      assert.isTrue(page.hasMore)
      assert.isFalse((yield* customers.list({ limit: 21 })).hasMore)
      assert.isTrue((yield* customers.list({ limit: 1 })).hasMore)
    }).pipe(inWorld()),
  )

  it.effect(
    "pages through all customers in both directions, without skips or repeats while some are added",
    () =>
      Effect.gen(function* () {
        const customers = yield* Customers
        const made = (yield* create(7)).map(({ id }) => id)
        const older: Array<string> = []
        let page = yield* customers.list({ limit: 3 })
        older.push(...ids(page))
        while (page.hasMore) {
          yield* newCustomer()
          page = yield* customers.list({ limit: 3, startingAfter: older.at(-1)! })
          older.push(...ids(page))
        }
        assert.deepStrictEqual(older, made)
        const newer: Array<string> = []
        do {
          page = yield* customers.list({ limit: 2, endingBefore: newer[0] ?? made.at(-1)! })
          newer.unshift(...ids(page))
        } while (page.hasMore)
        assert.deepStrictEqual(newer.slice(-6), made.slice(0, 6))
        assert.lengthOf(newer, 6 + 2)
      }).pipe(inWorld()),
  )

  it.effect("finds customers by their exact e-mail address", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const made = yield* create(6)
      const even = made.filter(({ email }) => email === "0@example.com").map(({ id }) => id)
      assert.deepStrictEqual(ids(yield* customers.list({ email: "0@example.com" })), even)
      assert.deepStrictEqual(
        ids(yield* customers.list({ email: "0@example.com", limit: 1, startingAfter: even[0]! })),
        [even[1]!],
      )
      assert.deepStrictEqual(ids(yield* customers.list({ email: "0@EXAMPLE.com" })), [])
    }).pipe(inWorld()),
  )

  it.effect("finds customers by a text in their name or e-mail address", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const zoe = yield* customers.create({ name: "Zoë Ångström", email: "z@example.com" })
      const ada = yield* customers.create({ name: "Ada", email: "ada@ANALYTICAL.example" })
      const found = (search: string) => Effect.map(customers.list({ search }), ids)
      assert.deepStrictEqual(yield* found("EXAMPLE"), [ada.id, zoe.id])
      assert.deepStrictEqual(yield* found("a@analytical"), [ada.id])
      assert.deepStrictEqual(yield* found("ångstro\u0308m"), [zoe.id])
      assert.deepStrictEqual(ids(yield* customers.list({ search: "example", email: zoe.email })), [zoe.id])
    }).pipe(inWorld()),
  )

  it.effect("names a wrong limit or cursor", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const { id } = yield* newCustomer()
      const cases = [
        [{ limit: 0 }, "limit must be an integer from 1 to 100"],
        [{ limit: 101 }, "limit must be an integer from 1 to 100"],
        [{ startingAfter: unknownId }, "startingAfter is not the id of an item of this list"],
        [{ endingBefore: "x" }, "endingBefore is not the id of an item of this list"],
        [{ startingAfter: id, endingBefore: id }, "endingBefore cannot be combined with the other cursor"],
      ] as const
      for (const [query, message] of cases) {
        assert.strictEqual((yield* Effect.flip(customers.list(query))).message, message)
      }
    }).pipe(inWorld()),
  )

  it.effect("continues after a customer that was erased meanwhile", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const made = (yield* create(3)).map(({ id }) => id)
      yield* customers.erase(made[1]!)
      assert.deepStrictEqual(ids(yield* customers.list({ startingAfter: made[1]! })), [made[2]!])
    }).pipe(inWorld()),
  )
})

describe("customers of another tenant", () => {
  it.effect("are not found, listed, changed or erased", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const { id } = yield* newCustomer()
      for (const other of [acmeTest, globex]) {
        const errors = yield* Effect.all([
          Effect.flip(customers.get(id)),
          Effect.flip(customers.update(id, { name: "Mine" })),
          Effect.flip(customers.erase(id)),
        ]).pipe(as(other))
        assert.isTrue(errors.every((error) => error instanceof Customer.CustomerNotFound))
        assert.deepStrictEqual((yield* as(other)(customers.list())).data, [])
        assert.instanceOf(yield* Effect.flip(as(other)(customers.list({ startingAfter: id }))), InvalidInput)
      }
      assert.strictEqual((yield* customers.get(id)).name, "Ada")
    }).pipe(inWorld()),
  )
})

describe("a transaction", () => {
  it.effect("that fails leaves no customer behind", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const { atomically } = yield* Transactor
      yield* Effect.flip(atomically(Effect.andThen(newCustomer(), Effect.fail("no"))))
      assert.deepStrictEqual((yield* customers.list()).data, [])
    }).pipe(inWorld()),
  )
})
