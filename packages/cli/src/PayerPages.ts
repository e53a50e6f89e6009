/**
 * The pages for payers of a server: where they are, which keys sign the links to them, and how they look.
 */
import { readFile } from "node:fs/promises"
import { type Billing, checkPagesUrl, generateKey } from "@billwright/core"
import { Dashboard } from "@billwright/dashboard"
import type { Server } from "@billwright/http"
import { NodeHandler } from "@billwright/http/node"
import { PayerPages } from "@billwright/http/payer"
import { Config, Effect, Option } from "effect"
import { Flag } from "effect/cli"
import * as Encryption from "./Encryption.ts"
import { Misconfigured } from "./Store.ts"

const VARIABLE = "BILLWRIGHT_PAYER_LINK_KEYS"
/** The file in the data directory of an embedded Postgres. */
const KEY_FILE = "payer-links.keys"
/** What the server has at other paths: their first segments. */
const TAKEN = new Set<string>([
  "",
  "v1",
  "docs",
  "openapi.json",
  "health",
  "metrics",
  "assets",
  ".well-known",
  "payment_providers",
  ...Dashboard.SECTIONS,
])

export const flags = {
  payerPages: Flag.String("payer-pages").pipe(
    Flag.withDescription(
      "Serve pages for payers: invoices and customer accounts by signed links. Their address as browsers see it, such as https://shop.example/pay. The server serves its path. Default: BILLWRIGHT_PAYER_PAGES, or none.",
    ),
    Flag.withFallbackConfig(Config.String("BILLWRIGHT_PAYER_PAGES").pipe(Config.withDefault(""))),
    // An empty variable counts as not set.
    Flag.map((text) => Option.liftPredicate(text.trim(), (url) => url !== "")),
  ),
  payerTheme: Flag.String("payer-theme").pipe(
    Flag.withDescription(
      "With --payer-pages: a JSON file with your colours and logo (theme), and what payers may do (allow). Default: none.",
    ),
    Flag.optional,
  ),
}

export interface PayerPageFlags {
  readonly payerPages: Option.Option<string>
  readonly payerTheme: Option.Option<string>
}

/** Checks flags that are valid alone but not together. */
export const problemOf = ({ payerPages, payerTheme }: PayerPageFlags): string | undefined =>
  Option.isSome(payerTheme) && Option.isNone(payerPages) ? "--payer-theme needs --payer-pages" : undefined

const misconfigured = (message: string) => new Misconfigured({ message })

/** Does what throws a `TypeError` with the name of an option, and says which flag that is. */
const orMisconfigured = <A>(flag: string, work: () => A): Effect.Effect<A, Misconfigured> =>
  Effect.try({ try: work, catch: (cause) => misconfigured(`${flag}: ${(cause as Error).message}`) })

/** The path of the pages. It may not hide what else the server serves. */
const pathOf = Effect.fnUntraced(function* (url: string) {
  const { pathname } = new URL(yield* orMisconfigured("--payer-pages", () => checkPagesUrl(url)))
  const [, first = ""] = pathname.split("/")
  if (TAKEN.has(first)) {
    const problem = `must have a path of its own, such as /pay: the server has something else at /${first}`
    return yield* misconfigured(`--payer-pages: ${url} ${problem}`)
  }
  return pathname
})

const missing = misconfigured(
  `--payer-pages with --store postgres needs keys that sign links: run "billwright keys new-encryption-key", ` +
    `set the environment variable ${VARIABLE} to what it prints, in every process, and keep that as safe as a password`,
)

/** The keys of the environment variable, or else of a file in the data directory, or else a key of this process. */
const keysOf = Effect.fnUntraced(function* ({ dataDir, store }: Encryption.EncryptionOptions) {
  const given = yield* Encryption.fromEnvironment(VARIABLE)
  if (Option.isSome(given)) return given.value
  if (store === "memory") return generateKey("key_1")
  return store === "embedded" ? yield* Encryption.fromFile(dataDir, KEY_FILE) : yield* missing
})

/** The options of the services that make and open links. */
export const billingOptions = Effect.fnUntraced(function* (
  options: Encryption.EncryptionOptions & PayerPageFlags,
): Effect.fn.Return<Pick<Billing.BillingOptions, "payerPages">, Encryption.EncryptionFailure> {
  if (Option.isNone(options.payerPages)) return {}
  const url = options.payerPages.value
  yield* pathOf(url)
  return { payerPages: { url, keys: yield* keysOf(options) } }
})

const readTheme = Effect.fnUntraced(function* (path: string) {
  const text = yield* Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (cause) => misconfigured(`--payer-theme: ${path} can't be read: ${(cause as Error).message}`),
  })
  return yield* orMisconfigured(`--payer-theme ${path}`, () => {
    const read = JSON.parse(text) as PayerPages.PayerPageOptions
    PayerPages.checkPayerPages(read)
    return read
  })
})

/** Serves the pages below their path, and passes other requests on. */
export const serving = Effect.fnUntraced(function* (
  { payerPages, payerTheme }: PayerPageFlags,
  { rateLimit, trustedProxies }: Server.ServerOptions,
  rest: NodeHandler.NodeHandler,
) {
  if (Option.isNone(payerPages)) return rest
  const path = yield* pathOf(payerPages.value)
  const look = Option.isSome(payerTheme) ? yield* readTheme(payerTheme.value) : {}
  const made = PayerPages.make({
    ...look,
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(trustedProxies === undefined ? {} : { trustedProxies }),
  })
  const pages = yield* Effect.orDie(made)
  const handler = NodeHandler.make(pages, yield* Effect.context<never>(), { basePath: path })
  return ((request, response) => {
    const url = request.url ?? "/"
    return url.startsWith(`${path}/`) ? handler(request, response) : rest(request, response)
  }) satisfies NodeHandler.NodeHandler
})
