/**
 * A table for a list of any length. Only visible rows are in the document, and further rows are loaded before they become
 * visible. Rows are links. On a narrow screen a row has two lines.
 */
import { type ColumnDef, createColumnHelper, tableFeatures, useTable } from "@tanstack/react-table"
import { useVirtualizer } from "@tanstack/react-virtual"
import { type ReactNode, useEffect, useMemo, useState } from "react"
import type { LiveListState } from "../api/useLiveList.ts"
import { ErrorNotice } from "./ErrorNotice.tsx"
import { Skeleton } from "./Loading.tsx"
import * as Neighbours from "./Neighbours.ts"
import { useIsNarrow } from "./useIsNarrow.ts"
import { useRowFocus } from "./useRowFocus.ts"
import { useSteadyScroll } from "./useSteadyScroll.ts"

export interface Column<A> {
  readonly id: string
  readonly header: string
  readonly cell: (row: A) => ReactNode
  /** A track of CSS grid. */
  readonly width: string
  readonly isNumber?: boolean
  /** Its place on a narrow screen. Default: on the second line. `fixed`: also there, with its own width. */
  readonly narrow?: "first" | "end" | "fixed" | "hidden"
}

interface DataTableProps<A> {
  readonly label: string
  readonly columns: ReadonlyArray<Column<A>>
  readonly list: LiveListState<A>
  /** Shown when there are no rows. */
  readonly empty: ReactNode
  /** Whether rows have links or buttons. Without them the list itself takes the focus, so that it can be scrolled by keys. */
  readonly hasLinks?: boolean
}

/** The track of a column of instants. If there is little room, they are shown without how long ago they were. */
export const MOMENT_WIDTH = "minmax(9.5rem, 0.9fr)"

const ROW_HEIGHT = 41
const NARROW_ROW_HEIGHT = 66
/** The number of rows outside the visible area that are also in the document. */
const OVERSCAN = 12
/** How many rows before the end further rows are loaded. */
const LOOK_AHEAD = 40

const features = tableFeatures({ columnMeta: {} as Pick<Column<unknown>, "isNumber" | "narrow"> })

const toColumnDefs = <A extends object>(columns: ReadonlyArray<Column<A>>) => {
  const helper = createColumnHelper<typeof features, A>()
  return columns.map(({ cell, header, id, isNumber = false, narrow }): ColumnDef<typeof features, A> =>
    helper.display({
      id,
      header,
      cell: ({ row }) => cell(row.original),
      meta: { isNumber, ...(narrow === undefined ? {} : { narrow }) },
    }),
  )
}

const classOf = (meta: Partial<Pick<Column<unknown>, "isNumber" | "narrow">> | undefined): string =>
  `cell${meta?.isNumber === true ? " number" : ""} narrow-${meta?.narrow ?? "second"}`

interface FrameProps<A> {
  readonly label: string
  readonly columns: ReadonlyArray<Column<A>>
  readonly rows: ReadonlyArray<A>
  readonly hasMore: boolean
  readonly loadMore: () => void
  readonly hasLinks: boolean
}

/** The visible rows and their positions. */
const useRowsInSight = <A extends { readonly id: string }>(
  { hasLinks, hasMore, loadMore, rows }: FrameProps<A>,
  scroller: HTMLElement | null,
) => {
  const rowHeight = useIsNarrow() ? NARROW_ROW_HEIGHT : ROW_HEIGHT
  const ids = useMemo(() => rows.map(({ id }) => id), [rows])
  const virtual = useVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    getItemKey: (index) => ids[index] ?? index,
    getScrollElement: () => scroller,
    overscan: OVERSCAN,
  })
  const inSight = virtual.getVirtualItems()
  const last = inSight.at(-1)?.index ?? 0
  useEffect(() => virtual.measure(), [rowHeight, virtual])
  useEffect(() => Neighbours.remember(ids), [ids])
  useEffect(() => {
    if (hasMore && last >= rows.length - LOOK_AHEAD) loadMore()
  }, [hasMore, last, loadMore, rows.length])
  useSteadyScroll(scroller, ids, rowHeight)
  useRowFocus(hasLinks, rows.length, (index) => virtual.scrollToIndex(index), scroller)
  return { inSight, rowHeight, totalHeight: virtual.getTotalSize() }
}

const Frame = <A extends { readonly id: string }>(props: FrameProps<A>) => {
  const { columns, hasLinks, hasMore, label, rows } = props
  const [scroller, setScroller] = useState<HTMLDivElement | null>(null)
  const { inSight, rowHeight, totalHeight } = useRowsInSight(props, scroller)
  const definitions = useMemo(() => toColumnDefs(columns), [columns])
  // The table has only the visible rows. With all of them, it would be built again for each new page.
  const data = inSight.map(({ index }) => rows[index]).filter((row) => row !== undefined)
  const table = useTable({ features, columns: definitions, data, getRowId: ({ id }) => id })
  const tableRows = table.getRowModel().rows
  return (
    <div
      className="table-frame"
      ref={setScroller}
      style={{ "--rows-height": `${totalHeight}px` }}
      {...(hasLinks ? {} : { "aria-label": label, role: "region", tabIndex: 0 })}
    >
      <div
        aria-label={label}
        aria-rowcount={hasMore ? -1 : rows.length + 1}
        className="table"
        role="table"
        style={{ "--tracks": columns.map(({ width }) => width).join(" ") }}
      >
        <div className="table-head" role="rowgroup">
          {table.getHeaderGroups().map((group) => (
            <div aria-rowindex={1} className="row" key={group.id} role="row">
              {group.headers.map((header) => (
                <span className={classOf(header.column.columnDef.meta)} key={header.id} role="columnheader">
                  <table.FlexRender header={header} />
                </span>
              ))}
            </div>
          ))}
        </div>
        <div className="table-body" role="rowgroup" style={{ height: totalHeight }}>
          {inSight.map(({ index, key, start }, at) => (
            <div
              aria-rowindex={index + 2}
              className="row"
              data-index={index}
              key={key}
              role="row"
              style={{ height: rowHeight, transform: `translateY(${start}px)` }}
            >
              {tableRows[at]?.getAllCells().map((cell) => (
                <span className={classOf(cell.column.columnDef.meta)} key={cell.id} role="cell">
                  <table.FlexRender cell={cell} />
                </span>
              ))}
            </div>
          ))}
        </div>
      </div>
    </div>
  )
}

export const DataTable = <A extends { readonly id: string }>({
  columns,
  empty,
  hasLinks = true,
  label,
  list,
}: DataTableProps<A>) => {
  const { error, hasMore, isLoading, isLoadingMore, loadMore, retry, rows } = list
  if (isLoading && error === null) return <Skeleton lines={8} />
  if (rows.length === 0 && error === null) return empty
  return (
    <>
      {error !== null && <ErrorNotice error={error} onRetry={retry} />}
      {rows.length > 0 && (
        <Frame
          columns={columns}
          hasLinks={hasLinks}
          hasMore={hasMore}
          label={label}
          loadMore={loadMore}
          rows={rows}
        />
      )}
      <p className="table-foot">{isLoadingMore ? "Loading more…" : count(rows.length, hasMore)}</p>
    </>
  )
}

const count = (rows: number, hasMore: boolean): string => {
  if (rows === 0) return ""
  return hasMore
    ? `${rows.toLocaleString("en-GB")} loaded, more below`
    : `${rows.toLocaleString("en-GB")} in all`
}
