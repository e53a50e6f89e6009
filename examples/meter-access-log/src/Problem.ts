/**
 * An error that ends the program with a message for people, without a stack.
 */
export class Problem extends Error {
  override readonly name = "Problem"
}
