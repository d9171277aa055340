use rep_model::{ResolvedSkillPath, Skill, resolve_skill_path};

use crate::draft::Findings;
use crate::permission_globs::find_permission_globs;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "permission-overbroad",
    summary: "a permission grants everything",
    since: "0.1.0",
    levels: RuleLevels { warning: ProfileSet::new(&[Profile::Universal, Profile::Security]), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§8 and the anti-pattern on overbroad permissions")],
    requirements: &["PERM-09", "PERM-15"],
    page: include_str!("permission_overbroad.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    for (path, glob) in find_permission_globs(skill).into_iter().filter(|(_, glob)| is_every_file(glob.value)) {
        let draft = findings.add(manifest.file, glob.span(), format!("the glob `{}` matches every file", glob.value));
        draft.with_data_path(path).help("list the directories and file extensions that the skill needs");
        // Under Universal, `permission-outside` reports an absolute glob.
        if resolve_skill_path("", glob.value) == ResolvedSkillPath::Absolute {
            draft.only_for_profiles(Profile::Security.as_set());
        }
    }
    let outbound =
        front.permissions().map(rep_model::frontmatter::PermissionDeclaration::outbound_hosts).unwrap_or_default();
    for host in outbound.into_iter().filter(|host| is_every_host(host.value)) {
        findings
            .add(manifest.file, host.span(), format!("`{}` matches every host", host.value))
            .with_data_path("permissions.network.outbound")
            .help("list the hosts that the skill needs");
    }
}

/// Whether a glob consists only of stars, relative to the root or the home directory.
fn is_every_file(glob: &str) -> bool {
    let path = glob.strip_prefix('~').unwrap_or(glob);
    let is_rooted = glob.starts_with(['~', '/']);
    let mut parts = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").peekable();
    (is_rooted || parts.peek().is_some()) && parts.all(|part| part.bytes().all(|byte| byte == b'*'))
}

/// Whether a pattern matches every host, on any port.
fn is_every_host(host: &str) -> bool {
    let host = host.split_once("://").map_or(host, |(_, host)| host);
    matches!(host, "0.0.0.0/0" | "::/0" | "[::]/0") || matches!(host.split([':', '/']).next(), Some("*" | "**"))
}
