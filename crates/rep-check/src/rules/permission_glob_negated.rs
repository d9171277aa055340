use rep_model::yaml::YamlNode;
use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::field_checks::suggest_item_removal;
use crate::permission_globs::find_permission_globs;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "permission-glob-negated",
    summary: "a file permission starts with an exclamation mark",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§8, glob semantics")],
    requirements: &["PERM-06"],
    page: include_str!("permission_glob_negated.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    for (path, glob) in find_permission_globs(skill) {
        if glob.value.starts_with('!') {
            findings
                .add(manifest.file, glob.span(), format!("the glob `{}` is negated", glob.value))
                .with_data_path(path)
                .help("grant only what is needed; a glob cannot exclude files")
                .with_optional_fix(suggest_item_removal(skill, find_list(skill, glob.span()), glob.span()));
        }
    }
}

/// Returns the list of globs that contains one.
fn find_list(skill: &Skill, span: Span) -> Option<&YamlNode> {
    let filesystem = skill.frontmatter()?.get("permissions")?.get("filesystem")?;
    let lists = filesystem.entries()?.iter().map(|entry| &entry.value);
    lists.into_iter().find(|list| list.span.start <= span.start && span.end <= list.span.end)
}
