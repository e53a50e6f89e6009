/**
 * What hosts do in the whole world, beside what the script of billing and the calls of clients are.
 */
import { COMMANDS } from "../payments/PaymentCommands.ts"
import { creditWithRefund, refund, refundOfNote } from "../payments/RefundCommands.ts"
import { erase, PREPAID_COMMANDS } from "../prepaid/PrepaidCommands.ts"
import type { PrepaidCommand } from "../prepaid/PrepaidHost.ts"

const names = new Set(PREPAID_COMMANDS.map(({ name }) => name))

/** Everything that a host may do. */
export const HOST_COMMANDS: ReadonlyArray<PrepaidCommand> = [
  ...PREPAID_COMMANDS,
  ...COMMANDS.filter(({ name }) => !names.has(name)),
  refund,
  creditWithRefund,
  refundOfNote,
  { ...erase, weight: 1 },
]
