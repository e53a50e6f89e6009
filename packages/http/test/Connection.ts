import * as Net from "node:net"
/**
 * A plain TCP connection, for bytes that no HTTP client would send.
 */
import { Effect, type Scope } from "effect"

export interface Connection {
  readonly write: (data: string | Uint8Array) => Effect.Effect<void>
  /** Waits until the received text meets a condition. Returns the whole text. */
  readonly until: (test: (text: string) => boolean) => Effect.Effect<string>
  /** Waits until the other side has closed the connection. Returns the whole text. */
  readonly closed: Effect.Effect<string>
  /** Resets the connection. */
  readonly destroy: Effect.Effect<void>
}

export const connect = (port: number): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<Net.Socket>((resume) => {
        const socket = Net.connect(port, "127.0.0.1", () => resume(Effect.succeed(socket)))
        socket.on("error", () => undefined)
      }),
      (socket) => Effect.sync(() => socket.destroy()),
    ),
    (socket): Connection => {
      let text = ""
      let isClosed = false
      const waiting = new Set<() => void>()
      const notify = () => waiting.forEach((check) => check())
      socket.setEncoding("utf8")
      socket.on("data", (chunk: string) => {
        text += chunk
        notify()
      })
      socket.on("close", () => {
        isClosed = true
        notify()
      })
      const when = (test: () => boolean) =>
        Effect.callback<string>((resume) => {
          const check = () => {
            if (!test()) return
            waiting.delete(check)
            resume(Effect.succeed(text))
          }
          waiting.add(check)
          check()
          return Effect.sync(() => waiting.delete(check))
        })
      return {
        write: (data) => Effect.sync(() => void socket.write(data)),
        until: (test) => when(() => test(text)),
        closed: when(() => isClosed),
        destroy: Effect.sync(() => void socket.destroy()),
      }
    },
  )

/** Splits the answers on one connection. All of them have a Content-Length or no body. */
export const answersOf = (text: string) => {
  const answers: Array<{ status: number; headers: Record<string, string>; text: string }> = []
  let rest = text
  while (rest !== "") {
    const end = rest.indexOf("\r\n\r\n")
    const [statusLine = "", ...lines] = rest.slice(0, end).split("\r\n")
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(":")).toLowerCase(),
        line.slice(line.indexOf(":") + 1).trim(),
      ]),
    )
    const length = Number(headers["content-length"] ?? 0)
    const body = rest.slice(end + 4)
    answers.push({ status: Number(statusLine.split(" ")[1]), headers, text: body.slice(0, length) })
    if (end === -1) break
    rest = body.slice(length)
  }
  return answers
}
