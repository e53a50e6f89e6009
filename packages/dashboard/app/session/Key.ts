/**
 * The API key of this tab. It is kept in `sessionStorage` alone, and ends with the tab.
 */

/** Which world a key sees. */
export type Mode = "live" | "test"

const STORED_AS = "billwright.key"
const KEY = /^sk_(live|test)_[0-9A-Za-z]{38}$/

/** The mode of a key; `undefined` for a text that is none. */
export const modeOf = (key: string): Mode | undefined => KEY.exec(key)?.[1] as Mode | undefined

export const stored = (): string | undefined => sessionStorage.getItem(STORED_AS) ?? undefined
export const store = (key: string): void => sessionStorage.setItem(STORED_AS, key)
export const forget = (): void => sessionStorage.removeItem(STORED_AS)
