/**
 * Short notices after an action. Screen readers read them.
 */
import { useSyncExternalStore } from "react"

/** How long a notice is shown, in milliseconds. */
const SHOWN_MILLIS = 4_000

interface Notice {
  readonly id: number
  readonly text: string
}

let notices: ReadonlyArray<Notice> = []
let nextId = 0
const listeners = new Set<() => void>()

const change = (next: ReadonlyArray<Notice>): void => {
  notices = next
  for (const listener of listeners) listener()
}

/** Shows a notice. */
export const toast = (text: string): void => {
  const id = nextId++
  change([...notices, { id, text }])
  setTimeout(() => change(notices.filter((notice) => notice.id !== id)), SHOWN_MILLIS)
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const Toasts = () => {
  const shown = useSyncExternalStore(subscribe, () => notices)
  return (
    <div aria-live="polite" className="toasts" role="status">
      {shown.map(({ id, text }) => (
        <p className="toast" key={id}>
          {text}
        </p>
      ))}
    </div>
  )
}
