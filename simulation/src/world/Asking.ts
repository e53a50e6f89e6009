/**
 * Makes the calls of clients on the services.
 */
import {
  Customer,
  Customers,
  Deliveries,
  Endpoints,
  type Billing,
  type Dispatcher,
  type CurrentTenant,
  Events,
  Idempotency,
  InvalidInput,
  Meters,
  Thresholds,
  Transactor,
  Usage,
  type UsageRecord,
} from "@billwright/core"
import { DateTime, Effect, Option, Redacted, Result } from "effect"
import type { Answer, Ask, UsageAsked } from "../History.ts"

type Done = Extract<Answer, { readonly _tag: "Done" }>
type Asking<Tag extends Ask["_tag"]> = (
  ask: Extract<Ask, { readonly _tag: Tag }>,
) => Effect.Effect<Done, unknown, Billing.Services | Dispatcher | Billing.Storage | CurrentTenant>

const done = (...ids: ReadonlyArray<string>): Done => ({ _tag: "Done", ids })

const customerId = (id: string) => Customer.CustomerId.make(id, { disableChecks: true })

const recordOf = ({ key, timestamp, ...usage }: UsageAsked): UsageRecord.RecordUsage => ({
  ...usage,
  customerId: customerId(usage.customerId),
  ...(timestamp === undefined ? {} : { timestamp: DateTime.makeUnsafe(timestamp) }),
  ...(key === null ? {} : { idempotencyKey: key }),
})

/** The data of an event, which contains its marker. */
const dataOf = (type: string, marker: string) => ({
  ...(type.startsWith("payment.") ? { payment_id: marker } : { invoice_id: marker }),
  customer_id: "c_1",
  amount: 4200,
  currency: "EUR",
})

const createCustomer: Asking<"CreateCustomer"> = ({ isValid, key, marker }) =>
  Effect.gen(function* () {
    const customers = yield* Customers
    const request = { method: "POST", path: "/v1/customers", key, fingerprint: marker }
    const creation = customers
      .create({ name: isValid ? marker : "", email: "ada@example.com" })
      .pipe(Effect.map(({ id }) => ({ status: 201, body: JSON.stringify({ id }), subject: id as string })))
    const rejection = (error: unknown) =>
      error instanceof InvalidInput ? Option.some({ status: 400, body: error.message }) : Option.none()
    const { isReplay, response } = yield* (yield* Idempotency).run(request, creation, rejection)
    const id = /cus_\w+/.exec(response.body)?.[0]
    const { body, status } = response
    return { ...done(...(id === undefined ? [] : [id])), response: { status, body, isReplay } }
  })

const eraseCustomer: Asking<"EraseCustomer"> = ({ customerId: id }) =>
  Effect.as(
    Effect.flatMap(Customers, (customers) => customers.erase(id)),
    done(id),
  )

const recordUsage: Asking<"RecordUsage"> = ({ records }) =>
  Effect.gen(function* () {
    const usage = yield* Usage
    const [first] = records
    const recorded =
      records.length === 1
        ? [yield* usage.record(recordOf(first!))]
        : yield* usage.recordBatch({ records: records.map(recordOf) })
    return {
      ...done(...recorded.map(({ record }) => record.id)),
      repeats: recorded.map(({ _tag }) => _tag === "Duplicate"),
    }
  })

const voidUsage: Asking<"VoidUsage"> = ({ recordId }) =>
  Effect.map(
    Effect.flatMap(Usage, (usage) => usage.voidRecord(recordId)),
    ({ id }) => done(id),
  )

const createThreshold: Asking<"CreateThreshold"> = ({ _tag, ...input }) =>
  Effect.map(
    Effect.flatMap(Thresholds, (thresholds) =>
      thresholds.create({ ...input, customerId: customerId(input.customerId) }),
    ),
    ({ id }) => done(id),
  )

const publish = (type: string, marker: string, key: string | null) =>
  Effect.flatMap(Events, (events) =>
    events.publish({
      type,
      data: dataOf(type, marker),
      ...(key === null ? {} : { idempotencyKey: key }),
    }),
  )

const publishEvent: Asking<"PublishEvent"> = ({ key, marker, type }) =>
  Effect.map(publish(type, marker, key), ({ _tag, event }) => ({
    ...done(event.id),
    repeats: [_tag === "Duplicate"],
  }))

/** The client aborts: its transaction must leave nothing. */
class GivenUp {
  readonly _tag = "GivenUp"
}

const recordAndPublish: Asking<"RecordAndPublish"> = ({ isGivenUp, marker, record, type }) =>
  Effect.gen(function* () {
    const usage = yield* Usage
    const both = Effect.gen(function* () {
      const recorded = yield* usage.record(recordOf(record))
      const published = yield* publish(type, marker, marker)
      if (isGivenUp) return yield* Effect.fail(new GivenUp())
      return {
        ...done(recorded.record.id, published.event.id),
        repeats: [recorded._tag === "Duplicate", published._tag === "Duplicate"],
      }
    })
    return yield* (yield* Transactor).atomically(both)
  })

const createEndpoint: Asking<"CreateEndpoint"> = ({ eventTypes, url }) =>
  Effect.map(
    Effect.flatMap(Endpoints, (endpoints) => endpoints.create({ url, eventTypes })),
    ({ endpoint, secret }) => ({ ...done(endpoint.id), secret: Redacted.value(secret!) }),
  )

const updateEndpoint: Asking<"UpdateEndpoint"> = ({ endpointId, eventTypes, status }) =>
  Effect.map(
    Effect.flatMap(Endpoints, (endpoints) =>
      endpoints.update(endpointId, {
        ...(status === undefined ? {} : { status }),
        ...(eventTypes === undefined ? {} : { eventTypes }),
      }),
    ),
    ({ id }) => done(id),
  )

const deleteEndpoint: Asking<"DeleteEndpoint"> = ({ endpointId }) =>
  Effect.as(
    Effect.flatMap(Endpoints, (endpoints) => endpoints.delete(endpointId)),
    done(endpointId),
  )

const rotateSecret: Asking<"RotateSecret"> = ({ endpointId, overlapSeconds }) =>
  Effect.map(
    Effect.flatMap(Endpoints, (endpoints) =>
      endpoints.rotateSecret(endpointId, { expirePreviousAfterSeconds: overlapSeconds }),
    ),
    ({ endpoint, secret }) => ({ ...done(endpoint.id), secret: Redacted.value(secret!) }),
  )

const testEndpoint: Asking<"TestEndpoint"> = ({ endpointId, type }) =>
  Effect.map(
    Effect.flatMap(Endpoints, (endpoints) => endpoints.test(endpointId, type)),
    ({ id }) => done(id),
  )

const replayEvent: Asking<"ReplayEvent"> = ({ endpointId, eventId }) =>
  Effect.map(
    Effect.flatMap(Events, (events) =>
      events.replay(eventId, endpointId === undefined ? {} : { endpointId }),
    ),
    (deliveries) => done(...deliveries.map(({ id }) => id)),
  )

const replayDelivery: Asking<"ReplayDelivery"> = ({ deliveryId }) =>
  Effect.map(
    Effect.flatMap(Deliveries, (deliveries) => deliveries.replay(deliveryId)),
    ({ id }) => done(id),
  )

const replayRange: Asking<"ReplayRange"> = ({ endpointId }) =>
  Effect.as(
    Effect.flatMap(Endpoints, (endpoints) =>
      endpoints.replayRange(endpointId, { since: DateTime.makeUnsafe(0) }),
    ),
    done(),
  )

const readTotal: Asking<"ReadTotal"> = ({ _tag, ...meter }) =>
  Effect.map(
    Effect.flatMap(Usage, (usage) => usage.summary({ ...meter, customerId: customerId(meter.customerId) })),
    ({ totalQuantity }) => ({ ...done(), total: totalQuantity }),
  )

const createMeter: Asking<"CreateMeter"> = ({ _tag, ...input }) =>
  Effect.map(
    Effect.flatMap(Meters, (meters) => meters.create(input)),
    ({ id }) => done(id),
  )

const updateMeter: Asking<"UpdateMeter"> = ({ _tag, meterId, ...change }) =>
  Effect.map(
    Effect.flatMap(Meters, (meters) => meters.update(meterId, change)),
    ({ id }) => done(id),
  )

const readMeter: Asking<"ReadMeter"> = ({ _tag, ...query }) =>
  Effect.map(
    Effect.flatMap(Usage, (usage) => usage.summary({ ...query, customerId: customerId(query.customerId) })),
    ({ totalQuantity }) => ({ ...done(), total: totalQuantity }),
  )

const readForeign: Asking<"ReadForeign"> = ({ id }) =>
  Effect.gen(function* () {
    const found = [
      idOf(yield* Effect.result((yield* Customers).get(id))),
      idOf(yield* Effect.result((yield* Usage).getRecord(id))),
      idOf(yield* Effect.result((yield* Meters).get(id))),
      idOf(yield* Effect.result((yield* Endpoints).get(id))),
      idOf(yield* Effect.result((yield* Events).get(id))),
    ]
    return done(...found.flat())
  })

const idOf = (found: Result.Result<{ readonly id: string }, unknown>): ReadonlyArray<string> =>
  Result.isSuccess(found) ? [found.success.id] : []

/** The function for each kind of call. */
export const asking: { readonly [Tag in Ask["_tag"]]: Asking<Tag> } = {
  CreateCustomer: createCustomer,
  EraseCustomer: eraseCustomer,
  RecordUsage: recordUsage,
  VoidUsage: voidUsage,
  CreateThreshold: createThreshold,
  PublishEvent: publishEvent,
  RecordAndPublish: recordAndPublish,
  CreateEndpoint: createEndpoint,
  UpdateEndpoint: updateEndpoint,
  DeleteEndpoint: deleteEndpoint,
  RotateSecret: rotateSecret,
  TestEndpoint: testEndpoint,
  ReplayEvent: replayEvent,
  ReplayDelivery: replayDelivery,
  ReplayRange: replayRange,
  CreateMeter: createMeter,
  UpdateMeter: updateMeter,
  ReadMeter: readMeter,
  ReadTotal: readTotal,
  ReadForeign: readForeign,
}
