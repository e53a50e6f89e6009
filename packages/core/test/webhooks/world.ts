/**
 * A world with receivers: the services over memory, scripted receivers and a dispatcher that works when told to.
 */
import {
  Billing,
  Deliveries,
  Dispatcher,
  Endpoints,
  Events,
  IdGenerator,
  Tenant,
  type Delivery,
  type DispatcherOptions,
  type Endpoint,
  type Event,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { ScriptedReceivers } from "@billwright/testing"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { acme, NOON } from "../world.ts"

export const URL_A = "https://a.example.com/hooks"
export const URL_B = "https://b.example.com/hooks"

const services = (options: Billing.BillingOptions) =>
  Billing.layerWithIds({ encryption: "none", ...options }).pipe(
    Layer.provideMerge(Layer.mergeAll(Memory.layer, IdGenerator.layerSeeded(1), ScriptedReceivers.layer)),
    Layer.merge(Layer.succeed(Tenant.CurrentTenant, acme)),
  )

/** Runs a test as the tenant `acme` (live), at noon. */
export const inWorld =
  (options: Billing.BillingOptions & { readonly dispatcher?: DispatcherOptions } = {}) =>
  <A, E, R>(test: Effect.Effect<A, E, R>) => {
    const { dispatcher, ...billing } = options
    const layer = Dispatcher.layerManual(dispatcher).pipe(Layer.provideMerge(services(billing)))
    return Effect.andThen(TestClock.setTime(NOON.epochMilliseconds), Effect.provide(test, layer))
  }

/** The same with a dispatcher that works in the background. */
export const inBackground =
  (options: DispatcherOptions = {}) =>
  <A, E, R>(test: Effect.Effect<A, E, R>) => {
    const layer = Dispatcher.layerWith(options).pipe(Layer.provideMerge(services({})))
    return Effect.andThen(TestClock.setTime(NOON.epochMilliseconds), Effect.provide(test, layer))
  }

export const newEndpoint = Effect.fnUntraced(function* (input: Partial<Endpoint.CreateEndpoint> = {}) {
  return yield* (yield* Endpoints).create({ url: URL_A, eventTypes: ["*"], ...input })
})

export const PAID = { invoice_id: "in_1", customer_id: "c_1", amount: 4200, currency: "EUR" }

export const publish = Effect.fnUntraced(function* (input: Partial<Event.PublishEvent> = {}) {
  const { event } = yield* (yield* Events).publish({ type: "invoice.paid", data: PAID, ...input })
  return event
})

/** Makes all attempts that are due. Gives how many. */
export const runDue = Effect.flatMap(Dispatcher, (dispatcher) => dispatcher.runDue)

export const received = (url?: string) =>
  Effect.flatMap(ScriptedReceivers, (receivers) => receivers.requests(url))

export const script = (url: string, what: Parameters<ScriptedReceivers["Service"]["script"]>[1]) =>
  Effect.flatMap(ScriptedReceivers, (receivers) => receivers.script(url, what))

/** The deliveries of an event, oldest first. */
export const deliveriesOf = Effect.fnUntraced(function* (event: Event.Event) {
  const { data } = yield* (yield* Deliveries).list({ eventId: event.id })
  return data.toReversed()
})

/** The only delivery of an event. */
export const deliveryOf = Effect.fnUntraced(function* (event: Event.Event) {
  const [delivery, ...others] = yield* deliveriesOf(event)
  if (delivery === undefined || others.length > 0) throw new Error("the event has not one delivery")
  return delivery
})

export const attemptsOf = Effect.fnUntraced(function* (delivery: Delivery.Delivery) {
  return (yield* (yield* Deliveries).get(delivery.id)).attempts
})
