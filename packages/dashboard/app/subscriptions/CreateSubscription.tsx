import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { components } from "../api/Schema.ts"
import type { Subscription } from "../api/Types.ts"
import { useRefreshBilling } from "../api/useRefreshBilling.ts"
import { CustomerPicker } from "../customers/CustomerPicker.tsx"
import { givenQuantities, type PlanChoice, PlanFields, QuantityFields } from "../plans/PlanFields.tsx"
import { quantityNames } from "../plans/PlanQuantities.ts"
import { usePlans } from "../plans/usePlans.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Field } from "../ui/Field.tsx"
import { toast } from "../ui/Toast.tsx"
import { PreviewedMoney } from "./PreviewedMoney.tsx"

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
  const terms = plans.find(({ key }) => key === choice.key)?.terms
  const names = quantityNames(terms)
  const given = givenQuantities(values)
  const body: components["schemas"]["CreateSubscription"] = {
    customer_id: customerId,
    plan: choice.key,
    quantities: Object.fromEntries(
      names.flatMap((each) => (given[each] === undefined ? [] : [[each, given[each]]])),
    ),
    ...(choice.version === "" ? {} : { version: Number(choice.version) }),
    ...(currency === "" ? {} : { currency }),
    ...(coupon.trim() === "" ? {} : { coupon: coupon.trim() }),
  }
  const isComplete = choice.key !== "" && names.every((each) => given[each] !== undefined)
  return (
    <ActionDialog
      action={["Start the subscription", "Starting…"]}
      description="What the plan charges in advance is billed at once."
      isDisabled={!isComplete}
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
      {(terms?.currencies.length ?? 0) > 1 && (
        <Field label="Currency" name="currency">
          {(attributes) => (
            <select {...attributes} onChange={({ target }) => setCurrency(target.value)} value={currency}>
              <option value="">Choose one</option>
              {terms?.currencies.map((code) => (
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
      {isComplete && (
        <PreviewedMoney
          body={body}
          load={(api, asked, signal) =>
            api.call("post", "/v1/subscriptions/preview", { body: asked, signal })
          }
        />
      )}
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
