/**
 * Dialogs. The focus stays inside, Escape closes the dialog, and then the focus returns to where it was.
 */
import * as Radix from "@radix-ui/react-dialog"
import { type ReactNode, useState } from "react"
import { Icon } from "./Icon.tsx"

export interface DialogProps {
  readonly title: string
  readonly description?: ReactNode
  readonly onClose: () => void
  /** For actions that lose data. A click outside doesn't close the dialog. */
  readonly isAlert?: boolean
  readonly children: ReactNode
}

/** Focuses the first field or, without fields, the first button, which is Cancel. */
const focusFirstField = (event: globalThis.Event) => {
  const { target } = event
  const first =
    target instanceof HTMLElement
      ? target.querySelector<HTMLElement>("form :is(input, select, textarea), footer button")
      : null
  if (first === null) return
  event.preventDefault()
  first.focus()
}

/**
 * Radix's overlay stops scrolling of the page by a style element, which the content security policy forbids. So this
 * dialog has its own overlay. Only the inner parts of the page scroll.
 */
export const Dialog = ({ children, description, isAlert = false, onClose, title }: DialogProps) => {
  const [opener] = useState(() => document.activeElement)
  const giveFocusBack = (event: globalThis.Event) => {
    event.preventDefault()
    if (opener instanceof HTMLElement) opener.focus()
  }
  return (
    <Radix.Root onOpenChange={(isOpen) => !isOpen && onClose()} open>
      <Radix.Portal>
        <div className="overlay" />
        <Radix.Content
          aria-modal="true"
          className="dialog"
          onCloseAutoFocus={giveFocusBack}
          onOpenAutoFocus={focusFirstField}
          onInteractOutside={(event) => isAlert && event.preventDefault()}
          role={isAlert ? "alertdialog" : "dialog"}
          {...(description === undefined ? { "aria-describedby": undefined } : {})}
        >
          <header>
            <Radix.Title>{title}</Radix.Title>
            <Radix.Close aria-label="Close" className="icon-button">
              <Icon name="cross" />
            </Radix.Close>
          </header>
          {description !== undefined && (
            <Radix.Description asChild>
              <div className="dialog-description">{description}</div>
            </Radix.Description>
          )}
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
