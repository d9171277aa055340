//! The state of a session with a client, and which handler answers which message.
//!
//! One thread owns the session and handles messages in order. Work that takes long (the index, a report about the whole
//! workspace) runs on other threads on copies of the state, and comes back as an event.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use rep_library::LibraryOptions;
use rep_library::open_files::OpenFiles;
use rep_library::watcher::PathWatcher;
use serde_json::{Value, json};

use crate::bundle::SkillBundle;
use crate::checkers::CheckerCache;
use crate::client::ClientFeatures;
use crate::code_actions::read_rule_page;
use crate::document::OpenDocument;
use crate::file_uri::parse_file_uri;
use crate::index::FolderIndex;
use crate::judging::{JudgingSchedule, PublishedDiagnostics, WaitingPull};
use crate::message::{ClientMessage, RpcError};
use crate::outbox::Outbox;
use crate::settings::ClientSettings;
use crate::status::StatusTable;
use crate::transport::IncomingFrame;
use crate::workspace_pull::WorkspacePulls;

/// Something that happened.
pub(crate) enum ServerEvent {
    /// The client sent a frame.
    Frame(IncomingFrame, Instant),
    /// The client closed the input.
    InputEnded,
    /// The process of the client ended.
    ClientGone,
    /// The index of a workspace folder was built.
    IndexBuilt {
        /// The folder.
        root: PathBuf,
        /// The number of the attempt. Only the newest counts.
        attempt: u64,
        /// The index.
        index: FolderIndex,
    },
    /// Files changed on disk.
    FilesChanged(Vec<PathBuf>),
    /// Files cannot be watched, for this reason.
    WatchFailed(String),
    /// The statuses of the skills of a workspace folder were found.
    StatusesFound {
        /// The folder.
        root: PathBuf,
        /// The statuses.
        table: StatusTable,
        /// Counts the changes after which statuses are outdated.
        generation: u64,
    },
    /// A report about the whole workspace was sent, with the ids of its results.
    WorkspaceReported(BTreeMap<PathBuf, String>, u64),
}

/// What the program that starts the server knows.
#[derive(Clone, Debug, Default)]
pub struct LanguageServerOptions {
    /// Where skills are discovered besides the workspace, for saying which copy of a skill is active.
    pub library: LibraryOptions,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// The client sent `shutdown` first.
    Orderly,
    /// The client did not send `shutdown`.
    Abrupt,
}

/// A folder of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkspaceFolder {
    /// The URI, as the client writes it.
    pub uri: String,
    /// The path.
    pub path: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionPhase {
    Uninitialized,
    Initialized,
    ShutDown,
}

/// The purpose of a request to the client.
pub(crate) enum PendingRequest {
    /// `workspace/configuration`, for these folders.
    Configuration(Vec<Option<PathBuf>>),
    /// A request whose answer does not matter.
    Ignored,
}

/// A session with a client.
pub(crate) struct Session {
    pub(crate) outbox: Outbox,
    pub(crate) events: SyncSender<ServerEvent>,
    pub(crate) options: LanguageServerOptions,
    pub(crate) features: ClientFeatures,
    pub(crate) folders: Vec<WorkspaceFolder>,
    pub(crate) documents: BTreeMap<PathBuf, OpenDocument>,
    pub(crate) open: OpenFiles,
    pub(crate) bundles: BTreeMap<PathBuf, SkillBundle>,
    pub(crate) checkers: Arc<CheckerCache>,
    pub(crate) settings: BTreeMap<Option<PathBuf>, Arc<ClientSettings>>,
    pub(crate) indexes: BTreeMap<PathBuf, FolderIndex>,
    pub(crate) index_attempts: BTreeMap<PathBuf, u64>,
    pub(crate) stale_sets: BTreeSet<PathBuf>,
    /// The files that have findings in an index that the client does not know yet.
    pub(crate) announced_files: BTreeSet<PathBuf>,
    pub(crate) schedule: JudgingSchedule,
    pub(crate) waiting_pulls: VecDeque<WaitingPull>,
    pub(crate) published: BTreeMap<PathBuf, PublishedDiagnostics>,
    pub(crate) workspace_pulls: WorkspacePulls,
    pub(crate) statuses: BTreeMap<PathBuf, StatusTable>,
    pub(crate) status_generation: u64,
    pub(crate) watcher: Option<PathWatcher>,
    pub(crate) changed_files: BTreeSet<PathBuf>,
    pub(crate) changed_files_due: Option<Instant>,
    pub(crate) shown_problems: BTreeSet<String>,
    /// The problems of settings files that were shown since one of them changed.
    pub(crate) settings_problems: BTreeSet<String>,
    pub(crate) pending: BTreeMap<i64, PendingRequest>,
    phase: SessionPhase,
    end: Option<SessionEnd>,
}

impl Session {
    /// Creates a session that sends its messages to the outbox.
    pub(crate) fn new(outbox: Outbox, events: SyncSender<ServerEvent>, options: LanguageServerOptions) -> Self {
        Self {
            outbox,
            events,
            options,
            features: ClientFeatures::from_initialize(&Value::Null),
            folders: Vec::new(),
            documents: BTreeMap::new(),
            open: OpenFiles::default(),
            bundles: BTreeMap::new(),
            checkers: Arc::default(),
            settings: BTreeMap::new(),
            indexes: BTreeMap::new(),
            index_attempts: BTreeMap::new(),
            stale_sets: BTreeSet::new(),
            announced_files: BTreeSet::new(),
            schedule: JudgingSchedule::default(),
            waiting_pulls: VecDeque::new(),
            published: BTreeMap::new(),
            workspace_pulls: WorkspacePulls::default(),
            statuses: BTreeMap::new(),
            status_generation: 0,
            watcher: None,
            changed_files: BTreeSet::new(),
            changed_files_due: None,
            shown_problems: BTreeSet::new(),
            settings_problems: BTreeSet::new(),
            pending: BTreeMap::new(),
            phase: SessionPhase::Uninitialized,
            end: None,
        }
    }

    /// Returns how the session ended, if it did.
    pub(crate) fn end(&self) -> Option<SessionEnd> {
        self.end
    }

    /// Handles an event. A bug in a handler is reported to the client and does not end the session.
    pub(crate) fn handle_event(&mut self, event: ServerEvent) {
        match event {
            ServerEvent::Frame(IncomingFrame::Json(value), received) => {
                self.handle_message(ClientMessage::from_json(value), received);
            }
            ServerEvent::Frame(IncomingFrame::Malformed(reason), _) => {
                let error = RpcError::new(RpcError::PARSE_ERROR, format!("the message is not JSON: {reason}"));
                self.outbox.respond(&Value::Null, Err(error));
            }
            ServerEvent::Frame(IncomingFrame::TooLong(length), _) => {
                let error =
                    RpcError::new(RpcError::INVALID_REQUEST, format!("a message of {length} bytes is too long"));
                self.outbox.respond(&Value::Null, Err(error));
            }
            ServerEvent::InputEnded | ServerEvent::ClientGone => self.finish(),
            event => self.guard(None, |session| session.handle_background_event(event)),
        }
    }

    fn handle_background_event(&mut self, event: ServerEvent) {
        match event {
            ServerEvent::IndexBuilt { root, attempt, index } => self.accept_index(&root, attempt, index),
            ServerEvent::FilesChanged(paths) => self.note_changed_files(paths),
            ServerEvent::WatchFailed(reason) => self.show_problem(&format!("files are not watched: {reason}")),
            ServerEvent::StatusesFound { root, table, generation } => self.accept_statuses(root, table, generation),
            ServerEvent::WorkspaceReported(ids, generation) => self.workspace_pulls.remember(ids, generation),
            ServerEvent::Frame(..) | ServerEvent::InputEnded | ServerEvent::ClientGone => {}
        }
    }

    fn handle_message(&mut self, message: ClientMessage, received: Instant) {
        match message {
            ClientMessage::Request { id, method, params } => {
                let answer = id.clone();
                self.guard(Some(&answer), |session| session.handle_request(id, &method, &params));
            }
            ClientMessage::Notification { method, params } => {
                self.guard(None, |session| session.handle_notification(&method, &params, received));
            }
            ClientMessage::Response { id, result } => {
                self.guard(None, |session| session.handle_response(&id, result));
            }
            ClientMessage::Invalid { id } => {
                let error = RpcError::new(RpcError::INVALID_REQUEST, "this is not a JSON-RPC message");
                self.outbox.respond(&id, Err(error));
            }
        }
    }

    /// Runs a handler. If it panics, the request is answered with an error and the session goes on.
    pub(crate) fn guard(&mut self, id: Option<&Value>, work: impl FnOnce(&mut Self)) {
        if catch_unwind(AssertUnwindSafe(|| work(self))).is_err() {
            let message = "a bug in rep stopped this request; please report it";
            match id {
                Some(id) => self.outbox.respond(id, Err(RpcError::new(RpcError::INTERNAL_ERROR, message))),
                None => self.log(message),
            }
        }
    }

    fn handle_request(&mut self, id: Value, method: &str, params: &Value) {
        if self.outbox.is_cancelled(&id) {
            self.outbox.respond(&id, Err(RpcError::new(RpcError::REQUEST_CANCELLED, "cancelled")));
            return;
        }
        let refuse = |code, message: &str| Err(RpcError::new(code, message));
        let result = match (self.phase, method) {
            (SessionPhase::Uninitialized, "initialize") => Ok(self.initialize(params)),
            (SessionPhase::Uninitialized, _) => {
                refuse(RpcError::SERVER_NOT_INITIALIZED, "the server is not initialized")
            }
            (_, "initialize") => refuse(RpcError::INVALID_REQUEST, "the server is already initialized"),
            (SessionPhase::ShutDown, _) => refuse(RpcError::INVALID_REQUEST, "the server was shut down"),
            (SessionPhase::Initialized, "shutdown") => {
                self.phase = SessionPhase::ShutDown;
                Ok(Value::Null)
            }
            (SessionPhase::Initialized, "textDocument/diagnostic") => return self.pull_diagnostics(id, params),
            (SessionPhase::Initialized, "workspace/diagnostic") => return self.pull_workspace(id, params),
            (SessionPhase::Initialized, "textDocument/hover") => return self.hover(&id, params),
            (SessionPhase::Initialized, "textDocument/inlayHint") => return self.list_hints(&id, params),
            (SessionPhase::Initialized, "textDocument/references") => return self.find_references(&id, params),
            (SessionPhase::Initialized, "textDocument/rename") => return self.rename(&id, params),
            (SessionPhase::Initialized, "workspace/willRenameFiles") => return self.will_rename_files(&id, params),
            (SessionPhase::Initialized, _) => self.answer(method, params),
        };
        self.outbox.respond(&id, result);
    }

    /// Answers a request at once. A document that belongs to no skill has no answer.
    fn answer(&mut self, method: &str, params: &Value) -> Result<Value, RpcError> {
        let answer = match method {
            "textDocument/codeAction" => self.list_code_actions(params),
            "textDocument/codeLens" => self.list_lenses(params),
            "textDocument/completion" => self.complete(params),
            "textDocument/definition" => self.find_definition(params),
            "textDocument/documentHighlight" => self.highlight(params),
            "textDocument/documentLink" => self.list_links(params),
            "textDocument/documentSymbol" => self.list_symbols(params),
            "textDocument/foldingRange" => self.list_folds(params),
            "textDocument/formatting" => self.format_document(params),
            "textDocument/prepareRename" => self.prepare_rename(params),
            "textDocument/selectionRange" => self.list_selections(params),
            "textDocument/semanticTokens/full" | "textDocument/semanticTokens/range" => self.list_tokens(params),
            "workspace/executeCommand" => return self.execute_command(params),
            "workspace/symbol" => Some(self.find_skills(params)),
            "workspace/textDocumentContent" => {
                let page = params.get("uri").and_then(Value::as_str).and_then(read_rule_page);
                let page = page.ok_or_else(|| RpcError::invalid_params("unknown URI"))?;
                Some(json!({ "text": page }))
            }
            _ => return Err(RpcError::new(RpcError::METHOD_NOT_FOUND, format!("unknown method `{method}`"))),
        };
        Ok(answer.unwrap_or_default())
    }

    fn handle_notification(&mut self, method: &str, params: &Value, received: Instant) {
        if method == "exit" {
            return self.finish();
        }
        if self.phase != SessionPhase::Initialized {
            return;
        }
        match method {
            "initialized" => self.start_services(),
            "textDocument/didOpen" => self.open_document(params, received),
            "textDocument/didChange" => self.change_document(params, received),
            "textDocument/didClose" => self.close_document(params),
            "$/cancelRequest" => self.cancel_request(params),
            "workspace/didChangeConfiguration" => self.change_configuration(params),
            "workspace/didChangeWatchedFiles" => self.note_watched_files(params),
            "workspace/didChangeWorkspaceFolders" => self.change_folders(params),
            // Unknown notifications have no answer, and are ignored as the protocol demands.
            _ => {}
        }
    }

    fn handle_response(&mut self, id: &Value, result: Option<Value>) {
        let Some(request) = id.as_i64().and_then(|id| self.pending.remove(&id)) else { return };
        match (request, result) {
            (PendingRequest::Configuration(scopes), Some(result)) => self.accept_configuration(scopes, &result),
            (PendingRequest::Configuration(_) | PendingRequest::Ignored, _) => {}
        }
    }

    fn initialize(&mut self, params: &Value) -> Value {
        self.features = ClientFeatures::from_initialize(params);
        self.folders = read_folders(params);
        let options = params.get("initializationOptions").unwrap_or(&Value::Null);
        let section = options.get(crate::settings::SECTION).unwrap_or(options);
        self.settings.insert(None, Arc::new(ClientSettings::from_json(section)));
        self.rebuild_checkers();
        self.phase = SessionPhase::Initialized;
        crate::client_process::watch_client_process(params, &self.events);
        json!({
            "capabilities": crate::capabilities::describe(&self.features),
            "serverInfo": { "name": "rep", "version": env!("CARGO_PKG_VERSION") },
        })
    }

    fn finish(&mut self) {
        let end = if self.phase == SessionPhase::ShutDown { SessionEnd::Orderly } else { SessionEnd::Abrupt };
        self.end.get_or_insert(end);
    }

    /// Returns when [`Session::run_due`] must be called again, if no event happens before.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        [self.schedule.due(), self.changed_files_due].into_iter().flatten().min()
    }

    /// Does the work that is due.
    pub(crate) fn run_due(&mut self, now: Instant) {
        if self.changed_files_due.is_some_and(|due| due <= now) {
            self.changed_files_due = None;
            self.guard(None, Self::handle_changed_files);
        }
        if self.schedule.due().is_some_and(|due| due <= now) {
            self.guard(None, Self::judge_due);
        }
    }

    /// Returns the workspace folder that contains a path: the innermost one.
    pub(crate) fn root_of(&self, path: &Path) -> Option<&Path> {
        let containing = self.folders.iter().map(|folder| folder.path.as_path()).filter(|root| path.starts_with(root));
        containing.max_by_key(|root| root.components().count())
    }

    /// Returns the path of the document that a request is about.
    pub(crate) fn document_path(params: &Value) -> Option<PathBuf> {
        parse_file_uri(params.pointer("/textDocument/uri")?.as_str()?)
    }

    /// Sends a request whose answer does not matter.
    pub(crate) fn request(&mut self, method: &str, params: Value) {
        let id = self.outbox.request(method, params);
        self.pending.insert(id, PendingRequest::Ignored);
    }

    /// Shows a problem to the user, once.
    pub(crate) fn show_problem(&mut self, message: &str) {
        if self.shown_problems.insert(message.to_owned()) {
            self.show_message(message);
        }
    }

    /// Shows a message to the user.
    pub(crate) fn show_message(&self, message: &str) {
        const WARNING: u8 = 2;
        self.outbox.notify("window/showMessage", json!({ "type": WARNING, "message": format!("rep: {message}") }));
    }

    /// Logs a message, if the user wants a log.
    pub(crate) fn log(&self, message: &str) {
        const LOG: u8 = 4;
        if self.checkers.settings_for(None).trace {
            self.outbox.notify("window/logMessage", json!({ "type": LOG, "message": message }));
        }
    }
}

/// The delay after which changed files are read, so that a burst of changes is read once.
pub(crate) const FILES_DELAY: Duration = Duration::from_millis(40);

/// Reads the folders of the workspace: `workspaceFolders`, or else the older `rootUri` and `rootPath`.
fn read_folders(params: &Value) -> Vec<WorkspaceFolder> {
    let listed = params.get("workspaceFolders").and_then(Value::as_array);
    if let Some(listed) = listed {
        return listed.iter().filter_map(read_folder).collect();
    }
    let uri = params.get("rootUri").and_then(Value::as_str).map(str::to_owned);
    let of_path = || {
        let path = params.get("rootPath").and_then(Value::as_str).filter(|path| path.starts_with('/'))?;
        Some(crate::file_uri::format_file_uri(Path::new(path)))
    };
    let uri = uri.or_else(of_path);
    uri.and_then(|uri| Some(WorkspaceFolder { path: parse_file_uri(&uri)?, uri })).into_iter().collect()
}

/// Reads a workspace folder. Folders that are not on this machine's disk are skipped.
pub(crate) fn read_folder(value: &Value) -> Option<WorkspaceFolder> {
    let uri = value.get("uri")?.as_str()?;
    Some(WorkspaceFolder { uri: uri.to_owned(), path: parse_file_uri(uri)? })
}
