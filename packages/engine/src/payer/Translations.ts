/**
 * The words of pages for payers in all languages.
 */
import type { Language } from "../documents/Language.ts"
import type { PayerTexts } from "./Texts.ts"
import { de } from "./texts/De.ts"
import { en } from "./texts/En.ts"
import { es } from "./texts/Es.ts"
import { fr } from "./texts/Fr.ts"

/** The words of all languages. */
export const PAYER_TEXTS: Readonly<Record<Language, PayerTexts>> = { de, en, es, fr }
