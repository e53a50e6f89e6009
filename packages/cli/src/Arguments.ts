/**
 * What was typed, before it is parsed.
 */

/** A value that begins like a flag. No flag of ours begins with a digit. */
const NEGATIVE = /^-\d/
const LONG_FLAG = /^--[^=]+$/

/**
 * Ties a value such as `-2h` to the flag before it, as in `--since=-2h`. It would be taken for flags of one letter,
 * the last of which asks for help: nothing would be done, successfully.
 */
export const tied = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = args.includes("--") ? args.indexOf("--") : args.length
  const result: Array<string> = []
  for (const [index, arg] of args.entries()) {
    const flag = result.at(-1)
    const isValue = index < end && NEGATIVE.test(arg) && flag !== undefined && LONG_FLAG.test(flag)
    if (isValue) result[result.length - 1] = `${flag}=${arg}`
    else result.push(arg)
  }
  return result
}
