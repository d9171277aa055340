use rep_model::test_config::{TEST_CASES_PREFIX, TEST_CONFIG_PATH, parse_test_config};
use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::profile::MARKDOWN;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "test-config-invalid",
    summary: "the settings of the test cases cannot be used",
    since: "0.1.0",
    levels: RuleLevels { error: MARKDOWN, ..RuleLevels::NONE },
    citations: &[RuleCitation::aam("test config, tests/test-config.json")],
    requirements: &["TEST-02"],
    page: include_str!("test_config_invalid.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let after_prefix = skill.tree.entries.range(TEST_CASES_PREFIX.to_owned()..);
    let mut cases = after_prefix.map_while(|(path, _)| path.strip_prefix(TEST_CASES_PREFIX));
    let has_cases = cases.any(|name| name.strip_suffix(".yaml").is_some() && !name.contains('/'));
    // Without cases, the file may belong to another test program.
    let only = if has_cases { MARKDOWN } else { Profile::Aam.as_set() };
    if !skill.tree.entries.contains_key(TEST_CONFIG_PATH) {
        if has_cases {
            let message = format!("`{TEST_CONFIG_PATH}` is missing, but there are test cases");
            findings.add("", Span::default(), message).help("create it with `{\"version\": 1}`");
        }
        return;
    }
    // Other rules report files that cannot be read.
    let Some(bytes) = skill.tree.file_bytes(TEST_CONFIG_PATH) else { return };
    let mut add = |span: Span, message: String, help: String| {
        findings.add(TEST_CONFIG_PATH, span, message).help(help).only_for_profiles(only);
    };
    let Ok(text) = std::str::from_utf8(bytes) else {
        let message = format!("`{TEST_CONFIG_PATH}` is not UTF-8");
        return add(Span::default(), message, "save it as UTF-8".to_owned());
    };
    let mark = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
    for error in parse_test_config(&text[mark..]).err().unwrap_or_default() {
        let span = error.span.map_or(Span::default(), |span| Span::new(span.start + mark, span.end + mark));
        add(span, format!("`{TEST_CONFIG_PATH}`: {}", error.message), error.remedy);
    }
}
