/**
 * Requests whose end a proxy and the server could see at different places. Then a part of a body could become a request.
 * So such requests are refused, or read in the only valid way.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"
import { answersOf, connect } from "../Connection.ts"

const ada = JSON.stringify({ name: "Ada", email: "ada@example.com" })
const chunked = `${ada.length.toString(16)}\r\n${ada}\r\n0\r\n\r\n`
/** A smuggled request. It would get 200 if the server treated it as a request. */
const SMUGGLED = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"

const post = (key: string, ...lines: ReadonlyArray<string>): string =>
  ["POST /v1/customers HTTP/1.1", "Host: x", `Authorization: Bearer ${key}`, ...lines, "", ""].join("\r\n")

const AMBIGUOUS: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
  ["two lengths that differ", [`Content-Length: ${ada.length}`, "Content-Length: 0"]],
  ["two lengths that agree", [`Content-Length: ${ada.length}`, `Content-Length: ${ada.length}`]],
  ["a list of lengths", [`Content-Length: ${ada.length}, ${ada.length}`]],
  ["a length with a sign", [`Content-Length: +${ada.length}`]],
  ["a hexadecimal length", [`Content-Length: 0x${ada.length.toString(16)}`]],
  ["a length with a space before the colon", [`Content-Length : ${ada.length}`]],
  ["an endless length", ["Content-Length: 99999999999999999999999"]],
  ["a length and chunks", [`Content-Length: ${ada.length}`, "Transfer-Encoding: chunked"]],
  ["chunks and a length", ["Transfer-Encoding: chunked", "Content-Length: 0"]],
  ["an encoding that is nearly chunked", ["Transfer-Encoding: xchunked"]],
  ["an encoding after chunked", ["Transfer-Encoding: chunked, identity"]],
  ["an encoding twice", ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"]],
  ["an encoding with a space before the colon", ["Transfer-Encoding : chunked"]],
  ["an encoding on a folded line", ["X-A: b", " Transfer-Encoding: chunked"]],
  ["a folded value", ["Transfer-Encoding:", " chunked"]],
  ["a NUL in a value", ["X-A: b\0c", `Content-Length: ${ada.length}`]],
  ["a bare CR in a value", ["X-A: b\rContent-Length: 0", `Content-Length: ${ada.length}`]],
]

const BROKEN_CHUNKS: ReadonlyArray<readonly [string, string]> = [
  ["a size that is not a number", `zz\r\n${ada}\r\n0\r\n\r\n`],
  ["a size with a sign", `+5\r\nabcde\r\n0\r\n\r\n`],
  ["a huge size", `${"f".repeat(20)}\r\n${ada}`],
  ["data that is longer than its size", `5\r\nabcdefgh\r\n0\r\n\r\n`],
]

describe("a request with an ambiguous end", () => {
  it.effect.each([...AMBIGUOUS])("by %s is refused, and the connection is closed", ([name, lines]) =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const connection = yield* connect(api.port)
      const body = lines.some((line) => /^ ?transfer/i.test(line)) ? chunked : ada
      yield* connection.write(Buffer.from(post(api.testKey, ...lines) + body + SMUGGLED, "latin1"))
      const answers = answersOf(yield* connection.closed)
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [400],
        name,
      )
      assert.lengthOf((yield* api.snapshot).customers, 0)
    }),
  )

  it.effect.each([...BROKEN_CHUNKS])("by %s stores nothing, and the connection is closed", ([, body]) =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const connection = yield* connect(api.port)
      yield* connection.write(post(api.testKey, "Transfer-Encoding: chunked") + body + SMUGGLED)
      const answers = answersOf(yield* connection.closed)
      assert.notInclude(
        answers.map(({ status }) => status),
        200,
      )
      assert.lengthOf((yield* api.snapshot).customers, 0)
    }),
  )

  it.effect("in a correct body is treated as a body, whether it is read or not", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const connection = yield* connect(api.port)
      const length = `Content-Length: ${SMUGGLED.length}`
      yield* connection.write(post("nobody", length) + SMUGGLED)
      yield* connection.write(post(api.testKey, length) + SMUGGLED)
      yield* connection.write(post(api.testKey, "Transfer-Encoding: chunked") + chunked)
      const answers = answersOf(
        yield* connection.until((text) => text.includes(" 201 ") && text.endsWith("}")),
      )
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [401, 400, 201],
      )
    }),
  )
})
