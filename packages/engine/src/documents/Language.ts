/**
 * The languages of documents, and the locale whose numbers and dates they have.
 */

/** A language that documents are written in. */
export type Language = "de" | "en" | "es" | "fr"

const LANGUAGES: ReadonlyArray<Language> = ["de", "en", "es", "fr"]

/** The language of the words, and the tag (BCP 47) of the numbers and dates. */
export interface Locale {
  readonly language: Language
  readonly tag: string
}

/** A language and a region, such as `de-AT`. Whatever else a tag has makes no difference to a document. */
const TAG = /^([a-z]{2,3})(?:-[A-Za-z]{4})?(?:-([A-Za-z]{2}))?(?:-|$)/

const parse = (tag: string): Locale | undefined => {
  const [, code, region] = TAG.exec(tag) ?? []
  const language = LANGUAGES.find((known) => known === code)
  if (language === undefined) return undefined
  return { language, tag: region === undefined ? language : `${language}-${region.toUpperCase()}` }
}

/** The first of some tags whose language documents are written in. Without any: English. */
export const localeOf = (...tags: ReadonlyArray<string | null>): Locale =>
  tags.map((tag) => (tag === null ? undefined : parse(tag))).find((found) => found !== undefined) ?? {
    language: "en",
    tag: "en",
  }
