import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
/** Connections with TLS, to a server with a self-signed certificate. */
import { PostgresClient } from "@billwright/postgres"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { userFor } from "../src/embedded/ProcessUser.ts"

/** Self-signed for 127.0.0.1, from 2020 to 2119, by `openssl ca -selfsign`. */
const CERTIFICATE = [
  "MIIBaTCCAQ6gAwIBAgIBATAKBggqhkjOPQQDAjAaMRgwFgYDVQQDDA9iaWxsd3JpZ2h0LXRlc3QwIBcNMjAwMTAxMDAwMDAwWhgP",
  "MjEyMDAxMDEwMDAwMDBaMBoxGDAWBgNVBAMMD2JpbGx3cmlnaHQtdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKnmF8so",
  "dZQWRuWkdNr31RZNF0zRlBiDaee8GSyjQYniD0N73Uc/ucn11vYzmrnoftDMeWHyyUBaBz/2yyRUYwmjQzBBMA8GA1UdEQQIMAaH",
  "BH8AAAEwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQU1FQBXn64voBUDnlDFp+jfVMthEMwCgYIKoZIzj0EAwIDSQAwRgIhALNx",
  "UJ7vKoPhYMJcO9TlLFbH3S9aP+3huKHoQwNiKuywAiEAuI+hCSa2hwZQF65Vcik2u5lMCYsczLQ2vBgQEKFCnxk=",
].join("")
const KEY = [
  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLs+CH20LeHXGftJvyhmMlYn6FOrK/QP5YBP4LD+GzROhRANCAASp",
  "5hfLKHWUFkblpHTa99UWTRdM0ZQYg2nnvBkso0GJ4g9De91HP7nJ9db2M5q56H7QzHlh8slAWgc/9sskVGMJ",
].join("")

const pem = (kind: string, base64: string): string =>
  `-----BEGIN ${kind}-----\n${base64.replaceAll(/.{64}/g, "$&\n")}\n-----END ${kind}-----\n`

const ca = pem("CERTIFICATE", CERTIFICATE)

/** A server that offers TLS. Returns its URL. */
const server = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "billwright-tls-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true })),
  )
  const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")]
  const user = yield* Effect.promise(() => userFor(folder))
  chmodSync(folder, 0o711) // for root, whose Postgres runs as another user
  writeFileSync(certFile, ca)
  writeFileSync(keyFile, pem(["PRIVATE", "KEY"].join(" "), KEY), { mode: 0o600 })
  if (user.id !== undefined) chownSync(keyFile, user.id.uid, user.id.gid)
  const settings = { ssl: "on", ssl_cert_file: certFile, ssl_key_file: keyFile }
  const { url } = yield* EmbeddedPostgres.start({ directory: join(folder, "data"), settings })
  return Redacted.value(url)
})

const isEncrypted = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ ssl: boolean }>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`
  return row!.ssl
})

it.live(
  "TLS is used if the URL asks for it, and verifies the server's certificate",
  () =>
    Effect.gen(function* () {
      const url = yield* server
      const connect = (mode: string, options: Partial<PostgresClient.ClientOptions> = {}) =>
        Effect.provide(
          isEncrypted,
          PostgresClient.layer({ url: Redacted.make(`${url}?sslmode=${mode}`), ...options }),
        )
      assert.isFalse(yield* connect("disable"))
      assert.isTrue(yield* connect("require", { ssl: { ca } }))
      assert.isTrue(yield* connect("prefer", { ssl: { ca } }))
      for (const mode of ["require", "prefer"]) {
        const error = yield* Effect.flip(connect(mode))
        assert.match(inspect(error), /self-signed certificate/)
      }
      const environment = { DATABASE_URL: `${url}?sslmode=require`, DATABASE_CA: ca }
      const configured = Layer.provide(
        PostgresClient.layerConfig,
        ConfigProvider.layer(ConfigProvider.fromUnknown(environment)),
      )
      assert.isTrue(yield* Effect.provide(isEncrypted, configured))
    }).pipe(Effect.scoped),
  60_000,
)
