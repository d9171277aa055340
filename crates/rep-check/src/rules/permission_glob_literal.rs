use rep_model::Skill;

use crate::engine::Findings;
use crate::permission_globs::find_globs;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "permission-glob-literal",
    summary: "a glob holds a character that other globs treat as special",
    since: "0.1.0",
    levels: Levels { info: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§8, glob semantics")],
    requirements: &["PERM-04"],
    page: include_str!("permission_glob_literal.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    for (path, glob) in find_globs(skill) {
        if let Some(mark) = literal(glob.value) {
            findings
                .add(manifest.file, glob.span(), format!("`{mark}` in `{}` stands for itself", glob.value))
                .path(path)
                .help("only `*` and `**` are special; write one glob for each case");
        }
    }
}

/// A piece of a glob that looks special and is not.
fn literal(glob: &str) -> Option<&'static str> {
    let inner = |open: char, close: char| glob.split_once(open)?.1.split_once(close).map(|(inner, _)| inner);
    if glob.contains('?') {
        return Some("?");
    }
    if inner('[', ']').is_some_and(|inner| !inner.is_empty()) {
        return Some("[…]");
    }
    inner('{', '}').filter(|inner| inner.contains([',', '.'])).map(|_| "{…}")
}
