/**
 * The commands of the model tests for events, endpoints and deliveries.
 */
import type { Delivery, Endpoint } from "@billwright/core"
import * as fc from "fast-check"
import { command, day, page, thing } from "./CommandParts.ts"

const type = fc.constantFrom("invoice.paid", "invoice.created")
const types = fc.constantFrom<ReadonlyArray<string>>(["*"], ["*"], ["invoice.paid"], ["invoice.created"])
const status = fc.constantFrom<Delivery.DeliveryStatus>("Pending", "Delivered", "Failed")
const endpointStatus = fc.constantFrom<Endpoint.EndpointStatus>("enabled", "enabled", "disabled")
/** Mostly empty. */
const rarely = <A>(arbitrary: fc.Arbitrary<A>): fc.Arbitrary<A | null> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary })

/** Commands that call one method. `claim` is not among them, because it joins no transaction. */
export const webhookVerb = fc.oneof(
  { weight: 2, arbitrary: command("createEndpoint", { types, status: endpointStatus }) },
  {
    weight: 2,
    arbitrary: command("modifyEndpoint", {
      endpoint: thing,
      types,
      status: endpointStatus,
      fails: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: command("deleteEndpoint", { endpoint: thing, day }) },
  { weight: 1, arbitrary: command("listEndpoints", { status: fc.option(endpointStatus), page }) },
  {
    weight: 8,
    arbitrary: command("publish", {
      type,
      day,
      customer: rarely(thing),
      key: fc.option(fc.nat({ max: 2 }), { freq: 2 }),
      n: fc.nat({ max: 1 }),
      endpoint: rarely(thing),
    }),
  },
  {
    weight: 3,
    arbitrary: command("listEvents", {
      type: rarely(type),
      customer: rarely(thing),
      from: rarely(day),
      before: rarely(day),
      status: fc.option(status),
      page,
    }),
  },
  {
    weight: 3,
    arbitrary: command("listDeliveries", {
      event: rarely(thing),
      endpoint: rarely(thing),
      status: rarely(status),
      page,
    }),
  },
  {
    weight: 6,
    arbitrary: command("settle", {
      leases: fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 4 }),
      outcome: fc.constantFrom<SettleOutcome>("delivered", "failed", "failed", "exhausted", "released"),
      day,
    }),
  },
  { weight: 1, arbitrary: command("cancel", { endpoint: thing, day }) },
  { weight: 1, arbitrary: command("replay", { event: thing, endpoint: thing, day }) },
  {
    weight: 4,
    arbitrary: command("replayRange", {
      endpoint: thing,
      since: fc.constantFrom(0, 0, 0, 1, 3),
      days: fc.integer({ min: 1, max: 5 }),
      onlyFailed: fc.boolean(),
      type: rarely(type),
      limit: fc.integer({ min: 1, max: 9 }),
      isDryRun: rarely(fc.constant(true)),
      day,
    }),
  },
  { weight: 1, arbitrary: command("nextDueAt", {}) },
)

/** The outcome of an attempt. `released`: no attempt was made. */
export type SettleOutcome = "delivered" | "failed" | "exhausted" | "released"

/** Leases due deliveries of all tenants. */
export const claim = command("claim", {
  day,
  /** How many days the leases last. */
  leaseDays: fc.integer({ min: 1, max: 2 }),
  limit: fc.integer({ min: 1, max: 8 }),
  limitPerEndpoint: fc.nat({ max: 3 }),
  limits: fc.array(fc.record({ endpoint: thing, limit: fc.nat({ max: 4 }) }), { maxLength: 2 }),
  /** By the number of the tenant. `null`: the tenant has no limit of its own. */
  tenantLimits: fc.array(fc.option(fc.nat({ max: 3 })), { maxLength: 3 }),
})

type ValueOf<A> = A extends fc.Arbitrary<infer Value> ? Value : never

export type Claim = ValueOf<typeof claim>
/** Commands for the end of a run: read every delivery with its attempts, and the tail from the start. */
export interface LookAtDeliveries {
  readonly command: "lookAtDeliveries"
  readonly tenant: number
}
export type WebhookVerb = ValueOf<typeof webhookVerb>
