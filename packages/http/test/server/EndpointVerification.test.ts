/** What the REST API answers when endpoints are asked whether they want webhooks. */
import { Transactor, type WebhookResponse } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"

const PATH = "/v1/webhook_endpoints"
const ORIGIN = "billing.example.com"
const json = { url: "https://example.com/hooks", event_types: ["*"] }
const agrees: WebhookResponse = {
  _tag: "Answered",
  status: 204,
  headers: { "webhook-allowed-origin": ORIGIN },
  body: "",
}
const refuses: WebhookResponse = { ...agrees, headers: {} }

/** A server that asks endpoints, what they answer, and whether each was asked inside a transaction. */
const start = Effect.gen(function* () {
  const asked: Array<boolean> = []
  const world: { answer: WebhookResponse; transactor: Transactor["Service"] | undefined } = {
    answer: agrees,
    transactor: undefined,
  }
  const transport = {
    send: () =>
      Effect.gen(function* () {
        asked.push(yield* world.transactor!.inTransaction)
        return world.answer
      }),
  }
  const api = yield* ApiServer.start({
    billing: { webhooks: { verification: { origin: ORIGIN, transport } } },
  })
  world.transactor = Context.get(api.services, Transactor)
  return { api, asked, world }
})

describe("with the option to ask endpoints", () => {
  it.effect("POST and PATCH answer 400 for one that doesn't agree, and say what it has to answer", () =>
    Effect.gen(function* () {
      const { api, world } = yield* start
      const created = yield* api.expect(201, "POST", PATH, { json })
      world.answer = refuses
      const changed = { json: { url: "https://example.com/others" } }
      for (const refused of [
        yield* api.expect(400, "POST", PATH, { json }),
        yield* api.expect(400, "PATCH", `${PATH}/${created.id}`, changed),
      ]) {
        assert.include(refused.message, `the header WebHook-Allowed-Origin: ${ORIGIN} (or *)`)
      }
      assert.lengthOf((yield* api.expect(200, "GET", PATH)).ids, 1)
      world.answer = agrees
      const answer = yield* api.expect(200, "PATCH", `${PATH}/${created.id}`, changed)
      assert.strictEqual(answer.at("url"), "https://example.com/others")
    }),
  )

  it.effect(
    "a request with an Idempotency-Key asks outside of its transaction, and its repeat asks nobody",
    () =>
      Effect.gen(function* () {
        const { api, asked, world } = yield* start
        const call = { json, headers: { "idempotency-key": "once" } }
        world.answer = refuses
        yield* api.expect(400, "POST", PATH, call)
        // The endpoint's answer was not the request's fault, so the same request may succeed later.
        world.answer = agrees
        const created = yield* api.expect(201, "POST", PATH, call)
        world.answer = refuses
        const repeated = yield* api.expect(201, "POST", PATH, call)
        assert.strictEqual(repeated.text, created.text)
        assert.strictEqual(repeated.headers["idempotent-replayed"], "true")
        assert.deepStrictEqual(asked, [false, false])
        assert.lengthOf((yield* api.expect(200, "GET", PATH)).ids, 1)

        world.answer = agrees
        const change = {
          json: { url: "https://example.com/others" },
          headers: { "idempotency-key": "change" },
        }
        yield* api.expect(200, "PATCH", `${PATH}/${created.id}`, change)
        yield* api.expect(200, "PATCH", `${PATH}/${created.id}`, change)
        assert.deepStrictEqual(asked, [false, false, false])
      }),
  )
})
