/**
 * Values that can't be changed, so that storing and giving them out needs no copies.
 */
import { isData, mapParts } from "./PlainData.ts"

/** Whether no part of plain data can be changed. */
const isFrozen = (value: unknown): boolean =>
  !isData(value) || (Object.isFrozen(value) && Object.values(value).every(isFrozen))

/**
 * A copy of plain data of which no part can be changed. Parts that can't be changed already are not copied, so a value
 * with few changes costs little.
 */
export const frozen = <A>(value: A): A =>
  !isData(value) || isFrozen(value) ? value : (Object.freeze(mapParts(value, frozen)) as A)
