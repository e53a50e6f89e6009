/**
 * What is taken out of the storage after a customer was erased, apart from the customer itself. Each part goes through its values in
 * small steps, and can begin again at any time: it changes what has something personal left, and nothing else.
 */
import { Effect, Option } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { Event } from "../events/Event.ts"
import type { EventId } from "../events/EventId.ts"
import { EventStore } from "../events/EventStore.ts"
import { EventTypes } from "../events/EventType.ts"
import { redacted } from "../events/Redaction.ts"
import { invoiceItems } from "../invoices/InvoiceItem.ts"
import { paymentMethods } from "../payments/PaymentMethod.ts"
import { type Collection, Collections } from "../shared/Collections.ts"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import * as WallClock from "../shared/WallClock.ts"
import { SubscriptionStore } from "../subscriptions/SubscriptionStore.ts"

/** Most values of one step. Of events it is `MAX_REDACTED`. */
const STEP = 100

type Asked<A> = Effect.Effect<A, StorageError, CurrentTenant>

/** What a step did. */
interface Step {
  /** The last value that it looked at, if there may be more. */
  readonly last: string | undefined
  /** Whether it changed any. */
  readonly hasCleaned: boolean
}

/** A step: works on the values of a customer after the one with this id. */
export type Part = (customerId: CustomerId, after: string | undefined) => Asked<Step>

interface Value {
  readonly id: string
}

/** Goes through the pages of a list, and cleans each value that is not clean. */
const partOf =
  <A extends Value>(
    list: (
      customerId: CustomerId,
      page: PageQuery,
    ) => Effect.Effect<Page<A>, CursorNotFound | StorageError, CurrentTenant>,
    isClean: (value: A) => boolean,
    clean: (value: A) => Asked<unknown>,
  ): Part =>
  (customerId, after) =>
    Effect.gen(function* () {
      const cursor = after === undefined ? undefined : ({ direction: "older", id: after } as const)
      const page = list(customerId, { limit: STEP, cursor })
      const { data, hasMore } = yield* Effect.catchTag(page, "CursorNotFound", Effect.die)
      const found = data.filter((value) => !isClean(value))
      for (const value of found) yield* clean(value)
      return { last: hasMore ? data.at(-1)?.id : undefined, hasCleaned: found.length > 0 }
    })

const isEmpty = (metadata: object): boolean => Object.keys(metadata).length === 0

/** Values of a resource of customers, each of which loses some fields. */
const fieldsOf = <A extends Value & { readonly customerId: CustomerId }>(
  collection: Collection<A, A["id"]>,
  isClean: (value: A) => boolean,
  cleaned: (value: A) => A,
): Part =>
  partOf(
    (customerId, page) => collection.list({ customerId } as Parameters<typeof collection.list>[0], page),
    isClean,
    ({ id }) => collection.modify(id, (value) => Effect.succeed(isClean(value) ? value : cleaned(value))),
  )

const subscriptionsIn = ({ list, lock, save }: SubscriptionStore["Service"]): Part =>
  partOf(
    (customerId, page) => list({ customerId }, page),
    ({ metadata }) => isEmpty(metadata),
    ({ id }) =>
      Effect.flatMap(lock(id), (held) =>
        Option.isNone(held) ? Effect.void : save({ ...held.value, metadata: {} }),
      ),
  )

/**
 * Gives the parts, in the order in which they are done. A storage without subscriptions has events only. Without a catalogue of
 * event types, nothing is known of what they keep.
 */
export const makeParts: Effect.Effect<ReadonlyArray<Part>, never, Collections | EventStore> = Effect.gen(
  function* () {
    const collections = yield* Collections
    const events = yield* EventStore
    const types = Option.getOrUndefined(yield* Effect.serviceOption(EventTypes))
    const subscriptions = Option.getOrUndefined(yield* Effect.serviceOption(SubscriptionStore))
    const without = (event: Event): string => redacted(event, types?.find(event.type))
    const ofEvents: Part = (customerId, after) =>
      Effect.flatMap(WallClock.now, (at) =>
        Effect.map(
          events.redact({ customerId, at, after: after as EventId | undefined }, without),
          (last): Step => ({ last, hasCleaned: true }),
        ),
      )
    if (subscriptions === undefined) return [ofEvents]
    return [
      fieldsOf(
        collections.of(paymentMethods),
        ({ brand, expiry, last4, metadata }) =>
          brand === null && expiry === null && last4 === null && isEmpty(metadata),
        (method) => ({ ...method, brand: null, last4: null, expiry: null, metadata: {} }),
      ),
      subscriptionsIn(subscriptions),
      fieldsOf(
        collections.of(invoiceItems),
        ({ metadata }) => isEmpty(metadata),
        (item) => ({ ...item, metadata: {} }),
      ),
      ofEvents,
    ]
  },
)
