//! The handler of this crate with the fixtures of the suite added to its lists.

use std::borrow::Cow;
use std::sync::Arc;

use rep_mcp::{McpServer, SessionHandler, random_bytes};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Reference, RequestStateCodec, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, TASKS_EXTENSION_ID, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::task_manager::TaskManager;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::fixtures;

/// What all connections share.
pub(crate) struct Fixtures {
    pub(crate) server: McpServer,
    pub(crate) tasks: TaskManager,
    /// Seals the state that clients bring back.
    codec: RequestStateCodec,
}

impl Fixtures {
    pub(crate) fn new(server: McpServer) -> Arc<Self> {
        let codec = RequestStateCodec::try_new(random_bytes::<64>()).expect("64 bytes are long enough for a key");
        Arc::new(Self { server, tasks: TaskManager::new(), codec })
    }

    pub(crate) fn seal(&self, text: &str) -> String {
        self.codec.seal(text.as_bytes())
    }

    pub(crate) fn open(&self, sealed: &str) -> Option<String> {
        String::from_utf8(self.codec.open(sealed).ok()?).ok()
    }
}

/// Answers the requests of one connection.
pub(crate) struct ConformanceHandler {
    inner: SessionHandler,
    fixtures: Arc<Fixtures>,
}

impl ConformanceHandler {
    pub(crate) fn new(fixtures: &Arc<Fixtures>) -> Self {
        Self { inner: fixtures.server.new_handler(), fixtures: Arc::clone(fixtures) }
    }
}

impl ServerHandler for ConformanceHandler {
    fn get_info(&self) -> ServerConfig {
        let mut config = self.inner.get_info();
        config.capabilities.logging = Some(JsonObject::new());
        let extensions = config.capabilities.extensions.get_or_insert_default();
        extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        config
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.inner.supported_protocol_versions()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.inner.initialize(request, context).await?;
        result.capabilities = self.get_info().capabilities;
        Ok(result)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut result = self.inner.discover(context).await?;
        result.capabilities = self.get_info().capabilities;
        Ok(result)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.inner.on_initialized(context).await;
    }

    #[expect(deprecated, reason = "the suite of 2025-11-25 uses it")]
    async fn set_level(
        &self,
        _: rmcp::model::SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.inner.get_tool(name).or_else(|| fixtures::tools().into_iter().find(|tool| tool.name == name))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut result = self.inner.list_tools(request, context).await?;
        if result.next_cursor.is_none() {
            result.tools.extend(fixtures::tools());
        }
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if fixtures::tools().iter().any(|tool| tool.name == request.name) {
            return fixtures::call(&self.fixtures, &request, &context).await;
        }
        self.inner.call_tool(request, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut result = self.inner.list_prompts(request, context).await?;
        if result.next_cursor.is_none() {
            result.prompts.extend(fixtures::prompts());
        }
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match fixtures::prompt(&request) {
            Some(answer) => answer,
            None => self.inner.get_prompt(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        if let Reference::Prompt(prompt) = &request.r#ref
            && fixtures::prompts().iter().any(|own| own.name == prompt.name)
        {
            // As the server answers for the prompts of skills: their arguments are free text.
            return Ok(CompleteResult::default());
        }
        self.inner.complete(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut result = self.inner.list_resources(request, context).await?;
        if result.next_cursor.is_none() {
            result.resources.extend(fixtures::resources());
        }
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.inner.list_resource_templates(request, context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match fixtures::read(&request.uri) {
            Some(contents) => Ok(fixtures::cacheable(ReadResourceResult::new(vec![contents])).into()),
            None => self.inner.read_resource(request, context).await,
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.inner.on_custom_request(request, context).await
    }

    #[expect(deprecated, reason = "the suite of 2025-11-25 uses it")]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if fixtures::read(&request.uri).is_some() {
            return Ok(());
        }
        self.inner.subscribe(request, context).await
    }

    #[expect(deprecated, reason = "the suite of 2025-11-25 uses it")]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.unsubscribe(request, context).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.fixtures.tasks.get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(&self, request: UpdateTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.fixtures.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(&self, request: CancelTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.fixtures.tasks.cancel_task(&request.task_id)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.inner.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.inner.listen(context).await
    }
}
