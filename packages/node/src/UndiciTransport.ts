import { X509Certificate } from "node:crypto"
/**
 * The outgoing HTTP of webhooks on undici, with the network guard.
 *
 * URLs come from outside, so each request is one that a stranger makes from inside of this network. What keeps it
 * harmless: the URL is judged again when something is sent, its host is looked up once, one forbidden address
 * among the answers forbids them all, and the connection is made to what was judged. No redirect is followed, no
 * proxy variable is read, and the answer is bounded in time and size.
 */
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls"
import {
  ATTEMPT_DEADLINE_MILLIS,
  InvalidInput,
  NetworkAddress,
  type NetworkPolicyOptions,
  type WebhookRequest,
  type WebhookResponse,
  WebhookTransport,
} from "@billwright/core"
import { Effect, Layer, type Scope } from "effect"
import { Attempt } from "./Attempt.ts"
import { ConnectionPool } from "./ConnectionPool.ts"
import * as HostLookup from "./HostLookup.ts"
import * as Target from "./Target.ts"

/** The default of the most connections to one origin. */
export const DEFAULT_MAX_CONNECTIONS_PER_ORIGIN = 64
/** The default of the most idle connections in total. */
export const DEFAULT_MAX_IDLE_CONNECTIONS = 256
/** How long an idle connection is kept, in milliseconds, when the options don't say. Servers often keep theirs 5 s. */
export const DEFAULT_MAX_IDLE_MILLIS = 4_000
/** How old a connection may become that is in use all the time, in milliseconds, when the options don't say. */
export const DEFAULT_MAX_CONNECTION_AGE_MILLIS = 60_000

export interface UndiciTransportOptions {
  /** Which networks are opened beyond the public ones. Give `Endpoints` the same, so that URLs are judged alike. */
  readonly network?: NetworkPolicyOptions
  /**
   * Certificates in PEM, trusted beside the ones of Node (and those of `NODE_EXTRA_CA_CERTS`): for receivers with
   * a private authority.
   */
  readonly certificateAuthorities?: ReadonlyArray<string>
  /**
   * How host names are looked up. Default: by the hosts file, then by the system's name servers, then, for names
   * that these don't know, as the operating system does it (one name at a time); within 5 seconds, else the attempt
   * ends with `dns_error`. Name servers that are silent for one name keep no other one waiting.
   */
  readonly resolve?: HostLookup.Resolve
  /** One deadline over look-up, connection, TLS, headers and body, in real milliseconds. Default 15 s. */
  readonly deadlineMillis?: number
  /** Default 64. Requests beyond wait for a connection, within their deadline. */
  readonly maxConnectionsPerOrigin?: number
  /** Of all origins; beyond, the one that is idle longest is closed. Default 256. */
  readonly maxIdleConnections?: number
  /** Default 4 s. A shorter time that the receiver asks for by `Keep-Alive` is kept to. */
  readonly maxIdleMillis?: number
  /** Default 60 s. 0 makes a connection for each request. */
  readonly maxConnectionAgeMillis?: number
}

const secureContextOf = (
  certificateAuthorities: ReadonlyArray<string> = [],
): Effect.Effect<SecureContext, InvalidInput> =>
  Effect.gen(function* () {
    for (const [index, pem] of certificateAuthorities.entries()) {
      // Checked here, since a context takes text without a certificate without a word.
      yield* Effect.try({
        try: () => new X509Certificate(pem),
        catch: () =>
          new InvalidInput({
            field: `certificateAuthorities[${index}]`,
            problem: "must be a certificate in PEM",
          }),
      })
    }
    // Made once: reading all authorities takes milliseconds.
    return createSecureContext(
      certificateAuthorities.length === 0
        ? {}
        : { ca: [...getCACertificates("default"), ...certificateAuthorities] },
    )
  })

const acquirePool = Effect.fnUntraced(function* (
  options: UndiciTransportOptions,
  policy: NetworkAddress.NetworkPolicy,
): Effect.fn.Return<ConnectionPool, InvalidInput, Scope.Scope> {
  const secureContext = yield* secureContextOf(options.certificateAuthorities)
  const resolve = options.resolve === undefined ? HostLookup.make() : HostLookup.shared(options.resolve)
  return yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new ConnectionPool({
          connector: { policy, resolve, secureContext },
          maxConnectionsPerOrigin: options.maxConnectionsPerOrigin ?? DEFAULT_MAX_CONNECTIONS_PER_ORIGIN,
          maxIdleConnections: options.maxIdleConnections ?? DEFAULT_MAX_IDLE_CONNECTIONS,
          maxIdleMillis: options.maxIdleMillis ?? DEFAULT_MAX_IDLE_MILLIS,
          maxConnectionAgeMillis: options.maxConnectionAgeMillis ?? DEFAULT_MAX_CONNECTION_AGE_MILLIS,
        }),
    ),
    (pool) => Effect.sync(() => pool.close()),
  )
})

const make = Effect.fnUntraced(function* (
  options: UndiciTransportOptions,
): Effect.fn.Return<WebhookTransport["Service"], InvalidInput, Scope.Scope> {
  const policy = yield* Effect.mapError(
    NetworkAddress.makePolicy(options.network),
    ({ field, problem }) => new InvalidInput({ field: `network.${field}`, problem }),
  )
  const pool = yield* acquirePool(options, policy)
  const deadlineMillis = options.deadlineMillis ?? ATTEMPT_DEADLINE_MILLIS
  const targetOf = Target.judge(policy)

  const send = (request: WebhookRequest): Effect.Effect<WebhookResponse> =>
    Effect.callback((resume) => {
      const target = targetOf(request.url, request.mode)
      if (target === undefined) {
        resume(Effect.succeed({ _tag: "Failed", error: "blocked_address" }))
        return undefined
      }
      const attempt = new Attempt(pool, target, request, deadlineMillis, (response) =>
        resume(Effect.succeed(response)),
      )
      return Effect.sync(() => attempt.cancel())
    })

  return WebhookTransport.of({ send })
})

/**
 * Sends webhooks over HTTP/1.1, with connections that are kept and ended with the layer's scope; what is under way
 * then fails with `reset`.
 *
 * A URL that its mode forbids is `blocked_address`, as is a host of which any address is forbidden. A header of the
 * request that HTTP can't carry is `bad_response`: nothing is sent. Headers that belong to the connection, and
 * `accept-encoding`, are the transport's own; given ones are left out.
 *
 * A request is sent a second time only when its kept connection turns out to have ended before a byte of it was
 * written; when it ends later, the result is `reset` and the receiver may have seen it.
 *
 * Fails with `InvalidInput` when a network or a certificate of the options is none.
 */
export const layer = (options: UndiciTransportOptions = {}): Layer.Layer<WebhookTransport, InvalidInput> =>
  Layer.effect(WebhookTransport, make(options))
