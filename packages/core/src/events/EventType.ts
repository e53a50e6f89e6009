/**
 * The catalogue of event types: what an event may be called and what its data must look like.
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
/** Lower-case words joined by dots, two at least: `invoice.paid`. */
export const EventTypeName = Schema.String.check(
  Schema.isMaxLength(MAX_EVENT_TYPE_LENGTH, nameMessage),
  Schema.isPattern(/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/u, nameMessage),
)

/** A Schema of data as JSON: what it encodes to is what is sent, and it needs no services. */
export type DataSchema = Schema.Codec<unknown, unknown>

/** One type of event. */
export interface EventType<Name extends string = string, Data extends DataSchema = DataSchema> {
  readonly name: Name
  /** What it tells, in one sentence. */
  readonly description: string
  /** What `data` must look like on the wire. Fields that it doesn't name are refused. */
  readonly data: Data
  /** Data as it is sent. Test events carry it. */
  readonly example: Data["Encoded"]
}

const UNKNOWN = "is not a known event type"

/** The problem of a name that no type of the catalogue has. */
export const unknownProblem = (name: unknown): string => `${UNKNOWN}: ${JSON.stringify(name)}`

/** Whether a problem of some input is that no type of the catalogue has a name. */
export const isUnknownProblem = (problem: string): boolean => problem.startsWith(UNKNOWN)

/**
 * Defines an event type of the host's own. Throws a `TypeError` when its name is none or its example does not
 * fit its Schema: a catalogue that is wrong is a bug of the program.
 */
export const make = <const Name extends string, Data extends DataSchema>(
  type: EventType<Name, Data>,
): EventType<Name, Data> => {
  if (!Schema.is(EventTypeName)(type.name)) throw new TypeError(`"${type.name}" is no name of an event type`)
  const problem = problemOf(type, type.example)
  if (problem !== undefined) throw new TypeError(`the example of ${type.name}: ${problem.message}`)
  return type
}

const issueOf = (schema: DataSchema) => Schema.decodeUnknownResult(schema, { onExcessProperty: "error" })

/** The first rule of its type that some data breaks. Fields are named from `data` on: `data.amount`. */
export const problemOf = (type: EventType, data: unknown): InvalidInput | undefined => {
  const result = issueOf(type.data)(data)
  if (result._tag === "Success") return undefined
  const { field, problem } = fromIssue(result.failure.issue, "")
  const separator = field === "" || field.startsWith("[") ? "" : "."
  return new InvalidInput({ field: `data${separator}${field}`, problem })
}

/** The types that may be published here. */
export class EventTypes extends Context.Service<
  EventTypes,
  {
    /** In the order of their names. */
    readonly all: ReadonlyArray<EventType>
    readonly find: (name: string) => EventType | undefined
  }
>()("@billwright/core/events/EventTypes") {
  /** These types; of two of a name the later one. */
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
