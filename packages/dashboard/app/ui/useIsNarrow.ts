import { useSyncExternalStore } from "react"

/** The same width as in the style sheets. */
const narrow = window.matchMedia("(max-width: 760px)")

const subscribe = (listener: () => void): (() => void) => {
  narrow.addEventListener("change", listener)
  return () => narrow.removeEventListener("change", listener)
}

/** Whether the screen is as narrow as a phone's. */
export const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches)
