/**
 * Who reads an answer: a connection of ours, or undici alone. Both are given the same bytes by a receiver on loopback, in the
 * same pieces.
 */
import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import type { TransportError } from "@billwright/core"
import { Effect, type Scope } from "effect"
import { Client } from "undici"
import { Connection } from "../src/Connection.ts"
import type { Exchange } from "../src/Exchange.ts"
import { MAX_HEADER_BYTES } from "../src/PlainAnswer.ts"
import * as ReceivedText from "../src/ReceivedText.ts"
import * as ReceiverError from "../src/ReceiverError.ts"
import type { SentRequest } from "../src/SentRequest.ts"

/** What came of a request. */
interface Verdict {
  readonly head?: { readonly status: number; readonly headers: Readonly<Record<string, string>> }
  readonly body: string
  /** `ended` if the answer is complete. */
  readonly end: "ended" | TransportError
  /** Whether the connection may carry another request. */
  readonly isKept: boolean
}

export interface Judges {
  /** Reads an answer that is sent in these pieces. After them the receiver ends the connection, a little later. */
  readonly ours: (pieces: ReadonlyArray<Buffer>) => Promise<Verdict>
  readonly undici: (pieces: ReadonlyArray<Buffer>) => Promise<Verdict>
}

/** How many turns of the event loop the receiver waits before it ends the connection. The verdict needs fewer. */
const TURNS_BEFORE_END = 100
const IDLE_MILLIS = 4_000

const turns = (count: number, then: () => void): void => {
  if (count === 0) then()
  else setImmediate(turns, count - 1, then)
}

const play = (socket: Socket, [piece, ...rest]: ReadonlyArray<Buffer>): void => {
  if (piece === undefined) {
    turns(TURNS_BEFORE_END, () => socket.end())
    return
  }
  socket.write(piece)
  setImmediate(play, socket, rest)
}

/** Collects what an exchange is told, and gives the verdict when it is over. */
const recording = (done: (verdict: Verdict) => void, isKept: () => boolean): Exchange => {
  let head: Verdict["head"]
  let isOver = false
  const body: Array<Uint8Array> = []
  const finish = (end: Verdict["end"]) => {
    if (isOver) return
    isOver = true
    // What came together with the answer is read then.
    turns(2, () =>
      done({
        ...(head === undefined ? {} : { head }),
        body: Buffer.concat(body).toString("latin1"),
        end,
        isKept: isKept(),
      }),
    )
  }
  return {
    onSent: () => {},
    onHead: (status, headers) => {
      if (status < 200 || status > 599) finish("bad_response")
      else head = { status, headers }
    },
    onBody: (bytes) => void body.push(bytes),
    onEnd: () => finish("ended"),
    onError: (error) => finish(ReceiverError.ofExchange(error, head !== undefined)),
    onFlood: () => finish("bad_response"),
  }
}

const byOurs = (origin: string, port: number, request: SentRequest): Promise<Verdict> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      const connection = new Connection(socket, "key", origin, IDLE_MILLIS)
      const exchange = recording(
        (verdict) => {
          connection.destroy()
          resolve(verdict)
        },
        () => connection.isReusable,
      )
      connection.send(request, {
        ...exchange,
        onEnd: () => {
          exchange.onEnd()
          connection.release()
        },
      })
    })
    socket.on("error", () => socket.destroy())
  })

const byUndici = (origin: string, request: SentRequest): Promise<Verdict> =>
  new Promise((resolve) => {
    const client = new Client(origin, { maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: IDLE_MILLIS })
    const exchange = recording(
      (verdict) => {
        client.destroy(null, () => {})
        resolve(verdict)
      },
      () => client.stats.connected,
    )
    client.dispatch(
      {
        path: request.path,
        method: request.method,
        headers: [...request.headers],
        body: Buffer.from(request.body),
      },
      {
        onRequestStart: () => exchange.onSent(),
        onResponseStart: (_controller, status, headers) =>
          exchange.onHead(status, ReceivedText.fromHeaders(headers)),
        onResponseData: (_controller, bytes) => exchange.onBody(bytes),
        onResponseEnd: () => exchange.onEnd(),
        onResponseError: (_controller, error) => exchange.onError(error),
      },
    )
  })

/** A receiver and both judges, until the scope ends. */
export const judges: Effect.Effect<Judges, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.promise(async () => {
      const state: { pieces: ReadonlyArray<Buffer> } = { pieces: [] }
      const server = createServer({ noDelay: true }, (socket) => {
        socket
          .on("error", () => {})
          .once("data", () => {
            socket.resume()
            play(socket, state.pieces)
          })
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return { server, state, port: (server.address() as AddressInfo).port }
    }),
    ({ server }) => Effect.promise(() => new Promise((resolve) => server.close(resolve))),
  ),
  ({ port, state }) => {
    const origin = `http://127.0.0.1:${port}`
    const request: SentRequest = {
      method: "POST",
      authority: `127.0.0.1:${port}`,
      path: "/hook",
      headers: [],
      body: "{}",
    }
    const giving =
      (judge: () => Promise<Verdict>) =>
      (pieces: ReadonlyArray<Buffer>): Promise<Verdict> => {
        state.pieces = pieces
        return judge()
      }
    return {
      ours: giving(() => byOurs(origin, port, request)),
      undici: giving(() => byUndici(origin, request)),
    }
  },
)
