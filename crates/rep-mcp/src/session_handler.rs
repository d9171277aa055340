//! The protocol handler of one connection. It answers requests of both revisions from the newest snapshot.

use std::borrow::Cow;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode, ExtensionCapabilities,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams,
    InitializeResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, TASKS_EXTENSION_ID, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::call_log::CallSubject;
use crate::catalog_view::{AllowedRuns, CatalogView, ViewScope};
use crate::confirmation::random_bytes;
use crate::identity::Owner;
use crate::library_tools::LibraryToolError;
use crate::pagination::page_by_bytes;
use crate::server::ServerState;
use crate::skills_extension::{self, TTL_MS};
use crate::subscriptions::{
    ChangeSubscriber, ResourceSubscriptions, SUBSCRIPTIONS_MAX, notify_changes, resource_digest,
};
use crate::{convert_tool, library_tools, prompts, protocol_error, resources, script_tool, skill_actions};

/// The maximum size of a client's name and version, and of the `initialize` request.
const CLIENT_BYTES_MAX: usize = 1 << 10;
const INITIALIZE_BYTES_MAX: usize = 16 << 10;

/// Answers the requests of one connection.
pub struct SessionHandler {
    pub(crate) state: Arc<ServerState>,
    subscriptions: ResourceSubscriptions,
    /// Whether the client runs as the user of this process on this machine.
    pub(crate) is_local: bool,
    /// The state session used when a client does not name one.
    pub(crate) session: String,
    /// The part of the library that exists for the client of a session, once it is known.
    session_scope: Mutex<ViewScope>,
    /// Dropped with this value, which stops the tasks started for the connection.
    alive: watch::Sender<()>,
}

impl SessionHandler {
    pub(crate) fn new(state: Arc<ServerState>, is_local: bool) -> Self {
        Self {
            state,
            is_local,
            subscriptions: ResourceSubscriptions::default(),
            session: format!("mcp-{:032x}", u128::from_le_bytes(random_bytes())),
            session_scope: Mutex::default(),
            alive: watch::Sender::new(()),
        }
    }

    /// Runs work that reads from disk on a blocking thread.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&ServerState, &CatalogView) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let (state, scope) = (Arc::clone(&self.state), self.state.client_scope(context));
        let done = tokio::task::spawn_blocking(move || work(&state, &state.view_within(&scope))).await;
        done.unwrap_or_else(|_| Err(protocol_error::internal_error()))
    }

    /// Searches the tools of skills, or runs one of them by its name.
    async fn call_skill_action(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = request.arguments.take().unwrap_or_default();
        let failed = |error: LibraryToolError| CallToolResult::structured_error(error.to_envelope()).into();
        if request.name == skill_actions::SEARCH_TOOL_NAME {
            let found =
                self.run_blocking(&context, move |_, view| Ok(skill_actions::search_tools(view, &given))).await?;
            return Ok(found.map_or_else(failed, |value| CallToolResult::structured(value).into()));
        }
        let parsed = self.run_blocking(&context, move |_, view| Ok(skill_actions::parse_call(view, &given))).await?;
        match parsed {
            Ok((tool, arguments)) => {
                request.arguments = Some(arguments);
                self.call_skill_tool(tool, request, context).await
            }
            Err(error) => Ok(failed(error)),
        }
    }

    fn server_config(&self) -> ServerConfig {
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
        let mut extensions: ExtensionCapabilities = [(skills_extension::EXTENSION_NAME.to_owned(), settings)].into();
        if self.state.allows_runs() {
            extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        }
        capabilities.extensions = Some(extensions);
        let this = Implementation::new("repertoire", self.state.version).with_title("Repertoire");
        ServerConfig::new(capabilities).with_server_info(this).with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    /// Returns the instructions for the model of a client.
    fn instructions(&self, context: &RequestContext<RoleServer>) -> String {
        self.state.instructions(&self.state.client_scope(context))
    }
}

/// Returns the cursor of a request.
fn request_cursor(request: Option<PaginatedRequestParams>) -> Option<String> {
    request.and_then(|request| request.cursor)
}

/// Returns the subject of a Skills extension request.
fn extension_subject(request: &CustomRequest) -> CallSubject {
    let uri = request.params.as_ref().and_then(|params| params.get("uri")?.as_str());
    CallSubject::new(&request.method, uri.unwrap_or_default())
}

/// Returns a text field of a Skills extension request.
fn text_field<'a>(params: Option<&'a Value>, name: &str) -> Result<Option<&'a str>, ErrorData> {
    match params.and_then(|params| params.get(name)) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(protocol_error::invalid_params(format!("`{name}` must be a string"))),
    }
}

impl ServerHandler for SessionHandler {
    fn get_info(&self) -> ServerConfig {
        self.server_config().with_instructions(self.state.instructions(&ViewScope::default()))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let info = &request.client_info;
        // The request is stored as long as the session, and there may be many sessions.
        let is_too_long = info.name.len() + info.version.len() > CLIENT_BYTES_MAX
            || json!(request).to_string().len() > INITIALIZE_BYTES_MAX;
        if is_too_long {
            return Err(protocol_error::invalid_params("the `initialize` request is too large"));
        }
        context.peer.set_peer_info(request.clone());
        *self.session_scope.lock() = self.state.client_scope(&context);
        let call = self.open_call(CallSubject::new("initialize", ""), &context);
        let result = self.negotiate_initialize(&request);
        let result = result.map(|result| result.with_instructions(self.instructions(&context)));
        call.answer_and_record(std::future::ready(result)).await
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let config = self.server_config().with_instructions(self.instructions(&context));
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), config))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let changes = self.state.list_changes.subscribe();
        let subscriber = ChangeSubscriber::Session(context.peer, Arc::clone(&self.subscriptions));
        let alive = self.alive.subscribe();
        let scope = self.session_scope.lock().clone();
        tokio::spawn(notify_changes(subscriber, (Arc::downgrade(&self.state), scope), changes, alive));
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.state.view().protocol_tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let call = self.open_call(CallSubject::new("tools/list", ""), &context);
        let answer = self.run_blocking(&context, move |_, view| {
            let page = page_by_bytes(view.protocol_tools(), view.generation, request_cursor(request).as_deref())?;
            let mut result = ListToolsResult::with_all_items(page.items.to_vec());
            result.next_cursor = page.next;
            Ok(result.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private))
        });
        call.answer_and_record(answer).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.clone().unwrap_or_default();
        let call = self.open_call(CallSubject::from_tool_call(&request.name, &arguments), &context);
        let answer = async {
            let name = request.name.to_string();
            if library_tools::is_library_tool(&name) {
                let is_local = self.is_local;
                let call = move |state: &ServerState, view: &CatalogView| {
                    Ok(library_tools::call_tool(view, &state.query_engine, &name, &arguments, is_local))
                };
                return Ok(self.run_blocking(&context, call).await?.into());
            }
            if name == convert_tool::TOOL_NAME {
                return self.convert_skill(request, context).await;
            }
            let view = self.state.view_within(&self.state.client_scope(&context));
            if name == script_tool::TOOL_NAME && *view.allowed_runs() != AllowedRuns::None {
                return match script_tool::parse_call(&view, &arguments) {
                    Ok(script) => self.call_skill_tool(script, request, context).await,
                    Err(error) => Ok(CallToolResult::structured_error(error.to_envelope()).into()),
                };
            }
            if skill_actions::is_offered(&view, &name) {
                return self.call_skill_action(request, context).await;
            }
            let tool = self.run_blocking(&context, move |_, view| Ok(view.find_tool(&name).cloned())).await?;
            let tool = tool.ok_or_else(|| {
                protocol_error::invalid_params("unknown tool; list the available tools with `tools/list`")
            })?;
            self.call_skill_tool(tool, request, context).await
        };
        call.answer_and_record(answer).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let call = self.open_call(CallSubject::new("prompts/list", ""), &context);
        let answer = async {
            let view = self.state.view_within(&self.state.client_scope(&context));
            let page = page_by_bytes(view.prompts(), view.generation, request_cursor(request).as_deref())?;
            let mut result = ListPromptsResult::with_all_items(page.items.to_vec());
            result.next_cursor = page.next;
            Ok(result.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private))
        };
        call.answer_and_record(answer).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let subject = CallSubject::new("prompts/get", &request.name).with_arguments(&json!(request.arguments));
        let call = self.open_call(subject, &context);
        let answer = async {
            let arguments = json!(request.arguments.unwrap_or_default()).as_object().cloned().unwrap_or_default();
            let result = self
                .run_blocking(&context, move |_, view| prompts::render_prompt(view, &request.name, &arguments))
                .await?;
            Ok(result.into())
        };
        call.answer_and_record(answer).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let subject = CallSubject::new("completion/complete", "").with_arguments(&json!(request));
        let call = self.open_call(subject, &context);
        let answer = async {
            let complete = move |_: &ServerState, view: &CatalogView| {
                prompts::complete_argument(view, &request.r#ref, &request.argument.value)
            };
            Ok(CompleteResult::new(self.run_blocking(&context, complete).await?))
        };
        call.answer_and_record(answer).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let call = self.open_call(CallSubject::new("resources/list", ""), &context);
        let answer = self.run_blocking(&context, move |_, view| {
            let page = page_by_bytes(view.resources(), view.generation, request_cursor(request).as_deref())?;
            let mut result = ListResourcesResult::with_all_items(page.items.to_vec());
            result.next_cursor = page.next;
            Ok(result.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private))
        });
        call.answer_and_record(answer).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let call = self.open_call(CallSubject::new("resources/templates/list", ""), &context);
        let answer = async {
            let all = resources::resource_templates();
            let page = page_by_bytes(&all, self.state.view().generation, request_cursor(request).as_deref())?;
            let result = ListResourceTemplatesResult::with_all_items(page.items.to_vec());
            Ok(result.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private))
        };
        call.answer_and_record(answer).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let call = self.open_call(CallSubject::new("resources/read", &request.uri), &context);
        let answer = async {
            let contents =
                self.run_blocking(&context, move |_, view| resources::read_resource(view, &request.uri)).await?;
            let result = ReadResourceResult::new(vec![contents]);
            Ok(result.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private).into())
        };
        call.answer_and_record(answer).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let call = self.open_call(extension_subject(&request), &context);
        let answer = async {
            let answer = move |state: &ServerState, view: &CatalogView| {
                let params = request.params.as_ref();
                let uri = || {
                    text_field(params, "uri")?.ok_or_else(|| protocol_error::invalid_params("missing parameter `uri`"))
                };
                let cursor = || text_field(params, "cursor");
                match request.method.as_str() {
                    "skills/list" => skills_extension::list_skills(view, cursor()?, state.is_watching()),
                    "skills/get" => skills_extension::get_skill(view, uri()?),
                    "resources/directory/read" => skills_extension::read_directory(view, uri()?, cursor()?),
                    _ => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method.clone(), None)),
                }
            };
            Ok(CustomResult::new(self.run_blocking(&context, answer).await?))
        };
        call.answer_and_record(answer).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let call = self.open_call(CallSubject::new("resources/subscribe", &request.uri), &context);
        let answer = async {
            let uri = request.uri.clone();
            let digest = self.run_blocking(&context, move |_, view| Ok(resource_digest(view, &uri))).await?;
            if digest.is_none() {
                return Err(protocol_error::resource_not_found(&request.uri));
            }
            let mut subscriptions = self.subscriptions.lock();
            if subscriptions.len() >= SUBSCRIPTIONS_MAX {
                return Err(protocol_error::invalid_params(
                    "too many resource subscriptions; unsubscribe from one first",
                ));
            }
            subscriptions.insert(request.uri, digest);
            Ok(())
        };
        call.answer_and_record(answer).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let call = self.open_call(CallSubject::new("resources/unsubscribe", &request.uri), &context);
        let answer = async {
            self.subscriptions.lock().remove(&request.uri);
            Ok(())
        };
        call.answer_and_record(answer).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let owner = Owner::from_context(&context);
        let call = self.open_call(CallSubject::from_task_request("tasks/get", &request.task_id), &context);
        let answer = async { self.state.tasks.get(&owner, &request.task_id).map(GetTaskResult::new) };
        call.answer_and_record(answer).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let owner = Owner::from_context(&context);
        let call = self.open_call(CallSubject::from_task_request("tasks/update", &request.task_id), &context);
        let answer = async { self.state.tasks.update(&owner, &request.task_id, request.input_responses) };
        call.answer_and_record(answer).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let owner = Owner::from_context(&context);
        let call = self.open_call(CallSubject::from_task_request("tasks/cancel", &request.task_id), &context);
        let answer = async { self.state.tasks.cancel(&owner, &request.task_id) };
        call.answer_and_record(answer).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.truncate(SUBSCRIPTIONS_MAX);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let call = self.open_call(CallSubject::new("subscriptions/listen", ""), context.request_context());
        call.answer_and_record(std::future::ready(Ok(()))).await?;
        let changes = self.state.list_changes.subscribe();
        let scope = self.state.client_scope(context.request_context());
        let digests = self.run_blocking(context.request_context(), move |_, view| {
            let with_digest = |uri: String| {
                let digest = resource_digest(view, &uri);
                (uri, digest)
            };
            Ok(uris.into_iter().map(with_digest).collect())
        });
        let subscriptions = ResourceSubscriptions::new(Mutex::new(digests.await?));
        let subscriber = ChangeSubscriber::Stream(context.sink().clone(), subscriptions);
        tokio::select! {
            () = context.cancelled() => {}
            () = notify_changes(subscriber, (Arc::downgrade(&self.state), scope), changes, self.alive.subscribe()) => {}
        }
        Ok(())
    }
}
