/**
 * The version of this package, and so of all packages of a release.
 */
import packageJson from "../package.json" with { type: "json" }

export const RELEASE: string = packageJson.version
