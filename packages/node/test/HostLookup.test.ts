/**
 * Looks up names at a real name server on loopback.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, beforeAll, afterAll, describe, it } from "@effect/vitest"
import * as HostLookup from "../src/HostLookup.ts"
import { A, AAAA, type Answer, NAME_ERROR, NameServer, only } from "./NameServer.ts"

const unknown: Answer = () => ({ code: NAME_ERROR })

const server = new NameServer()
const directory = mkdtempSync(join(tmpdir(), "billwright-hosts-"))
const hostsFile = join(directory, "hosts")

beforeAll(async () => {
  await server.start()
  server.says("four.example", only(A, [192, 0, 2, 1]))
  server.says("six.example", only(AAAA, [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]))
  server.says("half.example", (type) => (type === A ? only(A, [192, 0, 2, 2])(type) : undefined))
  server.says("absent.example", unknown)
  server.says("other.example", unknown)
  writeFileSync(
    hostsFile,
    "# a comment\n127.0.0.1 localhost\n192.0.2.9  listed.example Alias.Example # four.example\n",
  )
})

afterAll(() => {
  server.stop()
  rmSync(directory, { recursive: true })
})

/** The look-up by the system is scripted, because its result depends on the machine. */
const make = (bySystem: HostLookup.Resolve, limitMillis?: number) =>
  HostLookup.make({
    servers: [server.server],
    hostsFile,
    bySystem,
    ...(limitMillis === undefined ? {} : { limitMillis }),
  })

const nobody: HostLookup.Resolve = (host) => Promise.reject(new Error(`the system was asked for ${host}`))

const outcome = (lookup: Promise<ReadonlyArray<string>>) =>
  lookup.then(
    (addresses) => addresses.join(),
    (error: Error) => error.name,
  )

describe("a host name", () => {
  it("has the addresses of the name servers", async () => {
    const resolve = make(nobody)
    assert.deepStrictEqual(await resolve("four.example"), ["192.0.2.1"])
    assert.deepStrictEqual(await resolve("six.example"), ["2001:db8::1"])
  })

  it("has the addresses that arrived in time when name servers answer only one of the two questions", async () => {
    assert.deepStrictEqual(await make(nobody, 300)("half.example"), ["192.0.2.2"])
  })

  it.each(["listed.example", "ALIAS.example", "localhost"])(
    "is looked up by the system, without name servers, when the hosts file has it: %s",
    async (host) => {
      const before = server.asked.length
      assert.deepStrictEqual(await make((name) => Promise.resolve([name]))(host), [host])
      assert.strictEqual(server.asked.length, before)
    },
  )

  it.each(["absent.example", "single-label"])(
    "is looked up by the system when name servers don't know it: %s",
    async (host) => {
      assert.deepStrictEqual(await make((name) => Promise.resolve([name]))(host), [host])
    },
  )

  it("has no addresses when its name servers are silent, and the system, which would ask them too, is not used", async () => {
    const asked: Array<string> = []
    const resolve = make((host) => Promise.resolve([asked.push(host).toString()]), 200)
    assert.notStrictEqual(await outcome(resolve("silent.example")), "1")
    assert.deepStrictEqual(asked, [])
  })

  it("doesn't delay other names while its name servers are silent, even when there are many such names", async () => {
    const resolve = make(nobody)
    const before = server.asked.length
    let ended = 0
    for (let n = 0; n < 50; n++) void outcome(resolve(`silent${n}.example`)).finally(() => ended++)
    await server.askedFor(before + 100)
    assert.deepStrictEqual(await resolve("four.example"), ["192.0.2.1"])
    assert.strictEqual(ended, 0)
  })

  it("occupies one thread at a time when the system is asked, and none after the time limit", async () => {
    const asked: Array<string> = []
    const { promise, resolve: answer } = Promise.withResolvers<ReadonlyArray<string>>()
    const resolve = make((host) => {
      asked.push(host)
      return promise
    }, 200)
    const both = [outcome(resolve("absent.example")), outcome(resolve("other.example"))]
    assert.deepStrictEqual(await Promise.all(both), ["AbortError", "AbortError"])
    assert.lengthOf(asked, 1)
    answer(["192.0.2.3"])
    assert.strictEqual(await outcome(resolve("other.example")), "192.0.2.3")
    assert.lengthOf(asked, 2)
  })
})
