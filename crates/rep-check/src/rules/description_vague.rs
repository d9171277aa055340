use rep_model::{Skill, names};

use crate::description::find_description;
use crate::draft::Findings;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "description-vague",
    summary: "`description` is too vague to select the skill by",
    since: "0.1.0",
    levels: RuleLevels {
        info: ProfileSet::new(&[
            Profile::AgentSkills,
            Profile::Universal,
            Profile::Aam,
            Profile::Portable,
            Profile::ClaudeCode,
            Profile::Codex,
        ]),
        ..RuleLevels::NONE
    },
    citations: &[
        RuleCitation::agentskills("description field"),
        RuleCitation::universal("§3"),
        RuleCitation::aam("description field"),
    ],
    requirements: &["VAL-23"],
    page: include_str!("description_vague.md"),
    check: RuleCheck::Skill(check),
};

/// A description shorter than this is always too vague.
const WEIGHT_MIN: usize = 20;
/// A description shorter than this that has no purpose word only repeats the name.
const SHORT_WEIGHT_MAX: usize = 60;
/// Words that state a time or purpose, in languages that can be written in ASCII.
const PURPOSE_WORDS: [&str; 26] = [
    "after", "before", "bei", "cuando", "during", "for", "if", "lorsque", "para", "per", "pour", "quand", "quando",
    "trigger", "triggers", "use", "used", "useful", "uses", "using", "utiliser", "wenn", "when", "whenever", "while",
    "zum",
];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((manifest, description)) = find_description(skill) else { return };
    let text = names::strip_whitespace(description.value);
    let weight = measure_weight(text);
    let has_triggers = manifest.front.as_ref().is_some_and(|front| front.get("when_to_use").is_some());
    let message = if weight < WEIGHT_MIN {
        format!("`description` has only {} characters", names::count_chars(text))
    } else if weight < SHORT_WEIGHT_MAX && text.is_ascii() && !has_triggers && !has_purpose_word(text) {
        "`description` does not say when to use the skill".to_owned()
    } else {
        return;
    };
    findings
        .add(manifest.file, description.span(), message)
        .with_data_path("description")
        .help("say what the skill does and when to use it, in words a user would use");
}

/// Returns the length. Characters of wide scripts count twice, because each carries more meaning.
fn measure_weight(text: &str) -> usize {
    text.chars().take(SHORT_WEIGHT_MAX).map(|letter| if u32::from(letter) < 0x2e80 { 1 } else { 2 }).sum()
}

fn has_purpose_word(text: &str) -> bool {
    let mut words = text.split(|letter: char| !letter.is_ascii_alphabetic());
    words.any(|word| PURPOSE_WORDS.contains(&word.to_ascii_lowercase().as_str()))
}
