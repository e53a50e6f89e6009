/** Reads a signing key: what is wrong with it is an error of the configuration. */
import { ConfigurationError } from "../errors/RuntimeError.ts"

export const orConfigurationError = <A>(read: () => A): A => {
  try {
    return read()
  } catch (cause) {
    throw new ConfigurationError(cause instanceof Error ? cause.message : "proofKey can't be read", { cause })
  }
}
