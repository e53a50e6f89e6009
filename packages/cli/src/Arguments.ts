/**
 * Prepares the arguments before they are parsed.
 */

/** A value that begins like a flag. No flag of ours begins with a digit. */
const NEGATIVE = /^-\d/
const LONG_FLAG = /^--[^=]+$/

/**
 * Joins a value such as `-2h` to the flag before it: `--since=-2h`. Otherwise `-2h` would be parsed as the flags `-2`
 * and `-h`. `-h` means help: the command would print help and succeed without doing anything.
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
