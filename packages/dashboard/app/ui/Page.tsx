import { type ReactNode, useEffect } from "react"
import { Link, useLocation } from "wouter"
import { useMode } from "../session/Mode.ts"
import { useShortcuts } from "../shell/Shortcuts.ts"
import { Icon } from "./Icon.tsx"
import { neighbour } from "./Neighbours.ts"

interface Up {
  readonly href: string
  readonly label: string
  /** The id of the shown item. j and k open the next and the previous item of the list. */
  readonly id: string
}

export interface PageProps {
  readonly title: string
  /** Content beside the title, such as an id or a state. */
  readonly aside?: ReactNode
  readonly actions?: ReactNode
  /** The list that the item belongs to. */
  readonly up?: Up
  /** Whether the page is a list that fills the window and scrolls by itself. */
  readonly isList?: boolean
  readonly children: ReactNode
}

const useUp = (up: Up | undefined): void => {
  const [, navigate] = useLocation()
  const go = (by: 1 | -1) => () => {
    const next = up === undefined ? undefined : neighbour(up.id, by)
    if (up !== undefined && next !== undefined) navigate(`${up.href}/${next}`)
  }
  useShortcuts(up === undefined ? {} : { j: go(1), k: go(-1), Backspace: () => navigate(up.href) })
}

/** A page with its title. The title of the window also has it with the mode, so that tabs can be distinguished. */
export const Page = ({ actions, aside, children, isList = false, title, up }: PageProps) => {
  const mode = useMode()
  useUp(up)
  useEffect(() => {
    document.title = `${mode === "test" ? "[Test] " : ""}${title} · Billwright`
  }, [mode, title])
  return (
    <main className={isList ? "page list-page" : "page"} id="main" tabIndex={-1}>
      <header className="page-header">
        <div className="page-title">
          {up !== undefined && (
            <Link className="up" href={up.href}>
              <Icon name="back" /> {up.label}
            </Link>
          )}
          <h1>{title}</h1>
          {aside}
        </div>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </main>
  )
}
