/** The behaviour of receivers, and the result of a request for each. Real sockets, short deadlines, no sleeps. */
import type { Socket } from "node:net"
import { gzipSync } from "node:zlib"
import {
  MAX_KEPT_HEADER_LENGTH,
  MAX_KEPT_RESPONSE_BYTES,
  MAX_KEPT_RESPONSE_HEADERS,
  ReceivedText,
  MAX_RESPONSE_BYTES,
  type TransportError,
  type WebhookResponse,
  WebhookTransport,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { answer, type Behaviour, ok, post, receiver, sendOnce, transport } from "./Receivers.ts"

const DEADLINE = 300
const failed = (error: TransportError): WebhookResponse => ({ _tag: "Failed", error })

/** Sends one request to a receiver with this behaviour. */
const sendTo = (behaviour: Behaviour, deadlineMillis = 5_000) =>
  Effect.gen(function* () {
    const { origin } = yield* receiver(behaviour)
    return yield* sendOnce(post(`${origin}/hook?a=b`), { deadlineMillis })
  })

/** The kept parts of an answer. */
const answered = (response: WebhookResponse) => {
  const kept = ReceivedText.storable(response)
  return kept._tag === "Answered" ? kept : assert.fail(`failed: ${kept.error}`)
}

/** Writes the same bytes repeatedly until the connection ends. */
const keepWriting = (socket: Socket, bytes: string, millis: number) => {
  const timer = setInterval(() => socket.write(bytes), millis)
  socket.on("close", () => clearInterval(timer))
}
/** Writes a start, and then chunks as fast as the other side reads them. */
const flood = (socket: Socket, start: string, chunk: string) => {
  socket.write(start)
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on("drain", more)
  more()
}

describe("a request", () => {
  it.live("is sent unchanged, with the headers of the transport", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok)
      const response = yield* sendOnce(
        post(`${hook.origin}/a%20b?c=d&e`, {
          headers: { "content-type": "application/json", "webhook-id": "evt_1", "x-own": "yes" },
        }),
      )
      assert.deepStrictEqual(response, {
        _tag: "Answered",
        status: 200,
        headers: { "content-length": "2" },
        body: "ok",
      })
      assert.strictEqual(hook.requests.length, 1)
      const [{ body, head }] = hook.requests as [{ body: string; head: string }]
      assert.strictEqual(body, '{"hello":"wörld"}')
      const [line, ...headers] = head.split("\r\n")
      assert.strictEqual(line, "POST /a%20b?c=d&e HTTP/1.1")
      assert.sameMembers(headers, [
        `host: 127.0.0.1:${hook.port}`,
        "connection: keep-alive",
        "accept-encoding: identity",
        "content-type: application/json",
        "webhook-id: evt_1",
        "x-own: yes",
        "content-length: 18",
      ])
    }),
  )

  it.live("can't replace the headers of the transport", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok)
      const headers = {
        "accept-encoding": "gzip",
        connection: "upgrade",
        "content-length": "3",
        expect: "100-continue",
        host: "elsewhere.example",
        Host: "elsewhere.example",
        "keep-alive": "timeout=9",
        te: "trailers",
        trailer: "x",
        "transfer-encoding": "chunked",
        upgrade: "websocket",
      }
      const response = yield* sendOnce(post(hook.origin, { headers }))
      assert.strictEqual(answered(response).status, 200)
      assert.sameMembers(hook.requests[0]!.head.split("\r\n").slice(1), [
        `host: 127.0.0.1:${hook.port}`,
        "connection: keep-alive",
        "accept-encoding: identity",
        "content-length: 18",
      ])
    }),
  )

  it.live("leaves no timer that would keep the process running", () =>
    Effect.gen(function* () {
      const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length
      const hook = yield* receiver(ok)
      const { send } = yield* WebhookTransport
      const before = timers()
      for (let i = 0; i < 10; i++) yield* send(post(hook.origin))
      assert.isAtMost(timers(), before)
    }).pipe(Effect.provide(transport())),
  )

  it.live("may have an empty body", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok)
      yield* sendOnce(post(hook.origin, { body: "" }))
      assert.include(hook.requests[0]!.head, "content-length: 0")
    }),
  )

  for (const headers of [
    { "x-bad": "a\r\nx-smuggled: 1" },
    { "bad name": "x" },
    { "x-bad": "\u0000" },
    { "x-bad": "Ā" },
  ]) {
    it.live(`isn't sent with the header ${JSON.stringify(headers)}`, () =>
      Effect.gen(function* () {
        const hook = yield* receiver(ok)
        const transport = yield* WebhookTransport
        assert.deepStrictEqual(yield* transport.send(post(hook.origin, { headers })), failed("bad_response"))
        assert.deepStrictEqual(hook.requests, [])
        // Also on a reused connection.
        yield* transport.send(post(hook.origin))
        assert.deepStrictEqual(yield* transport.send(post(hook.origin, { headers })), failed("bad_response"))
        assert.deepStrictEqual([hook.requests.length, hook.connections], [1, 2])
      }).pipe(Effect.provide(transport())),
    )
  }
})

describe("an answer", () => {
  for (const status of [200, 204, 299, 301, 304, 400, 404, 410, 429, 500, 599]) {
    it.live(`with status ${status} is reported`, () =>
      Effect.gen(function* () {
        const response = yield* sendTo((socket) =>
          socket.write(`HTTP/1.1 ${status} X\r\ncontent-length: 0\r\n\r\n`),
        )
        assert.strictEqual(answered(response).status, status)
      }),
    )
  }

  for (const status of ["099", "600", "999", "20", "2000", "abc", "-1"]) {
    it.live(`with status ${status} is a bad response`, () =>
      Effect.gen(function* () {
        const response = yield* sendTo((socket) =>
          socket.write(`HTTP/1.1 ${status} X\r\ncontent-length: 0\r\n\r\n`),
        )
        assert.deepStrictEqual(response, failed("bad_response"))
      }),
    )
  }

  it.live("may be chunked, end with the connection, or follow interim answers", () =>
    Effect.gen(function* () {
      const bodies = yield* Effect.all([
        sendTo((socket) =>
          socket.write(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nt: x\r\n\r\n",
          ),
        ),
        sendTo((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nabcd")),
        sendTo((socket) => socket.end("HTTP/1.0 200 OK\r\n\r\nabcd")),
        sendTo((socket) =>
          socket.write(
            `HTTP/1.1 103 Hints\r\nlink: x\r\n\r\nHTTP/1.1 102 Wait\r\n\r\n${answer(200, "abcd")}`,
          ),
        ),
      ])
      for (const response of bodies) assert.include(answered(response), { status: 200, body: "abcd" })
    }),
  )

  const continued = `HTTP/1.1 100 Continue\r\n\r\n${answer(200, "abcd")}`
  const continuations: ReadonlyArray<readonly [what: string, pieces: ReadonlyArray<string>]> = [
    ["in one piece", [continued]],
    ["in two pieces", [continued.slice(0, 25), continued.slice(25)]],
    ["byte by byte", Array.from(continued)],
    ["of HTTP/1.0, with headers", [`HTTP/1.0 100 Go on\r\nx: y\r\n\r\n${answer(200, "abcd")}`]],
    ["twice", [`HTTP/1.1 100 Continue\r\n\r\n${continued}`]],
    ["after other interim answers", [`HTTP/1.1 103 Hints\r\nlink: x\r\n\r\n${continued}`]],
  ]
  for (const [what, pieces] of continuations) {
    it.live(`may follow a 100 Continue ${what}, also on a kept connection`, () =>
      Effect.gen(function* () {
        const hook = yield* receiver((socket) => {
          socket.setNoDelay()
          const [first = "", ...rest] = pieces
          const write = (piece: string, more: ReadonlyArray<string>): void => {
            socket.write(piece)
            const [next, ...others] = more
            if (next !== undefined) setImmediate(write, next, others)
          }
          write(first, rest)
        })
        const { send } = yield* WebhookTransport
        for (let i = 1; i <= 3; i++) {
          const response = yield* send(post(hook.origin))
          assert.include(answered(response), { status: 200, body: "abcd" })
        }
        assert.strictEqual(hook.connections, 1)
      }).pipe(Effect.provide(transport())),
    )
  }

  it.live("with the text of a 100 Continue in its body is unchanged", () =>
    Effect.gen(function* () {
      const text = "HTTP/1.1 100 Continue\r\n\r\n"
      const { body } = answered(yield* sendTo((socket) => socket.write(answer(200, text))))
      assert.strictEqual(body, text)
    }),
  )

  it.live("keeps its headers with lower-case names, joined, cleaned, and limited in number and length", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 100 }, (_, index) => `X-Number-${index}: ${index}\r\n`).join("")
      const response = yield* sendTo((socket) =>
        socket.write(
          Buffer.from(
            `HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nset-cookie: b\r\n__proto__: p\r\nconstructor: c\r\nconstructor: d\r\n` +
              `x-latin: \u00e9\u0085\r\nx-long: ${"a".repeat(3_000)}\r\n${"n".repeat(200)}: x\r\n${many}content-length: 0\r\n\r\n`,
            "latin1",
          ),
        ),
      )
      const { headers } = answered(response)
      assert.strictEqual(Object.keys(headers).length, MAX_KEPT_RESPONSE_HEADERS)
      assert.strictEqual(headers["set-cookie"], "a, b")
      assert.strictEqual(Object.getOwnPropertyDescriptor(headers, "__proto__")?.value, "p")
      assert.strictEqual(headers["constructor"], "c, d")
      assert.strictEqual(headers["x-latin"], "\u00e9\u0085")
      assert.strictEqual(headers["x-long"], "a".repeat(MAX_KEPT_HEADER_LENGTH))
      assert.strictEqual(headers["x-number-0"], "0")
      assert.notProperty(headers, "n".repeat(200))
    }),
  )

  it.live("with any bytes is kept as text that can be stored", () =>
    Effect.gen(function* () {
      const bytes = Buffer.from([0x61, 0, 0xff, 0xed, 0xa0, 0x80, 0xc3, 0xa9, 0xf0, 0x9f, 0x98])
      const { body } = answered(
        yield* sendTo((socket) => {
          socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes.length}\r\n\r\n`)
          socket.write(bytes)
        }),
      )
      assert.strictEqual(body, "a\ufffd\ufffd\ufffd\ufffdé\ufffd")
      assert.isTrue(body.isWellFormed())
    }),
  )

  it.live("that is too long is cut between two characters", () =>
    Effect.gen(function* () {
      const text = `a${"€".repeat(3_000)}`
      const { body } = answered(yield* sendTo((socket) => socket.write(answer(500, text))))
      assert.strictEqual(body, `a${"€".repeat(1_365)}`)
      assert.strictEqual(Buffer.byteLength(body), MAX_KEPT_RESPONSE_BYTES)
      const { body: off } = answered(yield* sendTo((socket) => socket.write(answer(500, `ab${text}`))))
      assert.strictEqual(off, `aba${"€".repeat(1_364)}`)
      const { body: astral } = answered(
        yield* sendTo((socket) => socket.write(answer(500, `a${"😀".repeat(3_000)}`))),
      )
      assert.strictEqual(astral, `a${"😀".repeat(1_023)}`)
    }),
  )

  it.live(
    "that is too long stays within the limit of bytes, also after characters are replaced or removed",
    () =>
      Effect.gen(function* () {
        const bodyOf = (bytes: Buffer) =>
          Effect.map(
            sendTo((socket) => {
              socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes.length}\r\n\r\n`)
              socket.write(bytes)
            }),
            (response) => answered(response).body,
          )
        assert.strictEqual(yield* bodyOf(Buffer.alloc(4_096, 0xff)), "\ufffd".repeat(1_365))
        assert.strictEqual(yield* bodyOf(Buffer.alloc(9_000, 0xff)), "\ufffd".repeat(1_365))
        assert.strictEqual(yield* bodyOf(Buffer.from(`\0${"x".repeat(5_000)}`)), "x".repeat(4_095))
        assert.strictEqual(yield* bodyOf(Buffer.alloc(60_000)), "")
      }),
  )

  it.live("of 64 KiB is read to the end, and its connection is kept", () =>
    Effect.gen(function* () {
      const hook = yield* receiver((socket) => socket.write(answer(200, "x".repeat(MAX_RESPONSE_BYTES))))
      const { send } = yield* WebhookTransport
      for (let i = 0; i < 3; i++) {
        assert.strictEqual(answered(yield* send(post(hook.origin))).body, "x".repeat(MAX_KEPT_RESPONSE_BYTES))
      }
      assert.strictEqual(hook.connections, 1)
    }).pipe(Effect.provide(transport())),
  )

  it.live("of 64 KiB and one byte is cut, and its connection is closed", () =>
    Effect.gen(function* () {
      const hook = yield* receiver((socket) => {
        // The last byte is never sent. Waiting for it would never end.
        socket.write(`HTTP/1.1 202 OK\r\ncontent-length: ${MAX_RESPONSE_BYTES + 2}\r\n\r\n`)
        socket.write("x".repeat(MAX_RESPONSE_BYTES + 1))
      })
      const { send } = yield* WebhookTransport
      const response = answered(yield* send(post(hook.origin)))
      assert.deepInclude(response, { status: 202, body: "x".repeat(MAX_KEPT_RESPONSE_BYTES) })
      yield* Effect.promise(() => hook.whenOpen(0))
    }).pipe(Effect.provide(transport())),
  )

  it.live("of 5 MB or without an end is a success if its status is 2xx", () =>
    Effect.gen(function* () {
      const large = yield* sendTo((socket) => socket.write(answer(200, "y".repeat(5_000_000))))
      const endless = yield* sendTo((socket) => {
        flood(socket, "HTTP/1.1 200 OK\r\n\r\n", "y".repeat(10_000))
      })
      for (const response of [large, endless]) {
        assert.include(answered(response), { status: 200, body: "y".repeat(MAX_KEPT_RESPONSE_BYTES) })
      }
    }),
  )

  it.live("is not decompressed", () =>
    Effect.gen(function* () {
      const bomb = gzipSync(Buffer.alloc(50_000_000))
      const packed = yield* sendTo((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`)
        socket.write(bomb)
      })
      const { body } = answered(packed)
      assert.isAtMost(Buffer.byteLength(body), MAX_KEPT_RESPONSE_BYTES)
      // The first byte of a gzip file, and U+FFFD for the second.
      assert.isTrue(body.startsWith("\u001f\ufffd"))
      assert.notInclude(body, "\0")
    }),
  )

  it.live("that arrives before the request was read counts", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok, {
        onConnect: (socket) => {
          socket.pause()
          socket.write(answer(200, "early"))
        },
      })
      const { send } = yield* WebhookTransport
      const response = yield* send(post(hook.origin, { body: "z".repeat(20_000_000) }))
      assert.include(answered(response), { status: 200, body: "early" })
      // The rest of the request is still in the connection, so it isn't used again.
      assert.include(answered(yield* send(post(hook.origin))), { status: 200 })
      assert.strictEqual(hook.connections, 2)
    }).pipe(Effect.provide(transport())),
  )

  it.live("that redirects isn't followed", () =>
    Effect.gen(function* () {
      const canary = yield* receiver(ok)
      for (const status of [301, 302, 303, 307, 308]) {
        const response = yield* sendTo((socket) =>
          socket.write(answer(status, "", `location: ${canary.origin}/latest/meta-data\r\n`)),
        )
        assert.strictEqual(answered(response).status, status)
      }
      assert.strictEqual(canary.connections, 0)
    }),
  )
})

describe("a hostile receiver", () => {
  const bad: ReadonlyArray<readonly [what: string, behaviour: Behaviour]> = [
    ["a bad status line", (socket) => socket.write("HELLO WORLD\r\n\r\n")],
    ["another protocol", (socket) => socket.write("SSH-2.0-OpenSSH_9.6\r\n")],
    ["HTTP/2's preface", (socket) => socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")],
    ["zeros", (socket) => socket.write(Buffer.alloc(1_000))],
    ["a header of 100 kB", (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${"a".repeat(100_000)}\r\n\r\n`)],
    [
      "100 kB of headers",
      (socket) => socket.write(`HTTP/1.1 200 OK\r\n${"a: 0123456789\r\n".repeat(7_000)}\r\n`),
    ],
    ["headers without end", (socket) => flood(socket, "HTTP/1.1 200 OK\r\n", "a: b\r\n".repeat(100))],
    ["a status text without end", (socket) => flood(socket, "HTTP/1.1 200 ", "a".repeat(9_000))],
    [
      "a NUL in a header",
      (socket) => socket.write("HTTP/1.1 200 OK\r\nx: a\0b\r\ncontent-length: 0\r\n\r\n"),
    ],
    ["a header without a name", (socket) => socket.write("HTTP/1.1 200 OK\r\n: x\r\n\r\n")],
    [
      "two lengths",
      (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"),
    ],
    ["a bad length", (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n")],
    [
      "invalid chunks",
      (socket) => socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello"),
    ],
    [
      "a switch of protocols",
      (socket) => socket.write("HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
    ],
    [
      "a switch of protocols after a 100 Continue",
      (socket) =>
        socket.write(
          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
        ),
    ],
    [
      "a 100 Continue whose headers do not end",
      (socket) => flood(socket, "HTTP/1.1 100 Continue\r\nx: ", "x".repeat(1_000)),
    ],
    ["a flood of 100 Continue", (socket) => flood(socket, "", "HTTP/1.1 100 Continue\r\n\r\n".repeat(100))],
    ["a flood of interim answers", (socket) => flood(socket, "", "HTTP/1.1 103 Hints\r\n\r\n".repeat(100))],
  ]
  for (const [what, behaviour] of bad) {
    it.live(`that sends ${what} gives a bad response`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* sendTo(behaviour), failed("bad_response"))
      }),
    )
  }

  it.live("that hides a flood in extensions of chunks is cut, and its status counts", () =>
    Effect.gen(function* () {
      const response = yield* sendTo((socket) => {
        const start = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;"
        flood(socket, start, "x".repeat(10_000))
      })
      assert.include(answered(response), { status: 200, body: "" })
    }),
  )

  const resetting: ReadonlyArray<readonly [what: string, behaviour: Behaviour]> = [
    ["resets at once", (socket) => socket.resetAndDestroy()],
    ["closes at once", (socket) => socket.end()],
    [
      "resets within its headers",
      (socket) => socket.write("HTTP/1.1 200 OK\r\nx", () => socket.resetAndDestroy()),
    ],
    ["closes within its headers", (socket) => socket.end("HTTP/1.1 200 OK\r\nx")],
    [
      "resets within its body",
      (socket) =>
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", () => socket.resetAndDestroy()),
    ],
    ["closes within its body", (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc")],
    [
      "closes within its last body",
      (socket) => socket.end("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 9\r\n\r\nabc"),
    ],
    [
      "closes within a chunk",
      (socket) => socket.end("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nabc"),
    ],
    [
      "closes within its last chunk",
      (socket) =>
        socket.end("HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n9\r\nabc"),
    ],
  ]
  for (const [what, behaviour] of resetting) {
    it.live(`that ${what} gives a reset`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* sendTo(behaviour), failed("reset"))
      }),
    )
  }

  const endless: ReadonlyArray<readonly [what: string, behaviour: Behaviour]> = [
    ["never answers", () => {}],
    ["sends its status line byte by byte", (socket) => keepWriting(socket, "H", 1_000)],
    [
      "drips headers",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n")
        keepWriting(socket, "a: b\r\n", 20)
      },
    ],
    ["sends interim answers without end", (socket) => keepWriting(socket, "HTTP/1.1 102 Wait\r\n\r\n", 20)],
    ["never sends its body", (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n")],
    [
      "drips its body",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
        keepWriting(socket, "x", 20)
      },
    ],
    [
      "drips chunks",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        keepWriting(socket, "1\r\nx\r\n", 20)
      },
    ],
  ]
  for (const [what, behaviour] of endless) {
    it.live(`that ${what} gives a timeout at the deadline, and its connection is closed`, () =>
      Effect.gen(function* () {
        const hook = yield* receiver(behaviour)
        const { send } = yield* WebhookTransport
        assert.deepStrictEqual(yield* send(post(hook.origin)), failed("timeout"))
        yield* Effect.promise(() => hook.whenOpen(0))
      }).pipe(Effect.provide(transport({ deadlineMillis: DEADLINE }))),
    )
  }

  it.live("that hangs doesn't delay others", () =>
    Effect.gen(function* () {
      const hanging = yield* receiver(() => {})
      const good = yield* receiver(ok)
      const { send } = yield* WebhookTransport
      const stuck = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 20 }, () => send(post(hanging.origin))),
          { concurrency: "unbounded" },
        ),
      )
      for (let i = 0; i < 50; i++) assert.strictEqual(answered(yield* send(post(good.origin))).status, 200)
      for (const response of yield* Fiber.join(stuck)) assert.deepStrictEqual(response, failed("timeout"))
    }).pipe(Effect.provide(transport({ deadlineMillis: DEADLINE }))),
  )
})

describe("an interrupted request", () => {
  it.live("closes its connection", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(() => {})
      const { send } = yield* WebhookTransport
      const fiber = yield* Effect.forkChild(send(post(hook.origin)))
      yield* Effect.promise(() => hook.whenOpen(1))
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => hook.whenOpen(0))
    }).pipe(Effect.provide(transport())),
  )

  it.live("closes its connection also while the answer is read", () =>
    Effect.gen(function* () {
      let isAnswering: () => void = () => {}
      const answering = new Promise<void>((resolve) => {
        isAnswering = resolve
      })
      const hook = yield* receiver((socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc", isAnswering)
      })
      const { send } = yield* WebhookTransport
      const fiber = yield* Effect.forkChild(send(post(hook.origin)))
      yield* Effect.promise(() => answering)
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => hook.whenOpen(0))
    }).pipe(Effect.provide(transport())),
  )
})
