/**
 * The colours of pages for payers.
 */
import { checkKnown, isFields } from "../catalog/FieldRules.ts"
import { type Problem, Problems } from "../catalog/Problem.ts"

/** Colours such as `#0b7285`. */
export interface ThemeColors {
  /** Buttons and links. */
  readonly accent?: string
  readonly background?: string
  readonly text?: string
}

/** How pages for payers look. */
export interface Theme extends ThemeColors {
  /** The colours where the reader prefers dark pages. Default: with colours of yours, the same; without any, dark ones. */
  readonly dark?: ThemeColors
  /** The address of a picture, such as `https://cdn.example/logo.svg`. Default: the seller's logo, or its name. */
  readonly logo?: string
}

/** Colours of which none is missing. */
export type Palette = Required<ThemeColors>

/** The palettes of a theme. `dark` is `null` if both are the same. */
export interface Palettes {
  readonly light: Palette
  readonly dark: Palette | null
}

/** The lowest contrast of text (WCAG 2.2, 1.4.3). */
const MIN_CONTRAST = 4.5
/** Longest address of a logo, in characters. */
const MAX_LOGO_LENGTH = 1_000

const LIGHT: Palette = { accent: "#0a5bbd", background: "#f3f5f8", text: "#1f2328" }
const DARK: Palette = { accent: "#79b8ff", background: "#0f141a", text: "#e6edf3" }

const COLORS = ["accent", "background", "text"] as const
const COLOR = /^#[0-9a-f]{6}$/i

/** A part of a colour, made linear (WCAG 2.2, relative luminance). */
const linear = (hex: string): number => {
  const part = Number.parseInt(hex, 16) / 255
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
}

const luminance = (color: string): number =>
  0.2126 * linear(color.slice(1, 3)) + 0.7152 * linear(color.slice(3, 5)) + 0.0722 * linear(color.slice(5, 7))

/** The contrast of two colours: 1 to 21. */
export const contrast = (a: string, b: string): number => {
  const [one, other] = [luminance(a), luminance(b)]
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
}

/** Black or white: what is easier to read on a colour. One of them always has a contrast of 4.5. */
export const readableOn = (color: string): string =>
  contrast(color, "#ffffff") >= contrast(color, "#000000") ? "#ffffff" : "#000000"

const completed = (colors: ThemeColors, defaults: Palette): Palette => ({
  accent: colors.accent ?? defaults.accent,
  background: colors.background ?? defaults.background,
  text: colors.text ?? defaults.text,
})

const hasColors = (colors: ThemeColors): boolean => COLORS.some((name) => colors[name] !== undefined)

/** The palettes of a theme that was checked. */
export const palettesOf = (theme: Theme): Palettes => {
  const light = completed(theme, LIGHT)
  if (theme.dark !== undefined) return { light, dark: completed(theme.dark, DARK) }
  return { light, dark: hasColors(theme) ? null : DARK }
}

const checkColors = (at: Problems, colors: Readonly<Record<string, unknown>>): boolean => {
  let isRight = true
  for (const name of COLORS) {
    const color = colors[name]
    if (color === undefined || (typeof color === "string" && COLOR.test(color))) continue
    at.in(name).add("must be a colour such as #0b7285")
    isRight = false
  }
  return isRight
}

const checkContrast = (at: Problems, { accent, background, text }: Palette): void => {
  for (const [name, color] of Object.entries({ accent, text })) {
    const found = contrast(color, background)
    if (found >= MIN_CONTRAST) continue
    const rounded = Math.floor(found * 100) / 100
    at.in(name).add(
      `must have a contrast of at least ${MIN_CONTRAST} to the background: ${color} on ${background} has ${rounded}`,
    )
  }
}

const isLogo = (logo: unknown): boolean =>
  typeof logo === "string" && logo.length <= MAX_LOGO_LENGTH && /^https:\/\/[^\s"'<>;,\\]+$/.test(logo)

/** What is wrong with a theme. `name` is that of the option. */
export const problemsOfTheme = (theme: unknown, name: string): ReadonlyArray<Problem> => {
  const at = new Problems(name)
  if (!isFields(theme)) {
    at.add(`must be an object of ${[...COLORS, "dark", "logo"].join(", ")}`)
    return at.found
  }
  checkKnown(at, theme, [...COLORS, "dark", "logo"])
  const { dark, logo } = theme
  const isDark = dark === undefined || isFields(dark)
  if (!isDark) at.in("dark").add(`must be an object of ${COLORS.join(", ")}`)
  else if (dark !== undefined) checkKnown(at.in("dark"), dark, COLORS)
  if (logo !== undefined && !isLogo(logo)) at.in("logo").add("must be an address that begins with https://")
  const hasRightColors = checkColors(at, theme)
  const hasRightDark = dark === undefined || (isDark && checkColors(at.in("dark"), dark))
  if (at.found.length > 0 || !hasRightColors || !hasRightDark) return at.found
  const palettes = palettesOf(theme as Theme)
  checkContrast(at, palettes.light)
  if (dark !== undefined && palettes.dark !== null) checkContrast(at.in("dark"), palettes.dark)
  return at.found
}
