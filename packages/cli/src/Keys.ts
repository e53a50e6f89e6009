/**
 * `billwright keys`: issues, lists, rolls and revokes API keys, and manages the keys that encrypt webhook secrets.
 */
import { ApiKey, ApiKeys, Billing, CurrentTenant, type IssuedApiKey, type Tenant } from "@billwright/core"
import { Console, DateTime, Effect, Layer, Option, Redacted, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { newEncryptionKey, rotateEncryption } from "./EncryptionKeys.ts"
import type { Failure } from "./Failure.ts"
import * as Moment from "./Moment.ts"
import { keyOptions, type PepperOptions, pepperFile } from "./Pepper.ts"
import * as Store from "./Store.ts"
import { account, json, mode } from "./TenantFlags.ts"

const HOUR_MILLIS = 3_600_000

const tenantFlags = { ...Store.databaseFlags, pepperFile, account, mode, json }

interface TenantOptions extends Store.DatabaseOptions, PepperOptions {
  readonly account: Tenant.AccountId
  readonly mode: Tenant.Mode
}

/** Runs an effect for the tenant, on the store of the options. */
const acting = <A>(
  options: TenantOptions,
  effect: Effect.Effect<A, Failure, ApiKeys | CurrentTenant>,
): Effect.Effect<A, Failure> =>
  effect.pipe(
    Effect.provideService(CurrentTenant, { accountId: options.account, mode: options.mode }),
    Effect.provide(services(options)),
  )

const services = (options: TenantOptions): Layer.Layer<ApiKeys, Failure> =>
  Layer.unwrap(
    Effect.map(keyOptions(options), (keys) =>
      Billing.layerWith({ keys }).pipe(Layer.provide(Store.layerBeside(options))),
    ),
  )

const instant = (value: DateTime.Utc | null): string | null =>
  value === null ? null : DateTime.formatIso(value)

const toJson = (key: ApiKey.ApiKey) => ({
  id: key.id,
  name: key.name,
  mode: key.mode,
  account: key.accountId,
  scopes: key.scopes,
  networks: key.networks,
  credit_limits: Object.fromEntries(
    Object.entries(key.creditLimits).map(([unit, limit]) => [unit, `${limit}`]),
  ),
  hint: key.hint,
  created_at: instant(key.createdAt),
  expires_at: instant(key.expiresAt),
  revoked_at: instant(key.revokedAt),
  last_used_at: instant(key.lastUsedAt),
})

const stateOf = (key: ApiKey.ApiKey, now: DateTime.Utc): string => {
  if (key.revokedAt !== null) return "revoked"
  return ApiKey.isValidAt(key, now.epochMilliseconds) ? "valid" : "expired"
}

const line = (key: ApiKey.ApiKey, now: DateTime.Utc): string =>
  [
    key.id,
    `…${key.hint}`,
    stateOf(key, now).padEnd(7),
    key.scopes.length === 0 ? "all scopes" : key.scopes.join(","),
    ...(key.networks.length === 0 ? [] : [`from ${key.networks.join(",")}`]),
    ...(key.expiresAt === null ? [] : [`expires ${DateTime.formatIso(key.expiresAt)}`]),
    key.lastUsedAt === null ? "never used" : `used ${DateTime.formatIso(key.lastUsedAt)}`,
    key.name,
  ].join("  ")

const untilOf = ({ expiresAt: until }: ApiKey.ApiKey): string =>
  until === null ? "" : ` It is valid until ${DateTime.formatIso(until)}.`

const printIssued = ({ key, secret }: IssuedApiKey, asJson: boolean) =>
  Console.log(
    asJson
      ? JSON.stringify({ ...toJson(key), secret: Redacted.value(secret) }, undefined, 2)
      : `${key.mode} key  ${Redacted.value(secret)}\nSave it now: it is not shown again. Its id is ${key.id}.${untilOf(key)}`,
  )

const id = Argument.String("id").pipe(Argument.withDescription("The id of the key: key_…"))

const expiresIn = Flag.String("expires-in").pipe(
  Flag.withDescription("How long the key is valid: 12h, 30d. Default: until it is revoked."),
  Flag.optional,
)

const expiresAt = Flag.String("expires-at").pipe(
  Flag.withDescription("When the key expires: an instant such as 2026-12-31T00:00:00Z."),
  Flag.optional,
)

interface ExpiryOptions {
  readonly expiresIn: Option.Option<string>
  readonly expiresAt: Option.Option<string>
}

const expiryOf = Effect.fnUntraced(function* (options: ExpiryOptions) {
  if (Option.isSome(options.expiresIn) && Option.isSome(options.expiresAt)) {
    return yield* new Store.Misconfigured({
      message: "--expires-in and --expires-at can't be used together: give one of them",
    })
  }
  if (Option.isSome(options.expiresIn)) {
    return { expiresAt: yield* Moment.fromNow("expires-in", options.expiresIn.value) }
  }
  if (Option.isNone(options.expiresAt)) return {}
  return { expiresAt: yield* Moment.instant("expires-at", options.expiresAt.value) }
})

const LIMIT = /^([A-Za-z][A-Za-z0-9_]*)=([0-9]{1,31})$/

/** Reads `EUR=5000`. The rest is checked where the key is issued. */
const limitsOf = Effect.fnUntraced(function* (texts: ReadonlyArray<string>) {
  const limits = new Map<string, bigint>()
  for (const text of texts) {
    const [, unit, limit] = LIMIT.exec(text) ?? []
    if (unit === undefined || limit === undefined) {
      return yield* new Store.Misconfigured({
        message: `--credit-limit must be a unit and an amount, such as EUR=5000. It is ${text}`,
      })
    }
    limits.set(unit, BigInt(limit))
  }
  return Object.fromEntries(limits)
})

const issue = Command.make(
  "issue",
  {
    ...tenantFlags,
    name: Flag.String("name").pipe(Flag.withDescription("What the key is for.")),
    scope: Flag.Literals("scope", ApiKey.Scope.literals).pipe(
      Flag.withDescription("A scope of the key. Can be repeated. Default: all scopes."),
      Flag.between(0, ApiKey.Scope.literals.length),
    ),
    role: Flag.Literals("role", ApiKey.Role.literals).pipe(
      Flag.withDescription(
        "Instead of scopes: viewer reads everything; support also sends webhooks again and grants credits up to --credit-limit; finance also changes customers, subscriptions, invoices, payments and credits; admin may do everything.",
      ),
      Flag.optional,
    ),
    network: Flag.String("network").pipe(
      Flag.withDescription(
        "A network that requests may come from, such as 203.0.113.0/24. Can be repeated. Default: everywhere.",
      ),
      Flag.between(0, ApiKey.MAX_KEY_NETWORKS),
    ),
    creditLimit: Flag.String("credit-limit").pipe(
      Flag.withDescription(
        "With the role support: how much may be granted to a customer in 24 hours, in the smallest unit, such as EUR=5000 or token=100000. Can be repeated. Default: nothing.",
      ),
      Flag.between(0, ApiKey.MAX_CREDIT_LIMITS),
    ),
    expiresIn,
    expiresAt,
  },
  Effect.fn(function* (options) {
    const expiry = yield* expiryOf(options)
    const creditLimits = yield* limitsOf(options.creditLimit)
    const issued = yield* acting(
      options,
      Effect.flatMap(ApiKeys, (keys) =>
        keys.issue({
          name: options.name,
          ...(options.scope.length === 0 ? {} : { scopes: options.scope }),
          ...(Option.isNone(options.role) ? {} : { role: options.role.value }),
          networks: options.network,
          creditLimits,
          ...expiry,
        }),
      ),
    )
    yield* printIssued(issued, options.json)
  }),
).pipe(Command.withDescription("Issue an API key"))

/** Most keys of a page. */
const PAGE = 100

/** Every key, newest first. */
const allKeys = Effect.gen(function* () {
  const all: Array<ApiKey.ApiKey> = []
  for (;;) {
    const last = all.at(-1)
    const { data, hasMore } = yield* (yield* ApiKeys).list({
      limit: PAGE,
      ...(last === undefined ? {} : { startingAfter: last.id }),
    })
    all.push(...data)
    if (!hasMore) return all
  }
})

const list = Command.make(
  "list",
  tenantFlags,
  Effect.fn(function* (options) {
    const all = yield* acting(options, allKeys)
    const now = yield* DateTime.now
    if (options.json) return yield* Console.log(JSON.stringify(all.map(toJson), undefined, 2))
    if (all.length === 0) return yield* Console.log("There are no keys. Issue one: billwright keys issue")
    return yield* Console.log(all.map((key) => line(key, now)).join("\n"))
  }),
).pipe(Command.withDescription("List API keys, newest first"))

const DEFAULT_GRACE_HOURS = 24
const MAX_GRACE_HOURS = ApiKey.MAX_ROLL_GRACE_MILLIS / HOUR_MILLIS

const roll = Command.make(
  "roll",
  {
    ...tenantFlags,
    id,
    graceHours: Flag.Int("grace-hours").pipe(
      Flag.withDescription(
        `How long the old key stays valid, 0 to ${MAX_GRACE_HOURS} hours. Default: ${DEFAULT_GRACE_HOURS}.`,
      ),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: MAX_GRACE_HOURS }))),
      Flag.withDefault(DEFAULT_GRACE_HOURS),
    ),
  },
  Effect.fn(function* (options) {
    const graceMillis = options.graceHours * HOUR_MILLIS
    const issued = yield* acting(
      options,
      Effect.flatMap(ApiKeys, (keys) => keys.roll(options.id, { graceMillis })),
    )
    yield* printIssued(issued, options.json)
  }),
).pipe(Command.withDescription("Replace a key by a new one. The old key stays valid for the grace time"))

const revoke = Command.make(
  "revoke",
  { ...tenantFlags, id },
  Effect.fn(function* (options) {
    const key = yield* acting(
      options,
      Effect.flatMap(ApiKeys, (keys) => keys.revoke(options.id)),
    )
    yield* Console.log(
      options.json ? JSON.stringify(toJson(key), undefined, 2) : `${key.id} (…${key.hint}) is revoked.`,
    )
  }),
).pipe(Command.withDescription("Revoke an API key for good"))

export const keys = Command.make("keys").pipe(
  Command.withDescription("Manage API keys, and the keys that encrypt webhook secrets"),
  Command.withSubcommands([issue, list, roll, revoke, newEncryptionKey, rotateEncryption]),
)
