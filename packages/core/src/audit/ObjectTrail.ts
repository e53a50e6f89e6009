/**
 * Notes changes of a kind of object that has a port of its own, and is no resource of `Collections`.
 */
import { Effect, Option } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { Trail } from "./AuditTrail.ts"

/** A kind of object, and what records show of it. */
export interface Kind<A> {
  /** What actions call it: `credit_note`. */
  readonly object: string
  readonly idOf: (value: A) => string
  /** The object as callers see it. All of its fields are shown, so that a new one can't be forgotten, but for these: */
  readonly view: (value: A) => object
  /** Of these only the name is shown: what is secret or personal, and what is as large as the object itself. */
  readonly hidden: ReadonlyArray<string>
  /** These don't count as changes: what follows from other fields, and how far work in the background is. */
  readonly ignored: ReadonlyArray<string>
}

/** The id is in each record, and when it was changed, too. */
const ALWAYS_IGNORED = ["id", "createdAt", "updatedAt"]

/** The fields of an object whose changes are noted. */
export const fieldsOf = <A>({ ignored, view }: Kind<A>, value: A): ReadonlyArray<string> =>
  Object.keys(view(value)).filter((name) => !ALWAYS_IGNORED.includes(name) && !ignored.includes(name))

/** What is needed to note the changes of a kind of object. */
export class ObjectTrail<A> {
  readonly #trail: Trail["Service"]
  readonly #kind: Kind<A>
  readonly #hidden: ReadonlySet<string>

  constructor(trail: Trail["Service"], kind: Kind<A>) {
    this.#trail = trail
    this.#kind = kind
    this.#hidden = new Set(kind.hidden)
  }

  /** Notes a change. A state that there is not is `none`. */
  note(
    id: string,
    before: Option.Option<A>,
    after: Option.Option<A>,
  ): Effect.Effect<void, StorageError, CurrentTenant> {
    const known = Option.orElse(after, () => before)
    if (Option.isNone(known)) return Effect.void
    const viewed = (state: Option.Option<A>) => Option.getOrUndefined(Option.map(state, this.#kind.view))
    return this.#trail.note(
      { object: this.#kind.object, fields: fieldsOf(this.#kind, known.value), hidden: this.#hidden },
      { id, before: viewed(before), after: viewed(after) },
    )
  }

  /** Notes the creation of an object by a write, unless that gives `false`. */
  created<B, E, R>(
    value: A,
    write: Effect.Effect<B, E, R>,
  ): Effect.Effect<B, E | StorageError, R | CurrentTenant> {
    const noted = this.note(this.#kind.idOf(value), Option.none(), Option.some(value))
    return this.#trail.joined(Effect.tap(write, (isWritten) => (isWritten === false ? Effect.void : noted)))
  }

  /** Notes what a write makes of an object, which is read before it. `after` says what that is from what the write gives. */
  changed<B, E, R, F, S>(
    id: string,
    find: Effect.Effect<Option.Option<A>, F, S>,
    write: Effect.Effect<B, E, R>,
    after: (written: B) => Option.Option<A>,
  ): Effect.Effect<B, E | F | StorageError, R | S | CurrentTenant> {
    return this.#trail.joined(
      Effect.flatMap(find, (before) => Effect.tap(write, (written) => this.note(id, before, after(written)))),
    )
  }

  /** Notes what `saved` has replaced the object by. */
  saved<E, R, F, S>(
    value: A,
    find: Effect.Effect<Option.Option<A>, F, S>,
    save: Effect.Effect<void, E, R>,
  ): Effect.Effect<void, E | F | StorageError, R | S | CurrentTenant> {
    return this.changed(this.#kind.idOf(value), find, save, () => Option.some(value))
  }
}
