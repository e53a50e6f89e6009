/**
 * What a runner does on payment methods: it reads those that are not saved yet, tells of those that expire, and has the
 * payment provider forget those that were detached, and customers who were erased.
 */
import { nextSetupRead } from "@billwright/engine"
import { DateTime, Effect, Option } from "effect"
import { customers } from "../customers/Customer.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { makeMethodBook } from "../payments/MethodBook.ts"
import type { MethodProvider } from "../payments/MethodProvider.ts"
import { makeNewMethod } from "../payments/NewMethod.ts"
import type { PaymentMethod, PaymentMethodId } from "../payments/PaymentMethod.ts"
import { CurrentProvider } from "../payments/PaymentProvider.ts"
import { within } from "../payments/ProviderCalls.ts"
import type { ProviderFailure } from "../payments/ProviderFailure.ts"
import { Collections } from "../shared/Collections.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { type ClaimedSubject, DueStore } from "./DueStore.ts"

type Run<A> = Effect.Effect<A, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant>

/** Makes the work on a payment method that a runner has claimed. */
export const makeMethodRun = Effect.gen(function* () {
  const provider = yield* CurrentProvider
  const book = yield* makeMethodBook
  const owners = (yield* Collections).of(customers)
  const attemptWaiting = yield* makeNewMethod
  const duePort = yield* optionalPort(DueStore)
  const { atomically } = yield* Transactor

  const schedule = (id: PaymentMethodId, at: number | null) =>
    Effect.flatMap(duePort, (due) => due.schedule({ kind: "payment_method", id }, at))

  /** Does something in a transaction, if the lease holds. The customer is held before the method, as by everybody. */
  const holding = (claimed: ClaimedSubject, { customerId }: PaymentMethod, work: Run<unknown>): Run<void> =>
    atomically(
      Effect.gen(function* () {
        const due = yield* duePort
        yield* owners.modify(customerId, Effect.succeed)
        if (yield* due.holds(claimed)) yield* work
      }),
    )

  /** Calls the provider of a method. A failure fails the visit, so that the runner tries again later. */
  const calling = <A>(
    { provider: owner }: PaymentMethod,
    call: (methods: MethodProvider) => Effect.Effect<A, ProviderFailure>,
  ): Effect.Effect<A> => {
    const methods = provider?.name === owner ? provider.methods : undefined
    return methods === undefined
      ? Effect.die(new TypeError(`the payment provider ${owner} is not there`))
      : within(() => call(methods)).pipe(
          Effect.catch(({ reason }) =>
            Effect.die(new TypeError(`the payment provider ${owner} failed: ${reason}`)),
          ),
        )
  }

  /** Reads a method that is not saved yet. */
  const readPending = (claimed: ClaimedSubject, method: PaymentMethod): Run<void> =>
    Effect.gen(function* () {
      const { createdAt, id, setupReference } = method
      const read =
        setupReference === null
          ? ({ status: "pending" } as const)
          : yield* calling(method, (methods) => methods.readSetup(setupReference))
      const { epochMilliseconds: now } = yield* DateTime.now
      const next = nextSetupRead(createdAt.epochMilliseconds, now)
      const note = Effect.gen(function* () {
        const applied = Option.getOrUndefined(yield* book.apply(id, read))
        if (applied?.status === "attached") return yield* schedule(id, now)
        if (next === null) yield* book.abandon(id)
        yield* schedule(id, applied?.status === "pending" ? next : null)
      })
      yield* holding(claimed, method, note)
    })

  /** Attempts what waits for a method, tells of one that expires, and comes back when it does. */
  const watch = (claimed: ClaimedSubject, method: PaymentMethod): Run<void> =>
    Effect.gen(function* () {
      yield* attemptWaiting(method)
      const expiringAt = yield* book.expiringAt(method)
      const { epochMilliseconds: now } = yield* DateTime.now
      const isExpiring = expiringAt !== null && expiringAt <= now
      const note = Effect.gen(function* () {
        if (isExpiring) yield* book.noteExpiring(method.id)
        yield* schedule(method.id, isExpiring ? null : expiringAt)
      })
      yield* holding(claimed, method, note)
    })

  /** How the provider names a method. `null`: it has none. `undefined`: the customer may still save it. */
  const savedAs = (method: PaymentMethod): Effect.Effect<string | null | undefined> => {
    const { reference, setupReference } = method
    if (reference !== null || setupReference === null) return Effect.succeed(reference)
    return Effect.map(
      calling(method, (methods) => methods.readSetup(setupReference)),
      (read) => {
        if (read.status === "saved") return read.method.reference
        return read.status === "pending" ? undefined : null
      },
    )
  }

  /** Has the provider forget the name of a customer who was erased. */
  const forgetOwner = (method: PaymentMethod): Run<void> =>
    Effect.gen(function* () {
      const { customerId, providerCustomer } = method
      if (providerCustomer === null || (yield* owners.status(customerId)) !== "removed") return
      yield* calling(method, (methods) => methods.forgetCustomer?.(providerCustomer) ?? Effect.void)
    })

  /** Has the provider forget a method. One that is not saved yet is read as often as if it were wanted. */
  const forget = (claimed: ClaimedSubject, method: PaymentMethod): Run<void> =>
    Effect.gen(function* () {
      const reference = yield* savedAs(method)
      if (typeof reference === "string") {
        yield* calling(method, (methods) => methods.detachMethod(reference))
      }
      yield* forgetOwner(method)
      const { epochMilliseconds: now } = yield* DateTime.now
      const next = reference === undefined ? nextSetupRead(method.createdAt.epochMilliseconds, now) : null
      yield* holding(claimed, method, schedule(method.id, next))
    })

  return (claimed: ClaimedSubject, id: PaymentMethodId): Run<void> =>
    Effect.gen(function* () {
      const found = yield* book.store.find(id)
      if (Option.isNone(found)) return yield* schedule(id, null)
      switch (found.value.status) {
        case "pending":
          return yield* readPending(claimed, found.value)
        case "attached":
          return yield* watch(claimed, found.value)
        case "detached":
          return yield* forget(claimed, found.value)
        case "failed":
          yield* forgetOwner(found.value)
          return yield* holding(claimed, found.value, schedule(id, null))
      }
    })
})
