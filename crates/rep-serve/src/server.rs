//! The handler of the protocol: every request of either era, answered from the newest snapshot.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use rep_library::answer::Answers;
use rep_library::{Catalog, Library, Watching};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, ErrorCode, ExtensionCapabilities, GetPromptRequestParams, GetPromptResponse,
    GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams, InitializeResult, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter,
    TASKS_EXTENSION_ID, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::task_manager::TaskManager;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};

use crate::calls::{Calls, Question};
use crate::confirm::{Confirm, random};
use crate::convert::{self, Converts};
use crate::desk::Desk;
use crate::log::Log;
use crate::metrics::Metrics;
use crate::page::{self, page};
use crate::runs::{Runs, Stop};
use crate::shelf::{self, Shelf};
use crate::skills::{self, TTL_MS};
use crate::{conformance, fault, prompts, resources, tools};

/// The most runs at once.
const RUNS_MAX: usize = 16;

/// The longest name a client may have, the most it may say at first, and the most resources it may listen to.
const CLIENT_BYTES_MAX: usize = 1 << 10;
const HELLO_BYTES_MAX: usize = 16 << 10;
const LISTENED_MAX: usize = 1000;

/// Takes what is said to the operator.
pub type Talk = Arc<dyn Fn(&str) + Send + Sync>;

/// How a library is served.
pub struct ServedOptions {
    /// Runs tools, where they may be run.
    pub runs: Option<Arc<dyn Runs>>,
    /// Keeps the record of calls, where one is wanted.
    pub calls: Option<Arc<dyn Calls>>,
    /// Converts skills.
    pub converts: Arc<dyn Converts>,
    /// Our version, as clients are told it.
    pub version: &'static str,
    /// Told of every request, where somebody wants to hear.
    pub log: Option<Log>,
    /// Whether the fixtures of the conformance suite are there too.
    pub has_fixtures: bool,
}

/// A library that is served. Shared by every connection.
#[derive(Clone)]
pub struct Served(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    library: Arc<Library>,
    pub(crate) answers: Answers,
    pub(crate) runs: Option<Arc<dyn Runs>>,
    pub(crate) calls: Option<Arc<dyn Calls>>,
    pub(crate) converts: Arc<dyn Converts>,
    shelf: RwLock<Arc<Shelf>>,
    pub(crate) changes: watch::Sender<Changes>,
    /// Whether the end has begun.
    pub(crate) ending: watch::Sender<bool>,
    /// Questions for whoever has the page open.
    pub(crate) desk: Arc<Desk>,
    pub(crate) metrics: Metrics,
    /// How many sessions of the old era there are over HTTP.
    pub(crate) sessions: AtomicUsize,
    pub(crate) confirm: Confirm,
    pub(crate) slots: Arc<Semaphore>,
    /// Runs that go on after their call was answered.
    pub(crate) tasks: TaskManager,
    /// How many calls are being answered.
    pub(crate) answering: watch::Sender<usize>,
    /// The runs that go on, to be asked to end at the end.
    pub(crate) running: Mutex<BTreeMap<u64, Going>>,
    pub(crate) version: &'static str,
    pub(crate) log: Option<Log>,
    /// Whether the fixtures of the conformance suite are there too.
    has_fixtures: bool,
    /// Ends with this.
    watching: Mutex<Option<Watching>>,
}

/// A run that goes on.
pub(crate) struct Going {
    pub(crate) stop: Stop,
    /// The tool, as it is called.
    pub(crate) tool: String,
    pub(crate) since: Instant,
}

/// How often each list changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    tools: u64,
    prompts: u64,
    resources: u64,
}

impl Served {
    /// Serves a library.
    pub fn new(library: Arc<Library>, options: ServedOptions) -> Self {
        let ServedOptions { runs, calls, converts, version, log, has_fixtures } = options;
        // Cursors of another process are not of this one.
        let mark = u64::from(u32::from_le_bytes(random()));
        let shelf = Arc::new(Shelf::new(library.catalog(), mark));
        Self(Arc::new(Shared {
            library,
            answers: Answers::default(),
            runs,
            calls,
            converts,
            shelf: RwLock::new(shelf),
            changes: watch::Sender::new(Changes::default()),
            ending: watch::Sender::new(false),
            desk: Arc::default(),
            metrics: Metrics::default(),
            sessions: AtomicUsize::new(0),
            confirm: Confirm::new(),
            slots: Arc::new(Semaphore::new(RUNS_MAX)),
            tasks: TaskManager::new(),
            answering: watch::Sender::new(0),
            running: Mutex::default(),
            version,
            log,
            has_fixtures,
            watching: Mutex::new(None),
        }))
    }

    /// Puts the next snapshot in place whenever skills change, and tells who listens. Does not block: watching many
    /// folders takes its time, and the first answer need not wait for it.
    pub fn watch(&self, warn: Talk) {
        let weak = Arc::downgrade(&self.0);
        std::thread::spawn(move || {
            let Some(shared) = weak.upgrade() else { return };
            let library = Arc::clone(&shared.library);
            drop(shared);
            let told = weak.clone();
            let tell_warn = Arc::clone(&warn);
            let watching = Library::watch(&library, move |result| match (result, told.upgrade()) {
                (Ok(catalog), Some(shared)) => shared.reshelve(catalog),
                (Err(error), _) => tell_warn(&format!("the last skills stay in place: {error}")),
                (Ok(_), None) => {}
            });
            match (watching, weak.upgrade()) {
                (Ok(watching), Some(shared)) => {
                    let catalog = library.catalog();
                    // What changed before anybody watched is seen here.
                    if !is_same(&shared.shelf().catalog, &catalog) {
                        shared.reshelve(catalog);
                    }
                    *shared.watching.lock().unwrap_or_else(PoisonError::into_inner) = Some(watching);
                }
                (Err(error), _) => warn(&format!("changes are not seen until a restart: {error}")),
                (Ok(_), None) => {}
            }
        });
    }

    /// Asks every run to end.
    pub fn stop(&self) {
        self.0.ending.send_replace(true);
        let running: Vec<Stop> = {
            let running = self.0.running.lock().unwrap_or_else(PoisonError::into_inner);
            running.values().map(|going| going.stop.clone()).collect()
        };
        running.iter().for_each(Stop::stop);
    }

    /// Waits until no tool runs, or the time is over.
    pub(crate) async fn rest(&self, most: Duration) {
        let all = u32::try_from(RUNS_MAX).unwrap_or(u32::MAX);
        // Whoever still runs then is left to the end of the process, which ends it.
        let _ = tokio::time::timeout(most, async {
            let _ = self.0.slots.acquire_many(all).await;
            // And until each call is answered, and kept.
            let _ = self.0.answering.subscribe().wait_for(|count| *count == 0).await;
        })
        .await;
    }

    /// Stops watching.
    pub(crate) fn end(&self) {
        let watching = self.0.watching.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(watching);
    }

    /// The handler of one connection.
    pub(crate) fn server(&self) -> Server {
        Server {
            shared: Arc::clone(&self.0),
            subscribed: Arc::default(),
            session: format!("mcp-{:032x}", u128::from_le_bytes(random())),
            alive: watch::Sender::new(()),
        }
    }
}

/// Whether two snapshots list the same skills.
fn is_same(one: &Catalog, two: &Catalog) -> bool {
    one.entries.len() == two.entries.len()
        && one.entries.iter().zip(&two.entries).all(|(one, two)| {
            (&one.qualified_name, &one.description, &one.location, one.status)
                == (&two.qualified_name, &two.description, &two.location, two.status)
        })
}

impl Shared {
    /// The newest snapshot.
    pub(crate) fn shelf(&self) -> Arc<Shelf> {
        Arc::clone(&self.shelf.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until the end has begun.
    pub(crate) async fn ended(&self) {
        let _ = self.ending.subscribe().wait_for(|is_ending| *is_ending).await;
    }

    /// Whether changes on disk are seen.
    pub(crate) fn is_watched(&self) -> bool {
        self.watching.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn reshelve(&self, catalog: Arc<Catalog>) {
        self.metrics.reloads.fetch_add(1, Ordering::Relaxed);
        let old = self.shelf();
        let new = Arc::new(Shelf::new(catalog, old.mark + 1));
        let runs = self.runs.as_deref();
        let has_other_tools = old.tools(runs) != new.tools(runs);
        let has_other_prompts = old.prompts() != new.prompts();
        *self.shelf.write().unwrap_or_else(PoisonError::into_inner) = new;
        self.changes.send_modify(|changes| {
            changes.tools += u64::from(has_other_tools);
            changes.prompts += u64::from(has_other_prompts);
            // Sizes and digests are part of the list.
            changes.resources += 1;
        });
    }

    /// Tells of a change that was none, for the conformance suite.
    pub(crate) fn pretend(&self, is_of_tools: bool) {
        self.changes.send_modify(|changes| {
            changes.tools += u64::from(is_of_tools);
            changes.prompts += u64::from(!is_of_tools);
        });
    }

    /// What stands at an address.
    fn read(&self, shelf: &Shelf, address: &str) -> Result<ResourceContents, ErrorData> {
        let fixture = self.has_fixtures.then(|| conformance::read(address)).flatten();
        fixture.map_or_else(|| resources::read(shelf, address), Ok)
    }

    /// The digest of what stands at an address; nothing where nothing does.
    fn state_of(&self, address: &str) -> Option<String> {
        let contents = self.read(&self.shelf(), address).ok()?;
        Some(shelf::digest(json!(contents).to_string().as_bytes()))
    }

    /// Counts a request, and tells of it where somebody wants to hear.
    pub(crate) fn say(&self, context: &RequestContext<RoleServer>, request: &str, what: &str) {
        let method = what.split(' ').next().unwrap_or(what);
        self.metrics.asked(method);
        if let Some(log) = &self.log {
            let id = context.id.to_string();
            log.tell(request, what, &[("mcp", method.into()), ("id", id.as_str().into())]);
        }
    }
}

/// The handler of one connection.
pub(crate) struct Server {
    pub(crate) shared: Arc<Shared>,
    /// What the client subscribed to, with its state then.
    subscribed: Arc<Mutex<BTreeMap<String, Option<String>>>>,
    /// The session of who has none of its own.
    pub(crate) session: String,
    /// Dropped with this, which ends what was started for it.
    alive: watch::Sender<()>,
}

impl Server {
    /// Does work that reads the disk, away from the threads that answer.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared, &Shelf) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let shared = Arc::clone(&self.shared);
        let done = tokio::task::spawn_blocking(move || work(&shared, &shared.shelf())).await;
        done.unwrap_or_else(|_| Err(fault::internal()))
    }

    fn info(&self) -> ServerConfig {
        let settings = json!({ "directoryRead": true }).as_object().cloned().unwrap_or_default();
        let mut capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        // Only the suite asks for it.
        capabilities.logging = self.shared.has_fixtures.then(JsonObject::new);
        let mut extensions: ExtensionCapabilities = [(skills::EXTENSION.to_owned(), settings)].into();
        if self.shared.runs.is_some() || self.shared.has_fixtures {
            extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        }
        capabilities.extensions = Some(extensions);
        let this = Implementation::new("repertoire", self.shared.version).with_title("Repertoire");
        ServerConfig::new(capabilities)
            .with_server_info(this)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_instructions(self.shared.shelf().instructions())
    }
}

/// The cursor of a request.
fn cursor(request: Option<PaginatedRequestParams>) -> Option<String> {
    request.and_then(|request| request.cursor)
}

/// What a request of the Skills extension asks.
fn of_extension(request: &CustomRequest) -> Question {
    let address = request.params.as_ref().and_then(|params| params.get("uri")?.as_str());
    Question::new(&request.method, address.unwrap_or_default())
}

/// A field of a request of the Skills extension.
fn field<'a>(params: Option<&'a Value>, name: &str) -> Result<Option<&'a str>, ErrorData> {
    match params.and_then(|params| params.get(name)) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(fault::invalid(format!("`{name}` is not text"))),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        self.info()
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        std::borrow::Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let info = &request.client_info;
        // It is held as long as the session lasts, and there may be many.
        if info.name.len() + info.version.len() > CLIENT_BYTES_MAX || json!(request).to_string().len() > HELLO_BYTES_MAX
        {
            return Err(fault::invalid("`initialize` says more than a server could need"));
        }
        context.peer.set_peer_info(request.clone());
        let asked = self.asked(Question::new("initialize", ""), &context);
        asked.by(std::future::ready(self.negotiate_initialize(&request))).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let changes = self.shared.changes.subscribe();
        let shared = Arc::downgrade(&self.shared);
        let subscribed = Arc::clone(&self.subscribed);
        let alive = self.alive.subscribe();
        tokio::spawn(tell(Listener::Session(context.peer, subscribed), shared, changes, alive));
    }

    #[expect(deprecated, reason = "only the suite of 2025-11-25 asks for it")]
    async fn set_level(
        &self,
        _: rmcp::model::SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let none = || ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "logging/setLevel", None);
        if self.shared.has_fixtures { Ok(()) } else { Err(none()) }
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let shelf = self.shared.shelf();
        let own = shelf.tools(self.shared.runs.as_deref()).iter().find(|tool| tool.name == name).cloned();
        let fixture = || conformance::tools().into_iter().find(|tool| tool.name == name);
        own.or_else(|| self.shared.has_fixtures.then(fixture).flatten())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let asked = self.asked(Question::new("tools/list", ""), &context);
        let answer = async {
            self.work(move |shared, shelf| {
                let all = shelf.tools(shared.runs.as_deref());
                let page = page(all, shelf.mark, cursor(request).as_deref(), page::PAGE_MAX)?;
                let mut result = ListToolsResult::with_all_items(page.items.to_vec());
                result.next_cursor = page.next;
                if shared.has_fixtures {
                    result.tools.extend(conformance::tools());
                }
                Ok(result.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private))
            })
            .await
        };
        asked.by(answer).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let asked =
            self.asked(Question::of_tool(&request.name, &request.arguments.clone().unwrap_or_default()), &context);
        let answer = async {
            let given = request.arguments.clone().unwrap_or_default();
            if tools::is_own(&request.name) {
                let name = request.name.to_string();
                let result =
                    self.work(move |shared, shelf| Ok(tools::call(shelf, &shared.answers, &name, &given))).await?;
                return Ok(result.into());
            }
            if request.name == convert::NAME {
                return self.convert(request, context).await;
            }
            let name = request.name.to_string();
            if self.shared.has_fixtures && conformance::tools().iter().any(|tool| tool.name == request.name) {
                return conformance::call(self, &request, &context).await;
            }
            let offer = self
                .work(move |shared, shelf| {
                    let offers = shelf.offers(shared.runs.as_deref());
                    Ok(offers.iter().find(|offer| offer.name == name).cloned())
                })
                .await?;
            let offer = offer.ok_or_else(|| fault::invalid("there is no tool of this name"))?;
            self.run(offer, request, context).await
        };
        asked.by(answer).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let asked = self.asked(Question::new("prompts/list", ""), &context);
        let answer = async {
            let shelf = self.shared.shelf();
            let page = page(shelf.prompts(), shelf.mark, cursor(request).as_deref(), page::PAGE_MAX)?;
            let mut result = ListPromptsResult::with_all_items(page.items.to_vec());
            result.next_cursor = page.next;
            if self.shared.has_fixtures {
                result.prompts.extend(conformance::prompts());
            }
            Ok(result.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private))
        };
        asked.by(answer).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let asked = self.asked(Question::new("prompts/get", &request.name).with(&json!(request.arguments)), &context);
        let answer = async {
            if let Some(done) = self.shared.has_fixtures.then(|| conformance::prompt(&request)).flatten() {
                return done;
            }
            let given = request.arguments.unwrap_or_default();
            let given = json!(given).as_object().cloned().unwrap_or_default();
            let result = self.work(move |_, shelf| prompts::get(shelf, &request.name, &given)).await?;
            Ok(result.into())
        };
        asked.by(answer).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let asked = self.asked(Question::new("completion/complete", "").with(&json!(request)), &context);
        let answer = async {
            if self.shared.has_fixtures {
                return Ok(CompleteResult::default());
            }
            let done =
                self.work(move |_, shelf| prompts::complete(shelf, &request.r#ref, &request.argument.value)).await?;
            Ok(CompleteResult::new(done))
        };
        asked.by(answer).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let asked = self.asked(Question::new("resources/list", ""), &context);
        let answer = async {
            self.work(move |shared, shelf| {
                let page = page(shelf.resources(), shelf.mark, cursor(request).as_deref(), page::PAGE_MAX)?;
                let mut result = ListResourcesResult::with_all_items(page.items.to_vec());
                result.next_cursor = page.next;
                if shared.has_fixtures {
                    result.resources.extend(conformance::resources());
                }
                Ok(result.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private))
            })
            .await
        };
        asked.by(answer).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let asked = self.asked(Question::new("resources/templates/list", ""), &context);
        let answer = async {
            let all = resources::templates();
            let page = page(&all, self.shared.shelf().mark, cursor(request).as_deref(), page::PAGE_MAX)?;
            let result = ListResourceTemplatesResult::with_all_items(page.items.to_vec());
            Ok(result.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private))
        };
        asked.by(answer).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let asked = self.asked(Question::new("resources/read", &request.uri), &context);
        let answer = async {
            let contents = self.work(move |shared, shelf| shared.read(shelf, &request.uri)).await?;
            let result = ReadResourceResult::new(vec![contents]);
            Ok(result.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private).into())
        };
        asked.by(answer).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let asked = self.asked(of_extension(&request), &context);
        let answer = async {
            let done = self
                .work(move |shared, shelf| {
                    let params = request.params.as_ref();
                    let address = || field(params, "uri")?.ok_or_else(|| fault::invalid("`uri` is missing"));
                    let cursor = || field(params, "cursor");
                    match request.method.as_str() {
                        "skills/list" => skills::list(shelf, cursor()?, shared.is_watched()),
                        "skills/get" => skills::get(shelf, address()?),
                        "resources/directory/read" => skills::directory(shelf, address()?, cursor()?),
                        _ => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method.clone(), None)),
                    }
                })
                .await?;
            Ok(CustomResult::new(done))
        };
        asked.by(answer).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let asked = self.asked(Question::new("resources/subscribe", &request.uri), &context);
        let answer = async {
            let address = request.uri.clone();
            let state = self.work(move |shared, _| Ok(shared.state_of(&address))).await?;
            if state.is_none() {
                return Err(fault::no_resource(&request.uri));
            }
            let mut subscribed = self.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
            if subscribed.len() >= LISTENED_MAX {
                return Err(fault::invalid("too many resources are subscribed to"));
            }
            subscribed.insert(request.uri, state);
            Ok(())
        };
        asked.by(answer).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let asked = self.asked(Question::new("resources/unsubscribe", &request.uri), &context);
        let answer = async {
            self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).remove(&request.uri);
            Ok(())
        };
        asked.by(answer).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let asked = self.asked(Question::of_task("tasks/get", &request.task_id), &context);
        let answer = async { self.shared.tasks.get_task(&request.task_id).map(GetTaskResult::new) };
        asked.by(answer).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let asked = self.asked(Question::of_task("tasks/update", &request.task_id), &context);
        let answer = async { self.shared.tasks.update_task(&request.task_id, request.input_responses) };
        asked.by(answer).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let asked = self.asked(Question::of_task("tasks/cancel", &request.task_id), &context);
        let answer = async { self.shared.tasks.cancel_task(&request.task_id) };
        asked.by(answer).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(addresses) = &mut accepted.resource_subscriptions {
            addresses.truncate(LISTENED_MAX);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let accepted = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let asked = self.asked(Question::new("subscriptions/listen", ""), context.request_context());
        asked.by(std::future::ready(Ok(()))).await?;
        let changes = self.shared.changes.subscribe();
        let wanted: BTreeMap<String, Option<String>> = self
            .work(move |shared, _| {
                Ok(accepted
                    .into_iter()
                    .map(|address| {
                        let state = shared.state_of(&address);
                        (address, state)
                    })
                    .collect())
            })
            .await?;
        let alive = self.alive.subscribe();
        let shared = Arc::downgrade(&self.shared);
        let listener = Listener::Stream(context.sink().clone(), Arc::new(Mutex::new(wanted)));
        tokio::select! {
            () = context.cancelled() => {}
            () = tell(listener, shared, changes, alive) => {}
        }
        Ok(())
    }
}

/// Who is told of changes: a session of the old era, or a stream of the new one.
enum Listener {
    Session(Peer<RoleServer>, Arc<Mutex<BTreeMap<String, Option<String>>>>),
    Stream(SubscriptionSink, Arc<Mutex<BTreeMap<String, Option<String>>>>),
}

impl Listener {
    /// Tells of a change. False where nobody is there to hear.
    async fn hear(&self, before: Changes, now: Changes, updated: &[String]) -> bool {
        match self {
            Listener::Session(peer, _) => {
                let mut is_there = !peer.is_transport_closed();
                if now.tools != before.tools {
                    is_there &= peer.notify_tool_list_changed().await.is_ok();
                }
                if now.prompts != before.prompts {
                    is_there &= peer.notify_prompt_list_changed().await.is_ok();
                }
                if now.resources != before.resources {
                    is_there &= peer.notify_resource_list_changed().await.is_ok();
                }
                for address in updated {
                    let param = ResourceUpdatedNotificationParam::new(address);
                    is_there &= peer.notify_resource_updated(param).await.is_ok();
                }
                is_there
            }
            Listener::Stream(sink, _) => {
                let wanted = sink.accepted();
                let mut is_there = true;
                if now.tools != before.tools && wanted.tools_list_changed == Some(true) {
                    is_there &= sink.notify_tool_list_changed().await.is_ok();
                }
                if now.prompts != before.prompts && wanted.prompts_list_changed == Some(true) {
                    is_there &= sink.notify_prompt_list_changed().await.is_ok();
                }
                if now.resources != before.resources && wanted.resources_list_changed == Some(true) {
                    is_there &= sink.notify_resource_list_changed().await.is_ok();
                }
                for address in updated {
                    is_there &= sink.notify_resource_updated(address.clone()).await.is_ok();
                }
                is_there
            }
        }
    }

    fn subscribed(&self) -> &Arc<Mutex<BTreeMap<String, Option<String>>>> {
        match self {
            Listener::Session(_, subscribed) | Listener::Stream(_, subscribed) => subscribed,
        }
    }
}

/// Tells a listener of every change until one of both is gone.
async fn tell(
    listener: Listener,
    shared: std::sync::Weak<Shared>,
    mut changes: watch::Receiver<Changes>,
    mut alive: watch::Receiver<()>,
) {
    let mut before = *changes.borrow_and_update();
    loop {
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            _ = alive.changed() => return,
        }
        let now = *changes.borrow_and_update();
        let Some(served) = shared.upgrade() else { return };
        let subscribed = Arc::clone(listener.subscribed());
        let looked = tokio::task::spawn_blocking(move || updated(&served, &subscribed)).await;
        if !listener.hear(before, now, &looked.unwrap_or_default()).await {
            return;
        }
        before = now;
    }
}

/// The subscribed resources that are not what they were.
fn updated(shared: &Shared, subscribed: &Mutex<BTreeMap<String, Option<String>>>) -> Vec<String> {
    let mut subscribed = subscribed.lock().unwrap_or_else(PoisonError::into_inner);
    let mut updated = Vec::new();
    for (address, state) in subscribed.iter_mut() {
        let now = shared.state_of(address);
        if *state != now {
            *state = now;
            updated.push(address.clone());
        }
    }
    updated
}
