//! One conversion of a Markdown skill, from the engine's document to the finished, validated and stamped file.
//!
//! ```
//! use rep_convert::convert::{Engine, accept_answer, convert_by_rules, convert_document, model_prompt};
//! use rep_model::{Skill, SkillTree};
//!
//! let text = "---\nname: pdf\ndescription: Fills forms.\n---\n## Rules\n\n- Never overwrite the original file.\n";
//! let (skill, faults) = Skill::parse(SkillTree::of("pdf", &[("SKILL.md", text)]));
//! let conversion = convert_by_rules(&skill, &faults);
//! assert!(conversion.report.is_valid() && conversion.text.contains("overwrite the original file"));
//!
//! // With a model: its prompt goes out, its answer comes in, and is refused with reasons a model can be given.
//! assert!(model_prompt(&skill, Engine::Llm).contains("Fills forms."));
//! let refused = accept_answer(&skill, "no document").unwrap_err();
//! assert!(refused.complaint().contains(&refused.reasons[0]));
//! let answer = r#"{"meta": {"name": "pdf", "type": "knowledge", "description": "Fills forms."}}"#;
//! let document = accept_answer(&skill, answer).unwrap();
//! assert!(convert_document(&skill, &faults, &document, Engine::Llm).report.is_valid());
//! ```

use rep_model::yaml::{core, parse};
use rep_model::{Document, Fault, FaultKind, Origin, Skill, Step};
use serde_json::Value;

use super::validate::validate;
use super::{
    Difference, Finished, Notice, Report, Stamp, answer, differences, finish, grounds, prompt, version, write,
};
use crate::extract;

/// What reads the Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Rules: no model, the same result every time.
    Rules,
    /// A language model.
    Llm,
    /// A language model that corrects what the rules found.
    Hybrid,
}

impl Engine {
    /// The word in reports and stamps.
    pub const fn as_str(self) -> &'static str {
        match self {
            Engine::Rules => "rules",
            Engine::Llm => "llm",
            Engine::Hybrid => "hybrid",
        }
    }
}

/// The result of converting one skill.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// What is known of it, value by value.
    pub report: Report,
    /// Where the file came from.
    pub stamp: Stamp,
    /// The text of the file, with its stamp.
    pub text: String,
}

/// How a UASP file relates to the Markdown it was made from.
#[derive(Clone, Debug, PartialEq)]
pub enum Relation {
    /// It says the same as the Markdown.
    InStep,
    /// The Markdown has not changed since the file was made; the file has.
    Edited,
    /// The Markdown says something else.
    OutOfStep(Vec<Difference>),
}

/// Whether a UASP file may be replaced by a new conversion of its Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaceable {
    /// It need not be: it is in step.
    InStep,
    /// It may be: the Markdown changed, and the file did not.
    Yes,
    /// It may not be: it has no stamp, so that it was not converted.
    Foreign,
    /// It may not be: somebody edited it, and the Markdown changed as well.
    Edited,
}

impl Conversion {
    /// The skill's name, which is part of its file's name.
    pub fn name(&self) -> &str {
        self.report.finished.name()
    }

    /// The report for a client of a server: with the file, and without the paths of this machine.
    pub fn client_json(&self) -> Value {
        let mut value = self.report.json();
        if let Some(object) = value.as_object_mut() {
            object.remove("source");
            object.remove("checklist");
            object.remove("skill");
            object.insert("name".to_owned(), self.name().into());
            object.insert("yaml".to_owned(), self.text.clone().into());
        }
        value
    }

    /// How the text of a UASP file relates to the Markdown this was made from by rules; `None` if it is not readable YAML.
    pub fn relation(&self, text: &str) -> Option<Relation> {
        let document = parse(text, 0);
        let root = document.root.as_ref().filter(|_| document.fatal().is_none())?;
        let now = &self.stamp;
        if let Some(stamp) = Stamp::of(text).filter(|stamp| stamp.source == now.source || stamp.facts == now.facts) {
            let is_whole = version(text).as_deref() == Some(&stamp.content);
            return Some(if is_whole { Relation::InStep } else { Relation::Edited });
        }
        let differences = differences(self.report.finished.document.raw(), &core::json(root));
        Some(if differences.is_empty() { Relation::InStep } else { Relation::OutOfStep(differences) })
    }

    /// The text of a UASP file with a stamp that says it is in step with this Markdown; `None` if its stamp says so already.
    pub fn accept(&self, text: &str) -> Option<String> {
        let stamp = Stamp::of(text);
        if stamp.as_ref().is_some_and(|stamp| stamp.source == self.stamp.source) {
            return None;
        }
        let engine = stamp.map_or_else(|| "hand".to_owned(), |stamp| stamp.engine);
        let content = version(text).unwrap_or_default();
        Some(Stamp { engine, content, ..self.stamp.clone() }.put(text))
    }

    /// Whether this may replace the text of a UASP file.
    pub fn may_replace(&self, text: &str) -> Replaceable {
        let Some(stamp) = Stamp::of(text) else { return Replaceable::Foreign };
        let is_same = stamp.source == self.stamp.source || stamp.facts == self.stamp.facts;
        if is_same && stamp.engine == self.stamp.engine {
            return Replaceable::InStep;
        }
        if version(text).as_deref() == Some(&stamp.content) { Replaceable::Yes } else { Replaceable::Edited }
    }
}

/// Converts a Markdown skill by rules. `faults` are what parsing it noticed, and become warnings.
pub fn convert_by_rules(skill: &Skill, faults: &[Fault]) -> Conversion {
    convert_document(skill, faults, &extract::extract(skill), Engine::Rules)
}

/// Finishes, validates and stamps what an engine made of a skill.
pub fn convert_document(skill: &Skill, faults: &[Fault], document: &Document, engine: Engine) -> Conversion {
    let finished = finish(document.raw());
    let version = |finished: &Finished| finished.version().unwrap_or_default().to_owned();
    let content = version(&finished);
    let facts = match engine {
        Engine::Rules => content.clone(),
        Engine::Llm | Engine::Hybrid => version(&finish(extract::extract(skill).raw())),
    };
    let validation = validate(&finished.yaml, finished.name(), &skill.tree);
    let (file, source) = match &skill.manifest {
        Some(manifest) => (skill.tree.shown_path(manifest.file), manifest.source.text()),
        None => (skill.tree.shown.clone(), ""),
    };
    let stamp = Stamp::new(engine.as_str(), source.as_bytes(), &facts, &content);
    let text = stamp.put(&finished.yaml);
    let warnings = notices(skill, faults).into_iter().chain(validation.warnings).collect();
    let report = Report::new((&file, source, engine.as_str()), document, finished, (validation.errors, warnings));
    Conversion { report, stamp, text }
}

/// What of the Markdown could not be read as it was meant.
fn notices(skill: &Skill, faults: &[Fault]) -> Vec<Notice> {
    let frontmatter = [
        FaultKind::EncodingNotUtf8,
        FaultKind::FrontmatterMissing,
        FaultKind::FrontmatterNotMapping,
        FaultKind::FrontmatterUnclosed,
    ];
    let is_grave = |fault: &&Fault| {
        let is_grave = fault.kind.is_yaml() || frontmatter.contains(&fault.kind);
        is_grave && fault.file.eq_ignore_ascii_case("SKILL.md")
    };
    let notice = |fault: &Fault| {
        let line = skill.source(&fault.file).map_or(1, |source| source.position(fault.span.start).line);
        Notice { at: None, message: format!("SKILL.md:{line}: {}", fault.message), help: fault.help.clone() }
    };
    faults.iter().filter(is_grave).map(notice).collect()
}

/// Why the answer of a model cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerError {
    /// What is wrong with it, one sentence each.
    pub reasons: Vec<String>,
}

impl AnswerError {
    /// What the model is told, so that it answers again.
    pub fn complaint(&self) -> String {
        prompt::complaint(&self.reasons)
    }
}

impl std::fmt::Display for AnswerError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the model's answer cannot be used")
    }
}

impl std::error::Error for AnswerError {}

/// What a model is asked about a skill.
pub fn model_prompt(skill: &Skill, engine: Engine) -> String {
    let markdown = skill.manifest.as_ref().map_or("", |manifest| manifest.source.text());
    let found = (engine == Engine::Hybrid).then(|| write(extract::extract(skill).raw()));
    prompt::prompt(markdown, found.as_deref())
}

/// The document in a model's answer, with the place of each value in the Markdown. It need not be valid.
pub fn read_answer(skill: &Skill, text: &str) -> Result<Document, AnswerError> {
    let value = answer::read(text).map_err(|reason| AnswerError { reasons: vec![reason] })?;
    Ok(locate(skill, value))
}

/// The document in a model's answer, if it makes a valid file.
pub fn accept_answer(skill: &Skill, text: &str) -> Result<Document, AnswerError> {
    let value = answer::read(text).map_err(|reason| AnswerError { reasons: vec![reason] })?;
    let reasons = document_errors(skill, &value);
    if reasons.is_empty() { Ok(locate(skill, value)) } else { Err(AnswerError { reasons }) }
}

/// What makes a document an invalid file, in words for the model that wrote it.
pub fn document_errors(skill: &Skill, document: &Value) -> Vec<String> {
    let finished = finish(document);
    let validation = validate(&finished.yaml, finished.name(), &skill.tree);
    validation.errors.iter().map(|error| format!("{}; {}", error.line(), error.help)).collect()
}

/// A document with the place of each of its values in the Markdown, and a doubt where there is none.
pub fn locate(skill: &Skill, value: Value) -> Document {
    let source = skill.manifest.as_ref().map_or("", |manifest| manifest.source.text());
    let facts = grounds::facts(&value, source);
    let mut document = Document::from_value(value, Origin::Extracted, facts);
    let name = extract::extract(skill).sections.meta.name;
    let is_name = |path: &[Step]| matches!(path, [Step::Key(meta), Step::Key(key)] if meta == "meta" && key == "name");
    if document.sections.meta.name != name
        && let Some(fact) = document.facts.iter_mut().find(|fact| is_name(&fact.path))
    {
        fact.doubt = Some(format!("the skill calls itself `{}`", name.as_deref().unwrap_or_default()));
    }
    document
}
