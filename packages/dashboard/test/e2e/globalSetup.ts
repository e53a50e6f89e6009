import chromium from "@sparticuz/chromium"
import { buildApp } from "../Build.ts"

/**
 * Builds the app, so that the tests use the current sources. Unpacks the browser, which only one process may do: another
 * one would start a file that is still being written.
 */
export const setup = async (): Promise<void> => {
  if (process.env["CHROMIUM_PATH"] === undefined) await chromium.executablePath()
  await buildApp()
}
