import { type ComponentProps, useSyncExternalStore } from "react"
import type { OperationName } from "../api/MissingPermissions.ts"
import { useSession } from "../session/Session.tsx"
import { toast } from "./Toast.tsx"

interface ActionButtonProps extends ComponentProps<"button"> {
  /** What the API is asked to do in the end. */
  readonly does: OperationName
}

/**
 * A button that changes something. For an operator who may not do it, it does nothing, and says why. It still has the focus
 * then, because a button that is off shows its title to the mouse alone.
 */
export const ActionButton = ({ does, ...props }: ActionButtonProps) => {
  const { permissions } = useSession().client
  const reason = useSyncExternalStore(permissions.subscribe, () => permissions.reasonOf(does))
  const refusal =
    reason === undefined ? {} : { "aria-disabled": true, onClick: () => toast(reason), title: reason }
  return <button {...props} {...refusal} type="button" />
}
