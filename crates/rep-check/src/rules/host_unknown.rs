use rep_model::Skill;
use rep_model::frontmatter::read_text;
use rep_model::suggestion::nearest_name;
use rep_model::yaml::YamlNode;

use crate::draft::Findings;
use crate::host_limits::HOST_IDS;
use crate::yaml_edits::suggest_value;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "host-unknown",
    summary: "`host_overrides` names a host without a reserved identifier",
    since: "0.1.0",
    levels: RuleLevels { info: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§3, reserved host identifiers")],
    requirements: &["VAL-53"],
    page: include_str!("host_unknown.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let overrides = front.get("host_overrides").and_then(YamlNode::items).unwrap_or(&[]);
    for (index, item) in overrides.iter().enumerate() {
        let Some(host) = item.get("host").and_then(read_text) else { continue };
        if !HOST_IDS.contains(&host.value) {
            let listed: Vec<String> = HOST_IDS.iter().map(|id| format!("`{id}`")).collect();
            findings
                .add(manifest.file, host.span(), format!("host `{}` is not a reserved identifier", host.value))
                .with_data_path(format!("host_overrides[{index}].host"))
                .help(format!("the reserved identifiers are {}", listed.join(", ")))
                .with_optional_fix(
                    nearest_name(host.value, HOST_IDS.iter().copied())
                        .and_then(|near| suggest_value(skill, manifest.file, host.span(), near)),
                );
        }
    }
}
