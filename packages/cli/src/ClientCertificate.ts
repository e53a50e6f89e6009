/**
 * The certificate that webhooks present to receivers that ask for one.
 */
import { open } from "node:fs/promises"
import { type ClientCertificate, PrivateFile } from "@billwright/node"
import { Config, Effect, Option } from "effect"
import { Flag } from "effect/cli"
import * as SecretVariable from "./SecretVariable.ts"
import { Misconfigured } from "./Store.ts"

const CERTIFICATE = "BILLWRIGHT_WEBHOOK_CLIENT_CERTIFICATE"
const KEY = "BILLWRIGHT_WEBHOOK_CLIENT_KEY"
const PASSPHRASE = "BILLWRIGHT_WEBHOOK_CLIENT_KEY_PASSPHRASE"

/** The largest file with a certificate and its chain that is read, in bytes. */
const MAX_CERTIFICATE_BYTES = 65_536

/** The path of a flag, or else of an environment variable. An empty one counts as not given. */
const path = (flag: string, variable: string, description: string) =>
  Flag.String(flag).pipe(
    Flag.withDescription(`${description} Default: ${variable}, or none.`),
    Flag.withFallbackConfig(Config.String(variable).pipe(Config.withDefault(""))),
    Flag.map((text) => Option.filter(Option.some(text), (given) => given !== "")),
  )

export const flags = {
  webhookClientCertificate: path(
    "webhook-client-certificate",
    CERTIFICATE,
    "A file with a certificate in PEM, followed by those of its chain, that webhooks present to receivers that ask for one (mutual TLS). Needs --webhook-client-key.",
  ),
  webhookClientKey: path(
    "webhook-client-key",
    KEY,
    `The file with the private key of --webhook-client-certificate in PEM, readable only by its owner. If it is encrypted, its passphrase is in ${PASSPHRASE}.`,
  ),
}

export interface ClientCertificateFlags {
  readonly webhookClientCertificate: Option.Option<string>
  readonly webhookClientKey: Option.Option<string>
}

/** Checks flags that are valid alone but not together. */
export const problemOf = ({
  webhookClientCertificate,
  webhookClientKey,
}: ClientCertificateFlags): string | undefined =>
  Option.isSome(webhookClientCertificate) === Option.isSome(webhookClientKey)
    ? undefined
    : "--webhook-client-certificate and --webhook-client-key need each other"

const readCertificate = (file: string): Effect.Effect<string, Misconfigured> =>
  Effect.tryPromise({
    try: async () => {
      const handle = await open(file)
      try {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_CERTIFICATE_BYTES + 1))
        if (bytesRead > MAX_CERTIFICATE_BYTES)
          throw new Error(`it is larger than ${MAX_CERTIFICATE_BYTES} bytes`)
        return buffer.toString("utf8", 0, bytesRead)
      } finally {
        await handle.close()
      }
    },
    catch: (cause) =>
      new Misconfigured({ message: `--webhook-client-certificate ${file}: ${(cause as Error).message}` }),
  })

/** The certificate of the files. It is checked by the transport. */
export const transportOptions = Effect.fnUntraced(function* ({
  webhookClientCertificate,
  webhookClientKey,
}: ClientCertificateFlags): Effect.fn.Return<
  { readonly clientCertificate?: ClientCertificate },
  Misconfigured | PrivateFile.PrivateFileError
> {
  if (Option.isNone(webhookClientCertificate) || Option.isNone(webhookClientKey)) return {}
  const certificate = yield* readCertificate(webhookClientCertificate.value)
  const key = yield* PrivateFile.read(webhookClientKey.value)
  const passphrase = yield* SecretVariable.read(PASSPHRASE)
  return {
    clientCertificate: {
      certificate,
      key,
      ...(Option.isSome(passphrase) ? { passphrase: passphrase.value } : {}),
    },
  }
})

/** The flags or variables of the parts, as the transport names them. */
export const NAMES: Readonly<Record<string, string>> = {
  "clientCertificate.certificate": "--webhook-client-certificate",
  "clientCertificate.key": "--webhook-client-key",
  "clientCertificate.passphrase": PASSPHRASE,
}
