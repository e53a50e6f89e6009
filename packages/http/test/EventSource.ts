import * as Http from "node:http"
/**
 * A client of server-sent events that shows what came, as it came.
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
  /** Waits until what has come satisfies a test; gives all that has come. */
  readonly until: (test: (text: string) => boolean) => Effect.Effect<string>
  /** Waits until so many events have come; gives all that have. */
  readonly events: (count: number) => Effect.Effect<ReadonlyArray<SentEvent>>
  /** Waits until the server has ended the stream, or broken it off; gives all that has come. */
  readonly closed: Effect.Effect<string>
  /** Whether the server has ended the stream, not merely broken it off. */
  readonly isComplete: () => boolean
  /** Reads nothing more. */
  readonly pause: Effect.Effect<void>
  /** Breaks the connection off. */
  readonly destroy: Effect.Effect<void>
}

export interface OpenOptions {
  readonly query?: string
  readonly lastEventId?: string
  /** Default: the test key. */
  readonly key?: string
  /** Default: that of the server of the test. */
  readonly port?: number
}

/** Takes a stream apart by the rules of the standard, as far as they are used. */
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

/** Opens the stream; it is broken off with the test. */
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
