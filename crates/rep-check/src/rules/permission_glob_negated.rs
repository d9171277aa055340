use rep_model::Skill;
use rep_model::frontmatter::{Text, text};
use rep_model::yaml::Node;

use crate::engine::Findings;
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
    for (path, glob) in globs(skill) {
        if glob.value.starts_with('!') {
            findings
                .add(manifest.file, glob.span(), format!("the glob `{}` is negated", glob.value))
                .path(path)
                .help("grant only what is needed; there are no exceptions to a grant");
        }
    }
}

/// The globs a skill wants to read and write, with their data paths.
pub(super) fn globs(skill: &Skill) -> Vec<(String, Text<'_>)> {
    let permissions = skill.front().and_then(|front| front.get("permissions"));
    let Some(filesystem) = permissions.and_then(|permissions| permissions.get("filesystem")) else { return Vec::new() };
    let list = |key: &'static str| {
        let items = filesystem.get(key).and_then(Node::items).unwrap_or(&[]);
        let placed = move |(index, item)| Some((format!("permissions.filesystem.{key}[{index}]"), text(item)?));
        items.iter().enumerate().filter_map(placed)
    };
    list("read").chain(list("write")).collect()
}
