/**
 * The error for input that breaks a rule, and how a Schema issue becomes this error.
 */
import { Effect, Exit, Predicate, Schema, SchemaIssue } from "effect"

/** A broken rule: the path of the field, and how the sentence that it begins goes on. */
export const FieldProblem = Schema.Struct({ field: Schema.String, problem: Schema.String })
export interface FieldProblem extends Schema.Schema.Type<typeof FieldProblem> {}

/**
 * The caller's input breaks a rule. Nothing was stored.
 *
 * `field` is the path of the wrong field in TypeScript names (`records[3].quantity`, `customerId`). Adapters that use
 * other names (snake_case on the wire) translate it. `problem` continues the sentence that `field` begins:
 * "must be an integer from 0 to 9007199254740991". `problems` lists all problems, this one first, where the input is
 * checked as a whole; it is absent where checking ends with the first.
 */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()(
  "InvalidInput",
  {
    field: Schema.String,
    problem: Schema.String,
    problems: Schema.optionalKey(Schema.NonEmptyArray(FieldProblem)),
  },
  { httpApiStatus: 400 },
) {
  override get message(): string {
    return `${this.field} ${this.problem}${andMore(this.problems)}`
  }
}

/** Says after the first problem how many others there are. */
export const andMore = (problems: ReadonlyArray<FieldProblem> = []): string =>
  problems.length > 1 ? ` (and ${problems.length - 1} more)` : ""

/** The error for one or more problems of an input that was checked as a whole. */
export const ofProblems = (problems: readonly [FieldProblem, ...ReadonlyArray<FieldProblem>]): InvalidInput =>
  new InvalidInput({ ...problems[0], problems })

/** What is said of a promise where a value belongs. */
export const PROMISE_PROBLEM = "is a promise: its await is missing"

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

/** The value at a path of the input. */
const valueAt = (input: unknown, path: ReadonlyArray<PropertyKey>): unknown =>
  path.reduce<unknown>((value, step) => (Predicate.hasProperty(value, step) ? value[step] : undefined), input)

/**
 * The first problem of a Schema issue. `root` is the field's name for a problem of the whole input. With the `input`, a
 * field whose value is a promise is called that: mostly an `await` is missing.
 */
export const fromIssue = (issue: SchemaIssue.Issue, root = "input", input?: unknown): InvalidInput => {
  const first = format(issue).issues[0]
  const path = (first?.path ?? []).map((step) => (typeof step === "object" ? step.key : step))
  // Here and not in the leaf hook, because the leaf hook is not called for the issue of a union.
  const problem = Predicate.isPromiseLike(valueAt(input, path))
    ? PROMISE_PROBLEM
    : (first?.message ?? "is invalid")
        .replace(/^Expected (string|number|boolean)$/, "must be a $1")
        .replace(/^Expected /, "must be ")
  return new InvalidInput({ field: fieldPath(path) || root, problem })
}

/** A decoder for untrusted domain input. It refuses unknown fields and reports the first problem. */
export const decoder = <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) =>
  strictDecoder(Schema.toType(schema))

/** Most fields and elements that are counted. The largest batch of usage has 16,001: 1,000 records with 15 fields each. */
const MAX_LOOKED_AT = 20_000

/**
 * How many fields a value has, with those of nested objects. Gives NaN, which equals no number, when the value has too
 * many: a JavaScript object may contain itself, and counting would never end.
 */
const countFields = (value: unknown): number => {
  const rest = [value]
  let fields = 0
  let lookedAt = 0
  while (rest.length > 0) {
    const next = rest.pop()
    const isArray = Array.isArray(next)
    // An object that is not plain, such as an instant, is one value.
    if (!isArray && (!Predicate.isObject(next) || Object.getPrototypeOf(next) !== Object.prototype)) continue
    const parts = isArray ? next : Object.values(next)
    lookedAt += parts.length
    if (lookedAt > MAX_LOOKED_AT) return Number.NaN
    // Elements of an array don't count, because the Schema may have decoded the array from a text.
    if (!isArray) fields += parts.length
    for (let i = 0; i < parts.length; i++) if (typeof parts[i] === "object") rest.push(parts[i])
  }
  return fields
}

/**
 * A decoder that refuses unknown fields. Its result is an `Exit`, which a fiber takes without an extra step. The Schema
 * must need no services, and must not add fields that are missing in the input.
 *
 * Refusing unknown fields while decoding doubles the cost. So the first decoding drops unknown fields: when input and
 * output have the same number of fields, there were none. Only otherwise does the slow decoding follow.
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
      : Effect.mapError(exit, (error) => fromIssue(error.issue, "input", input))
  }
}
