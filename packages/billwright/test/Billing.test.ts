/** The Promise API on the memory store. */
import {
  type Billing,
  BillingError,
  ClosedError,
  ConfigurationError,
  createBilling,
  CustomerNotFoundError,
  EncryptionKeyRequiredError,
  generateEncryptionKey,
  InvalidInputError,
  NotFoundError,
  TransactionEndedError,
  UnauthorizedError,
  UsageKeyConflictError,
} from "billwright"
import { memory } from "billwright/memory"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { selfSigned } from "../../node/test/Certificate.ts"
import { rejection } from "./Rejection.ts"

const { cert: certificate } = selfSigned(["127.0.0.1"], -1, 365)

const ada = { name: "Ada Lovelace", email: "ada@example.com" }
/** An id of 1970, which no generator returns. */
const NO_CUSTOMER = `cus_${"0".repeat(26)}`

let billing: Billing

beforeAll(async () => {
  billing = await createBilling({ store: memory(), log: false })
})
afterAll(() => billing.close())

describe("customers", () => {
  it("are created, read, changed and erased", async () => {
    const customer = await billing.customers.create({ ...ada, metadata: { plan: "pro" } })
    assert.instanceOf(customer.createdAt, Date)
    assert.deepStrictEqual(await billing.customers.get(customer.id), customer)
    const changed = await billing.customers.update(customer.id, { metadata: { plan: null, seats: "3" } })
    assert.deepStrictEqual(changed.metadata, { seats: "3" })
    await billing.customers.erase(customer.id)
    const error = await rejection(billing.customers.get(customer.id))
    assert.instanceOf(error, CustomerNotFoundError)
    assert.instanceOf(error, NotFoundError)
    assert.instanceOf(error, BillingError)
    assert.strictEqual(error.code, "customer_not_found")
    assert.strictEqual(error.id, customer.id)
    assert.propertyVal(error.cause, "_tag", "CustomerNotFound")
  })

  it("treat a field that is undefined like one that is left out", async () => {
    const customer = await billing.customers.create({ ...ada, metadata: undefined })
    assert.deepStrictEqual(customer.metadata, {})
  })

  it("name the field that breaks a rule", async () => {
    const error = await rejection(billing.customers.create({ name: "", email: "ada@example.com" }))
    assert.instanceOf(error, InvalidInputError)
    assert.strictEqual(error.field, "name")
    assert.strictEqual(error.message, "name must be 1 to 256 characters")
    const missing = await rejection(billing.customers.create(undefined as never))
    assert.instanceOf(missing, InvalidInputError)
  })
})

describe("lists", () => {
  it("are iterated over across pages, or read one page at a time", async () => {
    const account = billing.forAccount("lists")
    const ids: Array<string> = []
    for (let i = 0; i < 5; i++) ids.unshift((await account.customers.create(ada)).id)
    const seen: Array<string> = []
    for await (const { id } of account.customers.list({ limit: 2 })) seen.push(id)
    assert.deepStrictEqual(seen, ids)
    const first = await account.customers.list({ limit: 2 }).page()
    assert.deepStrictEqual(
      first.data.map(({ id }) => id),
      ids.slice(0, 2),
    )
    assert.isTrue(first.hasMore)
    const newer = await account.customers.list({ limit: 2, endingBefore: ids[2] }).page()
    assert.deepStrictEqual(
      newer.data.map(({ id }) => id),
      ids.slice(0, 2),
    )
    const rest: Array<string> = []
    for await (const { id } of account.customers.list({ startingAfter: ids[2] })) rest.push(id)
    assert.deepStrictEqual(rest, ids.slice(3))
  })

  it("refuse endingBefore in an iteration", async () => {
    const iterator = billing.customers.list({ endingBefore: "cus_1" })[Symbol.asyncIterator]()
    assert.propertyVal(await rejection(iterator.next()), "field", "endingBefore")
  })
})

describe("usage", () => {
  const record = (customerId: string) => ({ customerId, productId: "api", quantity: 5, unit: "call" })

  it("is recorded once for an idempotency key, and summed up exactly", async () => {
    const { id } = await billing.customers.create(ada)
    const first = await billing.usage.record({
      ...record(id),
      quantity: 5n,
      timestamp: "2026-11-20T23:30:00-05:00",
      idempotencyKey: "a",
    })
    assert.isFalse(first.isDuplicate)
    assert.strictEqual(first.record.quantity, 5)
    assert.deepStrictEqual(first.record.timestamp, new Date("2026-11-21T04:30:00Z"))
    const again = await billing.usage.record({
      ...record(id),
      timestamp: first.record.timestamp,
      idempotencyKey: "a",
    })
    assert.deepStrictEqual(again, { record: first.record, isDuplicate: true })
    const batch = await billing.usage.recordBatch([
      { ...record(id), quantity: Number.MAX_SAFE_INTEGER },
      { ...record(id), quantity: 7, idempotencyKey: "a7" },
    ])
    assert.deepStrictEqual(
      batch.map(({ isDuplicate }) => isDuplicate),
      [false, false],
    )
    const total = await billing.usage.summary({ customerId: id })
    assert.strictEqual(total.totalQuantity, BigInt(Number.MAX_SAFE_INTEGER) + 12n)
    await billing.usage.voidRecord(first.record.id)
    assert.strictEqual(
      (await billing.usage.summary({ customerId: id })).totalQuantity,
      BigInt(Number.MAX_SAFE_INTEGER) + 7n,
    )
    assert.instanceOf((await billing.usage.getRecord(first.record.id)).voidedAt, Date)
    const conflict = await rejection(billing.usage.record({ ...record(id), idempotencyKey: "a7" }))
    assert.instanceOf(conflict, UsageKeyConflictError)
    assert.strictEqual(conflict.recordId, batch[1]?.record.id)
    const points = await billing.usage.series({
      customerId: id,
      startDate: "2026-01-01",
      endDate: "2026-01-02",
      window: "day",
    })
    assert.lengthOf(points, 2)
    assert.strictEqual(points[0]?.quantity, 0n)
    assert.deepStrictEqual(await billing.usage.audit(), [])
    const records: Array<string> = []
    for await (const { id: recordId } of billing.usage.listRecords({ customerId: id })) records.push(recordId)
    assert.lengthOf(records, 3)
  })

  it("refuses invalid quantities and instants", async () => {
    const { id } = await billing.customers.create(ada)
    for (const quantity of [2n ** 53n, -1n, 1.5, Number.NaN]) {
      const error = await rejection(billing.usage.record({ ...record(id), quantity }))
      assert.propertyVal(error, "field", "quantity")
    }
    for (const timestamp of ["2026-02-30T00:00:00Z", "2026-11-21", "2026-11-21T09:30:00", new Date(NaN), 5]) {
      const input = { ...record(id), timestamp: timestamp as Date }
      assert.propertyVal(await rejection(billing.usage.record(input)), "field", "timestamp")
      const batch = billing.usage.recordBatch([record(id), input])
      assert.propertyVal(await rejection(batch), "field", "records[1].timestamp")
    }
    assert.instanceOf(await rejection(billing.usage.recordBatch("x" as never)), InvalidInputError)
  })

  it("fires thresholds", async () => {
    const { id } = await billing.customers.create(ada)
    const meter = { customerId: id, productId: "api", unit: "call" }
    const threshold = await billing.thresholds.create({ ...meter, quantity: 10, period: "lifetime" })
    assert.strictEqual(threshold.quantity, 10n)
    const large = await billing.thresholds.create({ ...meter, quantity: 10n ** 30n, period: "day" })
    const fraction = billing.thresholds.create({ ...meter, quantity: 1.5, period: "day" })
    assert.propertyVal(await rejection(fraction), "field", "quantity")
    await billing.usage.record({ ...meter, quantity: 10 })
    assert.instanceOf((await billing.thresholds.get(threshold.id)).lastFiredAt, Date)
    const [fired] = (await billing.events.list({ customerId: id, type: "usage.threshold" }).page()).data
    assert.strictEqual(fired?.type, "usage.threshold")
    await billing.thresholds.delete(large.id)
    const left = await billing.thresholds.list({ customerId: id }).page()
    assert.deepStrictEqual(
      left.data.map((each) => each.id),
      [threshold.id],
    )
  })
})

describe("API keys", () => {
  it("are shown once, verified, rolled and revoked", async () => {
    const issued = await billing.test.keys.create({
      name: "ci",
      scopes: ["usage:write"],
      expiresAt: "2999-01-01T00:00:00Z",
    })
    assert.match(issued.secret, /^sk_test_/)
    const none = await rejection(billing.test.keys.create({ name: "ci", scopes: [] }))
    assert.propertyVal(none, "field", "scopes")
    const { secret, ...key } = issued
    assert.deepStrictEqual(await billing.test.keys.get(key.id), key)
    const verified = await billing.keys.verify(secret)
    assert.deepInclude(verified, { id: key.id, accountId: "default", mode: "test" })
    const rolled = await billing.test.keys.roll(key.id)
    assert.instanceOf(await rejection(billing.keys.verify(secret)), UnauthorizedError)
    await billing.test.keys.revoke(rolled.id)
    assert.instanceOf(await rejection(billing.keys.verify(rolled.secret)), UnauthorizedError)
    assert.lengthOf((await billing.test.keys.list().page()).data, 2)
  })
})

describe("accounts and modes", () => {
  it("have separate data on one billing", async () => {
    const { id } = await billing.customers.create(ada)
    for (const other of [billing.test, billing.forAccount("other"), billing.test.forAccount("other")]) {
      assert.instanceOf(await rejection(other.customers.get(id)), CustomerNotFoundError)
    }
    assert.strictEqual((await billing.test.live.customers.get(id)).id, id)
    assert.strictEqual((await billing.live.customers.get(id)).id, id)
    assert.strictEqual((await billing.forAccount("default").customers.get(id)).id, id)
    assert.strictEqual(billing.test.mode, "test")
    assert.strictEqual(billing.test.test, billing.test)
    assert.strictEqual(billing.forAccount("other").accountId, "other")
  })

  it("refuses a malformed account id", () => {
    assert.throws(() => billing.forAccount("a b"), InvalidInputError, "accountId must be")
  })
})

describe("transaction", () => {
  it("commits everything together, and returns the result of its function", async () => {
    const result = await billing.transaction(async (tx) => {
      const { id } = await tx.customers.create(ada)
      await tx.usage.record({ customerId: id, productId: "api", quantity: 1, unit: "call" })
      return { id, at: new Map([["kept", "as it is"]]) }
    })
    assert.instanceOf(result.at, Map)
    assert.strictEqual((await billing.usage.summary({ customerId: result.id })).totalQuantity, 1n)
  })

  it("rolls back, and rejects with the thrown error unchanged", async () => {
    const account = billing.forAccount("rollback")
    const mine = new Error("mine")
    const failed = account.transaction(async (tx) => {
      await tx.customers.create(ada)
      throw mine
    })
    assert.strictEqual(await rejection(failed), mine)
    assert.deepStrictEqual((await account.customers.list().page()).data, [])
  })

  it("continues after a failed call whose error was caught", async () => {
    const account = billing.forAccount("savepoint")
    await account.transaction(async (tx) => {
      const { id } = await tx.customers.create(ada)
      const records = [
        { customerId: id, productId: "api", quantity: 1, unit: "call" },
        { customerId: NO_CUSTOMER, productId: "api", quantity: 1, unit: "call" },
      ]
      assert.instanceOf(await rejection(tx.usage.recordBatch(records)), CustomerNotFoundError)
      const { totalQuantity } = await tx.usage.summary({ customerId: id })
      assert.strictEqual(totalQuantity, 0n)
    })
    assert.lengthOf((await account.customers.list().page()).data, 1)
  })

  it("runs concurrent calls one after the other, and names those that were not awaited", async () => {
    const account = billing.forAccount("queue")
    await account.transaction((tx) => Promise.all([1, 2, 3].map(() => tx.customers.create(ada))))
    const forgetful = account.transaction(async (tx) => {
      void tx.customers.create(ada)
    })
    assert.match(
      (await rejection(forgetful)).message,
      /ended before tx\.customers\.create had finished: await every call/,
    )
    assert.lengthOf((await account.customers.list().page()).data, 3)
  })

  it("refuses calls after its end", async () => {
    const kept = await billing.transaction(async (tx) => tx)
    assert.instanceOf(await rejection(kept.customers.create(ada)), TransactionEndedError)
  })

  it("refuses calls outside of it that would wait for its end", async () => {
    let later: Promise<unknown> | undefined
    const { promise: end, resolve } = Promise.withResolvers<void>()
    await billing.transaction(async (tx) => {
      const error = await rejection(billing.test.customers.create(ada))
      assert.match(
        error.message,
        /^billing\.\S+ would wait for ever, because it was called inside the function of billing\.transaction: call tx\.\S+, on the tx/,
      )
      await tx.customers.create(ada)
      later = end.then(() => billing.customers.create(ada))
    })
    resolve()
    await later
  })

  it("is rolled back when its signal aborts", async () => {
    const account = billing.forAccount("abort")
    const controller = new AbortController()
    const reason = new Error("enough")
    const aborted = account.transaction(
      async (tx) => {
        await tx.customers.create(ada)
        controller.abort(reason)
        await new Promise(() => {})
      },
      { signal: controller.signal },
    )
    assert.strictEqual(await rejection(aborted), reason)
    assert.deepStrictEqual((await account.customers.list().page()).data, [])
  })

  it("explains wrong use", async () => {
    const joined = billing.transaction({}, async () => {})
    assert.match((await rejection(joined)).message, /this store can't join a transaction of yours/)
    const nothing = billing.transaction(undefined as never)
    assert.match((await rejection(nothing)).message, /takes a function/)
  })
})

describe("signals", () => {
  it("cancel a call with their reason", async () => {
    const reason = new Error("enough")
    const signal = AbortSignal.abort(reason)
    assert.strictEqual(await rejection(billing.customers.create(ada, { signal })), reason)
    assert.strictEqual(await rejection(billing.customers.list({}, { signal }).page()), reason)
    const iterator = billing.customers.list({}, { signal })[Symbol.asyncIterator]()
    assert.strictEqual(await rejection(iterator.next()), reason)
  })
})

describe("a malformed id", () => {
  const calls: Readonly<Record<string, readonly [prefix: string, call: (id: never) => Promise<unknown>]>> = {
    "customers.get": ["cus", (id) => billing.customers.get(id)],
    "customers.update": ["cus", (id) => billing.customers.update(id, {})],
    "customers.erase": ["cus", (id) => billing.customers.erase(id)],
    "usage.getRecord": ["usg", (id) => billing.usage.getRecord(id)],
    "usage.voidRecord": ["usg", (id) => billing.usage.voidRecord(id)],
    "thresholds.get": ["thr", (id) => billing.thresholds.get(id)],
    "thresholds.delete": ["thr", (id) => billing.thresholds.delete(id)],
    "events.get": ["evt", (id) => billing.events.get(id)],
    "events.replay": ["evt", (id) => billing.events.replay(id)],
    "endpoints.get": ["whe", (id) => billing.endpoints.get(id)],
    "endpoints.update": ["whe", (id) => billing.endpoints.update(id, {})],
    "endpoints.delete": ["whe", (id) => billing.endpoints.delete(id)],
    "endpoints.rotateSecret": ["whe", (id) => billing.endpoints.rotateSecret(id)],
    "endpoints.test": ["whe", (id) => billing.endpoints.test(id, { type: "invoice.paid" })],
    "endpoints.replay": ["whe", (id) => billing.endpoints.replay(id, { since: new Date(0) })],
    "deliveries.get": ["dlv", (id) => billing.deliveries.get(id)],
    "deliveries.replay": ["dlv", (id) => billing.deliveries.replay(id)],
    "keys.get": ["key", (id) => billing.keys.get(id)],
    "keys.roll": ["key", (id) => billing.keys.roll(id)],
    "keys.revoke": ["key", (id) => billing.keys.revoke(id)],
  }
  for (const [name, [prefix, call]] of Object.entries(calls)) {
    it(`is refused by ${name}`, async () => {
      for (const id of [undefined, null, 5, {}]) {
        const error = await rejection(call(id as never))
        assert.instanceOf(error, InvalidInputError)
        assert.strictEqual(error.message, `id must be a string such as ${prefix}_…`)
      }
      // A string is not an input error: something with this id may have existed.
      assert.instanceOf(await rejection(call(`${prefix}_none` as never)), NotFoundError)
    })
  }

  it("is refused like a wrong event type, signal, option or request", async () => {
    const told: ReadonlyArray<readonly [call: () => Promise<unknown>, sentence: string]> = [
      [
        () => billing.endpoints.test("whe_none", undefined as never),
        "type must be the name of an event type such as invoice.paid",
      ],
      [() => billing.customers.create(ada, { signal: 5 } as never), "options.signal must be an AbortSignal"],
      [
        () => billing.customers.create(ada, { sgnal: undefined } as never),
        "options.sgnal is not an option of a call: the only one is signal",
      ],
      [() => billing.customers.get("cus_none", 0 as never), "options must be an object such as { signal }"],
      [() => billing.fetch("http://localhost" as never), "request must be a Request of the Fetch standard"],
    ]
    for (const [call, sentence] of told) {
      const error = await rejection(call())
      assert.instanceOf(error, InvalidInputError)
      assert.strictEqual(error.message, sentence)
    }
    await billing.customers.create(ada, { signal: undefined })
  })
})

describe("errors", () => {
  it("have the stack of the call", async () => {
    const caller = () => billing.customers.get("cus_none")
    const error = await rejection(caller())
    const frames = (error.stack ?? "").split("\n")
    assert.strictEqual(frames[0], "CustomerNotFoundError: no customer has the id cus_none")
    assert.match(frames[1] ?? "", /at caller .*Billing\.test\.ts/)
    assert.notInclude(error.stack, "node_modules/effect")
  })
})

describe("createBilling", () => {
  const problems: ReadonlyArray<readonly [options: object, sentence: RegExp]> = [
    [{}, /store must be made by memory\(\)/],
    [{ store: { kind: "memory" } }, /store must be made by memory\(\)/],
    [{ store: memory(), stor: 1 }, /has no option "stor"/],
    [{ store: memory(), mode: "prod" }, /mode must be "live" or "test"/],
    [{ store: memory(), accountId: "a b" }, /accountId must be 1 to 64/],
    [{ store: memory(), accountId: "" }, /^accountId must be 1 to 64 letters, digits, - or _$/],
    [{ store: memory(), encryptionKeys: "secret" }, /the encryption keys are not valid: entry 1/],
    [{ store: memory(), encryptionKeys: 5 }, /encryptionKeys must be a key/],
    [
      { store: memory(), encryptionKeys: "k1:wrapped:AAAA" },
      /"k1" is wrapped, and no key management service was given$/,
    ],
    [{ store: memory(), keyManagement: {} }, /^keyManagement must be an object with the function decrypt$/],
    [
      { store: memory(), encryptionKeys: { file: "/nowhere/keys" } },
      /can't be created: its directory does not/,
    ],
    [
      { store: memory(), network: { allow: ["169.254.169.254/32"] } },
      /network\.allow\[0\] must not be 169\.254\.169\.254\/32: it is the address of a cloud's metadata service/,
    ],
    [{ store: memory(), network: { allow: ["10.0.0.0"] } }, /network\.allow\[0\] must be a network/],
    [{ store: memory(), events: [{}] }, /events must be a list of event types made by defineEvent/],
    [
      { store: memory(), dispatcher: { certificateAuthorities: ["x"] } },
      /^dispatcher\.certificateAuthorities\[0\] must be/,
    ],
    [
      { store: memory(), dispatcher: { proxy: 3128 } },
      /^dispatcher\.proxy must be the URL of an HTTP proxy$/,
    ],
    [
      { store: memory(), dispatcher: { proxy: "socks5://proxy.example" } },
      /^dispatcher\.proxy must be the URL of an HTTP proxy, such as http:/,
    ],
    [
      { store: memory(), dispatcher: { clientCertificate: { certificate } } },
      /^dispatcher\.clientCertificate\.key must be its private key in PEM$/,
    ],
    [
      { store: memory(), dispatcher: { clientCertificate: { certificate, key: "secret" } } },
      /^dispatcher\.clientCertificate\.key must be a private key in PEM$/,
    ],
    [{ store: memory(), verifyEndpoints: {} }, /^verifyEndpoints needs origin, a host name/],
    [{ store: memory(), verifyEndpoints: true }, /^verifyEndpoints must be an object of origin, /],
    [
      { store: memory(), verifyEndpoints: { origin: "https://a.example" } },
      /^verifyEndpoints\.origin must be a host name that stands for the sender/,
    ],
    [
      { store: memory(), dispatcher: false, verifyEndpoints: { origin: "a.example", proxy: "x" } },
      /^verifyEndpoints\.proxy must be the URL of an HTTP proxy/,
    ],
    [
      { store: memory(), keys: { cacheMillis: 5_001 } },
      /^keys\.cacheMillis must be an integer from 0 to 3000$/,
    ],
    [
      { store: memory(), keys: { peper: "x" } },
      /^keys has no option "peper": its options are pepper, cacheMillis, maxAgeMillis$/,
    ],
    [{ store: memory(), keys: { pepper: "" } }, /^keys\.pepper must be text that is not empty$/],
    [
      { store: memory(), usage: { maxPastMillis: -1 } },
      /^usage\.maxPastMillis must be an integer of at least 0$/,
    ],
    [{ store: memory(), usage: null }, /^usage must be an object of maxPastMillis$/],
    [{ store: memory(), http: { rateLimit: 5 } }, /^http\.rateLimit must be an object of requestsPerSecond/],
    [{ store: memory(), http: { rateLimit: {} } }, /^http\.rateLimit needs requestsPerSecond/],
    [
      { store: memory(), http: { rateLimit: { requestsPerSecond: 0 } } },
      /^http\.rateLimit\.requestsPerSecond must be a number above 0$/,
    ],
    [{ store: memory(), http: { idempotencyMillis: "7d" } }, /^http\.idempotencyMillis must be an integer/],
    [{ store: memory(), dispatcher: "off" }, /^dispatcher must be true, false, "manual" or settings$/],
    [{ store: memory(), dispatcher: null }, /^dispatcher must be true, false, "manual" or settings$/],
    [
      { store: memory(), dispatcher: { maxInflight: 4 } },
      /^dispatcher has no option "maxInflight": its options are max/,
    ],
    [
      { store: memory(), dispatcher: { maxInFlight: 0 } },
      /^dispatcher\.maxInFlight must be an integer of at/,
    ],
    [
      { store: memory(), dispatcher: { userAgent: "a\nb" } },
      /^dispatcher\.userAgent must be text of printable/,
    ],
    [
      { store: memory(), dispatcher: { retries: { live: {} } } },
      /^dispatcher\.retries\.live\.baseMillis must be an integer of at least 0$/,
    ],
    [
      { store: memory(), network: { allowLoopback: "yes" } },
      /^network\.allowLoopback must be true or false$/,
    ],
    [
      { store: memory(), network: "10.0.0.0/8" },
      /^network must be an object of allow, allowLoopback, decodeNat64$/,
    ],
    [{ store: memory(), log: "info" }, /^log must be a function or false$/],
    [undefined as never, /createBilling needs options/],
  ]
  for (const [options, sentence] of problems) {
    it(`explains: ${sentence.source}`, async () => {
      const error = await rejection(createBilling(options as never))
      assert.instanceOf(error, ConfigurationError)
      assert.match(error.message, sentence)
      assert.notInclude(error.message, "\n")
    })
  }

  it("refuses a Node that is too old", async () => {
    const { versions } = process
    Object.defineProperty(process, "versions", { value: { ...versions, node: "20.19.5" } })
    try {
      const error = await rejection(createBilling({ store: memory() }))
      assert.instanceOf(error, ConfigurationError)
      assert.strictEqual(error.message, "Billwright needs Node 22.19 or later, and this is Node 20.19.5")
    } finally {
      Object.defineProperty(process, "versions", { value: versions })
    }
  })

  it("refuses a live webhook endpoint without a key that encrypts its secret", async () => {
    const endpoint = { url: "https://example.com/hooks", eventTypes: ["*"] as const }
    const error = await rejection(billing.endpoints.create(endpoint))
    assert.instanceOf(error, EncryptionKeyRequiredError)
    assert.match(error.message, /pass encryptionKeys to createBilling/)
    const encrypted = await createBilling({ store: memory(), encryptionKeys: generateEncryptionKey() })
    assert.match((await encrypted.endpoints.create(endpoint)).secret ?? "", /^whsec_/)
    await encrypted.close()
  })

  it("has a key management service decrypt the wrapped keys, of encryption and of links", async () => {
    const asked: Array<string> = []
    const keys = new Map(
      ["k1", "k2"].map((id) => [id, Buffer.from(generateEncryptionKey(id).slice(3), "base64")] as const),
    )
    const options = {
      store: memory(),
      encryptionKeys: ["k1:wrapped:AAAA"],
      payerPages: { url: "https://shop.example/pay", keys: "k2:wrapped:BBBB" },
    }
    const encrypted = await createBilling({
      ...options,
      keyManagement: {
        decrypt: async (wrapped, keyId) => {
          asked.push(`${keyId} ${Buffer.from(wrapped).toString("base64")}`)
          return keys.get(keyId)!
        },
      },
    })
    assert.deepStrictEqual(asked, ["k1 AAAA", "k2 BBBB"])
    const endpoint = { url: "https://example.com/hooks", eventTypes: ["*"] as const }
    assert.match((await encrypted.endpoints.create(endpoint)).secret ?? "", /^whsec_/)
    await encrypted.close()

    const refusal = new Error("AccessDenied: kms:Decrypt")
    const keyManagement = { decrypt: () => Promise.reject(refusal) }
    const error = await rejection(createBilling({ ...options, keyManagement }))
    assert.instanceOf(error, ConfigurationError)
    assert.match(
      error.message,
      /^the key management service did not decrypt the key "k1": Error: AccessDenied: kms:Decrypt$/,
    )
  })

  it("closes once, and later calls reject with ClosedError", async () => {
    const closing = await createBilling({ store: memory(), mode: "test" })
    const last = closing.customers.create(ada)
    await Promise.all([closing.close(), closing.close()])
    assert.strictEqual((await last).name, ada.name)
    const error = await rejection(closing.customers.create(ada))
    assert.instanceOf(error, ClosedError)
    assert.match(error.message, /billing was closed/)
    assert.instanceOf(await rejection(closing.transaction(async () => {})), ClosedError)
    assert.strictEqual((await closing.fetch(new Request("http://localhost/livez"))).status, 503)
    await closing.close()
  })

  it("is closed at the end of a block with await using", async () => {
    let kept: Billing
    {
      await using scoped = await createBilling({ store: memory() })
      kept = scoped
    }
    assert.instanceOf(await rejection(kept.customers.create(ada)), ClosedError)
  })

  it("sends no webhooks with dispatcher: false", async () => {
    const silent = await createBilling({ store: memory(), dispatcher: false })
    assert.instanceOf(await rejection(silent.deliverDue()), ConfigurationError)
    await silent.close()
  })
})
