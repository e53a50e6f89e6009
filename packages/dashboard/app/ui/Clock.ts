/**
 * The current time, for texts that say how long ago something was. One timer updates all of them.
 */
import { useSyncExternalStore } from "react"

/** How often these texts are updated, in milliseconds. */
const TICK_MILLIS = 5_000

let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

const tick = (): void => {
  now = Date.now()
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  timer ??= setInterval(tick, TICK_MILLIS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The time of the last update. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now)
