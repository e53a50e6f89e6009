/**
 * The API key of this tab. It is only in `sessionStorage`, and is gone when the tab is closed.
 */

/** The mode of a key. */
export type Mode = "live" | "test"

const STORED_AS = "billwright.key"
const KEY = /^sk_(live|test)_[0-9A-Za-z]{38}$/

/** The mode of a key. `undefined` if the text is not a key. */
export const modeOf = (key: string): Mode | undefined => KEY.exec(key)?.[1] as Mode | undefined

export const stored = (): string | undefined => sessionStorage.getItem(STORED_AS) ?? undefined
export const store = (key: string): void => sessionStorage.setItem(STORED_AS, key)
export const forget = (): void => sessionStorage.removeItem(STORED_AS)
