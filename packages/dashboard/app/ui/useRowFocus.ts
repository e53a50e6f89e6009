import { useEffect, useState } from "react"
import { useShortcuts } from "../shell/Shortcuts.ts"

/** j, k and the arrows go from row to row; Enter follows the row's link, as everywhere. */
export const useRowFocus = (
  count: number,
  scrollTo: (index: number) => void,
  table: HTMLElement | null,
): void => {
  const [wanted, setWanted] = useState<number>()
  // With each rendering until it is there: the row may have to come into sight first.
  useEffect(() => {
    if (wanted === undefined) return
    const target = table?.querySelector<HTMLElement>(`[data-index="${wanted}"] :is(a, button)`)
    if (target === null || target === undefined) return
    target.focus()
    setWanted(undefined)
  })
  const move = (by: number) => () => {
    if (count === 0) return
    const focused = document.activeElement?.closest<HTMLElement>("[data-index]")?.dataset["index"]
    const next = Math.min(count - 1, Math.max(0, Number(focused ?? -1) + by))
    scrollTo(next)
    setWanted(next)
  }
  useShortcuts({ j: move(1), k: move(-1), ArrowDown: move(1), ArrowUp: move(-1) })
}
