//! Whether a text is a valid UASP file, whichever engine wrote it: the schema, then what refers to what (UASP §7.1.5).

use rep_check::{Finding, Level, Options, Profile};
use rep_model::uasp::SUFFIX;
use rep_model::{Content, Entry, Skill, SkillTree};

use super::Notice;

/// What the linter says of a UASP file.
#[derive(Default)]
pub(super) struct Validation {
    /// What makes it invalid; empty if it is valid.
    pub(super) errors: Vec<Notice>,
    /// What a person should look at, contradictions among them.
    pub(super) warnings: Vec<Notice>,
}

/// Checks the text of a UASP file as if it were in the folder of the skill it was made from.
pub(super) fn validate(yaml: &str, name: &str, beside: &SkillTree) -> Validation {
    let mut tree =
        if beside.is_lone_file { SkillTree { is_lone_file: true, ..SkillTree::default() } } else { names_of(beside) };
    tree.entries.insert(format!("{name}{SUFFIX}"), file_of(yaml.as_bytes().to_vec()));
    let (skill, faults) = Skill::parse(tree);
    let options = Options { profiles: vec![Profile::Uasp], ..Options::default() };
    let mut validation = Validation::default();
    for finding in rep_check::check(&skill, faults, &options).findings {
        match finding.level {
            Level::Error => validation.errors.push(notice(&finding)),
            Level::Warning => validation.warnings.push(notice(&finding)),
            Level::Info => {}
        }
    }
    validation
}

fn notice(finding: &Finding) -> Notice {
    let message = match &finding.at {
        Some(_) => finding.message.clone(),
        None => format!("line {}: {}", finding.place.start.line, finding.message),
    };
    Notice { at: finding.at.clone(), message, help: finding.help.clone() }
}

/// A skill's folder without its main files, and without the content of the others, which no rule of the profile reads.
fn names_of(tree: &SkillTree) -> SkillTree {
    let is_main = |path: &str| path.eq_ignore_ascii_case("SKILL.md") || path.ends_with(SUFFIX) && !path.contains('/');
    let entries = tree.entries.iter().filter(|(path, _)| !is_main(path)).map(|(path, entry)| {
        let entry = match entry {
            Entry::File { .. } => file_of(Vec::new()),
            other => other.clone(),
        };
        (path.clone(), entry)
    });
    SkillTree { entries: entries.collect(), shown: String::new(), ..SkillTree::of(&tree.folder, &[]) }
}

fn file_of(bytes: Vec<u8>) -> Entry {
    Entry::File { size_bytes: bytes.len() as u64, is_executable: false, content: Content::Bytes(bytes) }
}
