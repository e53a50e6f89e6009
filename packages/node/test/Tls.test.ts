import { connect } from "node:net"
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from "node:tls"
import { type WebhookResponse, WebhookTransport } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { UndiciTransportOptions } from "../src/index.ts"
import { selfSigned } from "./Certificate.ts"
import { answer, type Behaviour, ok, post, receiver, sendOnce, transport } from "./Receivers.ts"

const statusOf = (response: WebhookResponse) =>
  response._tag === "Answered" ? response.status : response.error
const resolve = () => Promise.resolve(["127.0.0.1"])
const tls = selfSigned(["hooks.example", "127.0.0.1"])

/** Sends to a receiver with a certificate, by name. */
const sendByName = (
  certificate: { readonly cert: string; readonly key: string },
  options: UndiciTransportOptions,
  behaviour: Behaviour = ok,
) =>
  Effect.gen(function* () {
    const hook = yield* receiver(behaviour, { tls: certificate })
    const response = yield* sendOnce(post(`https://hooks.example:${hook.port}/`), { resolve, ...options })
    return { hook, status: statusOf(response) }
  })

describe("a certificate", () => {
  it.live("of an unknown authority is a tls_error, and nothing is sent", () =>
    Effect.gen(function* () {
      const { hook, status } = yield* sendByName(tls, {})
      assert.strictEqual(status, "tls_error")
      assert.deepStrictEqual(hook.requests, [])
    }),
  )

  it.live("of an authority of the options is trusted for the name in the URL", () =>
    Effect.gen(function* () {
      let name: unknown
      const { hook, status } = yield* sendByName(tls, { certificateAuthorities: [tls.cert] }, (socket) => {
        name = (socket as TLSSocket & { readonly servername?: unknown }).servername
        socket.write(answer(200))
      })
      assert.strictEqual(status, 200)
      assert.strictEqual(name, "hooks.example")
      assert.include(hook.requests[0]!.head, `host: hooks.example:${hook.port}`)
    }),
  )

  it.live("may be for an address", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok, { tls })
      const options = { certificateAuthorities: [tls.cert] }
      assert.strictEqual(statusOf(yield* sendOnce(post(hook.origin), options)), 200)
    }),
  )

  it.live("of an authority of Node is trusted in addition to those of the options", () => {
    const other = selfSigned(["hooks.example"])
    const before = getCACertificates("default")
    return Effect.gen(function* () {
      setDefaultCACertificates([...before, other.cert])
      for (const certificate of [tls, other]) {
        const { status } = yield* sendByName(certificate, { certificateAuthorities: [tls.cert] })
        assert.strictEqual(status, 200)
      }
      assert.strictEqual((yield* sendByName(other, {})).status, 200)
    }).pipe(Effect.ensuring(Effect.sync(() => setDefaultCACertificates(before))))
  })

  for (const [what, certificate] of [
    ["for another name", selfSigned(["other.example"])],
    ["for the address but not the name", selfSigned(["127.0.0.1"])],
    ["that has expired", selfSigned(["hooks.example"], -3, -2)],
    ["that isn't valid yet", selfSigned(["hooks.example"], 2, 3)],
  ] as const) {
    it.live(`${what} is a tls_error`, () =>
      Effect.gen(function* () {
        const { status } = yield* sendByName(certificate, { certificateAuthorities: [certificate.cert] })
        assert.strictEqual(status, "tls_error")
      }),
    )
  }

  it.live("is checked even with NODE_TLS_REJECT_UNAUTHORIZED=0", () =>
    Effect.gen(function* () {
      process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0"
      const { status } = yield* sendByName(tls, {})
      assert.strictEqual(status, "tls_error")
    }).pipe(Effect.ensuring(Effect.sync(() => delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]))),
  )
})

describe("a handshake", () => {
  it.live("with a server without TLS is a tls_error", () =>
    Effect.gen(function* () {
      const plain = yield* receiver(ok, { onConnect: (socket) => socket.write("HTTP/1.1 400 Bad\r\n\r\n") })
      const response = yield* sendOnce(post(`https://127.0.0.1:${plain.port}/`))
      assert.strictEqual(statusOf(response), "tls_error")
    }),
  )

  it.live("that the server ends is a reset", () =>
    Effect.gen(function* () {
      for (const onConnect of [
        (socket: { destroy: () => void }) => socket.destroy(),
        (socket: { resetAndDestroy: () => void }) => socket.resetAndDestroy(),
      ]) {
        const plain = yield* receiver(ok, { onConnect })
        const response = yield* sendOnce(post(`https://127.0.0.1:${plain.port}/`))
        assert.strictEqual(statusOf(response), "reset")
      }
    }),
  )

  it.live("that hangs is a timeout, and its connection is closed", () =>
    Effect.gen(function* () {
      const plain = yield* receiver(ok)
      const { send } = yield* WebhookTransport
      assert.strictEqual(statusOf(yield* send(post(`https://127.0.0.1:${plain.port}/`))), "timeout")
      yield* Effect.promise(() => plain.whenOpen(0))
      assert.strictEqual(plain.connections, 1)
    }).pipe(Effect.provide(transport({ deadlineMillis: 200 }))),
  )
})

describe("a connection with TLS", () => {
  it.live("that is tampered with is a tls_error", () =>
    Effect.gen(function* () {
      let tamper: () => void = () => {}
      const hook = yield* receiver(() => tamper(), { tls })
      const between = yield* receiver(ok, {
        onConnect: (socket) => {
          const onward = connect(hook.port, "127.0.0.1").on("error", () => {})
          socket.pipe(onward).pipe(socket)
          tamper = () => socket.write("HTTP/1.1 200 OK\r\n\r\n")
        },
      })
      const response = yield* sendOnce(post(`https://127.0.0.1:${between.port}/`), {
        certificateAuthorities: [tls.cert],
      })
      assert.strictEqual(statusOf(response), "tls_error")
    }),
  )

  it.live("is kept, reads a large answer to its end, and uses HTTP/1.1", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok, { tls: { ...tls, ALPNProtocols: ["h2", "http/1.1"] } })
      const large = yield* receiver((socket) => socket.write(answer(200, "x".repeat(5_000_000))), { tls })
      const { send } = yield* WebhookTransport
      for (let i = 0; i < 5; i++) assert.strictEqual(statusOf(yield* send(post(hook.origin))), 200)
      assert.strictEqual(hook.connections, 1)
      assert.strictEqual(statusOf(yield* send(post(large.origin))), 200)
      yield* Effect.promise(() => large.whenOpen(0))
    }).pipe(Effect.provide(transport({ certificateAuthorities: [tls.cert] }))),
  )
})
