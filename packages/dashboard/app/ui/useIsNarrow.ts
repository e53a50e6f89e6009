import { useSyncExternalStore } from "react"

/** As in the style sheets. */
const narrow = window.matchMedia("(max-width: 760px)")

const subscribe = (listener: () => void): (() => void) => {
  narrow.addEventListener("change", listener)
  return () => narrow.removeEventListener("change", listener)
}

/** Whether this is about a phone. */
export const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches)
