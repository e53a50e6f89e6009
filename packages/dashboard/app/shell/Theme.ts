/**
 * The theme, light or dark: that of the system until the operator chooses one. The browser stores the choice.
 */

export type Theme = "light" | "dark"

const STORED_AS = "billwright.theme"
const dark = window.matchMedia("(prefers-color-scheme: dark)")

const stored = (): Theme | undefined => {
  try {
    const value = localStorage.getItem(STORED_AS)
    return value === "light" || value === "dark" ? value : undefined
  } catch {
    // Storage may be disabled in the browser.
    return undefined
  }
}

const show = (theme: Theme | undefined): void => {
  if (theme === undefined) delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = theme
}

export const current = (): Theme => stored() ?? (dark.matches ? "dark" : "light")

/** Calls the listener when the theme changes. Returns a function that stops this. */
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
    // Storage may be disabled. The theme then lasts until the page is closed.
  }
  return next
}

/** Applies the stored theme. */
export const restore = (): void => show(stored())
