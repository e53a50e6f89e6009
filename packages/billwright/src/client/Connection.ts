/**
 * Sends requests to the API and retries them. Every change has an idempotency key, so every request is safe to
 * retry.
 */
import { ConfigurationError } from "../errors/RuntimeError.ts"
import * as OptionRules from "../runtime/OptionRules.ts"
import { ApiError, toApiError, ConnectionError } from "./ApiError.ts"
import * as ExactJson from "./ExactJson.ts"
import { delayAfter, wait } from "./RetryDelay.ts"

/** The options of `createClient`. */
export interface ClientOptions {
  /**
   * The base URL of the API, without `/v1`: `https://billing.example.com`, or a path of this origin such as
   * `/billing`.
   */
  readonly url: string
  /** `sk_live_…` or `sk_test_…`. Anyone who has the key can use it, so keep it on servers. */
  readonly apiKey: string
  /** How often a request is sent again when the connection fails or the server asks for it. Default 3. */
  readonly maxRetries?: number
  /** How long one try may take, in milliseconds. Default 30,000. */
  readonly timeoutMillis?: number
  /** Default: the platform's. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

const rules = OptionRules.argument({
  url: OptionRules.must(
    (url) => typeof url === "string" && /^(https?:\/\/.|\/)/i.test(url),
    'a URL such as "https://billing.example.com", or a path of this origin such as "/billing"',
  ),
  apiKey: OptionRules.must((key) => typeof key === "string" && key !== "", "a key such as sk_live_…"),
  maxRetries: OptionRules.integer(0),
  timeoutMillis: OptionRules.integer(1),
  fetch: OptionRules.must((value) => typeof value === "function", "a function"),
})

/** Throws a `ConfigurationError`. */
const checkOptions = (options: ClientOptions): void => {
  rules(options ?? {}, "createClient")
  for (const needed of ["url", "apiKey"] as const) {
    if (options?.[needed] === undefined)
      throw new ConfigurationError(
        `createClient needs ${needed}: createClient({ url: "https://billing.example.com", apiKey })`,
      )
  }
}

const DEFAULT_MAX_RETRIES = 3
const DEFAULT_TIMEOUT_MILLIS = 30_000

export interface Request {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  /** The part of the URL after `/v1`, encoded, with its query. */
  readonly path: string
  readonly body?: object
  /** How an answer is read that is not JSON. */
  readonly as?: "text" | "arrayBuffer"
  readonly signal?: AbortSignal | undefined
}

/** A successful answer. */
export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** 128 random bits. `crypto.randomUUID` exists in secure contexts only. */
const makeKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  )

const parse = (text: string): unknown => {
  try {
    return ExactJson.parse(text)
  } catch {
    return undefined // For example the HTML page of a proxy.
  }
}

/** The answer isn't one of the API. */
export class WrongUrlError extends ConnectionError {
  constructor(problem: string) {
    super("network_error", `${problem}: check that url is the URL of the API`)
  }
}

/**
 * Throws when the server redirects. The API never does, and to follow would send some changes as a GET. Of a redirect
 * that isn't followed, browsers show only its type, with status 0.
 */
const refuseRedirect = ({ status, type }: Response): void => {
  if (type === "opaqueredirect" || (status >= 300 && status < 400)) {
    throw new WrongUrlError("the server redirects")
  }
}

/** Throws an error as the client's calls reject with: what isn't one of theirs becomes a `ConnectionError`. */
export const rethrow = (cause: unknown, signal: AbortSignal | undefined, message: string): never => {
  signal?.throwIfAborted()
  if (cause instanceof ApiError || cause instanceof ConnectionError) throw cause
  throw new ConnectionError("network_error", message, { cause })
}

const LOST = "the connection to the billing API failed"

export class Connection {
  readonly #url: string
  readonly #authorization: string
  readonly #maxRetries: number
  readonly #timeoutMillis: number
  readonly #fetch: NonNullable<ClientOptions["fetch"]>

  constructor(options: ClientOptions) {
    checkOptions(options)
    const { apiKey, url } = options
    this.#url = `${url.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`
    this.#authorization = `Bearer ${apiKey}`
    this.#maxRetries = options.maxRetries ?? DEFAULT_MAX_RETRIES
    this.#timeoutMillis = options.timeoutMillis ?? DEFAULT_TIMEOUT_MILLIS
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init))
  }

  /** Sends a request and reads the answer. Rejects with `ApiError`, `ConnectionError` or the signal's reason. */
  async send(request: Request): Promise<Answer> {
    const { as, body, method, signal } = request
    const init: RequestInit = {
      method,
      redirect: "manual",
      headers: {
        accept: as === undefined ? "application/json" : "*/*",
        authorization: this.#authorization,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        // All tries send the same key: if the answer to one was lost, the next does not carry out the change again.
        ...(method === "GET" ? {} : { "idempotency-key": makeKey() }),
      },
      ...(body === undefined ? {} : { body: ExactJson.stringify(body) }),
    }
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted()
      const outcome = await this.#attempt(request, init)
      if (!(outcome instanceof Error) && outcome.response.ok) {
        return { status: outcome.response.status, body: outcome.body }
      }
      const response = outcome instanceof Error ? undefined : outcome.response
      if (response !== undefined) refuseRedirect(response)
      const delay = attempt > this.#maxRetries ? undefined : delayAfter(attempt, response)
      if (delay !== undefined) await wait(delay, signal)
      else throw outcome instanceof Error ? outcome : toApiError(outcome.response, outcome.body)
    }
  }

  /** Opens a stream of server-sent events. It tries once, without a time-out. */
  open(path: string, lastEventId: string | undefined, signal: AbortSignal | undefined): Promise<Response> {
    const last = lastEventId === undefined ? {} : { "last-event-id": lastEventId }
    return this.#stream(path, { accept: "text/event-stream", ...last }, signal)
  }

  /** Opens an answer of lines of JSON. It tries once, without a time-out. */
  openLines(path: string, signal: AbortSignal | undefined): Promise<Response> {
    return this.#stream(path, { accept: "application/jsonl" }, signal)
  }

  async #stream(
    path: string,
    accepted: { readonly accept: string },
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const headers = { ...accepted, authorization: this.#authorization }
    try {
      const response = await this.#fetch(this.#url + path, {
        redirect: "manual",
        headers,
        signal: signal ?? null,
      })
      if (response.ok) {
        if (response.headers.get("content-type")?.toLowerCase().startsWith(headers.accept)) return response
        await response.body?.cancel()
        throw new WrongUrlError(`the answer is not ${headers.accept}`)
      }
      const body = parse(await response.text())
      refuseRedirect(response)
      throw toApiError(response, body)
    } catch (cause) {
      return rethrow(cause, signal, LOST)
    }
  }

  async #attempt(
    { as, path, signal }: Request,
    init: RequestInit,
  ): Promise<{ readonly response: Response; readonly body: unknown } | ConnectionError> {
    const timeout = AbortSignal.timeout(this.#timeoutMillis)
    try {
      const response = await this.#fetch(this.#url + path, {
        ...init,
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      })
      const body = response.ok && as ? await response[as]() : parse(await response.text())
      if (response.ok && body === undefined) {
        return new WrongUrlError("the answer is not JSON")
      }
      return { response, body }
    } catch (cause) {
      signal?.throwIfAborted()
      return timeout.aborted
        ? new ConnectionError("timeout", `no answer within ${this.#timeoutMillis} ms`, { cause })
        : new ConnectionError("network_error", LOST, { cause })
    }
  }
}
