use rep_model::{Resolved, Skill, resolve};

use crate::engine::Findings;
use crate::permission_globs::find_globs;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "permission-outside",
    summary: "a file permission reaches out of the folder it is relative to",
    since: "0.1.0",
    levels: Levels { error: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§1 path rules and §8 glob semantics")],
    requirements: &["PERM-03", "PKG-14"],
    page: include_str!("permission_outside.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    for (path, glob) in find_globs(skill) {
        let what = match resolve("", glob.value) {
            Resolved::Inside(_) => continue,
            Resolved::Outside => "leads out of the root",
            Resolved::Absolute => "is absolute",
        };
        findings
            .add(manifest.file, glob.span(), format!("the glob `{}` {what}", glob.value))
            .path(path)
            .help("write it relative to the root, without `..`");
    }
}
