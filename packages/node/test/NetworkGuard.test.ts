/**
 * The addresses to which the transport connects. The canary is a listener that a hole in the guard would reach: on Linux,
 * `0.0.0.0`, `::` and `::ffff:127.0.0.1` connect to it, and all are forbidden in both modes. Even with a hole nothing
 * leaves this machine: this file can only connect to loopback, and it records every try.
 */
import { connect, createServer } from "node:net"
import { type WebhookResponse, WebhookTransport } from "@billwright/core"
import { afterAll, afterEach, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Resolve, UndiciTransport } from "../src/index.ts"
import { selfSigned } from "./Certificate.ts"
import { loopbackOnly } from "./LoopbackOnly.ts"
import { freshLoopback, ok, post, receiver, sendOnce, transport } from "./Receivers.ts"

const BLOCKED: WebhookResponse = { _tag: "Failed", error: "blocked_address" }

const connections = loopbackOnly()
afterEach(() => connections.attempted.splice(0))
afterAll(() => connections.end())

describe("this file", () => {
  it("can only connect to loopback", async () => {
    // Addresses for documentation (RFC 5737, RFC 3849), which no machine has.
    for (const host of ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1"]) {
      const code = await new Promise<string | undefined>((resolve) => {
        connect({ host, port: 9 }).on("error", (error: NodeJS.ErrnoException) => resolve(error.code))
      })
      assert.strictEqual(code, "ERR_IP_BLOCKED", host)
    }
    assert.deepStrictEqual(connections.attempted, ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1"])
  })
})

/** A look-up with scripted answers, one after the other. The last is repeated. It counts the look-ups. */
const scripted = (...answers: ReadonlyArray<ReadonlyArray<string>>) => {
  const asked: Array<string> = []
  const resolve: Resolve = (host) => {
    asked.push(host)
    return Promise.resolve(answers[Math.min(asked.length, answers.length) - 1]!)
  }
  return { resolve, asked }
}

const statusOf = (response: WebhookResponse) =>
  response._tag === "Answered" ? response.status : response.error

describe("an address in the URL", () => {
  for (const host of [
    "0.0.0.0",
    "0",
    "0x0",
    "00.0.0.0",
    "０.0.0.0",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "169.254.169.254",
    "[fe80::1]",
  ]) {
    it.live(`isn't connected to as ${host}, not even in test mode`, () =>
      Effect.gen(function* () {
        const canary = yield* receiver(ok)
        const response = yield* sendOnce(post(`http://${host}:${canary.port}/`), { deadlineMillis: 2_000 })
        assert.deepStrictEqual(response, BLOCKED)
        assert.deepStrictEqual([canary.connections, connections.attempted], [0, []])
      }),
    )
  }

  it.live("of loopback is connected to only in test mode, in any spelling", () =>
    Effect.gen(function* () {
      const host = freshLoopback()
      const canary = yield* receiver(ok, { host, port: 8443 })
      const [a, b, c, d] = host.split(".").map(Number) as [number, number, number, number]
      const number = ((a * 256 + b) * 256 + c) * 256 + d
      const spellings = [host, String(number), `0x${number.toString(16)}`, `0${number.toString(8)}`]
      const { send } = yield* WebhookTransport
      for (const spelling of spellings) {
        assert.deepStrictEqual(yield* send(post(`https://${spelling}:8443/`, { mode: "live" })), BLOCKED)
      }
      assert.strictEqual(canary.connections, 0)
      for (const spelling of spellings) {
        assert.strictEqual(statusOf(yield* send(post(`http://${spelling}:8443/`))), 200)
      }
    }).pipe(Effect.provide(transport())),
  )

  it.live("is never looked up", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok)
      const { asked, resolve } = scripted(["0.0.0.0"])
      assert.strictEqual(statusOf(yield* sendOnce(post(hook.origin), { resolve })), 200)
      assert.deepStrictEqual(asked, [])
    }),
  )
})

describe("loopback", () => {
  it.live("isn't connected to without allowLoopback, neither by address nor by name nor by look-up", () => {
    const { resolve } = scripted(["127.0.0.1"])
    return Effect.gen(function* () {
      const canary = yield* receiver(ok)
      const { send } = yield* WebhookTransport
      for (const host of ["127.0.0.1", "localhost", "2130706433", "hooks.example", "hooks", "[::1]"]) {
        assert.deepStrictEqual(yield* send(post(`http://${host}:${canary.port}/`)), BLOCKED, host)
      }
      assert.strictEqual(canary.connections, 0)
    }).pipe(Effect.provide(UndiciTransport.layer({ resolve })))
  })
})

describe("a metadata service of a cloud", () => {
  // The policy allows everything that it can, so it would connect to any other address.
  const network = { allow: ["0.0.0.0/0", "::/0"], allowLoopback: true, decodeNat64: true }

  for (const address of [
    "169.254.169.254",
    "100.100.100.200",
    "168.63.129.16",
    "fd00:ec2::254",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
  ]) {
    it.live(`isn't connected to at ${address} in any mode, neither by its address nor by a name`, () =>
      Effect.gen(function* () {
        const host = address.includes(":") ? `[${address}]` : address
        const { asked, resolve } = scripted(["127.0.0.1", address])
        for (const mode of ["live", "test"] as const) {
          for (const name of [host, "hooks.example"]) {
            const response = yield* sendOnce(post(`https://${name}/`, { mode }), { network, resolve })
            assert.deepStrictEqual(response, BLOCKED, name)
          }
        }
        assert.deepStrictEqual(asked, ["hooks.example", "hooks.example"])
        assert.deepStrictEqual(connections.attempted, [])
      }),
    )
  }

  for (const name of ["metadata.google.internal", "metadata.goog", "metadata", "instance-data"]) {
    it.live(`isn't looked up as ${name}`, () =>
      Effect.gen(function* () {
        const canary = yield* receiver(ok)
        const { asked, resolve } = scripted(["127.0.0.1"])
        const url = `http://${name}:${canary.port}/`
        assert.deepStrictEqual(yield* sendOnce(post(url), { network, resolve }), BLOCKED)
        assert.deepStrictEqual([asked, canary.connections], [[], 0])
      }),
    )
  }
})

describe("the rules of URLs", () => {
  it.live("are those of EndpointUrl, and are checked again for each request", () =>
    Effect.gen(function* () {
      const host = freshLoopback()
      const canary = yield* receiver(ok, { host, port: 8443 })
      const network = { allow: ["127.0.0.0/8"] }
      const { resolve } = scripted([host])
      for (const url of [
        "http://hooks.example:8443/",
        "https://hooks.example:9443/",
        "https://user@hooks.example:8443/",
        "https://hooks.example:8443/#fragment",
        "https://localhost:8443/",
        "https://hooks:8443/",
        "nonsense",
      ]) {
        const response = yield* sendOnce(post(url, { mode: "live" }), { network, resolve })
        assert.deepStrictEqual(response, BLOCKED, url)
      }
      assert.strictEqual(canary.connections, 0)
    }),
  )
})

describe("the addresses of a name", () => {
  for (const addresses of [
    ["0.0.0.0"],
    ["::"],
    ["::ffff:127.0.0.1"],
    ["::1%lo"],
    ["127.0.0.1%lo"],
    ["localhost"],
    ["127.1"],
    ["10.0.0.1", "127.0.0.1"],
    ["127.0.0.1", "10.0.0.1"],
    ["127.0.0.1", "::1", "1.1.1.1", "fe80::1"],
    [...Array.from({ length: 20 }, () => "127.0.0.1"), "0.0.0.0"],
  ]) {
    it.live(`are refused when one is forbidden: ${addresses.join(", ").slice(0, 60)}`, () =>
      Effect.gen(function* () {
        const canary = yield* receiver(ok)
        const { resolve } = scripted(addresses)
        const url = `http://hooks.example:${canary.port}/`
        const response = yield* sendOnce(post(url), { deadlineMillis: 2_000, resolve })
        assert.deepStrictEqual(response, BLOCKED)
        assert.deepStrictEqual([canary.connections, connections.attempted], [0, []])
      }),
    )
  }

  it.live("are refused in live mode when they are loopback, and connected to when that is allowed", () =>
    Effect.gen(function* () {
      const host = freshLoopback()
      const tls = selfSigned(["hooks.example"])
      const canary = yield* receiver(ok, { host, port: 8443, tls })
      const request = post("https://hooks.example:8443/", { mode: "live" })
      const options = { resolve: scripted([host]).resolve, certificateAuthorities: [tls.cert] }
      assert.deepStrictEqual(yield* sendOnce(request, options), BLOCKED)
      const elsewhere = { allow: ["127.0.0.0/32", "10.0.0.0/8"] }
      assert.deepStrictEqual(yield* sendOnce(request, { ...options, network: elsewhere }), BLOCKED)
      assert.strictEqual(canary.connections, 0)
      const network = { allow: [`${host}/32`] }
      assert.strictEqual(statusOf(yield* sendOnce(request, { ...options, network })), 200)
      assert.strictEqual(canary.connections, 1)
    }),
  )

  it.live("are looked up once, and the connection goes to a checked address", () =>
    Effect.gen(function* () {
      const canary = yield* receiver(ok)
      const good = yield* receiver(ok, { host: freshLoopback(), port: canary.port })
      const goodHost = new URL(good.origin).hostname
      for (let i = 0; i < 10; i++) {
        const { asked, resolve } = scripted([goodHost], ["0.0.0.0"])
        const response = yield* sendOnce(post(`http://hooks.example:${canary.port}/`), { resolve })
        assert.strictEqual(statusOf(response), 200)
        assert.deepStrictEqual(asked, ["hooks.example"])
      }
      assert.strictEqual(canary.connections, 0)
      assert.strictEqual(good.requests[0]?.head.includes(`host: hooks.example:${canary.port}`), true)
    }),
  )

  it.live("may change: a kept connection keeps its address, and the next one is checked again", () => {
    const host = freshLoopback()
    const { asked, resolve } = scripted([host], ["0.0.0.0"])
    return Effect.gen(function* () {
      const canary = yield* receiver(ok)
      const good = yield* receiver(ok, { host, port: canary.port })
      const { send } = yield* WebhookTransport
      const request = post(`http://hooks.example:${canary.port}/`)
      for (let i = 0; i < 5; i++) assert.strictEqual(statusOf(yield* send(request)), 200)
      assert.deepStrictEqual([good.connections, asked.length], [1, 1])
      for (const socket of good.sockets) socket.destroy()
      yield* Effect.promise(() => good.whenOpen(0))
      for (let i = 0; i < 5; i++) assert.deepStrictEqual(yield* send(request), BLOCKED)
      assert.deepStrictEqual([good.connections, canary.connections, asked.length], [1, 0, 6])
    }).pipe(Effect.provide(transport({ resolve })))
  })

  it.live("are checked for each mode: live mode does not use the connections of test mode", () => {
    const host = freshLoopback()
    const tls = selfSigned(["hooks.example"])
    const { resolve } = scripted([host])
    return Effect.gen(function* () {
      const hook = yield* receiver(ok, { host, port: 8443, tls })
      const { send } = yield* WebhookTransport
      const url = "https://hooks.example:8443/"
      assert.strictEqual(statusOf(yield* send(post(url))), 200)
      assert.deepStrictEqual(yield* send(post(url, { mode: "live" })), BLOCKED)
      assert.strictEqual(hook.requests.length, 1)
    }).pipe(Effect.provide(transport({ resolve, certificateAuthorities: [tls.cert] })))
  })

  it.live("are tried one after the other", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok)
      const { resolve } = scripted([freshLoopback(), "::1", "127.0.0.1"])
      const response = yield* sendOnce(post(`http://hooks.example:${hook.port}/`), { resolve })
      assert.strictEqual(statusOf(response), 200)
    }),
  )

  it.live("are tried only up to the eighth", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok)
      const request = post(`http://hooks.example:${hook.port}/`)
      const after = (count: number) =>
        scripted([...Array.from({ length: count }, freshLoopback), "127.0.0.1"]).resolve
      assert.strictEqual(statusOf(yield* sendOnce(request, { resolve: after(7) })), 200)
      assert.strictEqual(statusOf(yield* sendOnce(request, { resolve: after(8) })), "connection_refused")
    }),
  )

  it.live("are looked up by the system by default", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok)
      assert.strictEqual(statusOf(yield* sendOnce(post(`http://localhost:${hook.port}/`))), 200)
    }),
  )
})

describe("a look-up", () => {
  const toNowhere = (resolve: Resolve, deadlineMillis = 2_000) =>
    Effect.map(sendOnce(post("http://hooks.example/"), { resolve, deadlineMillis }), statusOf)

  it.live("that fails, throws or finds nothing is a dns_error", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* toNowhere(() => Promise.reject(new Error("SERVFAIL"))), "dns_error")
      assert.strictEqual(yield* toNowhere(() => Promise.resolve([])), "dns_error")
      const thrower: Resolve = () => {
        throw new Error("broken")
      }
      assert.strictEqual(yield* toNowhere(thrower), "dns_error")
    }),
  )

  it.live("that hangs is a timeout", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* toNowhere(() => new Promise(() => {}), 100), "timeout")
    }),
  )

  it.live("that ends late connects nowhere", () => {
    let answerLate: (addresses: ReadonlyArray<string>) => void = () => {}
    const resolve: Resolve = () =>
      new Promise((resolve) => {
        answerLate = resolve
      })
    return Effect.gen(function* () {
      const canary = yield* receiver(ok)
      const { send } = yield* WebhookTransport
      const response = yield* send(post(`http://hooks.example:${canary.port}/`))
      assert.strictEqual(statusOf(response), "timeout")
      answerLate(["127.0.0.1"])
      // Any connection of the late look-up would have been made before this one.
      yield* sendOnce(post(canary.origin))
      assert.strictEqual(canary.connections, 1)
    }).pipe(Effect.provide(transport({ resolve, deadlineMillis: 100 })))
  })

  it.live("is shared by concurrent requests to the same name", () => {
    const { asked, resolve } = scripted(["127.0.0.1"])
    return Effect.gen(function* () {
      const hook = yield* receiver(ok)
      const { send } = yield* WebhookTransport
      const request = post(`http://hooks.example:${hook.port}/`)
      yield* Effect.all(
        Array.from({ length: 10 }, () => send(request)),
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual([asked.length, hook.requests.length], [1, 10])
    }).pipe(Effect.provide(transport({ resolve })))
  })
})

describe("a connection", () => {
  it.live("that is refused gives connection_refused", () =>
    Effect.gen(function* () {
      const port = yield* Effect.promise(
        () =>
          new Promise<number>((resolve) => {
            const server = createServer().listen(0, "127.0.0.1", () => {
              const { port } = server.address() as { port: number }
              server.close(() => resolve(port))
            })
          }),
      )
      assert.strictEqual(statusOf(yield* sendOnce(post(`http://127.0.0.1:${port}/`))), "connection_refused")
    }),
  )

  it.live("ignores proxies of the environment", () => {
    const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]
    const before = names.map((name) => [name, process.env[name]] as const)
    return Effect.gen(function* () {
      const canary = yield* receiver(ok)
      const hook = yield* receiver(ok)
      for (const name of names) process.env[name] = canary.origin
      process.env["NODE_USE_ENV_PROXY"] = "1"
      assert.strictEqual(statusOf(yield* sendOnce(post(hook.origin))), 200)
      assert.strictEqual(canary.connections, 0)
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          delete process.env["NODE_USE_ENV_PROXY"]
          for (const [name, value] of before) {
            if (value === undefined) delete process.env[name]
            else process.env[name] = value
          }
        }),
      ),
    )
  })
})

describe("the options", () => {
  for (const [options, field] of [
    [{ network: { allow: ["10.0.0.0/8", "10.0.0.1/8"] } }, "network.allow[1]"],
    [{ certificateAuthorities: [selfSigned(["a"]).cert, "nonsense"] }, "certificateAuthorities[1]"],
  ] as const) {
    it.effect(`that are wrong are named in the error: ${field}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(sendOnce(post("http://127.0.0.1/"), options))
        assert.deepStrictEqual([error._tag, error.field], ["InvalidInput", field])
      }),
    )
  }
})
