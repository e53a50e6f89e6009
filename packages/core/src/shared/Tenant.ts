/**
 * Who an operation is for: an account of the host, in one of two worlds, `live` or `test`.
 *
 * The tenant is a *requirement* of every operation (`CurrentTenant` in the Effect's `R`), so forgetting it
 * is a compile error. Objects of another tenant do not exist: looking one up gives the same answer as an
 * id that was never made.
 */
import { Context, Schema } from "effect"

/** An account of the host: 1 to 64 characters of `A–Z a–z 0–9 _ -`. */
export const AccountId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/u, { message: "must be 1 to 64 letters, digits, - or _" }),
).pipe(Schema.brand("AccountId"))
export type AccountId = typeof AccountId.Type

/** `live` is real money; `test` is a world of its own for development. Nothing crosses between them. */
export const Mode = Schema.Literals(["live", "test"])
export type Mode = typeof Mode.Type

/** The account of hosts that have only one. */
export const defaultAccountId = AccountId.make("default")

export interface Tenant {
  readonly accountId: AccountId
  readonly mode: Mode
}

/** The tenant on whose behalf the current fiber acts. */
export class CurrentTenant extends Context.Service<CurrentTenant, Tenant>()(
  "@billwright/core/shared/CurrentTenant",
) {}

/** One string for a tenant, usable as a map key. Account ids cannot hold the separator. */
export const tenantKey = (tenant: Tenant): string => `${tenant.mode}:${tenant.accountId}`
