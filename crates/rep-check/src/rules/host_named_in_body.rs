use rep_model::{Manifest, Skill, Span};

use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "host-named-in-body",
    summary: "the body depends on one host",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§2, the body"), RuleCitation::host_table("claude-code, codex-cli: tools")],
    requirements: &["PKG-20"],
    page: include_str!("host_named_in_body.md"),
    check: RuleCheck::Skill(check),
};

/// A host, the words that show that a text depends on it, and the id of its override.
struct HostMentions {
    name: &'static str,
    /// Names that may be a mere mention.
    names: &'static [&'static str],
    /// Tools that only this host has.
    tools: &'static [&'static str],
    id: &'static str,
}

static HOST_MENTIONS: [HostMentions; 4] = [
    HostMentions {
        name: "Claude Code",
        names: &["Claude Code"],
        tools: &["AskUserQuestion", "ExitPlanMode", "MultiEdit", "NotebookEdit", "TodoWrite", "mcp__"],
        id: "claude-code",
    },
    HostMentions { name: "Codex CLI", names: &["Codex CLI"], tools: &[], id: "codex-cli" },
    HostMentions { name: "Gemini CLI", names: &["Gemini CLI"], tools: &["activate_skill"], id: "gemini-cli" },
    HostMentions { name: "Cursor", names: &["Cursor IDE"], tools: &[], id: "cursor" },
];

/// Host names as texts write them, including ordinary words. Used only to detect whether a text names several hosts.
static MENTIONED_HOSTS: [&str; 9] =
    ["Claude Code", "Codex", "Copilot", "Cowork", "Cursor", "Gemini", "OpenCode", "Windsurf", "claude.ai"];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let overridden: Vec<&str> = front.host_overrides().iter().map(|(host, _)| host.value).collect();
    // A text that names several hosts distinguishes them, and depends on none.
    if MENTIONED_HOSTS.iter().filter(|name| find_first_word(manifest, &[**name]).is_some()).count() > 1 {
        return;
    }
    for host in &HOST_MENTIONS {
        let is_topic = skill.name().is_some_and(|name| name.contains(host.id));
        let named = || find_first_word(manifest, host.names).filter(|_| !is_topic);
        let Some(span) = find_first_word(manifest, host.tools).or_else(named) else { continue };
        let word = manifest.source.slice(span);
        let is_served = word.starts_with("mcp__") && overridden.contains(&"mcp");
        if overridden.contains(&host.id) || is_served {
            continue;
        }
        let message = if host.names.contains(&word) {
            format!("the body mentions {word} but no other host")
        } else {
            format!("the body relies on `{word}`, a tool of {}", host.name)
        };
        let help =
            format!("describe the task instead of the tool, or add an override for `{}` to `host_overrides`", host.id);
        findings.add(manifest.file, span, message).help(help);
    }
}

/// Finds the first of the given words in the body, as a whole word outside HTML comments.
fn find_first_word(manifest: &Manifest, words: &[&str]) -> Option<Span> {
    let start = manifest.body_span().start;
    words
        .iter()
        .filter_map(|word| {
            find_word_offsets(manifest.body(), word).find_map(|at| locate_visible_word(manifest, start + at, word))
        })
        .min()
}

fn find_word_offsets<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_letter = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    // `mcp__` is the prefix of a name.
    let is_prefix = word.ends_with('_');
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let bytes = text.as_bytes();
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let after = bytes.get(at + word.len());
        !is_letter(before) && is_letter(after) == is_prefix
    })
}

fn locate_visible_word(manifest: &Manifest, at: usize, word: &str) -> Option<Span> {
    let html = &manifest.outline().html;
    let next = html.partition_point(|span| span.start <= at);
    let is_hidden = next.checked_sub(1).is_some_and(|before| html[before].contains(at));
    let rest = &manifest.source.text()[at + word.len()..];
    let tail = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    (!is_hidden).then(|| Span::new(at, at + word.len() + tail))
}
