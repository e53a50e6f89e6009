/**
 * What ends the program with a sentence for people, instead of a stack.
 */
export class Problem extends Error {
  override readonly name = "Problem"
}
