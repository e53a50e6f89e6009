/**
 * How values look on the wire: JSON, snake_case, RFC 3339 instants, exact integers of any size.
 */
import { Instant, Page } from "@billwright/core"
import { DateTime, Schema, SchemaTransformation } from "effect"

const INSTANT_PROBLEM = "must be an RFC 3339 instant with an offset, such as 2026-11-21T09:30:00Z"

/** What is kept of the headers of an attempt and of its answer. */
const MAX_SENT_HEADERS = 64
const MAX_SENT_HEADER_LENGTH = 1_024
const MAX_SENT_HEADER_NAME_LENGTH = 128

const instantText = Schema.String.check(
  Schema.makeFilter<string>((text) => Instant.parse(text) !== undefined, {
    message: INSTANT_PROBLEM,
    toJsonSchema: () => ({ format: "date-time", maxLength: Instant.MAX_INSTANT_LENGTH }),
  }),
)

/** An instant: RFC 3339 with any offset in, UTC milliseconds with `Z` out. */
export const instant = (description: string) =>
  instantText.annotate({ description }).pipe(
    Schema.decodeTo(
      Schema.DateTimeUtc,
      SchemaTransformation.transform({
        decode: (text: string) => Instant.parse(text) ?? DateTime.makeUnsafe(0),
        encode: (value: DateTime.Utc) => DateTime.formatIso(value),
      }),
    ),
  )

/** An instant that may not have come. */
export const instantOrNull = (description: string) =>
  Schema.NullOr(instant(description)).annotate({ description })

/** What readers of the document must know of an integer that `int64` does not hold. */
export const LARGE_INTEGERS =
  "A JSON integer of any size. `int64` is for clients that are generated: they hold it exactly up to 9223372036854775807 and refuse what is larger; JavaScript rounds beyond 9007199254740991, unless its JSON is read with big integers."

/**
 * An integer of any size as a JSON number, exactly.
 *
 * The server's own reader gives integers beyond 2^53 as `bigint`; readers that only know doubles give what is
 * left of them, which is refused.
 */
export const exactInteger = (options: {
  readonly minimum: number
  /** For readers of the document, as a double; the domain checks it exactly. */
  readonly maximum: number
  readonly problem: string
  readonly description: string
}) =>
  Schema.Any.check(
    Schema.makeFilter((value: unknown) => typeof value === "bigint" || Number.isSafeInteger(value), {
      message: options.problem,
      toJsonSchema: () => ({
        type: "integer",
        minimum: options.minimum,
        maximum: options.maximum,
        description: options.description,
      }),
    }),
  ).pipe(
    Schema.decodeTo(
      Schema.BigInt,
      SchemaTransformation.transform({
        decode: (value: number | bigint) => BigInt(value),
        encode: (value: bigint): number | bigint => value,
      }),
    ),
  )

/** A whole number in a query string: digits alone, no sign, no exponent. */
export const queryInteger = (minimum: number, maximum: number, description: string) => {
  const message = `must be an integer from ${minimum} to ${maximum}`
  const isInRange = (text: unknown) =>
    typeof text === "string" && /^\d{1,9}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum
  return Schema.Any.check(
    Schema.makeFilter(isInRange, {
      message,
      toJsonSchema: () => ({ type: "integer", minimum, maximum, description }),
    }),
  ).pipe(
    Schema.decodeTo(
      Schema.Number,
      SchemaTransformation.transform({
        decode: (text: string) => Number(text),
        encode: (value: number): string => String(value),
      }),
    ),
  )
}

/** A name of the domain as it is sent: `customerId` → `customer_id`. */
export const nameOf = (name: string): string =>
  name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()

/** JSON of any shape. What it holds is for somebody else to judge. */
export const anyJson = (description: string) =>
  Schema.Any.check(Schema.makeFilter(() => true, { toJsonSchema: () => ({ description }) }))

/** Headers of a message that somebody sent, by lower-case name. */
export const sentHeaders = (description: string) =>
  Schema.Record(Schema.String, text(MAX_SENT_HEADER_LENGTH))
    .check(
      Schema.isMaxProperties(MAX_SENT_HEADERS),
      Schema.isPropertyNames(text(MAX_SENT_HEADER_NAME_LENGTH)),
    )
    .annotate({ description })

/** Which mode an object belongs to. */
export const Livemode = Schema.Boolean.annotate({
  description: "Whether this is live, or of the test mode.",
})

/** A text field of a response, with its bound. */
export const text = (maxLength: number) => Schema.String.check(Schema.isMaxCodePoints(maxLength))

/** A count of a response. */
export const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

const CursorId = Schema.String.check(
  Schema.isBetweenCodePoints(1, 64, { message: "must be the id of an item of this list" }),
)

/** The query parameters of every list, by their domain names; to be encoded with `pageKeys`. */
export const pageFields = {
  limit: Schema.optionalKey(
    queryInteger(
      1,
      Page.MAX_PAGE_LIMIT,
      `How many items: 1 to ${Page.MAX_PAGE_LIMIT}, ${Page.DEFAULT_PAGE_LIMIT} when left out.`,
    ),
  ),
  startingAfter: Schema.optionalKey(
    CursorId.annotate({ description: "The id of the last item of the page before this one." }),
  ),
  endingBefore: Schema.optionalKey(
    CursorId.annotate({ description: "The id of the first item of the page after this one." }),
  ),
}

export const pageKeys = { startingAfter: "starting_after", endingBefore: "ending_before" } as const

/** A page of a list. */
export const list = <S extends Schema.Top>(item: S, identifier: string) =>
  Schema.Struct({
    object: Schema.Literal("list"),
    data: Schema.Array(item)
      .check(Schema.isMaxLength(Page.MAX_PAGE_LIMIT))
      .annotate({ description: "The items of this page." }),
    has_more: Schema.Boolean.annotate({ description: "Whether further items follow in this direction." }),
  }).annotate({ identifier, description: "A page of a list, newest first." })
