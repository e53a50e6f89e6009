import { useLayoutEffect, useRef } from "react"

/** Rows that come in at the top must not push away what is being read. */
export const useSteadyScroll = (
  scroller: HTMLElement | null,
  ids: ReadonlyArray<string>,
  rowHeight: number,
): void => {
  const previousFirst = useRef<string>(undefined)
  useLayoutEffect(() => {
    const first = previousFirst.current
    previousFirst.current = ids[0]
    if (scroller === null || first === undefined || scroller.scrollTop < rowHeight) return
    const added = ids.indexOf(first)
    if (added > 0) scroller.scrollTop += added * rowHeight
  }, [ids, rowHeight, scroller])
}
