use rep_model::{Skill, names};

use crate::description::find_description;
use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "description-vague",
    summary: "`description` says too little to choose the skill by",
    since: "0.1.0",
    levels: Levels {
        info: ProfileSet::new(&[
            Profile::AgentSkills,
            Profile::Universal,
            Profile::Aam,
            Profile::Portable,
            Profile::ClaudeCode,
            Profile::Codex,
        ]),
        ..Levels::NONE
    },
    cites: &[Cite::agentskills("description field"), Cite::universal("§3"), Cite::aam("description field")],
    requirements: &["VAL-23"],
    page: include_str!("description_vague.md"),
    check: Check::Skill(check),
};

/// Fewer characters than this say nothing.
const TOO_SHORT: usize = 20;
/// Up to here a text without a word of purpose only repeats the name.
const SHORT: usize = 60;
/// Words that tell when or what for, in the languages ASCII can write.
const CUES: [&str; 26] = [
    "after", "before", "bei", "cuando", "during", "for", "if", "lorsque", "para", "per", "pour", "quand", "quando",
    "trigger", "triggers", "use", "used", "useful", "uses", "using", "utiliser", "wenn", "when", "whenever", "while",
    "zum",
];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((manifest, description)) = find_description(skill) else { return };
    let text = names::strip(description.value);
    let weight = weight(text);
    let has_triggers = manifest.front.as_ref().is_some_and(|front| front.get("when_to_use").is_some());
    let message = if weight < TOO_SHORT {
        format!("description has only {} characters", names::length(text))
    } else if weight < SHORT && text.is_ascii() && !has_triggers && !has_cue(text) {
        "description does not say when to use the skill".to_owned()
    } else {
        return;
    };
    findings
        .add(manifest.file, description.span(), message)
        .path("description")
        .help("say what the skill does and when to use it, in words a user would say");
}

/// The length, with characters of wide scripts counted twice, because each says more.
fn weight(text: &str) -> usize {
    text.chars().take(SHORT).map(|letter| if u32::from(letter) < 0x2e80 { 1 } else { 2 }).sum()
}

fn has_cue(text: &str) -> bool {
    let mut words = text.split(|letter: char| !letter.is_ascii_alphabetic());
    words.any(|word| CUES.contains(&word.to_ascii_lowercase().as_str()))
}
