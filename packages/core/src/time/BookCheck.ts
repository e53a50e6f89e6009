/**
 * A check of the books: it derives every issued invoice and every balance of credits again, in the background, and says what
 * differs. What it compares, `BookAudit` and `CreditAudit` say.
 */
import { Schema } from "effect"
import type { CreditDiscrepancy } from "../credits/CreditAudit.ts"
import type { BookDiscrepancy } from "../payments/BookAudit.ts"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import * as Resource from "../shared/Resource.ts"
import * as Text from "../shared/Text.ts"

/** The prefix of ids of checks of the books. */
export const BOOK_CHECK_ID_PREFIX = "chk"
/** The longest name of a night, in code points. */
const MAX_NIGHT_LENGTH = 64
/** The most differences that a check lists. It counts all of them. */
export const MAX_LISTED_DIFFERENCES = 100
/** The longest name of what differs, in code points. */
const MAX_WHERE_LENGTH = 200
/** The longest problem that is listed, in code points. */
const MAX_PROBLEM_LENGTH = 500
/** The longest position, in code points: a customer and a unit. */
const MAX_POSITION_LENGTH = 200

export const BookCheckId = Id.schema(BOOK_CHECK_ID_PREFIX).pipe(Schema.brand("BookCheckId"))
export type BookCheckId = typeof BookCheckId.Type

export const BookCheckStatus = Schema.Literals(["running", "completed"])
export type BookCheckStatus = typeof BookCheckStatus.Type

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const Difference = Schema.Struct({
  object: Schema.String.check(Schema.isMaxCodePoints(MAX_WHERE_LENGTH)).annotate({
    description: "The id of the invoice; or of the customer and the unit of a balance, such as cus_…/token.",
  }),
  path: Schema.String.check(Schema.isMaxCodePoints(MAX_WHERE_LENGTH)).annotate({
    description: "What of it differs, such as `lines[0].amount`.",
  }),
  problem: Schema.String.check(Schema.isMaxCodePoints(MAX_PROBLEM_LENGTH)).annotate({
    description: "What is stated, and what was derived. It continues the sentence.",
  }),
})

const night = Field.textOrNull(
  Text.bounded(1, MAX_NIGHT_LENGTH),
  "The night of a nightly check, as the date in UTC, such as 2026-11-26. `null`: somebody asked for it.",
)

const part = Field.text(
  Schema.Literals(["invoices", "credits"]).annotate({ message: "must be invoices or credits" }),
  "What it looks at: first invoices, the newest first, and then balances of credits.",
)

/** The definition of the resource; see `Resource`. */
export const bookChecks = Resource.make({
  type: "BookCheck",
  noun: "book check",
  title: "Book checks",
  description:
    "Derives all issued invoices and all balances of credits again, in the background, and says what differs. It changes nothing else.",
  about:
    "Checks that the books are what they consist of: on request, and each night if the server is told to.",
  path: "/book_checks",
  scope: "invoices",
  id: BookCheckId,
  prefix: BOOK_CHECK_ID_PREFIX,
  progress: ["invoices", "creditAccounts", "differences", "found", "part", "position"],
  fields: {
    night,
    status: Field.text(BookCheckStatus, "`running` until everything was looked at, then `completed`."),
    invoices: Field.json(count, "How many invoices were looked at so far."),
    creditAccounts: Field.json(count, "How many balances of credits were looked at so far."),
    differences: Field.json(
      count,
      "How many differences were found so far. Each is a bug, or a damaged database.",
    ),
    found: Field.json(
      Schema.Array(Difference).check(Schema.isMaxLength(MAX_LISTED_DIFFERENCES)),
      `The first ${MAX_LISTED_DIFFERENCES} differences.`,
    ),
    part,
    position: Field.textOrNull(
      Text.bounded(1, MAX_POSITION_LENGTH),
      "The last of them that was looked at. `null`: none yet.",
    ),
    completedAt: Field.instantOrNull("When it was completed."),
  },
  times: { createdAt: Field.instant("When it began to wait for its turn.") },
  create: {
    part: Field.optional(
      Field.saying(part, "What it begins with. `credits` leaves invoices out. Default: `invoices`."),
    ),
  },
  filters: {
    status: Field.optional(Field.text(BookCheckStatus, "Only checks with this status.")),
    night: Field.optional(Field.saying(night, "Only the check of this night.")),
  },
  indexed: ["status", "night"],
  unique: ["night"],
  operations: {
    create:
      "Begins a check of the books. It reads only, some invoices at a time, and goes on where it stopped when a process dies. If it finds differences, `book_check.failed` is published when it is complete.",
  },
  example: {
    id: "chk_01kb2r9d3vffx9qd6k4v2n1h7c",
    night: "2026-11-26",
    status: "completed",
    invoices: 1204,
    credit_accounts: 88,
    differences: 1,
    found: [
      {
        object: "inv_01kb2r7aqte0btqgq0m9ecz4n1",
        path: "amountPaid",
        problem: "is 1000, and its payments add up to 900",
      },
    ],
    part: "credits",
    position: "cus_01kahd3kc8e0fsr8zknzqgf2h1/token",
    completed_at: "2026-11-26T02:00:09.000Z",
    created_at: "2026-11-26T00:00:00.000Z",
  },
})

/** A check of the books. */
export const BookCheck = bookChecks.Value
export interface BookCheck extends Schema.Schema.Type<typeof BookCheck> {}

/** The input of `BookChecks.create`. */
export const CreateBookCheck = bookChecks.Create
export interface CreateBookCheck extends Schema.Schema.Type<typeof CreateBookCheck> {}

/** Which checks to list. */
export const ListBookChecks = bookChecks.List
export interface ListBookChecks extends Schema.Schema.Type<typeof ListBookChecks> {}

/** The tenant has no check with this id. */
export const BookCheckNotFound = bookChecks.NotFound
export type BookCheckNotFound = InstanceType<typeof BookCheckNotFound>

type Difference = BookCheck["found"][number]

const cut = (text: string, most: number): string => [...text].slice(0, most).join("")

const difference = (object: string, path: string, problem: string): Difference => ({
  object: cut(object, MAX_WHERE_LENGTH),
  path: cut(path, MAX_WHERE_LENGTH),
  problem: cut(problem, MAX_PROBLEM_LENGTH),
})

export const ofInvoice = ({ invoiceId, path, problem }: BookDiscrepancy): Difference =>
  difference(invoiceId, path, problem)

const sumsText = ({ available, debt, held, scoped }: CreditDiscrepancy["stated"]): string =>
  `${available} available, ${scoped} scoped, ${held} held, ${debt} of debt`

export const ofCredits = ({
  customerId,
  entries,
  grantId,
  problem,
  stated,
  unit,
}: CreditDiscrepancy): Difference =>
  difference(
    `${customerId}/${unit}`,
    grantId ?? "account",
    `${problem}: it has ${sumsText(stated)}, entries ${sumsText(entries)}`,
  )

const NOTHING = { invoices: 0, creditAccounts: 0, differences: 0, found: [], position: null } as const

/** A check that has looked at nothing. */
export const begun = (check: Omit<BookCheck, keyof typeof NOTHING>): BookCheck => ({
  ...check,
  ...NOTHING,
})

/** What a page of a part found. */
export interface Looked {
  readonly count: number
  readonly differences: ReadonlyArray<Difference>
  readonly position: string | null
  readonly hasMore: boolean
}

/** The check after it has looked at one more page of its part. After the last page of invoices it begins with credits. */
export const looked = (
  check: BookCheck,
  { count: more, differences, hasMore, position }: Looked,
): BookCheck => {
  const counted = check.part === "invoices" ? "invoices" : "creditAccounts"
  const after = {
    ...check,
    [counted]: check[counted] + more,
    differences: check.differences + differences.length,
    found: [...check.found, ...differences].slice(0, MAX_LISTED_DIFFERENCES),
    position: position ?? check.position,
  }
  return hasMore || check.part === "credits" ? after : { ...after, part: "credits", position: null }
}
