import { X509Certificate } from "node:crypto"
/**
 * Sends webhooks over HTTP, with the network guard. Answers that are not ordinary are read by undici.
 *
 * Customers choose the URLs, so each request goes from inside this network to an address that a stranger chose. These
 * rules protect the network: The URL is checked again for each request. Its host is looked up once for each connection.
 * If one of its addresses is forbidden, all are. The connection goes to a checked address, also through a proxy. Redirects
 * are not followed, environment variables for proxies are ignored, and the answer is limited in time and size.
 */
import { createSecureContext, getCACertificates, type SecureContextOptions } from "node:tls"
import {
  ATTEMPT_DEADLINE_MILLIS,
  InvalidInput,
  NetworkAddress,
  type NetworkPolicyOptions,
  OutageLog,
  type WebhookRequest,
  type WebhookResponse,
  WebhookTransport,
} from "@billwright/core"
import { Effect, Layer, type Redacted, Scope } from "effect"
import * as ClientCertificate from "./ClientCertificate.ts"
import type { PoolSettings } from "./ConnectionPool.ts"
import * as HostLookup from "./HostLookup.ts"
import * as ProxyServer from "./ProxyServer.ts"
import type { TunnelSettings } from "./ProxyTunnel.ts"
import * as Target from "./Target.ts"

/**
 * The default of the most connections to one origin: as many as a dispatcher has attempts under way by default. Many accounts
 * may have endpoints at one origin, such as that of an automation service. With fewer connections, one account whose endpoints
 * there hang would leave none to the others. The dispatcher limits the attempts of each account.
 */
export const DEFAULT_MAX_CONNECTIONS_PER_ORIGIN = 512
/** The default of the most idle connections in total. */
export const DEFAULT_MAX_IDLE_CONNECTIONS = 256
/** The default of how long an idle connection is kept, in milliseconds. Many servers close theirs after 5 s. */
export const DEFAULT_MAX_IDLE_MILLIS = 4_000
/** The default of how old a connection may become, in milliseconds. */
export const DEFAULT_MAX_CONNECTION_AGE_MILLIS = 60_000
/** The part of an attempt's deadline in which the proxy must be reached: a third, 5 s by default. */
const REACH_PROXY_PART = 1 / 3

export interface UndiciTransportOptions {
  /** Networks that are allowed in addition to public ones. Give `Endpoints` the same, so that both check URLs alike. */
  readonly network?: NetworkPolicyOptions
  /**
   * Certificates in PEM that are trusted in addition to those of Node (and of `NODE_EXTRA_CA_CERTS`), for receivers
   * with a private certificate authority.
   */
  readonly certificateAuthorities?: ReadonlyArray<string>
  /**
   * An HTTP proxy for all webhooks, for a fixed address that they come from: `http://user:password@host:port`, or `https`
   * for TLS with the proxy. Its certificate may be of one of the `certificateAuthorities`. The proxy is asked by CONNECT
   * for an address that was looked up and checked here, and TLS is with the receiver, so the proxy sees no content of
   * `https`. The proxy itself may have any address. Default: none.
   */
  readonly proxy?: Redacted.Redacted<string>
  /**
   * A certificate that is presented to receivers that ask for one (mutual TLS). Others see nothing of it, and neither does
   * the proxy. It must be valid now. When less than 30 days of it are left, a warning is logged each day. Default: none.
   */
  readonly clientCertificate?: ClientCertificate.ClientCertificate
  /**
   * Looks up host names. Default: first by the hosts file, then by the system's name servers, and then, for names that
   * these don't know, by the operating system (one name at a time). A look-up may take 5 seconds; then the attempt ends
   * with `dns_error`. A name whose name servers are silent doesn't delay other names.
   */
  readonly resolve?: HostLookup.Resolve
  /** One deadline for look-up, connection, TLS, headers and body together, in real milliseconds. Default: 15 s. */
  readonly deadlineMillis?: number
  /** The most connections to one origin. Further requests wait, within their deadline. Default: 512. */
  readonly maxConnectionsPerOrigin?: number
  /** The most idle connections to all origins. When there are more, the longest idle one is closed. Default: 256. */
  readonly maxIdleConnections?: number
  /** How long an idle connection is kept, in milliseconds, or shorter if the receiver says so. Default: 4 s. */
  readonly maxIdleMillis?: number
  /** The highest age of a connection, in milliseconds. 0 opens a connection for each request. Default: 60 s. */
  readonly maxConnectionAgeMillis?: number
}

/** What TLS needs to trust the certificate authorities of Node and those of the options. */
const trustOf = ({
  certificateAuthorities = [],
}: UndiciTransportOptions): Effect.Effect<SecureContextOptions, InvalidInput> =>
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
    return certificateAuthorities.length === 0
      ? {}
      : { ca: [...getCACertificates("default"), ...certificateAuthorities] }
  })

/** Reads the option `proxy`, and logs outages of the proxy. */
const tunnelsOf = Effect.fnUntraced(function* (
  { proxy }: UndiciTransportOptions,
  trust: SecureContextOptions,
  settings: Pick<TunnelSettings, "reachMillis" | "resolve">,
): Effect.fn.Return<TunnelSettings | undefined, InvalidInput> {
  if (proxy === undefined) return undefined
  const server = yield* Effect.fromResult(ProxyServer.parse(proxy))
  const outage = OutageLog.make("webhooks go through the proxy again")
  const run = Effect.runForkWith(yield* Effect.context<never>())
  return {
    ...settings,
    server,
    secureContext: createSecureContext(trust),
    report: (problem) =>
      void run(
        problem === undefined
          ? outage.worked
          : outage.failed("webhooks can't be sent, because the proxy fails", problem),
      ),
  }
})

const settingsOf = Effect.fnUntraced(function* (
  options: UndiciTransportOptions,
  policy: NetworkAddress.NetworkPolicy,
  deadlineMillis: number,
  presented: SecureContextOptions,
): Effect.fn.Return<PoolSettings, InvalidInput> {
  const trust = yield* trustOf(options)
  // Made once, because reading all certificate authorities takes milliseconds.
  const secureContext = createSecureContext({ ...trust, ...presented })
  const resolve = options.resolve === undefined ? HostLookup.make() : HostLookup.shared(options.resolve)
  const proxy = yield* tunnelsOf(options, trust, {
    reachMillis: Math.round(deadlineMillis * REACH_PROXY_PART),
    resolve,
  })
  return {
    connector: { policy, resolve, secureContext, proxy },
    maxConnectionsPerOrigin: options.maxConnectionsPerOrigin ?? DEFAULT_MAX_CONNECTIONS_PER_ORIGIN,
    maxIdleConnections: options.maxIdleConnections ?? DEFAULT_MAX_IDLE_CONNECTIONS,
    maxIdleMillis: options.maxIdleMillis ?? DEFAULT_MAX_IDLE_MILLIS,
    maxConnectionAgeMillis: options.maxConnectionAgeMillis ?? DEFAULT_MAX_CONNECTION_AGE_MILLIS,
  }
})

/**
 * What sends requests, until the scope closes. It is loaded for the first request: undici takes several megabytes and a part of
 * the start, and a process without endpoints sends nothing. Not to be interrupted, because all requests share the result.
 */
const senderOf = (settings: PoolSettings, scope: Scope.Scope) =>
  Effect.gen(function* () {
    const [{ Attempt }, { ConnectionPool }] = yield* Effect.promise(() =>
      Promise.all([import("./Attempt.ts"), import("./ConnectionPool.ts")]),
    )
    const pool = new ConnectionPool(settings)
    yield* Scope.addFinalizer(
      scope,
      Effect.sync(() => pool.close()),
    )
    return { Attempt, pool }
  }).pipe(Effect.uninterruptible, Effect.cached)

type Sender = Effect.Success<Effect.Success<ReturnType<typeof senderOf>>>

const make = Effect.fnUntraced(function* (
  options: UndiciTransportOptions,
): Effect.fn.Return<WebhookTransport["Service"], InvalidInput, Scope.Scope> {
  const policy = yield* Effect.mapError(
    NetworkAddress.makePolicy(options.network),
    ({ field, problem }) => new InvalidInput({ field: `network.${field}`, problem }),
  )
  const deadlineMillis = options.deadlineMillis ?? ATTEMPT_DEADLINE_MILLIS
  const client = yield* ClientCertificate.present(options.clientCertificate)
  yield* client.remind ?? Effect.void
  const settings = yield* settingsOf(options, policy, deadlineMillis, client.options)
  let loaded: Sender | undefined // so that only the first request waits for it
  const sender = Effect.tap(yield* senderOf(settings, yield* Effect.scope), (made) =>
    Effect.sync(() => {
      loaded = made
    }),
  )
  const targetOf = Target.judge(policy)

  const send = (request: WebhookRequest): Effect.Effect<WebhookResponse> => {
    const target = targetOf(request.url, request.mode)
    if (target === undefined) return Effect.succeed({ _tag: "Failed", error: "blocked_address" })
    const by = ({ Attempt, pool }: Sender): Effect.Effect<WebhookResponse> =>
      Effect.callback((resume) => {
        const attempt = new Attempt(pool, target, request, deadlineMillis, (response) =>
          resume(Effect.succeed(response)),
        )
        return Effect.sync(() => attempt.cancel())
      })
    return loaded === undefined ? Effect.flatMap(sender, by) : by(loaded)
  }

  return WebhookTransport.of({
    send: client.remind === undefined ? send : (request) => Effect.andThen(client.remind!, send(request)),
  })
})

/**
 * Sends webhooks over HTTP/1.1. Connections are kept for further requests, and end with the layer's scope. Running
 * requests then fail with `reset`. An answer with a `content-length` takes the least time, because undici reads all others
 * (chunks, for example).
 *
 * The result is `blocked_address` if the mode forbids the URL or if any address of its host is forbidden. It is
 * `bad_response` if the request has a header that HTTP can't carry; then nothing is sent. It is `proxy_error` if the proxy
 * can't be reached within a third of the deadline, refuses (407, 403, …), or answers no HTTP. What it says of the receiver is about the
 * receiver: 502 and 503 are `connection_refused` and 504 is `timeout`, when the proxy answers so for all addresses. The transport sets the headers
 * of the connection and `accept-encoding` itself, and ignores given ones.
 *
 * A request is sent a second time only if its reused connection had ended before a byte of the request was written. If
 * the connection ends later, the result is `reset`, and the receiver may have seen the request.
 *
 * Fails with `InvalidInput` if a network, a certificate, a key or the proxy of the options is invalid.
 */
export const layer = (options: UndiciTransportOptions = {}): Layer.Layer<WebhookTransport, InvalidInput> =>
  Layer.effect(WebhookTransport, make(options))
