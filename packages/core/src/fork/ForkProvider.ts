/**
 * The payment provider of a fork: it takes the place of the real one, and moves no money.
 */
import { FakeProvider, type FakePayment } from "../payments/FakeProvider.ts"
import { MANUAL_PROVIDER, type StoredPayment } from "../payments/Payment.ts"
import type { PaymentMethod } from "../payments/PaymentMethod.ts"
import type { PaymentProvider } from "../payments/PaymentProvider.ts"
import type { CustomerSnapshot } from "./CustomerSnapshot.ts"

/** What a fork has to know of the real provider. */
export type RealProvider = Pick<PaymentProvider, "name"> & {
  readonly chargeable?: PaymentProvider["chargeable"]
  /** Whether it saves payment methods of customers. */
  readonly savesMethods: boolean
}

/** What a provider would say of a payment. Of an open one, nothing was attempted since. */
const knownOf = (
  { tenant }: CustomerSnapshot,
  { amount, currency, customerId, id, invoiceId, reference, status }: StoredPayment & { reference: string },
): FakePayment => ({
  paymentId: id,
  mode: tenant.mode,
  invoiceId,
  customerId,
  customer: null,
  amount,
  currency,
  reference,
  state: { status },
  isClosed: status === "closed",
  charges: status === "succeeded" ? 1 : 0,
  attempts: [],
})

/** The provider that a snapshot has payments or payment methods of. `undefined`: none. */
export const providerOf = ({ payments, values }: CustomerSnapshot): RealProvider | undefined => {
  const methods = (values["PaymentMethod"] ?? []) as ReadonlyArray<PaymentMethod>
  const charged = payments.findLast(({ provider }) => provider !== MANUAL_PROVIDER)
  const name = charged?.provider ?? methods.at(-1)?.provider
  return name === undefined ? undefined : { name, savesMethods: methods.some((one) => one.provider === name) }
}

/**
 * The provider of a fork: it knows the customer's payments, and each attempt with a saved payment method succeeds. Without
 * one, it declines as the real one would. What the real one has not decided yet counts as not attempted.
 */
export const forkProvider = (
  snapshot: CustomerSnapshot,
  { chargeable, name, savesMethods }: RealProvider,
): FakeProvider =>
  new FakeProvider({
    name,
    hasMethods: savesMethods,
    mode: snapshot.tenant.mode,
    ...(chargeable === undefined ? {} : { chargeable }),
    known: snapshot.payments.flatMap((payment) => {
      const { provider, reference } = payment
      return provider === name && reference !== null ? [knownOf(snapshot, { ...payment, reference })] : []
    }),
    outcomeOf: ({ method }) =>
      savesMethods && method === null ? undefined : ({ status: "succeeded" } as const),
  })
