import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation } from "wouter"
import * as Queries from "../api/Queries.ts"
import type { Delivery } from "../api/Types.ts"
import { useSession } from "../session/Session.tsx"
import { ActionButton } from "../ui/ActionButton.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { ErrorNotice } from "../ui/ErrorNotice.tsx"
import { Icon } from "../ui/Icon.tsx"
import { toast } from "../ui/Toast.tsx"
import { deliveriesOnTheirWay } from "./Summary.ts"

/** Sends the event of a delivery to its endpoint again, and opens the new delivery. */
export const ReplayButton = ({ delivery }: { readonly delivery: Delivery }) => {
  const { client } = useSession()
  const refresh = Queries.useRefreshWebhooks()
  const [, navigate] = useLocation()
  const [isErrorShown, setIsErrorShown] = useState(false)
  const mutation = useMutation({
    mutationFn: () => client.call("post", "/v1/deliveries/{id}/replay", { path: { id: delivery.id } }),
    onSuccess: ({ id }) => {
      toast(deliveriesOnTheirWay(1))
      void refresh()
      navigate(`/deliveries/${id}`)
    },
    onError: () => setIsErrorShown(true),
  })
  return (
    <>
      <ActionButton
        className="button"
        disabled={mutation.isPending}
        does="post /v1/deliveries/{id}/replay"
        onClick={() => mutation.mutate()}
      >
        <Icon name="replay" /> Replay
      </ActionButton>
      {isErrorShown && (
        <Dialog onClose={() => setIsErrorShown(false)} title="The replay failed">
          <ErrorNotice error={mutation.error} />
        </Dialog>
      )}
    </>
  )
}
