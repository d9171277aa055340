use rep_model::Skill;
use rep_model::frontmatter::text;
use rep_model::uasp::Uasp;

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-source-url",
    summary: "a source whose `url` is no URI",
    since: "0.1.0",
    levels: Levels { warning: Profile::Uasp.as_set(), ..Levels::NONE },
    cites: &[Cite::uasp("§3.1, Source, format: uri")],
    requirements: &["US-22"],
    page: include_str!("uasp_source_url.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        for (index, source) in uasp.view().map(Uasp::sources).unwrap_or_default().iter().enumerate() {
            let Some(url) = source.get("url").and_then(text).filter(|url| url.is_text()) else { continue };
            if !is_uri(url.value) {
                findings
                    .add(&uasp.file, url.span(), format!("`{}` is no URI", url.value))
                    .path(format!("sources[{index}].url"))
                    .help("write the whole address, such as `https://example.com/guide`, or use `path` for a file");
            }
        }
    }
}

/// Whether text has a scheme, and no letter that a URI cannot hold. Letters beyond ASCII are let through.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    let is_refused = |letter: char| letter.is_whitespace() || letter.is_control() || "<>\"{}|\\^`".contains(letter);
    is_scheme && !rest.is_empty() && !rest.contains(is_refused)
}
