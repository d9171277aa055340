//! Converts a Markdown skill, from the document of an engine to the finished and validated file with its stamp.
//!
//! ```
//! use rep_convert::convert::{
//!     ConversionEngine, accept_answer, build_model_prompt, convert_by_rules, convert_document,
//! };
//! use rep_model::{Skill, SkillTree};
//!
//! let text = "---\nname: pdf\ndescription: Fills forms.\n---\n## Rules\n\n- Never overwrite the original file.\n";
//! let (skill, faults) = Skill::parse(SkillTree::from_texts("pdf", &[("SKILL.md", text)]));
//! let conversion = convert_by_rules(&skill, &faults);
//! assert!(conversion.report.is_valid() && conversion.text.contains("overwrite the original file"));
//!
//! // With a model: write the prompt, then read the answer. A rejected answer comes with reasons for the model.
//! assert!(build_model_prompt(&skill, ConversionEngine::Llm).contains("Fills forms."));
//! let refused = accept_answer(&skill, "no document").unwrap_err();
//! assert!(refused.render_complaint().contains(&refused.reasons[0]));
//! let answer = r#"{"meta": {"name": "pdf", "type": "knowledge", "description": "Fills forms."}}"#;
//! let document = accept_answer(&skill, answer).unwrap();
//! assert!(convert_document(&skill, &faults, &document, ConversionEngine::Llm).report.is_valid());
//! ```

use rep_model::yaml::{core, parse};
use rep_model::{DocumentOrigin, Fault, FaultKind, Skill, SkillDocument, ValuePathStep};
use serde_json::Value;

use super::candidates::{CandidateFilter, Candidates};
use super::report::ConversionSubject;
use super::validation::validate_uasp;
use super::{
    ConversionItem, ConversionNotice, ConversionReport, FactDifference, FinishedUaspFile, ProvenanceHeader, answer,
    compute_version, find_differences, finish_document, prompt, provenance, write_yaml,
};
use crate::extract::{self, extract_sure_and_all};

/// The engine that reads the Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversionEngine {
    /// Rules: no model, and the same result every time.
    Rules,
    /// A language model.
    Llm,
    /// A language model that corrects the facts found by the rules.
    Hybrid,
}

impl ConversionEngine {
    /// Returns the name used in reports and stamps.
    pub const fn as_str(self) -> &'static str {
        match self {
            ConversionEngine::Rules => "rules",
            ConversionEngine::Llm => "llm",
            ConversionEngine::Hybrid => "hybrid",
        }
    }
}

/// What happens to facts found by rules with low confidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DoubtfulHandling {
    /// They are left out of the document and counted in the report.
    #[default]
    LeaveOut,
    /// They are added to the document and marked for review.
    Include,
}

/// The result of converting one skill.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The report, value by value.
    pub report: ConversionReport,
    /// The origin of the file.
    pub provenance_header: ProvenanceHeader,
    /// The text of the file, with its stamp.
    pub text: String,
}

/// How a UASP file relates to the Markdown it was made from.
#[derive(Clone, Debug, PartialEq)]
pub enum MarkdownRelation {
    /// The file states the same facts as the Markdown.
    InStep,
    /// The file was edited after the conversion; the Markdown is unchanged.
    Edited,
    /// The Markdown states different facts.
    OutOfStep(Vec<FactDifference>),
}

/// Whether a new conversion of the Markdown may replace a UASP file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaceability {
    /// There is nothing to replace: the file matches the Markdown.
    InStep,
    /// The file may be replaced: the Markdown changed, and the file did not.
    Yes,
    /// The file must not be replaced: it has no stamp, so it is not the result of a conversion.
    Foreign,
    /// The file must not be replaced: it was edited, and the Markdown changed as well.
    Edited,
}

impl Conversion {
    /// Returns the name of the skill, which is part of the file name.
    pub fn name(&self) -> &str {
        self.report.finished_file.name()
    }

    /// Returns the report for a client of a server: with the file, and without local paths.
    pub fn client_json(&self) -> Value {
        let mut value = self.report.to_json();
        if let Some(object) = value.as_object_mut() {
            object.remove("source");
            object.remove("checklist");
            object.remove("skill");
            object.insert("name".to_owned(), self.name().into());
            object.insert("yaml".to_owned(), self.text.clone().into());
        }
        value
    }

    /// Compares the text of a UASP file with the Markdown of this conversion by rules. Returns `None` if the text is
    /// not valid YAML.
    pub fn relation_to(&self, text: &str) -> Option<MarkdownRelation> {
        let document = parse(text, 0);
        let root = document.root.as_ref().filter(|_| document.fatal_problem().is_none())?;
        let now = &self.provenance_header;
        if let Some(stamp) =
            ProvenanceHeader::parse(text).filter(|stamp| stamp.source == now.source || stamp.facts == now.facts)
        {
            let is_whole = compute_version(text).as_deref() == Some(&stamp.content);
            return Some(if is_whole { MarkdownRelation::InStep } else { MarkdownRelation::Edited });
        }
        let differences = find_differences(self.report.finished_file.document.raw_value(), &core::to_json(root));
        Some(if differences.is_empty() { MarkdownRelation::InStep } else { MarkdownRelation::OutOfStep(differences) })
    }

    /// Returns the text of a UASP file with a stamp that marks it as matching this Markdown, or `None` if it already
    /// has that stamp.
    pub fn mark_in_step(&self, text: &str) -> Option<String> {
        let stamp = ProvenanceHeader::parse(text);
        if stamp.as_ref().is_some_and(|stamp| stamp.source == self.provenance_header.source) {
            return None;
        }
        let engine = stamp.map_or_else(|| "hand".to_owned(), |stamp| stamp.engine);
        let content = compute_version(text).unwrap_or_default();
        Some(ProvenanceHeader { engine, content, ..self.provenance_header.clone() }.insert_into(text))
    }

    /// Decides whether this conversion may replace the text of a UASP file.
    pub fn check_replaceability(&self, text: &str) -> Replaceability {
        let Some(stamp) = ProvenanceHeader::parse(text) else { return Replaceability::Foreign };
        let is_same = stamp.source == self.provenance_header.source || stamp.facts == self.provenance_header.facts;
        if is_same && stamp.engine == self.provenance_header.engine {
            return Replaceability::InStep;
        }
        if compute_version(text).as_deref() == Some(&stamp.content) {
            Replaceability::Yes
        } else {
            Replaceability::Edited
        }
    }
}

/// Converts a Markdown skill by rules. The `faults` found while parsing the skill become warnings.
pub fn convert_by_rules(skill: &Skill, faults: &[Fault]) -> Conversion {
    convert_by_rules_with(skill, faults, DoubtfulHandling::LeaveOut)
}

/// Converts a Markdown skill by rules, with or without doubtful facts.
pub fn convert_by_rules_with(skill: &Skill, faults: &[Fault], doubtful: DoubtfulHandling) -> Conversion {
    let (sure, all) = extract_sure_and_all(skill);
    match doubtful {
        DoubtfulHandling::LeaveOut => {
            let mut conversion = convert_document(skill, faults, &sure, ConversionEngine::Rules);
            conversion.report.count_left_out(&all);
            conversion
        }
        DoubtfulHandling::Include => {
            let made = EngineOutput {
                document: &all,
                engine: ConversionEngine::Rules,
                engine_label: "rules+doubtful",
                sure_facts: Some(&sure),
            };
            let mut conversion = finish_conversion(skill, faults, &made);
            conversion.text = mark_doubtful(&conversion);
            conversion
        }
    }
}

/// Finishes and validates the document of an engine, and adds the stamp.
pub fn convert_document(
    skill: &Skill,
    faults: &[Fault],
    document: &SkillDocument,
    engine: ConversionEngine,
) -> Conversion {
    let sure = match engine {
        ConversionEngine::Rules => None,
        ConversionEngine::Llm | ConversionEngine::Hybrid => Some(extract::extract_document(skill)),
    };
    finish_conversion(
        skill,
        faults,
        &EngineOutput { document, engine, engine_label: engine.as_str(), sure_facts: sure.as_ref() },
    )
}

/// The output of an engine.
struct EngineOutput<'a> {
    document: &'a SkillDocument,
    engine: ConversionEngine,
    /// The engine's name in the stamp.
    engine_label: &'a str,
    /// The facts that the rules are confident of, if they differ from the document.
    sure_facts: Option<&'a SkillDocument>,
}

fn finish_conversion(skill: &Skill, faults: &[Fault], made: &EngineOutput<'_>) -> Conversion {
    let finished = finish_document(made.document.raw_value());
    let version = |finished: &FinishedUaspFile| finished.version().unwrap_or_default().to_owned();
    let content = version(&finished);
    let facts = made.sure_facts.map_or_else(|| content.clone(), |sure| version(&finish_document(sure.raw_value())));
    let validation = validate_uasp(&finished.yaml, finished.name(), &skill.tree);
    let (file, source) = match &skill.manifest {
        Some(manifest) => (skill.tree.display_path(manifest.file), manifest.source.text()),
        None => (skill.tree.display_root.clone(), ""),
    };
    let stamp = ProvenanceHeader::new(made.engine_label, source.as_bytes(), &facts, &content);
    let text = stamp.insert_into(&finished.yaml);
    let warnings = collect_notices(skill, faults).into_iter().chain(validation.warnings).collect();
    let subject = ConversionSubject { file: &file, source, engine: made.engine.as_str() };
    let report = ConversionReport::new(&subject, made.document, finished, (validation.errors, warnings));
    Conversion { report, provenance_header: stamp, text }
}

/// Adds a comment for each doubtful fact below the stamp of a file.
fn mark_doubtful(conversion: &Conversion) -> String {
    let (stamp, yaml) = conversion.text.split_once('\n').unwrap_or((&conversion.text, ""));
    let note = |item: &ConversionItem| {
        let rule = item.rule.map_or("", |rule| rule.id);
        let line = item.line.map(|line| format!("line {line}, ")).unwrap_or_default();
        // A key of the document may contain any character.
        let path = item.path.replace(char::is_control, " ");
        format!("# Doubtful, to be reviewed: {path} ({line}rule {rule})\n")
    };
    let notes: String = conversion.report.items.iter().filter(|item| item.is_doubtful()).map(note).collect();
    format!("{stamp}\n{notes}{yaml}")
}

/// Turns the faults that affect reading the Markdown into warnings.
fn collect_notices(skill: &Skill, faults: &[Fault]) -> Vec<ConversionNotice> {
    let frontmatter = [
        FaultKind::EncodingNotUtf8,
        FaultKind::FrontmatterMissing,
        FaultKind::FrontmatterNotMapping,
        FaultKind::FrontmatterUnclosed,
    ];
    let is_grave = |fault: &&Fault| {
        let is_grave = fault.kind.is_yaml_fault() || frontmatter.contains(&fault.kind);
        is_grave && fault.file.eq_ignore_ascii_case("SKILL.md")
    };
    let notice = |fault: &Fault| {
        let line = skill.find_source(&fault.file).map_or(1, |source| source.position_at(fault.span.start).line);
        ConversionNotice { at: None, message: format!("SKILL.md:{line}: {}", fault.message), help: fault.help.clone() }
    };
    faults.iter().filter(is_grave).map(notice).collect()
}

/// The answer of a model was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerError {
    /// The reasons, one sentence each.
    pub reasons: Vec<String>,
}

impl AnswerError {
    /// Renders the reasons as a message that asks the model for another answer.
    pub fn render_complaint(&self) -> String {
        prompt::render_complaint(&self.reasons)
    }
}

impl std::fmt::Display for AnswerError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the answer of the model cannot be used")
    }
}

impl std::error::Error for AnswerError {}

/// Writes the question to a model about a skill, including all facts that the rules found, also the doubtful ones.
pub fn build_model_prompt(skill: &Skill, engine: ConversionEngine) -> String {
    let markdown = skill.manifest.as_ref().map_or("", |manifest| manifest.source.text());
    let candidates = Candidates::from_skill(skill);
    match engine {
        ConversionEngine::Rules | ConversionEngine::Llm => {
            prompt::build_prompt(markdown, None, &candidates.render_list(CandidateFilter::All))
        }
        ConversionEngine::Hybrid => {
            let extraction = write_yaml(extract::extract_document(skill).raw_value());
            prompt::build_prompt(markdown, Some(&extraction), &candidates.render_list(CandidateFilter::Doubtful))
        }
    }
}

/// Reads the document in the answer of a model and locates each value in the Markdown. The document may be invalid.
pub fn read_answer(skill: &Skill, text: &str) -> Result<SkillDocument, AnswerError> {
    let value = answer::parse_document(text).map_err(|reason| AnswerError { reasons: vec![reason] })?;
    let value = Candidates::from_skill(skill).resolve_references(value).map_err(|reasons| AnswerError { reasons })?;
    Ok(locate_values(skill, value))
}

/// Reads the document in the answer of a model, and rejects it if it does not make a valid file.
pub fn accept_answer(skill: &Skill, text: &str) -> Result<SkillDocument, AnswerError> {
    let value = answer::parse_document(text).map_err(|reason| AnswerError { reasons: vec![reason] })?;
    let value = check_answer(skill, value).map_err(|reasons| AnswerError { reasons })?;
    Ok(locate_values(skill, value))
}

/// Replaces the candidate references in the answer of a model, or returns the reasons why the file is invalid, worded
/// for the model.
pub fn check_answer(skill: &Skill, answer: Value) -> Result<Value, Vec<String>> {
    let document = Candidates::from_skill(skill).resolve_references(answer)?;
    let finished = finish_document(&document);
    let validation = validate_uasp(&finished.yaml, finished.name(), &skill.tree);
    let errors: Vec<String> =
        validation.errors.iter().map(|error| format!("{}; {}", error.to_line(), error.help)).collect();
    if errors.is_empty() { Ok(document) } else { Err(errors) }
}

/// Locates each value of a document in the Markdown, marks those that are not there as doubtful, and adds the rule that
/// found the same value.
pub fn locate_values(skill: &Skill, value: Value) -> SkillDocument {
    let source = skill.manifest.as_ref().map_or("", |manifest| manifest.source.text());
    let facts = provenance::locate_facts(&value, source);
    let mut document = SkillDocument::from_value(value, DocumentOrigin::Extracted, facts);
    Candidates::from_skill(skill).annotate_rules(&mut document);
    let name = extract::extract_document(skill).sections.meta.name;
    let is_name = |path: &[ValuePathStep]| matches!(path, [ValuePathStep::Key(meta), ValuePathStep::Key(key)] if meta == "meta" && key == "name");
    if document.sections.meta.name != name
        && let Some(fact) = document.facts.iter_mut().find(|fact| is_name(&fact.path))
    {
        fact.doubt = Some(format!("the skill is named `{}`", name.as_deref().unwrap_or_default()));
    }
    document
}
