/**
 * API keys: they identify a caller's account and mode, and limit what the caller may do.
 *
 * A key's secret is `sk_live_` or `sk_test_`, 32 characters of base62 from a CSPRNG (190 bits), and 6 characters of
 * CRC-32 over the text before them. With the checksum, typos are found without a look-up, and secret scanners recognise
 * a key. Only a digest of the secret is stored.
 */
import { Schema } from "effect"
import * as Id from "../shared/Id.ts"
import * as NotFound from "../shared/NotFound.ts"
import { pageFields } from "../shared/Page.ts"
import { OF_FINANCE, SCOPED, type Scoped } from "../shared/Scoped.ts"
import { AccountId, Mode } from "../shared/Tenant.ts"
import * as Text from "../shared/Text.ts"
import * as NetworkAddress from "../webhooks/NetworkAddress.ts"

/** The prefix of key ids (not of secrets). */
export const API_KEY_ID_PREFIX = "key"
/** Longest name, in code points. */
export const MAX_KEY_NAME_LENGTH = 128
/** Longest time that the old key stays valid after it was rolled: 7 days. */
export const MAX_ROLL_GRACE_MILLIS = 7 * 86_400_000

export const ApiKeyId = Id.schema(API_KEY_ID_PREFIX).pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

/** A part of what writing allows, for people who may do only that. */
const NARROW = ["events:replay", "webhooks:replay", "credits:grant"] as const

/**
 * The permission that a request needs: to read or to write one kind of resource, to send events or deliveries again
 * (`events:replay`, `webhooks:replay`), or to grant promotional credits up to the limits of the key (`credits:grant`).
 */
export type Permission = `${Scoped}:${"read" | "write"}` | (typeof NARROW)[number]

const SCOPES = [
  ...SCOPED.flatMap((name) => [`${name}:read`, `${name}:write`, `${name}:*`] as const),
  ...NARROW,
] as const

/**
 * What a key may do: one permission, or with `resource:*` all of a resource. Writing does not include reading. It includes
 * sending again, and granting credits without limits.
 */
export const Scope = Schema.Literals(SCOPES).annotate({
  message: "must be a scope such as customers:read or usage:*",
})
export type Scope = typeof Scope.Type

const reading = SCOPED.map((name) => `${name}:read` as const)

/**
 * Names for sets of scopes. A key gets the scopes of its role when it is issued. A release that changes a role doesn't
 * change keys that exist.
 */
export const ROLES: Readonly<Record<Role, ReadonlyArray<Scope>>> = {
  /** Reads everything, and changes nothing. */
  viewer: reading,
  /** Also sends deliveries again, and grants promotional credits up to the limits of the key. */
  support: [...reading, ...NARROW],
  /** Also changes customers, subscriptions, invoices, payments and credits. It records no usage, and changes no plans, events and webhooks. */
  finance: [...reading, ...OF_FINANCE.map((name) => `${name}:write` as const)],
  /** May do everything. */
  admin: [],
}
export const Role = Schema.Literals(["viewer", "support", "finance", "admin"])
export type Role = typeof Role.Type

const MAX_SCOPES = SCOPES.length
const scopesMessage = { message: `must have at most ${MAX_SCOPES} scopes` }
const Scopes = Schema.Array(Scope).check(Schema.isMaxLength(MAX_SCOPES, scopesMessage))
const KeyName = Text.bounded(1, MAX_KEY_NAME_LENGTH)

/** Most networks of a key. */
export const MAX_KEY_NETWORKS = 50
const networkMessage = {
  message: "must be a network such as 203.0.113.0/24 or 2001:db8:7::/48, with no bits set after its prefix",
}
const Network = Schema.String.check(
  Schema.makeFilter((text) => NetworkAddress.parseNetwork(text) !== undefined, networkMessage),
)
const Networks = Schema.Array(Network).check(
  Schema.isMaxLength(MAX_KEY_NETWORKS, { message: `must have at most ${MAX_KEY_NETWORKS} networks` }),
)

/** Most units with a limit of a key. */
export const MAX_CREDIT_LIMITS = 20
/** Largest limit of a unit. */
const MAX_CREDIT_LIMIT = 10n ** 30n
const limitMessage = { message: "must be an integer from 1 to 10^30" }
const CreditUnit = Schema.String.check(
  Schema.isPattern(/^([A-Z]{3}|[a-z][a-z0-9_]{0,63})$/, { message: "must be a unit such as EUR or token" }),
)
const CreditLimits = Schema.Record(
  CreditUnit,
  Schema.BigInt.annotate(limitMessage).check(
    Schema.isBetweenBigInt({ minimum: 1n, maximum: MAX_CREDIT_LIMIT }, limitMessage),
  ),
).check(
  Schema.isMaxProperties(MAX_CREDIT_LIMITS, { message: `must have at most ${MAX_CREDIT_LIMITS} units` }),
)
/** How much may be granted of each unit, in its smallest unit: `{ EUR: 5000n, token: 100000n }`. */
export type CreditLimits = typeof CreditLimits.Type

export const ApiKey = Schema.Struct({
  id: ApiKeyId,
  accountId: AccountId,
  mode: Mode,
  name: KeyName,
  /** What the key may do. An empty list means everything. */
  scopes: Scopes,
  /** Where requests may come from. An empty list means everywhere. */
  networks: Networks,
  /**
   * How much a key with `credits:grant` may grant. Promotional credits that were granted to the customer by calls in the
   * last 24 hours count, whoever granted them. Of a unit without a limit it may grant nothing.
   */
  creditLimits: CreditLimits,
  /** The last 4 characters of the secret, to recognise the key by. */
  hint: Schema.String,
  createdAt: Schema.DateTimeUtc,
  /** The key is refused from this instant on. `null` means never. */
  expiresAt: Schema.NullOr(Schema.DateTimeUtc),
  revokedAt: Schema.NullOr(Schema.DateTimeUtc),
  /** When the key was last used. It is updated at most once a minute. */
  lastUsedAt: Schema.NullOr(Schema.DateTimeUtc),
})
export interface ApiKey extends Schema.Schema.Type<typeof ApiKey> {}

const noScopesMessage = {
  message: "must have at least one scope: leave them out for a key that may do everything",
}

export const IssueApiKey = Schema.Struct({
  name: KeyName,
  /** Leave it out for a key that may do everything. An empty list is refused, because it looks like "nothing". */
  scopes: Schema.optionalKey(Scopes.check(Schema.isMinLength(1, noScopesMessage))),
  /** Instead of `scopes`: those of a role. */
  role: Schema.optionalKey(Role),
  /** At most `MAX_KEY_NETWORKS`. Default: requests may come from everywhere. */
  networks: Schema.optionalKey(Networks),
  /** At most `MAX_CREDIT_LIMITS` units. Default: none. Only a key with `credits:grant` has a use for them. */
  creditLimits: Schema.optionalKey(CreditLimits),
  expiresAt: Schema.optionalKey(Schema.DateTimeUtc),
})
export interface IssueApiKey extends Schema.Schema.Type<typeof IssueApiKey> {}

const graceMessage = { message: `must be an integer from 0 to ${MAX_ROLL_GRACE_MILLIS} (7 days)` }
export const RollApiKey = Schema.Struct({
  /** How long the old key stays valid, in milliseconds: 0 to 7 days. Default 0. */
  graceMillis: Schema.optionalKey(
    Schema.Int.annotate(graceMessage).check(
      Schema.isBetween({ minimum: 0, maximum: MAX_ROLL_GRACE_MILLIS }, graceMessage),
    ),
  ),
})
export interface RollApiKey extends Schema.Schema.Type<typeof RollApiKey> {}

export const ListApiKeys = Schema.Struct({ ...pageFields })
export interface ListApiKeys extends Schema.Schema.Type<typeof ListApiKeys> {}

const isNarrow = (permission: Permission): boolean =>
  (NARROW as ReadonlyArray<Permission>).includes(permission)

/** Whether a key with these scopes has a permission. */
export const permits = (scopes: ReadonlyArray<Scope>, permission: Permission): boolean => {
  if (scopes.length === 0 || scopes.includes(permission)) return true
  const resource = permission.slice(0, permission.indexOf(":"))
  return (
    scopes.includes(`${resource}:*` as Scope) ||
    (isNarrow(permission) && scopes.includes(`${resource}:write` as Scope))
  )
}

/**
 * Whether the key may be used from an IP address. A key with networks may not be used from an address that is unknown or is
 * no IP address. An IPv4 address that is written as an IPv6 one (`::ffff:203.0.113.7`) counts as the IPv4 address.
 */
export const isAllowedFrom = (
  { networks }: Pick<ApiKey, "networks">,
  address: string | undefined,
): boolean => {
  if (networks.length === 0) return true
  const parsed = address === undefined ? undefined : NetworkAddress.parseUnmapped(address)
  return (
    parsed !== undefined &&
    networks.some((network) => NetworkAddress.contains(NetworkAddress.parseNetwork(network)!, parsed))
  )
}

/** Whether a key is accepted at an instant. */
export const isValidAt = (key: ApiKey, epochMillis: number): boolean =>
  key.revokedAt === null && (key.expiresAt === null || epochMillis < key.expiresAt.epochMilliseconds)

/** The tenant has no key with this id. */
export class ApiKeyNotFound extends NotFound.make("ApiKeyNotFound", "API key") {}

/**
 * The key is missing, malformed, unknown, revoked or expired, or the request comes from a network that is not the key's. The
 * error does not tell which.
 */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()(
  "Unauthorized",
  {},
  { httpApiStatus: 401 },
) {
  override get message(): string {
    return "a valid API key is required: Authorization: Bearer <API key>"
  }
}

/** The key's scopes don't include the permission that the request needs. */
export class Forbidden extends Schema.TaggedError<Forbidden>()(
  "Forbidden",
  { permission: Schema.String },
  { httpApiStatus: 403 },
) {
  override get message(): string {
    return `the API key lacks the scope ${this.permission}`
  }
}
