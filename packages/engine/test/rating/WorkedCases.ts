/** Reads the worked cases: see `test/cases/README.md`. */
import { readdirSync, readFileSync } from "node:fs"
import type { Charge } from "../../src/rating/index.ts"

export interface Case {
  readonly id: string
  readonly title: string
  readonly kind: string
  readonly source: { readonly title: string; readonly url: string }
  readonly charge: Charge
  readonly currency: string
  readonly quantity: string
  readonly records?: ReadonlyArray<string>
  readonly share?: readonly [string, string]
  readonly discounts?: ReadonlyArray<string>
  readonly billed_before?: number
  readonly expected: { readonly amount: number; readonly exact: string }
  readonly note?: string
}

const folder = new URL("../cases/", import.meta.url)
export const cases = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .toSorted()
  .flatMap((file) => JSON.parse(readFileSync(new URL(file, folder), "utf8")) as ReadonlyArray<Case>)
