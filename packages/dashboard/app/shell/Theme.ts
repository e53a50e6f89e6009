/**
 * Light or dark: as the system has it, until somebody says otherwise. This browser remembers.
 */

export type Theme = "light" | "dark"

const STORED_AS = "billwright.theme"
const dark = window.matchMedia("(prefers-color-scheme: dark)")

const stored = (): Theme | undefined => {
  try {
    const value = localStorage.getItem(STORED_AS)
    return value === "light" || value === "dark" ? value : undefined
  } catch {
    // Some browsers are told to keep nothing.
    return undefined
  }
}

const show = (theme: Theme | undefined): void => {
  if (theme === undefined) delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = theme
}

export const current = (): Theme => stored() ?? (dark.matches ? "dark" : "light")

/** Calls when the theme changed, by whoever. Gives what ends it. */
export const watch = (listener: () => void): (() => void) => {
  const observer = new MutationObserver(listener)
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] })
  dark.addEventListener("change", listener)
  return () => {
    observer.disconnect()
    dark.removeEventListener("change", listener)
  }
}

export const toggle = (): Theme => {
  const next = current() === "dark" ? "light" : "dark"
  show(next)
  try {
    localStorage.setItem(STORED_AS, next)
  } catch {
    // It is shown for now.
  }
  return next
}

/** Shows what was chosen before. */
export const restore = (): void => show(stored())
