/**
 * The server as a `fetch` handler, `Request → Promise<Response>`, for every runtime and framework that uses the
 * Fetch standard.
 */
import { Cause, type Context, Effect, Exit, Stream } from "effect"
import {
  BodyTooLarge,
  BodyTooSlow,
  BodyUnreadable,
  type HttpRequest,
  type HttpResponse,
  MAX_BODY_BYTES,
  MAX_BODY_MILLIS,
} from "./HttpExchange.ts"
import type { Server } from "./Server.ts"
import * as StreamEnd from "./StreamEnd.ts"

export interface FetchHandlerOptions {
  /** The path that the API is mounted at, such as `/billing`: the part before `/v1`. Default: none. */
  readonly basePath?: string
  /** Streams of events end when this signal aborts. Exports break off. */
  readonly closing?: AbortSignal
}

/**
 * `env.incoming` is Node's own request, as `@hono/node-server` passes it. With it, a stream of events ends when its
 * server has stopped listening, and the client's IP address is known, which keys with networks need.
 */
export type FetchHandler = (request: Request, env?: { readonly incoming?: unknown }) => Promise<Response>

/** `/billing/` → `/billing`, `/` → nothing. */
export const normalizeBasePath = (basePath: string | undefined): string => {
  const trimmed = (basePath ?? "").replace(/\/+$/, "")
  if (trimmed !== "" && !trimmed.startsWith("/"))
    throw new TypeError(`basePath must start with /: ${basePath}`)
  return trimmed
}

/** The path after the base path; `undefined` when the path is outside the base path. */
const stripBasePath = (path: string, basePath: string): string | undefined => {
  if (!path.startsWith(basePath)) return undefined
  const rest = path.slice(basePath.length)
  return rest === "" ? "/" : rest.startsWith("/") ? rest : undefined
}

/**
 * Path and query of a request's target. They stay as they were sent, without decoding: a host that protects paths
 * has compared the same text.
 */
export const parseTarget = (target: string, basePath: string): Pick<HttpRequest, "path" | "query"> => {
  const question = target.indexOf("?")
  const path = question === -1 ? target : target.slice(0, question)
  return {
    path: stripBasePath(path, basePath) ?? "",
    query: question === -1 ? "" : target.slice(question + 1),
  }
}

const readChunks = async (stream: ReadableStream<Uint8Array>): Promise<Uint8Array | "too large"> => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) return "too large"
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

const readBody = (request: Request): HttpRequest["body"] =>
  Effect.suspend(() => {
    const { body } = request
    if (body === null) return Effect.succeed(new Uint8Array())
    if (request.bodyUsed)
      return Effect.fail(new BodyUnreadable({ problem: "was already read by another handler" }))
    return Effect.tryPromise({
      try: () => readChunks(body),
      catch: () => new BodyUnreadable({ problem: "ended early" }),
    }).pipe(
      Effect.timeoutOrElse({
        duration: MAX_BODY_MILLIS,
        orElse: () => Effect.fail(new BodyTooSlow()),
      }),
      Effect.flatMap((bytes) =>
        bytes === "too large" ? Effect.fail(new BodyTooLarge()) : Effect.succeed(bytes),
      ),
    )
  })

/** Scheme and host of a URL. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\\]*/i

const toHttpRequest = (
  request: Request,
  basePath: string,
  incoming: StreamEnd.Incoming | undefined,
): HttpRequest => {
  const [target = ""] = request.url.replace(ORIGIN, "").split("#", 1)
  return {
    method: request.method,
    ...parseTarget(target, basePath),
    header: (name) => request.headers.get(name) ?? undefined,
    headers: () => Object.fromEntries(request.headers),
    remoteAddress: (incoming?.socket as { readonly remoteAddress?: string } | undefined)?.remoteAddress,
    body: readBody(request),
  }
}

/**
 * Each piece is made when the client reads it, so nothing is buffered. The stream ends when the body is cancelled.
 */
const toReadable = (
  stream: Stream.Stream<string>,
  context: Context.Context<never>,
  signal: AbortSignal,
): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  return Stream.toReadableStreamWith(
    Stream.map(stream, (piece) => encoder.encode(piece)),
    context,
    { strategy: { highWaterMark: 0 }, signal },
  )
}

const toFetchResponse = (
  answer: HttpResponse,
  context: Context.Context<never>,
  signal: AbortSignal,
  incoming: StreamEnd.Incoming | undefined,
  closing: AbortSignal | undefined,
): Response => {
  const { body, bytes, headers, status, stream } = answer
  if (stream === undefined) return new Response(bytes ?? body, { status, headers })
  const pieces = Stream.interruptWhen(stream, StreamEnd.ended(answer, incoming, closing))
  return new Response(toReadable(pieces, context, signal), {
    status,
    headers: { ...headers, ...StreamEnd.headersFor(incoming) },
  })
}

/**
 * Makes the handler. It never rejects, except when the request's own signal aborts it.
 *
 * `context` is the context that the server was made in. It has the clock, the logger and the tracer.
 */
export const make = (
  server: Server,
  context: Context.Context<never>,
  options: FetchHandlerOptions = {},
): FetchHandler => {
  const basePath = normalizeBasePath(options.basePath)
  const run = Effect.runPromiseExitWith(context)
  return async (request, env) => {
    const { signal } = request
    const incoming = (env?.incoming ?? undefined) as StreamEnd.Incoming | undefined
    const exit = await run(server(toHttpRequest(request, basePath, incoming)), { signal })
    if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
    return toFetchResponse(exit.value, context, signal, incoming, options.closing)
  }
}
