/**
 * Remembers the last shown list, so that a page knows the next item in it.
 */

let ids: ReadonlyArray<string> = []

/** Stores the order of the shown list. */
export const remember = (shown: ReadonlyArray<string>): void => {
  ids = shown
}

/** The id of the next or previous item in the last list. */
export const neighbour = (id: string, by: 1 | -1): string | undefined => {
  const at = ids.indexOf(id)
  return at === -1 ? undefined : ids[at + by]
}
