/**
 * The error for a limit that is reached: nothing was stored.
 */
import { type Cause, Schema } from "effect"

type Fields<Tag extends string> = Schema.TaggedStruct<Tag, {}>

/** The class of the error for one limit. */
export type TooManyClass<Tag extends string> = Schema.Class<
  Fields<Tag>["Type"] & Cause.YieldableError,
  Fields<Tag>,
  Cause.YieldableError
>

/**
 * Makes the class of the error for one limit: its tag, the limit, and what there may be so many of. Its status is 409. The
 * class of the Promise API is `LimitReachedError`, and its code follows from the tag.
 */
export const make = <const Tag extends `TooMany${string}`>(
  tag: Tag,
  most: number,
  things: string,
): TooManyClass<Tag> => {
  class Reached extends Schema.TaggedError<Reached>()(tag, {}, { httpApiStatus: 409 }) {
    override get message(): string {
      return `there are already ${most} ${things}`
    }
  }
  return Reached
}
