use rep_model::Skill;

use crate::draft::Findings;
use crate::yaml_edits::suggest_value;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-source-url",
    summary: "a source `url` is not a URI",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§3.1, Source, format: uri")],
    requirements: &["US-22"],
    page: include_str!("uasp_source_url.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let sources = uasp.document().map(|document| document.sections.sources.as_slice()).unwrap_or_default();
        for (index, source) in sources.iter().enumerate() {
            let Some(url) = source.url.as_ref().filter(|url| url.is_text) else { continue };
            if !is_uri_text(url) {
                findings
                    .add(&uasp.file, url.span_or_start(), format!("`{url}` is not a URI"))
                    .with_data_path(format!("sources[{index}].url"))
                    .help("write the full address, such as `https://example.com/guide`, or use `path` for a file")
                    .with_optional_fix(
                        complete_address(url)
                            .and_then(|full| suggest_value(skill, &uasp.file, url.span_or_start(), &full)),
                    );
            }
        }
    }
}

/// Whether a text has a scheme, and no character that a URI cannot contain. Non-ASCII letters are accepted.
fn is_uri_text(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    let is_refused = |letter: char| letter.is_whitespace() || letter.is_control() || "<>\"{}|\\^`".contains(letter);
    is_scheme && !rest.is_empty() && !rest.contains(is_refused)
}

/// Returns the address of a text that starts with the name of a host, such as `docs.example.com/guide`.
fn complete_address(text: &str) -> Option<String> {
    let host = text.split('/').next().unwrap_or("");
    let is_label =
        |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let (_, ending) = host.rsplit_once('.')?;
    let is_host =
        host.split('.').all(is_label) && ending.len() >= 2 && ending.bytes().all(|byte| byte.is_ascii_alphabetic());
    let full = format!("https://{text}");
    (is_host && !matches!(ending, "md" | "html" | "txt" | "pdf" | "yaml") && is_uri_text(&full)).then_some(full)
}
