/**
 * Load over HTTP with as little work for each request as possible, so that even on a small machine the server is what
 * limits the figures. Sockets send prepared bytes, one request at a time each, and search only for the end of the
 * answer.
 */
import { connect, type Socket } from "node:net"
import { percentile } from "./Statistics.ts"

export interface LoadOptions {
  readonly port: number
  readonly connections: number
  readonly millis: number
  /** Complete requests with head and body, sent in turn. */
  readonly requests: ReadonlyArray<Buffer>
}

export interface LoadResult {
  readonly requests: number
  readonly requestsPerSecond: number
  readonly p50Millis: number
  readonly p99Millis: number
}

/** A request with a JSON body, as bytes. */
export const post = (path: string, key: string, body: object): Buffer => {
  const json = JSON.stringify(body)
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  )
}

const HEAD_END = Buffer.from("\r\n\r\n")

/** The length of the first complete answer in the bytes; `undefined` while it is incomplete. */
const answerLength = (bytes: Buffer): number | undefined => {
  const end = bytes.indexOf(HEAD_END)
  if (end === -1) return undefined
  const head = bytes.toString("latin1", 0, end)
  if (!head.startsWith("HTTP/1.1 2")) throw new Error(bytes.toString())
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (length === null) throw new Error(`an answer without Content-Length: ${head}`)
  const whole = end + HEAD_END.length + Number(length[1])
  return bytes.length >= whole ? whole : undefined
}

/** The position of the status's first digit. */
const STATUS_AT = "HTTP/1.1 ".length
const DIGIT_2 = "2".charCodeAt(0)

const drive = (socket: Socket, until: number, next: () => Buffer, latencies: Array<number>): Promise<void> =>
  new Promise((done, fail) => {
    let sentAt = 0
    let pending: Buffer = Buffer.alloc(0)
    // Most answers have the length of the one before. Then the answer is complete, and its head need not be parsed.
    let usualLength = 0
    const isWhole = (): boolean => {
      if (pending.length === usualLength && pending[STATUS_AT] === DIGIT_2) return true
      usualLength = answerLength(pending) ?? usualLength
      return pending.length === usualLength
    }
    const send = () => {
      sentAt = performance.now()
      socket.write(next())
    }
    socket.on("data", (chunk: Buffer) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
      try {
        if (!isWhole()) return
      } catch (error) {
        fail(error as Error)
        return
      }
      pending = Buffer.alloc(0)
      const now = performance.now()
      latencies.push(now - sentAt)
      if (now < until) send()
      else socket.end(done)
    })
    socket.on("error", fail)
    socket.on("connect", send)
  })

/** Sends requests for the given time, then waits for the last answers. Fails on the first answer that is not 2xx. */
export const run = async (options: LoadOptions): Promise<LoadResult> => {
  const latencies: Array<number> = []
  let sent = 0
  const next = () => options.requests[sent++ % options.requests.length]!
  const started = performance.now()
  await Promise.all(
    Array.from({ length: options.connections }, () =>
      drive(connect(options.port, "127.0.0.1").setNoDelay(), started + options.millis, next, latencies),
    ),
  )
  const seconds = (performance.now() - started) / 1000
  return {
    requests: latencies.length,
    requestsPerSecond: latencies.length / seconds,
    p50Millis: percentile(latencies, 0.5),
    p99Millis: percentile(latencies, 0.99),
  }
}
