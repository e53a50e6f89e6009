/** Answers that are read without undici. undici alone is the judge of what they say. */
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { MAX_RESPONSE_BYTES, type WebhookResponse, WebhookTransport } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { MAX_HEADER_BYTES, readHead } from "../src/PlainAnswer.ts"
import { judges } from "./Judges.ts"
import { answer, type Behaviour, post, receiver, transport } from "./Receivers.ts"

const SEED = 20_261_127

const statusLine = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 200, max: 599 }).map((status) => `HTTP/1.1 ${status} OK`) },
  { weight: 3, arbitrary: fc.constantFrom("HTTP/1.1 204 No Content", "HTTP/1.1 304 Not Modified") },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "HTTP/1.1 200",
      "HTTP/1.1 200 ",
      "HTTP/1.1 200 \xe9\t~",
      "HTTP/1.1 200 a\0b",
      "HTTP/1.1  200 OK",
      "HTTP/1.1 200OK",
      "HTTP/1.1 2000 OK",
      "HTTP/1.1 20 OK",
      "HTTP/1.1 600 OK",
      "HTTP/1.0 200 OK",
      "http/1.1 200 OK",
      "HTTP/2.0 200 OK",
      " HTTP/1.1 200 OK",
      "\r\nHTTP/1.1 200 OK",
    ),
  },
)

const header = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          "Date",
          "server",
          "X-A",
          "x-a",
          "SET-COOKIE",
          "__proto__",
          "constructor",
          "!#$%&'*+-.^_`|~",
        ),
        fc.constantFrom(": ", ":", ":\t "),
        fc.constantFrom("", "a", "a b\tc", "~!\xff\x80", "a: b, c", '"q"'),
      )
      .map((parts) => parts.join("")),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "connection: close",
      "Connection: Keep-Alive",
      "keep-alive: timeout=5",
      "Keep-Alive: max=3, Timeout=9",
      "keep-alive: timeout=1",
      "keep-alive: timeout=2",
      "keep-alive: x-timeout=1",
      "keep-alive: ",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "content-length: 2",
      "content-length: 0",
      "Content-Length : 2",
      "content-length: +2",
      "content-length: -2",
      "content-length: 2, 2",
      "content-length: 0x2",
      "content-length: 2 2",
      "content-length: 2 ",
      "content-length: 002",
      "content-length:",
      "content-length: 99999999999999999999999",
      "transfer-encoding: chunked",
      "transfer-encoding: identity",
      "Transfer-Encoding : chunked",
      "connection: upgrade",
      "connection: close, keep-alive",
      "proxy-connection: close",
      "upgrade: h2c",
      "trailer: x",
      "x: a\0b",
      "x: a\x7fb",
      "x: a\rb",
      "x: a\nb",
      "x: b\t ",
      "x : b",
      " x: b",
      "\tfolded",
      ": b",
      "no colon",
      "x\xe9: b",
      "",
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: MAX_HEADER_BYTES - 200, max: MAX_HEADER_BYTES + 50 })
      .map((length) => `x: ${"a".repeat(length)}`),
  },
)

const lengthOf = (body: string, off: number) => `content-length: ${body.length + off}`

/** An answer, ordinary or nearly so. `surplus` follows its body. */
const answers = fc
  .record({
    statusLine,
    headers: fc.array(header, { maxLength: 5 }),
    body: fc.string({ maxLength: 12 }),
    length: fc.oneof({ weight: 12, arbitrary: fc.constant(0) }, fc.constantFrom(undefined, -1, 1)),
    lengthAt: fc.nat(),
    newline: fc.oneof({ weight: 15, arbitrary: fc.constant("\r\n") }, fc.constantFrom("\n", "\r", "\r\r\n")),
    surplus: fc.oneof(
      { weight: 8, arbitrary: fc.constant("") },
      fc.constantFrom("\r\n", "H", "\0", "HTTP/1.1 500 No\r\ncontent-length: 1\r\n\r\nx"),
    ),
  })
  .map(({ body, headers, length, lengthAt, newline, surplus, ...rest }) => {
    const lines = [...headers]
    if (length !== undefined) lines.splice(lengthAt % (lines.length + 1), 0, lengthOf(body, length))
    return `${[rest.statusLine, ...lines, "", ""].join(newline)}${body}${surplus}`
  })

/** One byte that is removed, added or changed. */
const changes = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  fc.record({
    at: fc.nat(),
    removed: fc.nat({ max: 1 }),
    added: fc.constantFrom("", "\0", "\r", "\n", " ", ":", "1", "\xff"),
  }),
)

/** Bytes in pieces. */
const pieces = fc
  .record({
    answer: answers,
    change: changes,
    cuts: fc.oneof(fc.constant<Array<number>>([]), fc.array(fc.nat(), { maxLength: 3 })),
  })
  .map(({ answer, change, cuts }) => {
    const at = (change?.at ?? 0) % answer.length
    const text =
      change === undefined ? answer : answer.slice(0, at) + change.added + answer.slice(at + change.removed)
    const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b), text.length]
    return places
      .slice(1)
      .map((end, index) => Buffer.from(text.slice(places[index], end), "latin1"))
      .filter(({ length }) => length > 0)
  })
  // undici alone takes interim answers for broken ones: see UndiciAgent.test.ts.
  .filter((parts) => !/HTTP\/1\.[01] 1/.test(Buffer.concat(parts).toString("latin1")))

/** The requests that undici learns of, from now until the scope ends. */
const requestsOfUndici = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const seen = { count: 0 }
      const count = () => void seen.count++
      subscribe("undici:request:create", count)
      return { seen, count }
    }),
    ({ count }) => Effect.sync(() => unsubscribe("undici:request:create", count)),
  ),
  ({ seen }) => seen,
)

const bodyOf = (response: WebhookResponse) => (response._tag === "Answered" ? response.body : response.error)

/** Writes pieces in turns of the event loop of their own. */
const write =
  (...[first = "", ...rest]: ReadonlyArray<string>): Behaviour =>
  (socket, received, number) => {
    socket.setNoDelay().write(first)
    if (rest.length > 0) setImmediate(() => write(...rest)(socket, received, number))
  }

/** Sends three requests, and gives the number of those that undici learned of. */
const countFor = (behaviour: Behaviour) =>
  Effect.gen(function* () {
    const seen = yield* requestsOfUndici
    const hook = yield* receiver(behaviour)
    const { send } = yield* WebhookTransport
    for (let i = 0; i < 3; i++) assert.strictEqual(bodyOf(yield* send(post(hook.origin))), "ok")
    assert.deepStrictEqual([hook.requests.length, hook.connections], [3, 1])
    return seen.count
  }).pipe(Effect.scoped, Effect.provide(transport()))

describe("an answer", () => {
  it.live("that is ordinary is read without undici, also when its body comes later and in pieces", () =>
    Effect.gen(function* () {
      const whole = answer(200, "ok", "date: today\r\nconnection: keep-alive\r\nkeep-alive: timeout=60\r\n")
      const head = whole.slice(0, -2)
      assert.strictEqual(yield* countFor(write(whole)), 0)
      assert.strictEqual(yield* countFor(write(head, "ok")), 0)
      assert.strictEqual(yield* countFor(write(`${head}o`, "k")), 0)
    }),
  )

  it.live(
    "that never begins, because the receiver ended the connection before it had read the request, is a reset",
    () =>
      Effect.gen(function* () {
        const hook = yield* receiver(() => {}, { onConnect: (socket) => socket.pause().end() })
        const { send } = yield* WebhookTransport
        assert.strictEqual(bodyOf(yield* send(post(hook.origin, { body: "z".repeat(20_000_000) }))), "reset")
      }).pipe(Effect.provide(transport())),
  )

  it.live("may be as long as allowed each time on the same connection", () =>
    Effect.gen(function* () {
      const hook = yield* receiver((socket) => socket.write(answer(200, "x".repeat(MAX_RESPONSE_BYTES))))
      const { send } = yield* WebhookTransport
      for (let i = 0; i < 10; i++) {
        assert.strictEqual((yield* send(post(hook.origin)))._tag, "Answered")
      }
      assert.strictEqual(hook.connections, 1)
    }).pipe(Effect.provide(transport())),
  )

  it.live("that takes longer than an idle connection is kept is waited for", () =>
    Effect.gen(function* () {
      const hook = yield* receiver((socket, _received, number) => {
        if (number === 1) socket.write(answer(200, "ok"))
        else setTimeout(() => socket.write(answer(200, "later")), 60)
      })
      const { send } = yield* WebhookTransport
      for (const body of ["ok", "later"]) assert.strictEqual(bodyOf(yield* send(post(hook.origin))), body)
      assert.strictEqual(hook.connections, 1)
    }).pipe(Effect.provide(transport({ maxIdleMillis: 20 }))),
  )

  it.live("that is not ordinary is read by undici, and so are all later ones of its connection", () =>
    Effect.gen(function* () {
      const chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
      assert.strictEqual(yield* countFor(write(chunked)), 3)
      assert.strictEqual(
        yield* countFor((socket, _received, number) =>
          socket.write(number === 2 ? chunked : answer(200, "ok")),
        ),
        2,
      )
    }),
  )

  it.live(
    "is read as undici alone would read it, whatever its bytes and pieces are",
    () =>
      Effect.gen(function* () {
        const { ours, undici } = yield* judges
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(pieces, async (parts) => {
              const expected = await undici(parts)
              const actual = await ours(parts)
              assert.deepStrictEqual({ ...actual, isKept: false }, { ...expected, isKept: false })
              // A connection is never used again when undici would not use it.
              assert.isTrue(expected.isKept || !actual.isKept)
            }),
            { seed: SEED, numRuns: 500 },
          ),
        )
      }),
    60_000,
  )
})

describe("the head of an answer", () => {
  const read = (text: string) => readHead(Buffer.from(text, "latin1"))
  const length = "content-length: 2\r\n"

  it("is ordinary with a final status, whole lines and one length", () => {
    const text = `HTTP/1.1 404 Not Found\r\nX-A:  a b\t\xff\r\n${length}x-a: c\r\nKeep-Alive: max=1, timeout=7\r\n\r\nokay`
    assert.deepStrictEqual(read(text), {
      status: 404,
      headers: { "x-a": "a b\t\xff, c", "content-length": "2", "keep-alive": "max=1, timeout=7" },
      bodyAt: text.length - 4,
      bodyLength: 2,
      isLast: false,
      keepAliveSeconds: 7,
    })
    assert.strictEqual(read(`HTTP/1.1 200\r\n${length}Connection: CLOSE\r\n\r\n`)?.isLast, true)
    assert.strictEqual(read("HTTP/1.1 204 No Content\r\n\r\n")?.bodyLength, 0)
    assert.strictEqual(read("HTTP/1.1 304 \r\ncontent-length: 0\r\n\r\n")?.bodyLength, 0)
    assert.strictEqual(
      read(`HTTP/1.1 200 OK\r\ncontent-length: ${MAX_RESPONSE_BYTES}\r\n\r\n`)?.bodyLength,
      MAX_RESPONSE_BYTES,
    )
  })

  const other: ReadonlyArray<readonly [what: string, text: string]> = [
    ["nothing", ""],
    ["a part of a head", `HTTP/1.1 200 OK\r\n${length}\r`],
    ["an interim status", `HTTP/1.1 100 Continue\r\n${length}\r\n`],
    ["a status above 599", `HTTP/1.1 600 OK\r\n${length}\r\n`],
    ["another version", `HTTP/1.0 200 OK\r\n${length}\r\n`],
    ["a status of four digits", `HTTP/1.1 2000 OK\r\n${length}\r\n`],
    ["a NUL in its status text", `HTTP/1.1 200 \0\r\n${length}\r\n`],
    ["no length", "HTTP/1.1 200 OK\r\n\r\n"],
    ["two lengths", `HTTP/1.1 200 OK\r\n${length}${length}\r\n`],
    ["a list of lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\n\r\n"],
    ["a length with a sign", "HTTP/1.1 200 OK\r\ncontent-length: +2\r\n\r\n"],
    ["an empty length", "HTTP/1.1 200 OK\r\ncontent-length:\r\n\r\n"],
    ["a length of a long body", `HTTP/1.1 200 OK\r\ncontent-length: ${MAX_RESPONSE_BYTES + 1}\r\n\r\n`],
    ["a length for 204", `HTTP/1.1 204 OK\r\n${length}\r\n`],
    ["chunks", `HTTP/1.1 200 OK\r\n${length}transfer-encoding: chunked\r\n\r\n`],
    ["another protocol", `HTTP/1.1 200 OK\r\n${length}upgrade: h2c\r\n\r\n`],
    ["other words about the connection", `HTTP/1.1 200 OK\r\n${length}connection: close, x\r\n\r\n`],
    [
      "two words about the connection",
      `HTTP/1.1 200 OK\r\n${length}connection: close\r\nconnection: close\r\n\r\n`,
    ],
    ["a word about the connection of a proxy", `HTTP/1.1 200 OK\r\n${length}proxy-connection: close\r\n\r\n`],
    ["white space before a colon", `HTTP/1.1 200 OK\r\n${length}x : y\r\n\r\n`],
    ["white space after a value", `HTTP/1.1 200 OK\r\n${length}x: y \r\n\r\n`],
    ["a folded line", `HTTP/1.1 200 OK\r\n${length}x: y\r\n z\r\n\r\n`],
    ["a line without a colon", `HTTP/1.1 200 OK\r\n${length}x\r\n\r\n`],
    ["a line without a name", `HTTP/1.1 200 OK\r\n${length}: y\r\n\r\n`],
    ["a NUL in a value", `HTTP/1.1 200 OK\r\n${length}x: y\0z\r\n\r\n`],
    ["a bare CR in a value", `HTTP/1.1 200 OK\r\n${length}x: y\rz\r\n\r\n`],
    ["a bare LF in a value", `HTTP/1.1 200 OK\r\n${length}x: y\nz: y\r\n\r\n`],
    ["too many bytes", `HTTP/1.1 200 OK\r\n${length}x: ${"y".repeat(MAX_HEADER_BYTES)}\r\n\r\n`],
  ]
  for (const [what, text] of other) {
    it(`is not ordinary with ${what}`, () => assert.isUndefined(read(text)))
  }
})
