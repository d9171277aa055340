//! Tests of everything around the process: decisions, approvals and records.

mod answers;
mod approvals;
mod hostile;

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::approval::Approvals;
use crate::grant::{GrantConsent, GrantContext, GrantDecision, Granted};
use crate::{ExecutionTrust, Plan, Policy, ToolPlanInput};
use rep_model::{Skill, SkillTree};
use serde_json::{Value, json};

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn tool() -> Value {
    json!({
        "name": "fill",
        "description": "Fills.",
        "input_schema": { "type": "object" },
        "implementation": { "runtime": "bash", "entrypoint": "scripts/a.sh" },
    })
}

/// Plans a call of a skill with these additional lines of frontmatter.
fn plan(front: &str) -> Plan {
    let text = format!("---\nname: pdf\ndescription: b\n{front}---\n");
    let (skill, _) = Skill::parse(SkillTree::from_texts("pdf", &[("SKILL.md", &text)]));
    let call = ToolPlanInput {
        skill: "pdf",
        digest: "0123",
        folder: Path::new("/skills/pdf"),
        front: skill.frontmatter().expect("there is a frontmatter"),
        tool: &tool(),
        workspace: Path::new("/work"),
        input: json!({ "path": "a.pdf" }),
    };
    Plan::from_tool(call).expect("this can be planned")
}

fn context(approvals: &Approvals, consent: GrantConsent) -> GrantContext<'_> {
    GrantContext { trust: ExecutionTrust::Trusted, secrets: ["KEY".to_owned()].into(), consent, approvals }
}

fn granted(plan: Plan) -> Granted {
    match crate::grant::decide_plan(&Policy::default(), plan, &context(&Approvals::default(), GrantConsent::Given)) {
        GrantDecision::Granted(granted) => granted,
        other => panic!("{other:?}"),
    }
}

const WRITES: &str = "permissions: {filesystem: {write: ['output/**']}, network: {outbound: [api.example.org]}}\n";
