/**
 * The certificate by which the sender of webhooks shows receivers who it is (mutual TLS).
 */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto"
import { createSecureContext, type SecureContextOptions } from "node:tls"
import { InvalidInput } from "@billwright/core"
import { Clock, Effect, Redacted } from "effect"

/** How long before its expiry warnings about a certificate begin: 30 days. */
const WARNING_MILLIS = 30 * 86_400_000
/** The shortest pause between two warnings: a day. */
const WARNING_PAUSE_MILLIS = 86_400_000

export interface ClientCertificate {
  /** The certificate in PEM. Those of its chain follow it, without the root. */
  readonly certificate: string
  /** Its private key in PEM. */
  readonly key: Redacted.Redacted<string>
  /** Opens the key if it is encrypted. */
  readonly passphrase?: Redacted.Redacted<string>
}

// The causes are left out, because messages must not repeat keys.
const invalid = (part: keyof ClientCertificate, problem: string) =>
  new InvalidInput({ field: `clientCertificate.${part}`, problem })

const readCertificate = ({ certificate }: ClientCertificate): Effect.Effect<X509Certificate, InvalidInput> =>
  Effect.try({
    try: () => new X509Certificate(certificate),
    catch: () => invalid("certificate", "must be a certificate in PEM, followed by those of its chain"),
  })

const readKey = ({ key, passphrase }: ClientCertificate): Effect.Effect<KeyObject, InvalidInput> =>
  Effect.try({
    try: () =>
      createPrivateKey({
        key: Redacted.value(key),
        ...(passphrase === undefined ? {} : { passphrase: Redacted.value(passphrase) }),
      }),
    catch: () =>
      Redacted.value(key).includes("ENCRYPTED")
        ? invalid("passphrase", "must be the one that opens the key")
        : invalid("key", "must be a private key in PEM"),
  })

const problemOfTime = ({ validFromDate, validToDate }: X509Certificate, now: number): string | undefined => {
  if (now > validToDate.getTime())
    return `must not be expired: it was valid until ${validToDate.toISOString()}`
  return now < validFromDate.getTime()
    ? `must be valid already: it is valid from ${validFromDate.toISOString()}`
    : undefined
}

/** Whether TLS takes all of it. It reads the whole chain, and refuses keys that are too short. */
const checkChain = (options: SecureContextOptions) =>
  Effect.try({
    try: () => createSecureContext(options),
    catch: () =>
      invalid(
        "certificate",
        "must be accepted by TLS: something is wrong in its chain, or its key is too short",
      ),
  })

/**
 * Warns of the expiry when that is less than 30 days away or has passed, once a day at most. It does nothing at other
 * times, so it can be run before each request.
 */
const reminder = ({ validToDate }: X509Certificate): Effect.Effect<void> => {
  let next = validToDate.getTime() - WARNING_MILLIS
  return Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (now < next) return Effect.void
    next = now + WARNING_PAUSE_MILLIS
    const expires = now < validToDate.getTime() ? "expires" : "has expired"
    return Effect.logWarning(
      `the client certificate of webhooks ${expires} at ${validToDate.toISOString()}: receivers that ask for it will refuse webhooks until it is replaced`,
    )
  })
}

/** What TLS needs to present a certificate, and its `reminder`, if there is one. */
export interface Presented {
  readonly options: SecureContextOptions
  readonly remind: Effect.Effect<void> | undefined
}

const nothing: Presented = { options: {}, remind: undefined }

/** Checks a certificate: its form, its key, and that it is valid now. Fails with an `InvalidInput` that names the part. */
export const present = Effect.fnUntraced(function* (
  given: ClientCertificate | undefined,
): Effect.fn.Return<Presented, InvalidInput> {
  if (given === undefined) return nothing
  const certificate = yield* readCertificate(given)
  const key = yield* readKey(given)
  if (!certificate.checkPrivateKey(key)) {
    return yield* invalid("key", "must be the private key of the certificate")
  }
  const problem = problemOfTime(certificate, yield* Clock.currentTimeMillis)
  if (problem !== undefined) return yield* invalid("certificate", problem)
  const { passphrase } = given
  const options = {
    cert: given.certificate,
    key: Redacted.value(given.key),
    ...(passphrase === undefined ? {} : { passphrase: Redacted.value(passphrase) }),
  }
  yield* checkChain(options)
  return { options, remind: reminder(certificate) }
})
