/**
 * Names looked up at a real name server, on loopback.
 */
import { createSocket } from "node:dgram"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, beforeAll, afterAll, describe, it } from "@effect/vitest"
import * as HostLookup from "../src/HostLookup.ts"

const [A, AAAA] = [1, 28]
const [NO_ERROR, NAME_ERROR] = [0, 3]

/** What the name server says of a name, by the type of the question. Silent without. */
type Answer = (type: number) => { readonly code: number; readonly data?: ReadonlyArray<number> } | undefined

/** A name server (RFC 1035, section 4) that answers one question by one record at most. */
class NameServer {
  readonly #socket = createSocket("udp4")
  readonly #answers = new Map<string, Answer>()
  readonly asked: Array<string> = []
  #onAsked: () => void = () => {}

  start(): Promise<void> {
    this.#socket.on("message", (query, peer) => {
      const [name, end] = nameIn(query)
      const type = query.readUInt16BE(end)
      this.asked.push(name)
      this.#onAsked()
      const answer = this.#answers.get(name)?.(type)
      if (answer !== undefined) this.#socket.send(reply(query.subarray(0, end + 4), type, answer), peer.port)
    })
    return new Promise((resolve) => this.#socket.bind(0, "127.0.0.1", resolve))
  }

  says(name: string, answer: Answer): void {
    this.#answers.set(name, answer)
  }

  /** When so many questions have come. */
  async askedFor(count: number): Promise<void> {
    while (this.asked.length < count) {
      await new Promise<void>((resolve) => {
        this.#onAsked = resolve
      })
    }
  }

  get server(): string {
    return `127.0.0.1:${this.#socket.address().port}`
  }

  stop(): void {
    this.#socket.close()
  }
}

/** The name of a question, and where it ends. */
const nameIn = (query: Buffer): readonly [string, number] => {
  const labels: Array<string> = []
  let at = 12
  for (; query[at] !== 0; at += query[at]! + 1)
    labels.push(query.toString("latin1", at + 1, at + 1 + query[at]!))
  return [labels.join(".").toLowerCase(), at + 1]
}

const reply = (question: Buffer, type: number, { code, data }: NonNullable<ReturnType<Answer>>): Buffer => {
  const header = Buffer.from(question.subarray(0, 12))
  header.writeUInt16BE(0x8180 | code, 2)
  header.writeUInt16BE(data === undefined ? 0 : 1, 6)
  header.writeUInt32BE(0, 8) // no other sections, which the question may have had
  const record = data === undefined ? [] : [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length, ...data]
  return Buffer.concat([header, question.subarray(12), Buffer.from(record)])
}

const only =
  (wanted: number, data: ReadonlyArray<number>): Answer =>
  (type) => ({ code: NO_ERROR, ...(type === wanted ? { data } : {}) })
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

/** The system is scripted: what it would do depends on the machine. */
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
  it("has the addresses that name servers give", async () => {
    const resolve = make(nobody)
    assert.deepStrictEqual(await resolve("four.example"), ["192.0.2.1"])
    assert.deepStrictEqual(await resolve("six.example"), ["2001:db8::1"])
  })

  it("has those that came in time, when name servers answer half of what they are asked", async () => {
    assert.deepStrictEqual(await make(nobody, 300)("half.example"), ["192.0.2.2"])
  })

  it.each(["listed.example", "ALIAS.example", "localhost"])(
    "is the system's when the hosts file has it, and nobody is asked: %s",
    async (host) => {
      const before = server.asked.length
      assert.deepStrictEqual(await make((name) => Promise.resolve([name]))(host), [host])
      assert.strictEqual(server.asked.length, before)
    },
  )

  it.each(["absent.example", "single-label"])(
    "is the system's when name servers don't know it: %s",
    async (host) => {
      assert.deepStrictEqual(await make((name) => Promise.resolve([name]))(host), [host])
    },
  )

  it("has none when its name servers are silent: the system, that would ask the same, is not asked", async () => {
    const asked: Array<string> = []
    const resolve = make((host) => Promise.resolve([asked.push(host).toString()]), 200)
    assert.notStrictEqual(await outcome(resolve("silent.example")), "1")
    assert.deepStrictEqual(asked, [])
  })

  it("keeps no other waiting while its name servers are silent, however many there are", async () => {
    const resolve = make(nobody)
    const before = server.asked.length
    let ended = 0
    for (let n = 0; n < 50; n++) void outcome(resolve(`silent${n}.example`)).finally(() => ended++)
    await server.askedFor(before + 100)
    assert.deepStrictEqual(await resolve("four.example"), ["192.0.2.1"])
    assert.strictEqual(ended, 0)
  })

  it("takes one thread at a time when the system is asked, and none once it is given up", async () => {
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
