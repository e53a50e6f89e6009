/** Receivers on loopback with scripted behaviour, and the requests that they got. */
import { createServer, type Server, type Socket } from "node:net"
import { createServer as createTlsServer, type TlsOptions } from "node:tls"
import { type WebhookRequest, WebhookTransport } from "@billwright/core"
import { Effect, type Scope } from "effect"
import { UndiciTransport, type UndiciTransportOptions } from "../src/index.ts"

/** A received request. */
interface Received {
  /** The request line and the headers, without the empty line. */
  readonly head: string
  readonly body: string
}

export interface Receiver {
  readonly port: number
  /** `http://127.0.0.1:port`, or the address that it listens on. */
  readonly origin: string
  readonly requests: ReadonlyArray<Received>
  /** The number of connections so far. */
  readonly connections: number
  /** The open connections. */
  readonly sockets: ReadonlySet<Socket>
  /** Waits until this many connections are open. */
  readonly whenOpen: (count: number) => Promise<void>
  /** Waits until this many requests have arrived. */
  readonly whenRequests: (count: number) => Promise<void>
}

/**
 * A new address of 127.0.0.0/8, where every port is free. In live mode webhooks go to port 8443, and tests run in
 * parallel. On Linux all of these addresses work.
 */
export const freshLoopback = (): string => {
  const part = () => 1 + Math.floor(Math.random() * 254)
  return `127.${part()}.${part()}.${part()}`
}

/** What a receiver does with a request. The number of the first request is 1. */
export type Behaviour = (socket: Socket, received: Received, number: number) => void

export interface ReceiverOptions {
  readonly host?: string
  readonly port?: number
  readonly tls?: TlsOptions
  /** Called when a connection is made, before any bytes arrive. */
  readonly onConnect?: (socket: Socket) => void
}

const CONTENT_LENGTH = /\r\ncontent-length: (\d+)/i

/** Reads the requests of a connection, one after the other. */
const readRequests = (socket: Socket, onRequest: (received: Received) => void): void => {
  let pending = Buffer.alloc(0)
  socket.on("data", (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk])
    for (;;) {
      const end = pending.indexOf("\r\n\r\n")
      if (end === -1) return
      const head = pending.subarray(0, end).toString("latin1")
      const length = Number(CONTENT_LENGTH.exec(head)?.[1] ?? 0)
      if (pending.length < end + 4 + length) return
      const body = pending.subarray(end + 4, end + 4 + length).toString("utf8")
      pending = pending.subarray(end + 4 + length)
      onRequest({ head, body })
    }
  })
}

const listen = (server: Server, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server
      .once("error", reject)
      .listen(port, host, () => resolve((server.address() as { port: number }).port))
  })

/** Listens until the scope ends. */
export const receiver = (
  behaviour: Behaviour,
  { host = "127.0.0.1", onConnect, port = 0, tls }: ReceiverOptions = {},
): Effect.Effect<Receiver, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const requests: Array<Received> = []
        const sockets = new Set<Socket>()
        const watchers = new Set<() => void>()
        const changed = () => watchers.forEach((watcher) => watcher())
        const seen = { connections: 0 }
        const track = (socket: Socket) => {
          seen.connections++
          sockets.add(socket)
          changed()
          socket
            .on("error", () => {})
            .on("close", () => {
              sockets.delete(socket)
              changed()
            })
        }
        const serve = (socket: Socket) => {
          socket.on("error", () => {})
          onConnect?.(socket)
          readRequests(socket, (received) => {
            requests.push(received)
            changed()
            behaviour(socket, received, requests.length)
          })
        }
        const server =
          tls === undefined ? createServer(serve) : createTlsServer(tls, serve).on("tlsClientError", () => {})
        server.on("connection", track)
        const bound = await listen(server, host, port)
        const when = (isSo: () => boolean) =>
          new Promise<void>((resolve) => {
            const watcher = () => {
              if (!isSo()) return
              watchers.delete(watcher)
              resolve()
            }
            watchers.add(watcher)
            watcher()
          })
        return { server, bound, requests, sockets, seen, when }
      }),
      ({ server, sockets }) =>
        Effect.promise(
          () =>
            new Promise<void>((resolve) => {
              server.close(() => resolve())
              for (const socket of sockets) socket.destroy()
            }),
        ),
    ),
    ({ bound, requests, seen, sockets, when }): Receiver => ({
      port: bound,
      origin: `${tls === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${bound}`,
      requests,
      get connections() {
        return seen.connections
      },
      sockets,
      whenOpen: (count) => when(() => sockets.size === count),
      whenRequests: (count) => when(() => requests.length >= count),
    }),
  )

/** A complete answer with a length. */
export const answer = (status: number, body = "", headers = ""): string =>
  `HTTP/1.1 ${status} Whatever\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

/** Answers 200. */
export const ok: Behaviour = (socket) => socket.write(answer(200, "ok"))

export const post = (url: string, changes: Partial<WebhookRequest> = {}): WebhookRequest => ({
  mode: "test",
  url,
  headers: { "content-type": "application/json", "webhook-id": "evt_1" },
  body: '{"hello":"wörld"}',
  ...changes,
})

/** A transport that may send to the receivers above, which are on this machine. */
export const transport = (options: UndiciTransportOptions = {}) =>
  UndiciTransport.layer({ ...options, network: { allowLoopback: true, ...options.network } })

/** Sends one request on a new transport. */
export const sendOnce = (request: WebhookRequest, options: UndiciTransportOptions = {}) =>
  Effect.provide(
    Effect.flatMap(WebhookTransport, ({ send }) => send(request)),
    transport(options),
  )
