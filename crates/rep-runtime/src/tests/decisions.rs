//! Everything before and after the process: decisions, approvals, and the record of what ran.

mod answers;
mod approvals;
mod hostile;

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::approval::Approvals;
use crate::grant::{Consent, Context, Decision, Granted};
use crate::{Call, Plan, Policy, Trust};
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

/// The plan of a call of a skill with these further lines of frontmatter.
fn plan(front: &str) -> Plan {
    let text = format!("---\nname: pdf\ndescription: b\n{front}---\n");
    let (skill, _) = Skill::parse(SkillTree::of("pdf", &[("SKILL.md", &text)]));
    let call = Call {
        skill: "pdf",
        digest: "0123",
        folder: Path::new("/skills/pdf"),
        front: skill.front().expect("there is a frontmatter"),
        tool: &tool(),
        workspace: Path::new("/work"),
        input: json!({ "path": "a.pdf" }),
    };
    Plan::of(call).expect("this can be planned")
}

fn context(approvals: &Approvals, consent: Consent) -> Context<'_> {
    Context { trust: Trust::Trusted, secrets: ["KEY".to_owned()].into(), consent, approvals }
}

fn granted(plan: Plan) -> Granted {
    match crate::grant::decide(&Policy::default(), plan, &context(&Approvals::default(), Consent::Given)) {
        Decision::Granted(granted) => granted,
        other => panic!("{other:?}"),
    }
}

const WRITES: &str = "permissions: {filesystem: {write: ['output/**']}, network: {outbound: [api.example.org]}}\n";
