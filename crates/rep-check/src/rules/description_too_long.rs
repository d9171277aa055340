use rep_model::frontmatter::Text;
use rep_model::yaml::Style;
use rep_model::{Skill, Span, names};

use crate::engine::Findings;
use crate::profile::{ALL, MARKDOWN};
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "description-too-long",
    summary: "`description` is longer than 1024 characters",
    since: "0.1.0",
    levels: Levels {
        error: MARKDOWN.without(Profile::ClaudeCode.as_set()),
        warning: Profile::ClaudeCode.as_set(),
        ..Levels::NONE
    },
    cites: &[
        Cite::agentskills("description field"),
        Cite::reference("validate: exceeds 1024 character limit"),
        Cite::universal("Appendix A, maxLength"),
        Cite::aam("description field"),
        Cite::pmcp("frontmatter model, stripped strings"),
    ],
    requirements: &["VAL-19", "VAL-20", "VAL-21", "HOST-10"],
    page: include_str!("description_too_long.md"),
    check: Check::Skill(check),
};

/// The profiles that count the value as YAML gives it. x-personal-mcp strips it first.
const COUNTED_RAW: ProfileSet = MARKDOWN.without(Profile::Pmcp.as_set());

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report(skill, "description", 1024, findings);
}

/// Reports a text of more than `max` code points.
pub(super) fn report(skill: &Skill, field: &str, max: usize, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(text) = front.text(field) else { return };
    let (raw, stripped) = (names::length(text.value), names::length(names::strip(text.value)));
    // A blank text is another rule's fault.
    if raw <= max || stripped == 0 {
        return;
    }
    let shorten = "shorten it; detail belongs in the body".to_owned();
    let block = chomped(text, manifest.source.slice(text.span()));
    let faults: Vec<(usize, String, ProfileSet)> = match block {
        _ if raw == stripped => vec![(raw, shorten, ALL)],
        _ if stripped > max => vec![(raw, shorten.clone(), COUNTED_RAW), (stripped, shorten, Profile::Pmcp.as_set())],
        Some(indicator) => {
            let help = format!("start the block with `{indicator}-`, because the line break at its end counts");
            vec![(raw, help, COUNTED_RAW)]
        }
        None => vec![(raw, "drop the blanks around it; they count".to_owned(), COUNTED_RAW)],
    };
    for (count, help, only) in faults {
        let message = format!("{field} has {count} characters, and {max} are allowed");
        let draft = findings.add(manifest.file, text.span(), message).path(field).help(help).only(only);
        if block.is_some() && stripped <= max && raw == max + 1 {
            draft.replace(Span::at(text.span().start + 1), "-");
        }
    }
}

/// The `|` or `>` of a block scalar that keeps one line break at its end and could drop it.
fn chomped(text: Text<'_>, source: &str) -> Option<char> {
    let is_block = matches!(text.node.style(), Some(Style::Literal | Style::Folded));
    let mut header = source.lines().next()?.chars();
    let indicator = header.next().filter(|first| is_block && matches!(first, '|' | '>'))?;
    let settings: String = header.take_while(|letter| !letter.is_whitespace()).collect();
    (text.value.ends_with('\n') && !settings.contains(['+', '-'])).then_some(indicator)
}
