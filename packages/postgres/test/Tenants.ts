/**
 * Tenants for tests.
 */
import { CurrentTenant, Tenant } from "@billwright/core"
import { Effect } from "effect"

const tenant: Tenant.Tenant = { accountId: Tenant.defaultAccountId, mode: "live" }

/** Runs an effect for the default tenant. */
export const asTenant = Effect.provideService(CurrentTenant, tenant)
