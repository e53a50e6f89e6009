import { mount } from "../Mount.ts"

/** The full URL of the API, for commands that are run elsewhere. */
export const apiAddress = (): string => new URL(mount.apiUrl, window.location.origin).href
