/**
 * `billwright help` and `billwright help <command>`, which print the same as `--help`.
 */
import { Effect } from "effect"
import { Argument, CliConfig, Command, GlobalFlag } from "effect/cli"
import * as NearMatches from "./NearMatches.ts"
import { Misconfigured } from "./Store.ts"

const childrenOf = ({ subcommands }: Command.Command.Any): ReadonlyArray<Command.Command.Any> =>
  subcommands.flatMap(({ commands }) => commands)

/** Fails when no command has this path. */
const requirePath = Effect.fnUntraced(function* (root: Command.Command.Any, path: ReadonlyArray<string>) {
  let parent = root
  const names = [root.name]
  for (const name of path) {
    const children = childrenOf(parent)
    const found = children.find((child) => child.name === name)
    if (found === undefined) {
      const near = NearMatches.find(
        name,
        children.map((child) => child.name),
      )
      const hint = near.length === 0 ? "" : `, did you mean ${near.join(" or ")}?`
      return yield* new Misconfigured({
        message: `there is no command "${[...names, name].join(" ")}"${hint || `: "${names.join(" ")} --help" lists the commands`}`,
      })
    }
    names.push(name)
    parent = found
  }
})

/** Makes the command `help`. `root` is a function, because `help` is itself a subcommand of the root command. */
export const make = (root: () => Command.Command.Any) =>
  Command.make(
    "help",
    {
      command: Argument.String("command").pipe(
        Argument.withDescription("The command to show help for, such as: keys issue"),
        Argument.variadic(),
      ),
    },
    Effect.fn(function* ({ command: path }) {
      const command = root()
      yield* requirePath(command, path)
      const { builtIns } = yield* CliConfig.CliConfig
      yield* GlobalFlag.Help.run(true, {
        builtIns,
        command,
        commandPath: [command.name, ...path],
        version: "",
      })
    }),
  ).pipe(Command.withDescription("Show help for a command"))
