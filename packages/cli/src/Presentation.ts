/**
 * Prints mistakes in the arguments: the problem in one line, then how to get help. A whole page of help would hide
 * the problem.
 */
import { Console, Effect } from "effect"
import { CliOutput } from "effect/cli"
import { clean } from "./Table.ts"

const SUGGESTION = /\s*Did you mean this\?\s+(\S+)/

/** The message in one line, without control characters, which a terminal could take for commands. */
const lineOf = (message: string): string =>
  clean(
    message
      .replace(SUGGESTION, ": did you mean $1?")
      .replace("Expected: Schema validation failed: ", "")
      .replace(". Expected: must ", ": it must ")
      .replaceAll(/\s+/g, " ")
      .trim(),
  )

export const layer = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Effect.gen(function* () {
          for (const { message } of event.errors) yield* Console.error(`billwright: ${lineOf(message)}`)
          yield* Console.error(`Run "${event.commandPath.join(" ")} --help" for help.`)
        })
      : CliOutput.defaultPresenter.present(event),
})
