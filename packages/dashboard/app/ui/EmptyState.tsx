import type { ReactNode } from "react"
import { Command } from "./Command.tsx"

/** Says that there is nothing yet, and what to do next. */
export const EmptyState = ({
  children,
  command,
  title,
}: {
  readonly title: string
  readonly children?: ReactNode
  readonly command?: string
}) => (
  <div className="empty-state">
    <h2>{title}</h2>
    {children}
    {command !== undefined && <Command text={command} />}
  </div>
)
