/**
 * Every JSON document that `rep` prints or writes. `cargo xtask gen` makes the JSON Schemas in this directory and
 * docs/reference/json.md from this file; the tests of `rep` compare it with what the binary really prints.
 *
 * Tags of a declaration: `@output` names the schema, `@version` its version, `@command` a command line that prints the
 * document, `@file` a file that holds it, `@lines` says that each line is a document of its own.
 *
 * A field may be added to a version. To rename or drop one, or to change what it means, raise `@version`.
 */

/** A whole number. */
type integer = number;

// ---------------------------------------------------------------- Everywhere

/**
 * What a JSON command prints when it fails. The exit code says which kind of failure it is.
 * @output error
 * @version 1
 * @command rep COMMAND --json
 */
export interface ErrorDocument {
  /** Always `error`. */
  status: "error";
  /** What went wrong. */
  error: Failure;
}

/**
 * The program and its build.
 * @output version
 * @version 1
 * @command rep --version --json
 */
export interface ProgramVersion {
  /** Always `rep`. */
  name: "rep";
  /** The version. */
  version: string;
  /** The commit that it was built from; null if the build did not name it. */
  commit: string | null;
  /** The release or pipeline that built it; null if the build did not name it. */
  build: string | null;
  /** The operating system, as Rust names it. */
  os: string;
  /** The processor, as Rust names it. */
  arch: string;
  /** The C library, on systems that have several. */
  libc: "gnu" | "musl" | null;
  /** Whether it can run tools in a sandbox. */
  sandbox: boolean;
}

/** Why a command, a tool or a request failed. */
interface Failure {
  /** A stable word for programs, such as `SKILL_NOT_FOUND`. */
  code: string;
  /** What happened, for people and models. */
  message: string;
  /** Whether the same call may succeed at another time. */
  retriable: boolean;
  /** What would help. */
  remedy?: string;
  /** With `VALIDATION_FAILED`, the findings that make the skill invalid; otherwise what the tool adds to its error. */
  details?: unknown;
  /** The command that could not run. */
  command?: string;
  /** The entities that the command requires and that are not valid. */
  missing?: string[];
  /** What the run tried and was not allowed to do, at most 100 different operations. */
  denied?: Denial[];
  /** The number of further denied operations. */
  denied_omitted?: integer;
  /** Where values do not match the schema that the tool declares. */
  misfits?: Misfit[];
  /** Files that somebody else changed during the run. */
  conflicts?: string[];
  /** The tool's own result, where a conflict keeps it from being the result of the call. */
  result?: unknown;
  /** The exit code of the tool. */
  exit_code?: integer;
  /** The signal that ended the tool. */
  signal?: string;
  /** The code in the tool's own error, where only `rep` may use that code. */
  tool_code?: string;
  /** What the program wrote to stdout, or the body of the response. */
  stdout?: string;
  /** What the program wrote to stderr. */
  stderr?: string;
  /** The exit code of the program; 128 and the signal's number if a signal ended it. */
  returncode?: integer;
  /** What the server answered. */
  response?: HttpResponse;
  /** The state of the session after the command. */
  state?: SessionState;
}

/** Something that a run tried and was not allowed to do. */
interface Denial {
  /** What it tried: `read`, `write`, `connect`, `spawn` and others. */
  action: string;
  /** The path, host or program that it was tried on. Paths in the workspace are relative to it. */
  target: string;
  /** The declaration that decides about it: `permissions.filesystem.read` and others. */
  declaration: string;
  /** The declaration that would allow it, if there is one. */
  suggestion: string | null;
}

/** A value that does not match a schema. */
interface Misfit {
  /** The JSON Pointer of the value. */
  pointer: string;
  /** What is wrong with it. */
  message: string;
}

/** An answer of a server. */
interface HttpResponse {
  /** The HTTP status. */
  status: integer;
  /** The headers, by name. */
  headers: Record<string, string>;
  /** The body: parsed if it is JSON, text otherwise, null if it is empty. */
  body: unknown;
  /** What is unusual about the body. */
  note?: string;
}

/** A problem in a skill. */
interface Finding {
  /** The rule that found it; `rep explain RULE` describes it. */
  rule: string;
  /** How severe it is. */
  level: "error" | "warning" | "info";
  /** What is wrong, in one phrase. */
  message: string;
  /** The file, as the caller named it. */
  file: string;
  /** The line where it begins, from 1. */
  line: integer;
  /** The column where it begins, from 1, counted in code points. */
  column: integer;
  /** The line where it ends. */
  end_line: integer;
  /** The column after its last character. */
  end_column: integer;
  /** The data path it is about, such as `commands.click.requires`. */
  at?: string;
  /** What to do about it. */
  help: string;
  /** Whether `rep check --fix` can fix it. */
  fix: boolean;
}

/** A definition of a tool, as the author of the skill wrote it. */
type ToolDefinition = Record<string, unknown>;

/** A JSON Schema. */
type JsonSchema = Record<string, unknown>;

/** Where a skill was found. */
type Scope = "managed" | "project" | "personal" | "package";

/** What became of a skill; `hidden` means that models may not choose it. */
type Status = "active" | "hidden" | "shadowed" | "invalid" | "untrusted" | "disabled";

/** A skill that another skill depends on. */
interface Dependency {
  /** The id that the skill names. */
  id: string;
  /** Whether it can be used; `circle` means that it depends on the skill itself, other words are its status. */
  status: "met" | "unknown" | "circle" | "hidden" | "shadowed" | "invalid" | "untrusted" | "disabled";
  /** Where it is, if it was found. */
  location: string | null;
}

// ---------------------------------------------------------------- Authoring

/**
 * The findings of a check.
 * @output check
 * @version 1
 * @command rep check --format json
 */
export interface CheckReport {
  /** The findings, sorted by file and place. */
  findings: CheckFinding[];
  /** How many there are. */
  summary: {
    /** How many skills were checked. */
    skills: integer;
    /** How many findings are errors. */
    errors: integer;
    /** How many are warnings. */
    warnings: integer;
    /** How many are information. */
    infos: integer;
    /** How many `--fix` can fix. */
    fixable: integer;
  };
  /** With `--statistics`: how many findings each rule has at each level, sorted by rule. */
  statistics?: {
    /** The rule. */
    rule: string;
    /** The level. */
    level: "error" | "warning" | "info";
    /** How many findings there are. */
    count: integer;
    /** How many of them `--fix` can fix. */
    fixable: integer;
  }[];
}

/**
 * The findings that `rep check --baseline` does not report.
 * @output baseline-file
 * @version 1
 * @file the file that `rep check --baseline FILE --write-baseline` writes
 */
export interface BaselineFile {
  /** The version of this form. */
  version: integer;
  /** The findings, sorted by file and rule. */
  findings: {
    /** The rule. */
    rule: string;
    /** The file, relative to the directory of the baseline. */
    file: string;
    /** What identifies the finding in its file: it stays the same when the line moves. */
    fingerprint: string;
    /** How many findings have this fingerprint. */
    count: integer;
    /** What was wrong, for people. */
    message: string;
  }[];
}

/** A problem that a check found. */
interface CheckFinding extends Finding {
  /** What the fix does, if there is one. */
  fix_title?: string;
  /** `safe` if the fix keeps the meaning of the skill (`--fix` applies it), `unsafe` if the author must agree. */
  fix_applicability?: "safe" | "unsafe";
  /** The other places that it is about. */
  related?: RelatedPlace[];
}

/** Another place that a finding is about. */
interface RelatedPlace {
  /** The file, as the caller named it. */
  file: string;
  /** The line where it begins, from 1. */
  line: integer;
  /** The column where it begins, from 1, counted in code points. */
  column: integer;
  /** The line where it ends. */
  end_line: integer;
  /** The column after its last character. */
  end_column: integer;
  /** What is there. */
  message: string;
}

/**
 * What skills do, and what is dangerous about it.
 * @output scan
 * @version 1
 * @command rep scan --json
 */
export interface ScanReport {
  /** The skills, sorted by path. */
  skills: ScannedSkill[];
}

/** A scanned skill. */
interface ScannedSkill {
  /** What earlier runs of this version did, beside what the scan shows. Missing if there were none. */
  runs?: {
    /** How many runs there were. */
    count: number;
    /** What they were denied. */
    denied: {
      /** The action. */
      action: string;
      /** The path, the host or the program. */
      target: string;
      /** Whether the scan shows code that does it. */
      expected: boolean;
    }[];
  };
  /** The name that it declares, or else that of its directory. */
  name: string;
  /** The skill, as the caller named it. */
  path: string;
  /** `block` if there is an error, `review` if there is a warning, else `clear`. */
  verdict: "clear" | "review" | "block";
  /** What it does, in words. */
  summary: string[];
  /** What its code needs. An unknown part of an argument is `*`. */
  capabilities: {
    /** The files that it reads. */
    read: string[];
    /** The files that it writes. */
    write: string[];
    /** The hosts that it connects to. */
    connect: string[];
    /** The programs that it starts. */
    spawn: string[];
    /** The variables of the environment that it reads, without those of the session. */
    env: string[];
    /** The variables that it reads and whose names say that they are secrets. */
    secrets: string[];
  };
  /** What its code does, sorted by file and place. */
  behaviours: ScannedBehaviour[];
  /** The findings of the profile `security`. */
  findings: CheckFinding[];
}

/** One thing that a skill does. */
interface ScannedBehaviour {
  /** What it does. */
  kind: "read" | "write" | "delete" | "env" | "secret" | "connect" | "send" | "run" | "evaluate" | "install" | "persist" | "privilege";
  /** To what. */
  argument: string;
  /** The file, as the caller named it. */
  file: string;
  /** The line where it begins, from 1. */
  line: integer;
  /** The column where it begins, from 1, counted in code points. */
  column: integer;
  /** Whether the code stands in a text that shows it, rather than in a script. */
  shown: boolean;
  /** How many layers of encoding hid it. */
  layers: integer;
  /** The capability that it needs, if it needs one. */
  capability?: "read" | "write" | "connect" | "spawn" | "env" | "secrets";
}

/**
 * The smallest declarations that cover what skills do.
 * @output scan-declare
 * @version 1
 * @command rep scan --declare --json
 */
export interface NeededDeclarations {
  /** The skills, sorted by path. */
  skills: {
    /** The name that it declares, or else that of its directory. */
    name: string;
    /** The skill, as the caller named it. */
    path: string;
    /** `block` if there is an error, `review` if there is a warning, else `clear`. */
    verdict: "clear" | "review" | "block";
    /** The permissions. */
    permissions: Permissions;
    /** The secrets. */
    secrets: string[];
    /** What cannot be declared. */
    cannot_declare: {
      /** The kind of capability. */
      kind: "read" | "write" | "connect" | "spawn" | "env" | "secrets";
      /** The path, host or name. */
      argument: string;
      /** Why. */
      reason: string;
    }[];
    /** With `--write`, where it was written; null if nothing was. */
    written: {
      /** `manifest` for a Universal skill, `grants` for the grants of the user. */
      to?: "manifest" | "grants";
      /** The file, if it is a manifest. */
      file?: string;
      /** Why it was not written. */
      error?: string;
    } | null;
  }[];
}

/**
 * The checklists of Universal 2.1, filled in for each skill.
 * @output check-checklist
 * @version 1
 * @command rep check --checklist --format json
 */
export interface Checklists {
  /** One checklist for each skill. */
  checklists: {
    /** The skill, as the caller named it. */
    skill: string;
    /** The points of the checklist. */
    points: {
      /** What the point asks. */
      asks: string;
      /** Whether the skill fulfils it. */
      holds: boolean;
      /** The rules with findings against it. */
      against: string[];
    }[];
  }[];
}

/**
 * One rule, or all rules. A rule of extraction has a shape of its own.
 * @output explain
 * @version 1
 * @command rep explain --json
 */
export type Explanation = RuleCatalogue | CheckRule | ExtractionRule;

/** All rules, or those of one profile. */
interface RuleCatalogue {
  /** The rules. */
  rules: CheckRule[];
}

/** A rule of `rep check`. */
interface CheckRule {
  /** Its name. */
  rule: string;
  /** What it finds, in one phrase. */
  summary: string;
  /** The version of `rep` that introduced it. */
  since: string;
  /** The profiles in which it reports each level. */
  levels: {
    /** The profiles in which it is an error. */
    error?: string[];
    /** The profiles in which it is a warning. */
    warning?: string[];
    /** The profiles in which it is information. */
    info?: string[];
  };
  /** The level it has when no profile is named; null if it does not run then. */
  unasked: "error" | "warning" | "info" | null;
  /** The specifications it comes from, with the place. */
  cites: string[];
  /** The ids of the requirements it checks. */
  requirements: string[];
  /** Its page, in Markdown. */
  page: string;
}

/** A rule that reads facts out of Markdown. */
interface ExtractionRule {
  /** Its name. */
  rule: string;
  /** Always `extraction`. */
  kind: "extraction";
  /** The UASP section of its facts. */
  section: string;
  /** How often it is right, in per cent. */
  confidence: integer;
  /** Whether its facts are part of a conversion without `--include-doubtful`. */
  default: boolean;
  /** What it finds, in one phrase. */
  summary: string;
  /** Examples that it matches. */
  matches: {
    /** The Markdown. */
    markdown: string;
    /** What is found in it. */
    finds: string;
  }[];
  /** Examples that it does not match. */
  not_matches: string[];
}

/**
 * The properties of a skill, as the reference tool `skills-ref` prints them.
 * @output read-properties
 * @version 1
 * @command rep read-properties SKILL_PATH
 */
export interface Properties {
  /** The name in the frontmatter. */
  name: string;
  /** The description in the frontmatter. */
  description: string;
  /** The license, as the author wrote it. */
  license?: unknown;
  /** The compatibility, as the author wrote it. */
  compatibility?: unknown;
  /** The tools of the host that the skill may use, as the author wrote them. */
  "allowed-tools"?: unknown;
  /** The metadata; the values of a mapping are text. */
  metadata?: unknown;
}

/**
 * The content version of a UASP file.
 * @output hash
 * @version 1
 * @command rep hash --json
 */
export interface Hash {
  /** The version that the file declares; null if it declares none. */
  declared: string | null;
  /** The version of the content: the first eight digits of the SHA-256. */
  computed: string;
  /** The SHA-256 of the content, in hexadecimal digits. */
  sha256: string;
  /** Whether the two versions are the same. */
  match: boolean;
}

/**
 * The effective tools of a skill.
 * @output tools
 * @version 1
 * @command rep tools --json
 */
export interface SkillTools extends EffectiveTools {
  /** The MCP servers that the skill requires, and their tools, with `--mcp`. */
  servers?: ServerCatalog[];
}

/** The effective tools of a skill. */
interface EffectiveTools {
  /** Where the tools come from. */
  source: "frontmatter" | "tools.json" | "none";
  /** Whether `tools.json` differs from the frontmatter. */
  stale: boolean;
  /** The tools. */
  tools: ToolDefinition[];
}

/**
 * The tools of MCP servers.
 * @output server-tools
 * @version 1
 * @command rep tools --mcp --json
 */
export interface ServerTools {
  /** The servers, by name. */
  servers: ServerCatalog[];
}

/** A server and its tools. */
interface ServerCatalog {
  /** Its name. */
  name: string;
  /** Who declares it. */
  from: "user" | "project" | "skill";
  /** How it is reached. */
  transport: "stdio" | "http";
  /** Its tools. */
  tools: {
    /** The name. */
    name: string;
    /** The description, by the server. */
    description: string;
    /** The schema of the arguments. */
    input_schema: unknown;
    /** The schema of the result. */
    output_schema?: unknown;
    /** Whether the server says that it changes nothing. */
    read_only: boolean;
    /** The SHA-256 digest of what the server says about it. An approval is bound to it. */
    definition: string;
    /** Whether a tool of the skill has the same name, and is called instead. */
    shadowed: boolean;
  }[];
  /** Why it did not answer, as in an error document. */
  error: unknown;
}

/**
 * The tools of a skill, generated from its frontmatter.
 * @output tools-file
 * @version 1
 * @command rep tools --write --json
 * @file tools.json: in the directory of a skill, by `rep tools --write`
 */
export type ToolsFile = ToolDefinition[];

/**
 * What came of a conversion: of one skill, of many (`--all`, `--out-dir`, `--beside`), of `--check` or of `--explain`.
 * @output convert
 * @version 1
 * @command rep convert --json
 */
export type Conversion =
  | ConversionReport
  | RejectedAnswer
  | MarkdownDocument
  | ConversionBatch
  | ConversionCheck
  | ConversionExplanations;

/**
 * The report of a conversion: every value with the line it comes from. For several skills, a list of reports.
 * @output convert-report
 * @version 1
 * @file FILE.json: by `rep convert --report FILE.json`
 */
export type ConversionReportFile = ConversionReport | ConversionReport[];

/** The report of one conversion to UASP. */
interface ConversionReport {
  /** Whether the result is a valid UASP file. */
  valid: boolean;
  /** The UASP document, if it is valid. */
  skill?: Record<string, unknown>;
  /** The errors in one text, if it is not valid. */
  error?: string;
  /** The errors, if it is not valid. */
  errors?: Notice[];
  /** What is unusual about the result. */
  warnings: Notice[];
  /** What read the Markdown. */
  engine: "rules" | "llm" | "hybrid";
  /** The Markdown. */
  source: {
    /** Its path, as the caller named it. */
    file: string;
    /** Its SHA-256, in hexadecimal digits. */
    sha256: string;
  };
  /** Every value, in the order of the document. */
  items: ConvertedValue[];
  /** The checklist of the UASP specification. */
  checklist: {
    /** The point. */
    point: string;
    /** Whether it was done, the source has nothing for it, or a person should look. */
    state: "done" | "absent" | "review";
    /** What was found. */
    note: string;
  }[];
  /** How many values there are. */
  summary: {
    /** How many values. */
    items: integer;
    /** How many of them a person should review. */
    needs_review: integer;
    /** How many of them come from a rule that is not sure enough. */
    doubtful: integer;
    /** How many doubtful values are not in the document. */
    doubtful_left_out: integer;
  };
  /** What is not in the document because it is doubtful. */
  left_out?: {
    /** How many values, by section. */
    sections: Record<string, integer>;
    /** How to see them. */
    help: string;
  };
  /** With `--explain`, the rules behind the values, by name. */
  rules?: Record<string, {
    /** The section of its facts. */
    section: string;
    /** How often it is right, in per cent. */
    confidence: integer;
    /** What it finds. */
    summary: string;
  }>;
  /** The model that was asked, if one was. */
  model?: {
    /** Its name. */
    name: string;
    /** The protocol that was used. */
    api: string;
    /** How many tokens it read. */
    input_tokens: integer;
    /** How many tokens it wrote. */
    output_tokens: integer;
    /** How many requests were sent. */
    asked: integer;
    /** Whether the answer came from the cache. */
    cached: boolean;
    /** What it cost, if prices are known. */
    cost?: number;
  };
}

/** Something that the linter reports about a converted document. */
interface Notice {
  /** The data path it is about. */
  at: string | null;
  /** What is wrong. */
  message: string;
  /** What to do about it. */
  help: string;
}

/** One value of a converted document. */
interface ConvertedValue {
  /** Its place in the document, such as `constraints.never[2]`. */
  path: string;
  /** The value. */
  value: unknown;
  /** The line of the Markdown it was read from, from 1; null if the engine names none. */
  line: integer | null;
  /** The text of that line. */
  text: string;
  /** Whether a person should review it. */
  needs_review: boolean;
  /** Why a person should review it. */
  why?: string;
  /** The rule that found it. */
  rule?: string;
  /** How often that rule is right, in per cent. */
  confidence?: integer;
}

/** An answer of a model that could not be used. */
interface RejectedAnswer {
  /** Always false. */
  valid: false;
  /** Why it could not be used. */
  error: string;
  /** What read the Markdown. */
  engine: "llm" | "hybrid";
}

/** The result of `--to markdown`. */
interface MarkdownDocument {
  /** The text of the SKILL.md. */
  markdown: string;
}

/** What came of the conversion of many skills. */
interface ConversionBatch {
  /** One entry for each skill. */
  skills: {
    /** The name of the skill; null if it was not converted. */
    skill: string | null;
    /** Its Markdown, as the caller named it. */
    source: string;
    /** What happened; `in_step` means that the file was up to date. */
    status: "written" | "in_step" | "passed_over" | "failed";
    /** The UASP file. */
    out?: string;
    /** Whether the result is a valid UASP file. */
    valid?: boolean;
    /** The content version of the result. */
    version?: string;
    /** How many values it has. */
    items?: integer;
    /** How many of them a person should review. */
    needs_review?: integer;
    /** How many warnings there are. */
    warnings?: integer;
    /** How many doubtful values are not in the document. */
    doubtful_left_out?: integer;
    /** With `--explain`, the values. */
    facts?: ConvertedValue[];
    /** Why it failed. */
    error?: SkillFailure;
  }[];
  /** How many skills came to what. */
  summary: {
    /** How many skills. */
    skills: integer;
    /** How many files were written. */
    written: integer;
    /** How many files were up to date. */
    in_step: integer;
    /** How many conversions failed. */
    failed: integer;
    /** How many skills have no SKILL.md. */
    passed_over: integer;
    /** How many values a person should review. */
    needs_review: integer;
  };
}

/** Why one skill of many failed. */
interface SkillFailure {
  /** A stable word for programs. */
  code: string;
  /** What happened. */
  message: string;
  /** Whether another try may succeed. */
  retriable: boolean;
}

/** The result of `--check`. */
interface ConversionCheck {
  /** One entry for each skill. */
  skills: {
    /** The Markdown, as the caller named it. */
    source: string;
    /** The UASP file; empty if the skill was not compared. */
    uasp: string;
    /** How the UASP file compares with its Markdown. */
    status: "in_step" | "edited" | "out_of_step" | "missing" | "accepted" | "passed_over" | "failed";
    /** What differs. */
    differences?: {
      /** The data path. */
      at: string;
      /** What the Markdown says; null if it says nothing. */
      markdown: unknown;
      /** What the UASP file says; null if it says nothing. */
      uasp: unknown;
    }[];
    /** Why it failed. */
    error?: SkillFailure;
  }[];
  /** How many skills have each status. */
  summary: {
    /** How many skills. */
    skills: integer;
    /** How many are up to date. */
    in_step: integer;
    /** How many were edited by hand, with the Markdown unchanged. */
    edited: integer;
    /** How many differ. */
    out_of_step: integer;
    /** How many have no UASP file. */
    missing: integer;
    /** How many were accepted as they are. */
    accepted: integer;
    /** How many have no Markdown. */
    passed_over: integer;
    /** How many could not be compared. */
    failed: integer;
  };
}

/** The result of `--explain` for several skills. */
interface ConversionExplanations {
  /** One report for each skill. */
  skills: ConversionReport[];
}

/**
 * What the tests of skills came to.
 * @output test
 * @version 1
 * @command rep test --json
 */
export interface TestReport {
  /** The cases, in order. */
  cases: {
    /** The skill. */
    skill: string;
    /** The case: the stem of its file, or the name of a smoke test. */
    case: string;
    /** Its name. */
    name: string;
    /** What it came to; `error` means that it could not be run. */
    outcome: "pass" | "fail" | "error";
    /** How long it took, in milliseconds. */
    duration_ms: integer;
    /** Why it did not pass. */
    failures: TestFailure[];
    /** What would help, if it did not pass. */
    help?: string[];
    /** The exit code, if it did not pass. */
    exit_code?: integer | null;
    /** What it wrote to stdout, shortened, if it did not pass. */
    stdout?: string;
    /** What it wrote to stderr, shortened, if it did not pass. */
    stderr?: string;
    /** What it was not allowed to do, if it did not pass. */
    denials?: Denial[];
  }[];
  /** The skills. */
  skills: {
    /** The name of the skill. */
    name: string;
    /** How many of its cases ran. */
    cases: integer;
    /** How many evals it has; they need a model and do not run here. */
    evals: integer;
  }[];
  /** How many evals all skills have. */
  evals: integer;
  /** How many cases came to what. */
  summary: {
    /** How many passed. */
    passed: integer;
    /** How many failed. */
    failed: integer;
    /** How many could not be run. */
    errors: integer;
    /** How many skills were tested. */
    skills: integer;
    /** How long it took, in milliseconds. */
    duration_ms: integer;
    /** How many calls of tools were made. */
    tool_calls: integer;
    /** How many of them gave a result that matches the declared schema. */
    tool_calls_conforming: integer;
  };
}

/** Why a case did not pass: a mistake in its file, an expectation that was not met, or an error of the tool. */
interface TestFailure {
  /** What is wrong. */
  message: string;
  /** The file with the mistake. */
  file?: string | null;
  /** The line of the mistake, from 1. */
  line?: integer | null;
  /** What to do about it. */
  help?: string | null;
  /** The expectation that was not met. */
  expectation?: string;
  /** The path of the value that differs. */
  at?: string;
  /** What was expected. */
  expected?: unknown;
  /** What was found. */
  got?: unknown;
  /** The code of the tool's error. */
  code?: string;
}

/**
 * What an agent answered to the evals of skills, with and without each skill.
 * @output test-evals
 * @version 1
 * @command rep test --evals --json
 */
export interface EvalReport {
  /** The evals, in order. */
  evals: {
    /** The skill. */
    skill: string;
    /** The id of the eval. */
    id: string | integer;
    /** The answer with the skill. */
    with_skill: EvalAnswer;
    /** The answer without it. */
    without_skill: EvalAnswer;
  }[];
  /** The contents of `benchmark.json`. */
  benchmark: Benchmark;
  /** The directory that holds the answers. */
  out: string;
}

/** One answer of an agent. */
interface EvalAnswer {
  /** Whether the agent ended without an error. */
  ended_well: boolean;
  /** How long it took, in milliseconds. */
  duration_ms: integer;
  /** How many tokens it used, if it says so. */
  total_tokens: number | null;
  /** How many statements hold. */
  grading: GradingSummary;
}

/** How many statements about an answer hold. */
interface GradingSummary {
  /** How many hold. */
  passed: integer;
  /** How many do not hold. */
  failed: integer;
  /** How many need a judge. */
  ungraded: integer;
  /** How many there are. */
  total: integer;
  /** The share of the graded statements that hold, from 0 to 1; null if none is graded. */
  pass_rate: number | null;
}

/**
 * All answers with skills, compared with those without.
 * @output evals-benchmark
 * @version 1
 * @file benchmark.json: in the directory of an iteration, by `rep test --evals`
 */
export interface Benchmark {
  /** The measurements. */
  run_summary: {
    /** With the skills. */
    with_skill: Measurements;
    /** Without them. */
    without_skill: Measurements;
    /** The difference of the means. */
    delta: {
      /** Of the share of statements that hold. */
      pass_rate: number | null;
      /** Of the time, in seconds. */
      time_seconds: number | null;
      /** Of the tokens. */
      tokens: number | null;
    };
  };
}

/** What several answers measured. */
interface Measurements {
  /** The share of statements that hold. */
  pass_rate: Distribution;
  /** The time, in seconds. */
  time_seconds: Distribution;
  /** The tokens. */
  tokens: Distribution;
}

/** A mean with its standard deviation. */
interface Distribution {
  /** The mean; null if nothing was measured. */
  mean: number | null;
  /** The standard deviation; null if nothing was measured. */
  stddev: number | null;
}

/**
 * The grades of one answer.
 * @output evals-grading
 * @version 1
 * @file grading.json: beside each answer, by `rep test --evals`
 */
export interface Grading {
  /** The statements about the answer. */
  assertion_results: {
    /** The statement. */
    text: string;
    /** Whether it holds; null if it needs a judge. */
    passed: boolean | null;
    /** What the grade is based on. */
    evidence: string;
  }[];
  /** How many hold. */
  summary: GradingSummary;
}

/**
 * What one answer cost.
 * @output evals-timing
 * @version 1
 * @file timing.json: beside each answer, by `rep test --evals`
 */
export interface Timing {
  /** How many tokens the agent used, if it says so. */
  total_tokens: number | null;
  /** How long it took, in milliseconds. */
  duration_ms: integer;
}

// ---------------------------------------------------------------- The library

/**
 * The skills there are, and which copy of each wins.
 * @output list
 * @version 1
 * @command rep list --json
 */
export interface SkillList {
  /** The skills, in the order of precedence. */
  skills: ListedSkill[];
  /** With `--host`, what is known about the host. */
  host?: {
    /** Its id. */
    id: string;
    /** Its name. */
    name: string;
    /** The directories it reads. */
    folders: SourcedPath[];
    /** How it differs from what is predicted here. */
    differs: {
      /** A stable word for the difference. */
      key: string;
      /** The difference. */
      text: string;
    }[];
  };
}

/** A directory, and where it is documented. */
interface SourcedPath {
  /** The path. */
  path: string;
  /** Where this is documented. */
  source: string;
  /** When that was last checked. */
  checked: string;
}

/** A skill in a list. */
interface ListedSkill {
  /** Its name. */
  name: string;
  /** Its name with its package: `package:name`. */
  qualified_name: string;
  /** Its description. */
  description: string;
  /** Where it was found. */
  scope: Scope;
  /** The path of its file. */
  location: string;
  /** What became of it. */
  status: Status;
  /** Why it is not active; empty if it is. */
  reason: string;
  /** The location of the skill that wins over it. */
  shadowed_by: string | null;
  /** Whether people may call it. */
  user_invocable: boolean;
  /** The provenance it declares; null if it declares none. */
  provenance: DeclaredProvenance | null;
  /** The skills it depends on. */
  dependencies: Dependency[];
  /** What was found while it was loaded. */
  findings: Finding[];
}

/** The provenance that a skill declares. Nothing of it is verified. */
interface DeclaredProvenance {
  /** The repository, without credentials. */
  source_repo?: string;
  /** The commit. */
  source_commit?: string;
  /** The reviewers. */
  reviewed_by?: string[];
  /** The signature, as text. */
  signature?: string;
}

/**
 * Everything about one skill.
 * @output show
 * @version 1
 * @command rep show --json
 */
export interface ShownSkill {
  /** Its name. */
  name: string;
  /** Its name with its package: `package:name`. */
  qualified_name: string;
  /** Its description. */
  description: string;
  /** The dialects it is written in. */
  dialects: string[];
  /** What became of it. */
  status: Status;
  /** Where it was found. */
  scope: Scope;
  /** Why it is not active; empty if it is. */
  reason: string;
  /** What would make it active. */
  remedy: string | null;
  /** The location of the skill that wins over it. */
  shadowed_by: string | null;
  /** The path of its file. */
  location: string;
  /** Its directory. */
  folder: string;
  /** What is switched on and off. */
  switches: {
    /** Whether models may choose it. */
    model_invocable: boolean;
    /** Whether people may call it. */
    user_invocable: boolean;
    /** Whether the user disabled it. */
    disabled: boolean;
    /** Whether the user trusts it. */
    trusted: boolean;
  };
  /** Where it comes from. */
  provenance: {
    /** The package it is part of. */
    package: string | null;
    /** The version it declares. */
    version: string | null;
    /** The license it declares. */
    license: string | null;
    /** The author it declares. */
    author: string | null;
    /** The repository it declares, without credentials. */
    source_repo?: string;
    /** The commit it declares. */
    source_commit?: string;
    /** The reviewers it declares. */
    reviewed_by?: string[];
    /** The signature it declares; it is not verified. */
    signature?: string;
    /** The digest of its directory; null if it is too large. */
    digest: string | null;
    /** The content versions of its UASP files. */
    content_versions: {
      /** The file. */
      file: string;
      /** The version it declares. */
      declared: string | null;
      /** The version of its content; null if it cannot be computed. */
      computed: string | null;
      /** Whether the two are the same. */
      match: boolean;
    }[];
  };
  /** The fields of its frontmatter, or of `meta` in a UASP file, as the author wrote them. */
  fields: Record<string, unknown> | null;
  /** Its files. */
  files: {
    /** The path in the directory. */
    path: string;
    /** What it is for, judged by its place: `main`, `script`, `reference` and others. */
    kind: string;
    /** What it holds. */
    form: "text" | "binary" | "unread" | "link" | "irregular";
    /** Its size in bytes. */
    size_bytes: integer | null;
    /** Whether it is executable. */
    executable: boolean;
    /** How many tokens it costs; null if they were not counted. */
    tokens: integer | null;
  }[];
  /** What was not read because the skill is too large; empty if everything was. */
  left_out: string;
  /** Its effective tools. */
  tools: EffectiveTools;
  /** The permissions it declares, as the author wrote them. */
  permissions: unknown;
  /** The tools of the host that it may use. */
  allowed_tools: string[];
  /** What its code does. */
  scan: {
    /** `block` if there is an error, `review` if there is a warning, else `clear`. */
    verdict: "clear" | "review" | "block";
    /** What it does, in words. */
    summary: string[];
    /** What its code needs. An unknown part of an argument is `*`. */
    capabilities: {
      /** The files that it reads. */
      read: string[];
      /** The files that it writes. */
      write: string[];
      /** The hosts that it connects to. */
      connect: string[];
      /** The programs that it starts. */
      spawn: string[];
      /** The variables of the environment that it reads, without those of the session. */
      env: string[];
      /** The variables that it reads and whose names say that they are secrets. */
      secrets: string[];
    };
  };
  /** The skills it depends on. */
  depends_on: Dependency[];
  /** What was found while it was loaded. */
  findings: Finding[];
  /** What it costs in tokens. */
  tokens: {
    /** The tokenizer they are counted with. */
    tokenizer: string;
    /** The entry in the catalogue. */
    catalogue: integer;
    /** The body with its wrapper; null if it cannot be read. */
    activation: integer | null;
    /** All other text files. */
    resources: integer;
    /** The sum. */
    total: integer;
    /** How many files were counted. */
    files_counted: integer;
    /** How many files were not counted. */
    files_not_counted: integer;
    /** The frontmatter. */
    frontmatter: {
      /** Its size in bytes. */
      bytes: integer;
      /** What it costs. */
      tokens: integer;
    } | null;
    /** What an answer from each UASP section costs. */
    sections: Record<string, integer>;
    /** Where the sections come from; null if there are none. */
    structure: Origin | null;
  };
}

/** Whether the author wrote the structure of a skill, or it was read out of Markdown. */
type Origin = "authored" | "extracted";

/**
 * The catalogue for the context of a model.
 * @output prompt
 * @version 1
 * @command rep prompt --style json
 */
export interface Catalogue {
  /** The active skills. */
  skills: {
    /** Its name with its package. */
    name: string;
    /** Its description, shortened if the budget asks for it. */
    description: string;
    /** How much of the description is there, if not all of it. */
    detail?: "shortened" | "name";
    /** The path of its file; left out with `--no-location`. */
    location?: string;
  }[];
  /** With `--budget`, what it costs, if anything was left out. */
  budget?: {
    /** The budget, in tokens. */
    tokens: integer;
    /** The tokenizer they are counted with. */
    tokenizer: string;
    /** How many descriptions are shortened. */
    shortened: integer;
    /** How many skills have no description. */
    without_description: integer;
    /** How many skills were dropped. */
    dropped: integer;
  };
}

/**
 * The session manifest of UASP.
 * @output prompt-manifest
 * @version 1
 * @command rep prompt --style manifest
 */
export interface Manifest {
  /** The active skills. */
  loaded_skills: {
    /** Its name. */
    name: string;
    /** Its content version; null if it declares none. */
    version: string | null;
    /** Its UASP type, `knowledge` if it declares none. */
    type: string;
    /** Its description. */
    description: string;
    /** The beginning of a query about it. */
    query_endpoint: string;
  }[];
  /** How a query is written. */
  query_syntax: string;
}

/**
 * The skills that fit a text, best first.
 * @output search
 * @version 1
 * @command rep search --json
 */
export interface SearchResults {
  /** The skills. */
  results: {
    /** Its name with its package. */
    name: string;
    /** Its score. */
    score: number;
    /** What the points are for. */
    why: {
      /** The part of the skill that matches. */
      field: "name" | "description" | "triggers" | "headings" | "body";
      /** The word that matches. */
      term: string;
      /** The points it gives. */
      points: number;
    }[];
    /** Its description. */
    description: string;
    /** The path of its file. */
    location: string;
    /** What became of it. */
    status: Status;
    /** Whether only people may call it. */
    user_only: boolean;
  }[];
}

/**
 * The skills whose triggers fit a request.
 * @output select
 * @version 1
 * @command rep select --json
 */
export interface SelectedSkills {
  /** The skills, best first. */
  selected: {
    /** Its name with its package. */
    name: string;
    /** Its score; null if it was selected by name or by its text. */
    score: integer | null;
    /** With `--fallback search`, its score in the search, from 0 to 100. */
    search_score?: number;
    /** What the points are for. */
    matches: {
      /** The kind of the trigger. */
      kind: "explicit" | "file_type" | "file_pattern" | "mention" | "keyword" | "intent";
      /** The trigger. */
      trigger: string;
      /** The points it gives. */
      points: integer;
    }[];
    /** The path of its file. */
    location: string;
  }[];
}

/**
 * How well labelled requests find their skills.
 * @output eval-triggers
 * @version 1
 * @command rep eval-triggers --json
 */
export interface TriggerScores {
  /** The scores of `rep select`. */
  select: {
    /** The share of the selected skills that were meant; null if none was selected. */
    precision: number | null;
    /** The share of the skills that were meant and selected; null if none was meant. */
    recall: number | null;
    /** How many skills were selected. */
    chosen: integer;
    /** How many requests must not trigger a skill. */
    negatives: integer;
    /** How many of them did. */
    negatives_triggered: integer;
  };
  /** The scores of `rep search`. */
  search: {
    /** How many requests were searched for. */
    requests: integer;
    /** The share of requests whose first result is right; null if there are none. */
    hit_at_1: number | null;
    /** The share with a right result among the first five. */
    hit_at_5: number | null;
    /** The share of right results among the first ten. */
    recall_at_10: number | null;
    /** The mean of 1 divided by the rank of the first right result. */
    mrr: number | null;
    /** How many requests must not find a skill first. */
    negatives: integer;
    /** How many of them did. */
    negatives_first: integer;
    /** The share of the requests that should find a skill and for which some skill fits; null if there are none. */
    answered: number | null;
    /** For how many of the requests that must not find a skill no skill fits. */
    negatives_unanswered: integer;
  };
}

/**
 * The answer to a query. A query that finds nothing exits with 1.
 * @output query
 * @version 1
 * @command rep query
 * @command rep query --json
 */
export type QueryAnswer = QueryResult | QueryMiss;

/** What a query found. */
interface QueryResult {
  /** The skill. */
  skill: string;
  /** The path that was asked for. */
  path: string;
  /** Always true. */
  found: true;
  /** The value. */
  value: unknown;
  /** Whether the author wrote it as structure, or it was read out of Markdown. */
  origin: Origin;
  /** Which facts are answered from, if it was read out of Markdown. */
  facts?: "confident";
  /** The lines of the Markdown that the value was read from. */
  lines?: {
    /** The data path. */
    at: string;
    /** The line, from 1. */
    line: integer;
    /** Why a person should review it. */
    doubt?: string;
    /** The rule that found it. */
    rule?: string;
  }[];
  /** What is unusual about the answer. */
  notes?: string[];
  /** Versions that are not the hash of the content. */
  findings?: Finding[];
  /** With `--tokens`, what the answer costs. */
  tokens?: {
    /** The answer. */
    answer: integer;
    /** The whole file. */
    whole: integer;
    /** The tokenizer they are counted with. */
    tokenizer: string;
  };
}

/** Why a query found nothing. */
interface QueryMiss {
  /** Always false. */
  found: false;
  /** Why. */
  error: {
    /** A stable word for programs. */
    code: "INVALID_QUERY" | "SKILL_NOT_FOUND" | "PATH_NOT_FOUND" | "VALIDATION_FAILED" | "UNREADABLE";
    /** What is wrong. */
    message: string;
    /** With `VALIDATION_FAILED`, what the skill violates. */
    details?: Finding[];
  };
  /** The skill. */
  skill?: string;
  /** The path that was asked for. */
  path?: string;
  /** Whether the author wrote the structure, or it was read out of Markdown. */
  origin?: Origin;
  /** Which facts are answered from, if they were read out of Markdown. */
  facts?: "confident";
  /** What exists instead. */
  suggestions?: string[];
}

/**
 * The answer to one of the common questions. `silent` means that the skill does not say, and exits with 1.
 * @output ask
 * @version 1
 * @command rep ask --json
 */
export type AskAnswer = Answer | QueryMiss;

/** An answer. */
interface Answer {
  /** The skill. */
  skill: string;
  /** What the question is about. */
  about: string;
  /** `no`: forbidden; `guided`: not forbidden, with advice; `found`: an answer; `silent`: the skill does not say. */
  answer: "no" | "guided" | "found" | "silent";
  /** The values the answer is based on. */
  because: {
    /** The data path. */
    path: string;
    /** The value. */
    value: unknown;
    /** The line of the Markdown it was read from, from 1. */
    line?: integer;
  }[];
  /** The queries that were asked. */
  queries: string[];
  /** Whether the author wrote the structure, or it was read out of Markdown. */
  origin: Origin;
}

/**
 * Why a skill is missing, shadowed, untrusted, hidden or disabled. A name that does not exist exits with 1.
 * @output why
 * @version 1
 * @command rep why --json
 */
export interface Reasons {
  /** The name that was asked for. */
  name: string;
  /** Every copy of it. */
  copies: {
    /** Its name with its package. */
    qualified_name: string;
    /** The path of its file. */
    location: string;
    /** Where it was found. */
    scope: Scope;
    /** What became of it. */
    status: Status;
    /** Why it is not active; empty if it is. */
    reason: string;
    /** What would make it active. */
    remedy: string | null;
    /** The skills it depends on. */
    dependencies: Dependency[];
    /** With `--budget`, what becomes of it in the catalogue. */
    budget?: {
      /** The budget, in tokens. */
      tokens: integer;
      /** The tokenizer they are counted with. */
      tokenizer: string;
      /** How much of it is in the catalogue. */
      detail: "full" | "shortened" | "name" | "dropped";
      /** The description in the catalogue. */
      description: string;
      /** What the whole catalogue would cost. */
      wanted: integer;
    };
  }[];
  /** Directories and files of that name that are not skills. */
  skipped: {
    /** The path. */
    path: string;
    /** Why it is not a skill. */
    reason: string;
  }[];
  /** The directories that were searched. */
  looked_in: string[];
}

// ---------------------------------------------------------------- Running

/**
 * What came of a tool call: the result object of the tool, or a task that runs in the background. A failure is an
 * `error` document, in which a tool may have more fields of its own.
 * @output run
 * @version 1
 * @command rep run SKILL:TOOL
 */
export type RunResult = TaskStarted | Record<string, unknown>;

/**
 * What came of a bundled script, whether it succeeded or failed. A script that was not run, or was stopped, is an
 * `error` document.
 * @output run-script
 * @version 1
 * @command rep run --script
 */
export interface ScriptResult {
  /** What the script wrote to stdout. */
  stdout: string;
  /** What it wrote to stderr. */
  stderr: string;
  /** Its exit code; 128 and the number of the signal that killed it. */
  returncode: integer;
  /** What it tried and may not, each once, up to 100. */
  denied: Denial[];
  /** How many further denials there were. */
  denied_omitted?: number;
}

/**
 * What a bundled script would run, and what it may do.
 * @output run-script-plan
 * @version 1
 * @command rep run --script --dry-run
 */
export interface ScriptPlan extends Plan {
  /** The script, and its arguments. */
  argv: string[];
  /** The script, relative to the skill. */
  program: string;
  /** The environment variables it is given. */
  variables: Record<string, string>;
  /** The files of the skill that it sees; null if it sees the whole directory. */
  files: string[] | null;
}

/** A call that runs in the background, with `--detach`. */
interface TaskStarted {
  /** Always `async`. */
  status: "async";
  /** The task. */
  task: {
    /** Its id, for `rep tasks get`. */
    id: string;
    /** Its status. */
    status: string;
  };
}

/**
 * What a tool call would run, and what it may do.
 * @output run-plan
 * @version 1
 * @command rep run SKILL:TOOL --dry-run
 */
export interface ToolPlan extends Plan {
  /** The runtime of the tool. */
  runtime: "python" | "node" | "bash";
  /** The file that is run. */
  entrypoint: string;
  /** The function that is called, if it is not a script. */
  handler: string | null;
  /** What runs a TypeScript file. */
  typescript_runner: string | null;
  /** The packages it declares. */
  dependencies: unknown;
}

/**
 * Which MCP server a call would start or ask, and what it may do.
 * @output server-plan
 * @version 1
 * @command rep run SERVER:TOOL --dry-run
 */
export interface ServerPlan {
  /** The server, as `mcp:NAME`, or the skill that declares it. */
  skill: string;
  /** The digest of the declaration. */
  digest: string;
  /** The directory of the skill, or the workspace. */
  folder: string;
  /** The tool. */
  tool: string;
  /** The directory that patterns are relative to. */
  workspace: string;
  /** The arguments. */
  input: unknown;
  /** Whether the server runs in the sandbox. */
  sandbox: boolean;
  /** What it may do. */
  policy: unknown;
  /** Always empty: an invalid declaration of a server is an error. */
  ignored: unknown[];
  /** The server. */
  server: {
    /** Its name. */
    name: string;
    /** Who declares it. */
    from: "user" | "project" | "skill";
    /** How it is reached. */
    transport: "stdio" | "http";
    /** The program with its arguments and variables, or the address with its headers. */
    address: unknown;
    /** The directories outside the workspace that it may read. */
    readable: string[];
    /** Whether it is confined. */
    sandbox: boolean;
    /** Whether the user trusts what it says about its tools. */
    trust: boolean;
  };
}

/** What a call would run, and what it may do. */
interface Plan {
  /** The skill, with its package. */
  skill: string;
  /** The digest of the directory of the skill. */
  digest: string;
  /** The directory of the skill. */
  folder: string;
  /** The tool or the command. */
  tool: string;
  /** The directory that patterns are relative to. */
  workspace: string;
  /** The arguments. */
  input: unknown;
  /** Whether it runs in the sandbox. */
  sandbox: boolean;
  /** What it may do. */
  policy: RunPolicy;
  /** Declarations that are not understood and therefore grant nothing. */
  ignored: {
    /** The field. */
    field: string;
    /** Its value. */
    value: unknown;
    /** Why it is ignored. */
    reason: string;
  }[];
}

/** What a run may do, use and see. */
interface RunPolicy {
  /** The permissions. */
  permissions: Permissions;
  /** The kinds of actions that need confirmation. */
  confirm: Risk[];
  /** The author's words for the confirmation. */
  prompt: string | null;
  /** What is taken out of the output. */
  redact: Redaction;
  /** The secrets it declares. */
  secrets: {
    /** The variable. */
    name: string;
    /** Whether it runs without the secret. */
    optional: boolean;
  }[];
  /** Its limits. */
  limits: Limits;
}

/** Something that needs confirmation. */
type Risk = "destructive_writes" | "external_network" | "always" | "program" | "foreign_tool";

/** What is taken out of the output of a run. */
interface Redaction {
  /** The values of secrets. */
  secrets: boolean;
  /** Personal data. */
  pii: boolean;
}

/** What a skill may do. */
interface Permissions {
  /** Files, as patterns relative to the workspace. */
  filesystem: {
    /** What it may read. */
    read: string[];
    /** What it may create, change and remove. */
    write: string[];
  };
  /** The network. */
  network: {
    /** The hosts it may connect to. */
    outbound: string[];
  };
  /** Other programs. */
  processes: {
    /** Whether it may start them. */
    allow_subprocess: boolean;
  };
}

/** The limits of a run. */
interface Limits {
  /** How long it may take, in milliseconds. */
  timeout_ms: integer;
  /** How long it has to end after it was told to, in milliseconds. */
  grace_ms: integer;
  /** How many seconds of processor time it may use. */
  cpu_s: integer;
  /** How much memory it may use, in bytes. */
  memory_bytes: integer;
  /** How many processes it may have. */
  processes: integer;
  /** How many files it may have open. */
  open_files: integer;
  /** How large a file may become, in bytes. */
  file_bytes: integer;
  /** How much it may store in temporary files, in bytes. */
  temporary_bytes: integer;
  /** How much of its output is read, in bytes. */
  output_bytes: integer;
}

/**
 * How a run went: the sandbox, what was denied, what was written.
 * @output run-meta
 * @version 1
 * @file FILE: by `rep run --json-meta FILE`
 */
export interface RunMetadata extends RunDetails {
  /** The tools that this tool called. */
  calls: {
    /** The tool: `skill:tool`. */
    tool: string;
    /** How it went. */
    run: RunDetails;
  }[];
}

/** How one run went. */
interface RunDetails {
  /** Whether anything was started. */
  executed: boolean;
  /** How long it took, in milliseconds. */
  duration_ms: integer;
  /** The exit code; null if a signal ended it or nothing was started. */
  exit_code: integer | null;
  /** The number of the signal that ended it. */
  signal: integer | null;
  /** Why `rep` ended it; null if it ended by itself. */
  killed: "timeout" | "cancelled" | "output" | "memory" | null;
  /** Whether it wrote more than is read. */
  truncated: boolean;
  /** The layers of the sandbox. */
  layers: {
    /** The name of the layer. */
    name: string;
    /** What it did. */
    state: string;
  }[];
  /** What it tried and was not allowed to do, at most 100 different operations. */
  denials: Denial[];
  /** The number of further denied operations. */
  denials_omitted: integer;
  /** The files it created or changed. */
  written: string[];
  /** Files that somebody else changed during the run. */
  conflicts: string[];
  /** Secrets that are too short to be taken out of the output. */
  unredacted_secrets: string[];
  /** The names of the secrets it was given. */
  secrets: string[];
}

/** What a command printed, and the state afterwards. */
interface ExecResult {
  /** What the program wrote to stdout, or the body of the response. */
  stdout: string;
  /** What it wrote to stderr. */
  stderr: string;
  /** Its exit code. */
  returncode: integer;
  /** What the server answered, for a command that is an HTTP request. */
  response?: HttpResponse;
  /** The state of the session afterwards. */
  state: SessionState | null;
}

/**
 * What a command of a structured skill came to. A failure is an `error` document with the same fields.
 * @output exec
 * @version 1
 * @command rep exec --json
 */
export interface ExecAnswer extends ExecResult {
  /** Versions that are not the hash of the content. */
  findings?: Finding[];
}

/**
 * What a command would run or send, and what it may do.
 * @output exec-plan
 * @version 1
 * @command rep exec --dry-run
 */
export interface CommandPlan extends Plan {
  /** The argument vector; empty for an HTTP request. */
  argv: string[];
  /** The program. */
  program?: string;
  /** The environment variables it is given. */
  variables?: Record<string, string>;
  /** The files of the skill that it sees; null if it sees the whole directory. */
  files?: string[] | null;
  /** The HTTP request, with `${NAME}` in the place of secrets. */
  request?: {
    /** The method. */
    method: string;
    /** The address. */
    url: string;
    /** The headers, by name. */
    headers: Record<string, string>;
    /** The body. */
    body: unknown;
  };
  /** The entities it requires that are not valid in the session. */
  missing: string[];
  /** The session. */
  session: string;
}

/**
 * The state of a session: of one session, of all (`--sessions`), or how many entities `--clear` and `--import` changed.
 * @output state
 * @version 1
 * @command rep state --json
 */
export type StateAnswer = SessionState | SessionList | ClearedState | ImportedState;

/** What is valid in a session, and what can run. */
interface SessionState {
  /** The entities, by name. */
  entities: Record<string, Entity>;
  /** The commands that can run. */
  runnable: string[];
}

/** Something that commands create, require and invalidate. */
interface Entity {
  /** Whether it is valid. */
  valid: boolean;
  /** What the command that created it printed. */
  value: string | null;
  /** The command that created it. */
  made_by: string | null;
  /** When it was created. */
  made_at: string | null;
  /** The command that invalidated it. */
  ended_by: string | null;
  /** When it was invalidated. */
  ended_at: string | null;
  /** The value that was persisted last. */
  persisted_value: string | null;
  /** The command that persisted it. */
  persisted_by: string | null;
  /** When it was persisted. */
  persisted_at: string | null;
}

/** The sessions of a skill. */
interface SessionList {
  /** The sessions. */
  sessions: {
    /** Its name. */
    session: string;
    /** How many entities it has. */
    entities: integer;
    /** How many of them are valid. */
    valid: integer;
    /** When it last changed. */
    updated: string;
  }[];
}

/** The result of `--clear`. */
interface ClearedState {
  /** How many entities were removed. */
  cleared: integer;
}

/** The result of `--import`. */
interface ImportedState {
  /** How many entities were imported. */
  imported: integer;
}

/**
 * A session that was exported.
 * @output state-export
 * @version 1
 * @command rep state --export -
 * @file FILE: by `rep state --export FILE`, read by `rep state --import FILE`
 */
export interface SessionExport {
  /** The version of this form. */
  version: integer;
  /** The skill. */
  skill: string;
  /** The session. */
  session: string;
  /** The entities, by name. */
  entities: Record<string, Entity>;
}

/**
 * The workflows of a skill, one of them as a checklist, or with `--run` what its steps came to.
 * @output workflow
 * @version 1
 * @command rep workflow --json
 */
export type WorkflowAnswer = WorkflowList | WorkflowChecklist | WorkflowReport;

/** The workflows of a skill. */
interface WorkflowList {
  /** The workflows. */
  workflows: {
    /** Its name. */
    name: string;
    /** What it does. */
    description: string;
    /** How many steps it has. */
    steps: integer;
  }[];
}

/** A workflow as a checklist. */
interface WorkflowChecklist {
  /** Its name. */
  name: string;
  /** What it does. */
  description: string;
  /** What holds at every step. */
  invariants: string[];
  /** The steps. */
  steps: {
    /** Its number, from 1. */
    step: integer;
    /** Its text. */
    cmd: string;
    /** A remark of the author. */
    note: string | null;
    /** Whether it may be left out. */
    optional: boolean;
    /** The command it calls; null if that is not known before its slots are filled. */
    command: string | null;
    /** The slots to fill. */
    slots: string[];
    /** The entities it requires. */
    requires: string[];
    /** Those that will not be valid by then. */
    missing: string[];
    /** Why it has to be done by hand. */
    by_hand: string | null;
  }[];
}

/** What the steps of a workflow came to. */
interface WorkflowReport {
  /** The workflow. */
  workflow: string;
  /** The session. */
  session: string;
  /** Whether it came to its end. */
  done: boolean;
  /** The steps that were reached. */
  steps: {
    /** Its number, from 1. */
    step: integer;
    /** Its text. */
    cmd: string;
    /** What it came to. */
    outcome: "done" | "skipped" | "by_hand" | "failed";
    /** What it printed: as `rep exec --json`, or an `error` document; null if it did not run. */
    result: ExecResult | ErrorDocument | null;
  }[];
}

/**
 * What the tools of a skill may do, the answer to one question (exit 0 yes, 3 no), or how many approvals were removed.
 * @output policy
 * @version 1
 * @command rep policy --json
 */
export type PolicyAnswer = SkillPolicy | AccessAnswer | ForgottenApprovals;

/** What the tools of a skill may do. */
interface SkillPolicy {
  /** The skill, with its package. */
  skill: string;
  /** The digest of its directory. */
  digest: string;
  /** Whether it is trusted. */
  trusted: boolean;
  /** Why the policy of the operator denies it; null if it does not. */
  denied: string | null;
  /** The directory that patterns are relative to. */
  workspace: string;
  /** The permissions. */
  permissions: Permissions;
  /** The kinds of actions that need confirmation. */
  confirm: Risk[];
  /** What is taken out of the output. */
  redact: Redaction;
  /** The secrets it declares. */
  secrets: {
    /** The variable. */
    name: string;
    /** Whether it runs without the secret. */
    optional: boolean;
    /** Where the secret comes from. */
    source: "environment" | "kept" | "kept for other skills" | "missing";
  }[];
  /** Declarations that are not understood and therefore grant nothing. */
  ignored: string[];
  /** Its tools. */
  tools: {
    /** The name of the tool. */
    name: string;
    /** Its runtime. */
    runtime?: "python" | "node" | "bash" | null;
    /** The file that is run. */
    entrypoint?: string | null;
    /** Its limits. */
    limits?: Limits;
    /** The kinds of actions that it has to ask about. */
    asks?: Risk[];
    /** The author's words for the confirmation. */
    prompt?: string | null;
    /** Whether the user approved it as it is. */
    approved?: boolean;
    /** Why it cannot run. */
    error?: {
      /** The field that is wrong. */
      field: string;
      /** What is wrong with it. */
      message: string;
      /** What to do about it. */
      remedy: string;
    };
  }[];
}

/** The answer to a question about a permission. */
interface AccessAnswer {
  /** Whether it is allowed. */
  allowed: boolean;
  /** The declaration or rule that decides. */
  by: string;
  /** Why. */
  why: string;
}

/** The result of `--forget`. */
interface ForgottenApprovals {
  /** How many approvals were removed. */
  forgotten: integer;
}

/**
 * What ran, with what, for whom, and how it ended.
 * @output audit
 * @version 1
 * @command rep audit --json
 */
export interface AuditRuns {
  /** The runs and the installations of packages, oldest first. */
  runs: (AuditedRun | AuditedInstall)[];
}

/** One run. What its records do not say is left out. */
interface AuditedRun {
  /** How far it came; `cut short` means that its process ended without a record. */
  state: "ended" | "refused" | "running" | "cut short";
  /** When it started. */
  at: string;
  /** Who ran it: the user, or the client and its user. */
  who: string | null;
  /** The user id. */
  uid?: integer;
  /** The skill, with its package. */
  skill: string | null;
  /** The digest of the directory of the skill. */
  digest?: string;
  /** The tool, the command or the test. */
  tool: string | null;
  /** The directory that patterns are relative to. */
  workspace?: string;
  /** The SHA-256 of the arguments, in hexadecimal digits. */
  input_digest?: string;
  /** Whether it ran in the sandbox. */
  sandbox?: boolean;
  /** What it was allowed to do. */
  policy?: RunPolicy;
  /** The provenance that the skill declares. */
  provenance?: DeclaredProvenance;
  /** The id of the run. */
  run: string | null;
  /** How consent was given. */
  consent?: string;
  /** `ok`, or the code of the error. */
  outcome?: string | null;
  /** The message of the error. */
  message?: string | null;
  /** When it ended. */
  ended_at?: string;
  /** The exit code or the signal, in words. */
  exit?: string | null;
  /** The layers of the sandbox, each with what it did. */
  layers?: Record<string, string>;
  /** What it tried and was not allowed to do. */
  denials?: RecordedDenial[];
  /** The number of further denied operations. */
  denials_omitted?: integer;
  /** The files it created or changed. */
  written?: string[];
  /** How long it took, in milliseconds. */
  duration_ms?: integer | null;
  /** The size in bytes of a record that was too large to be kept whole. */
  cut?: integer;
  /** Always null; part of a record that was too large. */
  method?: null;
}

/** Something that a run tried and was not allowed to do. */
interface RecordedDenial {
  /** What it tried. */
  action: string;
  /** What it was tried on. */
  target: string;
  /** The declaration that decides about it. */
  declaration?: string;
  /** The declaration that would allow it, if there is one. */
  suggestion?: string | null;
}

/** An installation of packages for a skill. */
interface AuditedInstall {
  /** Always `install`. */
  state: "install";
  /** When it happened. */
  at: string;
  /** The skill, with its package. */
  skill: string;
  /** Who did it. */
  who: string;
  /** The packages. */
  packages: string[];
  /** The hosts that could be reached. */
  hosts: string[];
}

/**
 * What clients asked a server.
 * @output audit-calls
 * @version 1
 * @command rep audit --calls --json
 */
export interface AuditCalls {
  /** The calls, oldest first. */
  calls: AuditedCall[];
}

/** One call of a client. */
interface AuditedCall {
  /** When it was made. */
  at: string;
  /** Who made it: what the client calls itself. */
  who: string;
  /** The token or the subject that let it in. */
  bearer?: string;
  /** The id of the request. */
  request: string;
  /** The method. */
  method: string;
  /** The tool, address or prompt it is about; empty if it names none. */
  target: string;
  /** The skill it is about. */
  skill?: string;
  /** The SHA-256 of the arguments, in hexadecimal digits. */
  input_digest?: string;
  /** `ok`, `asked`, `task`, or the code of the error. */
  outcome: string;
  /** How long it took, in milliseconds. */
  duration_ms: integer;
  /** The address of the client, for requests with a wrong token. */
  peer?: string;
  /** The number of requests with a wrong token. */
  count?: integer;
}

/**
 * Whether the records are as they were written. Records that were changed exit with 1.
 * @output audit-verify
 * @version 1
 * @command rep audit verify --json
 */
export interface AuditVerdict {
  /** Whether all records are as they were written. */
  intact: boolean;
  /** How many records of runs there are. */
  records: integer;
  /** How many records of calls there are. */
  records_of_calls: integer;
  /** What was edited, removed, reordered or cut off. */
  faults: string[];
  /** What is worth knowing and is not a fault. */
  notes: string[];
}

/**
 * One record of the audit log. Each record holds the hash of the one before.
 * @output audit-record
 * @version 1
 * @lines
 * @file audit.jsonl: in the data directory, a line for each start and end of a run
 * @file calls.jsonl: in the data directory, a line for each call of a client; full files are `calls-NUMBER.jsonl`
 */
export type AuditRecord =
  | StartRecord
  | RefusedRecord
  | EndRecord
  | InstallRecord
  | SourceRecord
  | ServeRecord
  | CallRecord
  | RepairRecord
  | RotationRecord
  | ShortenedRecord;

/** What ties a record to the others. */
interface ChainedRecord {
  /** The version of this form. */
  v: integer;
  /** The number of the record, from 1. */
  seq: integer;
  /** The hash of the record before; 64 zeros for the first. */
  prev: string;
  /** When it was written. */
  at: string;
  /** The SHA-256 of the bytes of the line before `,"hash":`, in hexadecimal digits. */
  hash: string;
}

/** What a record says about a run. */
interface RunSubject extends ChainedRecord {
  /** Who runs it. */
  who: string;
  /** The user id. */
  uid: integer;
  /** The skill, with its package. */
  skill: string;
  /** The digest of the directory of the skill. */
  digest: string;
  /** The tool, the command or the test. */
  tool: string;
  /** The directory that patterns are relative to. */
  workspace: string;
  /** The SHA-256 of the arguments, in hexadecimal digits. */
  input_digest: string;
  /** Whether it runs in the sandbox. */
  sandbox: boolean;
  /** What it is allowed to do. */
  policy: RunPolicy;
  /** The provenance that the skill declares. */
  provenance?: DeclaredProvenance;
  /** The id of the run. */
  run: string;
}

/** A run starts. */
interface StartRecord extends RunSubject {
  /** Always `start`. */
  kind: "start";
  /** How consent was given. */
  consent: string;
  /** The process that runs it. */
  pid: integer;
  /** When that process started, as the system counts. */
  pid_started: string;
}

/** A run was refused. */
interface RefusedRecord extends RunSubject {
  /** Always `refused`. */
  kind: "refused";
  /** The code of the error. */
  outcome: string;
  /** The message of the error. */
  message: string;
}

/** A run ended. */
interface EndRecord extends ChainedRecord {
  /** Always `end`. */
  kind: "end";
  /** The id of the run. */
  run: string;
  /** The skill, with its package. */
  skill: string;
  /** The tool, the command or the test. */
  tool: string;
  /** `ok`, or the code of the error. */
  outcome: string;
  /** The message of the error. */
  message: string | null;
  /** The exit code or the signal, in words. */
  exit: string | null;
  /** The layers of the sandbox, each with what it did. */
  layers: Record<string, string>;
  /** What it tried and was not allowed to do. */
  denials: RecordedDenial[];
  /** The number of further denied operations. */
  denials_omitted?: integer;
  /** The files it created or changed. */
  written: string[];
  /** How long it took, in milliseconds. */
  duration_ms: integer;
}

/** Packages were installed for a skill. */
interface InstallRecord extends ChainedRecord {
  /** Always `install`. */
  kind: "install";
  /** The skill, with its package. */
  skill: string;
  /** Who did it. */
  who: string;
  /** The packages. */
  packages: string[];
  /** The hosts that could be reached. */
  hosts: string[];
}

/** What was done with a source of skills. */
interface SourceRecord extends ChainedRecord {
  /** Always `source`. */
  kind: "source";
  /** Who did it. */
  who: string;
  /** What was done. */
  action: "fetch" | "push" | "refuse" | "verdict";
  /** The address of the source. */
  source: string;
  /** The commit or digest. */
  revision?: string;
  /** The reason of a refusal, or the verdict on a signature. */
  message?: string;
}

/** A server starts. */
interface ServeRecord extends ChainedRecord {
  /** Always `serve`. */
  kind: "serve";
  /** Who started it. */
  who: string;
  /** Its address, or `stdio`. */
  place: string;
  /** The version of `rep`. */
  version: string;
  /** The user id. */
  uid: integer;
  /** The process. */
  pid: integer;
}

/** A client made a call. */
interface CallRecord extends AuditedCall, ChainedRecord {
  /** Always `call`. */
  kind: "call";
}

/** A record that was too large to be kept whole. A field that it does not have is null. */
interface ShortenedRecord extends ChainedRecord {
  /** What the record is. */
  kind: "start" | "refused" | "end" | "install" | "serve" | "call" | "mended";
  /** The size of the whole record, in bytes. */
  cut: integer;
  /** The id of the run. */
  run: string | null;
  /** Who ran it. */
  who: string | null;
  /** The method of a call. */
  method: string | null;
  /** The skill, with its package. */
  skill: string | null;
  /** The tool, the command or the test. */
  tool: string | null;
  /** `ok`, or the code of the error. */
  outcome: string | null;
  /** How long it took, in milliseconds. */
  duration_ms: integer | null;
}

/** The first record of a file that continues a full one. */
interface RotationRecord extends ChainedRecord {
  /** Always `rotated`. */
  kind: "rotated";
  /** The name of the full file. */
  file: string;
  /** The number of its last record. */
  last: integer;
}

/** The file ended in a record that was not complete. */
interface RepairRecord extends ChainedRecord {
  /** Always `mended`. */
  kind: "mended";
  /** How many bytes do not belong to a record. */
  bytes: integer;
  /** Their SHA-256, in hexadecimal digits. */
  digest: string;
  /** Whether the file with the last hash was missing. */
  is_headless: boolean;
  /** Whether the bytes were written by something other than `rep`. */
  is_foreign: boolean;
}

/**
 * The last record of an audit log, so that a log that was cut off is found.
 * @output audit-head
 * @version 1
 * @file audit.head: in the data directory, beside `audit.jsonl`
 * @file calls.head: in the data directory, beside `calls.jsonl`
 */
export interface AuditHead {
  /** The version of this form. */
  v: integer;
  /** The number of the last record. */
  seq: integer;
  /** The hash of the last record. */
  hash: string;
  /** The size of the log, in bytes. */
  bytes: integer;
}

/**
 * What `set`, `list`, `key` and `rm` did. Values are never printed.
 * @output secrets
 * @version 1
 * @command rep secrets set --json
 * @command rep secrets list --json
 * @command rep secrets key --json
 * @command rep secrets rm --json
 */
export type SecretsAnswer = SecretSet | SecretList | SecretKey | SecretRemoved;

/** The result of `set`. */
interface SecretSet {
  /** The variable. */
  set: string;
  /** The skills that may have it; empty for all. */
  for: string[];
  /** Where the key is that seals it. */
  key: "keyring" | "file";
}

/** The result of `list`. */
interface SecretList {
  /** The secrets. */
  secrets: {
    /** The variable. */
    name: string;
    /** The skills that may have it; empty for all. */
    for: string[];
  }[];
}

/** The result of `key`. */
interface SecretKey {
  /** Where the key is; null if there is none yet. */
  key: "keyring" | "file" | null;
  /** Whether it was moved. */
  moved?: boolean;
}

/** The result of `rm`. */
interface SecretRemoved {
  /** The variable; null if there was none. */
  removed: string | null;
}

/**
 * The secrets of a user, sealed.
 * @output secrets-file
 * @version 1
 * @file secrets.json: in the data directory
 */
export interface SecretsFile {
  /** The version of this form. */
  version: integer;
  /** The cipher. */
  cipher: "xchacha20-poly1305";
  /** The secrets, by variable. */
  secrets: Record<string, {
    /** The nonce, in hexadecimal digits. */
    nonce: string;
    /** The sealed value, in hexadecimal digits. */
    sealed: string;
    /** The skills that may have it; all if it is left out. */
    for?: string[];
  }>;
  /** Where the key is, if it is in the keyring. */
  key?: {
    /** The id of the key in the keyring. */
    keyring: string;
  };
}

/**
 * What `new`, `list` and `revoke` did.
 * @output token
 * @version 1
 * @command rep token new --json
 * @command rep token list --json
 * @command rep token revoke --json
 */
export type TokenAnswer = TokenMade | TokenList | TokenRevoked;

/** A named token of the server. */
interface NamedToken {
  /** Its name. */
  name: string;
  /** What it allows. */
  scopes: ("read" | "run" | "admin")[];
  /** The patterns of the skills that exist for it; empty for all. */
  skills: string[];
  /** When it was made. */
  created: string;
  /** When it expires; null if it does not. */
  expires: string | null;
}

/** The result of `new`. */
interface TokenMade extends NamedToken {
  /** The token, which is not shown again. */
  token: string;
}

/** The result of `list`. */
interface TokenList {
  /** The tokens, sorted by name. */
  tokens: NamedToken[];
}

/** The result of `revoke`. */
interface TokenRevoked {
  /** The name of the token; null if there was none. */
  revoked: string | null;
}

/**
 * The named tokens of a user.
 * @output tokens-file
 * @version 1
 * @file tokens.json: in the data directory
 */
export interface TokensFile {
  /** The version of this form. */
  version: integer;
  /** The tokens. */
  tokens: {
    /** Its name. */
    name: string;
    /** The highest scope that it allows. */
    scope: "read" | "run" | "admin";
    /** The patterns of the skills that exist for it; empty for all. */
    skills: string[];
    /** When it was made. */
    created: string;
    /** When it expires; null if it does not. */
    expires: string | null;
    /** The SHA-256 of the token, in hexadecimal digits. */
    digest: string;
  }[];
}

/**
 * The calls that run in the background, or one of them.
 * @output tasks
 * @version 1
 * @command rep tasks list --json
 * @command rep tasks get --json
 * @command rep tasks cancel --json
 */
export type TasksAnswer = TaskList | Task;

/** The tasks there are. */
interface TaskList {
  /** The tasks, oldest first. */
  tasks: Task[];
}

/** A call that runs in the background. */
interface Task {
  /** Its id. */
  id: string;
  /** The skill, with its package. */
  skill: string;
  /** The tool. */
  tool: string;
  /** Its status; `lost` means that its process ended without a result. */
  status: "running" | "done" | "failed" | "cancelled" | "lost";
  /** Whether somebody asked for it to be cancelled. */
  cancel_requested: boolean;
  /** What it came to: the result object of the tool, or an `error` document; null while it runs. */
  result: Record<string, unknown> | null;
  /** When it was created. */
  created_at: string;
  /** When it last changed. */
  updated_at: string;
  /** The process that runs it. */
  pid: integer;
}

/**
 * The packages that the tools of a skill declare, and with `--install` where they were installed.
 * @output deps
 * @version 1
 * @command rep deps --json
 */
export interface Packages {
  /** The skill, with its package. */
  skill: string;
  /** Its tools. */
  tools: {
    /** The name of the tool. */
    name: string;
    /** Python packages. */
    pip: string[];
    /** Node packages. */
    npm: string[];
    /** Programs of the system. */
    system: string[];
    /** What the author says about them. */
    notes: string | null;
  }[];
  /** With `--install`, what was installed. */
  installed?: {
    /** The runtime. */
    runtime: "python" | "node" | "bash";
    /** The packages. */
    packages: string[];
    /** Where they are. */
    folder: string;
  }[];
}

/**
 * The approvals of a user that last.
 * @output approvals-file
 * @version 1
 * @file approvals.json: in the data directory
 */
export interface ApprovalsFile {
  /** The version of this form. */
  version: integer;
  /** The approvals, by the digest of what was approved. */
  approvals: Record<string, {
    /** The skill, with its package. */
    skill: string;
    /** The tool or the command. */
    tool: string;
    /** The directory that patterns are relative to. */
    workspace: string;
    /** When it was approved. */
    at: string;
    /** For a tool of an MCP server: the SHA-256 digest of what the server said about it. */
    definition?: string;
  }>;
}

/**
 * What the user grants to skills that cannot declare it.
 * @output grants-file
 * @version 1
 * @file grants.json: in the data directory
 */
export interface GrantsFile {
  /** The version of this form. */
  version: integer;
  /** The grants, by the digest of the skill. */
  grants: Record<string, {
    /** The skill. */
    skill: string;
    /** When it was granted. */
    at: string;
    /** The permissions. */
    permissions: Permissions;
    /** The secrets. */
    secrets: string[];
  }>;
}

// ---------------------------------------------------------------- Hosts and packages

/**
 * Every known host, or one of them.
 * @output hosts
 * @version 1
 * @command rep hosts --json
 */
export type HostsAnswer = HostList | KnownHost;

/** Every known host. */
interface HostList {
  /** The hosts. */
  hosts: KnownHost[];
}

/** What is known about a host. */
interface KnownHost {
  /** Its id. */
  id: string;
  /** Its name. */
  name: string;
  /** The directories it reads. */
  folders?: SourcedPath[];
  /** How deep it searches. */
  depth?: {
    /** The number of levels. */
    value: integer;
    /** Where this is documented. */
    source: string;
    /** When that was last checked. */
    checked: string;
  };
  /** What it does with two skills of the same name. */
  collisions?: {
    /** What it does, in words. */
    value: string;
    /** Where this is documented. */
    source: string;
    /** When that was last checked. */
    checked: string;
  };
  /** Whether it lists the skills of a project only after the project is trusted. */
  asks_for_trust?: {
    /** Whether it does. */
    value: boolean;
    /** Where this is documented. */
    source: string;
    /** When that was last checked. */
    checked: string;
  };
  /** How it differs from what `rep list --host` predicts. */
  differs?: string[];
  /** What `rep export` writes for it. */
  export?: {
    /** The id that `rep export --host` takes. */
    id: string;
    /** What the host takes. */
    takes: "folders" | "upload" | "tools" | "collection";
    /** The fields of the frontmatter that it reads. */
    fields: string[];
    /** Where this is documented. */
    source: string;
    /** When that was last checked. */
    checked: string;
  };
  /** How completely it supports skills, as Universal 2.1 defines it. */
  level?: {
    /** `L0` needs an adapter, `L1` discovers, `L2` loads on demand, `L3` runs tools. */
    value: "L0" | "L1" | "L2" | "L3";
    /** Why it has this level. */
    reason: string;
    /** Where this is documented. */
    source: string;
    /** When that was last checked. */
    checked: string;
  };
  /** Its limits. */
  limits?: HostLimit[];
  /** Other facts: headers, containers, paused answers, files, versions, settings, approvals and schemas. */
  facts?: HostFact[];
  /** Its MCP settings, which `rep serve --print-config` prints. */
  mcp?: {
    /** The file. */
    file: string;
    /** The format of the file. */
    format: "json" | "toml" | "yaml";
    /** Where this is documented. */
    source: string;
    /** When that was last checked. */
    checked: string;
  };
}

/** A limit of a host. */
interface HostLimit {
  /** What is limited. */
  subject: string;
  /** The largest value. */
  value: integer;
  /** Whether the host enforces it today. */
  is_current: boolean;
  /** Where this is documented. */
  source: string;
  /** When that was last checked. */
  checked: string;
}

/** A fact about a host. */
interface HostFact {
  /** The subject. */
  topic: "headers" | "container" | "continuation" | "files" | "versions" | "configuration" | "approvals" | "schemas";
  /** The fact. */
  text: string;
  /** Whether it is true today. */
  is_current: boolean;
  /** Where this is documented. */
  source: string;
  /** When that was last checked. */
  checked: string;
}

/**
 * Skills in the shape of a host, with what that shape loses: the directories that were written, or the host's own
 * document.
 * @output export
 * @version 1
 * @command rep export --json
 * @file FILE: by `rep export --host HOST --out FILE`, for a host that takes a document
 */
export type ExportAnswer =
  | ExportedFolders
  | OpenAiTools
  | AnthropicTools
  | GeminiTools
  | McpCatalogue
  | OpenApiDocument;

/** What a shape cannot hold. */
interface Loss {
  /** `error` if the skill was refused, `warning` if something is lost, `info` otherwise. */
  level: "error" | "warning" | "info";
  /** The field or file it is about. */
  at: string;
  /** What is lost. */
  message: string;
  /** What to do about it. */
  help: string | null;
}

/** The directories that were written. */
interface ExportedFolders {
  /** The host. */
  host: string;
  /** The directories and archives; empty if the export was refused. */
  written: string[];
  /** What is lost. */
  losses: Loss[];
  /** The body of a request that uses the uploaded skills. */
  request?: Record<string, unknown>;
  /** The calls that upload the skills, use them, continue a paused answer, and download files. */
  calls?: ApiCall[];
  /** What is known about the headers, with sources and dates. */
  notes?: string[];
}

/** A call of an API. */
interface ApiCall {
  /** The name of the call. */
  name: "upload" | "message" | "continue" | "download";
  /** What it does. */
  purpose: string;
  /** The method. */
  method: "GET" | "POST";
  /** The address. */
  url: string;
  /** The headers, with `$NAME` in the place of secrets. */
  headers: Record<string, string>;
  /** The files that are uploaded. */
  files?: string[];
  /** The body. */
  body?: Record<string, unknown>;
}

/** Tools for the API of OpenAI. Without `--json`, `losses` is left out. */
interface OpenAiTools {
  /** The tools. */
  tools: {
    /** Always `function`. */
    type: "function";
    /** The name of the function. */
    name: string;
    /** What it does. */
    description: string;
    /** Whether the arguments match the schema exactly. */
    strict: boolean;
    /** The arguments. */
    parameters: JsonSchema;
  }[];
  /** What is lost. */
  losses?: Loss[];
}

/** Tools for the API of Anthropic. Without `--json`, `losses` is left out. */
interface AnthropicTools {
  /** The tools. */
  tools: {
    /** The name of the tool. */
    name: string;
    /** What it does. */
    description: string;
    /** The arguments. */
    input_schema: JsonSchema;
    /** Whether the arguments match the schema exactly. */
    strict: boolean;
  }[];
  /** What is lost. */
  losses?: Loss[];
}

/** Tools for the API of Gemini. Without `--json`, `losses` is left out. */
interface GeminiTools {
  /** One group of functions. */
  tools: {
    /** The functions. */
    functionDeclarations: {
      /** The name of the function. */
      name: string;
      /** What it does. */
      description: string;
      /** The arguments. */
      parametersJsonSchema: JsonSchema;
    }[];
  }[];
  /** What is lost. */
  losses?: Loss[];
}

/** Tools and resources as an MCP server lists them. Without `--json`, `losses` is left out. */
interface McpCatalogue {
  /** The tools, as MCP defines them. */
  tools: Record<string, unknown>[];
  /** The resources, as MCP defines them. */
  resources: Record<string, unknown>[];
  /** What skills depend on. */
  catalog?: {
    /** The ids that each skill depends on. */
    depends_on: Record<string, string[]>;
  };
  /** What is lost. */
  losses?: Loss[];
}

/** An OpenAPI 3.1 document, as that standard defines it. Without `--json`, `losses` is left out. */
interface OpenApiDocument {
  /** The version of OpenAPI. */
  openapi: string;
  /** The title and the version. */
  info: Record<string, unknown>;
  /** The dialect of the schemas. */
  jsonSchemaDialect: string;
  /** The skills. */
  tags: Record<string, unknown>[];
  /** The tools, by path. */
  paths: Record<string, unknown>;
  /** Schemas that the paths use. */
  components: Record<string, unknown>;
  /** What is lost. */
  losses?: Loss[];
}

/**
 * What was installed, or with `--dry-run` would be.
 * @output install
 * @version 1
 * @command rep install --json
 */
export interface Installation {
  /** Whose skills they are. */
  scope: InstallScope;
  /** The lock file. */
  lock: string;
  /** Whether nothing was done. */
  dry_run: boolean;
  /** The skills that were removed, because no installed skill requires them any longer. */
  removed: string[];
  /** The skills. */
  skills: {
    /** The name of the skill. */
    name: string;
    /** What was done. */
    state: "installed" | "updated" | "already installed";
    /** The digest of its files. */
    digest: string;
    /** How many files it has. */
    files: integer;
    /** What the new code needs, and the installed code does not. */
    capabilities_added: {
      /** The kind of capability. */
      kind: "read" | "write" | "connect" | "spawn" | "env" | "secrets";
      /** The path, host, program or name. */
      argument: string;
    }[];
    /** The hosts it is installed for. */
    hosts: string[];
    /** The accepted signature; null without one. */
    signature: {
      /** The kind of signature. */
      kind: "model-signing" | "cosign";
      /** The trusted signer who made it. */
      signer: string | null;
      /** The name in the signer's certificate. */
      subject: string | null;
      /** What names the key. */
      key: string | null;
    } | null;
    /** Where it was installed. */
    places: {
      /** The path. */
      path: string;
      /** Where the link leads; null for a directory. */
      link: string | null;
    }[];
  }[];
}

/** Whose skills are meant. */
type InstallScope = "project" | "personal";

/**
 * What was removed.
 * @output remove
 * @version 1
 * @command rep remove --json
 */
export interface Removal {
  /** Whose skills they are. */
  scope: InstallScope;
  /** The paths that were removed. */
  removed: string[];
}

/**
 * Whether the sources of installed skills have another version. Anything but `current` exits with 1.
 * @output outdated
 * @version 1
 * @command rep outdated --json
 */
export interface SourceComparisons {
  /** Whose skills they are. */
  scope: InstallScope;
  /** The skills. */
  skills: {
    /** The name of the skill. */
    name: string;
    /** How it compares with its source. */
    state: "current" | "outdated" | "gone" | "unknown";
    /** The source. */
    source: string;
    /** Why; empty if it is current. */
    why: string;
    /** What the new code needs, and the installed code does not. */
    capabilities_added: {
      /** The kind of capability. */
      kind: "read" | "write" | "connect" | "spawn" | "env" | "secrets";
      /** The path, host, program or name. */
      argument: string;
    }[];
  }[];
}

/**
 * What was pushed to a registry.
 * @output push
 * @version 1
 * @command rep push --json
 */
export interface PushedArtifacts {
  /** The skills, or the collection. */
  artifacts: {
    /** The name of the skill or the collection. */
    name: string;
    /** Where it is: `oci://HOST/REPOSITORY:TAG`. */
    reference: string;
    /** The digest of its manifest. */
    digest: string;
    /** Whether it was signed. */
    signed: boolean;
  }[];
}

/**
 * Whether every place is as the lock file says, and what was restored.
 * @output sync
 * @version 1
 * @command rep sync --json
 */
export interface Synchronization {
  /** Whose skills they are. */
  scope: InstallScope;
  /** Whether places were only compared. */
  check: boolean;
  /** The skills. */
  skills: {
    /** The name of the skill. */
    name: string;
    /** What was done, or with `--check` would be. `pruned`: the lock file no longer names it. */
    state: "current" | "restored" | "pruned" | "failed";
    /** The first difference, or why it failed. */
    why: string;
    /** The code of the error; null unless it failed. */
    code: string | null;
    /** The places that were, or with `--check` would be, written or removed. */
    places: string[];
  }[];
}

/**
 * What the sources of installed skills have now.
 * @output update
 * @version 1
 * @command rep update --json
 */
export interface Updates {
  /** Whose skills they are. */
  scope: InstallScope;
  /** The skills. */
  skills: {
    /** The name of the skill. */
    name: string;
    /** `updated` if the new content was installed, `available` if it only could be. */
    state: "current" | "available" | "updated" | "pinned" | "gone" | "unknown";
    /** The source. */
    source: string;
    /** Why the source could not be read; otherwise empty. */
    why: string;
    /** The files that differ. */
    files: {
      /** The path in the skill. */
      path: string;
      /** How it differs. */
      change: "added" | "changed" | "removed";
    }[];
    /** What the new code needs, and the installed code does not. */
    capabilities_added: {
      /** The kind of capability. */
      kind: "read" | "write" | "connect" | "spawn" | "env" | "secrets";
      /** The path, host, program or name. */
      argument: string;
    }[];
  }[];
}

/**
 * The skills whose pin changed.
 * @output pin
 * @version 1
 * @command rep pin --json
 * @command rep unpin --json
 */
export interface PinnedSkills {
  /** Whose skills they are. */
  scope: InstallScope;
  /** The skills whose pin changed. */
  changed: string[];
}

/**
 * Whether installed skills are as they were installed. A difference exits with 1.
 * @output verify
 * @version 1
 * @command rep verify --json
 */
export interface Verification {
  /** Whose skills they are. */
  scope: InstallScope;
  /** The skills. */
  skills: {
    /** The name of the skill. */
    name: string;
    /** Whether it is as it was installed. */
    ok: boolean;
    /** What differs. */
    problems: {
      /** The kind of the difference. */
      kind: "broken" | "changed" | "extra" | "missing" | "signature" | "unfit" | "unknown" | "unreadable";
      /** The path. */
      path: string;
      /** What differs. */
      message: string;
    }[];
    /** What the new code needs, and the installed code does not. */
    capabilities_added: {
      /** The kind of capability. */
      kind: "read" | "write" | "connect" | "spawn" | "env" | "secrets";
      /** The path, host, program or name. */
      argument: string;
    }[];
    /** The signature; null without one. */
    signature: {
      /** The kind of signature. */
      kind?: "model-signing" | "cosign";
      /** What is known about it: `refused` if the skill must not be used. */
      verdict: "valid" | "unknown-signer" | "unchecked" | "refused";
      /** The trusted signer who made it. */
      signer?: string | null;
      /** The name in the signer's certificate. */
      subject?: string | null;
      /** What names the key. */
      key?: string | null;
      /** The code of the refusal. */
      code?: string;
      /** Why it was refused or not checked. */
      reason: string | null;
    } | null;
  }[];
}

/**
 * Whether the signature of a directory is right. Anything else than a valid one exits with 1.
 * @output verify-signature
 * @version 1
 * @command rep verify --signature DIR --json
 */
export interface SignatureVerification {
  /** The directory. */
  path: string;
  /** Whether it has a signature. */
  signed: boolean;
  /** Whether the signature is valid. */
  ok: boolean;
  /** The kind of signature. */
  kind?: "model-signing" | "cosign";
  /** What is known about it. */
  verdict?: "valid" | "unknown-signer" | "unchecked" | "invalid";
  /** The trusted signer who made it. */
  signer?: string | null;
  /** The name in the signer's certificate. */
  subject?: string | null;
  /** What names the key. */
  key?: string | null;
  /** Why it is wrong or was not checked. */
  reason?: string | null;
}

/**
 * A key pair that was made.
 * @output key
 * @version 1
 * @command rep key new --json
 */
export interface NewKey {
  /** The file with the private key. */
  private: string;
  /** The file with the public key. */
  public: string;
  /** The digest of the public key. */
  fingerprint: string;
}

/**
 * A skill that was signed.
 * @output sign
 * @version 1
 * @command rep sign --json
 */
export interface SignedSkill {
  /** The name of the skill. */
  name: string;
  /** The file with the signature. */
  signature: string;
  /** The number of files that it covers. */
  files: integer;
}

/**
 * The signers that the user trusts.
 * @output trust-signer
 * @version 1
 * @command rep trust signer --json
 */
export interface TrustedSignerList {
  /** The signers. */
  signers: {
    /** The name that the user gave. */
    name: string;
    /** What identifies the key or the certificates. */
    root: string;
    /** The patterns of sources. */
    for: string[];
    /** Whether skills from these sources must be signed. */
    require: boolean;
  }[];
}

/**
 * The signers that a user trusts.
 * @output signers-file
 * @version 1
 * @file signers.json: in the configuration directory
 */
export interface SignersFile {
  /** The version of this form. */
  version: 1;
  /** The signers, by name. */
  signers: Record<string, {
    /** The patterns of sources. */
    for: string[];
    /** Whether skills from these sources must be signed. */
    require: boolean;
    /** The public key, or the certificates. */
    pem: string;
  }>;
}

/**
 * What was done with sources of skills.
 * @output audit-sources
 * @version 1
 * @command rep audit --sources --json
 */
export interface SourceRecordList {
  /** The records, the oldest first. */
  sources: {
    /** When it was done. */
    at: string;
    /** Who did it. */
    who: string;
    /** What was done. */
    action: "fetch" | "push" | "refuse" | "verdict";
    /** The address of the source. */
    source: string;
    /** The commit or digest. */
    revision?: string;
    /** The reason of a refusal, or the verdict on a signature. */
    message?: string;
  }[];
}

/**
 * What is cached, or what was removed.
 * @output cache
 * @version 1
 * @command rep cache list --json
 * @command rep cache clean --json
 */
export interface CacheContent {
  /** The directory of the caches. */
  folder: string;
  /** The size of everything that is left. */
  bytes: integer;
  /** The size of what was removed, by `rep cache clean`. */
  removed?: integer;
  /** The caches. */
  entries: {
    /** What it is. */
    kind: "blob" | "content" | "git" | "followed";
    /** A digest, or the address of a repository. */
    name: string;
    /** Its size. */
    bytes: integer;
    /** When it was last written. */
    used: string;
  }[];
}

/**
 * A bill of materials of installed skills. The schema of CycloneDX 1.6 describes the rest.
 * @output sbom
 * @version 1
 * @command rep sbom --json
 */
export interface BillOfMaterials {
  /** The schema of CycloneDX. */
  $schema: string;
  /** Always `CycloneDX`. */
  bomFormat: "CycloneDX";
  /** Always `1.6`. */
  specVersion: "1.6";
  /** A UUID that depends on the content only. */
  serialNumber: string;
  /** Always 1. */
  version: integer;
  /** The program and what is described. */
  metadata: Record<string, unknown>;
  /** The skills, with their files. */
  components: Record<string, unknown>[];
  /** Which skill requires which. */
  dependencies: Record<string, unknown>[];
}

/**
 * The installed skills, in the form of the npm tool `skills` with one field more. What other tools write there is kept.
 * @output lock-file
 * @version 1
 * @file skills-lock.json: in a project, or for a user in the configuration directory
 */
export interface LockFile {
  /** The version of this form. */
  version: 1;
  /** The skills, by name. */
  skills: Record<string, {
    /** The source: a path relative to the lock file, or a name for an address. */
    source: string;
    /** The address of the source. */
    sourceUrl?: string;
    /** The branch, tag or commit that was asked for. */
    ref?: string;
    /** The kind of the source. */
    sourceType: string;
    /** The path of the SKILL.md in the source. */
    skillPath?: string;
    /** The hash that the npm tool compares. */
    computedHash: string;
    /** The digest that an index gave. */
    wellKnownDigest?: string;
    /** What `rep` adds; missing if another tool wrote the entry. */
    rep?: {
      /** The digest of all files. */
      digest: string;
      /** The digest of each file, by path. */
      files: Record<string, string>;
      /** The hosts it is installed for. */
      hosts: string[];
      /** Where it was installed. */
      places: {
        /** The path. */
        path: string;
        /** Where the link leads; left out for a directory. */
        link?: string;
      }[];
      /** Whether hosts share one copy. */
      mode: "link" | "copy";
      /** When it was installed. */
      installed: string;
      /** The commit it came from. */
      commit?: string;
      /** The digest of the manifest in a registry. */
      manifest?: string;
      /** The range of versions that was asked for. */
      wanted?: string;
      /** The version that it declares. */
      version?: string;
      /** The installed skills that require it. */
      requiredBy?: string[];
      /** Set if it was installed only because other skills require it. */
      dependency?: true;
      /** Set if updates skip it. */
      pinned?: true;
      /** The signature, as it was when the skill was installed. */
      signature?: {
        /** The kind of signature. */
        kind: "model-signing" | "cosign";
        /** What names the key, or the certificate nearest to the root. */
        key?: string;
        /** The name in the signer's certificate. */
        subject?: string;
        /** The trusted signer who made it. */
        signer?: string;
      };
      /** What its code needs. */
      capabilities?: {
        /** The digest of all of it. */
        digest: string;
        /** The files that it reads. */
        read?: string[];
        /** The files that it writes. */
        write?: string[];
        /** The hosts that it connects to. */
        connect?: string[];
        /** The programs that it starts. */
        spawn?: string[];
        /** The variables that it reads. */
        env?: string[];
        /** The secrets that it reads. */
        secrets?: string[];
      };
    };
  }>;
}

/**
 * The index of skills that `rep install https://HOST` reads, version 0.2.0 of that format.
 * @output index-file
 * @version 1
 * @file .well-known/agent-skills/index.json: by `rep export --host well-known`
 */
export interface IndexFile {
  /** The address of the schema of that format. */
  "$schema": string;
  /** The skills. */
  skills: {
    /** The name of the skill. */
    name: string;
    /** Whether the address leads to an archive or to a SKILL.md. */
    type: "archive" | "skill-md";
    /** Its description. */
    description: string;
    /** Its address, relative to the index. */
    url: string;
    /** The digest of what is at the address. */
    digest: string;
  }[];
}

/**
 * What a user trusts and what is disabled.
 * @output decisions-file
 * @version 1
 * @file decisions.json: in the configuration directory
 */
export interface DecisionsFile {
  /** The version of this form. */
  version: integer;
  /** The trusted projects, by path: the digest of each skill, by its directory. */
  trusted: Record<string, Record<string, string>>;
  /** The disabled skills, by project; `*` is for all projects. */
  disabled: Record<string, string[]>;
}

/**
 * One request to a server, as it is logged to stderr.
 * @output serve-log
 * @version 1
 * @lines
 * @command rep serve --log json
 */
export interface LoggedRequest {
  /** When it was answered. */
  at: string;
  /** The id of the request. */
  request: string;
  /** The HTTP method. */
  method?: string;
  /** The path of the address. */
  path?: string;
  /** The HTTP status. */
  status?: integer;
  /** How long it took, in milliseconds. */
  ms?: number;
  /** The method of MCP. */
  mcp?: string;
  /** The id of the MCP request. */
  id?: string;
}
