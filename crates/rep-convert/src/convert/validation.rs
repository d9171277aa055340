//! Validates the text of a UASP file from any engine: first the schema, then the references in it (UASP §7.1.5).

use rep_check::{CheckOptions, Finding, Level, Profile};
use rep_model::uasp::FILE_SUFFIX;
use rep_model::{FileContent, Skill, SkillTree, TreeEntry};

use super::ConversionNotice;

/// The messages of the linter about a UASP file.
#[derive(Default)]
pub(super) struct UaspValidation {
    /// The errors that make it invalid; empty if it is valid.
    pub(super) errors: Vec<ConversionNotice>,
    /// The findings to review, including contradictions.
    pub(super) warnings: Vec<ConversionNotice>,
}

/// Checks the text of a UASP file as if it were in the directory of the skill that it was converted from.
pub(super) fn validate_uasp(yaml: &str, name: &str, beside: &SkillTree) -> UaspValidation {
    let mut tree = if beside.is_lone_file {
        SkillTree { is_lone_file: true, ..SkillTree::default() }
    } else {
        without_contents(beside)
    };
    tree.entries.insert(format!("{name}{FILE_SUFFIX}"), file_entry(yaml.as_bytes().to_vec()));
    let (skill, faults) = Skill::parse(tree);
    let options = CheckOptions { profiles: vec![Profile::Uasp], ..CheckOptions::default() };
    let mut validation = UaspValidation::default();
    for finding in rep_check::check_skill(&skill, faults, &options).findings {
        match finding.level {
            Level::Error => validation.errors.push(notice_from_finding(&finding)),
            Level::Warning => validation.warnings.push(notice_from_finding(&finding)),
            Level::Info => {}
        }
    }
    validation
}

fn notice_from_finding(finding: &Finding) -> ConversionNotice {
    let message = match &finding.data_path {
        Some(_) => finding.message.clone(),
        None => format!("line {}: {}", finding.place.start.line, finding.message),
    };
    ConversionNotice { at: finding.data_path.clone(), message, help: finding.help.clone() }
}

/// Returns the directory of a skill without its main files and without the content of the others, which no rule of the
/// profile reads.
fn without_contents(tree: &SkillTree) -> SkillTree {
    let is_main =
        |path: &str| path.eq_ignore_ascii_case("SKILL.md") || path.ends_with(FILE_SUFFIX) && !path.contains('/');
    let entries = tree.entries.iter().filter(|(path, _)| !is_main(path)).map(|(path, entry)| {
        let entry = match entry {
            TreeEntry::File { .. } => file_entry(Vec::new()),
            other => other.clone(),
        };
        (path.clone(), entry)
    });
    SkillTree { entries: entries.collect(), display_root: String::new(), ..SkillTree::from_texts(&tree.folder, &[]) }
}

fn file_entry(bytes: Vec<u8>) -> TreeEntry {
    TreeEntry::File { size_bytes: bytes.len() as u64, is_executable: false, content: FileContent::Bytes(bytes) }
}
