import { useEffect, useState } from "react"
import { useShortcuts } from "../shell/Shortcuts.ts"

/**
 * j and k move the focus from row to row, and so do the arrow keys from a row on. Elsewhere these scroll. Enter opens the
 * link of the row. Rows without links take no focus.
 */
export const useRowFocus = (
  hasLinks: boolean,
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
  const moveFromRow = (by: number) => () =>
    table?.contains(document.activeElement) === true ? move(by)() : false
  useShortcuts(
    hasLinks ? { j: move(1), k: move(-1), ArrowDown: moveFromRow(1), ArrowUp: moveFromRow(-1) } : {},
  )
}
