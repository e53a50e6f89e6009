/**
 * The frame of every page: navigation, search and the current mode.
 */
import { type ReactNode, useEffect, useRef, useState } from "react"
import { useLocation } from "wouter"
import { useMode } from "../session/Mode.ts"
import { useSession } from "../session/Session.tsx"
import { Icon } from "../ui/Icon.tsx"
import { ModeBadge } from "../ui/StatusBadge.tsx"
import { Toasts } from "../ui/Toast.tsx"
import { Help } from "./Help.tsx"
import { ENTRIES, Navigation } from "./Navigation.tsx"
import { Search } from "./Search.tsx"
import { useShortcuts } from "./Shortcuts.ts"
import * as Theme from "./Theme.ts"

/** How long after `g` the second key may come, in milliseconds. */
const CHORD_MILLIS = 1_500

/** `g` and then a letter open a page. */
const useGoing = (): void => {
  const [, navigate] = useLocation()
  const startedAt = useRef(0)
  const go = (href: string) => () => {
    if (performance.now() - startedAt.current > CHORD_MILLIS) return
    startedAt.current = 0
    navigate(href)
  }
  useShortcuts({
    g: () => {
      startedAt.current = performance.now()
    },
    ...Object.fromEntries(ENTRIES.map(({ href, key }) => [key, go(href)])),
  })
}

/** Moves the focus to the beginning of a new page, so that screen readers read it from there. */
const useFocusOnPage = (): void => {
  const [location] = useLocation()
  const isFirst = useRef(true)
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false
      return
    }
    document.querySelector<HTMLElement>("#main")?.focus({ preventScroll: true })
  }, [location])
}

const Tools = ({ onHelp }: { readonly onHelp: () => void }) => {
  const { signOut } = useSession()
  return (
    <div className="tools">
      <button aria-label="Light or dark" className="icon-button" onClick={Theme.toggle} title="Light or dark">
        <Icon name="theme" />
      </button>
      <button aria-label="Keyboard shortcuts" className="icon-button" onClick={onHelp} title="Keyboard (?)">
        <Icon name="help" />
      </button>
      {signOut !== undefined && (
        <button aria-label="Sign out" className="icon-button" onClick={signOut} title="Sign out">
          <Icon name="signOut" />
        </button>
      )}
    </div>
  )
}

export const Shell = ({ children }: { readonly children: ReactNode }) => {
  const mode = useMode()
  const search = useRef<HTMLInputElement>(null)
  const [isHelpOpen, setIsHelpOpen] = useState(false)
  useShortcuts({ "/": () => search.current?.focus(), "?": () => setIsHelpOpen(true) })
  useGoing()
  useFocusOnPage()
  return (
    <div className="shell" data-mode={mode}>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="top">
        <span className="brand">
          <Icon name="brand" /> <span>Billwright</span>
        </span>
        <ModeBadge mode={mode} />
        <Search input={search} />
        <Tools onHelp={() => setIsHelpOpen(true)} />
      </header>
      <Navigation />
      {children}
      <Toasts />
      {isHelpOpen && <Help onClose={() => setIsHelpOpen(false)} />}
    </div>
  )
}
