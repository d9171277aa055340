//! The fixtures of the suite for the tasks extension.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock, CreateTaskResult,
    InputRequest, Tool,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskOptions};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, from_value, json};

use crate::conformance_handler::Fixtures;
use crate::fixtures::{answered, form, internal, required, text_response};

/// The tools, and their arguments.
pub(super) fn tools() -> Vec<Tool> {
    let tool = |name: &str, properties: Value| {
        let schema = json!({ "type": "object", "properties": properties });
        json!({ "name": name, "description": "For the conformance suite.", "inputSchema": schema })
    };
    let text = json!({ "type": "string" });
    let all = [
        tool("greet", json!({ "name": text })),
        tool("slow_compute", json!({ "seconds": { "type": "number" }, "label": text })),
        tool("failing_job", json!({})),
        tool("protocol_error_job", json!({})),
        tool("confirm_delete", json!({ "filename": text })),
        tool("multi_input", json!({})),
        tool("test_tool_with_task", json!({})),
    ];
    all.into_iter().filter_map(|tool| from_value(tool).ok()).collect()
}

/// Calls one of them.
pub(super) fn call(
    fixtures: &Fixtures,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let given = json!(request.arguments.clone().unwrap_or_default());
    if request.name == "greet" {
        return Ok(text_response(format!("Hello, {}!", given["name"].as_str().unwrap_or_default())));
    }
    let mut user = String::new();
    if request.name == "test_tool_with_task" {
        let Some(answer) = answered(request.input_responses.as_ref(), "user_name") else {
            let question = form("What is your name?", "name", "string");
            return required(&json!({ "user_name": question }), None).map(Into::into);
        };
        answer["content"]["name"].as_str().unwrap_or_default().clone_into(&mut user);
    }
    let knows_tasks = context.client_capabilities().is_some_and(|can| can.supports_tasks());
    let seconds = given["seconds"].as_f64().unwrap_or(0.0);
    if !knows_tasks && request.name == "slow_compute" {
        return Ok(text_response("computed"));
    }
    if !knows_tasks {
        let needed = ClientCapabilities::builder().enable_tasks().build();
        return Err(ErrorData::missing_required_client_capability(needed));
    }
    if request.name == "slow_compute" && seconds == 0.0 {
        return Ok(text_response("computed"));
    }
    let name = request.name.to_string();
    let task = fixtures.tasks.spawn(TaskOptions::new(), |task: TaskContext| {
        Box::pin(async move { work(&name, seconds, &user, &task).await })
    });
    Ok(CreateTaskResult::new(task).into())
}

async fn work(name: &str, seconds: f64, user: &str, task: &TaskContext) -> Result<CallToolResult, TaskExit> {
    let done = |text: &str| Ok(CallToolResult::success(vec![ContentBlock::text(text)]));
    match name {
        "slow_compute" => {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs_f64(seconds.clamp(0.0, 600.0))) => done("computed"),
                () = task.cancelled() => Err(TaskExit::Cancelled),
            }
        }
        "failing_job" => {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(CallToolResult::error(vec![ContentBlock::text("the job failed")]))
        }
        "protocol_error_job" => Err(TaskExit::Error(internal())),
        "confirm_delete" => {
            task.request_input("confirm", question("Delete it?")?).await?;
            done("deleted")
        }
        "multi_input" => {
            let both = tokio::try_join!(
                task.request_input("first", question("First?")?),
                task.request_input("second", question("Second?")?),
            );
            both.and_then(|_| done("both there"))
        }
        _ => done(&format!("for {user}")),
    }
}

fn question(text: &str) -> Result<InputRequest, TaskExit> {
    from_value(form(text, "confirm", "boolean")).map_err(|_| TaskExit::Error(internal()))
}
