//! Generates the text of skills.

use super::words::{ADJECTIVES, FILE_TYPES, FILLER_WORDS, NOUNS, VERBS, invent_word};
use super::{BodyLength, LibraryShape, PlantedSkill, SyntheticLibrarySpec};

/// The additional files of some skills.
pub(super) const REFERENCE_PATH: &str = "references/format.md";
pub(super) const SCRIPT_PATH: &str = "scripts/run.sh";

/// The number of characters of a description, in steps of 5 % of all skills.
const DESCRIPTION_LENGTHS: [usize; 21] =
    [48, 123, 149, 170, 188, 204, 221, 237, 254, 271, 289, 308, 330, 353, 380, 410, 448, 496, 562, 679, 1_000];
/// The number of characters of a body, in the same steps.
const BODY_LENGTHS: [usize; 21] = [
    300, 950, 1_400, 1_750, 2_100, 2_450, 2_800, 3_200, 3_650, 4_100, 4_600, 5_200, 5_900, 6_700, 7_700, 9_000, 10_700,
    12_800, 16_000, 22_500, 44_000,
];
/// The number of invented words. A few occur in many skills, most in few.
const RARE_WORD_COUNT: usize = 120_000;

/// A pseudorandom number generator with a seed (splitmix64).
pub(super) struct SeededRandom {
    state: u64,
}

impl SeededRandom {
    pub(super) fn new(number: usize) -> Self {
        Self { state: (number as u64).wrapping_mul(0xd134_2543_de82_ef95) ^ 0x5eed_1e55 }
    }

    fn next_number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `most`.
    fn next_below(&mut self, most: usize) -> usize {
        usize::try_from(self.next_number() >> 32).unwrap_or(0) % most
    }

    fn pick_word<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.next_below(words.len())]
    }

    /// Picks a length from a table of 5 % steps.
    fn pick_length(&mut self, table: &[usize; 21]) -> usize {
        let (part, within) = (self.next_below(20), self.next_below(1_000));
        table[part] + (table[part + 1] - table[part]) * within / 1_000
    }
}

/// Appends a word: usually a common one, sometimes one that few skills share.
fn push_word(dice: &mut SeededRandom, out: &mut String) {
    match dice.next_below(100) {
        0..=41 => out.push_str(dice.pick_word(&FILLER_WORDS)),
        42..=66 => out.push_str(dice.pick_word(&NOUNS)),
        67..=80 => out.push_str(dice.pick_word(&VERBS)),
        81..=88 => out.push_str(dice.pick_word(&ADJECTIVES)),
        _ => {
            // Multiplying uniform numbers makes small results frequent and large ones rare, like words in a text.
            let rank =
                dice.next_below(1_000) * dice.next_below(1_000) / 1_000 * dice.next_below(RARE_WORD_COUNT / 1_000);
            let rank = rank + dice.next_below(7);
            out.push_str(&invent_word(rank, if rank < 4_900 { 2 } else { 3 }));
        }
    }
}

/// Appends a sentence.
fn push_sentence(dice: &mut SeededRandom, out: &mut String) {
    let verb = dice.pick_word(&VERBS);
    out.push_str(&verb[..1].to_ascii_uppercase());
    out.push_str(&verb[1..]);
    for _ in 0..8 + dice.next_below(11) {
        out.push(' ');
        push_word(dice, out);
    }
    out.push('.');
}

/// Generates sentences of at least `length` characters.
fn generate_sentences(dice: &mut SeededRandom, length: usize) -> String {
    let mut out = String::with_capacity(length + 120);
    while out.len() < length {
        if !out.is_empty() {
            out.push(' ');
        }
        push_sentence(dice, &mut out);
    }
    out
}

/// Generates a separate document, for files next to SKILL.md.
pub(super) fn generate_document(dice: &mut SeededRandom, length: usize) -> String {
    format!("# The {}\n\n{}\n", dice.pick_word(&NOUNS), generate_sentences(dice, length))
}

pub(super) fn generate_description(dice: &mut SeededRandom) -> String {
    let length = dice.pick_length(&DESCRIPTION_LENGTHS);
    // Reserve space for the closing sentence and half of the sentence that exceeds the length.
    let mut out = generate_sentences(dice, length.saturating_sub(98).max(1));
    out.push_str(&format!(" Use when somebody asks to {} a {}.", dice.pick_word(&VERBS), dice.pick_word(&NOUNS)));
    // The last sentence may exceed the limit of every host.
    if out.len() > 1_000 {
        out.truncate(999);
        out.push('.');
    }
    out
}

pub(super) fn has_reference(number: usize) -> bool {
    number.is_multiple_of(10)
}

pub(super) fn has_script(number: usize) -> bool {
    number % 12 == 5
}

fn has_triggers(number: usize) -> bool {
    number.is_multiple_of(3)
}

/// Generates a SKILL.md. `more` is additional frontmatter. Skills of a plain library use only fields that every
/// tool knows.
pub(super) fn generate_skill_md(
    name: &str,
    number: usize,
    order: SyntheticLibrarySpec,
    more: &str,
    dice: &mut SeededRandom,
) -> String {
    let mut out = format!("---\nname: {name}\ndescription: {}\n", generate_description(dice));
    out.push_str(more);
    if number % 2 == 1 {
        out.push_str("license: MIT\n");
    }
    if number % 5 == 2 {
        out.push_str(&format!(
            "metadata:\n  author: team-{}\n  version: \"1.{}\"\n",
            dice.pick_word(&NOUNS),
            dice.next_below(20)
        ));
    }
    if number % 7 == 3 {
        out.push_str("allowed-tools: Read Grep\n");
    }
    if order.shape == LibraryShape::Mixed {
        push_extra_fields(number, dice, &mut out);
    }
    out.push_str("---\n\n");
    out.push_str(&generate_body(number, order.bodies, dice));
    out
}

/// Appends the fields of other dialects.
fn push_extra_fields(number: usize, dice: &mut SeededRandom, out: &mut String) {
    if has_triggers(number) {
        push_triggers(number, dice, out);
    }
    if number % 20 == 6 {
        // The skill with the previous number is valid, wherever it is.
        out.push_str(&format!("depends_on:\n  - {}\n", super::skill_name(number - 1)));
    }
    if number % 15 == 3 {
        out.push_str(&format!(
            "tools:\n  - name: {}-{}\n    description: {}s one {}.\n    input_schema:\n      type: object\n",
            dice.pick_word(&VERBS),
            invent_word(number, 3),
            dice.pick_word(&VERBS),
            dice.pick_word(&NOUNS)
        ));
    }
}

fn push_triggers(number: usize, dice: &mut SeededRandom, out: &mut String) {
    out.push_str("when_to_use:\n  mentions:\n");
    if number == 0 {
        out.push_str(&format!("    - {}\n", PlantedSkill::MENTION));
    }
    for _ in 0..2 + dice.next_below(5) {
        let (adjective, noun) = (dice.pick_word(&ADJECTIVES), dice.pick_word(&NOUNS));
        match dice.next_below(3) {
            0 => out.push_str(&format!("    - {adjective} {noun}\n")),
            1 => out.push_str(&format!("    - {} {noun}\n", dice.pick_word(&VERBS))),
            _ => out.push_str(&format!("    - {noun} {}\n", invent_word(dice.next_below(4_900), 2))),
        }
    }
    let ending =
        if number == 0 { PlantedSkill::FILE_TYPE.trim_start_matches('.') } else { dice.pick_word(&FILE_TYPES) };
    out.push_str(&format!("  file_types:\n    - .{ending}\n"));
    if dice.next_below(2) == 0 {
        out.push_str(&format!("  intents:\n    - {}_{}\n", dice.pick_word(&VERBS), dice.pick_word(&NOUNS)));
    }
    if dice.next_below(8) == 0 {
        out.push_str(&format!("  priority: {}\n", 1 + dice.next_below(9)));
    }
}

/// Generates the Markdown below the frontmatter: headings, paragraphs, lists, fences, tables and links.
pub(super) fn generate_body(number: usize, bodies: BodyLength, dice: &mut SeededRandom) -> String {
    let length = dice.pick_length(&BODY_LENGTHS) / if bodies == BodyLength::Short { 8 } else { 1 };
    let mut out = format!("# {} the {}\n\n", dice.pick_word(&VERBS), dice.pick_word(&NOUNS));
    if number == 0 {
        out.push_str(&format!("Every evening, enter the {}.\n\n", PlantedSkill::PHRASE));
    }
    if has_reference(number) {
        out.push_str(&format!("The form is in [format.md]({REFERENCE_PATH}).\n\n"));
    }
    if has_script(number) {
        out.push_str(&format!("Run `{SCRIPT_PATH}` on each file.\n\n"));
    }
    let mut section = 0;
    while out.len() < length {
        section += 1;
        let hashes = if section % 3 == 0 { "###" } else { "##" };
        out.push_str(&format!("{hashes} {} the {}\n\n", dice.pick_word(&VERBS), dice.pick_word(&NOUNS)));
        push_section(section, dice, &mut out);
    }
    out
}

fn push_section(section: usize, dice: &mut SeededRandom, out: &mut String) {
    let intro = 80 + dice.next_below(300);
    out.push_str(&generate_sentences(dice, intro));
    out.push_str("\n\n");
    match section % 4 {
        1 => {
            for step in 1..=3 + dice.next_below(4) {
                out.push_str(&format!("{step}. "));
                push_sentence(dice, out);
                out.push('\n');
            }
        }
        2 => {
            let (verb, noun) = (dice.pick_word(&VERBS), dice.pick_word(&NOUNS));
            let variable = invent_word(dice.next_below(4_900), 2);
            out.push_str(&format!(
                "```python\ndef {verb}_{noun}({variable}):\n    rows = [row for row in {variable} if row.get(\"{noun}\")]\n    return sorted(rows)\n```\n"
            ));
        }
        3 => {
            out.push_str("| what | how | count |\n|---|---|---|\n");
            for _ in 0..3 + dice.next_below(4) {
                out.push_str(&format!(
                    "| {} | {} | {} |\n",
                    dice.pick_word(&NOUNS),
                    dice.pick_word(&VERBS),
                    dice.next_below(100)
                ));
            }
        }
        _ => {
            for _ in 0..2 + dice.next_below(3) {
                out.push_str(&format!("- **{}**: ", dice.pick_word(&NOUNS)));
                push_sentence(dice, out);
                out.push('\n');
            }
        }
    }
    out.push('\n');
}

/// Generates a SKILL.md that no host can load, with one of four faults.
pub(super) fn generate_broken_skill(name: &str, how: usize, dice: &mut SeededRandom) -> String {
    let description = generate_description(dice);
    match how {
        0 => format!("# {name}\n\n{description}\n"),
        1 => format!("---\nname: {name}\n---\n\n{description}\n"),
        2 => format!("---\nname: {name}\ndescription: {description}\n\n# It has no end\n"),
        _ => format!("---\n- name: {name}\n- description: {description}\n---\n\n# A list\n"),
    }
}

/// Generates a UASP document.
pub(super) fn generate_uasp(name: &str, dice: &mut SeededRandom) -> String {
    let description = generate_description(dice);
    // UASP allows 500 characters.
    let description =
        description.get(..500).map_or(description.as_str(), |start| &start[..start.rfind(' ').unwrap_or(500)]);
    let mut out = format!(
        "meta:\n  name: {name}\n  version: \"0a1b2c3d\"\n  type: knowledge\n  description: {description}\ntriggers:\n  keywords:\n"
    );
    for _ in 0..2 + dice.next_below(4) {
        out.push_str(&format!("    - {} {}\n", dice.pick_word(&NOUNS), dice.pick_word(&VERBS)));
    }
    out.push_str(&format!("  file_patterns:\n    - \"**/*.{}\"\n", dice.pick_word(&FILE_TYPES)));
    out.push_str("constraints:\n  always:\n");
    for _ in 0..2 + dice.next_below(6) {
        out.push_str("    - ");
        push_sentence(dice, &mut out);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_planted_stands_nowhere_else() {
        let order = SyntheticLibrarySpec { count: 500, shape: LibraryShape::Mixed, bodies: BodyLength::Real };
        for number in 1..order.count {
            let text =
                generate_skill_md(&super::super::skill_name(number), number, order, "", &mut SeededRandom::new(number));
            for planted in PlantedSkill::PHRASE.split(' ').chain([PlantedSkill::MENTION, PlantedSkill::FILE_TYPE]) {
                assert!(!text.contains(planted), "{planted} in skill {number}");
            }
        }
    }
}
