/**
 * The wire format: JSON with snake_case names, RFC 3339 instants and exact integers of any size.
 */
import { Dimensions, Instant, MeterFields, Page } from "@billwright/core"
import { DateTime, Schema, SchemaTransformation } from "effect"

const INSTANT_PROBLEM = "must be an RFC 3339 instant with an offset, such as 2026-11-21T09:30:00Z"

/** The most filters by dimensions of one request: the largest filter that a meter accepts. */
const MAX_WHERE = MeterFields.MAX_METER_DIMENSIONS * MeterFields.MAX_WHERE_VALUES

/** The limits for the recorded headers of an attempt and of its answer. */
const MAX_SENT_HEADERS = 64
const MAX_SENT_HEADER_LENGTH = 1_024
const MAX_SENT_HEADER_NAME_LENGTH = 128

const instantText = Schema.String.check(
  Schema.makeFilter<string>((text) => Instant.parse(text) !== undefined, {
    message: INSTANT_PROBLEM,
    toJsonSchema: () => ({ format: "date-time", maxLength: Instant.MAX_INSTANT_LENGTH }),
  }),
)

/** An instant. It is read as RFC 3339 with any offset, and written in UTC with milliseconds and `Z`. */
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

/** An instant, or `null`. */
export const instantOrNull = (description: string) =>
  Schema.NullOr(instant(description)).annotate({ description })

/** The note in the document about integers that may exceed `int64`. */
export const LARGE_INTEGERS =
  "A JSON integer of any size. The format `int64` is for generated clients: they are exact up to 9223372036854775807 and refuse larger values. JavaScript rounds values beyond 9007199254740991, unless its JSON parser supports big integers."

/**
 * An integer of any size as a JSON number, exactly.
 *
 * The server's own JSON parser returns integers beyond 2^53 as `bigint`. A parser that has only doubles returns a
 * rounded value, which is refused.
 */
export const exactInteger = (options: {
  readonly minimum: number
  /** Only for the document, as a double. The domain checks the exact limit. */
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

/** An amount of money in the minor unit of its currency. */
export const amount = (description: string) =>
  exactInteger({
    minimum: -Number.MAX_VALUE,
    maximum: Number.MAX_VALUE,
    problem: "must be an integer",
    description: `${description}, in the minor unit of the currency: 4200 is 42.00 EUR. ${LARGE_INTEGERS}`,
  })

/** An integer in a query string: digits only, without sign or exponent. */
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

const WHERE_PROBLEM = "must be a dimension and a value, such as model:opus"

/** Filters by dimensions, as a list of `name:value`. A value may contain colons, a name may not. */
export const where = (description: string) =>
  Schema.Array(
    Schema.String.check(
      Schema.isPattern(/^[^:]+:[^]+$/, {
        message: WHERE_PROBLEM,
        toJsonSchema: () => ({
          pattern: "^[^:]+:.+$",
          maxLength: Dimensions.MAX_DIMENSION_NAME_LENGTH + 1 + Dimensions.MAX_DIMENSION_VALUE_LENGTH,
        }),
      }),
    ),
  )
    .check(Schema.isBetweenLength(1, MAX_WHERE, { message: `must be given at most ${MAX_WHERE} times` }))
    .annotate({ description })
    .pipe(
      Schema.decodeTo(
        MeterFields.WhereInput,
        SchemaTransformation.transform({ decode: fromPairs, encode: toPairs }),
      ),
    )

const fromPairs = (pairs: ReadonlyArray<string>): Record<string, ReadonlyArray<string>> => {
  const values = new Map<string, Array<string>>()
  for (const pair of pairs) {
    const at = pair.indexOf(":")
    const name = pair.slice(0, at)
    values.set(name, [...(values.get(name) ?? []), pair.slice(at + 1)])
  }
  return Object.fromEntries(values)
}

const toPairs = (wanted: MeterFields.WhereInput): ReadonlyArray<string> =>
  Object.entries(wanted).flatMap(([name, values]) => values.map((value) => `${name}:${value}`))

/** The wire name of a domain name: `customerId` → `customer_id`. */
export const nameOf = (name: string): string =>
  name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()

/**
 * JSON that the document describes by a schema of its own (see `Plan.schemas`). Bodies are checked by the domain, which
 * names all problems, and not here.
 */
export const described = (schema: object) =>
  Schema.Any.check(Schema.makeFilter(() => true, { toJsonSchema: () => ({ ...schema }) }))

/** Any JSON. It is checked elsewhere. */
export const anyJson = (description: string) => described({ description })

/** The recorded headers of a request or an answer, by lower-case name. */
export const sentHeaders = (description: string) =>
  Schema.Record(Schema.String, text(MAX_SENT_HEADER_LENGTH))
    .check(
      Schema.isMaxProperties(MAX_SENT_HEADERS),
      Schema.isPropertyNames(text(MAX_SENT_HEADER_NAME_LENGTH)),
    )
    .annotate({ description })

/** The mode that an object belongs to. */
export const Livemode = Schema.Boolean.annotate({
  description: "`true` in live mode, `false` in test mode.",
})

/** A text field of a response, with its maximum length in code points. */
export const text = (maxLength: number) => Schema.String.check(Schema.isMaxCodePoints(maxLength))

/** A count of a response. */
export const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

const CursorId = Schema.String.check(
  Schema.isBetweenCodePoints(1, 64, { message: "must be the id of an item of this list" }),
)

/** The query parameters of every list, by their domain names. `pageKeys` maps them to wire names. */
export const pageFields = {
  limit: Schema.optionalKey(
    queryInteger(
      1,
      Page.MAX_PAGE_LIMIT,
      `The number of items in the page: 1 to ${Page.MAX_PAGE_LIMIT}. Default ${Page.DEFAULT_PAGE_LIMIT}.`,
    ),
  ),
  startingAfter: Schema.optionalKey(
    CursorId.annotate({
      description:
        "Returns items older than the one with this id. For the next page, give the id of this page's last item.",
    }),
  ),
  endingBefore: Schema.optionalKey(
    CursorId.annotate({
      description:
        "Returns items newer than the one with this id. For the previous page, give the id of this page's first item.",
    }),
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
    has_more: Schema.Boolean.annotate({ description: "Whether there are more items in this direction." }),
  }).annotate({ identifier, description: "A page of a list, newest first." })
