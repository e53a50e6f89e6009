/**
 * The names of calls, for error messages and stacks.
 */

/**
 * The name of the current call. It is set only while the call's function runs synchronously, until it returns its
 * promise.
 */
let name: string | undefined
/** The function that the host called. The host's own stack frames begin below it. */
let called: ((...args: Array<never>) => unknown) | undefined

/** The name of the current call, such as `usage.record`; `undefined` for a call that the library makes itself. */
export const current = (): string | undefined => name

/** The function that the host called, for the stack of an error. */
export const entry = (): typeof called => called

/** Wraps functions so that `current` returns their name while they run. */
export const naming = <Group extends object>(group: string, functions: Group): Group => {
  const named = Object.entries(functions).map(([own, call]: [string, unknown]) => {
    if (typeof call !== "function") return [own, call]
    const wrapper = (...args: ReadonlyArray<unknown>): unknown => {
      const [outer, outerCalled] = [name, called]
      name = `${group}.${own}`
      called = wrapper
      try {
        return call(...args)
      } finally {
        name = outer
        called = outerCalled
      }
    }
    return [own, wrapper]
  })
  return Object.fromEntries(named) as Group
}
