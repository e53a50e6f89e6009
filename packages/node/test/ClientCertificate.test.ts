/**
 * Mutual TLS: servers that demand a certificate of the sender.
 */
import { createPrivateKey } from "node:crypto"
import type { TLSSocket } from "node:tls"
import { inspect } from "node:util"
import { type WebhookResponse, WebhookTransport } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { type ClientCertificate, UndiciTransport, type UndiciTransportOptions } from "../src/index.ts"
import { selfSigned } from "./Certificate.ts"
import { proxy, through, tunnel } from "./Proxy.ts"
import { answer, post, receiver, sendOnce } from "./Receivers.ts"

const DAY = 86_400_000

const statusOf = (response: WebhookResponse) =>
  response._tag === "Answered" ? response.status : response.error

const server = selfSigned(["127.0.0.1"])
const client = selfSigned(["billing.example"], -1, 60)
const trusted = { certificateAuthorities: [server.cert] }

const option = ({ cert, key }: { readonly cert: string; readonly key: string }): ClientCertificate => ({
  certificate: cert,
  key: Redacted.make(key),
})

const seenOf = (socket: unknown): string | undefined =>
  (socket as TLSSocket).getPeerX509Certificate()?.toString()

/** A receiver that asks for a certificate, which has to be one of `client`. It records what it is shown. */
const demanding = Effect.gen(function* () {
  const shown: Array<string | undefined> = []
  const hook = yield* receiver(
    (socket) => {
      shown.push(seenOf(socket))
      socket.write(answer(200))
    },
    { tls: { ...server, requestCert: true, rejectUnauthorized: true, ca: [client.cert] } },
  )
  return { hook, shown }
})

describe("a client certificate", () => {
  it.live("is presented to a receiver that demands it, also through a proxy", () =>
    Effect.gen(function* () {
      const { hook, shown } = yield* demanding
      const between = yield* proxy()
      for (const more of [{}, through(between.origin)]) {
        const options = { ...trusted, ...more, clientCertificate: option(client) }
        assert.strictEqual(statusOf(yield* sendOnce(post(hook.origin), options)), 200)
      }
      assert.deepStrictEqual(shown, [client.cert, client.cert])
      assert.strictEqual(between.requests.length, 1)
    }),
  )

  it.live("that is missing is a tls_error, and the receiver gets nothing", () =>
    Effect.gen(function* () {
      const { hook } = yield* demanding
      assert.strictEqual(statusOf(yield* sendOnce(post(hook.origin), trusted)), "tls_error")
      assert.deepStrictEqual(hook.requests, [])
    }),
  )

  it.live("that the receiver doesn't know is refused by it", () =>
    Effect.gen(function* () {
      const { hook } = yield* demanding
      const options = { ...trusted, clientCertificate: option(selfSigned(["billing.example"], -1, 60)) }
      // Node's server ends the connection without a reason.
      assert.strictEqual(statusOf(yield* sendOnce(post(hook.origin), options)), "reset")
      assert.deepStrictEqual(hook.requests, [])
    }),
  )

  it.live("is shown to no receiver that doesn't ask, and never to the proxy", () =>
    Effect.gen(function* () {
      const shown: Array<string | undefined> = []
      const hook = yield* receiver(
        (socket) => {
          shown.push(seenOf(socket))
          socket.write(answer(200))
        },
        { tls: server },
      )
      const asking = { ...server, requestCert: true, rejectUnauthorized: false }
      const between = yield* proxy(
        (socket, received, number) => {
          shown.push(seenOf(socket))
          tunnel()(socket, received, number)
        },
        { tls: asking },
      )
      for (const more of [{}, through(between.origin)]) {
        const options = { ...trusted, ...more, clientCertificate: option(client) }
        assert.strictEqual(statusOf(yield* sendOnce(post(hook.origin), options)), 200)
      }
      assert.deepStrictEqual(shown, [undefined, undefined, undefined])
    }),
  )

  it.live("may have an encrypted key, and be followed by its chain", () =>
    Effect.gen(function* () {
      const passphrase = ["open", "sesame"].join(" ")
      const key = createPrivateKey(client.key)
        .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase })
        .toString()
      const { hook, shown } = yield* demanding
      const clientCertificate = {
        ...option({ cert: `${client.cert}${selfSigned(["authority.example"]).cert}`, key }),
        passphrase: Redacted.make(passphrase),
      }
      const response = yield* sendOnce(post(hook.origin), { ...trusted, clientCertificate })
      assert.strictEqual(statusOf(response), 200)
      assert.deepStrictEqual(shown, [client.cert])
    }),
  )
})

describe("a client certificate that can't be used", () => {
  const encrypted = createPrivateKey(client.key)
    .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "right" })
    .toString()
  const cases: ReadonlyArray<readonly [string, ClientCertificate, string, RegExp]> = [
    [
      "no certificate",
      option({ ...client, cert: "nonsense" }),
      "certificate",
      /^must be a certificate in PEM/,
    ],
    [
      "a key instead",
      option({ ...client, cert: client.key }),
      "certificate",
      /^must be a certificate in PEM/,
    ],
    [
      "a broken chain",
      option({
        ...client,
        cert: `${client.cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
      }),
      "certificate",
      /^must be accepted by TLS/,
    ],
    ["no key", option({ ...client, key: "nonsense" }), "key", /^must be a private key in PEM$/],
    [
      "the key of another one",
      option({ ...client, key: server.key }),
      "key",
      /^must be the private key of the certificate$/,
    ],
    [
      "a key without its passphrase",
      option({ ...client, key: encrypted }),
      "passphrase",
      /^must be the one that opens the key$/,
    ],
    [
      "a wrong passphrase",
      { ...option({ ...client, key: encrypted }), passphrase: Redacted.make("wrong") },
      "passphrase",
      /^must be the one that opens the key$/,
    ],
    [
      "one that has expired",
      option(selfSigned(["a.example"], -3, -2)),
      "certificate",
      /^must not be expired: it was valid until \d{4}-/,
    ],
    [
      "one of the future",
      option(selfSigned(["a.example"], 2, 3)),
      "certificate",
      /^must be valid already: it is valid from \d{4}-/,
    ],
  ]
  for (const [what, clientCertificate, part, problem] of cases) {
    it.effect(`is refused at the start: ${what}`, () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(Date.now())
        const error = yield* Effect.flip(
          Effect.scoped(Effect.provide(WebhookTransport, UndiciTransport.layer({ clientCertificate }))),
        )
        assert.strictEqual(error.field, `clientCertificate.${part}`)
        assert.match(error.problem, problem)
        const text = inspect(error, { depth: 8 })
        const key = Redacted.value(clientCertificate.key).split("\n")[1] ?? "nonsense"
        assert.notInclude(text, key)
      }),
    )
  }
})

describe("the expiry of a client certificate", () => {
  it.effect("is warned of from 30 days before, once a day, whenever something is sent", () => {
    const logged: Array<string> = []
    const logger = Logger.make(
      ({ logLevel, message }) => void logged.push(`${logLevel} ${[message].flat().join(" ")}`),
    )
    const begin = Date.now()
    return Effect.gen(function* () {
      yield* TestClock.setTime(begin)
      const options: UndiciTransportOptions = { clientCertificate: option(selfSigned(["a.example"], -1, 32)) }
      const { send } = Context.get(yield* Layer.build(UndiciTransport.layer(options)), WebhookTransport)
      const at = Effect.fnUntraced(function* (days: number) {
        yield* TestClock.setTime(begin + days * DAY)
        yield* send(post("ftp://nowhere.example/"))
        return logged.length
      })
      const counts = []
      for (const days of [0, 1.9, 2.1, 2.5, 3, 3.2, 33, 33.5]) counts.push(yield* at(days))
      assert.deepStrictEqual(counts, [0, 0, 1, 1, 1, 2, 3, 3])
      assert.match(logged[0]!, /^Warn the client certificate of webhooks expires at \d{4}-.*Z: /)
      assert.match(logged[2]!, /^Warn the client certificate of webhooks has expired at /)
    }).pipe(Effect.provide(Logger.layer([logger])))
  })

  it.effect("is warned of at the start", () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => void logged.push([message].flat().join(" ")))
    return Effect.gen(function* () {
      yield* TestClock.setTime(Date.now())
      const options = { clientCertificate: option(selfSigned(["a.example"], -1, 29)) }
      yield* Effect.provide(WebhookTransport, UndiciTransport.layer(options))
      assert.lengthOf(logged, 1)
      assert.match(
        logged[0]!,
        /expires at .*receivers that ask for it will refuse webhooks until it is replaced$/,
      )
    }).pipe(Effect.provide(Logger.layer([logger])))
  })
})
