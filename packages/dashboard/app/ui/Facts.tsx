import type { ReactNode } from "react"
import { Link } from "wouter"

/** What is known of an item, each with its name. */
export const Facts = ({ children }: { readonly children: ReactNode }) => <dl className="facts">{children}</dl>

export const Fact = ({ children, name }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

/** A number that matters, with a link to what makes it. */
export const Figure = ({
  href,
  name,
  note,
  value,
}: {
  readonly name: string
  readonly value: ReactNode
  readonly note?: ReactNode
  readonly href?: string
}) => (
  <div className={href === undefined ? "figure" : "figure linked"}>
    <dt>
      {href === undefined ? (
        name
      ) : (
        <Link className="row-link" href={href}>
          {name}
        </Link>
      )}
    </dt>
    <dd>
      {value}
      {note !== undefined && <span className="figure-note">{note}</span>}
    </dd>
  </div>
)
