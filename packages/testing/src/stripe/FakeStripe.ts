/**
 * A fake of Stripe's HTTP API, on a port of this machine. It keeps its objects in memory, and does what Stripe documents:
 * idempotency keys, test cards, confirmation by the customer, refunds, disputes and signed events. It also fails as it is
 * told, before and after the work of a request.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { AccountState, StripeFault } from "./AccountState.ts"
import { answerPage, PAGES } from "./CheckoutPage.ts"
import type { StripeAnswer } from "./IdempotencyKeys.ts"
import { parseParams } from "./Params.ts"
import { perform } from "./Routes.ts"
import { StripeAccount } from "./StripeAccount.ts"
import { StripeProblem } from "./StripeProblem.ts"

/** Longest body of a request, in bytes. */
const MAX_BODY_BYTES = 1_048_576
/** Most accounts of a fake. */
const MAX_ACCOUNTS = 10_000

/** Options of a fake. */
export interface FakeStripeOptions {
  /** The time, in epoch milliseconds. Default: that of this machine. */
  readonly now?: () => number
}

interface Call {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly key: string | null
  readonly isPublic: boolean
}

const answerOf = (status: number, value: object): StripeAnswer => ({
  status,
  body: JSON.stringify(value, null, 2),
})

const errorOf = (problem: StripeProblem): StripeAnswer => answerOf(problem.status, { error: problem.body })

const BROKEN = new StripeProblem(
  500,
  { type: "api_error", message: "An unknown error occurred. Please contact us." },
  true,
)

/** Refusals of a request that is never begun. The client gets them, unless the connection is lost. */
const REFUSALS: Partial<Record<StripeFault, StripeProblem>> = {
  lost_request: BROKEN,
  no_answer: BROKEN,
  in_use: new StripeProblem(
    409,
    {
      type: "idempotency_error",
      code: "idempotency_key_in_use",
      message: "There is currently another in-progress request using this Idempotent Key.",
    },
    false,
  ),
  locked: new StripeProblem(
    429,
    {
      type: "invalid_request_error",
      code: "lock_timeout",
      message: "This object cannot be accessed right now because another request is currently accessing it.",
    },
    false,
  ),
  rate_limited: new StripeProblem(
    429,
    { type: "invalid_request_error", code: "rate_limit", message: "Request rate limit exceeded." },
    false,
  ),
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw new RangeError("the body is too long")
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}

/** The API key of a request, by `Bearer` or as the user of `Basic`. */
const keyOf = ({ headers: { authorization = "" } }: IncomingMessage, body: string): string => {
  const [scheme = "", credentials = ""] = authorization.split(" ")
  if (scheme.toLowerCase() === "bearer") return credentials
  if (scheme.toLowerCase() === "basic")
    return Buffer.from(credentials, "base64").toString("utf8").split(":")[0] ?? ""
  const { key } = parseParams(body)
  return typeof key === "string" ? key : ""
}

/** A running fake. */
export class FakeStripe {
  /** Where it listens. */
  readonly host = "127.0.0.1"
  readonly #server: Server
  readonly #accounts = new Map<string, StripeAccount>()
  readonly #now: () => number
  #requests = 0

  private constructor({ now = Date.now }: FakeStripeOptions) {
    this.#now = now
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error))
    })
  }

  /** Starts a fake on a free port of the loopback address. */
  static async start(options: FakeStripeOptions = {}): Promise<FakeStripe> {
    const stripe = new FakeStripe(options)
    await new Promise<void>((resolve, reject) => {
      stripe.#server.once("error", reject)
      stripe.#server.listen(0, stripe.host, resolve)
    })
    return stripe
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /**
   * The account of a key, which is made when it is first asked for. The keys `sk_test_x`, `rk_test_x` and `pk_test_x` are
   * those of one account.
   */
  account(key: string): StripeAccount {
    const name = /^(?:sk|rk|pk)_test_(\w+)$/.exec(key)?.[1]
    if (name === undefined) throw new TypeError("the API key is not one of test mode")
    const found = this.#accounts.get(name)
    if (found !== undefined) return found
    if (this.#accounts.size >= MAX_ACCOUNTS) throw new RangeError(`a fake has ${MAX_ACCOUNTS} accounts`)
    const made = new StripeAccount(
      this.#now,
      (session) => `http://${this.host}:${this.port}${PAGES}${session}`,
    )
    this.#accounts.set(name, made)
    return made
  }

  /** Stops listening, and breaks the connections that are open. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeAllConnections()
    await closed
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(request)
    const url = new URL(request.url ?? "/", "http://localhost")
    const method = request.method ?? "GET"
    if (url.pathname.startsWith(PAGES)) return this.#servePage(url.pathname, method, text, response)
    const body = method === "GET" ? url.search.slice(1) : text
    const apiKey = keyOf(request, body)
    const header = request.headers["idempotency-key"]
    const key = method === "POST" && typeof header === "string" ? header : null
    const isPublic = apiKey.startsWith("pk_")
    this.#requests += 1
    const id = `req_fake${String(this.#requests).padStart(8, "0")}`
    if (!/^(?:sk|rk|pk)_test_\w+$/.test(apiKey)) return void send(response, id, errorOf(unauthorized))
    this.#answer(
      this.account(apiKey).state,
      { method, path: url.pathname, body, key, isPublic },
      id,
      response,
    )
  }

  /** The page of a checkout session, which the browser of a customer asks for without a key. */
  #servePage(path: string, method: string, body: string, response: ServerResponse): void {
    const id = path.slice(PAGES.length)
    const owner = [...this.#accounts.values()].find(({ state }) =>
      state.all("checkout.session").some((session) => session.id === id),
    )
    if (owner === undefined) return void response.writeHead(404).end()
    const answer = answerPage(owner.state, id, method === "POST" ? new URLSearchParams(body) : undefined)
    if (answer.status === 303) return void response.writeHead(303, { location: answer.location }).end()
    response.writeHead(answer.status, { "content-type": "text/html; charset=utf-8" }).end(answer.html)
  }

  #answer(state: AccountState, call: Call, id: string, response: ServerResponse): void {
    const { body, key, method, path } = call
    const fault = state.takeFault(method, path)
    state.begin(id, key)
    const { answer, isReplay } = this.#work(state, call, fault)
    state.note({ method, path, body, idempotencyKey: key, isReplay })
    if (fault === "no_answer") return
    if (fault === "lost_request" || fault === "lost_reply") return void response.socket?.resetAndDestroy()
    if (fault !== "cut_body") return send(response, id, answer, isReplay)
    response.writeHead(answer.status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(answer.body),
    })
    response.write(answer.body.slice(0, answer.body.length / 2), () => response.socket?.destroy())
  }

  /** The answer to a call, once its work is done. */
  #work(
    state: AccountState,
    call: Call,
    fault: StripeFault | undefined,
  ): { readonly answer: StripeAnswer; readonly isReplay: boolean } {
    const refusal = fault && REFUSALS[fault]
    if (refusal !== undefined) return { answer: errorOf(refusal), isReplay: false }
    const { body, key, method, path } = call
    const signature = JSON.stringify([method, path, body])
    try {
      const kept = key === null ? undefined : state.keys.find(key, signature)
      if (kept !== undefined) return { answer: kept, isReplay: true }
      const answer = fault === "server_error" ? errorOf(BROKEN) : this.#perform(state, call)
      const given = fault === "server_error_after" ? errorOf(BROKEN) : answer
      if (key !== null) state.keys.keep(key, signature, given)
      return { answer: given, isReplay: false }
    } catch (error) {
      if (!(error instanceof StripeProblem)) throw error
      return { answer: errorOf(error), isReplay: false }
    }
  }

  /** Errors are answers, too, if they are kept with the key. */
  #perform(state: AccountState, call: Call): StripeAnswer {
    try {
      return answerOf(200, perform(state, call, parseParams(call.body)))
    } catch (error) {
      if (error instanceof StripeProblem && error.isKept) return errorOf(error)
      throw error
    }
  }
}

const unauthorized = new StripeProblem(
  401,
  { type: "invalid_request_error", message: "Invalid API Key provided." },
  false,
)

const send = (
  response: ServerResponse,
  id: string,
  { body, status }: StripeAnswer,
  isReplay = false,
): void => {
  response.writeHead(status, {
    "content-type": "application/json",
    "request-id": id,
    // Pages of the host may call it from a browser.
    "access-control-allow-origin": "*",
    ...(isReplay && { "idempotent-replayed": "true" }),
  })
  response.end(body)
}
