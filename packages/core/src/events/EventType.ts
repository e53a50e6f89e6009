/**
 * The catalogue of event types: the names that events may have, and the Schemas of their data.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { fromIssue, InvalidInput } from "../shared/InvalidInput.ts"

/** Longest name of an event type, in characters. */
export const MAX_EVENT_TYPE_LENGTH = 100
/** Most event types of one catalogue. */
export const MAX_EVENT_TYPES = 1_000

const nameMessage = {
  message: `must be an event type such as invoice.paid: lower-case words joined by dots, at most ${MAX_EVENT_TYPE_LENGTH} characters`,
}
/** The name of an event type: at least two lower-case words, joined by dots, such as `invoice.paid`. */
export const EventTypeName = Schema.String.check(
  Schema.isMaxLength(MAX_EVENT_TYPE_LENGTH, nameMessage),
  Schema.isPattern(/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/u, nameMessage),
)

/** The Schema of an event's data. Its encoded side is the JSON that is sent. It needs no services. */
export type DataSchema = Schema.Codec<unknown, unknown>

/** One type of event. */
export interface EventType<Name extends string = string, Data extends DataSchema = DataSchema> {
  readonly name: Name
  /** What an event of this type means, in one sentence. */
  readonly description: string
  /** The Schema of `data` as it is sent. Other fields are refused. */
  readonly data: Data
  /** Example data, as it is sent. Test events carry it. */
  readonly example: Data["Encoded"]
  /**
   * Names of fields of `data` whose texts are never personal, such as `status` or `order_number`, at any depth. They stay when
   * the customer of an event is erased. All other texts but ids of Billwright are taken out then. Default: none stays.
   */
  readonly kept?: ReadonlyArray<string>
}

const UNKNOWN = "is not a known event type"

/** The problem to report for a name that is not in the catalogue. */
export const unknownProblem = (name: unknown): string => `${UNKNOWN}: ${JSON.stringify(name)}`

/** Whether a problem was made by `unknownProblem`. */
export const isUnknownProblem = (problem: string): boolean => problem.startsWith(UNKNOWN)

/**
 * Defines an event type of the host. Throws a `TypeError` when its name is not valid or its example does not
 * fit its Schema, because a wrong catalogue is a bug in the program.
 */
export const make = <const Name extends string, Data extends DataSchema>(
  type: EventType<Name, Data>,
): EventType<Name, Data> => {
  if (!Schema.is(EventTypeName)(type.name))
    throw new TypeError(`"${type.name}" is not a valid name of an event type`)
  const problem = problemOf(type, type.example)
  if (problem !== undefined) throw new TypeError(`the example of ${type.name}: ${problem.message}`)
  return type
}

const makeCheck = (schema: DataSchema) => Schema.decodeUnknownResult(schema, { onExcessProperty: "error" })

/** What was made of Schemas, because making it takes as long as a check. */
const checks = new WeakMap<DataSchema, ReturnType<typeof makeCheck>>()

const checkOf = (schema: DataSchema): ReturnType<typeof makeCheck> => {
  const known = checks.get(schema)
  if (known !== undefined) return known
  const made = makeCheck(schema)
  checks.set(schema, made)
  return made
}

/** The first problem of data that does not fit its type. The field's path begins with `data`: `data.amount`. */
export const problemOf = (type: EventType, data: unknown): InvalidInput | undefined => {
  const result = checkOf(type.data)(data)
  if (result._tag === "Success") return undefined
  const { field, problem } = fromIssue(result.failure.issue, "")
  const separator = field === "" || field.startsWith("[") ? "" : "."
  return new InvalidInput({ field: `data${separator}${field}`, problem })
}

/** The event types that can be published. */
export class EventTypes extends Context.Service<
  EventTypes,
  {
    /** In the order of their names. */
    readonly all: ReadonlyArray<EventType>
    readonly find: (name: string) => EventType | undefined
  }
>()("@billwright/core/events/EventTypes") {
  /** A catalogue of these types. When two have the same name, the later one counts. */
  static readonly layerWith = (types: ReadonlyArray<EventType>) =>
    Layer.effect(
      EventTypes,
      Effect.sync(() => {
        const byName = new Map(types.map((type) => [type.name, type]))
        if (byName.size > MAX_EVENT_TYPES) {
          throw new TypeError(`there are more than ${MAX_EVENT_TYPES} event types`)
        }
        const all = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
        return EventTypes.of({ all, find: (name) => byName.get(name) })
      }),
    )
}
