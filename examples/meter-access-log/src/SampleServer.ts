/**
 * A small web server that writes an access log in combined format, as Apache does. `produce-log.ts` uses it.
 */
import { EventEmitter, once } from "node:events"
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http"
import type { AddressInfo, Socket } from "node:net"
import type { Random } from "./Random.ts"

/** The clock for the logged times. */
export interface LogClock {
  readonly now: () => Date
  readonly timeZone: string
}

interface Reply {
  readonly status: number
  readonly bytes: number
  readonly headers?: OutgoingHttpHeaders
}

const SERVER_ERROR_RATE = 0.03

/** The answer to a request. Sizes and failures are random, so that they differ. */
const reply = (request: IncomingMessage, random: Random): Reply => {
  const method = request.method ?? ""
  if (method === "OPTIONS") return { status: 204, bytes: 0, headers: { allow: "GET, HEAD, POST, DELETE" } }
  const { pathname, searchParams } = new URL(`http://localhost${request.url}`)
  if (method === "TRACE" || method === "PROPFIND") return { status: 405, bytes: 42 }
  if (pathname === "/") return { status: 200, bytes: 5_120 }
  if (pathname === "/login") return { status: 302, bytes: 0, headers: { location: "/" } }
  if (pathname === "/healthz") return { status: 200, bytes: 2 }
  if (pathname.startsWith("/static/")) return cacheable(request, random.between(800, 40_000))
  if (pathname === "/api/search")
    return searchParams.has("q")
      ? { status: 200, bytes: random.between(60, 9_000) }
      : { status: 400, bytes: 58 }
  if (pathname.startsWith("/api/images/")) {
    if (method === "POST") return { status: 201, bytes: 94 }
    if (method === "DELETE") return { status: 204, bytes: 0 }
    if (random.chance(0.05)) return { status: 404, bytes: 31 }
    return cacheable(request, random.between(2_000, 90_000))
  }
  if (pathname.startsWith("/api/reports/"))
    return random.chance(SERVER_ERROR_RATE)
      ? { status: random.pick([500, 503]), bytes: 27 }
      : { status: 200, bytes: random.between(300, 20_000) }
  if (pathname.startsWith("/files/"))
    return request.headers.range === undefined
      ? { status: 200, bytes: random.between(10_000, 150_000) }
      : { status: 206, bytes: 1_024, headers: { "content-range": "bytes 0-1023/150000" } }
  return { status: 404, bytes: 153 }
}

const cacheable = (request: IncomingMessage, bytes: number): Reply =>
  request.headers["if-none-match"] === undefined
    ? { status: 200, bytes, headers: { etag: '"1"' } }
    : { status: 304, bytes: 0 }

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

const formatTime = (date: Date, timeZone: string): string => {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    year: "numeric",
    month: "numeric",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "longOffset",
  })
  const part = Object.fromEntries(format.formatToParts(date).map(({ type, value }) => [type, value]))
  const offset = part["timeZoneName"]?.slice("GMT".length).replace(":", "") || "+0000"
  const { day, month, year, hour, minute, second } = part
  return `${day}/${MONTHS[Number(month) - 1]}/${year}:${hour}:${minute}:${second} ${offset}`
}

const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t" }

/** Escapes text of clients as Apache does. Node gives header bytes as Latin-1 characters. */
const escape = (value: string): string =>
  value.replace(
    /["\\]|[^\x20-\x7e]/g,
    (character) => ESCAPES[character] ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  )

const userOf = ({ headers }: IncomingMessage): string => {
  const [scheme, credentials] = headers.authorization?.split(" ") ?? []
  if (scheme !== "Basic" || credentials === undefined) return "-"
  return Buffer.from(credentials, "base64").toString("latin1").split(":")[0] || "-"
}

/** Emits "line" with a line of its log after each request. */
export class SampleServer extends EventEmitter<{ line: [string] }> {
  readonly #servers: Array<Server> = []
  readonly #clock: LogClock
  readonly #random: Random

  constructor(clock: LogClock, random: Random) {
    super()
    this.#clock = clock
    this.#random = random
  }

  /** Listens on a free port. */
  async listen(host: string): Promise<number> {
    const server = createServer((request, response) => this.#serve(request, response))
    server.on("clientError", (error, socket) => this.#refuse(error, socket as Socket))
    server.listen(0, host)
    await once(server, "listening")
    this.#servers.push(server)
    return (server.address() as AddressInfo).port
  }

  close(): void {
    for (const server of this.#servers) {
      server.close()
      server.closeAllConnections()
    }
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const at = this.#clock.now()
    const { status, bytes, headers } = reply(request, this.#random)
    const sent = request.method === "HEAD" ? 0 : bytes
    response.on("finish", () => {
      const { method, url, httpVersion, socket } = request
      const { referer = "-", "user-agent": userAgent = "-" } = request.headers
      this.#log(socket, at, userOf(request), `${method} ${url} HTTP/${httpVersion}`, status, sent, [
        referer,
        userAgent,
      ])
    })
    request.resume()
    request.on("end", () => {
      response.writeHead(status, { "content-length": bytes, ...headers })
      response.end(Buffer.alloc(sent, "billwright "))
    })
  }

  /** Refuses bytes that are not HTTP, and logs their first line. */
  #refuse(error: Error & { rawPacket?: Buffer }, socket: Socket): void {
    const first = error.rawPacket?.toString("latin1").split(/\r?\n/)[0] || "-"
    this.#log(socket, this.#clock.now(), "-", first, 400, 0, ["-", "-"])
    socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n")
  }

  #log(
    socket: Socket,
    at: Date,
    user: string,
    request: string,
    status: number,
    bytes: number,
    fields: ReadonlyArray<string>,
  ): void {
    const quoted = fields.map((field) => `"${escape(field)}"`).join(" ")
    const time = formatTime(at, this.#clock.timeZone)
    this.emit(
      "line",
      `${socket.remoteAddress} - ${escape(user)} [${time}] "${escape(request)}" ${status} ${bytes || "-"} ${quoted}`,
    )
  }
}
