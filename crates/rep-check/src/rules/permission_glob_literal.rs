use rep_model::Skill;

use crate::draft::Findings;
use crate::permission_globs::find_permission_globs;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "permission-glob-literal",
    summary: "a glob contains a character that is special in other glob dialects",
    since: "0.1.0",
    levels: RuleLevels { info: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§8, glob semantics")],
    requirements: &["PERM-04"],
    page: include_str!("permission_glob_literal.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    for (path, glob) in find_permission_globs(skill) {
        if let Some(mark) = find_literal_syntax(glob.value) {
            findings
                .add(manifest.file, glob.span(), format!("`{mark}` in `{}` is matched literally", glob.value))
                .with_data_path(path)
                .help("only `*` and `**` are special; write one glob for each case");
        }
    }
}

/// Returns a part of a glob that looks special but is not.
fn find_literal_syntax(glob: &str) -> Option<&'static str> {
    let inner = |open: char, close: char| glob.split_once(open)?.1.split_once(close).map(|(inner, _)| inner);
    if glob.contains('?') {
        return Some("?");
    }
    if inner('[', ']').is_some_and(|inner| !inner.is_empty()) {
        return Some("[…]");
    }
    inner('{', '}').filter(|inner| inner.contains([',', '.'])).map(|_| "{…}")
}
