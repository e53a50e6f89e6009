/**
 * The use cases of payment methods.
 */
import { nextSetupRead } from "@billwright/engine"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { CustomerNotFound, customers } from "../customers/Customer.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { makeMethodBook } from "../payments/MethodBook.ts"
import type { MethodProvider } from "../payments/MethodProvider.ts"
import {
  CreatePaymentMethod,
  ListPaymentMethods,
  MAX_PAYMENT_METHODS,
  type MethodSetup,
  PAYMENT_METHOD_ID_PREFIX,
  type PaymentMethod,
  PaymentMethodId,
  type PaymentMethodNotFound,
  paymentMethods,
  PaymentProviderUnavailable,
  StartMethodSetup,
  UpdatePaymentMethod,
} from "../payments/PaymentMethod.ts"
import { CurrentProvider } from "../payments/PaymentProvider.ts"
import { within } from "../payments/ProviderCalls.ts"
import type { ProviderFailure } from "../payments/ProviderFailure.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import * as Metadata from "../shared/Metadata.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import * as Resource from "../shared/Resource.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { DueStore } from "./DueStore.ts"

const decodeCreate = decoder(CreatePaymentMethod)
const decodeUpdate = decoder(UpdatePaymentMethod)
const decodeSetup = decoder(StartMethodSetup)
const decodeList = decoder(ListPaymentMethods)
const { knownId, orNotFound } = ById.of(paymentMethods)

type Failure = InvoicingUnsupported | StorageError
type Unavailable = ActionUnavailable | PaymentProviderUnavailable

/** Begins, saves, reads, changes, lists and detaches the payment methods of the current tenant. */
export class PaymentMethods extends Context.Service<
  PaymentMethods,
  {
    /** Begins a method. It is `pending`: `startSetup` says how the customer saves it at the payment provider. */
    readonly create: (
      input: CreatePaymentMethod,
    ) => Effect.Effect<
      PaymentMethod,
      ActionUnavailable | CustomerNotFound | InvalidInput | Failure,
      CurrentTenant
    >

    /**
     * Asks the payment provider how the customer saves a pending method. What it gives out is not stored. Repeating it
     * gives the same setup. Not within a transaction.
     */
    readonly startSetup: (
      id: string,
      input?: StartMethodSetup,
    ) => Effect.Effect<
      MethodSetup,
      InvalidInput | PaymentMethodNotFound | Unavailable | Failure,
      CurrentTenant
    >

    /**
     * Reads at the payment provider whether the customer has saved a pending method, which is then `attached`. Any other
     * method is given as it is. Not within a transaction.
     */
    readonly refresh: (
      id: string,
    ) => Effect.Effect<
      PaymentMethod,
      InvalidInput | PaymentMethodNotFound | Unavailable | Failure,
      CurrentTenant
    >

    readonly get: (
      id: string,
    ) => Effect.Effect<PaymentMethod, PaymentMethodNotFound | StorageError, CurrentTenant>

    /** Makes a method the default of its customer, or not any more, and changes metadata. */
    readonly update: (
      id: string,
      input: UpdatePaymentMethod,
    ) => Effect.Effect<
      PaymentMethod,
      ActionUnavailable | InvalidInput | PaymentMethodNotFound | Failure,
      CurrentTenant
    >

    /** Detaches a method for good. A billing run tells the payment provider. Doing it again changes nothing. */
    readonly detach: (
      id: string,
    ) => Effect.Effect<void, InvalidInput | PaymentMethodNotFound | Failure, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListPaymentMethods,
    ) => Effect.Effect<Page<PaymentMethod>, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/time/PaymentMethods") {
  static readonly layer = Layer.effect(
    PaymentMethods,
    Effect.gen(function* () {
      const provider = yield* CurrentProvider
      const book = yield* makeMethodBook
      const { store } = book
      const owners = (yield* Collections).of(customers)
      const duePort = yield* optionalPort(DueStore)
      const transactor = yield* Transactor
      const ids = yield* IdGenerator

      const schedule = Effect.fnUntraced(function* (id: PaymentMethodId, at: number | null) {
        yield* (yield* duePort).schedule({ kind: "payment_method", id }, at)
      })
      const scheduleNow = (id: PaymentMethodId) =>
        Effect.flatMap(DateTime.now, ({ epochMilliseconds }) => schedule(id, epochMilliseconds))

      /** The part of the provider that saves methods. */
      const saving = (id: string) => {
        const methods = provider?.methods
        return provider === null || methods === undefined
          ? Effect.fail(unavailable(id, "there is no payment provider that saves payment methods"))
          : Effect.succeed({ name: provider.name, methods })
      }

      const create = Effect.fn("PaymentMethods.create")(function* (input: CreatePaymentMethod) {
        const { customerId, metadata = {} } = yield* decodeCreate(input)
        const { name } = yield* saving(customerId)
        return yield* transactor.atomically(
          Effect.gen(function* () {
            const owner = yield* owners.modify(customerId, Effect.succeed)
            if (Option.isNone(owner))
              return yield* new CustomerNotFound({ id: customerId, field: "customerId" })
            const pending = (yield* book.ofCustomer(customerId, "pending")).data
            const attached = (yield* book.ofCustomer(customerId, "attached")).data
            // Those that are pending count, because all of them may be attached.
            if (pending.length + attached.length >= MAX_PAYMENT_METHODS) {
              const problem = `has ${MAX_PAYMENT_METHODS} payment methods that are pending or attached, which is the limit`
              return yield* new InvalidInput({ field: "customerId", problem })
            }
            const now = yield* DateTime.now
            const method: PaymentMethod = {
              ...Resource.unset(paymentMethods),
              id: PaymentMethodId.make(yield* ids.next(PAYMENT_METHOD_ID_PREFIX)),
              customerId,
              provider: name,
              status: "pending",
              isDefault: false,
              metadata,
              createdAt: now,
              updatedAt: now,
            }
            yield* store.insert(method)
            yield* schedule(method.id, nextSetupRead(now.epochMilliseconds, now.epochMilliseconds))
            return method
          }),
        )
      })

      const get = Effect.fn("PaymentMethods.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      /** Calls the provider of a method, which is not in a transaction. */
      const calling = Effect.fnUntraced(function* <A>(
        { id, provider: owner }: PaymentMethod,
        call: (methods: MethodProvider) => Effect.Effect<A, ProviderFailure>,
      ) {
        const { methods, name } = yield* saving(id)
        if (name !== owner) return yield* unavailable(id, `it is saved by the payment provider ${owner}`)
        if (yield* transactor.inTransaction) {
          return yield* unavailable(id, "the payment provider can't be called within a transaction")
        }
        return yield* Effect.mapError(
          within(() => call(methods)),
          ({ reason }) => new PaymentProviderUnavailable({ provider: name, reason }),
        )
      })

      /** Stores what the provider answered on a method. The customer is held before the method, as by everybody. */
      const keep = ({ customerId, id }: PaymentMethod, answered: Partial<PaymentMethod>) =>
        transactor.atomically(
          Effect.gen(function* () {
            const owner = yield* owners.modify(customerId, Effect.succeed)
            const kept = store.modify(id, (method) => Effect.succeed({ ...method, ...answered }))
            const stored = yield* orNotFound(yield* kept, id)
            // While the provider was called, it was detached or its customer was erased. The provider must forget what it has.
            if (stored.status === "detached" || Option.isNone(owner)) yield* scheduleNow(stored.id)
            return stored
          }),
        )

      const mustBePending = ({ id, status }: PaymentMethod) =>
        status === "pending"
          ? Effect.void
          : unavailable(id, `startSetup is not possible: the payment method is ${status}`)

      /** How the provider names the customer. It is asked only once. */
      const customerOf = Effect.fnUntraced(function* (method: PaymentMethod) {
        const { customerId } = method
        if (method.providerCustomer !== null) return method.providerCustomer
        const pages = [
          yield* book.ofCustomer(customerId, "attached"),
          yield* book.ofCustomer(customerId, "pending"),
        ]
        const known = pages
          .flatMap(({ data }) => data)
          .find(
            ({ provider: name, providerCustomer }) => name === method.provider && providerCustomer !== null,
          )
        if (known !== undefined) return known.providerCustomer!
        const owner = yield* owners.find(customerId)
        if (Option.isNone(owner)) return yield* unavailable(method.id, "its customer was erased")
        const { email, name } = owner.value
        const made = yield* calling(method, (methods) => methods.ensureCustomer({ customerId, name, email }))
        // At once, so that an erasure finds the customer there also when the setup doesn't start.
        yield* mustBePending(yield* keep(method, { providerCustomer: made.reference }))
        return made.reference
      })

      const startSetup = Effect.fn("PaymentMethods.startSetup")(function* (
        id: string,
        input: StartMethodSetup = {},
      ) {
        const { returnUrl = null } = yield* decodeSetup(input)
        const method = yield* get(id)
        yield* mustBePending(method)
        const customer = yield* customerOf(method)
        const { clientSecret, reference, url } = yield* calling(method, (methods) =>
          methods.startSetup({ setupId: method.id, customer, returnUrl }),
        )
        const paymentMethod = yield* keep(method, { providerCustomer: customer, setupReference: reference })
        return { paymentMethod, clientSecret, url }
      })

      const refresh = Effect.fn("PaymentMethods.refresh")(function* (id: string) {
        const method = yield* get(id)
        const { setupReference, status } = method
        if (status !== "pending" || setupReference === null) return method
        const read = yield* calling(method, (methods) => methods.readSetup(setupReference))
        return yield* transactor.atomically(
          Effect.gen(function* () {
            const applied = yield* orNotFound(yield* book.apply(method.id, read), id)
            if (applied.status === "attached") yield* scheduleNow(applied.id)
            return applied
          }),
        )
      })

      const update = Effect.fn("PaymentMethods.update")(function* (id: string, input: UpdatePaymentMethod) {
        const { isDefault, metadata } = yield* decodeUpdate(input)
        const known = yield* knownId(id)
        return yield* transactor.atomically(
          Effect.gen(function* () {
            const changed = yield* book.change(known, (method, isErased) =>
              Effect.gen(function* () {
                // Nothing would remove what is written now.
                if (isErased) return yield* unavailable(id, "its customer was erased")
                // It is asked here, where nobody detaches the method meanwhile.
                if (isDefault === true && method.status !== "attached") {
                  const problem = `it can't be the default: the payment method is ${method.status}`
                  return yield* unavailable(id, problem)
                }
                if (isDefault === undefined && metadata === undefined) return undefined
                if (isDefault === true && !method.isDefault) yield* book.clearDefault(method.customerId)
                const updated: PaymentMethod = {
                  ...method,
                  isDefault: isDefault ?? method.isDefault,
                  metadata:
                    metadata === undefined ? method.metadata : Metadata.patch(method.metadata, metadata),
                }
                yield* book.publish(updated, "payment_method.updated")
                return updated
              }),
            )
            const updated = yield* orNotFound(changed, id)
            if (isDefault === true) yield* scheduleNow(known)
            return updated
          }),
        )
      })

      const detach = Effect.fn("PaymentMethods.detach")(function* (id: string) {
        const known = yield* knownId(id)
        yield* transactor.atomically(
          Effect.gen(function* () {
            const { status } = yield* get(id)
            if (status === "detached") return
            yield* orNotFound(yield* book.detach(known), id)
            yield* scheduleNow(known)
          }),
        )
      })

      const list = Effect.fn("PaymentMethods.list")(function* (query: ListPaymentMethods = {}) {
        const request = yield* decodeList(query)
        return yield* store.list(filterOf(request), yield* toQuery(request)).pipe(nameCursor(request))
      })

      return PaymentMethods.of({ create, startSetup, refresh, get, update, detach, list })
    }),
  )
}

const unavailable = (id: string, problem: string): ActionUnavailable =>
  new ActionUnavailable({ object: "payment method", id, problem })
