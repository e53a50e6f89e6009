/**
 * What a call is called, for sentences about it.
 */

/** The call that is being made. Set while its function runs, which begins the call before it gives its promise. */
let name: string | undefined
/** The function that the host has called, below which its own stack begins. */
let called: ((...args: Array<never>) => unknown) | undefined

/** `usage.record`; `undefined` for a call of the library's own. */
export const current = (): string | undefined => name

/** What the host has called, for its stack. */
export const entry = (): typeof called => called

/** The same functions, whose calls know what they are called. */
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
