/**
 * The payment provider of a fork: it takes the place of the real one, and moves no money.
 */
import { Effect } from "effect"
import { FakeProvider, type FakeOptions, type FakePayment } from "../payments/FakeProvider.ts"
import { MANUAL_PROVIDER, type StoredPayment } from "../payments/Payment.ts"
import type { PaymentMethod } from "../payments/PaymentMethod.ts"
import type { PaymentProvider } from "../payments/PaymentProvider.ts"
import type { ProviderRefund, RefundQuery } from "../payments/ProviderRefunds.ts"
import type { Refund } from "../payments/Refund.ts"
import { isOpenRefund } from "../payments/RefundBook.ts"
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

/** What a provider would say of the refunds that it has named and not decided yet: they succeed. */
const refundsOf = ({ payments, values }: CustomerSnapshot): ReadonlyArray<ProviderRefund> =>
  ((values["Refund"] ?? []) as ReadonlyArray<Refund>).filter(isOpenRefund).flatMap((refund) => {
    const { amount, currency, id: refundId, paymentId, reference } = refund
    const paymentReference = payments.find(({ id }) => id === paymentId)?.reference ?? null
    if (reference === null || paymentReference === null) return []
    return [{ reference, paymentReference, refundId, amount, currency, status: "succeeded", code: null }]
  })

/** A provider that knows the refunds of a snapshot, beside those that it makes. */
class ProviderOfFork extends FakeProvider {
  readonly #known: ReadonlyArray<ProviderRefund>

  constructor(options: FakeOptions, known: ReadonlyArray<ProviderRefund>) {
    super(options)
    this.#known = known
  }

  override readRefund(query: RefundQuery) {
    const known =
      "reference" in query ? this.#known.find(({ reference }) => reference === query.reference) : undefined
    return known === undefined ? super.readRefund(query) : Effect.succeed(known)
  }
}

/** The provider that a snapshot has payments or payment methods of. `undefined`: none. */
export const providerOf = ({ payments, values }: CustomerSnapshot): RealProvider | undefined => {
  const methods = (values["PaymentMethod"] ?? []) as ReadonlyArray<PaymentMethod>
  const charged = payments.findLast(({ provider }) => provider !== MANUAL_PROVIDER)
  const name = charged?.provider ?? methods.at(-1)?.provider
  return name === undefined ? undefined : { name, savesMethods: methods.some((one) => one.provider === name) }
}

/**
 * The provider of a fork: it knows the customer's payments, and each attempt with a saved payment method succeeds. Without
 * one, it declines as the real one would. What the real one has not decided yet counts as not
 * attempted, and a refund succeeds.
 */
export const forkProvider = (
  snapshot: CustomerSnapshot,
  { chargeable, name, savesMethods }: RealProvider,
): FakeProvider =>
  new ProviderOfFork(
    {
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
    },
    refundsOf(snapshot),
  )
