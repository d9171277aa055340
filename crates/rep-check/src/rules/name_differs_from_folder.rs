use rep_model::{Skill, names};

use crate::draft::Findings;
use crate::profile::MARKDOWN;
use crate::skill_name::suggest_folder_name;
use crate::{Level, LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "name-differs-from-folder",
    summary: "`name` differs from the directory name",
    since: "0.1.0",
    levels: RuleLevels {
        error: NAMED_AS_FOLDER,
        warning: MARKDOWN.without(NAMED_AS_FOLDER),
        automatic: Some(Level::Warning),
        ..RuleLevels::NONE
    },
    citations: &[
        RuleCitation::agentskills("name field"),
        RuleCitation::pmcp("validate_skill_frontmatter"),
        RuleCitation::host_table("VS Code: name and directory"),
    ],
    requirements: &["VAL-10", "VAL-17"],
    page: include_str!("name_differs_from_folder.md"),
    check: RuleCheck::Skill(check),
};

/// The profiles that require a skill's name to match its directory.
const NAMED_AS_FOLDER: ProfileSet =
    ProfileSet::new(&[Profile::AgentSkills, Profile::Pmcp, Profile::Portable, Profile::ClaudeApi, Profile::Mcp]);

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    // `name-missing` reports a missing name.
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(name) = front.name() else { return };
    let stripped = names::normalise_nfkc(names::strip_whitespace(name.value));
    let folder = &skill.tree.folder;
    if stripped.is_empty() || folder.is_empty() || stripped == names::normalise_nfkc(folder) {
        return;
    }
    findings
        .add(manifest.file, name.span(), format!("`name` is `{stripped}` but the directory is `{folder}`"))
        .with_data_path("name")
        .help("rename one of the two so that they match; some hosts do not load the skill otherwise")
        .with_optional_fix(suggest_folder_name(skill));
}
