//! Parses evals in `evals/evals.json`: prompts whose answers need a judge. Running them needs a model.

use std::collections::BTreeSet;

use rep_model::{ResolvedSkillPath, SkillTree, resolve_skill_path};
use serde_json::Value;

use super::{CaseError, EVALS_PATH};

/// The evals of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvalSet {
    /// The evals.
    pub evals: Vec<Eval>,
}

/// A prompt with a description of a good answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eval {
    /// Its id: a number or a text.
    pub id: String,
    /// The prompt for the agent.
    pub prompt: String,
    /// A good answer, described in prose.
    pub expected_output: String,
    /// Files for the prompt, relative to the skill.
    pub files: Vec<String>,
    /// Assertions that a good answer meets.
    pub assertions: Vec<String>,
}

/// Parses the evals of a skill.
pub fn parse_evals(text: &str, tree: &SkillTree) -> Result<EvalSet, Vec<CaseError>> {
    const SHAPE: &str = "write `{\"skill_name\": …, \"evals\": [{\"id\": 1, \"prompt\": …, \"expected_output\": …}]}`";
    let whole = |message: String| vec![CaseError::new(EVALS_PATH, message, SHAPE)];
    let value: Value = serde_json::from_str(text).map_err(|error| whole(format!("is not valid JSON: {error}")))?;
    let Some(items) = value.get("evals").and_then(Value::as_array) else {
        return Err(whole("has no list `evals`".to_owned()));
    };
    let mut reader = EvalsParser { tree, number: 0, errors: Vec::new() };
    if value.get("skill_name").and_then(Value::as_str).is_none() {
        reader.errors.push(CaseError::new(EVALS_PATH, "has no `skill_name`", "name the skill"));
    }
    let mut taken = BTreeSet::new();
    let mut evals = Vec::new();
    for (number, item) in items.iter().enumerate() {
        reader.number = number;
        let eval = reader.parse_eval(item);
        if !taken.insert(eval.id.clone()) && !eval.id.is_empty() {
            reader.push_error("has a duplicate `id`", "give each eval a unique id");
        }
        evals.push(eval);
    }
    if reader.errors.is_empty() { Ok(EvalSet { evals }) } else { Err(reader.errors) }
}

struct EvalsParser<'a> {
    tree: &'a SkillTree,
    /// The index of the current eval.
    number: usize,
    errors: Vec<CaseError>,
}

impl EvalsParser<'_> {
    fn push_error(&mut self, what: &str, remedy: &str) {
        self.errors.push(CaseError::new(EVALS_PATH, format!("`evals[{}]` {what}", self.number), remedy));
    }

    fn parse_eval(&mut self, item: &Value) -> Eval {
        let id = match item.get("id") {
            Some(Value::Number(id)) => id.to_string(),
            Some(Value::String(id)) => id.clone(),
            _ => String::new(),
        };
        let words = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (prompt, expected_output) = (words("prompt"), words("expected_output"));
        for (value, what, remedy) in [
            (&id, "has no `id`", "give it a number"),
            (&prompt, "has no `prompt`", "write what the agent is asked"),
            (&expected_output, "has no `expected_output`", "describe a good answer"),
        ] {
            if value.is_empty() {
                self.push_error(what, remedy);
            }
        }
        let files = self.parse_text_list(item, "files");
        // An earlier version of the guide called them expectations.
        let name = if item.get("assertions").is_some() { "assertions" } else { "expectations" };
        let assertions = self.parse_text_list(item, name);
        for file in &files {
            let is_there = matches!(
                resolve_skill_path("", file), ResolvedSkillPath::Inside(path) if self.tree.has_path(&path) && !self.tree.has_outside_link(&path)
            );
            if !is_there {
                self.push_error(
                    &format!("names `{file}`, which is not a file of the skill"),
                    "add it, or fix its path",
                );
            }
        }
        Eval { id, prompt, expected_output, files, assertions }
    }

    fn parse_text_list(&mut self, item: &Value, name: &str) -> Vec<String> {
        let items: &[Value] = match item.get(name) {
            None | Some(Value::Null) => &[],
            Some(Value::Array(items)) => items,
            Some(_) => {
                self.push_error(&format!("has `{name}`, which is not a list"), "write a list of texts");
                &[]
            }
        };
        let texts: Vec<String> = items.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        if texts.len() < items.len() {
            self.push_error(&format!("has `{name}` that are not all text"), "write a list of texts");
        }
        texts
    }
}
