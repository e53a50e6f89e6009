/**
 * One line of an access log in combined format, as Apache and nginx write it:
 *
 *     %h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i"
 */
import { isIP } from "node:net"

export interface LogLine {
  /** The client's address or host name, in one spelling: lower case, `127.0.0.1` for `::ffff:127.0.0.1`. */
  readonly client: string
  readonly user: string | undefined
  /** RFC 3339, with the offset of the log. */
  readonly time: string
  /** The request, unchanged. `method` and `path` are only present if it can be parsed. */
  readonly request: string
  readonly method: string | undefined
  /** The path without its query. */
  readonly path: string | undefined
  readonly status: number
  /** Bytes of the body that was sent; a `-` is 0. */
  readonly bytes: number
  readonly referer: string | undefined
  readonly userAgent: string | undefined
}

/** A parsed line, or what is wrong with it. */
export type Parsed =
  | { readonly line: LogLine; readonly problem?: never }
  | { readonly line?: never; readonly problem: string }

// Both servers escape a quote inside a field, as \" or as \x22, so a plain quote ends the field.
const CHARACTER = String.raw`(?:[^"\\]|\\.)`
const QUOTED = `"(${CHARACTER}*)"`
// A user name may have spaces and brackets, but no plain quote.
const COMBINED = new RegExp(
  String.raw`^(\S+) \S+ (${CHARACTER}+?) \[([^\]]{0,60})\] ${QUOTED} (\d{3}) (\d+|-) ${QUOTED} ${QUOTED}$`,
)
const TIME = /^(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}:\d{2}:\d{2}) ([+-])([01]\d|2[0-3])([0-5]\d)$/
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
const HOST_NAME = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/
const MAX_HOST_NAME_LENGTH = 200
const REQUEST = /^(\S+) (.*?)(?: HTTP\/\d(?:\.\d)?)?$/s
const TARGET = /^(?:https?:\/\/[^/?#]*)?(\/[^?#]*)/is
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|(.))/gs
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", v: "\v", f: "\f" }

export const parseLogLine = (text: string): Parsed => {
  const [, host, user, at, request, status, bytes, referer, userAgent] = COMBINED.exec(text) ?? []
  if (host === undefined) return { problem: "not in combined format" }
  const client = parseClient(host)
  if (client === undefined) return { problem: `"${host.slice(0, 60)}" is not a client address` }
  const time = parseTime(at ?? "")
  if (time === undefined) return { problem: `"${at}" is not a time` }
  const size = bytes === "-" ? 0 : Number(bytes)
  if (!Number.isSafeInteger(size)) return { problem: `${bytes?.slice(0, 60)} is not a number of bytes` }
  const asked = unescape(request ?? "")
  return {
    line: {
      client,
      user: optional(user),
      time,
      request: asked,
      ...parseRequest(asked),
      status: Number(status),
      bytes: size,
      referer: optional(referer),
      userAgent: optional(userAgent),
    },
  }
}

const unescape = (field: string): string =>
  field.replace(ESCAPE, (_, hex: string | undefined, character: string) =>
    hex === undefined ? (ESCAPED[character] ?? character) : String.fromCharCode(Number.parseInt(hex, 16)),
  )

/** A field that was empty or not sent. */
const optional = (field: string | undefined): string | undefined =>
  field === undefined || field === "-" || field === "" ? undefined : unescape(field)

const parseClient = (host: string): string | undefined => {
  const lower = host.toLowerCase()
  const mapped = lower.startsWith("::ffff:") ? lower.slice("::ffff:".length) : ""
  if (isIP(mapped) === 4) return mapped
  if (isIP(lower) !== 0) return lower
  return lower.length <= MAX_HOST_NAME_LENGTH && HOST_NAME.test(lower) ? lower : undefined
}

const parseTime = (at: string): string | undefined => {
  const [, day, name, year, clock, sign, hours, minutes] = TIME.exec(at) ?? []
  const month = MONTHS.indexOf(name ?? "") + 1
  if (month === 0) return undefined
  const local = `${year}-${String(month).padStart(2, "0")}-${day}T${clock}`
  // `Date` would read 30 February as 2 March.
  const instant = new Date(`${local}Z`)
  if (Number.isNaN(instant.getTime()) || instant.toISOString().slice(0, local.length) !== local)
    return undefined
  return `${local}${sign}${hours}:${minutes}`
}

/** Servers also log bytes that are not a request, such as a TLS handshake. Those have no method and no path. */
const parseRequest = (request: string): Pick<LogLine, "method" | "path"> => {
  const [, method, target] = REQUEST.exec(request) ?? []
  return { method, path: TARGET.exec(target ?? "")?.[1] }
}
