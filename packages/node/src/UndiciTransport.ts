import { X509Certificate } from "node:crypto"
/**
 * Sends webhooks over HTTP by undici, with the network guard.
 *
 * Customers choose the URLs, so each request goes from inside this network to an address that a stranger chose. These
 * rules protect the network: The URL is checked again for each request. Its host is looked up once for each connection.
 * If one of its addresses is forbidden, all are. The connection goes to a checked address. Redirects are not followed,
 * environment variables for proxies are ignored, and the answer is limited in time and size.
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
/** The default of how long an idle connection is kept, in milliseconds. Many servers close theirs after 5 s. */
export const DEFAULT_MAX_IDLE_MILLIS = 4_000
/** The default of how old a connection may become, in milliseconds. */
export const DEFAULT_MAX_CONNECTION_AGE_MILLIS = 60_000

export interface UndiciTransportOptions {
  /** Networks that are allowed in addition to public ones. Give `Endpoints` the same, so that both check URLs alike. */
  readonly network?: NetworkPolicyOptions
  /**
   * Certificates in PEM that are trusted in addition to those of Node (and of `NODE_EXTRA_CA_CERTS`), for receivers
   * with a private certificate authority.
   */
  readonly certificateAuthorities?: ReadonlyArray<string>
  /**
   * Looks up host names. Default: first by the hosts file, then by the system's name servers, and then, for names that
   * these don't know, by the operating system (one name at a time). A look-up may take 5 seconds; then the attempt ends
   * with `dns_error`. A name whose name servers are silent doesn't delay other names.
   */
  readonly resolve?: HostLookup.Resolve
  /** One deadline for look-up, connection, TLS, headers and body together, in real milliseconds. Default: 15 s. */
  readonly deadlineMillis?: number
  /** The most connections to one origin. Further requests wait, within their deadline. Default: 64. */
  readonly maxConnectionsPerOrigin?: number
  /** The most idle connections to all origins. When there are more, the longest idle one is closed. Default: 256. */
  readonly maxIdleConnections?: number
  /** How long an idle connection is kept, in milliseconds, or shorter if the receiver says so. Default: 4 s. */
  readonly maxIdleMillis?: number
  /** The highest age of a connection, in milliseconds. 0 opens a connection for each request. Default: 60 s. */
  readonly maxConnectionAgeMillis?: number
}

const secureContextOf = (
  certificateAuthorities: ReadonlyArray<string> = [],
): Effect.Effect<SecureContext, InvalidInput> =>
  Effect.gen(function* () {
    for (const [index, pem] of certificateAuthorities.entries()) {
      // Checked here, because `createSecureContext` accepts text without a certificate silently.
      yield* Effect.try({
        try: () => new X509Certificate(pem),
        catch: () =>
          new InvalidInput({
            field: `certificateAuthorities[${index}]`,
            problem: "must be a certificate in PEM",
          }),
      })
    }
    // Made once, because reading all certificate authorities takes milliseconds.
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
 * Sends webhooks over HTTP/1.1. Connections are kept for further requests, and end with the layer's scope. Running
 * requests then fail with `reset`.
 *
 * The result is `blocked_address` if the mode forbids the URL or if any address of its host is forbidden. It is
 * `bad_response` if the request has a header that HTTP can't carry; then nothing is sent. The transport sets the headers
 * of the connection and `accept-encoding` itself, and ignores given ones.
 *
 * A request is sent a second time only if its reused connection had ended before a byte of the request was written. If
 * the connection ends later, the result is `reset`, and the receiver may have seen the request.
 *
 * Fails with `InvalidInput` if a network or a certificate of the options is invalid.
 */
export const layer = (options: UndiciTransportOptions = {}): Layer.Layer<WebhookTransport, InvalidInput> =>
  Layer.effect(WebhookTransport, make(options))
