import { buildApp } from "../Build.ts"

/** Builds the app, so that the tests use the current sources. */
export const setup = (): Promise<void> => buildApp()
