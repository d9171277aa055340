/**
 * The methods of `rep api`: JSON-RPC 2.0, one object on each line. `cargo xtask gen` makes docs/reference/api.md, the types of
 * the Python package and those of the npm package from this file and from outputs.d.ts, whose documents are most results.
 *
 * An interface with `@method` has the parameters of a method, and `@result` names its result. `@notification` and
 * `@request` mark what the server sends.
 */

/** What every method that reads a library takes. */
interface LibraryParams {
  /** The library; without it, the one of the command line. */
  library?: LibrarySelection;
}

/** The options that select a library. Each set of options has one library, which stays open. */
interface LibrarySelection {
  /** Use only the skills at these paths, and trust them. */
  paths?: string[];
  /** Discover project skills here. */
  project?: string;
  /** Discover personal skills in this home directory. */
  home?: string;
  /** Discover managed skills here. */
  managed?: string;
  /** Which scope wins if several skills have the same name. */
  precedence?: "project-first" | "claude-code";
  /** Trust the project's skills. */
  trust?: boolean;
  /** Load skills that their dialect calls invalid. */
  lenient?: boolean;
  /** Only active skills exist, as for a model: hidden and untrusted ones cannot be read, queried or run. */
  for_model?: boolean;
}

/**
 * Names the client, and returns what the server can do. No other method needs it.
 * @method hello
 * @result Hello
 */
interface HelloParams {
  /** The name of the client, for the audit log. */
  client?: string;
}

/** What the server can do. */
interface Hello {
  /** Always `rep`. */
  name: "rep";
  /** The version of the program. */
  version: string;
  /** The version of the protocol. */
  protocol: integer;
  /** The methods. */
  methods: string[];
  /** The maximum length of a line. */
  line_bytes_max: integer;
}

/**
 * Lists the skills, as `rep list` does.
 * @method list
 * @result SkillList
 */
interface ListParams extends LibraryParams {}

/**
 * Shows everything about one skill, as `rep show` does.
 * @method show
 * @result ShownSkill
 */
interface ShowParams extends LibraryParams {
  /** The skill. */
  skill: string;
}

/**
 * Renders the catalog for a model's context, as `rep prompt` does.
 * @method prompt
 * @result PromptResult
 */
interface PromptParams extends LibraryParams {
  /** The format; XML without it. */
  style?: "xml" | "json" | "markdown" | "manifest";
  /** Use at most this many tokens. */
  budget?: integer;
  /** Omit file locations. */
  no_location?: boolean;
}

/** The catalog for a model's context. */
interface PromptResult {
  /** The text; empty if no skill is active. */
  text: string;
  /** The skills in it, by qualified name. */
  skills: string[];
  /** The description of each of these skills in the catalog: complete, shortened or empty. */
  descriptions: string[];
  /** How many tokens it has; null without a budget. */
  tokens: integer | null;
  /** How many tokens everything would have; null without a budget. */
  wanted: integer | null;
  /** Skills whose description was shortened. */
  shortened: string[];
  /** Skills of which only the name is left. */
  without_description: string[];
  /** Skills that did not fit. */
  dropped: string[];
}

/**
 * Reads a skill for a model, or one of its files, as `rep read` does.
 * @method read
 * @result ReadResult
 */
interface ReadParams extends LibraryParams {
  /** The skill. */
  skill: string;
  /** A file of the skill, relative to its directory. */
  file?: string;
}

/** The text of a skill, or one of its files. */
interface ReadResult {
  /** The skill. */
  name: string;
  /** The file, if one was asked for. */
  file?: string;
  /** The size of the file. */
  size_bytes?: integer;
  /** The text; absent if the file is not text. */
  text?: string;
  /** The bytes of a file that is not text. */
  base64?: string;
}

/**
 * Searches the skills, as `rep search` does. The results are empty if no skill fits.
 * @method search
 * @result SearchResults
 */
interface SearchParams extends LibraryParams {
  /** The text. */
  text: string;
  /** The maximum number of results; 10 without it. */
  limit?: integer;
  /** The score that the first skill must have. */
  min_score?: number;
}

/**
 * Selects the skills whose triggers match, as `rep select` does.
 * @method select
 * @result SelectedSkills
 */
interface SelectParams extends LibraryParams {
  /** The user's request. */
  text: string;
  /** The files that it is about. */
  files?: string[];
  /** The intents that the host detected. */
  intents?: string[];
  /** Skills to select regardless of their score. */
  skills?: string[];
  /** The minimum score. */
  threshold?: integer;
  /** Also select by score if a skill is named. */
  also_scored?: boolean;
  /** What to select if no trigger matches. */
  fallback?: "none" | "search";
}

/**
 * Answers a query, as `rep query` does. A query that finds nothing has a result with `found: false`.
 * @method query
 * @result QueryAnswer
 */
interface QueryParams extends LibraryParams {
  /** The query. */
  query: string;
  /** Also compare the cost of the answer with that of the file. */
  tokens?: boolean;
}

/**
 * Answers a common question, as `rep ask` does.
 * @method ask
 * @result Answer
 */
interface AskParams extends LibraryParams {
  /** The skill. */
  skill: string;
  /** The question. */
  question: "can" | "how" | "when" | "syntax";
  /** What it is about. */
  about: string;
}

/**
 * Checks skills, as `rep check` does.
 * @method check
 * @result CheckReport
 */
interface CheckParams extends LibraryParams {
  /** What to check; without it, the paths of the library, or its project. */
  paths?: string[];
  /** The profiles. */
  profiles?: string[];
  /** Run only these rules. */
  select?: string[];
  /** Skip these rules. */
  ignore?: string[];
  /** Apply the published UASP schema literally. */
  strict_schema?: boolean;
  /** Send `progress`. */
  progress?: boolean;
}

/**
 * Shows what skills do and what is dangerous about it, as `rep scan` does. Nothing runs.
 * @method scan
 * @result ScanReport
 */
interface ScanParams extends LibraryParams {
  /** What to scan; without it, the paths of the library, or its project. */
  paths?: string[];
  /** Send `progress`. */
  progress?: boolean;
}

/**
 * Returns the effective tools of a skill, as `rep tools` does.
 * @method tools
 * @result EffectiveTools
 */
interface ToolsParams extends LibraryParams {
  /** The skill. */
  skill: string;
}

/** What every run takes. */
interface RunOptions extends LibraryParams {
  /** The skill. */
  skill: string;
  /** The directory that permission patterns are relative to; the project without it. */
  workspace?: string;
  /** Stop the run after this many seconds. */
  timeout?: integer;
  /** Whether the client agrees to a run that needs confirmation: yes, no (without it), or answer `confirm`. */
  approve?: boolean | "ask";
  /** For whom the run is, for the audit log. */
  caller?: Caller;
  /** Return the plan and run nothing. */
  dry_run?: boolean;
  /** Send `progress` when the run starts. */
  progress?: boolean;
}

/** For whom a run is. */
interface Caller {
  /** The framework. */
  framework: string;
  /** The agent. */
  agent?: string;
  /** The id of the call. */
  call?: string;
}

/**
 * Runs a tool in the sandbox, as `rep run` does.
 * @method run
 * @result RunAnswer
 */
interface RunParams extends RunOptions {
  /** The tool. */
  tool: string;
  /** Its arguments. */
  input?: unknown;
}

/**
 * Runs a bundled script in the sandbox, as `rep run --script` does. A script that fails has a result.
 * @method run_script
 * @result ScriptAnswer
 */
interface RunScriptParams extends RunOptions {
  /** The file, relative to the skill's directory. */
  script: string;
  /** Its arguments; no shell is involved. */
  args?: string[];
}

/** What came of a run. With `dry_run`, only `plan` is there. */
interface RunAnswer {
  /** The result of the tool. */
  result?: unknown;
  /** The exit code of `rep run`. */
  exit?: integer;
  /** How it went. */
  meta?: RunMetadata;
  /** What would run. */
  plan?: Record<string, unknown>;
}

/** What came of a script. With `dry_run`, only `plan` is there. */
interface ScriptAnswer {
  /** What the script printed and how it ended. */
  result?: ScriptResult;
  /** The exit code of `rep run --script`. */
  exit?: integer;
  /** How it went. */
  meta?: RunMetadata;
  /** What would run. */
  plan?: Record<string, unknown>;
}

/**
 * Shows what the tools of a skill may do, or answers one question, as `rep policy` does.
 * @method policy
 * @result PolicyReport
 */
interface PolicyParams extends LibraryParams {
  /** The skill. */
  skill: string;
  /** One tool. */
  tool?: string;
  /** The directory that patterns are relative to. */
  workspace?: string;
  /** Whether this file can be read. */
  read?: string;
  /** Whether this file can be written. */
  write?: string;
  /** Whether this host can be reached. */
  connect?: string;
  /** Whether other programs can be started. */
  spawn?: boolean;
}

/** What the tools of a skill may do, or the answer to one question. */
type PolicyReport = SkillPolicy | AccessAnswer;

/**
 * Lists what ran, as `rep audit` does.
 * @method audit
 * @result AuditRuns
 */
interface AuditParams {
  /** Only runs of this skill. */
  skill?: string;
  /** Only runs since this time. */
  since?: string;
  /** At most this many, the newest. */
  limit?: integer;
}

/**
 * Discovers the skills again, without waiting for the watcher.
 * @method reload
 * @result LibraryState
 */
interface ReloadParams extends LibraryParams {}

/**
 * Sends `library/changed` from now on.
 * @method watch
 * @result LibraryState
 */
interface WatchParams extends LibraryParams {}

/** A library, and how many skills it has. */
interface LibraryState {
  /** The number that `library/changed` names the library by. */
  library: integer;
  /** Whether its files are watched. */
  watching?: boolean;
  /** The number of skills by status. */
  skills: Record<string, integer>;
}

/**
 * A watched library changed.
 * @notification library/changed
 */
interface LibraryChanged {
  /** The number of the library. */
  library: integer;
  /** The number of skills by status. */
  skills?: Record<string, integer>;
  /** Why it could not be read again; the last state remains. */
  error?: string;
}

/**
 * A request with `progress` goes on.
 * @notification progress
 */
interface Progress {
  /** The id of the request. */
  id: integer | string;
  /** What happened. */
  state: "started" | "checking" | "scanning";
  /** The skill that runs. */
  skill?: string;
  /** The tool or script that runs. */
  tool?: string;
  /** How many skills were found. */
  found?: integer;
  /** How many of them were checked or scanned. */
  done?: integer;
}

/**
 * A run with `approve: "ask"` needs confirmation. The client answers with a `Decision`; anything else is a no.
 * @request confirm
 */
interface Confirmation {
  /** The id of the request that runs something. */
  request: integer | string;
  /** The skill. */
  skill: string;
  /** The tool or script. */
  tool: string;
  /** The question, for people. The author's words in it are untrusted. */
  text: string;
}

/** The answer to a confirmation. */
interface Decision {
  /** `always` agrees until the skill, its permissions or the workspace change. */
  answer: "yes" | "always" | "no";
}

/** The `data` of an error. */
interface ApiErrorData extends Failure {
  /** The exit code of the command. */
  exit: integer;
  /** What the exit code means. */
  class: "findings" | "unable" | "refused" | "failed" | "interrupted";
  /** How the run went, if something ran. */
  meta?: RunDetails;
}
