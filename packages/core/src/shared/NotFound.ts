/**
 * The error for an id that nothing of a kind has.
 */
import { type Cause, Schema } from "effect"

const fields = {
  id: Schema.String,
  /** The field of the input that held the id, if there is one: `records[3].customerId`. */
  field: Schema.optionalKey(Schema.String),
}

type Fields<Tag extends string> = Schema.TaggedStruct<Tag, typeof fields>

/** The error for one kind of thing. */
type NotFound<Tag extends string> = Fields<Tag>["Type"] & Cause.YieldableError

/** The class of the error for one kind of thing. */
export type NotFoundClass<Tag extends string> = Schema.Class<NotFound<Tag>, Fields<Tag>, Cause.YieldableError>

/**
 * Makes the class of the error for one kind of thing: its tag, and the noun for one of them. Its status is 404. The code
 * of the REST API follows from the status, and the class and code of the Promise API from the tag.
 */
export const make = <const Tag extends string>(tag: Tag, noun: string): NotFoundClass<Tag> => {
  class Missing extends Schema.TaggedError<Missing>()(tag, fields, { httpApiStatus: 404 }) {
    override get message(): string {
      return `no ${noun} has the id ${this.id}`
    }
  }
  return Missing
}
