/**
 * The tenant of an operation: an account of the host, in one of two modes, `live` or `test`.
 *
 * Every operation requires the tenant (`CurrentTenant` in the Effect's `R`), so forgetting it is a compile error. An
 * operation sees no objects of other tenants: looking one up gives the same answer as an unknown id.
 */
import { Context, Schema } from "effect"

/** An account of the host: 1 to 64 characters of `A–Z a–z 0–9 _ -`. */
export const AccountId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/u, { message: "must be 1 to 64 letters, digits, - or _" }),
).pipe(Schema.brand("AccountId"))
export type AccountId = typeof AccountId.Type

/** `live` is for real money, `test` for development. The two share no data. */
export const Mode = Schema.Literals(["live", "test"])
export type Mode = typeof Mode.Type

/** The account id for hosts that have only one account. */
export const defaultAccountId = AccountId.make("default")

export interface Tenant {
  readonly accountId: AccountId
  readonly mode: Mode
}

/** The tenant that the current fiber acts for. */
export class CurrentTenant extends Context.Service<CurrentTenant, Tenant>()(
  "@billwright/core/shared/CurrentTenant",
) {}

/** A string that identifies a tenant, to use as a map key. Account ids cannot contain the separator. */
export const tenantKey = (tenant: Tenant): string => `${tenant.mode}:${tenant.accountId}`
