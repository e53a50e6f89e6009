/**
 * Finds the pepper of API keys: a secret that is mixed into their digests.
 */
import { PrivateFile } from "@billwright/node"
import { Config, Effect, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import { explainConfig, Misconfigured } from "./Store.ts"

const VARIABLE = "BILLWRIGHT_API_KEY_PEPPER"

export const pepperFile = Flag.String("pepper-file").pipe(
  Flag.withDescription(
    `A file with a secret that is mixed into the digests of API keys. Existing keys stop working when it changes or is lost. Default: the value of ${VARIABLE}, or none.`,
  ),
  Flag.optional,
)

export interface PepperOptions {
  readonly pepperFile: Option.Option<string>
}

/** The errors of reading the pepper. */
export type PepperFailure = Misconfigured | PrivateFile.PrivateFileError

const both = new Misconfigured({
  message: `--pepper-file and the environment variable ${VARIABLE} can't be used together: give one of them`,
})

/** The options of API keys, with the pepper of the file, or else of the environment variable, or else without one. */
export const keyOptions = Effect.fnUntraced(function* (
  options: PepperOptions,
): Effect.fn.Return<{ readonly pepper?: Redacted.Redacted<string> }, PepperFailure> {
  const given = yield* Config.option(Config.Redacted(VARIABLE)).pipe(Effect.mapError(explainConfig))
  const variable = Option.filter(given, (text) => Redacted.value(text).trim() !== "")
  if (Option.isSome(options.pepperFile)) {
    if (Option.isSome(variable)) return yield* both
    return { pepper: yield* PrivateFile.read(options.pepperFile.value) }
  }
  // Trimmed like the text of a file, which ends with a line break.
  return Option.isSome(variable) ? { pepper: Redacted.make(Redacted.value(variable.value).trim()) } : {}
})
