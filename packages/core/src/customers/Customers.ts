/**
 * The use cases of customers.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { IdempotencyStore, subjectOfCustomer } from "../shared/IdempotencyStore.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import * as Metadata from "../shared/Metadata.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import { folded } from "../shared/Search.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import * as WallClock from "../shared/WallClock.ts"
import {
  CreateCustomer,
  CUSTOMER_ID_PREFIX,
  Customer,
  CustomerHasSubscription,
  CustomerId,
  CustomerNotFound,
  customers,
  ListCustomers,
  NOTHING_KNOWN,
  UpdateCustomer,
} from "./Customer.ts"
import { CustomerErased, CustomerErasure } from "./CustomerErasure.ts"
import { CustomerTime } from "./CustomerTime.ts"
import { LiveSubscriptions } from "./LiveSubscriptions.ts"
import { type TestClockId, TestClockNotFound, testClocks } from "./TestClock.ts"

const decodeCreate = decoder(CreateCustomer)
const decodeUpdate = decoder(UpdateCustomer)
const decodeList = decoder(ListCustomers)
const decodeCustomer = decoder(Customer)
const { knownId, orNotFound } = ById.of(customers)

/**
 * Creates, reads, changes, erases and lists the customers of the current tenant.
 *
 * `InvalidInput` names the field that breaks a rule. `CustomerNotFound` is the error for an id that is unknown, of an
 * erased customer, or of another tenant's customer.
 */
export class Customers extends Context.Service<
  Customers,
  {
    readonly create: (
      input: CreateCustomer,
    ) => Effect.Effect<Customer, InvalidInput | TestClockNotFound | StorageError, CurrentTenant>

    readonly get: (id: string) => Effect.Effect<Customer, CustomerNotFound | StorageError, CurrentTenant>

    /**
     * Changes a customer. Fields and metadata keys left out stay as they are. A metadata key set to `null` is removed,
     * and `metadata: null` removes all keys.
     */
    readonly update: (
      id: string,
      input: UpdateCustomer,
    ) => Effect.Effect<Customer, InvalidInput | CustomerNotFound | StorageError, CurrentTenant>

    /**
     * Erases all fields of the customer for good, and the stored answers of requests that contain them. The id and the
     * usage stay, so that totals stay correct. New usage for the customer fails with `CustomerNotFound`. Its credits are
     * taken back, and nobody can use or grant any. Erasing it again changes nothing. A customer with a subscription that has not ended can't be erased.
     *
     * Its payment methods are detached, and a billing run has the payment provider forget them. Their details and the
     * metadata of subscriptions, payment methods and invoice items are removed. Personal data is taken out of events about it and
     * out of the answers of receivers. Where that is much, billing runs do the rest.
     */
    readonly erase: (
      id: string,
    ) => Effect.Effect<void, CustomerHasSubscription | CustomerNotFound | StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListCustomers,
    ) => Effect.Effect<Page<Customer>, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/customers/Customers") {
  static readonly layer = Layer.effect(
    Customers,
    Effect.gen(function* () {
      const store = (yield* Collections).of(customers)
      const clocks = (yield* Collections).of(testClocks)
      const time = new CustomerTime(yield* Collections)
      const ids = yield* IdGenerator
      const answers = yield* IdempotencyStore
      const transactor = yield* Transactor
      const subscriptions = yield* Effect.serviceOption(LiveSubscriptions)
      const onErase = yield* CustomerErasure
      const afterErasure = yield* CustomerErased

      const refuseSubscribed = Effect.fnUntraced(function* (id: CustomerId) {
        if (Option.isNone(subscriptions) || !(yield* subscriptions.value.exist(id))) return
        return yield* new CustomerHasSubscription({ id })
      })

      /** The time of a test clock, which is held until the transaction ends, so that it is not deleted meanwhile. */
      const timeOf = Effect.fnUntraced(function* (testClockId: TestClockId) {
        const { mode } = yield* CurrentTenant
        if (mode === "live") {
          const problem = "must be left out or null in live mode: test clocks are for test mode"
          return yield* new InvalidInput({ field: "testClockId", problem })
        }
        const held = yield* clocks.modify(testClockId, Effect.succeed)
        if (Option.isSome(held)) return held.value.now
        return yield* new TestClockNotFound({ id: testClockId, field: "testClockId" })
      })

      const insert = Effect.fnUntraced(function* (fields: CreateCustomer, now: DateTime.Utc) {
        const id = CustomerId.make(yield* ids.next(CUSTOMER_ID_PREFIX))
        const customer: Customer = {
          id,
          ...NOTHING_KNOWN,
          testClockId: null,
          metadata: {},
          ...fields,
          createdAt: now,
          updatedAt: now,
        }
        yield* store.insert(customer)
        return customer
      })

      const create = Effect.fn("Customers.create")(function* (input: CreateCustomer) {
        const fields = yield* decodeCreate(input)
        const { testClockId = null } = fields
        if (testClockId === null) return yield* insert(fields, yield* DateTime.now)
        return yield* transactor.atomically(Effect.flatMap(timeOf(testClockId), (now) => insert(fields, now)))
      })

      const get = Effect.fn("Customers.get")(function* (id: string) {
        const found = yield* store.find(yield* knownId(id))
        return yield* orNotFound(found, id)
      })

      const update = Effect.fn("Customers.update")(function* (id: string, input: UpdateCustomer) {
        const change = yield* decodeUpdate(input)
        const known = yield* knownId(id)
        const now = yield* time.within(known, DateTime.now)
        const changed = yield* store.modify(known, (customer) => apply(customer, change, now))
        return yield* orNotFound(changed, id)
      })

      const erase = Effect.fn("Customers.erase")(function* (id: string) {
        const known = yield* knownId(id)
        const forget = Effect.catchTag(onErase(known), "InvalidInput", Effect.die)
        const remove = Effect.gen(function* () {
          const held = yield* store.modify(known, Effect.succeed)
          if (Option.isNone(held)) return yield* store.remove(known)
          // Nobody can look it up any more once the customer is removed.
          const now = yield* time.of(known)
          yield* forget
          yield* store.remove(known)
          // Once more: the removal has waited for others who gave the customer something new, such as first credits of a unit.
          yield* Option.isNone(now) ? forget : WallClock.standingAt(now.value, forget)
          return true
        })
        // Deletes stored answers too. Otherwise a repeated request would get the erased data.
        const erased = yield* transactor.atomically(
          remove.pipe(
            Effect.tap(() => refuseSubscribed(known)),
            Effect.tap(() => answers.forget(known)),
            // These stay without their bodies, so that nothing is done twice.
            Effect.tap(() => answers.redact(subjectOfCustomer(known))),
            Effect.tap((isKnown) => (isKnown ? afterErasure(known) : Effect.void)),
          ),
        )
        if (!erased) return yield* new CustomerNotFound({ id })
      })

      const list = Effect.fn("Customers.list")(function* (query: ListCustomers = {}) {
        const request = yield* decodeList(query)
        const page = yield* toQuery(request)
        const { search, ...fields } = filterOf(request)
        const filter = { ...fields, search: search === undefined ? undefined : folded(search) }
        return yield* store.list(filter, page).pipe(nameCursor(request))
      })

      return Customers.of({ create, get, update, erase, list })
    }),
  )
}

/** Applies an update. An empty update leaves `updatedAt` as it is. */
const apply = (customer: Customer, { metadata, ...fields }: UpdateCustomer, now: DateTime.Utc) =>
  metadata === undefined && Object.keys(fields).length === 0
    ? Effect.succeed(customer)
    : decodeCustomer({
        ...customer,
        ...fields,
        metadata: metadata === undefined ? customer.metadata : Metadata.patch(customer.metadata, metadata),
        updatedAt: now,
      })
