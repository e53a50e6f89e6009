/**
 * Makes the calls of all resources from their definitions and their use cases.
 */
import {
  Customer,
  Meter,
  Meters,
  PayerLinks,
  PaymentMethod,
  PaymentMethods,
  Refund,
  Refunds,
  type Resource,
  Resources,
  TestClock,
  TestClocks,
  TokenUsage,
  TokenUsages,
} from "@billwright/core"
import { Effect } from "effect"
import type { CallOptions } from "../Call.ts"
import { makeCardCalls } from "../catalog/PlanCalls.ts"
import type { WaiveTokenUsage } from "../credits/TokenUsages.ts"
import { exportOf } from "../customers/CustomerExport.ts"
import { InvalidInputError } from "../errors/BillingError.ts"
import { shownLink } from "../invoices/InvoiceCalls.ts"
import type { PayerLinkOptions } from "../invoices/PayerLinks.ts"
import type { PageQuery } from "../Listing.ts"
import type { StartPaymentMethodSetup } from "../payments/PaymentMethods.ts"
import { shown } from "../payments/ProviderBridge.ts"
import type { ResolveRefund } from "../payments/Refunds.ts"
import type { ResourceCalls } from "../Resources.ts"
import { makeAdvance } from "../time/TestClockAdvance.ts"
import { makeRebuild } from "../usage/MeterRebuild.ts"
import { naming } from "./CallName.ts"
import type { Calls } from "./Calls.ts"
import * as Ids from "./Ids.ts"
import { toInput, toOptionalInput } from "./Input.ts"
import { makeListing } from "./ListingPages.ts"

/** Converts numbers to `bigint` in fields that take integers of any size. */
const withIntegers = (
  { fields }: Resource.Definition,
  input: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => {
  const result = { ...input }
  for (const [name, { bounds, kind }] of Object.entries(fields)) {
    const value = result[name]
    if (kind !== "integer" || typeof value !== "number") continue
    if (!Number.isSafeInteger(value)) {
      throw new InvalidInputError(
        name,
        `${bounds?.problem ?? "must be an integer"}, beyond 2^53 − 1 a bigint`,
      )
    }
    result[name] = BigInt(value)
  }
  return result
}

const toCreate = (resource: Resource.Definition, input: object): never => {
  const instants = Object.entries(resource.fields).flatMap(([name, { kind }]) =>
    kind === "instant" && (input as Readonly<Record<string, unknown>>)[name] !== null ? [name] : [],
  )
  const read = toInput<Readonly<Record<string, unknown>>>(input, ...instants)
  // The service refuses a value that is not an object.
  return (typeof read === "object" && read !== null ? withIntegers(resource, read) : read) as never
}

/** The filters that are instants. */
const instantsOf = (filters: Resource.Definition["filters"]): ReadonlyArray<string> =>
  Object.entries(filters).flatMap(([name, field]) =>
    ("optional" in field ? field.optional : field).kind === "instant" ? [name] : [],
  )

const makeResource = (
  calls: Calls,
  resource: Resource.Definition,
  { create, get, list, remove, update }: Resources.UseCases,
  removal: string | undefined,
): object => {
  const toId = Ids.of(resource.prefix)
  return {
    ...(create === undefined
      ? {}
      : {
          create: (input: object = {}, options?: CallOptions) =>
            calls.run(() => create(toCreate(resource, input)), options),
        }),
    get: (id: string, options?: CallOptions) => calls.run(() => get(toId(id)), options),
    ...(update === undefined
      ? {}
      : {
          update: (id: string, input: object, options?: CallOptions) =>
            calls.run(() => update(toId(id), toInput(input)), options),
        }),
    ...(removal === undefined || remove === undefined
      ? {}
      : {
          [removal]: (id: string, options?: CallOptions) => calls.run(() => remove(toId(id)), options),
        }),
    list: (query?: PageQuery, options?: CallOptions) =>
      makeListing(query, (page) =>
        calls.run(() => list(toOptionalInput(page, ...instantsOf(resource.filters))), options),
      ),
  }
}

/** The most batches of work on a meter that one call does. */
const BATCHES_OF_STEP = 10

const toMethodId = Ids.of(PaymentMethod.PAYMENT_METHOD_ID_PREFIX)

const methodCalls = (calls: Calls) => ({
  startSetup: (id: string, input?: StartPaymentMethodSetup, options?: CallOptions) =>
    calls.run(() => {
      const started = calls.service(PaymentMethods).startSetup(toMethodId(id), toInput(input ?? {}))
      return Effect.map(started, ({ paymentMethod, ...action }) => ({
        paymentMethodId: paymentMethod.id,
        ...shown(action),
      }))
    }, options),
  refresh: (id: string, options?: CallOptions) =>
    calls.run(() => calls.service(PaymentMethods).refresh(toMethodId(id)), options),
})

const toCustomerId = Ids.of(Customer.CUSTOMER_ID_PREFIX)

const customerCalls = (calls: Calls) => ({
  export: exportOf(calls),
  portalLink: (id: string, input?: PayerLinkOptions, options?: CallOptions) =>
    calls.run(() => {
      const made = calls.service(PayerLinks).portal(toCustomerId(id), toOptionalInput(input))
      return Effect.map(made, shownLink)
    }, options),
})

const toRefundId = Ids.of(Refund.REFUND_ID_PREFIX)

const refundCalls = (calls: Calls) => ({
  refresh: (id: string, options?: CallOptions) =>
    calls.run(() => calls.service(Refunds).refresh(toRefundId(id)), options),
  resolve: (id: string, input: ResolveRefund, options?: CallOptions) =>
    calls.run(() => calls.service(Refunds).resolve(toRefundId(id), toInput(input)), options),
})

const toTokenUsageId = Ids.of(TokenUsage.TOKEN_USAGE_ID_PREFIX)

const tokenUsageCalls = (calls: Calls) => ({
  rate: (id: string, options?: CallOptions) =>
    calls.run(() => calls.service(TokenUsages).rate(toTokenUsageId(id)), options),
  waive: (id: string, input: WaiveTokenUsage, options?: CallOptions) =>
    calls.run(() => calls.service(TokenUsages).waive(toTokenUsageId(id), toInput(input)), options),
})

/** The calls that only one resource has. */
const ownCalls = (calls: Calls): Readonly<Record<string, object>> => ({
  testClocks: {
    advance: makeAdvance((id, to, options) => {
      const toId = Ids.of(TestClock.TEST_CLOCK_ID_PREFIX)
      return calls.run(() => calls.service(TestClocks).advance(toId(id), toInput({ to }, "to")), options)
    }),
  },
  customers: customerCalls(calls),
  paymentMethods: methodCalls(calls),
  rateCards: makeCardCalls(calls),
  refunds: refundCalls(calls),
  tokenUsages: tokenUsageCalls(calls),
  meters: {
    rebuild: makeRebuild((id, options) => {
      const toId = Ids.of(Meter.METER_ID_PREFIX)
      return calls.run(() => calls.service(Meters).rebuild(toId(id), { batches: BATCHES_OF_STEP }), options)
    }),
  },
})

/** The calls of all resources, by the names of `Resources.all`. */
export const makeResources = (calls: Calls): ResourceCalls => {
  const own = ownCalls(calls)
  return Object.fromEntries(
    Object.entries(Resources.all).map(([name, { definition, removal, useCases }]) => [
      name,
      naming(name, {
        ...makeResource(calls, definition, useCases(calls.context), removal),
        ...own[name],
      }),
    ]),
  ) as object as ResourceCalls
}
