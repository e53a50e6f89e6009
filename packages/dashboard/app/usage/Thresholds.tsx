import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { Threshold } from "../api/Types.ts"
import * as Quantity from "../Quantity.ts"
import { useSession } from "../session/Session.tsx"
import { ActionButton } from "../ui/ActionButton.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { CutNote } from "../ui/CutNote.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Loaded } from "../ui/Loading.tsx"
import { Time } from "../ui/Time.tsx"
import { CreateThreshold } from "./CreateThreshold.tsx"
import { periodOf, periodText } from "./ThresholdPeriod.ts"

const SHOWN = 100
const REFRESH_MILLIS = 5_000

/** The usage in the current period of the threshold. */
const useUsed = (threshold: Threshold) => {
  const { client } = useSession()
  const query = {
    customer_id: threshold.customer_id,
    product_id: threshold.product_id,
    unit: threshold.unit,
    ...periodOf(threshold.period, Date.now()),
  }
  return useQuery({
    queryKey: ["usage", "used", query],
    queryFn: ({ signal }) => client.call("get", "/v1/usage", { query, signal }),
    refetchInterval: REFRESH_MILLIS,
  })
}

const Progress = ({
  label,
  limit,
  used,
}: {
  readonly used: bigint
  readonly limit: bigint
  readonly label: string
}) => {
  const percent = Quantity.percentOf(used, limit)
  return (
    <>
      <progress
        aria-label={label}
        className={percent >= 100 ? "reached" : ""}
        max={100}
        value={Math.min(100, percent)}
      />
      <span className="muted">
        {Quantity.format(used)} of {Quantity.format(limit)} · {Quantity.format(percent)} %
        {percent >= 100 && " · reached"}
      </span>
    </>
  )
}

const ThresholdItem = ({
  onDelete,
  threshold,
}: {
  readonly threshold: Threshold
  readonly onDelete: () => void
}) => {
  const used = useUsed(threshold)
  const { last_fired_at: firedAt, product_id: product, unit } = threshold
  return (
    <li className="threshold">
      <header>
        <strong>{product}</strong>
        <span className="muted grow">
          {unit} {periodText(threshold.period)}
          {firedAt !== null && (
            <>
              {" · last fired "}
              <Time at={firedAt} />
            </>
          )}
        </span>
        <ActionButton
          aria-label={`Delete the threshold of ${product}`}
          className="icon-button"
          does="delete /v1/usage/thresholds/{id}"
          onClick={onDelete}
          title="Delete"
        >
          <Icon name="cross" />
        </ActionButton>
      </header>
      {used.data !== undefined && (
        <Progress
          label={`${product}, ${unit} ${periodText(threshold.period)}`}
          limit={BigInt(threshold.quantity)}
          used={BigInt(used.data.total_quantity)}
        />
      )}
    </li>
  )
}

const DeleteThreshold = ({
  onClose,
  onDone,
  threshold,
}: {
  readonly threshold: Threshold
  readonly onClose: () => void
  readonly onDone: () => void
}) => {
  const { client } = useSession()
  return (
    <ActionDialog
      action={["Delete threshold", "Deleting…"]}
      description="It will not fire again. Its past events are kept."
      isDangerous
      onClose={onClose}
      onDone={onDone}
      run={() => client.call("delete", "/v1/usage/thresholds/{id}", { path: { id: threshold.id } })}
      title={`Delete the threshold of ${threshold.product_id}?`}
    />
  )
}

/** The thresholds of a customer, with their progress. */
export const Thresholds = ({ customerId }: { readonly customerId: string }) => {
  const { client } = useSession()
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<"create" | Threshold>()
  const query = useQuery({
    queryKey: ["thresholds", customerId],
    queryFn: ({ signal }) =>
      client.call("get", "/v1/usage/thresholds", {
        query: { customer_id: customerId, limit: SHOWN },
        signal,
      }),
    refetchInterval: REFRESH_MILLIS,
  })
  const close = () => setDialog(undefined)
  const done = () => {
    close()
    void queries.invalidateQueries({ queryKey: ["thresholds"] })
  }
  return (
    <section aria-labelledby="thresholds-title" className="section">
      <header className="section-header">
        <h2 id="thresholds-title">Thresholds</h2>
        <ActionButton className="button" does="post /v1/usage/thresholds" onClick={() => setDialog("create")}>
          <Icon name="plus" /> New threshold
        </ActionButton>
      </header>
      <Loaded lines={2} query={query}>
        {({ data, has_more: isCut }) =>
          data.length === 0 ? (
            <p className="muted">None. A threshold sends an event when a total reaches it.</p>
          ) : (
            <>
              <ul className="thresholds">
                {data.map((threshold) => (
                  <ThresholdItem
                    key={threshold.id}
                    onDelete={() => setDialog(threshold)}
                    threshold={threshold}
                  />
                ))}
              </ul>
              <CutNote count={data.length} isCut={isCut} />
            </>
          )
        }
      </Loaded>
      {dialog === "create" && <CreateThreshold customerId={customerId} onClose={close} onDone={done} />}
      {typeof dialog === "object" && <DeleteThreshold onClose={close} onDone={done} threshold={dialog} />}
    </section>
  )
}
