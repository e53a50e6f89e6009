/**
 * Reads the head of an ordinary answer: HTTP/1.1 with a final status and the length of its body. This is how most
 * receivers answer.
 *
 * The receiver may be hostile, so only what leaves no doubt is read here. Whatever is left out on purpose (chunks, interim
 * answers, other versions, folded lines, repeated or strange lengths, white space where there should be none) is not
 * refused: undici judges it. For what is read here, the result is the same as undici's.
 */
import { MAX_RESPONSE_BYTES } from "@billwright/core"

/** The most bytes of header names and values that are read for one answer. */
export const MAX_HEADER_BYTES = 16_384

export interface PlainHead {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** Where the body begins in the bytes. */
  readonly bodyAt: number
  readonly bodyLength: number
  /** Whether the receiver will end the connection. */
  readonly isLast: boolean
  /** How long the receiver says that it keeps idle connections. */
  readonly keepAliveSeconds: number | undefined
}

const END_OF_HEAD = "\r\n\r\n"
const STATUS_LINE = /^HTTP\/1\.1 ([2-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// Neither begins nor ends with white space.
const VALUE = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/
const LENGTH = /^\d{1,5}$/
const KEEP_ALIVE_TIMEOUT = /(?:^|,)[\t ]*timeout=(\d+)/i

/** Headers by which the bytes after the head, or the rest of the connection, mean something else. */
const EXTRAORDINARY = new Set(["proxy-connection", "transfer-encoding", "upgrade"])

/**
 * Reads the lines of the headers. Returns `undefined` if one is not ordinary. Repeated ones are joined by commas, so what
 * may come only once is not plain then.
 */
const readHeaders = (lines: ReadonlyArray<string>): ReadonlyMap<string, string> | undefined => {
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(":")
    const name = line.slice(0, Math.max(colon, 0))
    let from = colon + 1
    while (line[from] === " " || line[from] === "\t") from++
    const value = line.slice(from)
    if (!NAME.test(name) || !VALUE.test(value)) return undefined
    const key = name.toLowerCase()
    const known = headers.get(key)
    if (EXTRAORDINARY.has(key)) return undefined
    headers.set(key, known === undefined ? value : `${known}, ${value}`)
  }
  return headers
}

/** The length of the body, or `undefined` if it is not plain. Answers with 204 and 304 have no body. */
const lengthOf = (status: number, given: string | undefined): number | undefined => {
  const isBodiless = status === 204 || status === 304
  if (given === undefined) return isBodiless ? 0 : undefined
  const length = LENGTH.test(given) ? Number(given) : Infinity
  return length <= (isBodiless ? 0 : MAX_RESPONSE_BYTES) ? length : undefined
}

/** Whether the answer says that it is the last one of the connection, or `undefined` if it says something else. */
const isLastOf = (connection: string | undefined): boolean | undefined => {
  switch (connection?.toLowerCase()) {
    case undefined:
    case "keep-alive":
      return false
    case "close":
      return true
    default:
      return undefined
  }
}

const keepAliveOf = (keepAlive: string | undefined): number | undefined => {
  const seconds = keepAlive === undefined ? undefined : KEEP_ALIVE_TIMEOUT.exec(keepAlive)?.[1]
  return seconds === undefined ? undefined : Number(seconds)
}

/**
 * Reads the head with which the bytes begin. Returns `undefined` if they don't begin with the complete head of an ordinary
 * answer. The time is linear in the number of bytes.
 */
export const readHead = (bytes: Buffer): PlainHead | undefined => {
  const end = bytes.indexOf(END_OF_HEAD, 0, "latin1")
  if (end === -1 || end > MAX_HEADER_BYTES) return undefined
  const [statusLine = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n")
  const status = Number(STATUS_LINE.exec(statusLine)?.[1])
  if (Number.isNaN(status)) return undefined
  const headers = readHeaders(lines)
  if (headers === undefined) return undefined
  const bodyLength = lengthOf(status, headers.get("content-length"))
  const isLast = isLastOf(headers.get("connection"))
  return bodyLength === undefined || isLast === undefined
    ? undefined
    : {
        status,
        headers: Object.fromEntries(headers),
        bodyAt: end + END_OF_HEAD.length,
        bodyLength,
        isLast,
        keepAliveSeconds: keepAliveOf(headers.get("keep-alive")),
      }
}
