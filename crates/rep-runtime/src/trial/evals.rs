//! Evals: `evals/evals.json`, prompts whose answers somebody must judge. Read and counted here; running them needs a model.

use std::collections::BTreeSet;

use rep_model::{Resolved, SkillTree, resolve};
use serde_json::Value;

use super::{EVALS, Mistake};

/// The evals of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evals {
    /// The evals.
    pub evals: Vec<Eval>,
}

/// One prompt, and what a good answer to it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eval {
    /// What it is called by: a number or a text.
    pub id: String,
    /// What an agent is asked.
    pub prompt: String,
    /// A good answer, in words.
    pub expected_output: String,
    /// Files that go with the prompt, relative to the skill.
    pub files: Vec<String>,
    /// Statements that hold of a good answer.
    pub assertions: Vec<String>,
}

/// Reads the evals of a skill.
pub fn read(text: &str, tree: &SkillTree) -> Result<Evals, Vec<Mistake>> {
    let whole = |message: String| {
        vec![Mistake::new(
            EVALS,
            message,
            "write `{\"skill_name\": …, \"evals\": [{\"id\": 1, \"prompt\": …, \"expected_output\": …}]}`",
        )]
    };
    let value: Value = serde_json::from_str(text).map_err(|error| whole(format!("is no JSON: {error}")))?;
    let Some(items) = value.get("evals").and_then(Value::as_array) else {
        return Err(whole("has no list `evals`".to_owned()));
    };
    let mut mistakes = Vec::new();
    if value.get("skill_name").and_then(Value::as_str).is_none() {
        mistakes.push(Mistake::new(EVALS, "has no `skill_name`", "name the skill"));
    }
    let mut taken = BTreeSet::new();
    let mut evals = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let mut wrong = |what: &str, remedy: &str| {
            mistakes.push(Mistake::new(EVALS, format!("`evals[{index}]` {what}"), remedy));
        };
        let id = match item.get("id") {
            Some(Value::Number(id)) => id.to_string(),
            Some(Value::String(id)) if !id.is_empty() => id.clone(),
            _ => {
                wrong("has no `id`", "give it a number");
                continue;
            }
        };
        if !taken.insert(id.clone()) {
            wrong("has an `id` that another one has", "give each its own");
        }
        let words = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (prompt, expected_output) = (words("prompt"), words("expected_output"));
        if prompt.is_empty() {
            wrong("has no `prompt`", "write what the agent is asked");
        }
        if expected_output.is_empty() {
            wrong("has no `expected_output`", "say what a good answer is");
        }
        let mut list = |name: &str| -> Vec<String> {
            let items = match item.get(name) {
                None | Some(Value::Null) => return Vec::new(),
                Some(Value::Array(items)) => items,
                Some(_) => {
                    wrong(&format!("has `{name}`, which is no list"), "write a list of texts");
                    return Vec::new();
                }
            };
            let texts: Vec<String> = items.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            if texts.len() < items.len() {
                wrong(&format!("has `{name}` that are no texts"), "write a list of texts");
            }
            texts
        };
        let (files, assertions) = (list("files"), list("assertions"));
        for file in &files {
            let is_there =
                matches!(resolve("", file), Resolved::Inside(path) if tree.has(&path) && !tree.escapes(&path));
            if !is_there {
                wrong(&format!("names `{file}`, which is no file of the skill"), "add it, or correct its path");
            }
        }
        evals.push(Eval { id, prompt, expected_output, files, assertions });
    }
    if mistakes.is_empty() { Ok(Evals { evals }) } else { Err(mistakes) }
}
