import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  ServerResponse,
  STATUS_CODES,
} from "node:http"
import type { AddressInfo, Socket } from "node:net"
/**
 * The REST API on a `node:http` server of its own, for hosts that have none.
 */
import { Effect, Schema, type Scope } from "effect"
import type { ErrorCode } from "../api/ErrorBody.ts"
import * as ErrorAnswer from "../server/ErrorAnswer.ts"
import type { NodeHandler } from "./NodeHandler.ts"
import * as RequestHead from "./RequestHead.ts"

/** Longest that the headers of a request may take to arrive, in milliseconds, when the options don't say. */
const HEADERS_TIMEOUT_MILLIS = 15_000
/** Longest that a whole request may take to arrive, in milliseconds, when the options don't say. */
const REQUEST_TIMEOUT_MILLIS = 60_000
/** This machine alone. */
const LOCAL_HOST = "127.0.0.1"
/** How often both are looked at: so much later than they say a connection ends. */
const TIMEOUT_CHECK_MILLIS = 5_000
/** How long an idle connection is kept. Load balancers often keep theirs for 60 s and must be the first to let go. */
const KEEP_ALIVE_MILLIS = 65_000
/** How long a client that was refused has to read why and to close its side. */
const LINGER_MILLIS = 1_000
/** How long requests that are being answered may go on when the server stops. */
const GRACE_MILLIS = 5_000

export interface NodeServerOptions {
  /** 0 picks a free one. */
  readonly port: number
  /** Default 127.0.0.1: this machine alone. */
  readonly host?: string
  /** Longest that the headers of a request may take to arrive, in milliseconds. Default 15 s. */
  readonly headersMillis?: number
  /** Longest that a whole request may take to arrive, in milliseconds. Default 60 s. */
  readonly requestMillis?: number
}

/** A server that listens. */
export interface Listening {
  /** `http://host:port`. */
  readonly url: string
  readonly port: number
}

/** The address can't be listened on. */
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
        return `${this.host} is no address of this machine`
      default:
        return `can't listen on ${address} (${this.code})`
    }
  }
}

const urlOf = ({ address, family, port }: AddressInfo): string =>
  `http://${family === "IPv6" ? `[${address}]` : address}:${port}`

/** What is wrong with a request that never came to be one, by Node's codes. */
const GARBAGE: Readonly<Record<string, readonly [ErrorCode, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ["request_timeout", "the request took too long to arrive"],
  HPE_HEADER_OVERFLOW: ["invalid_request", "the headers are too large"],
}

/** The answer to what is no request, after which the connection ends. */
const refusal = (code: ErrorCode, message: string) => {
  const { body, status } = ErrorAnswer.answer(code, message)
  const headers = {
    "Content-Type": "application/json",
    "Request-Id": `req_${"0".repeat(26)}`, // There was no request to number.
    "Content-Length": Buffer.byteLength(body),
    Connection: "close",
  }
  return { status, headers, body }
}

/**
 * What can't be parsed as HTTP gets the error body, too, as far as its connection still takes it. Requests that came
 * before it on the connection are answered first: a client takes each answer for that of its oldest request.
 * `last` is the answer that the connection still owes, the last one if it owes several.
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
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`)
    setTimeout(() => socket.destroy(), LINGER_MILLIS).unref()
  }
  if (last === undefined) send()
  else if (last.req.complete) last.once("close", () => socket.writable && send())
  // It is the body of this request that is no HTTP, and nothing is written before a body has arrived.
  else if (!last.headersSent) last.writeHead(status, headers).end(body)
  else last.once("close", () => socket.end())
}

interface Running {
  readonly server: HttpServer
  /** Answers that have begun before their end was known. */
  readonly streams: ReadonlySet<ServerResponse>
}

const start = (handler: NodeHandler, options: NodeServerOptions): Effect.Effect<Running, ListenError> =>
  Effect.callback((resume) => {
    const { host = LOCAL_HOST, port } = options
    const headersTimeout = options.headersMillis ?? HEADERS_TIMEOUT_MILLIS
    const requestTimeout = options.requestMillis ?? REQUEST_TIMEOUT_MILLIS
    const streams = new Set<ServerResponse>()
    const owed = new WeakMap<Socket, ServerResponse>()
    /** The last request of a connection that was answered before it had arrived as a whole. */
    const answeredEarly = new WeakMap<Socket, IncomingMessage>()
    const refused = new WeakSet<Socket>()
    // Every request comes through here: a listener or a set of all answers would cost each of them.
    class Answer extends ServerResponse {
      constructor(...args: ConstructorParameters<typeof ServerResponse>) {
        super(...args)
        owed.set(this.req.socket, this)
      }
      override detachSocket(socket: Socket): void {
        super.detachSocket(socket)
        if (owed.get(socket) === this) owed.delete(socket)
        if (!this.req.complete) answeredEarly.set(socket, this.req)
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
      // Completed after it was refused for being late: its connection ends.
      if (refused.has(request.socket)) return
      const problem = RequestHead.problemOf(request)
      if (problem !== undefined) {
        const { body, headers, status } = refusal("invalid_request", problem)
        response.writeHead(status, headers).end(body)
        return
      }
      request.url = RequestHead.originForm(request.url ?? "/")
      handler(request, response)
    }
    const server = createServer(
      {
        ServerResponse: Answer,
        headersTimeout,
        requestTimeout,
        connectionsCheckingInterval: Math.min(headersTimeout, requestTimeout, TIMEOUT_CHECK_MILLIS),
        keepAliveTimeout: KEEP_ALIVE_MILLIS,
        // Node's own refusal has no body.
        requireHostHeader: false,
      },
      answer,
    )
    server.on("checkExpectation", answer)
    server.on("clientError", (error: Error & { readonly code?: string }, socket: Socket) => {
      // An answer to a request that was answered already would be taken for that of the next one.
      const isAnswered = answeredEarly.get(socket)?.complete === false
      if (!socket.writable || error.code === "ECONNRESET" || isAnswered) socket.destroy()
      else if (!refused.has(socket)) {
        refused.add(socket)
        answerGarbage(error, socket, owed.get(socket))
      }
    })
    server.once("error", (error: Error & { readonly code?: string }) =>
      resume(Effect.fail(new ListenError({ host, port, code: error.code ?? error.message }))),
    )
    server.listen(port, host, () => resume(Effect.succeed({ server, streams })))
  })

/**
 * Takes no new connections, lets running requests finish within the grace time, then cuts the rest. A connection
 * ends with the request that it carries: kept alive, it would use up the grace time. What is sent piece by piece may
 * have no end of its own: it ends here, and its client comes back.
 */
const stop = ({ server, streams }: Running): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    for (const response of streams) response.end(() => server.closeIdleConnections())
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
