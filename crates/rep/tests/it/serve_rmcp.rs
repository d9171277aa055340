//! The server as the official Rust client finds it: over stdio and HTTP, in both eras.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rep_test_support::ScratchFolder;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest, CustomRequest, ElicitRequestParams,
    ElicitResult, ElicitationAction, ErrorData, GetPromptRequestParams, Implementation, ProtocolVersion,
    ReadResourceRequestParams, ServerResult,
};
use rmcp::service::{RequestContext, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _};
use serde_json::{Value, json};
use tokio::process::Command;

use super::serve::{ERAS, Era, library, start};
use super::serve_http::listening;
use super::serve_runs::{RUN, tools};

/// A client whose user says yes.
#[derive(Clone, Default)]
struct Yes {
    asked: Arc<AtomicUsize>,
}

impl ClientHandler for Yes {
    async fn create_elicitation(
        &self,
        _request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "run": true })))
    }

    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::builder().enable_elicitation().build(), Implementation::new("test", "1"))
    }
}

fn lifecycle(era: Era) -> ClientLifecycleMode {
    match era {
        Era::Old => ClientLifecycleMode::Initialize,
        Era::New => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
    }
}

/// What every client wants of a server.
async fn uses(client: &RunningService<RoleClient, Yes>, yes: &Yes) -> Result<(), Box<dyn std::error::Error>> {
    let tools = client.list_all_tools().await?;
    for name in ["list_skills", "search_skills", "load_skill", "plain__echo"] {
        assert!(tools.iter().any(|tool| tool.name == name), "{name}");
    }
    let resources = client.list_all_resources().await?;
    let uri =
        resources.iter().map(|one| one.uri.clone()).find(|uri| uri.ends_with("pdf/SKILL.md")).ok_or("not listed")?;
    let read = client.read_resource(ReadResourceRequestParams::new(uri)).await?;
    assert_eq!(read.contents.len(), 1);
    assert!(!client.list_all_resource_templates().await?.is_empty());
    let prompts = client.list_all_prompts().await?;
    assert!(prompts.iter().any(|prompt| prompt.name == "pdf"), "{prompts:?}");
    assert!(!client.get_prompt(GetPromptRequestParams::new("pdf")).await?.messages.is_empty());

    let call = |name: &'static str, arguments: Value| {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        client.call_tool(CallToolRequestParams::new(name).with_arguments(arguments))
    };
    let found = call("search_skills", json!({ "text": "pdf" })).await?;
    assert_eq!(found.structured_content.ok_or("no result")?["results"][0]["name"], "pdf");
    let done = call("plain__echo", json!({ "a": 1 })).await?;
    assert_eq!(done.structured_content, Some(json!({ "ok": true })));
    assert_eq!(call("plain__fail", json!({})).await?.is_error, Some(true));
    assert!(call("no_such_tool", json!({})).await.is_err());
    let before = yes.asked.load(Ordering::Relaxed);
    let marked = call("writer__mark", json!({})).await?;
    assert_eq!(marked.structured_content, Some(json!({ "done": 1 })), "{marked:?}");
    assert_eq!(yes.asked.load(Ordering::Relaxed), before + 1, "the user is asked");

    let list = ClientRequest::CustomRequest(CustomRequest::new("skills/list", Some(json!({}))));
    let ServerResult::CustomResult(listed) = client.send_request(list).await? else { panic!("another answer") };
    assert_eq!(listed.0["skills"][0]["frontmatter"]["name"], "fix-issue");
    Ok(())
}

#[test]
fn the_official_client_uses_the_server_on_stdio() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    tools(&scratch);
    block_on(async {
        for era in ERAS {
            let mut command = Command::from(start(&scratch, &RUN));
            let mut child = command.kill_on_drop(true).spawn().unwrap();
            let transport = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
            let yes = Yes::default();
            let client = yes.clone().serve_with_lifecycle(transport, lifecycle(era)).await.unwrap();
            uses(&client, &yes).await.unwrap();
            client.cancel().await.unwrap();
            assert!(child.wait().await.unwrap().success(), "{era:?}");
        }
    });
}

#[test]
fn the_official_client_uses_the_server_over_http() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    tools(&scratch);
    let (_server, address) = listening(&scratch, &RUN);
    block_on(async {
        for era in ERAS {
            let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
            let yes = Yes::default();
            let client = yes.clone().serve_with_lifecycle(transport, lifecycle(era)).await.unwrap();
            uses(&client, &yes).await.unwrap();
            client.cancel().await.unwrap();
        }
    });
}

fn block_on(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("there is room").block_on(work);
}
