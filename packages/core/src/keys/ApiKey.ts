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
import { SCOPED, type Scoped } from "../shared/Scoped.ts"
import { AccountId, Mode } from "../shared/Tenant.ts"
import * as Text from "../shared/Text.ts"

/** The prefix of key ids (not of secrets). */
export const API_KEY_ID_PREFIX = "key"
/** Longest name, in code points. */
export const MAX_KEY_NAME_LENGTH = 128
/** Longest time that the old key stays valid after it was rolled: 7 days. */
export const MAX_ROLL_GRACE_MILLIS = 7 * 86_400_000

export const ApiKeyId = Id.schema(API_KEY_ID_PREFIX).pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

/** The permission that a request needs: to read or to write one kind of resource. */
export type Permission = `${Scoped}:${"read" | "write"}`

const SCOPES = SCOPED.flatMap((name) => [`${name}:read`, `${name}:write`, `${name}:*`] as const)

/** What a key may do: one permission, or with `resource:*` both of a resource. Writing does not include reading. */
export const Scope = Schema.Literals(SCOPES).annotate({
  message: "must be a scope such as customers:read or usage:*",
})
export type Scope = typeof Scope.Type

const MAX_SCOPES = SCOPES.length
const scopesMessage = { message: `must have at most ${MAX_SCOPES} scopes` }
const Scopes = Schema.Array(Scope).check(Schema.isMaxLength(MAX_SCOPES, scopesMessage))
const KeyName = Text.bounded(1, MAX_KEY_NAME_LENGTH)

export const ApiKey = Schema.Struct({
  id: ApiKeyId,
  accountId: AccountId,
  mode: Mode,
  name: KeyName,
  /** What the key may do. An empty list means everything. */
  scopes: Scopes,
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

/** Whether a key with these scopes has a permission. */
export const permits = (scopes: ReadonlyArray<Scope>, permission: Permission): boolean =>
  scopes.length === 0 ||
  scopes.includes(permission) ||
  scopes.includes(`${permission.slice(0, permission.indexOf(":"))}:*` as Scope)

/** Whether a key is accepted at an instant. */
export const isValidAt = (key: ApiKey, epochMillis: number): boolean =>
  key.revokedAt === null && (key.expiresAt === null || epochMillis < key.expiresAt.epochMilliseconds)

/** The tenant has no key with this id. */
export class ApiKeyNotFound extends NotFound.make("ApiKeyNotFound", "API key") {}

/** The key is missing, malformed, unknown, revoked or expired. The error does not tell which. */
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
