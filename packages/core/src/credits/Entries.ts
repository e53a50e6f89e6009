/** Reads all entries of an account that a filter lets through. */
import { Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { AccountKey, StoredEntry } from "./Credit.ts"
import type { CreditEntryFilter, CreditStore } from "./CreditStore.ts"

/** How many entries are read at once. */
const ENTRIES_OF_PAGE = 100
/** Most pages of entries that are read. */
const MAX_PAGES = 100

/**
 * Entries of an account, the last of the account first. Their numbers say it: ids follow the clocks of the processes that made
 * them, which may differ or be set back.
 */
export const entriesOf = (
  store: CreditStore["Service"],
  key: AccountKey,
  filter: Pick<CreditEntryFilter, "grantId" | "invoiceId" | "kind" | "since">,
): Effect.Effect<ReadonlyArray<StoredEntry>, StorageError, CurrentTenant> =>
  Effect.gen(function* () {
    const all: Array<StoredEntry> = []
    for (let page = 0; page < MAX_PAGES; page++) {
      const last = all.at(-1)
      const cursor = last === undefined ? undefined : ({ id: last.id, direction: "older" } as const)
      const found = yield* store
        .listEntries({ ...key, ...filter }, { limit: ENTRIES_OF_PAGE, cursor })
        .pipe(Effect.catchTag("CursorNotFound", Effect.die))
      all.push(...found.data)
      if (!found.hasMore) break
    }
    return all.toSorted((a, b) => b.sequence - a.sequence)
  })
