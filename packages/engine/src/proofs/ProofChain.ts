/**
 * Checks the proofs of a series together: none is missing, and each follows the one before.
 */
import { type Problem, Problems } from "../catalog/Problem.ts"
import { readNumber } from "../invoices/Numbering.ts"
import { FIRST_PREVIOUS, type Proof } from "./ProofDocument.ts"

/** What of a proof says where it belongs. */
export interface ProofLink extends Pick<Proof, "accountId" | "mode" | "position" | "previous" | "format"> {
  /** The SHA-256 of the text of the proof. */
  readonly hash: string
  readonly invoiceId: string
  readonly number: string
  readonly issuedAt: number
}

/** The link of a proof with this hash. */
export const linkOf = (proof: Proof, hash: string): ProofLink => {
  const { accountId, format, invoice, mode, position, previous } = proof
  const { id: invoiceId, issuedAt, number } = invoice
  return { accountId, mode, position, previous, format, hash, invoiceId, number, issuedAt }
}

const checkPlaces = (at: Problems, links: ReadonlyArray<ProofLink>): void => {
  const [first] = links
  if (first !== undefined && (first.position === 1) !== (first.previous === FIRST_PREVIOUS)) {
    at.in(first.number).add("has a hash before it exactly if it is not the first")
  }
  for (const [index, link] of links.entries()) {
    const before = links[index - 1]
    if (before === undefined) continue
    const here = at.in(link.number)
    if (link.accountId !== before.accountId || link.mode !== before.mode)
      here.add("is of another account or mode")
    if (link.position === before.position)
      here.add(`has position ${String(link.position)}, as ${before.number} has`)
    else if (link.position !== before.position + 1) {
      const missing = link.position - before.position - 1
      here.add(
        `is at position ${String(link.position)}: ${String(missing)} before it are missing after ${before.number}`,
      )
    } else if (link.previous !== before.hash) {
      here.add(`has another hash before it than that of ${before.number}: one of them was changed`)
    }
    if (link.mode === "live" && link.issuedAt < before.issuedAt)
      here.add(`was issued before ${before.number}`)
  }
}

const checkOnce = (at: Problems, links: ReadonlyArray<ProofLink>, name: "number" | "invoiceId"): void => {
  const seen = new Set<string>()
  for (const link of links) {
    if (seen.has(link[name]))
      at.in(link.number).add(`has an ${name === "number" ? "invoice number" : "invoice"} that occurs twice`)
    seen.add(link[name])
  }
}

interface Numbered {
  readonly number: string
  readonly counter: number
  /** `null` if the format has none. */
  readonly year: number | null
}

/** The links of one format and year that follow each other. */
interface NumberRun {
  readonly key: string
  readonly numbers: Array<Numbered>
}

const runsOf = (at: Problems, links: ReadonlyArray<ProofLink>): ReadonlyArray<NumberRun> => {
  const runs: Array<NumberRun> = []
  for (const { format, number } of links) {
    const read = readNumber(format, number)
    if (read === undefined) {
      at.in(number).add(`is not in the format ${format}`)
      continue
    }
    const key = JSON.stringify([format, read.year])
    const last = runs.at(-1)
    if (last?.key === key) last.numbers.push({ number, ...read })
    else runs.push({ key, numbers: [{ number, ...read }] })
  }
  return runs
}

/**
 * The counter that follows. A series has one, which goes on when the format changes. If the format has a year, it begins
 * with 1 in a later one. The year of a number without one is not known: what is not above it is of a later year.
 */
const counterAfter = (before: Numbered, { counter, year }: Numbered): number => {
  const isLater = year !== null && (before.year === null ? counter <= before.counter : year > before.year)
  return isLater ? 1 : before.counter + 1
}

/**
 * The numbers have no gap between the first and the last. Invoices of one transaction may be proved in another order than
 * that of their numbers, but then they have one format and year.
 */
const checkNumbers = (at: Problems, links: ReadonlyArray<ProofLink>): void => {
  const all = runsOf(at, links).flatMap(({ numbers }) => numbers.toSorted((a, b) => a.counter - b.counter))
  for (const [index, next] of all.entries()) {
    const before = all[index - 1]
    const missing = before === undefined ? 0 : next.counter - counterAfter(before, next)
    if (missing > 0) at.in(next.number).add(`is missing ${String(missing)} numbers before it`)
  }
}

/**
 * Checks the links of a series, in any order. They may begin after the first proof and end before the last one; in between
 * none may be missing. Each names the hash of the one before, numbers have no gap and occur once, and in live mode the
 * instants of issue never fall.
 */
export const problemsOfChain = (links: ReadonlyArray<ProofLink>): ReadonlyArray<Problem> => {
  const at = new Problems("proofs")
  const sorted = links.toSorted((a, b) => a.position - b.position)
  try {
    checkPlaces(at, sorted)
    checkOnce(at, sorted, "invoiceId")
    checkOnce(at, sorted, "number")
    checkNumbers(at, sorted)
  } catch (error) {
    at.add(`can't be checked: ${error instanceof Error ? error.message : String(error)}`)
  }
  return at.found
}
