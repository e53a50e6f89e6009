/**
 * The answer of a proxy to CONNECT (RFC 9110, section 9.3.6).
 */
import type { Socket } from "node:net"
import type { Cancel } from "./Sockets.ts"

/** The most bytes that are read of a proxy's answer until the end of its headers. */
const MAX_PROXY_HEAD_BYTES = 16_384

const END_OF_HEAD = "\r\n\r\n"
const STATUS_LENGTH = "HTTP/1.1 200".length
const STATUS = /^HTTP\/1\.[01] ([1-5]\d\d)/

interface Head {
  readonly status: number
  /** Where the bytes behind its headers begin. */
  readonly end: number
}

/** The head of the answer, what is wrong with it, or `undefined` to read on. */
const headOf = (bytes: Buffer): Head | string | undefined => {
  let start = 0
  while (bytes.length - start >= STATUS_LENGTH) {
    const status = Number(STATUS.exec(bytes.toString("latin1", start, start + STATUS_LENGTH))?.[1])
    if (Number.isNaN(status)) return "it answered no HTTP/1.1"
    const end = bytes.indexOf(END_OF_HEAD, start)
    if (end === -1) break
    start = end + END_OF_HEAD.length
    // Interim answers are ignored, but not 101: another protocol was not asked for.
    if (status >= 200 || status === 101) return { status, end: start }
  }
  return bytes.length > MAX_PROXY_HEAD_BYTES
    ? `it answered with more than ${MAX_PROXY_HEAD_BYTES} bytes of headers`
    : undefined
}

/**
 * Reads the answer. Calls back once, with its status or with what is wrong. Bytes that follow a 2xx belong to the tunnel,
 * and stay in the socket.
 */
export const read = (socket: Socket, done: (status: number | string) => void): Cancel => {
  let bytes = Buffer.alloc(0)
  const stop = () => {
    socket.off("readable", onReadable).off("end", onEnd).off("close", onEnd)
  }
  const onEnd = () => {
    stop()
    done("it ended the connection without an answer")
  }
  const onReadable = () => {
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
      bytes = Buffer.concat([bytes, chunk])
    }
    const head = headOf(bytes)
    if (head === undefined) return
    stop()
    if (typeof head === "string") {
      done(head)
      return
    }
    if (head.end < bytes.length) socket.unshift(bytes.subarray(head.end))
    done(head.status)
  }
  socket.on("readable", onReadable).on("end", onEnd).on("close", onEnd)
  return stop
}
