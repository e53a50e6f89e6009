/**
 * Keyboard shortcuts. They work everywhere, except in text fields and while a dialog is open.
 */
import { useEffect, useRef } from "react"

/** An action that answers `false` leaves the key to the browser. */
type Shortcuts = Readonly<Record<string, () => unknown>>

/** The shortcuts for the help, without those that open a page. */
export const SHORTCUTS: ReadonlyArray<readonly [keys: string, does: string]> = [
  ["/", "Search by id, name or e-mail"],
  ["j", "Next row, or next item"],
  ["k", "Previous row, or previous item"],
  ["↓ and ↑", "From a row to the next or previous one"],
  ["Enter", "Open the row"],
  ["Backspace", "Back to the list"],
  ["?", "This help"],
]

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches("input, textarea, select, pre"))

const isTaken = (event: KeyboardEvent): boolean =>
  event.defaultPrevented ||
  event.ctrlKey ||
  event.metaKey ||
  event.altKey ||
  isWriting(event.target) ||
  document.querySelector('[role="dialog"], [role="alertdialog"]') !== null

/** Listens while the component is mounted. */
export const useShortcuts = (shortcuts: Shortcuts): void => {
  const current = useRef(shortcuts)
  useEffect(() => {
    current.current = shortcuts
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const act = Object.hasOwn(current.current, event.key) ? current.current[event.key] : undefined
      if (act === undefined || isTaken(event) || act() === false) return
      event.preventDefault()
    }
    window.addEventListener("keydown", listen)
    return () => window.removeEventListener("keydown", listen)
  }, [])
}
