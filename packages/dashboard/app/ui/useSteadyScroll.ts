import { useLayoutEffect, useRef } from "react"

/** Keeps the scroll position when new rows are added at the top. */
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
