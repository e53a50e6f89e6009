/**
 * Answers with a secret, and how they are stored for repeats.
 */
import { type Billing, generateKey, IdempotencyStore } from "@billwright/core"
import { Memory, type MemoryInspector } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as ApiServer from "../ApiServer.ts"

const PATH = "/v1/webhook_endpoints"
const json = { url: "https://example.com/hooks", event_types: ["*"] }
const once = { headers: { "idempotency-key": "k" } }

/** A storage that treats all keys as the same, so that a request finds the answer to another one. */
const forgetful: ApiServer.Storage = Layer.effectContext(
  Effect.map(Effect.context<Billing.Storage | MemoryInspector>(), (context) => {
    const store = Context.get(context, IdempotencyStore)
    return Context.add(context, IdempotencyStore, {
      ...store,
      once: (request, lifetime, effect) => store.once({ ...request, key: "one" }, lifetime, effect),
    })
  }),
).pipe(Layer.provide(Memory.layer))

describe("a repeat of a request whose answer has a secret", () => {
  it.effect("gets the same bytes, which are stored encrypted", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start({ billing: { encryption: generateKey("k1") } })
      for (const key of [api.testKey, api.liveKey]) {
        const created = yield* api.expect(201, "POST", PATH, { json, key, ...once })
        const path = `${PATH}/${created.id}/rotate_secret`
        const rotated = yield* api.expect(200, "POST", path, { key, ...once })
        for (const [first, target, body] of [
          [created, PATH, { json }],
          [rotated, path, {}],
        ] as const) {
          const again = yield* api.expect(first.status, "POST", target, { ...body, key, ...once })
          assert.strictEqual(again.text, first.text)
          assert.strictEqual(again.headers["idempotent-replayed"], "true")
          const secret = String(first.at("secret"))
          assert.match(secret, /^whsec_/)
          for (const { response } of (yield* api.snapshot).idempotency) {
            assert.match(response.body, /^k1\.[A-Za-z0-9+/]+=*$/)
            assert.notInclude(response.body, secret)
          }
          assert.notInclude(api.logs.join("\n"), secret)
        }
      }
      const { endpoints, idempotency } = yield* api.snapshot
      assert.lengthOf(endpoints, 2)
      assert.lengthOf(idempotency, 4)
    }),
  )

  it.effect(
    "gets the same bytes in test mode without an encryption key, where secrets are stored in plain text",
    () =>
      Effect.gen(function* () {
        const api = yield* ApiServer.start()
        const first = yield* api.expect(201, "POST", PATH, { json, ...once })
        const again = yield* api.expect(201, "POST", PATH, { json, ...once })
        assert.strictEqual(again.text, first.text)
        assert.deepStrictEqual(
          (yield* api.snapshot).idempotency.map(({ response }) => response.body),
          [`plain.${first.text}`],
        )
      }),
  )

  it.effect("gets the same refusal, and other content is another request", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const call = { json: { ...json, url: "https://10.0.0.1/" }, key: api.liveKey, ...once }
      const refused = yield* api.expect(400, "POST", PATH, call)
      const again = yield* api.expect(400, "POST", PATH, call)
      assert.strictEqual(again.text, refused.text)
      assert.strictEqual(again.headers["idempotent-replayed"], "true")
      yield* api.expect(201, "POST", PATH, { json, ...once })
      yield* api.expect(422, "POST", PATH, { json: { ...json, description: "x" }, ...once })
    }),
  )

  it.effect("gets 409 when the stored answer can't be decrypted, because it belongs to another request", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start({ storage: forgetful, billing: { encryption: generateKey("k1") } })
      const call = (key: string) => ({ json, headers: { "idempotency-key": key } })
      const created = yield* api.expect(201, "POST", PATH, call("first"))
      const refused = yield* api.expect(409, "POST", PATH, call("second"))
      assert.deepStrictEqual(refused.body, {
        error: "conflict",
        message: "the first answer can't be decrypted any more, because its encryption key was removed",
      })
      assert.strictEqual((yield* api.expect(201, "POST", PATH, call("first"))).text, created.text)
    }),
  )
})
