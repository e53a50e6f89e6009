import { useEffect, useState } from "react"
import { useShortcuts } from "../shell/Shortcuts.ts"

/** j, k and the arrow keys move the focus from row to row. Enter opens the link of the row. */
export const useRowFocus = (
  count: number,
  scrollTo: (index: number) => void,
  table: HTMLElement | null,
): void => {
  const [wanted, setWanted] = useState<number>()
  // Tried after each rendering, because the row may have to be scrolled into view first.
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
