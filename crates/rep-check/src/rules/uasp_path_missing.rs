use rep_model::{ResolvedSkillPath, Skill, resolve_skill_path};

use crate::draft::Findings;
use crate::link_path::parse_local_path;
use crate::yaml_edits::suggest_path;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-path-missing",
    summary: "a path does not exist in the skill",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§5.10"), RuleCitation::uasp("§5.12")],
    requirements: &["US-20", "US-22", "PKG-13"],
    page: include_str!("uasp_path_missing.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    if skill.tree.is_lone_file || !skill.tree.omissions.is_empty() {
        return;
    }
    for uasp in &skill.uasp {
        let Some(document) = uasp.document() else { continue };
        let templates = document
            .sections
            .templates
            .iter()
            .filter_map(|template| Some((format!("templates.{}.path", template.name), template.path.as_ref()?)));
        let sources = document
            .sections
            .sources
            .iter()
            .enumerate()
            .filter_map(|(index, source)| Some((format!("sources[{index}].path"), source.path.as_ref()?)));
        for (field, path) in templates.chain(sources) {
            let Some(inside) = parse_local_path(path).map(|path| resolve_skill_path("", &path)) else { continue };
            let ResolvedSkillPath::Inside(inside) = inside else { continue };
            if !skill.tree.has_path(&inside) {
                findings
                    .add(&uasp.file, path.span_or_start(), format!("`{inside}` does not exist"))
                    .with_data_path(field)
                    .help("add the file, or fix the path; it is relative to the skill's directory")
                    .with_optional_fix(suggest_path(skill, &uasp.file, path.span_or_start(), path));
            }
        }
    }
}
