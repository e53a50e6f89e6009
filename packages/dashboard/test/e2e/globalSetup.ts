import { buildApp } from "../Build.ts"

/** What is tested is what there is. */
export const setup = (): Promise<void> => buildApp()
