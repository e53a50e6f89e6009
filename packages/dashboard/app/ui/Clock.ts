/**
 * The time, for texts that say how long ago something was. One timer moves all of them.
 */
import { useSyncExternalStore } from "react"

/** How often such texts are written anew, in milliseconds. */
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

/** The time, to the tick. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now)
