import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { components } from "../api/Schema.ts"
import type { Subscription } from "../api/Types.ts"
import { useRefreshBilling } from "../api/useRefreshBilling.ts"
import { CustomerPicker } from "../customers/CustomerPicker.tsx"
import { givenQuantities, PlanFields, QuantityFields } from "../plans/PlanFields.tsx"
import { quantityNames } from "../plans/PlanQuantities.ts"
import { type PlanChoice, usePlans, useTerms } from "../plans/usePlans.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Field } from "../ui/Field.tsx"
import { toast } from "../ui/Toast.tsx"
import { PreviewedMoney, usePreview } from "./PreviewedMoney.tsx"

interface FormProps {
  readonly customerId: string
  readonly onClose: () => void
  readonly onDone: (subscription: Subscription) => void
}

const Form = ({ customerId, onClose, onDone }: FormProps) => {
  const { client } = useSession()
  const refresh = useRefreshBilling()
  const name = Queries.useCustomer(customerId).data?.name ?? "the customer"
  const plans = usePlans().data ?? []
  const [chosen, setChosen] = useState<PlanChoice>()
  const [currency, setCurrency] = useState("")
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [coupon, setCoupon] = useState("")
  const choice = chosen ?? { key: plans[0]?.key ?? "", version: "" }
  const terms = useTerms(choice)
  const names = quantityNames(terms)
  const given = givenQuantities(values)
  const currencies = terms?.currencies ?? []
  const body: components["schemas"]["CreateSubscription"] = {
    customer_id: customerId,
    plan: choice.key,
    quantities: Object.fromEntries(
      names.flatMap((each) => (given[each] === undefined ? [] : [[each, given[each]]])),
    ),
    ...(choice.version === "" ? {} : { version: Number(choice.version) }),
    // One that was chosen for another plan is not sent.
    ...(currencies.includes(currency) ? { currency } : {}),
    ...(coupon.trim() === "" ? {} : { coupon: coupon.trim() }),
  }
  const isComplete = terms !== undefined && names.every((each) => given[each] !== undefined)
  const preview = usePreview({
    body: isComplete ? body : undefined,
    load: (api, asked, signal) => api.call("post", "/v1/subscriptions/preview", { body: asked, signal }),
  })
  return (
    <ActionDialog
      action={["Start the subscription", "Starting…"]}
      description="What the plan charges in advance is billed at once."
      isDisabled={!isComplete || preview.isLoading}
      onClose={onClose}
      onDone={(subscription) => {
        toast("Started")
        onClose()
        void refresh()
        onDone(subscription)
      }}
      run={() => client.call("post", "/v1/subscriptions", { body })}
      title={`New subscription of ${name}`}
    >
      <PlanFields choice={choice} onChange={setChosen} plans={plans} />
      {currencies.length > 1 && (
        <Field label="Currency" name="currency">
          {(attributes) => (
            <select
              {...attributes}
              onChange={({ target }) => setCurrency(target.value)}
              value={currencies.includes(currency) ? currency : ""}
            >
              <option value="">Choose one</option>
              {currencies.map((code) => (
                <option key={code} value={code}>
                  {code}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <QuantityFields names={names} onChange={setValues} values={values} />
      <Field hint="The code of a coupon. Empty: none." label="Coupon" name="coupon">
        {(attributes) => (
          <input
            {...attributes}
            autoComplete="off"
            onChange={({ target }) => setCoupon(target.value)}
            spellCheck={false}
            value={coupon}
          />
        )}
      </Field>
      <PreviewedMoney preview={preview} />
      {plans.length === 0 && <p className="muted">There are no plans yet. Push one first.</p>}
    </ActionDialog>
  )
}

/** Asks for the customer first, unless it is known. */
export const CreateSubscription = ({
  customerId,
  ...rest
}: Omit<FormProps, "customerId"> & { readonly customerId: string | undefined }) => {
  const [picked, setPicked] = useState(customerId)
  return picked === undefined ? (
    <CustomerPicker onClose={rest.onClose} onPick={setPicked} />
  ) : (
    <Form {...rest} customerId={picked} />
  )
}
