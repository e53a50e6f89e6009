import { FetchHandler } from "@billwright/http"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"
import * as Faults from "../Faults.ts"

const ada = { name: "Ada", email: "ada@example.com" }
const withKey = (key: string) => ({ headers: { "idempotency-key": key } })

describe("Idempotency-Key", () => {
  it.effect("gives a repeat the same status and bytes with Idempotent-Replayed, and does nothing", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const call = { json: { ...ada, metadata: { b: "2", a: "1" } }, ...withKey("k") }
      const first = yield* api.expect(201, "POST", "/v1/customers", call)
      assert.notProperty(first.headers, "idempotent-replayed")
      yield* TestClock.adjust("1 hour")
      const again = yield* api.expect(201, "POST", "/v1/customers", call)
      assert.strictEqual(again.text, first.text)
      assert.strictEqual(again.headers["idempotent-replayed"], "true")
      assert.notStrictEqual(again.headers["request-id"], first.headers["request-id"])
      assert.lengthOf((yield* api.snapshot).customers, 1)
    }),
  )

  it.effect("also works for PATCH, DELETE, void and batches, with exact integers byte for byte", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const record = (yield* api.record(customer)).id
      const usage = { customer_id: customer, product_id: "api", unit: "call", quantity: 1 }
      const threshold = JSON.stringify({ ...usage, period: "day" }).replace(":1,", `:${2n ** 80n},`)
      const requests = [
        [200, "PATCH", `/v1/customers/${customer}`, JSON.stringify({ name: "King" })],
        [200, "POST", "/v1/usage/batch", JSON.stringify({ records: [usage, usage] })],
        [200, "POST", `/v1/usage/records/${record}/void`, undefined],
        [201, "POST", "/v1/usage/thresholds", threshold],
        [200, "DELETE", `/v1/customers/${customer}`, undefined],
      ] as const
      for (const [status, method, path, body] of requests) {
        const call = { ...(body === undefined ? {} : { body }), ...withKey("same for all") }
        const first = yield* api.expect(status, method, path, { ...call, ...withKey("same-for-all") })
        yield* TestClock.adjust("1 second")
        const again = yield* api.expect(status, method, path, { ...call, ...withKey("same-for-all") })
        assert.strictEqual(again.text, first.text)
        assert.strictEqual(again.headers["idempotent-replayed"], "true")
      }
      assert.lengthOf((yield* api.snapshot).records, 3)
    }),
  )

  it.effect("does nothing again after its customer was erased, and returns nothing of the answer", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.expect(201, "POST", "/v1/customers", { json: ada })
      const data = { invoice_id: "in_1", customer_id: ada.email, amount: 4200, currency: "EUR" }
      const call = {
        json: { type: "invoice.paid", customer_id: customer.id, data },
        ...withKey("told"),
      }
      yield* api.expect(201, "POST", "/v1/events", call)
      yield* api.expect(200, "DELETE", `/v1/customers/${customer.id}`)
      const again = yield* api.expect(409, "POST", "/v1/events", call)
      assert.strictEqual(again.error, "conflict")
      assert.match(again.message, /was carried out before, and its answer was removed/)
      const remembered = (yield* api.snapshot).idempotency
      assert.isFalse(remembered.some(({ response }) => response.body.includes(ada.email)))
    }),
  )

  it.effect("does not return erased data: stored answers about the customer are deleted", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const call = { json: ada, ...withKey("k") }
      const first = yield* api.expect(201, "POST", "/v1/customers", call)
      const { id } = JSON.parse(first.text) as { id: string }
      const renamed = { json: { name: "Ada King" }, ...withKey("k") }
      yield* api.expect(200, "PATCH", `/v1/customers/${id}`, renamed)
      yield* api.expect(200, "DELETE", `/v1/customers/${id}`)
      const remembered = (yield* api.snapshot).idempotency
      assert.isFalse(remembered.some(({ response }) => response.body.includes(ada.email)))
      yield* api.expect(404, "PATCH", `/v1/customers/${id}`, renamed)
      const again = yield* api.expect(201, "POST", "/v1/customers", call)
      assert.notProperty(again.headers, "idempotent-replayed")
      assert.notInclude(again.text, id)
    }),
  )

  it.effect("treats another spelling of the same content as the same request, but not other content", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const first = yield* api.expect(201, "POST", "/v1/customers", {
        body: `{"name":"Ada","email":"ada@example.com","metadata":{"a":"1","b":"2"}}`,
        ...withKey("k"),
      })
      const respelt = yield* api.expect(201, "POST", "/v1/customers", {
        body: `{ "metadata": {"b": "\\u0032", "a": "1"},\n "email": "ada@example.com", "name": "\\u0041da" }`,
        ...withKey("k"),
      })
      assert.strictEqual(respelt.text, first.text)

      const customer = first.id
      const usage = {
        customer_id: customer,
        product_id: "api",
        unit: "call",
        timestamp: "2026-11-20T10:00:00Z",
      }
      const body = (quantity: string, timestamp = usage.timestamp) =>
        JSON.stringify({ ...usage, timestamp, quantity: 0 }).replace(`"quantity":0`, `"quantity":${quantity}`)
      const recorded = yield* api.expect(201, "POST", "/v1/usage", { body: body("100"), ...withKey("u") })
      for (const same of [body("1e2"), body("100.0"), body("100", "2026-11-20T12:00:00.000+02:00")]) {
        const again = yield* api.expect(201, "POST", "/v1/usage", { body: same, ...withKey("u") })
        assert.strictEqual(again.text, recorded.text)
      }
      for (const other of [body("101"), body("100", "2026-11-20T10:00:00.001Z")]) {
        const reused = yield* api.expect(422, "POST", "/v1/usage", { body: other, ...withKey("u") })
        assert.strictEqual(
          reused.message,
          "the Idempotency-Key was already used for a request with other content",
        )
      }
      assert.lengthOf((yield* api.snapshot).records, 1)
    }),
  )

  it.effect("is the same key with and without quotation marks", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const first = yield* api.expect(201, "POST", "/v1/customers", { json: ada, ...withKey("8e03-c") })
      const quoted = yield* api.expect(201, "POST", "/v1/customers", { json: ada, ...withKey(`"8e03-c"`) })
      assert.strictEqual(quoted.text, first.text)
      for (const key of ["k".repeat(255), `"${"q".repeat(255)}"`, "!", "~", `"`, `a"b`]) {
        const answer = yield* api.expect(201, "POST", "/v1/customers", { json: ada, ...withKey(key) })
        assert.notProperty(answer.headers, "idempotent-replayed", key)
      }
    }),
  )

  it.effect("must be 1 to 255 visible ASCII characters", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      for (const key of ["", "k".repeat(256), "two words", "tab\tkey", "é", `"two words"`, `""`]) {
        // An empty text in quotation marks.
        const status = key === `""` ? 201 : 400
        const answer = yield* api.expect(status, "POST", "/v1/customers", { json: ada, ...withKey(key) })
        if (status === 400) {
          assert.strictEqual(answer.message, "Idempotency-Key must be 1 to 255 visible ASCII characters")
        }
      }
      // GET ignores the header, because reading can always be repeated.
      yield* api.expect(200, "GET", "/v1/customers", withKey("two words"))
    }),
  )

  it.effect("stores a 4xx of the operation, but not of earlier checks", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const usage = { customer_id: ApiServer.UNKNOWN.customer, product_id: "api", unit: "call", quantity: 1 }
      const call = { json: usage, ...withKey("k") }
      const first = yield* api.expect(404, "POST", "/v1/usage", call)
      const again = yield* api.expect(404, "POST", "/v1/usage", call)
      assert.strictEqual(again.text, first.text)
      assert.strictEqual(again.headers["idempotent-replayed"], "true")
      yield* api.expect(422, "POST", "/v1/usage", { json: { ...usage, quantity: 2 }, ...withKey("k") })

      const id = yield* api.newCustomer()
      const taken = { ...usage, customer_id: id, idempotency_key: "taken" }
      yield* api.expect(201, "POST", "/v1/usage", { json: taken })
      const conflict = { json: { ...taken, quantity: 9 }, ...withKey("conflict") }
      yield* api.expect(409, "POST", "/v1/usage", conflict)
      const replayed = yield* api.expect(409, "POST", "/v1/usage", conflict)
      assert.strictEqual(replayed.headers["idempotent-replayed"], "true")

      yield* api.expect(400, "POST", "/v1/customers", { json: {}, ...withKey("malformed") })
      yield* api.expect(401, "POST", "/v1/customers", { json: ada, key: null, ...withKey("malformed") })
      yield* api.expect(201, "POST", "/v1/customers", { json: ada, ...withKey("malformed") })
    }),
  )

  it.effect("never stores a 5xx, which leaves nothing behind", () =>
    Effect.gen(function* () {
      const { faults, storage } = Faults.make()
      const api = yield* ApiServer.start({ storage })
      const call = { json: ada, ...withKey("k") }
      faults.data = Faults.unavailable
      yield* api.expect(503, "POST", "/v1/customers", call)
      faults.data = Faults.defect
      yield* api.expect(500, "POST", "/v1/customers", call)
      faults.data = Effect.void
      for (const fault of [Faults.unavailable, Faults.defect]) {
        faults.idempotency = fault
        const status = fault === Faults.unavailable ? 503 : 500
        yield* api.expect(status, "POST", "/v1/customers", call)
      }
      faults.idempotency = Effect.void
      const { customers, idempotency } = yield* api.snapshot
      assert.lengthOf(customers, 0)
      assert.lengthOf(idempotency, 0)
      const created = yield* api.expect(201, "POST", "/v1/customers", call)
      assert.notProperty(created.headers, "idempotent-replayed")
    }),
  )

  it.effect("belongs to an account, a mode, a method and a path", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const stranger = (yield* api.issue({ account: "other" })).secret
      const call = { json: ada, ...withKey("k") }
      const ids = new Set<string>()
      for (const key of [api.testKey, api.liveKey, stranger]) {
        ids.add((yield* api.expect(201, "POST", "/v1/customers", { ...call, key })).id)
      }
      assert.strictEqual(ids.size, 3)
      // Another API key of the same account and mode counts as the same caller.
      const second = (yield* api.issue()).secret
      const again = yield* api.expect(201, "POST", "/v1/customers", { ...call, key: second })
      assert.isTrue(ids.has(again.id))

      const [a, b] = [yield* api.newCustomer(), yield* api.newCustomer()]
      for (const path of [`/v1/customers/${a}`, `/v1/customers/${b}`]) {
        for (const method of ["PATCH", "DELETE"]) {
          const answer = yield* api.expect(200, method, path, { json: {}, ...withKey("k") })
          assert.notProperty(answer.headers, "idempotent-replayed")
        }
      }
    }),
  )

  it.effect("is forgotten after 7 days", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const handler = FetchHandler.make(api.server, api.context)
      const create = Effect.promise(async () => {
        const response = await handler(
          new Request("http://localhost/v1/customers", {
            method: "POST",
            headers: {
              authorization: `Bearer ${api.testKey}`,
              "content-type": "application/json",
              "idempotency-key": "k",
            },
            body: JSON.stringify(ada),
          }),
        )
        return { text: await response.text(), isReplay: response.headers.has("idempotent-replayed") }
      })
      const first = yield* create
      yield* TestClock.adjust("7 days")
      assert.deepStrictEqual(yield* create, { ...first, isReplay: true })
      yield* TestClock.adjust("1 milli")
      const later = yield* create
      assert.isFalse(later.isReplay)
      assert.notStrictEqual(later.text, first.text)
      assert.lengthOf((yield* api.snapshot).customers, 2)
    }),
  )
})
