//! Whether a text is a valid UASP file, whoever wrote it: the schema, then what refers to what (UASP §7.1.5).

use rep_check::{Finding, Level, Options, Profile};
use rep_convert::convert::Notice;
use rep_model::uasp::SUFFIX;
use rep_model::{Content, Entry, Skill, SkillTree};

/// What the linter says of a UASP file.
pub(crate) struct Judged {
    /// What makes it no UASP file; empty where it is valid.
    pub(crate) errors: Vec<Finding>,
    /// What a person should look at, contradictions among them.
    pub(crate) warnings: Vec<Finding>,
}

impl Judged {
    /// The errors, as a report tells them.
    pub(crate) fn error_notices(&self) -> Vec<Notice> {
        self.errors.iter().map(notice).collect()
    }

    /// The warnings, as a report tells them.
    pub(crate) fn warning_notices(&self) -> Vec<Notice> {
        self.warnings.iter().map(notice).collect()
    }
}

fn notice(finding: &Finding) -> Notice {
    let message = match &finding.at {
        Some(_) => finding.message.clone(),
        None => format!("line {}: {}", finding.place.start.line, finding.message),
    };
    Notice { at: finding.at.clone(), message, help: finding.help.clone() }
}

/// Judges the text of a UASP file as if it lay in the folder of the skill it was made from, or by itself.
pub(crate) fn judge(yaml: &str, name: &str, beside: Option<&SkillTree>) -> Judged {
    let file = format!("{name}{SUFFIX}");
    let mut tree = match beside.filter(|tree| !tree.is_lone_file) {
        Some(tree) => names_of(tree),
        None => SkillTree { is_lone_file: true, ..SkillTree::default() },
    };
    tree.entries.insert(file, file_of(yaml.as_bytes().to_vec()));
    let (skill, faults) = Skill::parse(tree);
    let options = Options { profiles: vec![Profile::Uasp], ..Options::default() };
    let mut judged = Judged { errors: Vec::new(), warnings: Vec::new() };
    for finding in rep_check::check(&skill, faults, &options).findings {
        match finding.level {
            Level::Error => judged.errors.push(finding),
            Level::Warning => judged.warnings.push(finding),
            Level::Info => {}
        }
    }
    judged
}

/// A skill's folder without its main files and without what the others hold, which nobody asks here.
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
