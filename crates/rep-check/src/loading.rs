//! What loading a skill checks, and which violations make the skill invalid.
//!
//! Loading is not linting. The agentskills.io client guide asks hosts to load what they can, so under that dialect only
//! a skill that cannot be loaded at all is invalid. Two dialects demand more: UASP §9.2 validates a file against its
//! schema before it is used, and the x-personal-mcp contract calls violations of its models startup errors. Universal
//! 2.1 and UAAPS do not say that a host must refuse a skill; their tools are checked when they are called.
//!
//! [`LOADING_RULES`] is the only place that decides this. A violation that `rep check` reports as a warning under the
//! detected dialect never makes a skill invalid.

use std::sync::OnceLock;

use rep_model::{Fault, Skill};

use crate::engine::{CheckOptions, SkillChecker, detect_dialects};
use crate::profile::ALL;
use crate::{Finding, Level, Profile, ProfileSet};

/// What loading does about the findings of a rule.
pub struct LoadingRule {
    /// The name of the rule.
    pub rule: &'static str,
    /// The dialects in which a violation makes a skill invalid. If it is every dialect, the skill cannot be loaded.
    pub invalid_in: ProfileSet,
    /// Whether the other dialects report a violation as a warning.
    pub is_warned: bool,
}

const UASP: ProfileSet = Profile::Uasp.as_set();
const PMCP: ProfileSet = Profile::Pmcp.as_set();
const NONE: ProfileSet = ProfileSet::EMPTY;

/// A violation that leaves nothing to load, in any dialect.
const fn unloadable(rule: &'static str) -> LoadingRule {
    LoadingRule { rule, invalid_in: ALL, is_warned: false }
}

/// A violation that the given dialects call hard. The others report a warning.
const fn warned(rule: &'static str, invalid_in: ProfileSet) -> LoadingRule {
    LoadingRule { rule, invalid_in, is_warned: true }
}

/// A violation that the given dialects call hard. It has no meaning in the others, or they tolerate it.
const fn hard(rule: &'static str, invalid_in: ProfileSet) -> LoadingRule {
    LoadingRule { rule, invalid_in, is_warned: false }
}

/// The rules that loading checks, sorted by name.
///
/// UASP: what its schema and its parser refuse. The lenient readings of `rep check` apply, so lists in `reference`,
/// unknown keys, `default: null` and a stale version are not hard. x-personal-mcp: what its models refuse. A name that
/// differs from the directory is a warning, as in `rep check`.
pub const LOADING_RULES: &[LoadingRule] = &[
    warned("byte-order-mark", NONE),
    unloadable("description-empty"),
    unloadable("description-missing"),
    unloadable("description-not-text"),
    warned("description-too-long", PMCP),
    warned("encoding-not-utf8", UASP),
    hard("field-missing", UASP.union(PMCP)),
    hard("field-type", UASP.union(PMCP)),
    unloadable("file-too-large"),
    unloadable("file-unreadable"),
    unloadable("frontmatter-missing"),
    unloadable("frontmatter-not-mapping"),
    unloadable("frontmatter-unclosed"),
    hard("list-empty", PMCP),
    hard("metadata-not-mapping", PMCP),
    warned("name-characters", PMCP),
    warned("name-differs-from-folder", NONE),
    warned("name-empty", PMCP),
    warned("name-missing", PMCP),
    hard("name-not-ascii", PMCP),
    warned("name-not-text", PMCP),
    hard("name-reserved-word", PMCP),
    hard("name-start-not-letter", PMCP),
    warned("name-too-long", PMCP),
    warned("name-uppercase", PMCP),
    hard("nul-byte", UASP),
    hard("pmcp-capability-missing", PMCP),
    hard("pmcp-depends-on-invalid", PMCP),
    hard("pmcp-id-differs-from-name", PMCP),
    hard("pmcp-reference-absolute", PMCP),
    hard("pmcp-reference-escapes", PMCP),
    hard("pmcp-reference-id-invalid", PMCP),
    hard("pmcp-reference-misplaced", PMCP),
    hard("pmcp-reference-missing", PMCP),
    hard("pmcp-reference-not-markdown", PMCP),
    hard("pmcp-reference-outside", PMCP),
    unloadable("skill-md-not-a-file"),
    hard("uasp-not-mapping", UASP),
    warned("uasp-version-shape", NONE),
    warned("uasp-version-stale", NONE),
    hard("value-length", UASP),
    hard("value-not-allowed", UASP),
    hard("value-pattern", UASP.union(PMCP)),
    hard("version-not-semver", PMCP),
    unloadable("yaml-invalid"),
    hard("yaml-key-duplicate", UASP),
    hard("yaml-tab", UASP),
    unloadable("yaml-too-complex"),
    warned("yaml-value-unquoted", NONE),
];

/// The rules about a declared UASP version that is not the hash of the content.
const VERSION_RULES: [&str; 2] = ["uasp-version-shape", "uasp-version-stale"];

impl LoadingRule {
    /// Returns the level of a finding in a skill of these dialects, or `None` if loading does not report it.
    fn level_in(&self, dialects: &[Profile]) -> Option<Level> {
        if dialects.iter().any(|dialect| self.invalid_in.contains(*dialect)) {
            return Some(Level::Error);
        }
        self.is_warned.then_some(Level::Warning)
    }
}

/// Checks a skill as loading does. A finding of level error makes the skill invalid.
///
/// ```
/// use rep_check::loading::{check_loading, is_dialect_violation};
/// use rep_model::{Skill, SkillTree};
///
/// let text = "meta: {name: press, version: \"1a2b3c4d\", type: frob}\n";
/// let (skill, faults) = Skill::parse(SkillTree::from_texts("press", &[("press.uasp.yaml", text)]));
/// let findings = check_loading(&skill, faults);
/// let hard: Vec<&str> = findings.iter().filter(|one| is_dialect_violation(one)).map(|one| one.rule.name).collect();
/// assert_eq!(hard, ["value-not-allowed"]);
/// ```
pub fn check_loading(skill: &Skill, faults: Vec<Fault>) -> Vec<Finding> {
    let is_pmcp = detect_dialects(skill).contains(&Profile::Pmcp);
    let mut findings = checker_for(is_pmcp).collect_findings(skill, faults);
    // A SKILL.md and the UASP file next to it have different dialects.
    let markdown: &[Profile] = if is_pmcp { &[Profile::AgentSkills, Profile::Pmcp] } else { &[Profile::AgentSkills] };
    findings.retain_mut(|finding| {
        let is_uasp = finding.place.file.ends_with(rep_model::uasp::FILE_SUFFIX);
        let dialects = if is_uasp { &[Profile::Uasp] } else { markdown };
        let level = find_loading_rule(finding.rule.name).and_then(|rule| rule.level_in(dialects));
        finding.level = level.unwrap_or(finding.level);
        level.is_some()
    });
    findings
}

/// Returns whether a finding of [`check_loading`] is a violation that the skill's dialect calls hard, although the
/// skill could be loaded.
pub fn is_dialect_violation(finding: &Finding) -> bool {
    finding.level == Level::Error && find_loading_rule(finding.rule.name).is_some_and(|rule| rule.invalid_in != ALL)
}

/// Returns whether a finding says that the declared version is not the hash of the content.
pub fn is_version_mismatch(finding: &Finding) -> bool {
    VERSION_RULES.contains(&finding.rule.name)
}

/// Returns what loading does about a rule.
fn find_loading_rule(name: &str) -> Option<&'static LoadingRule> {
    LOADING_RULES.binary_search_by(|rule| rule.rule.cmp(name)).ok().map(|index| &LOADING_RULES[index])
}

/// Returns the checker for skills with or without an x-personal-mcp block. Allow comments do not apply: the author of a
/// skill cannot waive what its dialect demands of hosts.
fn checker_for(is_pmcp: bool) -> &'static SkillChecker {
    static CHECKERS: [OnceLock<SkillChecker>; 2] = [const { OnceLock::new() }; 2];
    CHECKERS[usize::from(is_pmcp)].get_or_init(|| {
        // Every Markdown skill is also read as agentskills, and a file that cannot be parsed has no dialect.
        let mut profiles = vec![Profile::AgentSkills, Profile::Uasp];
        profiles.extend(is_pmcp.then_some(Profile::Pmcp));
        let is_checked = |rule: &&LoadingRule| rule.level_in(&profiles).is_some();
        let select = LOADING_RULES.iter().filter(is_checked).map(|rule| rule.rule.to_owned()).collect();
        SkillChecker::new(CheckOptions { profiles, select, ignores_allow_comments: true, ..CheckOptions::default() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find_rule;

    #[test]
    fn the_table_is_sorted_and_names_rules_that_exist_in_its_dialects() {
        assert!(LOADING_RULES.is_sorted_by(|one, two| one.rule < two.rule));
        for row in LOADING_RULES {
            let rule = find_rule(row.rule).unwrap_or_else(|| panic!("no rule `{}`", row.rule));
            for dialect in [Profile::Uasp, Profile::Pmcp] {
                if row.invalid_in != ALL && row.invalid_in.contains(dialect) {
                    let level = rule.levels.for_profile(dialect);
                    assert!(
                        level == Some(Level::Error) && rule.levels.automatic.is_none_or(|own| own == Level::Error)
                            || (dialect, row.rule) == (Profile::Pmcp, "name-not-text"),
                        "`{}` is hard in {} but `rep check` says {level:?}",
                        row.rule,
                        dialect.name()
                    );
                }
            }
        }
    }
}
