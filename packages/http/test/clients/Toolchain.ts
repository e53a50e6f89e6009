/**
 * The tools that generate, compile and run clients, in pinned versions. They are installed from the registries of their
 * languages, into a temporary directory or the caches of this machine.
 */
import { execFile, execFileSync } from "node:child_process"
import { copyFile, cp, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert } from "@effect/vitest"

const OPENAPI_GENERATOR = "7.25.0"
const MAVEN_DEPENDENCY_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
const OAPI_CODEGEN = "v2.8.2"
const OAPI_RUNTIME = "v1.8.0"
/** The name of the module of a generated Go client, which the tours import. */
const GO_MODULE = "example.com/billwright/client"

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

const here = (...path: ReadonlyArray<string>): string => join(import.meta.dirname, ...path)

/** A program, and the arguments that show whether it is installed. */
export type Program = readonly [name: string, ...question: ReadonlyArray<string>]

export const JAVA: Program = ["javac", "-version"]
export const MAVEN: Program = ["mvn", "-version"]
export const GO: Program = ["go", "version"]
/** The generated code needs Python 3.10 or later. */
export const PYTHON: Program = ["python3", "-c", "import sys, venv; sys.exit(sys.version_info < (3, 10))"]

/** The programs that are missing or too old on this machine. */
export const missing = (programs: ReadonlyArray<Program>): ReadonlyArray<string> =>
  programs
    .filter(([name, ...question]) => {
      try {
        execFileSync(name, question, { stdio: "ignore" })
        return false
      } catch {
        return true
      }
    })
    .map(([name]) => name)

/** Runs a program. Rejects with its output when it fails. */
const run = (
  directory: string,
  program: string,
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = {
      cwd: directory,
      env: { ...process.env, ...environment },
      maxBuffer: MAX_OUTPUT_BYTES,
    }
    execFile(program, args, options, (error, stdout, stderr) =>
      error === null
        ? resolve(stdout)
        : reject(new Error(`${program} ${args.join(" ")} failed:\n${stdout}\n${stderr}`)),
    )
  })

const maven = (directory: string, goal: string, ...args: ReadonlyArray<string>) =>
  run(directory, "mvn", ["-q", "-B", `${MAVEN_DEPENDENCY_PLUGIN}:${goal}`, ...args])

/** Generates `directory/client` from `directory/openapi.json` by OpenAPI Generator. */
const openApiGenerator = async (directory: string, generator: string, ...args: ReadonlyArray<string>) => {
  await maven(
    directory,
    "copy",
    `-Dartifact=org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`,
    `-DoutputDirectory=${directory}`,
  )
  const jar = join(directory, `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`)
  const without = "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false"
  const given = ["generate", "-i", "openapi.json", "-g", generator, "-o", "client", ...args]
  await run(directory, "java", ["-jar", jar, ...given, "--global-property", without])
}

/** Makes a Python environment with the pinned packages. Returns its program. */
const python = async (directory: string): Promise<string> => {
  await run(directory, "python3", ["-m", "venv", "python"])
  const bin = join(directory, "python", "bin", "python")
  await run(directory, bin, ["-m", "pip", "install", "-q", "-r", here("requirements.txt")])
  return bin
}

/** Prepares a client in a directory with `openapi.json`. Returns a function that runs its tour. */
export type Prepare = (
  directory: string,
  tsc: string,
) => Promise<(...args: [string, string]) => Promise<string>>

export const openApiGeneratorPython: Prepare = async (directory) => {
  await openApiGenerator(directory, "python")
  const bin = await python(directory)
  const tour = here("tours", "openapi_generator.py")
  return (...args) => run(directory, bin, [tour, ...args], { PYTHONPATH: join(directory, "client") })
}

export const openApiPythonClient: Prepare = async (directory) => {
  const bin = await python(directory)
  const output = join(directory, "client", "billwright_client")
  await mkdir(join(directory, "client"))
  const args = ["generate", "--path", "openapi.json", "--output-path", output, "--meta", "none"]
  const said = await run(directory, join(directory, "python", "bin", "openapi-python-client"), args)
  assert.notInclude(said, "Unable to parse", said)
  const tour = here("tours", "openapi_python_client.py")
  return (...given) => run(directory, bin, [tour, ...given], { PYTHONPATH: join(directory, "client") })
}

const buildGo = async (client: string, tour: string): Promise<string> => {
  await mkdir(join(client, "tour"))
  await copyFile(here("tours", tour), join(client, "tour", "main.go"))
  // The generated tests need further modules.
  await run(client, "go", ["build", "-o", "tour.bin", "./tour"], { GOFLAGS: "-mod=mod" })
  return join(client, "tour.bin")
}

export const openApiGeneratorGo: Prepare = async (directory) => {
  const [gitHost, gitUser, gitRepository] = GO_MODULE.split("/")
  const names = [
    "--git-host",
    gitHost ?? "",
    "--git-user-id",
    gitUser ?? "",
    "--git-repo-id",
    gitRepository ?? "",
  ]
  await openApiGenerator(directory, "go", ...names, "--additional-properties=packageName=billwright")
  const bin = await buildGo(join(directory, "client"), "openapi_generator.go")
  return (...args) => run(directory, bin, args)
}

export const oapiCodegen: Prepare = async (directory) => {
  const client = join(directory, "client")
  await mkdir(client)
  await writeFile(
    join(client, "go.mod"),
    `module ${GO_MODULE}\n\ngo 1.24\n\nrequire github.com/oapi-codegen/runtime ${OAPI_RUNTIME}\n`,
  )
  const generator = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${OAPI_CODEGEN}`
  const args = ["-generate", "types,client", "-package", "billwright", "-o", "client.go", "../openapi.json"]
  await run(client, "go", ["run", generator, ...args], { GOFLAGS: "-mod=mod" })
  const bin = await buildGo(client, "oapi_codegen.go")
  return (...given) => run(directory, bin, given)
}

export const openApiGeneratorJava: Prepare = async (directory) => {
  await openApiGenerator(directory, "java", "--library", "native")
  const client = join(directory, "client")
  await maven(client, "build-classpath", "-Dmdep.outputFile=classpath", "-DincludeScope=compile")
  await copyFile(here("tours", "Tour.java"), join(client, "src", "main", "java", "Tour.java"))
  const shell = `javac -nowarn -d classes -cp "$(cat classpath)" $(find src/main/java -name '*.java')`
  await run(client, "sh", ["-c", shell])
  return (...args) =>
    run(client, "sh", ["-c", `java -cp "classes:$(cat classpath)" Tour "$@"`, "sh", ...args])
}

const COMPILER_OPTIONS = {
  target: "es2022",
  lib: ["es2022", "dom"],
  module: "nodenext",
  strict: true,
  types: ["node"],
  outDir: "out",
}

export const openApiGeneratorTypeScript: Prepare = async (directory, tsc) => {
  await openApiGenerator(directory, "typescript-fetch", "--additional-properties=importFileExtension=.js")
  await cp(here("tours", "tour.mts"), join(directory, "tour.mts"))
  await writeFile(join(directory, "package.json"), JSON.stringify({ type: "module" }))
  const tsconfig = { compilerOptions: COMPILER_OPTIONS, files: ["tour.mts"] }
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(tsconfig))
  await run(directory, process.execPath, [tsc, "-p", "."])
  return (...args) => run(directory, process.execPath, [join("out", "tour.mjs"), ...args])
}
