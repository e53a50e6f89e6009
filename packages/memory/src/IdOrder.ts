/**
 * Rows in the order of their ids, to list them by pages without scanning.
 */
import type { Page } from "@billwright/core"

/** The rows of a page, and one more that tells whether there are further ones. */
const withOneMore = (query: Page.PageQuery): number => query.limit + 1

/** Most rows of a piece. Moving this many rows within an array takes less time than finding the position. */
const PIECE = 512

/**
 * Rows sorted by id, stored in pieces. Rows are found by binary search.
 *
 * Ids rise with time, so rows are nearly always added and undone at the end, which costs less than a hash. Elsewhere a
 * row is inserted into its piece or removed from it.
 */
export class IdOrder<Row extends { readonly id: string }> {
  /** Only a single piece can be empty. */
  readonly #pieces: Array<Array<Row>> = [[]]
  #size = 0

  get size(): number {
    return this.#size
  }

  /** All rows, oldest first. */
  *values(): Generator<Row> {
    for (const piece of this.#pieces) yield* piece
  }

  find(id: string): Row | undefined {
    const piece = this.#pieces[this.#pieceOf(id)]!
    const row = piece[firstFrom(piece, id)]
    return row?.id === id ? row : undefined
  }

  /** Adds a row. Gives false and changes nothing when there is already a row with its id. */
  insert(row: Row): boolean {
    const lastPiece = this.#pieces.at(-1)!
    const last = lastPiece.at(-1)
    if (last === undefined || last.id < row.id) {
      if (lastPiece.length < PIECE) lastPiece.push(row)
      else this.#pieces.push([row])
    } else if (!this.#insertWithin(row)) return false
    this.#size++
    return true
  }

  remove(row: Row): void {
    const isLast = this.#pieces.at(-1)!.at(-1) === row
    const at = isLast ? this.#pieces.length - 1 : this.#pieceOf(row.id)
    const piece = this.#pieces[at]!
    if (piece.at(-1) === row) piece.pop()
    else {
      const index = firstFrom(piece, row.id)
      if (piece[index] !== row) return
      piece.splice(index, 1)
    }
    this.#size--
    if (piece.length === 0 && this.#pieces.length > 1) this.#pieces.splice(at, 1)
  }

  /** The rows of a page in the direction of the cursor, and one more if there is one. The cursor may be any id. */
  slice(query: Page.PageQuery): Array<Row> {
    return this.sliceWhere(query, () => true)
  }

  /** The same for the wanted rows only. It tests row by row until the page is full. */
  sliceWhere(query: Page.PageQuery, isWanted: (row: Row) => boolean): Array<Row> {
    const { cursor } = query
    const rows = cursor?.direction === "newer" ? this.#newer(cursor.id) : this.#older(cursor?.id)
    const found: Array<Row> = []
    for (const row of rows) {
      if (isWanted(row)) found.push(row)
      if (found.length === withOneMore(query)) break
    }
    return found
  }

  *#newer(id: string): Generator<Row> {
    const first = this.#pieceOf(id)
    for (let at = first; at < this.#pieces.length; at++) {
      const piece = this.#pieces[at]!
      let index = at === first ? firstFrom(piece, id) : 0
      if (piece[index]?.id === id) index++
      for (; index < piece.length; index++) yield piece[index]!
    }
  }

  /** The rows with smaller ids, or all rows, newest first. */
  *#older(id: string | undefined): Generator<Row> {
    const first = id === undefined ? this.#pieces.length - 1 : this.#pieceOf(id)
    for (let at = first; at >= 0; at--) {
      const piece = this.#pieces[at]!
      const end = at === first && id !== undefined ? firstFrom(piece, id) : piece.length
      for (let index = end - 1; index >= 0; index--) yield piece[index]!
    }
  }

  #insertWithin(row: Row): boolean {
    const at = this.#pieceOf(row.id)
    const piece = this.#pieces[at]!
    const index = firstFrom(piece, row.id)
    if (piece[index]?.id === row.id) return false
    piece.splice(index, 0, row)
    if (piece.length > PIECE) this.#pieces.splice(at + 1, 0, piece.splice(PIECE / 2))
    return true
  }

  /** The last piece that begins with this id or a smaller one, or the first piece. */
  #pieceOf(id: string): number {
    let low = 0
    let high = this.#pieces.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (this.#pieces[middle]![0]!.id <= id) low = middle
      else high = middle - 1
    }
    return low
  }
}

/** The index of the first row whose id is not smaller. */
const firstFrom = (rows: ReadonlyArray<{ readonly id: string }>, id: string): number => {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (rows[middle]!.id < id) low = middle + 1
    else high = middle
  }
  return low
}

/** A page of the wanted rows, newest first, of one order of rows, or of several orders that are read as one. */
export const pageOf = <Row extends { readonly id: string }, A>(
  orders: ReadonlyArray<IdOrder<Row>>,
  query: Page.PageQuery,
  toValue: (row: Row) => A,
  isWanted: (row: Row) => boolean = () => true,
): Page.Page<A> => {
  const rows = orders.flatMap((order) => order.sliceWhere(query, isWanted))
  const isNewer = query.cursor?.direction === "newer"
  if (orders.length > 1) rows.sort((a, b) => (a.id < b.id === isNewer ? -1 : 1))
  return toPage(rows, query, toValue)
}

/** Makes a page of rows in the direction of the cursor. One row more than the limit means that there are more. */
export const toPage = <Row, A>(
  rows: ReadonlyArray<Row>,
  query: Page.PageQuery,
  toValue: (row: Row) => A,
): Page.Page<A> => {
  const shown = rows.slice(0, query.limit)
  if (query.cursor?.direction === "newer") shown.reverse()
  return { data: shown.map(toValue), hasMore: rows.length > query.limit }
}
