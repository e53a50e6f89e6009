import type { ReactNode } from "react"
import { Link } from "wouter"

/** The beginning of a list, with a link to the whole list. */
export const ListSection = ({
  children,
  href,
  id,
  more,
  title,
}: {
  readonly id: string
  readonly title: string
  readonly href: string
  readonly more: string
  readonly children: ReactNode
}) => (
  <section aria-labelledby={id} className="section">
    <header className="section-header">
      <h2 id={id}>{title}</h2>
      <Link href={href}>{more}</Link>
    </header>
    {children}
  </section>
)
