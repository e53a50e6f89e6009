/**
 * Payments with one planted bug each: in what is stored of them, and in how the provider is called.
 */
import {
  CurrentTenant,
  DueStore,
  EventStore,
  InvoiceStore,
  type Payment,
  type PaymentProvider,
  PaymentStore,
  ProviderFailure,
  Transactor,
} from "@billwright/core"
import { Context, Effect } from "effect"
import type { PaymentMutations } from "../../src/payments/Collecting.ts"
import type { PaymentInvariant } from "../../src/payments/PaymentCheckers.ts"
import { change } from "./Mutation.ts"

export interface PaymentBug extends PaymentMutations {
  readonly name: string
  /** The invariants that it breaks. At least one of them must fail. */
  readonly breaks: ReadonlyArray<PaymentInvariant>
}

export const stored = (
  name: string,
  breaks: ReadonlyArray<PaymentInvariant>,
  breakStorage: PaymentMutations["breakStorage"] & {},
): PaymentBug => ({ name, breaks, breakStorage })

export const called = (
  name: string,
  breaks: ReadonlyArray<PaymentInvariant>,
  patch: (provider: PaymentProvider) => Partial<PaymentProvider>,
): PaymentBug => ({ name, breaks, breakProvider: (provider) => ({ ...provider, ...patch(provider) }) })

type Stored = Payment.StoredPayment

/** Stores every change of a payment otherwise. */
const saving = (changed: (payment: Stored) => Stored) =>
  change(PaymentStore, ({ save }) => ({ save: (payment) => save(changed(payment)) }))

const isPaid = ({ status }: Stored): boolean => status === "succeeded"

export const payments: ReadonlyArray<PaymentBug> = [
  stored(
    "a new payment is opened whenever what became of one is not known",
    ["charged", "attempts"],
    (ports) => {
      const store = Context.get(ports, PaymentStore)
      return Context.add(ports, PaymentStore, {
        ...store,
        save: (payment) =>
          Effect.gen(function* () {
            const { collection: before } = payment
            const attempted = before?.attempt
            const isKnown = before?.state !== "unresolved" || payment.reference === null
            if (isKnown || before === null || !attempted) return yield* store.save(payment)
            yield* store.save({ ...payment, status: "closed", dueAt: null })
            const id = payment.id.replace(/.$/, (last) => (last === "0" ? "1" : "0")) as typeof payment.id
            const attempt = { ...attempted, id: `${id}.1`, status: "ready" } as const
            const collection = { ...before, state: "collecting", attempt } as const
            yield* store.insert({ ...payment, id, reference: null, collection })
          }),
      })
    },
  ),
  called("an attempt whose answer is lost counts as declined", ["attempts"], ({ attemptPayment }) => ({
    attemptPayment: (attempt) =>
      Effect.catchTag(attemptPayment(attempt), "ProviderFailure", () =>
        Effect.succeed({
          status: "declined",
          attemptId: attempt.attemptId,
          code: "try_again",
          advice: null,
          notBefore: null,
        } as const),
      ),
  })),
  called(
    "an attempt whose answer is lost counts as one that was never sent",
    ["attempts", "booked", "resolved"],
    ({ attemptPayment }) => ({
      attemptPayment: (attempt) =>
        Effect.mapError(
          attemptPayment(attempt),
          ({ message }) => new ProviderFailure({ reason: "permanent", message }),
        ),
    }),
  ),
  called("a payment counts as closed although the bank was not asked", ["charged", "attempts"], () => ({
    closePayment: () => Effect.succeed("closed" as const),
  })),
  called("more is asked for than is due", ["charged", "booked"], ({ openPayment }) => ({
    openPayment: (payment) => openPayment({ ...payment, amount: payment.amount + 1n }),
  })),
  called("a payment is opened for another invoice", ["booked"], ({ openPayment }) => {
    let first: Parameters<typeof openPayment>[0] | undefined
    return {
      openPayment: (payment) => {
        first ??= payment
        return openPayment({ ...payment, invoiceId: first.invoiceId })
      },
    }
  }),
  called("the customer's confirmation counts as the money", ["booked"], ({ readPayment }) => ({
    readPayment: (reference) =>
      Effect.map(readPayment(reference), (read) =>
        read.status === "processing" ? ({ status: "succeeded" } as const) : read,
      ),
  })),
  stored(
    "that a payment has succeeded is not stored",
    ["booked", "invoices"],
    change(PaymentStore, ({ save }) => ({
      save: (payment) => (isPaid(payment) ? Effect.void : save(payment)),
    })),
  ),
  stored(
    "what is overpaid is forgotten",
    ["invoices", "J10"],
    change(PaymentStore, ({ insert, save }) => ({
      insert: (payment) => insert({ ...payment, overpaid: 0n }),
      save: (payment) => save({ ...payment, overpaid: 0n }),
    })),
  ),
  stored(
    "an invoice is not paid when its payment is",
    ["invoices"],
    change(InvoiceStore, ({ save }) => ({
      save: (invoice) => (invoice.state.status === "paid" ? Effect.void : save(invoice)),
    })),
  ),
  stored(
    "a payment that was recorded is stored without its reference",
    ["recorded"],
    change(PaymentStore, ({ insert }) => ({
      insert: (payment) => insert({ ...payment, reference: null }),
    })),
  ),
  stored(
    "a payment that waits for the bank is not read again",
    ["resolved", "booked"],
    saving((payment) => (payment.collection?.state === "processing" ? { ...payment, dueAt: null } : payment)),
  ),
  stored(
    "a lease never holds",
    ["resolved"],
    change(DueStore, () => ({ holds: () => Effect.succeed(false) })),
  ),
  stored(
    "the answer is kept although its transaction is rolled back",
    ["booked", "invoices", "resolved", "J10"],
    (ports) => {
      const store = Context.get(ports, PaymentStore)
      const transactor = Context.get(ports, Transactor)
      let last: Effect.Effect<unknown, unknown> = Effect.void
      return ports.pipe(
        Context.add(PaymentStore, {
          ...store,
          save: (payment) =>
            Effect.gen(function* () {
              const tenant = yield* CurrentTenant
              last = Effect.provideService(store.save(payment), CurrentTenant, tenant)
              yield* store.save(payment)
            }),
        }),
        Context.add(Transactor, {
          ...transactor,
          atomically: (effect) =>
            Effect.gen(function* () {
              if (yield* transactor.inTransaction) return yield* transactor.atomically(effect)
              last = Effect.void
              return yield* Effect.onError(transactor.atomically(effect), () => Effect.ignore(last))
            }),
        }),
      )
    },
  ),
  stored(
    "payments are stored in test mode",
    ["invoices", "booked"],
    change(PaymentStore, ({ insert }) => ({
      insert: (payment) =>
        Effect.updateService(insert(payment), CurrentTenant, (tenant) => ({
          ...tenant,
          mode: "test" as const,
        })),
    })),
  ),
  stored(
    "the events of succeeded payments are not stored",
    ["J10"],
    change(EventStore, ({ publish }) => ({
      publish: (event) =>
        event.type === "payment.succeeded" ? Effect.succeed({ _tag: "Published", event }) : publish(event),
    })),
  ),
]
