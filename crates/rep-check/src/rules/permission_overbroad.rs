use rep_model::{Resolved, Skill, resolve};

use crate::engine::Findings;
use crate::permission_globs::find_globs;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "permission-overbroad",
    summary: "a permission that grants everything",
    since: "0.1.0",
    levels: Levels { warning: ProfileSet::new(&[Profile::Universal, Profile::Security]), ..Levels::NONE },
    cites: &[Cite::universal("§8 and the anti-pattern on overbroad permissions")],
    requirements: &["PERM-09", "PERM-15"],
    page: include_str!("permission_overbroad.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    for (path, glob) in find_globs(skill).into_iter().filter(|(_, glob)| is_every_file(glob.value)) {
        let draft =
            findings.add(manifest.file, glob.span(), format!("the glob `{}` names no file in particular", glob.value));
        draft.path(path).help("name the folders and endings the skill really needs");
        // Universal refuses an absolute glob by `permission-outside`.
        if resolve("", glob.value) == Resolved::Absolute {
            draft.only(Profile::Security.as_set());
        }
    }
    let outbound = front.permissions().map(rep_model::frontmatter::Permissions::outbound).unwrap_or_default();
    for host in outbound.into_iter().filter(|host| is_every_host(host.value)) {
        findings
            .add(manifest.file, host.span(), format!("`{}` names no host in particular", host.value))
            .path("permissions.network.outbound")
            .help("name the hosts the skill really needs");
    }
}

/// Whether nothing but stars is left of a glob, from the root or the home folder on.
fn is_every_file(glob: &str) -> bool {
    let path = glob.strip_prefix('~').unwrap_or(glob);
    let is_rooted = glob.starts_with(['~', '/']);
    let mut parts = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").peekable();
    (is_rooted || parts.peek().is_some()) && parts.all(|part| part.bytes().all(|byte| byte == b'*'))
}

/// Whether every host is meant, on whatever port.
fn is_every_host(host: &str) -> bool {
    let host = host.split_once("://").map_or(host, |(_, host)| host);
    matches!(host, "0.0.0.0/0" | "::/0" | "[::]/0") || matches!(host.split([':', '/']).next(), Some("*" | "**"))
}
