import * as Queries from "../api/Queries.ts"
import * as Instant from "../Instant.ts"
import { type Filters, PickFilter } from "../ui/Filters.tsx"
import { shortId } from "../ui/Identifier.tsx"
import { EventPicker } from "./EventPicker.tsx"

/** Filters by an event, which is chosen by type and time. */
export const EventFilter = ({ filters, name }: { readonly filters: Filters; readonly name: string }) => {
  const id = filters.get(name)
  const event = Queries.useEvent(id).data
  const described =
    event === undefined ? undefined : `${event.type}, ${Instant.moment(event.timestamp, Date.now())}`
  return (
    <PickFilter
      filters={filters}
      label="Event"
      name={name}
      picker={({ onClose, onPick }) => <EventPicker onClose={onClose} onPick={onPick} />}
      shown={described ?? (id === undefined ? undefined : shortId(id))}
    />
  )
}
