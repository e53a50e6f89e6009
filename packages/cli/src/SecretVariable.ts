/**
 * Secrets in environment variables.
 */
import { Config, Effect, Option, Redacted } from "effect"
import { explainConfig, type Misconfigured } from "./Store.ts"

/** The value of a variable. An empty variable counts as not set. */
export const read = (name: string): Effect.Effect<Option.Option<Redacted.Redacted<string>>, Misconfigured> =>
  Config.option(Config.Redacted(name)).pipe(
    Effect.mapError(explainConfig),
    Effect.map(Option.filter((text) => Redacted.value(text).trim() !== "")),
  )
