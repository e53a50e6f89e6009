import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import type { Customer, SpendAlert } from "../api/Types.ts"
import { wireAmount } from "../api/WireAmount.ts"
import * as Money from "../Money.ts"
import { useSession } from "../session/Session.tsx"
import { ActionButton } from "../ui/ActionButton.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { Field } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import { shortId } from "../ui/Identifier.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { MoneyField } from "../ui/MoneyField.tsx"
import { StateBadge } from "../ui/StateBadge.tsx"
import { Time } from "../ui/Time.tsx"
import { toast } from "../ui/Toast.tsx"

const SHOWN = 100
const AREA = "spend_alerts"

const useAlerts = (customerId: string) => {
  const { client } = useSession()
  return useQuery({
    queryKey: [AREA, customerId],
    queryFn: ({ signal }) =>
      client.call("get", "/v1/spend_alerts", { query: { customer_id: customerId, limit: SHOWN }, signal }),
  })
}

const ACTIONS: Readonly<Record<SpendAlert["action"], string>> = {
  notify: "sends an event",
  block: "sends an event, and blocks until the period ends",
  invoice: "sends an event, and bills the usage so far",
}

const REPEATS: Readonly<Record<SpendAlert["repeat"], string>> = {
  once: "once a period",
  multiples: "at each multiple",
}

/** What an alert counts: a period of its subscription, or a month of all of them. */
const Counted = ({ alert: { subscription_id: id } }: { readonly alert: SpendAlert }) =>
  id === null ? (
    "all subscriptions"
  ) : (
    <>
      of{" "}
      <Link href={`/subscriptions/${id}`} title={id}>
        subscription <code>{shortId(id)}</code>
      </Link>
    </>
  )

const AlertLine = ({ alert, onDelete }: { readonly alert: SpendAlert; readonly onDelete: () => void }) => (
  <li className="line">
    <span className="grow two-lines">
      <span className="strong">
        {Money.format(alert.amount, alert.currency)}{" "}
        {alert.subscription_id === null ? "a UTC month" : "a period"}
      </span>
      <span className="muted">
        <Counted alert={alert} /> · {REPEATS[alert.repeat]}, {ACTIONS[alert.action]}
        {alert.fired_at !== null && (
          <>
            {" · last fired "}
            <Time at={alert.fired_at} />
          </>
        )}
      </span>
    </span>
    {alert.blocked_until !== null && <StateBadge tone="bad" word="Blocks now" />}
    <ActionButton
      aria-label={`Delete the alert of ${Money.format(alert.amount, alert.currency)}`}
      className="icon-button"
      does="delete /v1/spend_alerts/{id}"
      onClick={onDelete}
      title="Delete"
    >
      <Icon name="cross" />
    </ActionButton>
  </li>
)

interface DialogProps {
  readonly onClose: () => void
  readonly onDone: () => void
}

const DeleteAlert = ({ alert, ...props }: DialogProps & { readonly alert: SpendAlert }) => {
  const { client } = useSession()
  return (
    <ActionDialog
      {...props}
      action={["Delete the alert", "Deleting…"]}
      description="It will not fire again, and no longer blocks anything."
      isDangerous
      run={() => client.call("delete", "/v1/spend_alerts/{id}", { path: { id: alert.id } })}
      title={`Delete the alert of ${Money.format(alert.amount, alert.currency)}?`}
    />
  )
}

const DEFAULT_CURRENCY = "EUR"

const CreateAlert = ({ customer, ...props }: DialogProps & { readonly customer: Customer }) => {
  const { client } = useSession()
  const [currency, setCurrency] = useState(customer.currency ?? DEFAULT_CURRENCY)
  const [amount, setAmount] = useState("")
  const [action, setAction] = useState<SpendAlert["action"]>("notify")
  const [repeat, setRepeat] = useState<SpendAlert["repeat"]>("once")
  const code = currency.trim().toUpperCase()
  return (
    <ActionDialog
      {...props}
      action={["Create the alert", "Creating…"]}
      description="It fires when the usage of all the customer's subscriptions in a UTC month costs the amount, before discounts and taxes. Fees of plans don't count."
      isDisabled={amount.trim() === "" || code.length !== 3}
      run={async () =>
        client.call("post", "/v1/spend_alerts", {
          body: {
            customer_id: customer.id,
            currency: code,
            amount: wireAmount("amount", amount, code),
            action,
            repeat,
          },
        })
      }
      title="New spend alert"
    >
      <div className="field-row">
        <MoneyField currency={code} label="Amount" name="amount" onChange={setAmount} value={amount} />
        <Field label="Currency" name="currency">
          {(attributes) => (
            <input
              {...attributes}
              autoComplete="off"
              maxLength={3}
              onChange={({ target }) => setCurrency(target.value)}
              value={currency}
            />
          )}
        </Field>
      </div>
      <div className="field-row">
        <Field label="What it does" name="action">
          {(attributes) => (
            <select
              {...attributes}
              onChange={({ target }) => setAction(target.value === "block" ? "block" : "notify")}
              value={action}
            >
              <option value="notify">Sends an event</option>
              <option value="block">Also blocks until the month ends</option>
            </select>
          )}
        </Field>
        <Field label="How often" name="repeat">
          {(attributes) => (
            <select
              {...attributes}
              onChange={({ target }) => setRepeat(target.value === "once" ? "once" : "multiples")}
              value={repeat}
            >
              <option value="once">Once a month</option>
              <option value="multiples">At each multiple</option>
            </select>
          )}
        </Field>
      </div>
    </ActionDialog>
  )
}

/** The spend alerts of a customer. */
export const SpendAlerts = ({ customer }: { readonly customer: Customer }) => {
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<"create" | SpendAlert>()
  const close = () => setDialog(undefined)
  const done = (text: string) => () => {
    toast(text)
    close()
    void queries.invalidateQueries({ queryKey: [AREA] })
  }
  return (
    <section aria-labelledby="spend-alerts-title" className="section">
      <header className="section-header">
        <h2 id="spend-alerts-title">Spend alerts</h2>
        <ActionButton className="button" does="post /v1/spend_alerts" onClick={() => setDialog("create")}>
          <Icon name="plus" /> New spend alert
        </ActionButton>
      </header>
      <Loaded lines={1} query={useAlerts(customer.id)}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="muted">None. A spend alert says when usage becomes expensive.</p>
          ) : (
            <ul className="lines">
              {data.map((alert) => (
                <AlertLine alert={alert} key={alert.id} onDelete={() => setDialog(alert)} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {dialog === "create" && <CreateAlert customer={customer} onClose={close} onDone={done("Created")} />}
      {typeof dialog === "object" && <DeleteAlert alert={dialog} onClose={close} onDone={done("Deleted")} />}
    </section>
  )
}
