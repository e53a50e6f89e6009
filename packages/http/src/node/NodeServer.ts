import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
/**
 * The REST API on its own `node:http` server, for hosts without one.
 */
import { Effect, Schema, type Scope } from "effect"
import type { ErrorCode } from "../api/ErrorBody.ts"
import * as ErrorResponse from "../server/ErrorResponse.ts"
import type { NodeHandler } from "./NodeHandler.ts"
import * as RequestHead from "./RequestHead.ts"
import * as StreamedAnswer from "./StreamedAnswer.ts"

/**
 * Not by an import: of a module of Node, that reads every export. One of them is a WebSocket, whose client is loaded then:
 * memory and time at the start for what a server never uses.
 */
const http = process.getBuiltinModule("node:http")

/** The default of `headersMillis`. */
const HEADERS_TIMEOUT_MILLIS = 15_000
/** The default of `requestMillis`. */
const REQUEST_TIMEOUT_MILLIS = 60_000
/** Only this machine. */
const LOCAL_HOST = "127.0.0.1"
/** How often both time-outs are checked. A connection may end this much later. */
const TIMEOUT_CHECK_MILLIS = 5_000
/** How long an idle connection is kept open. Load balancers often keep theirs for 60 s, and they must close first. */
const KEEP_ALIVE_MILLIS = 65_000
/** How long a refused client has to read the answer and close the connection. */
const LINGER_MILLIS = 1_000
/** How long running requests may continue when the server stops. */
const GRACE_MILLIS = 5_000

export interface NodeServerOptions {
  /** The TCP port. 0 picks a free port. */
  readonly port: number
  /** The address to listen on. Default 127.0.0.1: only this machine. */
  readonly host?: string
  /** The longest time that the headers of a request may take to arrive, in milliseconds. Default 15,000. */
  readonly headersMillis?: number
  /** The longest time that a whole request may take to arrive, in milliseconds. Default 60,000. */
  readonly requestMillis?: number
}

/** The address of a listening server. */
export interface Listening {
  /** `http://host:port`. */
  readonly url: string
  readonly port: number
}

/** The server can't listen on the address. */
export class ListenError extends Schema.TaggedError<ListenError>()("ListenError", {
  host: Schema.String,
  port: Schema.Int,
  code: Schema.String,
}) {
  override get message(): string {
    const address = `${this.host}:${this.port}`
    switch (this.code) {
      case "EADDRINUSE":
        return `${address} is in use by another program`
      case "EACCES":
        return `listening on ${address} is not permitted`
      case "EADDRNOTAVAIL":
      case "ENOTFOUND":
        return `${this.host} is not an address of this machine`
      default:
        return `can't listen on ${address} (${this.code})`
    }
  }
}

const urlOf = ({ address, family, port }: AddressInfo): string =>
  `http://${family === "IPv6" ? `[${address}]` : address}:${port}`

/** The answers to requests that Node could not parse, by Node's error code. */
const GARBAGE: Readonly<Record<string, readonly [ErrorCode, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ["request_timeout", "the request took too long to arrive"],
  HPE_HEADER_OVERFLOW: ["invalid_request", "the headers are too large"],
}

/** The answer to bytes that are not a valid request. The connection ends after it. */
const refusal = (code: ErrorCode, message: string) => {
  const { body, status } = ErrorResponse.answer(code, message)
  const headers = {
    "Content-Type": "application/json",
    "Request-Id": `req_${"0".repeat(26)}`, // There is no request that could have an id.
    "Content-Length": Buffer.byteLength(body),
    Connection: "close",
  }
  return { status, headers, body }
}

/**
 * Answers bytes that can't be parsed as HTTP with an error body, if the connection still accepts it. Earlier
 * requests on the connection are answered first, because a client matches answers to requests by their order.
 * `last` is the last answer that is still to be sent on the connection.
 */
const answerGarbage = (
  error: Error & { readonly code?: string },
  socket: Socket,
  last: ServerResponse | undefined,
): void => {
  const { body, headers, status } = refusal(
    ...(GARBAGE[error.code ?? ""] ?? (["invalid_request", "this is not HTTP"] as const)),
  )
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const send = () => {
    socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`)
    setTimeout(() => socket.destroy(), LINGER_MILLIS).unref()
  }
  if (last === undefined) send()
  else if (last.req.complete) last.once("close", () => socket.writable && send())
  // The invalid bytes are in the body of this request, and no answer has been written yet.
  else if (!last.headersSent) last.writeHead(status, headers).end(body)
  else last.once("close", () => socket.end())
}

interface Running {
  readonly server: HttpServer
  /** Answers that are sent in pieces, and may have no end. */
  readonly streams: ReadonlySet<ServerResponse>
}

/** What a server knows of a connection. */
interface Connection {
  /** The last answer that is still to be sent. */
  owed: ServerResponse | undefined
  /** The last request that was answered before it had arrived completely. */
  answeredEarly: IncomingMessage | undefined
  isRefused: boolean
}

const start = (handler: NodeHandler, options: NodeServerOptions): Effect.Effect<Running, ListenError> =>
  Effect.callback((resume) => {
    const { host = LOCAL_HOST, port } = options
    const headersTimeout = options.headersMillis ?? HEADERS_TIMEOUT_MILLIS
    const requestTimeout = options.requestMillis ?? REQUEST_TIMEOUT_MILLIS
    const streams = new Set<ServerResponse>()
    const connections = new WeakMap<Socket, Connection>()
    const connectionOf = (socket: Socket): Connection => {
      const known = connections.get(socket)
      if (known !== undefined) return known
      const connection: Connection = { owed: undefined, answeredEarly: undefined, isRefused: false }
      connections.set(socket, connection)
      return connection
    }
    // A subclass, because every request comes through here: a listener or an entry in a set for each answer would
    // cost more.
    class Answer extends http.ServerResponse {
      constructor(...args: ConstructorParameters<typeof http.ServerResponse>) {
        super(...args)
        connectionOf(this.req.socket).owed = this
      }
      override detachSocket(socket: Socket): void {
        super.detachSocket(socket)
        const connection = connectionOf(socket)
        if (connection.owed === this) connection.owed = undefined
        if (!this.req.complete) connection.answeredEarly = this.req
      }
      override writeHead(status: number, ...rest: ReadonlyArray<unknown>): this {
        if (!server.listening) this.setHeader("connection", "close")
        return super.writeHead(status, ...(rest as []))
      }
      override flushHeaders(): void {
        super.flushHeaders()
        note(this)
      }
      override write(...piece: ReadonlyArray<unknown>): boolean {
        const isTaken = super.write(...(piece as [string]))
        note(this)
        return isTaken
      }
    }
    const note = (answer: Answer): void => {
      if (answer.destroyed || streams.has(answer)) return
      streams.add(answer)
      answer.once("close", () => streams.delete(answer))
    }
    const answer: NodeHandler = (request, response) => {
      // The request became complete after it was refused for being late. Its connection ends.
      if (connectionOf(request.socket).isRefused) return
      const problem = RequestHead.problemOf(request)
      if (problem !== undefined) {
        const { body, headers, status } = refusal("invalid_request", problem)
        response.writeHead(status, headers).end(body)
        return
      }
      request.url = RequestHead.originForm(request.url ?? "/")
      handler(request, response)
    }
    const server = http.createServer(
      {
        ServerResponse: Answer,
        headersTimeout,
        requestTimeout,
        connectionsCheckingInterval: Math.min(headersTimeout, requestTimeout, TIMEOUT_CHECK_MILLIS),
        keepAliveTimeout: KEEP_ALIVE_MILLIS,
        // Checked in `RequestHead` instead, because Node's own refusal has no body.
        requireHostHeader: false,
      },
      answer,
    )
    server.on("checkExpectation", answer)
    server.on("clientError", (error: Error & { readonly code?: string }, socket: Socket) => {
      // When the request is already answered, the client would take a second answer for that of its next request.
      const connection = connectionOf(socket)
      const isAnswered = connection.answeredEarly?.complete === false
      if (!socket.writable || error.code === "ECONNRESET" || isAnswered) socket.destroy()
      else if (!connection.isRefused) {
        connection.isRefused = true
        answerGarbage(error, socket, connection.owed)
      }
    })
    server.once("error", (error: Error & { readonly code?: string }) =>
      resume(Effect.fail(new ListenError({ host, port, code: error.code ?? error.message }))),
    )
    server.listen(port, host, () => resume(Effect.succeed({ server, streams })))
  })

/**
 * Accepts no new connections, waits for running requests within the grace time, then closes the rest. Each
 * connection is closed after its current request, because a connection that is kept alive would use up the grace
 * time. Streams of events never end by themselves, so they are ended here, and their clients reconnect. Other answers in pieces,
 * such as exports, are broken off (`StreamEnd`), because they must not look whole.
 */
const stop = ({ server, streams }: Running): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    for (const response of streams) StreamedAnswer.endIfEndless(response, () => server.closeIdleConnections())
    server.closeIdleConnections()
  }).pipe(
    Effect.timeoutOrElse({
      duration: GRACE_MILLIS,
      orElse: () => Effect.sync(() => server.closeAllConnections()),
    }),
  )

/** Listens until the scope closes. */
export const listen = (
  handler: NodeHandler,
  options: NodeServerOptions,
): Effect.Effect<Listening, ListenError, Scope.Scope> =>
  Effect.acquireRelease(start(handler, options), stop).pipe(
    Effect.map(({ server }) => {
      const address = server.address() as AddressInfo
      return { url: urlOf(address), port: address.port }
    }),
  )
