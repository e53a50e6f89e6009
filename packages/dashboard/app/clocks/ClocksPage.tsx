import { useState } from "react"
import { Link, useLocation } from "wouter"
import type { TestClock } from "../api/Types.ts"
import { useLiveList } from "../api/useLiveList.ts"
import { useRefreshBilling } from "../api/useRefreshBilling.ts"
import * as Instant from "../Instant.ts"
import { useMode } from "../session/Mode.ts"
import { useSession } from "../session/Session.tsx"
import { ActionButton } from "../ui/ActionButton.tsx"
import { ActionDialog } from "../ui/ActionDialog.tsx"
import { type Column, DataTable, MOMENT_WIDTH } from "../ui/DataTable.tsx"
import { EmptyState } from "../ui/EmptyState.tsx"
import { Field } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Page } from "../ui/Page.tsx"
import { Time } from "../ui/Time.tsx"
import { ClockBadge, clockName } from "./ClockState.tsx"

const COLUMNS: ReadonlyArray<Column<TestClock>> = [
  {
    id: "name",
    header: "Name",
    width: "minmax(10rem, 1fr)",
    narrow: "first",
    cell: (clock) => (
      <Link className="row-link" href={`/test-clocks/${clock.id}`}>
        {clockName(clock)}
      </Link>
    ),
  },
  {
    id: "status",
    header: "Status",
    width: "9rem",
    narrow: "fixed",
    cell: ({ status }) => <ClockBadge status={status} />,
  },
  {
    id: "id",
    header: "Clock",
    width: "minmax(18.5rem, 1.4fr)",
    narrow: "hidden",
    cell: ({ id }) => <code title={id}>{id}</code>,
  },
  {
    id: "now",
    header: `Its time (${Instant.zone})`,
    width: MOMENT_WIDTH,
    isNumber: true,
    narrow: "end",
    cell: ({ now }) => <Time at={now} />,
  },
]

const CreateClock = ({
  onClose,
  onDone,
}: {
  readonly onClose: () => void
  readonly onDone: (clock: TestClock) => void
}) => {
  const { client } = useSession()
  const refresh = useRefreshBilling()
  const [name, setName] = useState("")
  const [entered, setEntered] = useState("")
  const now = Instant.fromLocalInput(entered)
  return (
    <ActionDialog
      action={["Create the clock", "Creating…"]}
      description="Customers that are created with its id live in its time."
      onClose={onClose}
      onDone={(clock) => {
        onClose()
        void refresh()
        onDone(clock)
      }}
      run={() =>
        client.call("post", "/v1/test_clocks", {
          body: {
            ...(name.trim() === "" ? {} : { name: name.trim() }),
            ...(now === undefined ? {} : { now }),
          },
        })
      }
      title="New test clock"
    >
      <Field label="Name" name="name">
        {(attributes) => (
          <input
            {...attributes}
            autoComplete="off"
            onChange={({ target }) => setName(target.value)}
            value={name}
          />
        )}
      </Field>
      <Field hint={`In ${Instant.zone}. Empty: the real time.`} label="Starts at" name="now">
        {(attributes) => (
          <input
            {...attributes}
            onChange={({ target }) => setEntered(target.value)}
            type="datetime-local"
            value={entered}
          />
        )}
      </Field>
    </ActionDialog>
  )
}

export const ClocksPage = () => {
  const { client } = useSession()
  const mode = useMode()
  const [, navigate] = useLocation()
  const [isCreating, setIsCreating] = useState(false)
  const list = useLiveList<TestClock>({
    key: ["clocks"],
    fetchPage: (page, signal) => client.call("get", "/v1/test_clocks", { query: page, signal }),
  })
  return (
    <Page
      actions={
        mode === "test" && (
          <ActionButton
            className="button primary"
            does="post /v1/test_clocks"
            onClick={() => setIsCreating(true)}
          >
            <Icon name="plus" /> New test clock
          </ActionButton>
        )
      }
      isList
      title="Test clocks"
    >
      <DataTable
        columns={COLUMNS}
        empty={
          <EmptyState title={mode === "test" ? "No test clocks yet" : "Test clocks are for test mode"}>
            <p>
              With a test clock you see in seconds what billing does in a year. Create one, then create
              customers with its id.
            </p>
          </EmptyState>
        }
        label="Test clocks"
        list={list}
      />
      {isCreating && (
        <CreateClock
          onClose={() => setIsCreating(false)}
          onDone={({ id }) => navigate(`/test-clocks/${id}`)}
        />
      )}
    </Page>
  )
}
