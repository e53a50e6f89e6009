/**
 * Actions on a subscription. Each shows what it bills before it is done.
 */
import { type ReactNode, useState } from "react"
import type { Client } from "../api/Client.ts"
import type { components } from "../api/Schema.ts"
import type { Subscription } from "../api/Types.ts"
import { useRefreshBilling } from "../api/useRefreshBilling.ts"
import * as Instant from "../Instant.ts"
import { givenQuantities, PlanFields, QuantityFields } from "../plans/PlanFields.tsx"
import { quantityNames } from "../plans/PlanQuantities.ts"
import { type PlanChoice, usePlans, useTerms } from "../plans/usePlans.ts"
import { useSession } from "../session/Session.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Field } from "../ui/Field.tsx"
import { toast } from "../ui/Toast.tsx"
import { PreviewedMoney, usePreview } from "./PreviewedMoney.tsx"
import { planText } from "./SubscriptionStates.ts"
import { TimeField } from "./TimeField.tsx"

type Schemas = components["schemas"]
type Asked = Schemas["PreviewSubscription"]

interface Props {
  readonly subscription: Subscription
  readonly onClose: () => void
}

interface CommandProps extends Props {
  readonly title: string
  readonly description?: ReactNode
  readonly action: readonly [label: string, running: string]
  readonly done: string
  readonly isDangerous?: boolean
  readonly isDisabled?: boolean
  /** The command, as a preview of it is asked for. */
  readonly asked: Asked
  readonly run: (client: Client) => Promise<unknown>
  readonly children?: ReactNode
}

/** A command with its inputs, and what it would bill. */
const Command = ({
  asked,
  children,
  done,
  isDisabled = false,
  onClose,
  run,
  subscription,
  ...dialog
}: CommandProps) => {
  const { client } = useSession()
  const refresh = useRefreshBilling()
  const preview = usePreview({
    body: isDisabled ? undefined : asked,
    load: (api, body, signal) =>
      api.call("post", "/v1/subscriptions/{id}/preview", { path: { id: subscription.id }, body, signal }),
  })
  return (
    <ActionDialog
      {...dialog}
      isDisabled={isDisabled || preview.isLoading}
      onClose={onClose}
      onDone={() => {
        toast(done)
        onClose()
        void refresh()
      }}
      run={() => run(client)}
    >
      {children}
      <PreviewedMoney preview={preview} />
    </ActionDialog>
  )
}

const CreditField = ({
  onChange,
  value,
}: {
  readonly value: "prorate" | "none"
  readonly onChange: (value: "prorate" | "none") => void
}) => (
  <Field label="What was charged for the time after" name="credit">
    {(attributes) => (
      <select
        {...attributes}
        onChange={({ target }) => onChange(target.value === "none" ? "none" : "prorate")}
        value={value}
      >
        <option value="prorate">Is credited in proportion</option>
        <option value="none">Is kept</option>
      </select>
    )}
  </Field>
)

/** The quantities that there will be at a time, by what waits for it. */
const quantitiesAt = ({ pending, quantities }: Subscription, at: string): Subscription["quantities"] =>
  pending === null || pending.at !== at ? quantities : { ...quantities, ...pending.quantities }

/** The change that somebody entered. Fields that stay as they are are left out. */
const changeOf = (
  subscription: Subscription,
  choice: PlanChoice,
  values: Readonly<Record<string, string>>,
  at: string,
  bill: "now" | "next_invoice",
): Schemas["ChangeSubscription"] => {
  const known = quantitiesAt(subscription, at)
  const quantities = Object.fromEntries(
    Object.entries(givenQuantities(values)).filter(([name, value]) => known[name] !== value),
  )
  return {
    ...(choice.key === "" ? {} : { plan: choice.key }),
    ...(choice.version === "" ? {} : { version: Number(choice.version) }),
    ...(Object.keys(quantities).length === 0 ? {} : { quantities }),
    at,
    ...(at === "now" ? { bill } : {}),
  }
}

export const ChangeSubscription = ({ onClose, subscription }: Props) => {
  const plans = usePlans().data ?? []
  const [choice, setChoice] = useState<PlanChoice>({ key: "", version: "" })
  const [values, setValues] = useState<Readonly<Record<string, string>>>(subscription.quantities)
  const [at, setAt] = useState("now")
  const [bill, setBill] = useState<"now" | "next_invoice">("now")
  const { key, version } = subscription.plan
  const terms = useTerms(choice.key === "" ? { key, version: String(version) } : choice)
  const names = [...new Set([...Object.keys(subscription.quantities), ...quantityNames(terms)])]
  const body = changeOf(subscription, choice, values, at, bill)
  return (
    <Command
      action={["Change the subscription", "Changing…"]}
      asked={{ action: "change", ...body }}
      description="A change within a period is charged and credited in proportion."
      done="Changed"
      isDisabled={at === "" || (body.plan === undefined && body.quantities === undefined)}
      onClose={onClose}
      run={(client) =>
        client.call("post", "/v1/subscriptions/{id}/change", { path: { id: subscription.id }, body })
      }
      subscription={subscription}
      title="Change the subscription"
    >
      <PlanFields
        choice={choice}
        keep={`Stays: ${planText(subscription.plan)}`}
        onChange={setChoice}
        plans={plans}
      />
      <QuantityFields names={names} onChange={setValues} values={values} />
      <TimeField label="Takes effect" onChange={setAt} value={at} />
      {at === "now" && (
        <Field label="Billed" name="bill">
          {(attributes) => (
            <select
              {...attributes}
              onChange={({ target }) => setBill(target.value === "now" ? "now" : "next_invoice")}
              value={bill}
            >
              <option value="now">At once</option>
              <option value="next_invoice">By the next invoice</option>
            </select>
          )}
        </Field>
      )}
    </Command>
  )
}

export const CancelSubscription = ({ onClose, subscription }: Props) => {
  const [at, setAt] = useState("period_end")
  const [credit, setCredit] = useState<"prorate" | "none">("prorate")
  const body = { at, credit }
  return (
    <Command
      action={["End the subscription", "Ending…"]}
      asked={{ action: "cancel", ...body }}
      description="Its last usage is billed by a last invoice."
      done={at === "now" ? "Ended" : "It will end"}
      isDangerous
      isDisabled={at === ""}
      onClose={onClose}
      run={(client) =>
        client.call("post", "/v1/subscriptions/{id}/cancel", { path: { id: subscription.id }, body })
      }
      subscription={subscription}
      title="Cancel the subscription"
    >
      <TimeField label="Ends" onChange={setAt} value={at} />
      <CreditField onChange={setCredit} value={credit} />
    </Command>
  )
}

export const PauseSubscription = ({ onClose, subscription }: Props) => {
  const [entered, setEntered] = useState("")
  const [credit, setCredit] = useState<"prorate" | "none">("prorate")
  const resumeAt = Instant.fromLocalInput(entered)
  const body = { credit, ...(resumeAt === undefined ? {} : { resume_at: resumeAt }) }
  return (
    <Command
      action={["Pause the subscription", "Pausing…"]}
      asked={{ action: "pause", ...body }}
      description="While it is paused, nothing is billed."
      done="Paused"
      onClose={onClose}
      run={(client) =>
        client.call("post", "/v1/subscriptions/{id}/pause", { path: { id: subscription.id }, body })
      }
      subscription={subscription}
      title="Pause the subscription"
    >
      <Field
        hint={`In ${Instant.zone}. Empty: only when somebody resumes it.`}
        label="Goes on by itself"
        name="resume_at"
      >
        {(attributes) => (
          <input
            {...attributes}
            onChange={({ target }) => setEntered(target.value)}
            type="datetime-local"
            value={entered}
          />
        )}
      </Field>
      <CreditField onChange={setCredit} value={credit} />
    </Command>
  )
}

export const ResumeSubscription = ({ onClose, subscription }: Props) => {
  const [anchor, setAnchor] = useState<"keep" | "now">("keep")
  const body = { anchor }
  return (
    <Command
      action={["Resume the subscription", "Resuming…"]}
      asked={{ action: "resume", ...body }}
      done="Resumed"
      onClose={onClose}
      run={(client) =>
        client.call("post", "/v1/subscriptions/{id}/resume", { path: { id: subscription.id }, body })
      }
      subscription={subscription}
      title="Resume the subscription"
    >
      <Field label="Periods" name="anchor">
        {(attributes) => (
          <select
            {...attributes}
            onChange={({ target }) => setAnchor(target.value === "now" ? "now" : "keep")}
            value={anchor}
          >
            <option value="keep">Go on as before</option>
            <option value="now">Begin now</option>
          </select>
        )}
      </Field>
    </Command>
  )
}

export const UncancelSubscription = ({ onClose, subscription }: Props) => (
  <Command
    action={["Keep the subscription", "Keeping…"]}
    asked={{ action: "uncancel" }}
    description="It does not end, and renews as before."
    done="It goes on"
    onClose={onClose}
    run={(client) =>
      client.call("post", "/v1/subscriptions/{id}/uncancel", { path: { id: subscription.id } })
    }
    subscription={subscription}
    title="Keep the subscription?"
  />
)
