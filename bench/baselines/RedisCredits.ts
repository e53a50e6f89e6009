/**
 * Credits on Redis: a script that checks, takes and records, on a server that writes each change to disk before it answers
 * (`appendfsync always`).
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"

/** Gives what is left, or -1 if there is not enough, or what was left when the key was used before. */
const SCRIPT = `
local earlier = redis.call('HGET', KEYS[2], ARGV[2])
if earlier then return tonumber(earlier) end
local left = tonumber(redis.call('GET', KEYS[1]) or '0') - tonumber(ARGV[1])
if left < 0 then return -1 end
redis.call('SET', KEYS[1], left)
redis.call('HSET', KEYS[2], ARGV[2], left)
return left`

const CREDITS = "1000000000000"
const START_ATTEMPTS = 100
const START_PAUSE_MILLIS = 50

/** A connection that has one request under way at a time, as a caller needs it. */
class Connection {
  readonly #socket: Socket
  #answered: ((line: string) => void) | undefined
  #read = ""

  constructor(path: string) {
    this.#socket = connect(path)
    this.#socket.setEncoding("utf8")
    this.#socket.on("data", (text: string) => {
      this.#read += text
      const line = lineOf(this.#read)
      if (line === undefined) return
      this.#read = ""
      this.#answered?.(line)
    })
  }

  async opened(): Promise<void> {
    await once(this.#socket, "connect")
  }

  /** Asks, and gives the answer: an integer, a short text, or the content of a long one. */
  async ask(...words: ReadonlyArray<string>): Promise<string> {
    const sent = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")
    const line = await new Promise<string>((resolve) => {
      this.#answered = resolve
      this.#socket.write(`*${words.length}\r\n${sent}`)
    })
    if (line.startsWith("-")) throw new Error(`Redis: ${line}`)
    return line.slice(1)
  }

  close(): void {
    this.#socket.destroy()
  }
}

/** The answer, once all of it has arrived. */
const lineOf = (text: string): string | undefined => {
  const [first, second] = text.split("\r\n")
  if (!text.endsWith("\r\n") || first === undefined) return undefined
  if (!first.startsWith("$")) return first
  return second === undefined || text.split("\r\n").length < 3 ? undefined : `$${second}`
}

export interface RedisCredits {
  readonly version: string
  readonly pid: number
  readonly consume: (caller: number, account: number, key: string) => Promise<void>
  readonly close: () => Promise<void>
}

const versionOf = (): string | undefined => {
  const { status, stdout } = spawnSync("redis-server", ["--version"], { encoding: "utf8" })
  return status === 0 ? /v=(\S+)/.exec(stdout)?.[1] : undefined
}

const launched = async (directory: string, socket: string): Promise<ChildProcess> => {
  const settings = { port: "0", unixsocket: socket, dir: directory, save: "", appendonly: "yes" }
  const options = Object.entries({ ...settings, appendfsync: "always" })
  const child = spawn(
    "redis-server",
    options.flatMap(([name, value]) => [`--${name}`, value]),
    { stdio: "ignore" },
  )
  for (let attempt = 0; attempt < START_ATTEMPTS; attempt++) {
    const { status } = spawnSync("redis-cli", ["-s", socket, "ping"])
    if (status === 0) return child
    await pause(START_PAUSE_MILLIS)
  }
  throw new Error("redis-server did not start")
}

/** Starts a server in a temporary directory. `undefined`: this machine has none. */
export const make = async (accounts: number, callers: number): Promise<RedisCredits | undefined> => {
  const version = versionOf()
  if (version === undefined) return undefined
  const directory = mkdtempSync(join(tmpdir(), "billwright-redis-"))
  const socket = join(directory, "redis.sock")
  const child = await launched(directory, socket)
  const connections = Array.from({ length: callers }, () => new Connection(socket))
  await Promise.all(connections.map((connection) => connection.opened()))
  const [first] = connections
  const sha = await first!.ask("SCRIPT", "LOAD", SCRIPT)
  for (let account = 0; account < accounts; account++) await first!.ask("SET", `a${account}`, CREDITS)
  return {
    version,
    pid: child.pid!,
    consume: async (caller, account, key) => {
      const left = await connections[caller]!.ask("EVALSHA", sha, "2", `a${account}`, `k${account}`, "1", key)
      if (left.startsWith("-")) throw new Error("nothing was taken")
    },
    close: async () => {
      for (const connection of connections) connection.close()
      const ended = once(child, "exit")
      child.kill()
      await ended
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
