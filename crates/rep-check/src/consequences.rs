//! Findings that another finding already explains.
//!
//! A name such as `PDF Tools` has a space and upper-case letters, and differs from its directory. One correction resolves
//! all three, so one finding is reported. The pass runs after allow comments: a finding that the author silenced does
//! not hide others, and a comment that silences a hidden finding is still used.

use crate::report::Finding;

/// A rule whose findings others explain.
struct ExplainedRule {
    rule: &'static str,
    /// The rules whose findings of at least the same level explain it.
    causes: &'static [&'static str],
    /// The rules whose findings of a higher level explain it.
    stronger_causes: &'static [&'static str],
}

/// The rules that others explain, sorted by name.
const EXPLAINED_RULES: &[ExplainedRule] = &[
    ExplainedRule { rule: "body-too-long", causes: &[], stronger_causes: &["body-too-many-tokens"] },
    ExplainedRule { rule: "body-too-many-tokens", causes: &["body-too-long"], stronger_causes: &[] },
    ExplainedRule {
        rule: "name-differs-from-folder",
        causes: &["name-characters", "name-hyphen-at-edge", "name-hyphen-doubled", "name-uppercase"],
        stronger_causes: &[],
    },
    ExplainedRule { rule: "name-uppercase", causes: &["name-characters"], stronger_causes: &[] },
];

/// Drops the findings that another one in the same file explains.
pub(crate) fn drop_consequences(findings: &mut Vec<Finding>) {
    let is_explained = |finding: &Finding| {
        let row = EXPLAINED_RULES.binary_search_by_key(&finding.rule.name, |row| row.rule);
        let Some(row) = row.ok().map(|index| &EXPLAINED_RULES[index]) else { return false };
        findings.iter().filter(|cause| cause.place.file == finding.place.file).any(|cause| {
            let is_listed = |rules: &[&str]| rules.contains(&cause.rule.name);
            (is_listed(row.causes) && cause.level >= finding.level)
                || (is_listed(row.stronger_causes) && cause.level > finding.level)
        })
    };
    let mut explained = findings.iter().map(is_explained).collect::<Vec<bool>>().into_iter();
    findings.retain(|_| !explained.next().unwrap_or(false));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find_rule;

    #[test]
    fn the_table_is_sorted_and_names_rules() {
        assert!(EXPLAINED_RULES.is_sorted_by(|one, two| one.rule < two.rule));
        for row in EXPLAINED_RULES {
            let names = [row.rule].into_iter().chain(row.causes.iter().chain(row.stronger_causes).copied());
            assert!(names.clone().all(|name| find_rule(name).is_some()), "{}", row.rule);
            assert!(names.skip(1).all(|name| name != row.rule), "{}", row.rule);
        }
    }
}
