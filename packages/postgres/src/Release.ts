/**
 * The version of this package. All packages of a release have the same version.
 */
import packageJson from "../package.json" with { type: "json" }

export const RELEASE: string = packageJson.version
