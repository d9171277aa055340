use rep_model::{Skill, names};

use crate::engine::Findings;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Level, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "name-differs-from-folder",
    summary: "the `name` field and the skill's folder disagree",
    since: "0.1.0",
    levels: Levels {
        error: NAMED_AS_FOLDER,
        warning: MARKDOWN.without(NAMED_AS_FOLDER),
        unasked: Some(Level::Warning),
        ..Levels::NONE
    },
    cites: &[Cite::agentskills("name field"), Cite::pmcp("validate_skill_frontmatter")],
    requirements: &["VAL-10", "VAL-17"],
    page: include_str!("name_differs_from_folder.md"),
    check: Check::Skill(check),
};

/// The profiles that require a skill's name to be its folder's.
const NAMED_AS_FOLDER: ProfileSet =
    ProfileSet::new(&[Profile::AgentSkills, Profile::Pmcp, Profile::Portable, Profile::ClaudeApi, Profile::Mcp]);

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    // A missing name is the business of `name-missing`.
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(name) = front.name() else { return };
    let stripped = names::nfkc(names::strip(name.value));
    let folder = &skill.tree.folder;
    if stripped.is_empty() || folder.is_empty() || stripped == names::nfkc(folder) {
        return;
    }
    findings
        .add(manifest.file, name.span(), format!("name is `{stripped}` but the folder is `{folder}`"))
        .path("name")
        .help("rename one of the two so that they agree");
}
