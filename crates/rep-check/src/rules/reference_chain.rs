use std::collections::BTreeSet;

use rep_model::markdown::outline;
use rep_model::{Resolved, Skill, resolve};

use crate::engine::Findings;
use crate::link_path::local_path;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "reference-chain",
    summary: "a referenced file that leads on to another one",
    since: "0.1.0",
    levels: Levels { info: MARKDOWN, ..Levels::NONE },
    cites: &[Cite::agentskills("file references")],
    requirements: &["PKG-16"],
    page: include_str!("reference_chain.md"),
    check: Check::Skill(check),
};

/// The most bytes of referenced files that are read for links.
const BYTES_MAX: usize = 4 << 20;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    let outline = manifest.outline();
    let direct = outline.links.iter().filter_map(|link| markdown_file("", &link.target));
    let mentioned = outline.codes.iter().filter_map(|code| markdown_file("", &code.text));
    let known: BTreeSet<String> = direct.chain(mentioned).collect();
    let mut seen = BTreeSet::new();
    let mut bytes_left = BYTES_MAX;
    for link in &outline.links {
        let Some(file) = markdown_file("", &link.target).filter(|file| seen.insert(file.clone())) else { continue };
        if is_manifest(&file) {
            continue;
        }
        let Some(text) = skill.tree.bytes(&file).and_then(|bytes| std::str::from_utf8(bytes).ok()) else { continue };
        let Some(left) = bytes_left.checked_sub(text.len()) else { return };
        bytes_left = left;
        if let Some(onward) = onward(skill, &file, text, &known) {
            findings
                .add(manifest.file, link.span, format!("`{file}` leads on to `{onward}`, which SKILL.md does not name"))
                .help("link to both from SKILL.md, so that each is one step away");
        }
    }
}

/// The first Markdown file of the skill that a referenced file links to and SKILL.md does not.
fn onward(skill: &Skill, file: &str, text: &str, known: &BTreeSet<String>) -> Option<String> {
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let links = outline(text, 0).links;
    let mut targets = links.iter().filter_map(|link| markdown_file(folder, &link.target));
    targets.find(|target| target != file && !is_manifest(target) && !known.contains(target) && skill.tree.has(target))
}

/// Whether a file is the SKILL.md of this skill, or of one below it that is entered on its own.
fn is_manifest(file: &str) -> bool {
    file.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case("SKILL.md"))
}

/// The Markdown file of the skill that a link means.
fn markdown_file(folder: &str, target: &str) -> Option<String> {
    let path = local_path(target).filter(|path| path.len() > 3 && path.to_ascii_lowercase().ends_with(".md"))?;
    match resolve(folder, &path) {
        Resolved::Inside(inside) => Some(inside),
        Resolved::Outside | Resolved::Absolute => None,
    }
}
