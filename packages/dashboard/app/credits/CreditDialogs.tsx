import { useState } from "react"
import type { CreditGrant } from "../api/Types.ts"
import { useRefreshBilling } from "../api/useRefreshBilling.ts"
import { wireAmount, wireInteger } from "../api/WireAmount.ts"
import * as Instant from "../Instant.ts"
import * as Money from "../Money.ts"
import * as Quantity from "../Quantity.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Field } from "../ui/Field.tsx"
import { toast } from "../ui/Toast.tsx"
import * as Units from "./Units.ts"

/** The amount that somebody typed: money in the currency's unit, other units as an integer of the smallest part. */
const amountOf = (text: string, unit: string): number =>
  Units.isMoney(unit) ? wireAmount("amount", text, unit) : wireInteger("amount", text)

/** What an amount that somebody types is read as. Empty while it can't be read. */
const readAs = (text: string, unit: string): string => {
  if (Units.isMoney(unit)) return Money.readAs(text, unit)
  const amount = Money.parseWith(text, 0)
  return amount === undefined ? "" : ` = ${Quantity.format(amount)}`
}

const KINDS = {
  promotional: "A present",
  paid: "The customer has paid for them",
  plan: "A part of the plan",
} as const

interface UnitAndAmount {
  readonly unit: string
  readonly amount: string
}

const UnitAndAmountFields = ({
  onChange,
  value: { amount, unit },
}: {
  readonly value: UnitAndAmount
  readonly onChange: (value: UnitAndAmount) => void
}) => (
  <div className="field-row">
    <Field hint="A currency, or a unit of yours such as token." label="Unit" name="unit">
      {(attributes) => (
        <input
          {...attributes}
          autoComplete="off"
          onChange={({ target }) => onChange({ amount, unit: target.value.trim() })}
          spellCheck={false}
          value={unit}
        />
      )}
    </Field>
    <Field
      hint={`${
        Units.isMoney(unit)
          ? `In ${unit}, such as ${Money.decimalOf(1250, unit)}.`
          : "A whole number, of the smallest part of the unit."
      }${readAs(amount, unit)}`}
      label="Amount"
      name="amount"
    >
      {(attributes) => (
        <input
          {...attributes}
          autoComplete="off"
          inputMode="decimal"
          onChange={({ target }) => onChange({ amount: target.value, unit })}
          value={amount}
        />
      )}
    </Field>
  </div>
)

const KindField = ({
  onChange,
  value,
}: {
  readonly value: keyof typeof KINDS
  readonly onChange: (kind: keyof typeof KINDS) => void
}) => (
  <Field label="Where they come from" name="kind">
    {(attributes) => (
      <select
        {...attributes}
        onChange={({ target }) => onChange(target.value as keyof typeof KINDS)}
        value={value}
      >
        {Object.entries(KINDS).map(([kind, text]) => (
          <option key={kind} value={kind}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
)

export const GrantCredits = ({
  customerId,
  onClose,
  onDone,
  unit: known = "",
}: {
  readonly customerId: string
  readonly unit: string | undefined
  readonly onClose: () => void
  readonly onDone: (grant: CreditGrant) => void
}) => {
  const { client } = useSession()
  const refresh = useRefreshBilling()
  const [given, setGiven] = useState<UnitAndAmount>({ unit: known, amount: "" })
  const [kind, setKind] = useState<keyof typeof KINDS>("promotional")
  const [expires, setExpires] = useState("")
  const expiresAt = Instant.fromLocalInput(expires)
  const run = async () =>
    client.call("post", "/v1/credit_grants", {
      body: {
        customer_id: customerId,
        unit: given.unit,
        kind,
        amount: amountOf(given.amount, given.unit),
        ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
      },
    })
  return (
    <ActionDialog
      action={["Grant the credits", "Granting…"]}
      description="The customer may use them at once."
      isDisabled={given.unit === "" || given.amount.trim() === ""}
      onClose={onClose}
      onDone={(grant) => {
        toast("Granted the credits")
        onClose()
        void refresh()
        onDone(grant)
      }}
      run={run}
      title="Grant credits"
    >
      <UnitAndAmountFields onChange={setGiven} value={given} />
      <KindField onChange={setKind} value={kind} />
      <Field hint={`In ${Instant.zone}. Empty: never.`} label="Expire" name="expires_at">
        {(attributes) => (
          <input
            {...attributes}
            onChange={({ target }) => setExpires(target.value)}
            type="datetime-local"
            value={expires}
          />
        )}
      </Field>
    </ActionDialog>
  )
}

export const VoidGrant = ({
  decimals,
  grant,
  onClose,
}: {
  readonly decimals: number
  readonly grant: CreditGrant
  readonly onClose: () => void
}) => {
  const { client } = useSession()
  const refresh = useRefreshBilling()
  const left = Units.format(grant.available, grant.unit, decimals)
  return (
    <ActionDialog
      action={[`Take back ${left}`, "Taking back…"]}
      description={`The customer loses what is left of the grant: ${left}. What open holds keep of it stays held. This can't be undone.`}
      isDangerous
      onClose={onClose}
      onDone={() => {
        toast(`Took back ${left}`)
        onClose()
        void refresh()
      }}
      run={() => client.call("post", "/v1/credit_grants/{id}/void", { path: { id: grant.id } })}
      title={`Take back ${left}?`}
    />
  )
}
