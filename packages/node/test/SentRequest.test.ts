/** The bytes of requests, compared with those of undici. */
import type { WebhookRequest } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Client } from "undici"
import * as SentRequest from "../src/SentRequest.ts"
import type { Target } from "../src/Target.ts"
import { ok, post, receiver } from "./Receivers.ts"

const targetAt = (origin: string): Target => ({
  mode: "test",
  host: "127.0.0.1",
  port: 80,
  isTls: false,
  origin,
  path: "/a%20b?c=d",
  key: origin,
})

/** Has undici send a request. */
const sendByUndici = (origin: string, { body, headers, method, path }: SentRequest.SentRequest) =>
  Effect.promise(async () => {
    const client = new Client(origin)
    const { body: answered } = await client.request({
      path,
      method,
      headers: [...headers],
      body: Buffer.from(body),
    })
    await answered.dump()
    await client.destroy()
  })

describe("a request", () => {
  const requests: ReadonlyArray<readonly [what: string, changes: Partial<WebhookRequest>]> = [
    ["with a body", {}],
    ["with an empty body", { body: "" }],
    ["with a body that isn't well formed", { body: "a\ud800b" }],
    ["that asks", { method: "OPTIONS", body: "" }],
    [
      "with headers of all kinds",
      { headers: { "X-Own": "~\t \xff", "!#$%&'*+-.^_`|~": "", host: "elsewhere" } },
    ],
  ]
  for (const [what, changes] of requests) {
    it.live(`${what} has the bytes that undici writes`, () =>
      Effect.gen(function* () {
        const hook = yield* receiver(ok)
        const request = SentRequest.make(targetAt(hook.origin), post(hook.origin, changes))
        if (request === undefined) return assert.fail("it can't be sent")
        yield* sendByUndici(hook.origin, request)
        const [head = "", body = ""] = SentRequest.encode(request).toString("latin1").split("\r\n\r\n")
        assert.deepStrictEqual(hook.requests, [{ head, body: Buffer.from(body, "latin1").toString("utf8") }])
      }),
    )
  }

  it("names the host as it is in the URL", () => {
    for (const authority of ["hooks.example", "hooks.example:8443", "[2001:db8::1]:8443"]) {
      const request = SentRequest.make(targetAt(`https://${authority}`), post("https://hooks.example"))
      assert.strictEqual(request?.authority, authority)
    }
  })

  it("can't be made with a header or a path that HTTP can't carry", () => {
    const target = targetAt("http://127.0.0.1")
    for (const [name, value] of [
      ["x", "a\r\ny: b"],
      ["x", "a\nb"],
      ["x", "a\rb"],
      ["x", "a\0b"],
      ["x", "a\x7fb"],
      ["x", "\u0100"],
      ["x\r\ny", "b"],
      ["x ", "b"],
      ["x:", "b"],
      ["", "b"],
      ["\u212a", "b"],
    ] as const) {
      assert.isUndefined(SentRequest.make(target, post("", { headers: { [name]: value } })), name + value)
    }
    for (const path of ["/ HTTP/1.1", "/\r\nx: y", "/\u0100", "hook", ""]) {
      assert.isUndefined(SentRequest.make({ ...target, path }, post("")), path)
    }
  })
})
