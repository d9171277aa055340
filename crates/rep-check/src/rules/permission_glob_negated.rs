use rep_model::Skill;

use crate::engine::Findings;
use crate::permission_globs::find_globs;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "permission-glob-negated",
    summary: "a file permission starts with an exclamation mark",
    since: "0.1.0",
    levels: Levels { error: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§8, glob semantics")],
    requirements: &["PERM-06"],
    page: include_str!("permission_glob_negated.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    for (path, glob) in find_globs(skill) {
        if glob.value.starts_with('!') {
            findings
                .add(manifest.file, glob.span(), format!("the glob `{}` is negated", glob.value))
                .path(path)
                .help("grant only what is needed; there are no exceptions to a grant");
        }
    }
}
