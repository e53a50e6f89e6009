/**
 * Dialogs: the focus stays in them, Escape closes them, and then the focus is where it was.
 */
import * as Radix from "@radix-ui/react-dialog"
import { type ReactNode, useState } from "react"
import { Icon } from "./Icon.tsx"

export interface DialogProps {
  readonly title: string
  readonly description?: ReactNode
  readonly onClose: () => void
  /** Something is lost: clicking beside it does not close it. */
  readonly isAlert?: boolean
  readonly children: ReactNode
}

/** What is asked for comes first; where nothing is, the first button: Cancel. */
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
 * Radix's own overlay locks the page's scrolling by a style element, which the content security policy forbids.
 * Here only the insides of the page scroll, under an overlay of our own.
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
