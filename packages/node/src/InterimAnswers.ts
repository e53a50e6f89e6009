/**
 * Removes interim answers (1xx), which come before the final answer. undici treats a `100 Continue` that it did not ask
 * for as a broken answer. But proxies send it, and clients must ignore it (RFC 9110 §15.2).
 */
import type { Readable } from "node:stream"

/** The beginning of an interim answer. `101 Switching Protocols` is not included, because no HTTP follows it. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d/
/** The number of bytes that show whether an answer is interim. */
const STATUS_LENGTH = "HTTP/1.1 100".length
const END_OF_HEAD = "\r\n\r\n"

/** Removes the interim answers from the bytes that are read from a socket. */
export class InterimAnswers {
  readonly #maxHeadBytes: number
  #isExpected = false
  #pending: Buffer = Buffer.alloc(0)

  /** Changes `socket.read`. An interim answer longer than `maxHeadBytes` is not removed. */
  constructor(socket: Readable, maxHeadBytes: number) {
    this.#maxHeadBytes = maxHeadBytes
    const read = socket.read.bind(socket)
    socket.read = (size?: number): Buffer | null => {
      for (;;) {
        const chunk = read(size) as Buffer | null
        if (chunk === null) return null
        const rest = this.#isExpected ? this.#strip(chunk) : chunk
        if (rest.length > 0) return rest
      }
    }
  }

  /** Called when a request is sent: the next bytes are the beginning of its answer. */
  expect(): void {
    this.#isExpected = true
    this.#pending = Buffer.alloc(0)
  }

  /** Removes interim answers from a chunk. An incomplete one is kept until the next chunk arrives. */
  #strip(chunk: Buffer): Buffer {
    let bytes = Buffer.concat([this.#pending, chunk])
    while (bytes.length >= STATUS_LENGTH && INTERIM.test(bytes.toString("latin1", 0, STATUS_LENGTH))) {
      const end = bytes.indexOf(END_OF_HEAD)
      if (end === -1) break
      bytes = bytes.subarray(end + END_OF_HEAD.length)
    }
    const isOpen = bytes.length < STATUS_LENGTH || INTERIM.test(bytes.toString("latin1", 0, STATUS_LENGTH))
    if (isOpen && bytes.length <= this.#maxHeadBytes) {
      this.#pending = bytes
      return Buffer.alloc(0)
    }
    this.#isExpected = false
    this.#pending = Buffer.alloc(0)
    return bytes
  }
}
