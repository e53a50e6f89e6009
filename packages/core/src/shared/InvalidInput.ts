/**
 * The error for input that breaks a rule, and the way from a Schema issue to it.
 */
import { Effect, Exit, Predicate, Schema, SchemaIssue } from "effect"

/**
 * The caller's input breaks a rule. Nothing was stored.
 *
 * `field` is the path of the offending field in the domain's own names (`records[3].quantity`,
 * `customerId`); adapters with other names (snake_case on the wire) translate it. `problem` reads on from it:
 * "must be an integer from 0 to 9007199254740991".
 */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()(
  "InvalidInput",
  { field: Schema.String, problem: Schema.String },
  { httpApiStatus: 400 },
) {
  override get message(): string {
    return `${this.field} ${this.problem}`
  }
}

const leafProblem: SchemaIssue.LeafHook = (issue) => {
  switch (issue._tag) {
    case "MissingKey":
      return "is required"
    case "UnexpectedKey":
      return "is not a known field"
    default:
      return SchemaIssue.defaultLeafHook(issue)
  }
}

const format = SchemaIssue.makeFormatterStandardSchemaV1({ leafHook: leafProblem })

/** The path of a field as people write it: `records[3].metadata["a b"]`. */
export const fieldPath = (path: ReadonlyArray<PropertyKey>): string => {
  let text = ""
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`
    else if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(String(step))) text += `[${JSON.stringify(String(step))}]`
    else text += text === "" ? String(step) : `.${String(step)}`
  }
  return text
}

/** The first problem of a Schema issue. `root` names the whole input, for problems that have no path. */
export const fromIssue = (issue: SchemaIssue.Issue, root = "input"): InvalidInput => {
  const first = format(issue).issues[0]
  const path = (first?.path ?? []).map((step) => (typeof step === "object" ? step.key : step))
  // Not in the leaf hook, which never sees the issue of a union.
  const problem = (first?.message ?? "is invalid").replace(/^Expected /, "must be ")
  return new InvalidInput({ field: fieldPath(path) || root, problem })
}

/** A decoder for untrusted domain input: unknown fields are refused, the first problem is named. */
export const decoder = <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) =>
  strictDecoder(Schema.toType(schema))

/** How many fields and elements are looked at: those of the largest batch are fewer. */
const MAX_LOOKED_AT = 10_000

/**
 * How many fields a value has, those of nested objects included. NaN, which equals nothing, when it takes too long to
 * say: a value of JavaScript may hold itself, and have no end.
 */
const countFields = (value: unknown): number => {
  const rest = [value]
  let fields = 0
  let lookedAt = 0
  while (rest.length > 0) {
    const next = rest.pop()
    const isArray = Array.isArray(next)
    // What is no plain object, such as an instant, is one value.
    if (!isArray && (!Predicate.isObject(next) || Object.getPrototypeOf(next) !== Object.prototype)) continue
    const parts = isArray ? next : Object.values(next)
    lookedAt += parts.length
    if (lookedAt > MAX_LOOKED_AT) return Number.NaN
    // Not the elements of an array: it may have been made of a text.
    if (!isArray) fields += parts.length
    for (let i = 0; i < parts.length; i++) if (typeof parts[i] === "object") rest.push(parts[i])
  }
  return fields
}

/**
 * A decoder of a Schema that is strict about unknown fields and asks no services. What it gives is an `Exit`: a
 * fiber takes it without a turn of its own. The Schema must add no field that is missing.
 *
 * Looking for unknown fields on the way doubles the cost; decoding without drops them, so that as many fields out as
 * in were all known.
 */
export const strictDecoder = <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) => {
  const decode = Schema.decodeUnknownExit(schema)
  const explain = Schema.decodeUnknownExit(schema, { onExcessProperty: "error" })
  return (input: unknown): Effect.Effect<S["Type"], InvalidInput> => {
    const quick = decode(input)
    if (Exit.isSuccess(quick) && countFields(quick.value) === countFields(input)) {
      return Effect.succeed(quick.value)
    }
    const exit = explain(input)
    return Exit.isSuccess(exit)
      ? Effect.succeed(exit.value)
      : Effect.mapError(exit, (error) => fromIssue(error.issue))
  }
}
