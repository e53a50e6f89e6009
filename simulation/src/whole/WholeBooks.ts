/**
 * What a run of the whole world leaves behind: what clients, receivers and the storage saw, and the books of the library and
 * of the bank. Checkers see only this.
 */
import type { Books } from "../billing/Books.ts"
import type { History } from "../History.ts"
import type { PrepaidBooks } from "../prepaid/PrepaidBooks.ts"

/** The books at the end, and the bugs that fibers died of. They hold for the checkers of all other simulations. */
export type WholeHistory = Books &
  PrepaidBooks & {
    /** The calls, requests and commits, and all that is stored. */
    readonly history: History
    /** How often each command of a script or a host was carried out, by name. */
    readonly done: ReadonlyMap<string, number>
    readonly defects: ReadonlyArray<string>
  }
