/**
 * The words of documents in all languages.
 */
import type { Language } from "./Language.ts"
import type { Texts } from "./Texts.ts"
import { de } from "./texts/De.ts"
import { en } from "./texts/En.ts"
import { es } from "./texts/Es.ts"
import { fr } from "./texts/Fr.ts"

/** The words of all languages. */
export const TEXTS: Readonly<Record<Language, Texts>> = { de, en, es, fr }
