/**
 * The page that the app starts from, told where it is mounted.
 */
import { CONFIG_META, type PageConfig } from "./PageConfig.ts"

const escapeAttribute = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;")

/**
 * Fills in the configuration, and makes the addresses of the files absolute: a deep link would resolve relative
 * ones against itself, and the policy allows no `<base>`.
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
