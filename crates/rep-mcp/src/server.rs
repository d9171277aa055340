//! The MCP server of a library: the state that all connections, the HTTP server and the dashboard share.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, RwLock};
use rep_audit::CallRecorder;
use rep_hosts::hosts::ToolNaming;
use rep_library::answer::QueryEngine;
use rep_library::settings::ClientSkills;
use rep_library::validation::list_version_warnings;
use rep_library::{Catalog, LibraryError, SkillLibrary, SkillSet, SkillStatus, WatchHandle};
use rep_runtime::Runtime;
use rep_runtime::named_token::TokenScope;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tokio::sync::watch;

use crate::catalog_view::{AllowedRuns, CatalogView, UnservedSkill, ViewScope, list_server_tools, render_workflow};
use crate::client_activity::ClientActivity;
use crate::confirmation::{ConfirmationSeal, random_bytes};
use crate::identity::{BearerIdentity, Owner, Visitor, find_bearer};
use crate::metrics::ServerMetrics;
use crate::owned_tasks::OwnedTasks;
use crate::pending_calls::PendingCalls;
use crate::pending_confirmations::PendingConfirmations;
use crate::run_slots::RunSlots;
use crate::session_handler::SessionHandler;
use crate::stdio::GRACE_PERIOD;
use crate::tool_calls::RunStop;
use crate::{script_tool, skill_actions};

/// The maximum time for the answers of cancelled runs.
const ANSWER_PERIOD: Duration = Duration::from_secs(2);
/// The maximum number of most used skills that the instructions may name.
const FAVORITES_MAX: usize = 20;

/// How long a client that asks for instructions waits for a library that is being read.
const LOAD_WAIT: Duration = Duration::from_secs(1);
/// The maximum number of parts of a snapshot that are kept.
const RESTRICTED_VIEWS_MAX: usize = 32;

/// The options of a server.
pub struct ServerOptions {
    /// The runtime, which runs tools and reads the records of runs.
    pub runtime: Arc<Runtime>,
    /// The skills whose tools clients may run.
    pub allowed_runs: AllowedRuns,
    /// The names of the tools of skills.
    pub tool_naming: ToolNaming,
    /// The recorder of all calls, or `None` to record only runs.
    pub recorder: Option<Arc<CallRecorder>>,
    /// The skills that the instructions for models name first.
    pub pinned_skills: Vec<String>,
    /// The skills that exist for clients, by the names that they report.
    pub client_skills: Vec<ClientSkills>,
    /// The instructions for models as they were when a server last read the library.
    pub instructions_cache: Option<InstructionsCache>,
    /// The version reported to clients.
    pub version: &'static str,
}

/// The instructions that a server with the same options and skills gave before. A client that asks before the library is
/// read gets them.
#[derive(Clone)]
pub struct InstructionsCache {
    /// The text, if there is one.
    pub text: Option<String>,
    /// Stores the text of a library, if it has changed.
    pub save: SaveInstructions,
}

/// Stores the instructions for a library.
pub type SaveInstructions = Arc<dyn Fn(&SkillLibrary, &str) + Send + Sync>;

/// A library served over MCP. Cheap to clone; all clones share their state.
#[derive(Clone)]
pub struct McpServer(pub(crate) Arc<ServerState>);

pub(crate) struct ServerState {
    /// Set when the library is read.
    library: OnceLock<Arc<SkillLibrary>>,
    pub(crate) query_engine: QueryEngine,
    pub(crate) runtime: Arc<Runtime>,
    allowed_runs: AllowedRuns,
    pub(crate) recorder: Option<Arc<CallRecorder>>,
    tool_naming: ToolNaming,
    /// The newest snapshot, once the library is read.
    view: RwLock<Option<Arc<CatalogView>>>,
    /// Held while the library is read for the first time.
    loading: Mutex<bool>,
    loaded: Condvar,
    /// Why the library could not be read.
    pub(crate) load_failure: watch::Sender<Option<String>>,
    instructions_cache: Option<InstructionsCache>,
    /// The instructions that were stored last. Held while others are stored.
    stored_instructions: Mutex<Option<String>>,
    pub(crate) list_changes: watch::Sender<ListChanges>,
    /// Whether new calls are refused, because the server will shut down.
    draining: AtomicBool,
    /// Whether the server is shutting down.
    pub(crate) shutdown: watch::Sender<bool>,
    pub(crate) confirmations: Arc<PendingConfirmations>,
    pub(crate) pending_calls: PendingCalls,
    pub(crate) metrics: ServerMetrics,
    pub(crate) activity: ClientActivity,
    pinned_skills: Vec<String>,
    client_skills: Vec<ClientSkills>,
    /// The generation of the newest snapshot, and its parts that were asked for.
    restricted_views: Mutex<(u64, BTreeMap<ViewScope, Arc<CatalogView>>)>,
    /// How often skills were loaded and run recently.
    usage: Mutex<BTreeMap<String, u64>>,
    pub(crate) last_reload: Mutex<Option<Instant>>,
    /// The number of HTTP sessions of the revision 2025-11-25.
    pub(crate) sessions: AtomicUsize,
    pub(crate) seal: ConfirmationSeal,
    pub(crate) run_slots: Arc<RunSlots>,
    /// Runs that continue after their call was answered.
    pub(crate) tasks: OwnedTasks,
    /// The number of calls in progress.
    pub(crate) open_calls: watch::Sender<usize>,
    /// The number of answers that were not sent completely yet.
    pub(crate) open_answers: watch::Sender<usize>,
    pub(crate) active_runs: Mutex<BTreeMap<u64, RunHandle>>,
    pub(crate) next_number: AtomicU64,
    pub(crate) version: &'static str,
    /// The watch ends when this is dropped.
    watch_handle: Mutex<Option<WatchHandle>>,
    /// The registries that the skills come from.
    pub(crate) sources: Mutex<Vec<FollowedSource>>,
}

/// A tag in a registry whose skills are served.
#[derive(Clone, Debug)]
pub struct FollowedSource {
    /// The address.
    pub address: String,
    /// The digest of what is served, once something is.
    pub digest: Option<String>,
    /// When the registry was last asked successfully.
    pub checked: Option<Instant>,
    /// How often the registry could not be asked, or what it had was refused.
    pub failures: usize,
}

/// A run in progress.
pub(crate) struct RunHandle {
    pub(crate) stop: RunStop,
    /// Whether the call has its place.
    pub(crate) phase: watch::Sender<bool>,
    /// The tool, as clients call it.
    pub(crate) tool: String,
    pub(crate) owner: Owner,
    pub(crate) started: Instant,
}

/// A run in progress, as shown to users.
#[derive(Clone, Debug)]
pub struct ActiveRun {
    /// The number of the run, for [`McpServer::cancel_run`].
    pub number: u64,
    /// The tool, as clients call it.
    pub tool: String,
    /// The time since the call arrived.
    pub elapsed: Duration,
    /// Whether the call still waits for other runs to end.
    pub is_waiting: bool,
}

/// The number of changes of each list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListChanges {
    pub(crate) tools: u64,
    pub(crate) prompts: u64,
    pub(crate) resources: u64,
}

impl McpServer {
    /// Creates a server for a library.
    pub fn new(library: Arc<SkillLibrary>, options: ServerOptions) -> Self {
        let server = Self::without_library(options);
        server.0.set_library(library);
        server
    }

    /// Creates a server that reads its library in the background. It answers what does not need the library, and
    /// everything else when the library is read. If that fails, it ends.
    pub fn open(
        load: impl FnOnce() -> Result<Arc<SkillLibrary>, String> + Send + 'static,
        options: ServerOptions,
    ) -> Self {
        let server = Self::without_library(options);
        let state = Arc::clone(&server.0);
        std::thread::spawn(move || match load() {
            Ok(library) => state.set_library(library),
            Err(reason) => {
                state.set_view(Arc::new(state.create_view(Arc::default())));
                state.load_failure.send_replace(Some(reason));
            }
        });
        server
    }

    fn without_library(options: ServerOptions) -> Self {
        let ServerOptions { runtime, allowed_runs, tool_naming, recorder, pinned_skills, .. } = options;
        let ServerOptions { client_skills, instructions_cache, version, .. } = options;
        Self(Arc::new(ServerState {
            library: OnceLock::new(),
            query_engine: QueryEngine::default(),
            runtime,
            allowed_runs,
            recorder,
            tool_naming,
            view: RwLock::new(None),
            loading: Mutex::new(true),
            loaded: Condvar::new(),
            load_failure: watch::Sender::new(None),
            instructions_cache,
            stored_instructions: Mutex::default(),
            list_changes: watch::Sender::new(ListChanges::default()),
            draining: AtomicBool::new(false),
            shutdown: watch::Sender::new(false),
            confirmations: Arc::default(),
            pending_calls: PendingCalls::default(),
            metrics: ServerMetrics::default(),
            activity: ClientActivity::default(),
            pinned_skills,
            client_skills,
            restricted_views: Mutex::default(),
            usage: Mutex::default(),
            last_reload: Mutex::new(None),
            sessions: AtomicUsize::new(0),
            seal: ConfirmationSeal::new(),
            run_slots: Arc::new(RunSlots::new()),
            tasks: OwnedTasks::new(),
            open_calls: watch::Sender::new(0),
            open_answers: watch::Sender::new(0),
            active_runs: Mutex::default(),
            next_number: AtomicU64::new(1),
            version,
            watch_handle: Mutex::new(None),
            sources: Mutex::default(),
        }))
    }

    /// Serves the skills at other paths from now on, as a whole. If they cannot be loaded, or the library was not read
    /// yet, nothing changes.
    pub fn replace_paths(&self, paths: Vec<PathBuf>) -> Result<(), LibraryError> {
        let Some(library) = self.0.library.get() else { return Ok(()) };
        let catalog = library.replace_paths(paths)?;
        self.0.reload_catalog(catalog);
        Ok(())
    }

    /// Sets what is known about the registries that the skills come from, for readiness and metrics.
    pub fn set_sources(&self, sources: Vec<FollowedSource>) {
        *self.0.sources.lock() = sources;
    }

    /// Loads a new snapshot whenever skills change, and notifies subscribers. Returns immediately: setting up the watch
    /// of many directories takes time, and the first answer need not wait for it. Logs the tools that cannot be listed.
    pub fn watch_library(&self) {
        let weak = Arc::downgrade(&self.0);
        std::thread::spawn(move || {
            let Some(state) = weak.upgrade() else { return };
            let view = state.view();
            // Without a library, the server is about to end.
            let Some(library) = state.library.get().map(Arc::clone) else { return };
            log_tool_faults(&view);
            log_loading_problems(&view, None);
            drop(state);
            let on_change = weak.clone();
            let watching = SkillLibrary::watch(&library, move |result| match (result, on_change.upgrade()) {
                (Ok(catalog), Some(state)) => state.reload_catalog(catalog),
                (Err(error), _) => tracing::warn!("could not reload skills, serving the previous ones: {error}"),
                (Ok(_), None) => {}
            });
            match (watching, weak.upgrade()) {
                (Ok(watching), Some(state)) => {
                    let catalog = library.catalog();
                    // Detects changes made before the watch was set up.
                    if !has_same_skills(&state.view().catalog, &catalog) {
                        state.reload_catalog(catalog);
                    }
                    *state.watch_handle.lock() = Some(watching);
                }
                (Err(error), _) => tracing::warn!("could not watch for changes; restart to reload skills: {error}"),
                (Ok(_), None) => {}
            }
        });
    }

    /// Ends what an owner has in this process: runs, tasks and questions.
    pub(crate) fn end_owner(&self, owner: &Owner) {
        self.0.tasks.remove_all_of(owner);
        let active = self.0.active_runs.lock();
        let own: Vec<RunStop> = active.values().filter(|run| run.owner == *owner).map(|run| run.stop.clone()).collect();
        drop(active);
        own.iter().for_each(RunStop::stop);
        self.0.pending_calls.drop_all_of(owner);
    }

    /// Starts the shutdown and cancels all runs.
    pub fn begin_shutdown(&self) {
        self.0.shutdown.send_replace(true);
        let active: Vec<RunStop> = self.0.active_runs.lock().values().map(|run| run.stop.clone()).collect();
        active.iter().for_each(RunStop::stop);
        self.0.pending_calls.clear();
    }

    /// Shuts down after a signal: refuses new calls and waits until the running ones end, for the grace period or until
    /// a second signal. Then cancels them, and waits until their answers are sent.
    pub(crate) async fn drain_until_done<F: Future<Output = ()>>(&self, signal: impl Fn() -> F) {
        signal().await;
        self.0.draining.store(true, Ordering::Relaxed);
        tokio::select! {
            () = self.drain_calls(GRACE_PERIOD) => {}
            () = signal() => {}
        }
        self.begin_shutdown();
        self.drain_calls(ANSWER_PERIOD).await;
        let mut answers = self.0.open_answers.subscribe();
        // A client that does not read its answer is not waited for any longer.
        let _ = tokio::time::timeout(ANSWER_PERIOD, answers.wait_for(|count| *count == 0)).await;
    }

    /// Whether the server refuses new calls because it shuts down.
    pub(crate) fn is_draining(&self) -> bool {
        self.0.draining.load(Ordering::Relaxed) || *self.0.shutdown.borrow()
    }

    /// Waits until no tool runs and every call is answered and recorded, or until the timeout.
    pub(crate) async fn drain_calls(&self, timeout: Duration) {
        // A run that remains after the timeout ends with the process.
        let _ = tokio::time::timeout(timeout, async {
            self.0.run_slots.wait_until_idle().await;
            let _ = self.0.open_calls.subscribe().wait_for(|count| *count == 0).await;
        })
        .await;
    }

    /// Stops watching for changes.
    pub(crate) fn stop_watching(&self) {
        let watching = self.0.watch_handle.lock().take();
        drop(watching);
        // The next server starts with the skills that were used most until now.
        let mut stored = self.0.stored_instructions.lock();
        if let Some(view) = self.0.loaded_view() {
            self.0.save_instructions(&view, &mut stored);
        }
    }

    /// Creates the handler of one connection.
    pub fn new_handler(&self) -> SessionHandler {
        SessionHandler::new(Arc::clone(&self.0), false)
    }

    /// Creates the handler of the client that started this process. It may know the paths of this machine.
    pub(crate) fn new_local_handler(&self) -> SessionHandler {
        SessionHandler::new(Arc::clone(&self.0), true)
    }

    /// Returns the newest snapshot.
    pub fn view(&self) -> Arc<CatalogView> {
        self.0.view()
    }

    /// Returns the part of the newest snapshot that exists for a bearer.
    pub fn view_for(&self, bearer: Option<&BearerIdentity>) -> Arc<CatalogView> {
        self.0.view_within(&ServerState::bearer_scope(bearer, []))
    }

    /// Returns the runtime, which runs tools and reads the records of runs.
    pub fn runtime(&self) -> &Arc<Runtime> {
        &self.0.runtime
    }

    /// Returns the engine that answers queries of skills.
    pub fn query_engine(&self) -> &QueryEngine {
        &self.0.query_engine
    }

    /// Returns the version reported to clients.
    pub fn version(&self) -> &'static str {
        self.0.version
    }

    /// Whether clients may run tools at all.
    pub fn allows_runs(&self) -> bool {
        self.0.allows_runs()
    }

    /// Whether changes on disk are watched.
    pub fn is_watching(&self) -> bool {
        self.0.is_watching()
    }

    /// Returns the confirmations that wait for a user of the dashboard.
    pub fn confirmations(&self) -> &Arc<PendingConfirmations> {
        &self.0.confirmations
    }

    /// Returns the runs in progress that a visitor may see, oldest first.
    pub fn active_runs(&self, visitor: &Visitor) -> Vec<ActiveRun> {
        let runs = self.0.active_runs.lock();
        let describe = |(number, run): (&u64, &RunHandle)| ActiveRun {
            number: *number,
            tool: run.tool.clone(),
            elapsed: run.started.elapsed(),
            is_waiting: !*run.phase.borrow(),
        };
        runs.iter().filter(|(_, run)| visitor.may_see(&run.owner)).map(describe).collect()
    }

    /// Cancels a run for a visitor. Does nothing if it has ended or belongs to another bearer.
    pub fn cancel_run(&self, number: u64, visitor: &Visitor) {
        if let Some(run) = self.0.active_runs.lock().get(&number).filter(|run| visitor.may_see(&run.owner)) {
            run.stop.stop();
        }
        self.0.confirmations.notify_viewers();
    }

    /// Subscribes to changes of the library's lists.
    pub fn subscribe_lists(&self) -> watch::Receiver<ListChanges> {
        self.0.list_changes.subscribe()
    }

    /// Subscribes to the shutdown; the value is true once it starts.
    pub fn subscribe_shutdown(&self) -> watch::Receiver<bool> {
        self.0.shutdown.subscribe()
    }

    /// Notifies subscribers that the list of tools or prompts changed, regardless of the disk. Intended for servers
    /// that list more than the library.
    pub fn announce_change(&self, list: ChangedList) {
        self.0.list_changes.send_modify(|changes| match list {
            ChangedList::Tools => changes.tools += 1,
            ChangedList::Prompts => changes.prompts += 1,
        });
    }
}

/// A list that [`McpServer::announce_change`] announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangedList {
    /// The tools.
    Tools,
    /// The prompts.
    Prompts,
}

/// Whether two snapshots list the same skills.
fn has_same_skills(one: &Catalog, other: &Catalog) -> bool {
    one.entries.len() == other.entries.len()
        && one.entries.iter().zip(&other.entries).all(|(one, other)| {
            (&one.qualified_name, &one.description, &one.location, one.status)
                == (&other.qualified_name, &other.description, &other.location, other.status)
        })
}

/// Logs the permitted tools that cannot be listed.
fn log_tool_faults(view: &CatalogView) {
    for fault in view.tool_faults() {
        let name = if fault.tool.is_empty() { fault.skill.clone() } else { format!("{}:{}", fault.skill, fault.tool) };
        tracing::warn!("tool `{name}` is not available to clients: {}", fault.message);
    }
}

/// Logs skills that are invalid and therefore not served, and declared UASP versions that are not the hash of the
/// content. Problems that an older snapshot had as well are not repeated.
fn log_loading_problems(view: &CatalogView, old: Option<&CatalogView>) {
    let known: BTreeSet<String> = old.map(list_loading_problems).unwrap_or_default().into_iter().collect();
    for problem in list_loading_problems(view) {
        if !known.contains(&problem) {
            tracing::warn!("{problem}");
        }
    }
}

/// Describes the skills that are invalid or not listed, and the declared versions that do not match.
fn list_loading_problems(view: &CatalogView) -> Vec<String> {
    let catalog = &view.catalog;
    let invalid = catalog
        .list_invalid()
        .map(|entry| format!("skill `{}` is invalid and not served: {}", entry.qualified_name, entry.reason));
    let versions = catalog.entries.iter().filter(|entry| entry.status != SkillStatus::Invalid).flat_map(|entry| {
        let warnings = list_version_warnings(&entry.findings);
        warnings.into_iter().map(|warning| format!("skill `{}`: {}", entry.qualified_name, warning.to_line()))
    });
    // A skill in a single UASP file is outside of the extension, which is not a problem.
    let is_markdown = |skill: &&UnservedSkill| catalog.entries[skill.index].location.ends_with("SKILL.md");
    let unlisted = view.unserved_skills().iter().filter(|skill| skill.is_loadable).filter(is_markdown);
    let unlisted = unlisted.map(|skill| format!("skill `{}` is not in `skills/list`: {}", skill.name, skill.reason));
    invalid.chain(unlisted).chain(versions).collect()
}

impl ServerState {
    /// Returns the newest snapshot. Waits until the library is read.
    pub(crate) fn view(&self) -> Arc<CatalogView> {
        loop {
            if let Some(view) = self.loaded_view() {
                return view;
            }
            let mut is_loading = self.loading.lock();
            while *is_loading {
                self.loaded.wait(&mut is_loading);
            }
        }
    }

    /// Returns the newest snapshot, or `None` if the library is still being read.
    fn loaded_view(&self) -> Option<Arc<CatalogView>> {
        self.view.read().as_ref().map(Arc::clone)
    }

    fn set_view(&self, view: Arc<CatalogView>) {
        *self.view.write() = Some(view);
        *self.loading.lock() = false;
        self.loaded.notify_all();
    }

    /// Creates the first snapshot of a catalog.
    fn create_view(&self, catalog: Arc<Catalog>) -> CatalogView {
        // Cursors issued by another process must not be valid here.
        let generation = u64::from(u32::from_le_bytes(random_bytes()));
        let server_tools = Arc::new(list_server_tools(&self.runtime, &self.allowed_runs));
        let runtime = Arc::clone(&self.runtime);
        CatalogView::new(catalog, generation, runtime, self.allowed_runs.clone(), self.tool_naming, server_tools)
    }

    /// Serves a library that was read.
    fn set_library(&self, library: Arc<SkillLibrary>) {
        let view = Arc::new(self.create_view(library.catalog()));
        *self.usage.lock() = self.recorder.as_ref().map(|recorder| recorder.count_recent_skills()).unwrap_or_default();
        // Nothing else sets it.
        let _ = self.library.set(library);
        let mut stored = self.stored_instructions.lock();
        *stored = self.instructions_cache.as_ref().and_then(|cache| cache.text.clone());
        self.set_view(Arc::clone(&view));
        self.save_instructions(&view, &mut stored);
    }

    /// Stores the instructions for the next server with the same options, if the skills changed.
    fn save_instructions(&self, view: &CatalogView, stored: &mut Option<String>) {
        if let (Some(cache), Some(library)) = (&self.instructions_cache, self.library.get()) {
            let text = view.instructions(&self.favorite_skills());
            if stored.as_ref() != Some(&text) {
                (cache.save)(library, &text);
                *stored = Some(text);
            }
        }
    }

    /// Returns the instructions for models in a part of the library. If the library is still being read, they are those
    /// of an earlier server, or after a short wait only what to do when.
    pub(crate) fn instructions(&self, scope: &ViewScope) -> String {
        if self.loaded_view().is_none() {
            let cached = self.instructions_cache.as_ref().and_then(|cache| cache.text.clone());
            if let Some(cached) = cached.filter(|_| scope.is_unlimited()) {
                return cached;
            }
            let mut is_loading = self.loading.lock();
            if *is_loading && self.loaded.wait_for(&mut is_loading, LOAD_WAIT).timed_out() {
                return render_workflow(None, self.allows_runs());
            }
        }
        self.view_within(scope).instructions(&self.favorite_skills())
    }

    /// Returns which part of the library exists for a bearer, and for a client if sets for it are given.
    fn bearer_scope<'a>(
        bearer: Option<&'a BearerIdentity>,
        client_sets: impl IntoIterator<Item = &'a SkillSet>,
    ) -> ViewScope {
        let is_read_only = bearer.is_some_and(|bearer| !bearer.allows(TokenScope::Run));
        ViewScope::new(bearer.map(BearerIdentity::skills).into_iter().chain(client_sets), is_read_only)
    }

    /// Returns which part of the library exists for the client of a request.
    pub(crate) fn client_scope(&self, context: &RequestContext<RoleServer>) -> ViewScope {
        let name = context.client_info().map(|client| client.name.clone()).unwrap_or_default();
        let sets = self.client_skills.iter().filter(|one| one.applies_to(&name)).map(|one| &one.skills);
        Self::bearer_scope(find_bearer(context).as_ref(), sets)
    }

    /// Returns a part of the newest snapshot.
    pub(crate) fn view_within(&self, scope: &ViewScope) -> Arc<CatalogView> {
        let view = self.view();
        if scope.is_unlimited() {
            return view;
        }
        let mut known = self.restricted_views.lock();
        if known.0 != view.generation {
            *known = (view.generation, BTreeMap::new());
        }
        if let Some(part) = known.1.get(scope) {
            return Arc::clone(part);
        }
        let part = Arc::new(view.restrict(scope));
        while known.1.len() >= RESTRICTED_VIEWS_MAX {
            known.1.pop_first();
        }
        known.1.insert(scope.clone(), Arc::clone(&part));
        part
    }

    pub(crate) fn allows_runs(&self) -> bool {
        self.allowed_runs != AllowedRuns::None
    }

    /// Whether a tool of this name runs something of a skill.
    pub(crate) fn is_run(&self, name: &str) -> bool {
        if !self.allows_runs() {
            return false;
        }
        let view = self.view();
        name == script_tool::TOOL_NAME || name == skill_actions::RUN_TOOL_NAME || view.find_tool(name).is_some()
    }

    /// Waits until the server shuts down.
    pub(crate) async fn wait_for_shutdown(&self) {
        let _ = self.shutdown.subscribe().wait_for(|has_begun| *has_begun).await;
    }

    pub(crate) fn is_watching(&self) -> bool {
        self.watch_handle.lock().is_some()
    }

    /// Counts the use of a skill.
    pub(crate) fn count_use(&self, skill: &str) {
        *self.usage.lock().entry(skill.to_owned()).or_default() += 1;
    }

    /// Returns the pinned skills, then the skills that were used most.
    pub(crate) fn favorite_skills(&self) -> Vec<String> {
        let mut favorites = self.pinned_skills.clone();
        let usage = self.usage.lock();
        let mut used: Vec<(&String, &u64)> = usage.iter().filter(|(name, _)| !favorites.contains(name)).collect();
        used.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let used: Vec<String> = used.into_iter().take(FAVORITES_MAX).map(|(name, _)| name.clone()).collect();
        favorites.extend(used);
        favorites
    }

    /// Returns a number for a run or confirmation, unique in this process.
    pub(crate) fn take_number(&self) -> u64 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }

    /// Replaces the snapshot.
    fn reload_catalog(&self, catalog: Arc<Catalog>) {
        self.metrics.reloads.fetch_add(1, Ordering::Relaxed);
        let old = self.view();
        let new = Arc::new(old.with_catalog(catalog));
        let tools_changed = old.protocol_tools() != new.protocol_tools();
        let prompts_changed = old.prompts() != new.prompts();
        log_loading_problems(&new, Some(&old));
        *self.last_reload.lock() = Some(Instant::now());
        if old.tool_faults() != new.tool_faults() {
            log_tool_faults(&new);
        }
        self.save_instructions(&new, &mut self.stored_instructions.lock());
        self.set_view(new);
        self.list_changes.send_modify(|changes| {
            changes.tools += u64::from(tools_changed);
            changes.prompts += u64::from(prompts_changed);
            // File sizes and digests are part of the list.
            changes.resources += 1;
        });
        drop(old);
        // What the old snapshot leaves behind is scattered, and would otherwise never be returned.
        rep_sandbox::allocator::release_free_memory();
    }
}
