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
    const SHAPE: &str = "write `{\"skill_name\": …, \"evals\": [{\"id\": 1, \"prompt\": …, \"expected_output\": …}]}`";
    let whole = |message: String| vec![Mistake::new(EVALS, message, SHAPE)];
    let value: Value = serde_json::from_str(text).map_err(|error| whole(format!("is no JSON: {error}")))?;
    let Some(items) = value.get("evals").and_then(Value::as_array) else {
        return Err(whole("has no list `evals`".to_owned()));
    };
    let mut reader = Reader { tree, number: 0, mistakes: Vec::new() };
    if value.get("skill_name").and_then(Value::as_str).is_none() {
        reader.mistakes.push(Mistake::new(EVALS, "has no `skill_name`", "name the skill"));
    }
    let mut taken = BTreeSet::new();
    let mut evals = Vec::new();
    for (number, item) in items.iter().enumerate() {
        reader.number = number;
        let eval = reader.eval(item);
        if !taken.insert(eval.id.clone()) && !eval.id.is_empty() {
            reader.wrong("has an `id` that another one has", "give each its own");
        }
        evals.push(eval);
    }
    if reader.mistakes.is_empty() { Ok(Evals { evals }) } else { Err(reader.mistakes) }
}

struct Reader<'a> {
    tree: &'a SkillTree,
    /// The place of the eval that is read.
    number: usize,
    mistakes: Vec<Mistake>,
}

impl Reader<'_> {
    fn wrong(&mut self, what: &str, remedy: &str) {
        self.mistakes.push(Mistake::new(EVALS, format!("`evals[{}]` {what}", self.number), remedy));
    }

    fn eval(&mut self, item: &Value) -> Eval {
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
            (&expected_output, "has no `expected_output`", "say what a good answer is"),
        ] {
            if value.is_empty() {
                self.wrong(what, remedy);
            }
        }
        let files = self.list(item, "files");
        // The guide called them expectations before.
        let name = if item.get("assertions").is_some() { "assertions" } else { "expectations" };
        let assertions = self.list(item, name);
        for file in &files {
            let is_there = matches!(
                resolve("", file), Resolved::Inside(path) if self.tree.has(&path) && !self.tree.escapes(&path)
            );
            if !is_there {
                self.wrong(&format!("names `{file}`, which is no file of the skill"), "add it, or correct its path");
            }
        }
        Eval { id, prompt, expected_output, files, assertions }
    }

    fn list(&mut self, item: &Value, name: &str) -> Vec<String> {
        let items: &[Value] = match item.get(name) {
            None | Some(Value::Null) => &[],
            Some(Value::Array(items)) => items,
            Some(_) => {
                self.wrong(&format!("has `{name}`, which is no list"), "write a list of texts");
                &[]
            }
        };
        let texts: Vec<String> = items.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        if texts.len() < items.len() {
            self.wrong(&format!("has `{name}` that are no texts"), "write a list of texts");
        }
        texts
    }
}
