use rep_model::Skill;

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
        let sources = uasp.document().map(|document| document.sections.sources.as_slice()).unwrap_or_default();
        for (index, source) in sources.iter().enumerate() {
            let Some(url) = source.url.as_ref().filter(|url| url.is_text) else { continue };
            if !is_uri(url) {
                findings
                    .add(&uasp.file, url.place(), format!("`{url}` is no URI"))
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
