import { FetchHandler } from "@billwright/http"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"
import * as Faults from "../Faults.ts"

const BASE = "https://billing.example"
const ada = JSON.stringify({ name: "Ada", email: "ada@example.com" })

const post = (key: string, init: RequestInit & { readonly duplex?: "half" } = {}): Request =>
  new Request(`${BASE}/v1/customers`, {
    method: "POST",
    body: ada,
    ...init,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  })

/** Answers a request, and checks the answer against the document. */
const ask = (api: ApiServer.Api, handler: FetchHandler.FetchHandler, request: Request, path: string) =>
  Effect.promise(async () => {
    const response = await handler(request)
    const answer = new ApiServer.Answer({
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: await response.text(),
    })
    api.judge(request.method, path, answer)
    return answer
  })

const streamOf = (chunks: Iterable<string>): ReadableStream<Uint8Array> =>
  new Blob(Array.from(chunks)).stream()

describe("FetchHandler", () => {
  it.effect("answers requests with responses", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const handler = FetchHandler.make(api.server, api.context)
      const created = yield* ask(api, handler, post(api.testKey), "/v1/customers")
      assert.strictEqual(created.status, 201)
      const headers = { authorization: `Bearer ${api.testKey}` }
      const list = new Request(`${BASE}/v1/customers?limit=5`, { headers })
      assert.deepStrictEqual((yield* ask(api, handler, list, "/v1/customers")).ids, [created.id])
      const head = new Request(`${BASE}/v1/customers`, { headers, method: "HEAD" })
      assert.strictEqual((yield* ask(api, handler, head, "/v1/customers")).status, 200)
      const removed = new Request(`${BASE}/v1/customers/${created.id}`, { headers, method: "DELETE" })
      const path = `/v1/customers/${created.id}`
      assert.strictEqual((yield* ask(api, handler, removed, path)).status, 200)
      assert.strictEqual((yield* ask(api, handler, new Request(`${BASE}/v1`), "/v1")).status, 401)
      assert.strictEqual((yield* ask(api, handler, new Request(`${BASE}/docs`), "/docs")).status, 200)
    }),
  )

  it.effect("can be mounted under a base path, and ignores other paths", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const headers = { authorization: `Bearer ${api.testKey}` }
      for (const basePath of ["/api/billing", "/api/billing/"]) {
        const handler = FetchHandler.make(api.server, api.context, { basePath })
        const status = (path: string, judged: string) =>
          Effect.map(
            ask(api, handler, new Request(`${BASE}${path}`, { headers }), judged),
            (answer) => answer.status,
          )
        assert.strictEqual(yield* status("/api/billing/v1/customers", "/v1/customers"), 200)
        assert.strictEqual(yield* status("/api/billing/openapi.json", "/openapi.json"), 200)
        assert.strictEqual(yield* status("/api/billing", "/"), 404)
        for (const path of [
          "/v1/customers",
          "/api/billingv1/customers",
          "/api/v1/customers",
          "/livez",
          "/",
        ]) {
          assert.strictEqual(yield* status(path, "/elsewhere"), 404, path)
        }
      }
      const handler = FetchHandler.make(api.server, api.context, { basePath: "/api" })
      const outside = yield* ask(api, handler, new Request(`${BASE}/v1/customers`), "/elsewhere")
      assert.strictEqual(outside.message, "there is nothing at this path")
      assert.throws(
        () => FetchHandler.make(api.server, api.context, { basePath: "api" }),
        /must start with \//,
      )
    }),
  )

  it.effect("reads streamed bodies up to 1 MiB", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const handler = FetchHandler.make(api.server, api.context)
      const split = post(api.testKey, { body: streamOf(ada), duplex: "half" })
      assert.strictEqual((yield* ask(api, handler, split, "/v1/customers")).status, 201)

      let isCancelled = false
      let sent = 0
      const large = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          sent += 65_536
          controller.enqueue(new Uint8Array(65_536).fill(32))
          if (sent >= 8 * 1024 * 1024) controller.close()
        },
        cancel: () => {
          isCancelled = true
        },
      })
      const refused = post(api.testKey, { body: large, duplex: "half" })
      assert.strictEqual((yield* ask(api, handler, refused, "/v1/customers")).status, 413)
      assert.isTrue(isCancelled)
      assert.isBelow(sent, 2 * 1024 * 1024)
    }),
  )

  it.effect("explains a body that was already read, broke off or never ends", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const handler = FetchHandler.make(api.server, api.context)
      const used = post(api.testKey)
      yield* Effect.promise(() => used.text())
      const answer = yield* ask(api, handler, used, "/v1/customers")
      assert.deepStrictEqual(answer.body, {
        error: "invalid_request",
        message: "the body was already read by another handler",
      })

      const broken = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.error(new Error("reset")),
      })
      const early = yield* ask(
        api,
        handler,
        post(api.testKey, { body: broken, duplex: "half" }),
        "/v1/customers",
      )
      assert.strictEqual(early.status, 400)
      assert.strictEqual(early.message, "the body ended early")

      const isReading = yield* Deferred.make<void>()
      const silent = new ReadableStream<Uint8Array>(
        {
          pull: () => Effect.runPromise(Effect.andThen(Deferred.succeed(isReading, undefined), Effect.never)),
        },
        { highWaterMark: 0 },
      )
      const waiting = ask(api, handler, post(api.testKey, { body: silent, duplex: "half" }), "/v1/customers")
      const [slow] = yield* Effect.all(
        [waiting, Effect.andThen(Deferred.await(isReading), TestClock.adjust("30 seconds"))],
        { concurrency: "unbounded" },
      )
      assert.strictEqual(slow.status, 408)
      assert.strictEqual(slow.message, "the body took longer than 30 s")
      assert.lengthOf((yield* api.snapshot).customers, 0)
    }),
  )

  it.effect("stops and rejects when the request is aborted", () =>
    Effect.gen(function* () {
      const gate = yield* Faults.makeGate
      const api = yield* ApiServer.start({ storage: gate.storage })
      const handler = FetchHandler.make(api.server, api.context)
      const controller = new AbortController()
      const answer = handler(post(api.testKey, { signal: controller.signal })).then(
        () => "answered",
        () => "rejected",
      )
      yield* gate.reached
      controller.abort()
      yield* gate.left
      assert.strictEqual(yield* Effect.promise(() => answer), "rejected")
      yield* gate.open
      assert.lengthOf((yield* api.snapshot).customers, 0)
      const before = handler(post(api.testKey, { signal: AbortSignal.abort() })).then(
        () => "answered",
        () => "rejected",
      )
      assert.strictEqual(yield* Effect.promise(() => before), "rejected")
    }),
  )
})
