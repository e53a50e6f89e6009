/**
 * What the commands of the model test of subscriptions and invoices have made so far.
 */
import {
  type Billing,
  type ClaimedSubject,
  type IdGenerator,
  type Customer,
  type CurrentTenant,
  type FirstDue,
  Tenant,
  type TestClock,
} from "@billwright/core"
import { Effect } from "effect"
import { asTenant } from "../contract/ContractTest.ts"
import { millisOf } from "../contract/InvoicingProbe.ts"
import type { ReferenceInvoicing } from "./ReferenceInvoicing.ts"

/** What commands use. */
export type InvoicingServices = Billing.Storage | Billing.InvoicingStorage | IdGenerator

export interface Owned {
  readonly tenant: Tenant.Tenant
  readonly id: string
}

interface TenantOfWorld {
  readonly tenant: Tenant.Tenant
  readonly customer: Customer.Customer
  /** A customer of a test clock: in test mode alone. */
  readonly clocked: { readonly customer: Customer.Customer; readonly id: TestClock.TestClockId } | undefined
}

export interface InvoicingWorld {
  readonly reference: ReferenceInvoicing
  readonly tenants: ReadonlyArray<TenantOfWorld>
  readonly subscriptions: Array<Owned>
  readonly invoices: Array<Owned>
  readonly creditNotes: Array<Owned>
  readonly claims: Array<ClaimedSubject>
  /** What was found first on test clocks. */
  readonly firsts: Array<FirstDue & { readonly tenant: Tenant.Tenant }>
}

export const nth = <A>(all: ReadonlyArray<A>, number: number): A | undefined =>
  all[number % Math.max(1, all.length)]

/** Runs an effect for the tenant that a thing belongs to. Does nothing if there is no such thing. */
export const ofOwner = <E, R>(
  owned: Owned | undefined,
  body: (id: string, tenant: Tenant.Tenant) => Effect.Effect<unknown, E, R>,
): Effect.Effect<unknown, E, Exclude<R, CurrentTenant>> =>
  owned === undefined
    ? (Effect.void as Effect.Effect<unknown, E, Exclude<R, CurrentTenant>>)
    : asTenant(owned.tenant)(body(owned.id, owned.tenant))

export const dueAtOf = (due: number | null): number | null => (due === null ? null : millisOf(due))

export const pageFrom = (limit: number, after: Owned | undefined) => ({
  limit,
  cursor: after === undefined ? undefined : { id: after.id, direction: "older" as const },
})

/** Whether a thing is there: a transaction that failed may have taken it back. */
export const isOf = (tenant: Tenant.Tenant, one: Owned, reference: ReferenceInvoicing): boolean =>
  Tenant.tenantKey(one.tenant) === Tenant.tenantKey(tenant) &&
  (reference.subscription(tenant, one.id) ??
    reference.invoice(tenant, one.id) ??
    reference.creditNote(tenant, one.id)) !== undefined
