/**
 * Reads from the page where the dashboard is mounted. The handler has written it there.
 */
import { CONFIG_META, DEFAULT_CONFIG, type PageConfig } from "../src/PageConfig.ts"

const read = (): PageConfig => {
  const content = document.querySelector<HTMLMetaElement>(`meta[name="${CONFIG_META}"]`)?.content ?? ""
  return content === "" ? DEFAULT_CONFIG : { ...DEFAULT_CONFIG, ...(JSON.parse(content) as PageConfig) }
}

export const mount: PageConfig = read()
