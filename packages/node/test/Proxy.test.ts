/**
 * Webhooks through an HTTP proxy. This file can only connect to loopback, so that a mistake sends nothing elsewhere.
 */
import { createServer } from "node:net"
import type { TLSSocket } from "node:tls"
import { inspect } from "node:util"
import { type WebhookResponse, WebhookTransport } from "@billwright/core"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger } from "effect"
import type { UndiciTransportOptions } from "../src/index.ts"
import { selfSigned } from "./Certificate.ts"
import { loopbackOnly } from "./LoopbackOnly.ts"
import { answering, proxy, through, tunnel } from "./Proxy.ts"
import { answer, type Behaviour, ok, post, receiver, sendOnce, transport } from "./Receivers.ts"

const connections = loopbackOnly()
afterAll(() => connections.end())

const statusOf = (response: WebhookResponse) =>
  response._tag === "Answered" ? response.status : response.error
const tls = selfSigned(["hooks.example", "127.0.0.1"])
const trusted = { certificateAuthorities: [tls.cert] }
const resolvesTo =
  (...addresses: ReadonlyArray<string>) =>
  () =>
    Promise.resolve(addresses)

const closedPort = Effect.promise(
  () =>
    new Promise<number>((resolve) => {
      const server = createServer().listen(0, "127.0.0.1", () => {
        const { port } = server.address() as { port: number }
        server.close(() => resolve(port))
      })
    }),
)

/** Sends to a receiver through a proxy that behaves so. Gives the result, and both of them. */
const sendBy = (behaviour: Behaviour, options: UndiciTransportOptions = {}) =>
  Effect.gen(function* () {
    const hook = yield* receiver(ok)
    const between = yield* proxy(behaviour)
    const status = statusOf(
      yield* sendOnce(post(hook.origin), { deadlineMillis: 5_000, ...through(between.origin), ...options }),
    )
    return { hook, between, status }
  })

describe("through a proxy", () => {
  it.live(
    "an https request goes inside a tunnel to the checked address, with TLS for the host of the URL",
    () =>
      Effect.gen(function* () {
        let name: unknown
        const hook = yield* receiver(
          (socket) => {
            name = (socket as TLSSocket & { readonly servername?: unknown }).servername
            socket.write(answer(200))
          },
          { tls },
        )
        const between = yield* proxy()
        const response = yield* sendOnce(post(`https://hooks.example:${hook.port}/path`), {
          ...trusted,
          ...through(between.origin),
          resolve: resolvesTo("127.0.0.1"),
        })
        assert.strictEqual(statusOf(response), 200)
        assert.strictEqual(name, "hooks.example")
        const authority = `127.0.0.1:${hook.port}`
        assert.deepStrictEqual(between.requests, [
          { head: `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}`, body: "" },
        ])
        assert.match(hook.requests[0]!.head, /^POST \/path HTTP\/1\.1\r\nhost: hooks\.example:/)
      }),
  )

  it.live("a live request asks for a public address and port 443", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok, { tls })
      const between = yield* proxy(tunnel({ host: "127.0.0.1", port: hook.port }))
      const response = yield* sendOnce(post("https://hooks.example/", { mode: "live" }), {
        ...trusted,
        proxy: through(between.origin).proxy,
        resolve: resolvesTo("8.8.8.8"),
      })
      assert.strictEqual(statusOf(response), 200)
      assert.include(between.requests[0]!.head, "CONNECT 8.8.8.8:443 HTTP/1.1")
      assert.notInclude(connections.attempted, "8.8.8.8")
    }),
  )

  it.live("the certificate of the receiver is checked", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok, { tls: selfSigned(["other.example"]) })
      const between = yield* proxy()
      const response = yield* sendOnce(post(`https://127.0.0.1:${hook.port}/`), {
        ...trusted,
        ...through(between.origin),
      })
      assert.strictEqual(statusOf(response), "tls_error")
      assert.deepStrictEqual(hook.requests, [])
      yield* Effect.promise(() => between.whenOpen(0))
    }),
  )

  it.live("an http request is in a tunnel, too", () =>
    Effect.gen(function* () {
      const { between, hook, status } = yield* sendBy(tunnel())
      assert.strictEqual(status, 200)
      assert.include(between.requests[0]!.head, `CONNECT 127.0.0.1:${hook.port} HTTP/1.1`)
      assert.match(hook.requests[0]!.head, /^POST \/ HTTP\/1\.1\r\n/)
    }),
  )

  it.live("an IPv6 address is in brackets", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok, { host: "::1" })
      const between = yield* proxy()
      assert.strictEqual(statusOf(yield* sendOnce(post(hook.origin), through(between.origin))), 200)
      assert.include(between.requests[0]!.head, `CONNECT [::1]:${hook.port} HTTP/1.1\r\nHost: [::1]:`)
    }),
  )

  it.live("requests share a tunnel as they share a connection, and it ends with the transport", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok, { tls })
      const between = yield* proxy()
      yield* Effect.gen(function* () {
        const { send } = yield* WebhookTransport
        for (const _ of [1, 2]) assert.strictEqual(statusOf(yield* send(post(hook.origin))), 200)
      }).pipe(Effect.provide(transport({ ...trusted, ...through(between.origin) })))
      assert.deepStrictEqual([between.connections, hook.connections, hook.requests.length], [1, 1, 2])
      yield* Effect.promise(() => between.whenOpen(0))
      yield* Effect.promise(() => hook.whenOpen(0))
    }),
  )

  it.live("an answer is limited as without one, and a cut answer ends the tunnel", () =>
    Effect.gen(function* () {
      const hook = yield* receiver((socket) => socket.write(answer(200, "a".repeat(65_537))), { tls })
      const between = yield* proxy()
      yield* Effect.gen(function* () {
        const { send } = yield* WebhookTransport
        const response = yield* send(post(hook.origin))
        assert.strictEqual(response._tag === "Answered" ? response.body : "", "a".repeat(4_096))
        yield* Effect.promise(() => between.whenOpen(0))
      }).pipe(Effect.provide(transport({ ...trusted, ...through(between.origin) })))
    }),
  )

  it.live("that is reached by TLS, the tunnel is inside of TLS with the proxy", () =>
    Effect.gen(function* () {
      const own = selfSigned(["proxy.example"])
      const between = yield* proxy(tunnel(), { tls: own })
      for (const options of [{ tls }, {}]) {
        const hook = yield* receiver(ok, options)
        const request = post(hook.origin)
        const by = { ...through(`https://proxy.example:${between.port}`), resolve: resolvesTo("127.0.0.1") }
        const both = { certificateAuthorities: [tls.cert, own.cert] }
        assert.strictEqual(statusOf(yield* sendOnce(request, { ...by, ...both })), 200)
        assert.strictEqual(statusOf(yield* sendOnce(request, { ...by, ...trusted })), "proxy_error")
        assert.strictEqual(hook.requests.length, 1)
        assert.include(between.requests.at(-1)!.head, `CONNECT 127.0.0.1:${hook.port} `)
      }
    }),
  )

  it.live("interim answers are skipped, and an answer may come byte by byte", () =>
    Effect.gen(function* () {
      const head = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 299 Fine\r\nVia: 1.1 test\r\n\r\n"
      assert.strictEqual((yield* sendBy(tunnel(undefined, head))).status, 200)
      const slow: Behaviour = (socket, received, number) => {
        const write = socket.write.bind(socket)
        socket.setNoDelay()
        socket.write = (text: string) => {
          socket.write = write
          return [...text].map((byte) => write(byte)).at(-1)!
        }
        tunnel(undefined, head)(socket, received, number)
      }
      assert.strictEqual((yield* sendBy(slow)).status, 200)
    }),
  )
})

describe("an address that webhooks may not be sent to", () => {
  it.live("is refused before the proxy is asked", () =>
    Effect.gen(function* () {
      const between = yield* proxy()
      for (const [url, ...addresses] of [
        ["https://10.20.0.7/"],
        ["https://169.254.169.254/"],
        ["https://hooks.example/", "10.20.0.7"],
        ["https://hooks.example/", "8.8.8.8", "169.254.169.254"],
        ["https://hooks.example/", "127.0.0.1"],
      ] as const) {
        const response = yield* sendOnce(post(url, { mode: "live" }), {
          ...through(between.origin),
          resolve: resolvesTo(...addresses),
        })
        assert.strictEqual(statusOf(response), "blocked_address", url)
      }
      const unknown = { ...through(between.origin), resolve: resolvesTo() }
      assert.strictEqual(statusOf(yield* sendOnce(post("https://hooks.example/"), unknown)), "dns_error")
      assert.strictEqual(between.connections, 0)
    }),
  )
})

describe("a proxy that fails", () => {
  for (const [what, text] of [
    [
      "asks for credentials",
      "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n",
    ],
    ["forbids it", "HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno"],
    ["doesn't know CONNECT", "HTTP/1.1 405 Method Not Allowed\r\n\r\n"],
    ["fails itself", "HTTP/1.1 500 Internal Server Error\r\n\r\n"],
    ["redirects", "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n\r\n"],
    ["changes the protocol", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    ["answers no HTTP", "220 mail.example ESMTP\r\n"],
    ["answers a status that doesn't exist", "HTTP/1.1 999 Odd\r\n\r\n"],
    ["never ends its headers", `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(4_000)}`],
    ["never ends its interim answers", "HTTP/1.1 100 Continue\r\n\r\n".repeat(1_000)],
  ] as const) {
    it.live(`because it ${what} is a proxy_error, and nothing is sent`, () =>
      Effect.gen(function* () {
        const { between, hook, status } = yield* sendBy(answering(text))
        assert.strictEqual(status, "proxy_error")
        assert.strictEqual(hook.connections, 0)
        yield* Effect.promise(() => between.whenOpen(0))
      }),
    )
  }

  it.live("because it ends the connection is a proxy_error", () =>
    Effect.gen(function* () {
      for (const end of [
        (socket) => socket.end(),
        (socket) => socket.resetAndDestroy(),
        (socket) => socket.end("HTTP/1.1 200"),
      ] satisfies ReadonlyArray<Behaviour>) {
        assert.strictEqual((yield* sendBy(end)).status, "proxy_error")
      }
    }),
  )

  it.live("because nothing listens there, or its name has no address, is a proxy_error", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok)
      const port = yield* closedPort
      const down = through(`http://127.0.0.1:${port}`)
      assert.strictEqual(statusOf(yield* sendOnce(post(hook.origin), down)), "proxy_error")
      for (const resolve of [resolvesTo(), () => Promise.reject(new Error("no such name"))]) {
        const nowhere = { ...through("http://proxy.example:3128"), resolve }
        assert.strictEqual(statusOf(yield* sendOnce(post(hook.origin), nowhere)), "proxy_error")
      }
    }),
  )

  it.live("because it can't be reached in a third of the deadline is a proxy_error", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok)
      const between = yield* proxy(() => {})
      const silent = { ...through(`https://127.0.0.1:${between.port}`), deadlineMillis: 3_000 }
      assert.strictEqual(statusOf(yield* sendOnce(post(hook.origin), silent)), "proxy_error")
      const nameless = {
        ...through("http://proxy.example"),
        resolve: () => new Promise<never>(() => {}),
        deadlineMillis: 3_000,
      }
      assert.strictEqual(statusOf(yield* sendOnce(post(hook.origin), nameless)), "proxy_error")
      yield* Effect.promise(() => between.whenOpen(0))
    }),
  )

  it.live("in the middle of an exchange is a reset", () =>
    Effect.gen(function* () {
      const between = yield* proxy()
      const hook = yield* receiver(() => between.sockets.forEach((socket) => socket.destroy()), { tls })
      const response = yield* sendOnce(post(hook.origin), { ...trusted, ...through(between.origin) })
      assert.strictEqual(statusOf(response), "reset")
    }),
  )
})

describe("what a proxy says of the receiver", () => {
  for (const [status, error] of [
    [502, "connection_refused"],
    [503, "connection_refused"],
    [504, "timeout"],
  ] as const) {
    it.live(`by ${status} is a failure of the receiver: ${error}`, () =>
      Effect.gen(function* () {
        const result = yield* sendBy(answering(`HTTP/1.1 ${status} Whatever\r\n\r\n`))
        assert.strictEqual(result.status, error)
        assert.strictEqual(result.between.requests.length, 1)
        yield* Effect.promise(() => result.between.whenOpen(0))
      }),
    )
  }

  it.live("of one address lets the next be tried, at most 8 of them", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok)
      const addresses = Array.from({ length: 12 }, (_, index) => `127.0.0.${index + 1}`)
      const by = (behaviour: Behaviour) =>
        Effect.gen(function* () {
          const between = yield* proxy(behaviour)
          const response = yield* sendOnce(post(`http://hooks.example:${hook.port}/`), {
            ...through(between.origin),
            resolve: resolvesTo(...addresses),
          })
          return { asked: between.requests.map(({ head }) => /CONNECT ([^:]+)/.exec(head)![1]), response }
        })
      const refuse = answering("HTTP/1.1 502 Bad Gateway\r\n\r\n")
      const third = yield* by((socket, received, number) =>
        (number < 3 ? refuse : tunnel({ host: "127.0.0.1", port: hook.port }))(socket, received, number),
      )
      assert.deepStrictEqual([statusOf(third.response), third.asked], [200, addresses.slice(0, 3)])
      const none = yield* by(refuse)
      assert.deepStrictEqual(
        [statusOf(none.response), none.asked],
        ["connection_refused", addresses.slice(0, 8)],
      )
    }),
  )

  it.live("by silence is a timeout, and its connection is closed", () =>
    Effect.gen(function* () {
      const { between, status } = yield* sendBy(() => {}, { deadlineMillis: 600 })
      assert.strictEqual(status, "timeout")
      yield* Effect.promise(() => between.whenOpen(0))
    }),
  )
})

describe("an attempt through a proxy that is interrupted", () => {
  for (const [when, behaviour] of [
    ["while the proxy is asked", (): void => {}],
    ["during TLS with the receiver", answering("HTTP/1.1 200 OK\r\n\r\n")],
  ] as const) {
    it.live(`${when} closes the connection`, () =>
      Effect.gen(function* () {
        const between = yield* proxy(behaviour)
        const interrupted = Effect.gen(function* () {
          const { send } = yield* WebhookTransport
          const sending = yield* Effect.forkChild(send(post("https://127.0.0.1:9/")))
          yield* Effect.promise(() => between.whenRequests(1))
          yield* Fiber.interrupt(sending)
          yield* Effect.promise(() => between.whenOpen(0))
        })
        yield* Effect.provide(interrupted, transport(through(between.origin)))
      }),
    )
  }
})

describe("the credentials of a proxy", () => {
  const password = ["p@ss", "wörd"].join(":")
  const basic = Buffer.from(`ada:${password}`).toString("base64")
  const withCredentials = (origin: string) =>
    through(origin.replace("//", `//ada:${encodeURIComponent(password)}@`))

  it.live("are sent to it, and to nobody else", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok)
      const between = yield* proxy()
      const response = yield* sendOnce(post(hook.origin), withCredentials(between.origin))
      assert.strictEqual(statusOf(response), 200)
      assert.include(between.requests[0]!.head, `\r\nProxy-Authorization: Basic ${basic}`)
      assert.notMatch(hook.requests[0]!.head, /authorization/i)
    }),
  )

  it.live("are in no log, error or result, also when the proxy repeats them", () => {
    const logged: Array<string> = []
    const logger = Logger.make((entry) => void logged.push(inspect(entry, { depth: 8 })))
    return Effect.gen(function* () {
      const between = yield* proxy((socket, { head }) =>
        socket.end(
          `HTTP/1.1 407 ${head.slice(head.indexOf("Basic"))}\r\nx-seen: ${password}\r\n\r\n${password}`,
        ),
      )
      const port = yield* closedPort
      const seen: Array<unknown> = []
      for (const origin of [
        between.origin,
        `http://127.0.0.1:${port}`,
        `https://127.0.0.1:${between.port}`,
      ]) {
        const options = { ...withCredentials(origin), deadlineMillis: 600 }
        seen.push(yield* sendOnce(post("https://127.0.0.1:9/"), options))
      }
      for (const wrong of [
        `socks5://ada:${encodeURIComponent(password)}@127.0.0.1:1080`,
        `ada:${password}@proxy.example:3128`,
        `http://ada:${password}@proxy.example:99999`,
        `http://ada:${encodeURIComponent(password)}%zz@proxy.example`,
        `http://ada%3A${encodeURIComponent(password)}@proxy.example`,
        `http://ada:${encodeURIComponent(password)}@proxy.example/path`,
        `http://ada:${encodeURIComponent(password)}@proxy.example?query`,
        `http://ada:${encodeURIComponent(password)}@proxy.example#fragment`,
        password,
        "",
      ]) {
        const error = yield* Effect.flip(sendOnce(post("https://127.0.0.1:9/"), through(wrong)))
        assert.deepStrictEqual([error._tag, error.field], ["InvalidInput", "proxy"], wrong)
        assert.match(error.problem, /^must /)
        seen.push(error, error.message)
      }
      const text = [...logged, ...seen.map((value) => inspect(value, { depth: 8 }))].join("\n")
      for (const secret of [password, encodeURIComponent(password), "wörd", "w%C3%B6rd", basic]) {
        assert.notInclude(text, secret)
      }
      assert.include(text, "webhooks can't be sent, because the proxy fails")
      assert.include(text, "it answered 407 to CONNECT")
      assert.include(text, "it could not be reached (connection_refused)")
    }).pipe(Effect.provide(Logger.layer([logger])))
  })
})
