/**
 * The HTML page of the app, with its configuration.
 */
import { CONFIG_META, type PageConfig } from "./PageConfig.ts"

const escapeAttribute = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;")

/**
 * Fills in the configuration, and makes the addresses of the files absolute. On a deep link, relative addresses would be
 * wrong, and the content security policy allows no `<base>`.
 */
export const render = (template: string, config: PageConfig): string => {
  const content = escapeAttribute(JSON.stringify(config))
  const base = escapeAttribute(config.basePath)
  return template
    .replaceAll('="./', () => `="${base}/`)
    .replace(
      `<meta name="${CONFIG_META}" content=""`,
      () => `<meta name="${CONFIG_META}" content="${content}"`,
    )
}
