import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { ListedEvent } from "../api/Types.ts"
import { useLiveList } from "../api/useLiveList.ts"
import { useSession } from "../session/Session.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { ErrorNotice } from "../ui/ErrorNotice.tsx"
import { Field } from "../ui/Field.tsx"
import { Skeleton } from "../ui/Loading.tsx"
import { Time } from "../ui/Time.tsx"

const ANY = ""

const TypeField = ({
  onChange,
  value,
}: {
  readonly value: string
  readonly onChange: (type: string) => void
}) => {
  const types = Queries.useEventTypes().data?.data ?? []
  return (
    <Field label="Type">
      {(attributes) => (
        <select {...attributes} onChange={(event) => onChange(event.target.value)} value={value}>
          <option value={ANY}>Any</option>
          {types.map(({ type }) => (
            <option key={type}>{type}</option>
          ))}
        </select>
      )}
    </Field>
  )
}

const Candidate = ({ event, onPick }: { readonly event: ListedEvent; readonly onPick: () => void }) => {
  const customer = Queries.useCustomerName(event.customer_id ?? undefined)
  return (
    <li>
      <button className="candidate" onClick={onPick} type="button">
        <strong>{event.type}</strong>
        <span className="muted">
          {customer !== undefined && `${customer} · `}
          <Time at={event.timestamp} />
        </span>
      </button>
    </li>
  )
}

/** Chooses an event. It lists the newest first, and a button loads older ones. */
export const EventPicker = ({
  onClose,
  onPick,
}: {
  readonly onClose: () => void
  readonly onPick: (id: string) => void
}) => {
  const { client } = useSession()
  const [type, setType] = useState(ANY)
  const list = useLiveList<ListedEvent>({
    key: ["events", { type }],
    fetchPage: (page, signal) => client.call("get", "/v1/events", { query: { type, ...page }, signal }),
    isLive: false,
  })
  return (
    <Dialog onClose={onClose} title="Choose an event">
      <TypeField onChange={setType} value={type} />
      {list.error !== null && <ErrorNotice error={list.error} onRetry={list.retry} />}
      {list.isLoading && list.error === null && <Skeleton />}
      <ul className="candidates">
        {list.rows.map((event) => (
          <Candidate event={event} key={event.id} onPick={() => onPick(event.id)} />
        ))}
      </ul>
      {!list.isLoading && list.rows.length === 0 && <p className="muted">No events yet.</p>}
      {list.hasMore && (
        <button className="button" disabled={list.isLoadingMore} onClick={list.loadMore} type="button">
          Show older events
        </button>
      )}
    </Dialog>
  )
}
