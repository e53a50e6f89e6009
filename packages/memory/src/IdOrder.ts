/**
 * Rows in the order of their ids, to list them by pages without scanning.
 */
import type { Page } from "@billwright/core"

/** The most rows that a page shows, and one more that tells whether there are further ones. */
const withOneMore = (query: Page.PageQuery): number => query.limit + 1

/**
 * An array sorted by id, and an index by id: rows are found by binary search. Ids rise with time, so that rows
 * are nearly always added and undone at the end, which costs less than a hash; a row with an older id is put in
 * its place.
 */
export class IdOrder<Row extends { readonly id: string }> {
  readonly #rows: Array<Row> = []

  get size(): number {
    return this.#rows.length
  }

  /** All rows, oldest first. */
  values(): IterableIterator<Row> {
    return this.#rows.values()
  }

  find(id: string): Row | undefined {
    const row = this.#rows[this.#firstFrom(id)]
    return row?.id === id ? row : undefined
  }

  /** Adds a row. False when there is a row with its id already: then nothing is changed. */
  insert(row: Row): boolean {
    const last = this.#rows.at(-1)
    if (last === undefined || last.id < row.id) {
      this.#rows.push(row)
      return true
    }
    const index = this.#firstFrom(row.id)
    if (this.#rows[index]?.id === row.id) return false
    this.#rows.splice(index, 0, row)
    return true
  }

  remove(row: Row): void {
    if (this.#rows.at(-1) === row) this.#rows.pop()
    else {
      const index = this.#firstFrom(row.id)
      if (this.#rows[index] === row) this.#rows.splice(index, 1)
    }
  }

  /** The rows of a page and one more, if there is one, in the direction of travel. The cursor may be any id. */
  slice(query: Page.PageQuery): Array<Row> {
    const { cursor } = query
    if (cursor?.direction === "newer") {
      const at = this.#firstFrom(cursor.id)
      const start = this.#rows[at]?.id === cursor.id ? at + 1 : at
      return this.#rows.slice(start, start + withOneMore(query))
    }
    const end = cursor === undefined ? this.#rows.length : this.#firstFrom(cursor.id)
    return this.#rows.slice(Math.max(0, end - withOneMore(query)), end).reverse()
  }

  /** The index of the first row whose id is not below. */
  #firstFrom(id: string): number {
    let low = 0
    let high = this.#rows.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#rows[middle]!.id < id) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** A page, newest first, of one order of rows or of several that are read as one. */
export const pageOf = <Row extends { readonly id: string }, A>(
  orders: ReadonlyArray<IdOrder<Row>>,
  query: Page.PageQuery,
  toValue: (row: Row) => A,
): Page.Page<A> => {
  const isNewer = query.cursor?.direction === "newer"
  const rows = orders.flatMap((order) => order.slice(query))
  if (orders.length > 1) rows.sort((a, b) => (a.id < b.id === isNewer ? -1 : 1))
  const hasMore = rows.length > query.limit
  const shown = hasMore ? rows.slice(0, query.limit) : rows
  if (isNewer) shown.reverse()
  return { data: shown.map(toValue), hasMore }
}
