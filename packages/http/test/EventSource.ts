import * as Http from "node:http"
/**
 * A client of server-sent events that gives access to the received text.
 */
import { Effect, type Scope } from "effect"
import type { Api } from "./ApiServer.ts"

/** An event of a stream. */
export interface SentEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

export interface EventSource {
  readonly status: number
  readonly headers: Http.IncomingHttpHeaders
  /** Waits until the received text meets a condition. Returns the whole text. */
  readonly until: (test: (text: string) => boolean) => Effect.Effect<string>
  /** Waits until this many events have arrived. Returns all of them. */
  readonly events: (count: number) => Effect.Effect<ReadonlyArray<SentEvent>>
  /** Waits until the server has ended or cut the stream. Returns the whole text. */
  readonly closed: Effect.Effect<string>
  /** Whether the server has ended the stream, instead of cutting it. */
  readonly isComplete: () => boolean
  /** Stops reading. */
  readonly pause: Effect.Effect<void>
  /** Resets the connection. */
  readonly destroy: Effect.Effect<void>
}

export interface OpenOptions {
  readonly query?: string
  readonly lastEventId?: string
  /** Default: the test key. */
  readonly key?: string
  /** Default: the server of the test. */
  readonly port?: number
}

/** Parses a stream by the rules of the standard that the server uses. */
export const parse = (text: string): ReadonlyArray<SentEvent> =>
  text
    .split("\n\n")
    .slice(0, -1)
    .flatMap((block) => {
      const fields = Object.fromEntries(
        block
          .split("\n")
          .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
      )
      const { data, event = "message", id = "" } = fields as Record<string, string | undefined>
      return data === undefined ? [] : [{ id, event, data }]
    })

const headersOf = (api: Api, { key, lastEventId }: OpenOptions): Record<string, string> => ({
  authorization: `Bearer ${key ?? api.testKey}`,
  ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
})

const request = (api: Api, options: OpenOptions) =>
  Effect.callback<Http.IncomingMessage, Error>((resume) => {
    const sent = Http.get(
      {
        host: "127.0.0.1",
        port: options.port ?? api.port,
        path: `/v1/events/stream${options.query ?? ""}`,
        headers: headersOf(api, options),
        agent: false,
      },
      (response) => resume(Effect.succeed(response)),
    )
    sent.on("error", (error) => resume(Effect.fail(error)))
  })

/** Opens the stream. It is cut when the test ends. */
export const open = (api: Api, options: OpenOptions = {}): Effect.Effect<EventSource, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(Effect.orDie(request(api, options)), (response) =>
      Effect.sync(() => response.destroy()),
    ),
    (response): EventSource => {
      let text = ""
      let isClosed = false
      const waiting = new Set<() => void>()
      const notify = () => waiting.forEach((check) => check())
      response.setEncoding("utf8")
      response.on("error", () => undefined)
      response.on("data", (chunk: string) => {
        text += chunk
        notify()
      })
      response.on("close", () => {
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
        status: response.statusCode ?? 0,
        headers: response.headers,
        until: (test) => when(() => test(text)),
        events: (count) =>
          Effect.map(
            when(() => parse(text).length >= count),
            parse,
          ),
        closed: when(() => isClosed),
        isComplete: () => response.complete,
        pause: Effect.sync(() => void response.pause()),
        destroy: Effect.sync(() => void response.destroy()),
      }
    },
  )
