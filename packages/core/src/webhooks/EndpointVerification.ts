/**
 * The check that an endpoint wants our webhooks, by the handshake of the CloudEvents specification "HTTP 1.1 Web Hooks for
 * Event Delivery", section 4: we ask by OPTIONS and say who we are, and the endpoint says that we may send.
 *
 * Without it anyone who may create endpoints can have events sent to a server of somebody else.
 */
import { Context, Effect } from "effect"
import { InvalidInput } from "../shared/InvalidInput.ts"
import type { Mode } from "../shared/Tenant.ts"
import { DEFAULT_USER_AGENT } from "./RequestHeaders.ts"
import type { WebhookResponse, WebhookTransport } from "./WebhookTransport.ts"

/** How long an endpoint may take to answer the handshake, in milliseconds: 5 s. */
export const HANDSHAKE_MILLIS = 5_000

/** The header by which the sender names itself, in the handshake and in each delivery after that. */
export const REQUEST_ORIGIN = "webhook-request-origin"
/** The header by which the endpoint allows the sender. */
export const ALLOWED_ORIGIN = "webhook-allowed-origin"
/** Allows every sender. */
const ANY_ORIGIN = "*"

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
const ORIGIN = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`, "i")

/** Why a text can't name the sender: it must be a host name. `undefined` when it can. */
export const problemOfOrigin = (origin: string): string | undefined =>
  ORIGIN.test(origin)
    ? undefined
    : "must be a host name that stands for the sender, such as billing.example.com"

export interface EndpointVerificationOptions {
  /** The name of the sender: a host name such as `billing.example.com`. Give the dispatcher the same as `requestOrigin`. */
  readonly origin: string
  /** Sends the handshake. Give the one of the dispatcher, or one with the same rules. */
  readonly transport: WebhookTransport["Service"]
}

/**
 * The URL has to be verified before the transaction that is under way, because no receiver may be waited for in it. Nothing
 * was stored or sent. Callers who begin the transaction themselves can verify the URL and set `VerifiedUrl`.
 */
export class UnverifiedUrl extends InvalidInput {
  readonly url: string

  constructor(url: string) {
    super({
      field: "url",
      problem:
        "can't be verified in a transaction, which must not wait for the endpoint: create or change the endpoint outside of it",
    })
    this.url = url
  }
}

/** The URL that was verified before the transaction. Only who has called `Endpoints.verifyUrl` with it sets it. */
export class VerifiedUrl extends Context.Reference<string | undefined>(
  "@billwright/core/webhooks/EndpointVerification/VerifiedUrl",
  { defaultValue: () => undefined },
) {}

/** What is wrong with an answer; `undefined` when it allows the sender. */
const problemOf = (response: WebhookResponse | undefined, origin: string): string | undefined => {
  if (response === undefined) return `it gave no answer within ${HANDSHAKE_MILLIS / 1_000} s`
  if (response._tag === "Failed") return `it gave no answer (${response.error})`
  const { headers, status } = response
  // An answer of another status may come from a server that gives the same headers to everybody.
  if (status < 200 || status > 299) return `it answered ${status}`
  const allowed = headers[ALLOWED_ORIGIN]
  if (allowed === undefined) return `it answered ${status} without this header`
  return allowed === ANY_ORIGIN || allowed.toLowerCase() === origin.toLowerCase()
    ? undefined
    : "it allowed another sender"
}

/**
 * Makes the check: one request, without redirects. It fails with an `InvalidInput` that says what the endpoint has to
 * answer. Throws a `TypeError` when the origin is not a host name.
 */
export const make = ({ origin, transport }: EndpointVerificationOptions) => {
  const wrong = problemOfOrigin(origin)
  if (wrong !== undefined) throw new TypeError(`origin ${wrong}`)
  return (url: string, mode: Mode): Effect.Effect<void, InvalidInput> =>
    transport
      .send({
        method: "OPTIONS",
        mode,
        url,
        // Without the endpoint's own headers: nothing is given to a receiver that has not agreed.
        headers: { "user-agent": DEFAULT_USER_AGENT, [REQUEST_ORIGIN]: origin },
        body: "",
      })
      .pipe(
        Effect.timeoutOrElse({ duration: HANDSHAKE_MILLIS, orElse: () => Effect.undefined }),
        Effect.flatMap((response) => {
          const problem = problemOf(response, origin)
          return problem === undefined
            ? Effect.void
            : new InvalidInput({
                field: "url",
                problem: `must agree to get webhooks: it has to answer the request OPTIONS with a 2xx and the header WebHook-Allowed-Origin: ${origin} (or *), and ${problem}`,
              })
        }),
        Effect.withSpan("Endpoints.verifyUrl"),
      )
}
