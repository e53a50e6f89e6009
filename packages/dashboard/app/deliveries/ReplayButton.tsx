import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation } from "wouter"
import * as Queries from "../api/Queries.ts"
import type { Delivery } from "../api/Types.ts"
import { useSession } from "../session/Session.tsx"
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
      <button
        className="button"
        disabled={mutation.isPending}
        onClick={() => mutation.mutate()}
        type="button"
      >
        <Icon name="replay" /> Replay
      </button>
      {isErrorShown && (
        <Dialog onClose={() => setIsErrorShown(false)} title="The replay failed">
          <ErrorNotice error={mutation.error} />
        </Dialog>
      )}
    </>
  )
}
