use rep_model::{Manifest, Skill, Span};

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "host-named-in-body",
    summary: "the body leans on one host",
    since: "0.1.0",
    levels: Levels { warning: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§2, the body"), Cite::host("claude-code, codex-cli: tools")],
    requirements: &["PKG-20"],
    page: include_str!("host_named_in_body.md"),
    check: Check::Skill(check),
};

/// A host, what shows that a text leans on it, and the overrides that make that fine.
struct Host {
    name: &'static str,
    /// Names that may be no more than a mention.
    names: &'static [&'static str],
    /// Tools only this host has.
    tools: &'static [&'static str],
    id: &'static str,
}

static HOSTS: [Host; 4] = [
    Host {
        name: "Claude Code",
        names: &["Claude Code"],
        tools: &["AskUserQuestion", "ExitPlanMode", "MultiEdit", "NotebookEdit", "TodoWrite", "mcp__"],
        id: "claude-code",
    },
    Host { name: "Codex CLI", names: &["Codex CLI"], tools: &[], id: "codex-cli" },
    Host { name: "Gemini CLI", names: &["Gemini CLI"], tools: &["activate_skill"], id: "gemini-cli" },
    Host { name: "Cursor", names: &["Cursor IDE"], tools: &[], id: "cursor" },
];

/// How texts name hosts, those among them that are also plain words; only for telling whether there are several.
static MENTIONS: [&str; 9] =
    ["Claude Code", "Codex", "Copilot", "Cowork", "Cursor", "Gemini", "OpenCode", "Windsurf", "claude.ai"];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let overridden: Vec<&str> = front.host_overrides().iter().map(|(host, _)| host.value).collect();
    // A text that names several hosts tells them apart, and leans on none.
    if MENTIONS.iter().filter(|name| first(manifest, &[**name]).is_some()).count() > 1 {
        return;
    }
    for host in &HOSTS {
        let is_topic = skill.name().is_some_and(|name| name.contains(host.id));
        let named = || first(manifest, host.names).filter(|_| !is_topic);
        let Some(span) = first(manifest, host.tools).or_else(named) else { continue };
        let word = manifest.source.slice(span);
        let is_served = word.starts_with("mcp__") && overridden.contains(&"mcp");
        if overridden.contains(&host.id) || is_served {
            continue;
        }
        let message = if host.names.contains(&word) {
            format!("the body names {word} and no other host")
        } else {
            format!("the body relies on `{word}`, a tool of {}", host.name)
        };
        let help =
            format!("say what to do, not with which tool, or add an override for `{}` to `host_overrides`", host.id);
        findings.add(manifest.file, span, message).help(help);
    }
}

/// The first of some words in the body, standing alone and outside HTML comments.
fn first(manifest: &Manifest, words: &[&str]) -> Option<Span> {
    let start = manifest.body_span().start;
    words
        .iter()
        .filter_map(|word| places(manifest.body(), word).find_map(|at| visible(manifest, start + at, word)))
        .min()
}

fn places<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_letter = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    // `mcp__` is the beginning of a name.
    let is_prefix = word.ends_with('_');
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let bytes = text.as_bytes();
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let after = bytes.get(at + word.len());
        !is_letter(before) && is_letter(after) == is_prefix
    })
}

fn visible(manifest: &Manifest, at: usize, word: &str) -> Option<Span> {
    let html = &manifest.outline().html;
    let next = html.partition_point(|span| span.start <= at);
    let is_hidden = next.checked_sub(1).is_some_and(|before| html[before].contains(at));
    let rest = &manifest.source.text()[at + word.len()..];
    let tail = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    (!is_hidden).then(|| Span::new(at, at + word.len() + tail))
}
