/**
 * Writes payment methods, each change with its event.
 */
import { expiringFrom, type SetupRead } from "@billwright/engine"
import { DateTime, Effect, Option, Schema } from "effect"
import { customers } from "../customers/Customer.ts"
import { Outbox } from "../events/Outbox.ts"
import { Crediting } from "../invoices/Crediting.ts"
import { InvoiceSettings } from "../invoices/InvoiceSettings.ts"
import { Collections } from "../shared/Collections.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import {
  ABANDONED,
  MAX_PAYMENT_METHODS,
  type PaymentMethod,
  PaymentMethodId,
  paymentMethods,
  type PaymentMethodStatus,
  SavedFields,
} from "./PaymentMethod.ts"
import { methodData, methodEvents } from "./PaymentMethodEvents.ts"

const decodeSaved = decoder(SavedFields)

/** Longest code of a setup that failed, in characters. */
const MAX_CODE_LENGTH = 100

type Written<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>

/** Gives the functions that write payment methods in the current transaction. */
export const makeMethodBook = Effect.gen(function* () {
  const collections = yield* Collections
  const store = collections.of(paymentMethods)
  const owners = collections.of(customers)
  const outbox = yield* Outbox
  const settings = yield* InvoiceSettings
  const crediting = yield* Crediting

  const publish = (method: PaymentMethod, type: keyof typeof methodEvents): Written<void> =>
    Effect.asVoid(outbox.publish(methodEvents[type], methodData(method), { customerId: method.customerId }))

  const ofCustomer = (customerId: PaymentMethod["customerId"], status: PaymentMethodStatus) =>
    store
      .list({ customerId, status }, { limit: MAX_PAYMENT_METHODS, cursor: undefined })
      .pipe(Effect.catchTag("CursorNotFound", Effect.die))

  /** The method with which invoices of a customer are collected, of this provider. */
  const defaultOf = Effect.fnUntraced(function* (customerId: PaymentMethod["customerId"], provider: string) {
    const { data } = yield* ofCustomer(customerId, "attached")
    return data.find((method) => method.isDefault && method.provider === provider)
  })

  /** A method of a customer that this provider has saved, if it still has it. */
  const attached = Effect.fnUntraced(function* (
    id: string,
    customerId: PaymentMethod["customerId"],
    provider: string,
  ) {
    if (!Schema.is(PaymentMethodId)(id)) return undefined
    const found = Option.getOrUndefined(yield* store.find(id))
    const isThere =
      found?.customerId === customerId && found.provider === provider && found.status === "attached"
    return isThere ? found : undefined
  })

  /**
   * Changes a method, while nobody else changes methods of its customer. `none` if there is no such method. `work` gives
   * nothing when it leaves the method as it is. It learns whether the customer was erased.
   */
  const change = Effect.fnUntraced(function* <E>(
    id: PaymentMethodId,
    work: (
      method: PaymentMethod,
      isErased: boolean,
    ) => Effect.Effect<PaymentMethod | undefined, E, CurrentTenant>,
  ): Effect.fn.Return<Option.Option<PaymentMethod>, E | StorageError, CurrentTenant> {
    const found = yield* store.find(id)
    if (Option.isNone(found)) return Option.none()
    const owner = yield* owners.modify(found.value.customerId, Effect.succeed)
    return yield* store.modify(id, (held) =>
      Effect.gen(function* () {
        const changed = yield* work(held, Option.isNone(owner))
        return changed === undefined ? held : { ...changed, updatedAt: yield* DateTime.now }
      }),
    )
  })

  /** Takes the default from the method that has it. */
  const clearDefault = Effect.fnUntraced(function* (customerId: PaymentMethod["customerId"]) {
    const { data } = yield* ofCustomer(customerId, "attached")
    const updatedAt = yield* DateTime.now
    for (const { id, isDefault } of data) {
      if (!isDefault) continue
      const cleared = yield* store.modify(id, (method) =>
        Effect.succeed({ ...method, isDefault: false, updatedAt }),
      )
      if (Option.isSome(cleared)) yield* publish(cleared.value, "payment_method.updated")
    }
  })

  const failed = (method: PaymentMethod, code: string): PaymentMethod => ({
    ...method,
    status: "failed",
    failureCode: code.slice(0, MAX_CODE_LENGTH) || "failed",
  })

  /**
   * Applies what the provider says of a setup. Only a pending method changes. The first method of a customer becomes its
   * default.
   */
  const apply = (id: PaymentMethodId, read: SetupRead): Written<Option.Option<PaymentMethod>> =>
    change(id, (method) =>
      Effect.gen(function* () {
        if (method.status !== "pending" || read.status === "pending") return undefined
        if (read.status === "failed") return failed(method, read.code)
        const saved = yield* decodeSaved(read.method)
        const { data } = yield* ofCustomer(method.customerId, "attached")
        const isDefault = !data.some((other) => other.isDefault)
        const attached: PaymentMethod = { ...method, ...saved, status: "attached", isDefault }
        yield* publish(attached, "payment_method.attached")
        yield* crediting.noteMethod(method.customerId)
        return attached
      }),
    )

  /** A method that was not saved in time. */
  const abandon = (id: PaymentMethodId) =>
    change(id, (method) =>
      Effect.succeed(method.status === "pending" ? failed(method, ABANDONED) : undefined),
    )

  const detach = (id: PaymentMethodId) =>
    change(id, (method) =>
      Effect.gen(function* () {
        if (method.status === "detached") return undefined
        const detachedAt = yield* DateTime.now
        const detached: PaymentMethod = { ...method, status: "detached", isDefault: false, detachedAt }
        if (method.status === "attached") yield* publish(detached, "payment_method.detached")
        return detached
      }),
    )

  /** When a method counts as expiring, in epoch milliseconds. `null`: never, or it was told. */
  const expiringAt = Effect.fnUntraced(function* ({ customerId, expiringSince, expiry }: PaymentMethod) {
    if (expiry === null || expiringSince !== null) return null
    const found = yield* owners.find(customerId)
    const timezone = Option.getOrUndefined(found)?.timezone ?? settings.timezone
    return expiringFrom(expiry, timezone)
  })

  /** Tells that a method expires, once. */
  const noteExpiring = (id: PaymentMethodId) =>
    change(id, (method) =>
      Effect.gen(function* () {
        if (method.status !== "attached" || method.expiringSince !== null) return undefined
        const noted: PaymentMethod = { ...method, expiringSince: yield* DateTime.now }
        yield* publish(noted, "payment_method.expiring")
        return noted
      }),
    )

  return {
    store,
    attached,
    apply,
    abandon,
    change,
    clearDefault,
    defaultOf,
    detach,
    expiringAt,
    noteExpiring,
    ofCustomer,
    publish,
  }
})
