use rep_model::{Skill, Span, names};

use crate::engine::Findings;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "name-empty",
    summary: "`name` holds nothing but blanks",
    since: "0.1.0",
    levels: Levels {
        error: MARKDOWN.without(Profile::ClaudeCode.as_set()),
        warning: Profile::ClaudeCode.as_set(),
        ..Levels::NONE
    },
    cites: &[
        Cite::agentskills("name field"),
        Cite::reference("validate: non-empty string"),
        Cite::universal("Appendix A, minLength"),
    ],
    requirements: &["VAL-04", "VAL-07", "VAL-14"],
    page: include_str!("name_empty.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report(skill, "name", "give it the name of the folder", findings);
}

/// Reports a field whose text is blank.
pub(super) fn report(skill: &Skill, field: &str, help: &str, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(text) = front.text(field) else { return };
    if names::strip(text.value).is_empty() {
        findings.add(manifest.file, text.span(), format!("field `{field}` is empty")).path(field).help(help);
    }
}

/// A name that is not blank, as the rules on names test it.
pub(super) struct Name<'a> {
    pub(super) file: &'static str,
    pub(super) span: Span,
    /// As written, without the blanks around it.
    pub(super) written: &'a str,
    /// In NFKC form, which is what the reference tool tests.
    pub(super) text: String,
}

/// The skill's name, unless it is missing, blank or no text.
pub(super) fn name(skill: &Skill) -> Option<Name<'_>> {
    let manifest = skill.manifest.as_ref()?;
    let name = manifest.front.as_ref()?.name()?;
    let written = names::strip(name.value);
    let text = names::nfkc(written);
    (!written.is_empty()).then_some(Name { file: manifest.file, span: name.span(), written, text })
}
