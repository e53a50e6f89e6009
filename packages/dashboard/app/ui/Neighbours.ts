/**
 * The list that somebody came from, so that a page knows what is next in it.
 */

let ids: ReadonlyArray<string> = []

/** Keeps the order of the list that is shown. */
export const remember = (shown: ReadonlyArray<string>): void => {
  ids = shown
}

/** The id that is so many places further in the last list. */
export const neighbour = (id: string, by: 1 | -1): string | undefined => {
  const at = ids.indexOf(id)
  return at === -1 ? undefined : ids[at + by]
}
