/**
 * What the operator may not do. The API says it with each answer to the page, so that it is as new as what is shown. Nothing
 * is known to be missing before the first answer, and when a host doesn't pass the header on.
 */
import { PERMISSIONS } from "./Permissions.ts"

/** An operation of the API, as the client calls it. */
export type OperationName = keyof typeof PERMISSIONS

/** The permissions that the operator lacks, separated by spaces. */
const HEADER = "billwright-missing-permissions"
const READS = /:read$/

export interface MissingPermissions {
  /** Reads the header of an answer. */
  readonly note: (answer: Response) => void
  /** Why the operator may not do an operation, in words. `undefined` if nothing is known against it. */
  readonly reasonOf: (operation: string) => string | undefined
  /** Calls the listener after each change, until the returned function is called. */
  readonly subscribe: (listener: () => void) => () => void
}

const toReason = (permission: string): string =>
  `You may not ${READS.test(permission) ? "see" : "do"} this: you need the permission ${permission}.`

export const make = (): MissingPermissions => {
  let text = ""
  let missing: ReadonlySet<string> = new Set()
  const listeners = new Set<() => void>()
  return {
    note: ({ headers }) => {
      const said = headers.get(HEADER)
      // A proxy that answers in place of the API says nothing.
      if (said === null || said === text) return
      text = said
      missing = new Set(said.split(" "))
      for (const listener of listeners) listener()
    },
    reasonOf: (operation) => {
      const permission = (PERMISSIONS as Readonly<Record<string, string>>)[operation]
      return permission !== undefined && missing.has(permission) ? toReason(permission) : undefined
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
