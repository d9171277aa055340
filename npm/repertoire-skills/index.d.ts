import type * as types from './types';

export type * from './types';

/** A call that has no result. */
export declare class RepError extends Error {
  constructor(message: string, data?: Record<string, unknown>);
  /** A stable word for programs, such as `SKILL_NOT_FOUND`. */
  readonly code: string;
  /** What would help. */
  readonly remedy?: string;
  /** The exit code of the command. */
  readonly exit: number;
  /** Everything that is known. */
  readonly data: Record<string, unknown>;
}
/** The work could not be done. */
export declare class Unable extends RepError {}
/** The skill, file, tool or path does not exist. */
export declare class NotFound extends Unable {}
/** The skill violates its dialect. */
export declare class InvalidSkill extends Unable {}
/** An argument is missing, unknown or of another type. */
export declare class InvalidArgument extends Unable {}
/** A check failed, or nothing was found. */
export declare class Findings extends RepError {}
/** Permission, trust, confirmation or a secret is missing. Nothing ran. */
export declare class Refused extends RepError {}
/** The run needs confirmation, and nobody was asked. */
export declare class ConfirmationRequired extends Refused {}
/** The answer to the confirmation was no. */
export declare class Declined extends Refused {}
/** The skill's own run failed. */
export declare class RunFailed extends RepError {}
/** The call was cancelled. */
export declare class Cancelled extends RepError {}
/** The program that answers could not be started, or ended during the call. */
export declare class EngineError extends RepError {}

/** Returns the path of the program: `REP_BINARY`, or the one in the package of this platform. */
export declare function findRep(): string;

/** What a library is made of. */
export interface LibraryOptions extends types.LibrarySelection {
  /** For whom runs are, for the audit log. */
  caller?: types.Caller;
}

/** What every call takes. */
export interface CallOptions {
  /** Cancels the call. */
  signal?: AbortSignal;
}

/** What decides about a run that needs confirmation. */
export type Approve = boolean | ((question: types.Confirmation) => Approval | Promise<Approval>);
/** Whether to run. */
export type Approval = boolean | 'always';

/** What every run takes. */
export interface RunCallOptions extends CallOptions {
  /** Whether to agree to a run that needs confirmation. */
  approve?: Approve;
  /** The directory that permission patterns are relative to. */
  workspace?: string;
  /** Stop the run after this many seconds. */
  timeout?: number;
  /** For whom the run is, for the audit log. */
  caller?: types.Caller;
  /** Called when the run starts. */
  onProgress?: (progress: types.Progress) => void;
}

/** The skills of some paths, or of a project and its user. One child process answers all calls. */
export declare class Library {
  constructor(options?: LibraryOptions);
  /** Returns the version of the program and its methods. */
  hello(options?: CallOptions): Promise<types.Hello>;
  /** Lists the skills with a status; active ones without it. */
  skills(options?: CallOptions & { status?: types.Status | 'all' }): Promise<types.ListedSkill[]>;
  /** Returns everything about one skill. */
  show(skill: string, options?: CallOptions): Promise<types.ShownSkill>;
  /** Renders the catalog for a model's context. */
  prompt(
    options?: CallOptions & { budget?: number; style?: types.PromptParams['style']; locations?: boolean },
  ): Promise<types.PromptResult>;
  /** Returns the text of a skill for a model, or one of its files as text. */
  read(skill: string, file?: string, options?: CallOptions): Promise<string>;
  /** Returns the bytes of one file of a skill. */
  readBytes(skill: string, file: string, options?: CallOptions): Promise<Buffer>;
  /** Searches the skills, best match first. */
  search(
    text: string,
    options?: CallOptions & { limit?: number; minScore?: number },
  ): Promise<types.SearchResults['results']>;
  /** Selects the skills whose triggers match a request. */
  select(
    text: string,
    options?: CallOptions & Omit<types.SelectParams, 'text' | 'library'>,
  ): Promise<types.SelectedSkills['selected']>;
  /** Answers a query. Rejects with `Findings` or `NotFound` if nothing matches. */
  query(query: string, options?: CallOptions): Promise<types.QueryResult>;
  /** Answers a common question by queries. */
  ask(
    skill: string,
    question: types.AskParams['question'],
    about: string,
    options?: CallOptions,
  ): Promise<types.Answer>;
  /** Checks skills: those of the paths, or of the library. */
  check(
    paths?: string[],
    options?: CallOptions & {
      profiles?: string[];
      select?: string[];
      ignore?: string[];
      onProgress?: (progress: types.Progress) => void;
    },
  ): Promise<types.CheckReport>;
  /** Shows what skills do and what is dangerous about it: those of the paths, or of the library. Nothing runs. */
  scan(
    paths?: string[],
    options?: CallOptions & { onProgress?: (progress: types.Progress) => void },
  ): Promise<types.ScanReport>;
  /** Returns the tools of a skill. */
  tools(skill: string, options?: CallOptions): Promise<types.EffectiveTools>;
  /** Runs a tool in the sandbox. */
  run(skill: string, tool: string, input?: Record<string, unknown>, options?: RunCallOptions): Promise<types.RunAnswer>;
  /** Runs a bundled script in the sandbox. A script that ends with a failure has a result. */
  runScript(skill: string, script: string, args?: string[], options?: RunCallOptions): Promise<types.ScriptResult>;
  /** Returns what the tools of a skill may do. */
  policy(skill: string, options?: CallOptions & { tool?: string }): Promise<types.PolicyReport>;
  /** Lists what ran. */
  audit(options?: CallOptions & Omit<types.AuditParams, never>): Promise<types.AuditRuns['runs']>;
  /** Discovers the skills again, without waiting for the watcher. */
  reload(options?: CallOptions): Promise<types.LibraryState>;
  /** Yields a change whenever skills changed. Files are watched when the promise resolves. */
  watch(options?: CallOptions): Promise<AsyncGenerator<types.LibraryChanged, void, void>>;
  /** Ends the child process. Calls that wait fail. */
  close(): Promise<void>;
}
