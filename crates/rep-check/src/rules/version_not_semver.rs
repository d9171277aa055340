use rep_model::frontmatter::ScalarText;
use rep_model::{Skill, names};

use crate::draft::Findings;
use crate::yaml_edits::suggest_value;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "version-not-semver",
    summary: "a version is not valid SemVer 2.0",
    since: "0.1.0",
    levels: RuleLevels { error: ProfileSet::new(&[Profile::Universal, Profile::Pmcp]), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§3 and Appendix A, version"), RuleCitation::pmcp("SkillBlock.version")],
    requirements: &["VAL-24", "VAL-25", "VER-09", "VER-10"],
    page: include_str!("version_not_semver.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    if let Some(version) = front.get_text("version") {
        check_version(skill, (manifest.file, "version"), version, Profile::Universal.as_set(), findings);
    }
    if let Some(version) = front.personal_mcp().and_then(rep_model::frontmatter::PersonalMcpBlock::version) {
        check_version(skill, (manifest.file, "x-personal-mcp.version"), version, Profile::Pmcp.as_set(), findings);
    }
}

fn check_version(
    skill: &Skill,
    (file, path): (&str, &str),
    version: ScalarText<'_>,
    profiles: ProfileSet,
    findings: &mut Findings<'_>,
) {
    // The x-personal-mcp model strips text before validating it.
    let is_pmcp = profiles == Profile::Pmcp.as_set();
    let value = if is_pmcp { names::strip_whitespace(version.value) } else { version.value };
    let is_fine = match (findings.wants_seed_regex(), is_pmcp) {
        (false, _) => is_semver(value),
        (true, is_pmcp) => is_printed_pattern(value, is_pmcp),
    };
    // `field-type` reports a number without quotes.
    if !version.is_text() || is_fine {
        return;
    }
    let guess = guess_version(value);
    let is_accepted = |likely: &&String| !findings.wants_seed_regex() || is_printed_pattern(likely, is_pmcp);
    let fix = guess.as_ref().filter(is_accepted).and_then(|likely| suggest_value(skill, file, version.span(), likely));
    let help = match guess {
        Some(likely) => format!("write `{likely}`"),
        None => "write three numbers, such as `1.0.0`, optionally with a label such as `-rc.1`".to_owned(),
    };
    findings
        .add(file, version.span(), format!("`{path}` is `{value}`, which is not a semantic version"))
        .with_data_path(path)
        .help(help)
        .only_for_profiles(profiles)
        .with_optional_fix(fix);
}

/// Whether a version matches the grammar of SemVer 2.0, in which numbers are unbounded.
fn is_semver(version: &str) -> bool {
    let (rest, build) = version.split_once('+').map_or((version, None), |(rest, build)| (rest, Some(build)));
    let (numbers, label) = rest.split_once('-').map_or((rest, None), |(numbers, label)| (numbers, Some(label)));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = |part: &str| !part.is_empty() && is_digits(part) && (part == "0" || !part.starts_with('0'));
    let is_word =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let numbers: Vec<&str> = numbers.split('.').collect();
    numbers.len() == 3
        && numbers.into_iter().all(is_number)
        && label.is_none_or(|label| label.split('.').all(|part| is_word(part) && (!is_digits(part) || is_number(part))))
        && build.is_none_or(|build| build.split('.').all(is_word))
}

/// Whether a version matches the printed patterns: three numbers, then a label and build data in any form. Universal
/// 2.1 accepts both, the x-personal-mcp contract only one of them.
fn is_printed_pattern(version: &str, is_one_only: bool) -> bool {
    let is_tail =
        |tail: &str| !tail.is_empty() && tail.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
    let end = version.find(['-', '+']).unwrap_or(version.len());
    let (numbers, tail) = version.split_at(end);
    let is_number = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) && (part == "0" || !part.starts_with('0'))
    };
    let parts: Vec<&str> = numbers.split('.').collect();
    if parts.len() != 3 || !parts.into_iter().all(is_number) {
        return false;
    }
    match (tail.get(..1), tail.get(1..)) {
        (None | Some(""), _) => true,
        (Some("-"), Some(label)) if !is_one_only => match label.split_once('+') {
            Some((label, build)) => is_tail(label) && is_tail(build),
            None => is_tail(label),
        },
        (Some(_), Some(rest)) => is_tail(rest),
        (Some(_), None) => false,
    }
}

/// Guesses the intended version: without a `v`, with the missing numbers added.
fn guess_version(version: &str) -> Option<String> {
    let bare = version.strip_prefix(['v', 'V']).unwrap_or(version);
    let ends = ["", ".0", ".0.0"];
    ends.into_iter().map(|end| format!("{bare}{end}")).find(|text| is_semver(text))
}
