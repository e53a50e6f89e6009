/**
 * A dialog with the inputs of an action. It runs the action and shows the progress and errors.
 */
import { useMutation } from "@tanstack/react-query"
import { type ReactNode, type SubmitEvent, useEffect, useRef, useState } from "react"
import { useSession } from "../session/Session.tsx"
import { Dialog } from "./Dialog.tsx"
import { ErrorNotice } from "./ErrorNotice.tsx"
import { claim, FieldErrors } from "./FieldErrors.ts"

export interface ActionDialogProps<A> {
  readonly title: string
  readonly description?: ReactNode
  /** The label of the button, and its label while the action runs. */
  readonly action: readonly [label: string, running: string]
  readonly run: () => Promise<A>
  readonly onDone: (result: A) => void
  readonly onClose: () => void
  readonly isDangerous?: boolean
  readonly isDisabled?: boolean
  readonly children?: ReactNode
}

export const ActionDialog = <A,>(props: ActionDialogProps<A>) => {
  const { action, isDangerous = false, isDisabled = false, onClose } = props
  const { client } = useSession()
  const form = useRef<HTMLFormElement>(null)
  const isRunning = useRef(false)
  const [ofField, setOfField] = useState<ReturnType<typeof claim>>()
  const mutation = useMutation({
    mutationFn: props.run,
    onMutate: () => setOfField(undefined),
    onSuccess: props.onDone,
    onError: (error) => setOfField(claim(form.current, error)),
    onSettled: () => {
      isRunning.current = false
    },
  })
  // Who opens a dialog again wants the action once more. Within a dialog, one whose answer got lost is done once.
  useEffect(() => client.startAnew(), [client])
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    // The button is disabled only after the next rendering, which may be later than a second click.
    if (isRunning.current) return
    isRunning.current = true
    mutation.mutate()
  }
  return (
    <Dialog
      description={props.description}
      isAlert={isDangerous}
      onClose={() => !mutation.isPending && onClose()}
      title={props.title}
    >
      <form onSubmit={submit} ref={form}>
        <FieldErrors value={ofField}>{props.children}</FieldErrors>
        {mutation.isError && ofField === undefined && <ErrorNotice error={mutation.error} />}
        <footer>
          <button className="button" disabled={mutation.isPending} onClick={onClose} type="button">
            Cancel
          </button>
          <button
            aria-busy={mutation.isPending}
            className={`button ${isDangerous ? "danger" : "primary"}`}
            disabled={mutation.isPending || isDisabled}
            type="submit"
          >
            {mutation.isPending && <span aria-hidden="true" className="spinner" />}
            {action[mutation.isPending ? 1 : 0]}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
