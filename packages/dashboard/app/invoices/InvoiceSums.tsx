/**
 * How the lines of an invoice become what is left to pay.
 */
import type { ReactNode } from "react"
import type { Invoice } from "../api/Types.ts"
import type { WireInteger } from "../Quantity.ts"
import { Amount } from "../ui/Money.tsx"

const CATEGORIES: Readonly<Record<Invoice["taxes"][number]["category"], string>> = {
  S: "Tax",
  Z: "Tax",
  E: "Tax: exempt",
  AE: "Tax: reverse charge",
  K: "Tax: goods to a business in the EU",
  G: "Tax: goods to outside the EU",
  O: "Not subject to tax",
}

const taxName = ({ category, country, rate }: Invoice["taxes"][number]): string =>
  [CATEGORIES[category], category === "S" || category === "Z" ? `${rate} %` : "", country ?? ""]
    .filter((part) => part !== "")
    .join(" ")

const Row = ({
  amount,
  children,
  currency,
  isSum = false,
}: {
  readonly children: ReactNode
  readonly amount: WireInteger
  readonly currency: string
  readonly isSum?: boolean
}) => (
  <div className={isSum ? "sum" : ""}>
    <dt>{children}</dt>
    <dd>
      <Amount amount={amount} currency={currency} />
    </dd>
  </div>
)

const negative = (amount: WireInteger): bigint => -BigInt(amount)
const isSome = (amount: WireInteger): boolean => BigInt(amount) !== 0n

const Discounts = ({ invoice: { currency, discounts } }: { readonly invoice: Invoice }) =>
  discounts.map(({ amount, id, name, percent, type }) => (
    <Row amount={negative(amount)} currency={currency} key={id}>
      {type === "coupon"
        ? `Coupon ${name ?? ""}${percent === null ? "" : `, ${percent} %`}`
        : "Promotional credit"}
    </Row>
  ))

const Settled = ({ invoice }: { readonly invoice: Invoice }) => {
  const { applied, currency } = invoice
  return (
    <>
      {applied.map(({ amount, id, type }) => (
        <Row amount={negative(amount)} currency={currency} key={id}>
          {type === "paid_credit" ? "Paid credit" : "Credit of the customer"}
        </Row>
      ))}
      {isSome(invoice.amount_paid) && (
        <Row amount={negative(invoice.amount_paid)} currency={currency}>
          Paid
        </Row>
      )}
      {isSome(invoice.amount_waived) && (
        <Row amount={negative(invoice.amount_waived)} currency={currency}>
          Waived by credit notes
        </Row>
      )}
      {isSome(invoice.credited) && (
        <Row amount={invoice.credited} currency={currency}>
          Kept as credit of the customer
        </Row>
      )}
      {invoice.status !== "draft" && (
        <Row amount={invoice.amount_due} currency={currency} isSum>
          Left to pay
        </Row>
      )}
    </>
  )
}

export const InvoiceSums = ({ invoice }: { readonly invoice: Invoice }) => {
  const { currency, tax_behavior: behaviour, taxes } = invoice
  return (
    <dl aria-label="Sums" className="sums">
      <Row amount={invoice.subtotal} currency={currency}>
        Lines together
      </Row>
      <Discounts invoice={invoice} />
      {taxes.map((tax, index) => (
        <Row amount={tax.amount} currency={currency} key={index}>
          {taxName(tax)}
          {behaviour === "inclusive" && isSome(tax.amount) && ", included"}
        </Row>
      ))}
      <Row amount={invoice.total} currency={currency} isSum>
        Total
      </Row>
      <Settled invoice={invoice} />
    </dl>
  )
}
