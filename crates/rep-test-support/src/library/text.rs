//! What generated skills say.

use super::words::{ADJECTIVES, FILE_TYPES, FILLER, NOUNS, VERBS, invented};
use super::{Bodies, Order, Planted, Shape};

/// The further files some skills have.
pub(super) const REFERENCE: &str = "references/format.md";
pub(super) const SCRIPT: &str = "scripts/run.sh";

/// Characters of a description, at every twentieth part of all skills.
const DESCRIPTION: [usize; 21] =
    [48, 123, 149, 170, 188, 204, 221, 237, 254, 271, 289, 308, 330, 353, 380, 410, 448, 496, 562, 679, 1_000];
/// Characters of a body, the same way.
const BODY: [usize; 21] = [
    300, 950, 1_400, 1_750, 2_100, 2_450, 2_800, 3_200, 3_650, 4_100, 4_600, 5_200, 5_900, 6_700, 7_700, 9_000, 10_700,
    12_800, 16_000, 22_500, 44_000,
];
/// How many invented words there are. Few are in many skills, most in few.
const TAIL: usize = 120_000;

/// Numbers that look random and follow from a seed (splitmix64).
pub(super) struct Dice {
    state: u64,
}

impl Dice {
    pub(super) fn new(number: usize) -> Self {
        Self { state: (number as u64).wrapping_mul(0xd134_2543_de82_ef95) ^ 0x5eed_1e55 }
    }

    fn roll(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below another.
    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.roll() >> 32).unwrap_or(0) % most
    }

    fn one<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    /// A length from a table of twentieths.
    fn length(&mut self, table: &[usize; 21]) -> usize {
        let (part, within) = (self.below(20), self.below(1_000));
        table[part] + (table[part + 1] - table[part]) * within / 1_000
    }
}

/// Adds a word: mostly a known one, now and then one that few skills share.
fn word(dice: &mut Dice, out: &mut String) {
    match dice.below(100) {
        0..=41 => out.push_str(dice.one(&FILLER)),
        42..=66 => out.push_str(dice.one(&NOUNS)),
        67..=80 => out.push_str(dice.one(&VERBS)),
        81..=88 => out.push_str(dice.one(&ADJECTIVES)),
        _ => {
            // Multiplying even chances makes small numbers frequent and large ones rare, as words are.
            let rank = dice.below(1_000) * dice.below(1_000) / 1_000 * dice.below(TAIL / 1_000);
            let rank = rank + dice.below(7);
            out.push_str(&invented(rank, if rank < 4_900 { 2 } else { 3 }));
        }
    }
}

/// Adds a sentence.
fn sentence(dice: &mut Dice, out: &mut String) {
    let verb = dice.one(&VERBS);
    out.push_str(&verb[..1].to_ascii_uppercase());
    out.push_str(&verb[1..]);
    for _ in 0..8 + dice.below(11) {
        out.push(' ');
        word(dice, out);
    }
    out.push('.');
}

/// Sentences until there are so many characters.
fn sentences(dice: &mut Dice, length: usize) -> String {
    let mut out = String::with_capacity(length + 120);
    while out.len() < length {
        if !out.is_empty() {
            out.push(' ');
        }
        sentence(dice, &mut out);
    }
    out
}

/// A text of its own, for files beside SKILL.md.
pub(super) fn paragraphs(dice: &mut Dice, length: usize) -> String {
    format!("# The {}\n\n{}\n", dice.one(&NOUNS), sentences(dice, length))
}

pub(super) fn description(dice: &mut Dice) -> String {
    let length = dice.length(&DESCRIPTION);
    // The closing sentence, and half of the one that goes over the length.
    let mut out = sentences(dice, length.saturating_sub(98).max(1));
    out.push_str(&format!(" Use when somebody asks to {} a {}.", dice.one(&VERBS), dice.one(&NOUNS)));
    // The last sentence may have gone over what any host takes.
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

/// A whole SKILL.md. `more` is further frontmatter. A plain library's skills keep to the fields every tool knows.
pub(super) fn skill(name: &str, number: usize, order: Order, more: &str, dice: &mut Dice) -> String {
    let mut out = format!("---\nname: {name}\ndescription: {}\n", description(dice));
    out.push_str(more);
    if number % 2 == 1 {
        out.push_str("license: MIT\n");
    }
    if number % 5 == 2 {
        out.push_str(&format!("metadata:\n  author: team-{}\n  version: \"1.{}\"\n", dice.one(&NOUNS), dice.below(20)));
    }
    if number % 7 == 3 {
        out.push_str("allowed-tools: Read Grep\n");
    }
    if order.shape == Shape::Mixed {
        further(number, dice, &mut out);
    }
    out.push_str("---\n\n");
    out.push_str(&body(number, order.bodies, dice));
    out
}

/// The fields of other dialects.
fn further(number: usize, dice: &mut Dice, out: &mut String) {
    if has_triggers(number) {
        triggers(number, dice, out);
    }
    if number % 20 == 6 {
        // The skill with the number before it is a sound one, wherever it lies.
        out.push_str(&format!("depends_on:\n  - {}\n", super::name(number - 1)));
    }
    if number % 15 == 3 {
        out.push_str(&format!(
            "tools:\n  - name: {}-{}\n    description: {}s one {}.\n    input_schema:\n      type: object\n",
            dice.one(&VERBS),
            invented(number, 3),
            dice.one(&VERBS),
            dice.one(&NOUNS)
        ));
    }
}

fn triggers(number: usize, dice: &mut Dice, out: &mut String) {
    out.push_str("when_to_use:\n  mentions:\n");
    if number == 0 {
        out.push_str(&format!("    - {}\n", Planted::MENTION));
    }
    for _ in 0..2 + dice.below(5) {
        let (adjective, noun) = (dice.one(&ADJECTIVES), dice.one(&NOUNS));
        match dice.below(3) {
            0 => out.push_str(&format!("    - {adjective} {noun}\n")),
            1 => out.push_str(&format!("    - {} {noun}\n", dice.one(&VERBS))),
            _ => out.push_str(&format!("    - {noun} {}\n", invented(dice.below(4_900), 2))),
        }
    }
    let ending = if number == 0 { Planted::FILE_TYPE.trim_start_matches('.') } else { dice.one(&FILE_TYPES) };
    out.push_str(&format!("  file_types:\n    - .{ending}\n"));
    if dice.below(2) == 0 {
        out.push_str(&format!("  intents:\n    - {}_{}\n", dice.one(&VERBS), dice.one(&NOUNS)));
    }
    if dice.below(8) == 0 {
        out.push_str(&format!("  priority: {}\n", 1 + dice.below(9)));
    }
}

/// The Markdown below the frontmatter: headings, paragraphs, lists, fences, tables and links.
pub(super) fn body(number: usize, bodies: Bodies, dice: &mut Dice) -> String {
    let length = dice.length(&BODY) / if bodies == Bodies::Short { 8 } else { 1 };
    let mut out = format!("# {} the {}\n\n", dice.one(&VERBS), dice.one(&NOUNS));
    if number == 0 {
        out.push_str(&format!("Every evening, enter the {}.\n\n", Planted::PHRASE));
    }
    if has_reference(number) {
        out.push_str(&format!("The form is in [format.md]({REFERENCE}).\n\n"));
    }
    if has_script(number) {
        out.push_str(&format!("Run `{SCRIPT}` on each file.\n\n"));
    }
    let mut section = 0;
    while out.len() < length {
        section += 1;
        let hashes = if section % 3 == 0 { "###" } else { "##" };
        out.push_str(&format!("{hashes} {} the {}\n\n", dice.one(&VERBS), dice.one(&NOUNS)));
        part(section, dice, &mut out);
    }
    out
}

fn part(section: usize, dice: &mut Dice, out: &mut String) {
    let intro = 80 + dice.below(300);
    out.push_str(&sentences(dice, intro));
    out.push_str("\n\n");
    match section % 4 {
        1 => {
            for step in 1..=3 + dice.below(4) {
                out.push_str(&format!("{step}. "));
                sentence(dice, out);
                out.push('\n');
            }
        }
        2 => {
            let (verb, noun) = (dice.one(&VERBS), dice.one(&NOUNS));
            let variable = invented(dice.below(4_900), 2);
            out.push_str(&format!(
                "```python\ndef {verb}_{noun}({variable}):\n    rows = [row for row in {variable} if row.get(\"{noun}\")]\n    return sorted(rows)\n```\n"
            ));
        }
        3 => {
            out.push_str("| what | how | count |\n|---|---|---|\n");
            for _ in 0..3 + dice.below(4) {
                out.push_str(&format!("| {} | {} | {} |\n", dice.one(&NOUNS), dice.one(&VERBS), dice.below(100)));
            }
        }
        _ => {
            for _ in 0..2 + dice.below(3) {
                out.push_str(&format!("- **{}**: ", dice.one(&NOUNS)));
                sentence(dice, out);
                out.push('\n');
            }
        }
    }
    out.push('\n');
}

/// A SKILL.md no host can load: one of four faults.
pub(super) fn broken(name: &str, how: usize, dice: &mut Dice) -> String {
    let description = description(dice);
    match how {
        0 => format!("# {name}\n\n{description}\n"),
        1 => format!("---\nname: {name}\n---\n\n{description}\n"),
        2 => format!("---\nname: {name}\ndescription: {description}\n\n# It has no end\n"),
        _ => format!("---\n- name: {name}\n- description: {description}\n---\n\n# A list\n"),
    }
}

/// A UASP document.
pub(super) fn uasp(name: &str, dice: &mut Dice) -> String {
    let description = description(dice);
    let mut out = format!(
        "meta:\n  name: {name}\n  version: \"0a1b2c3d\"\n  type: knowledge\n  description: {description}\ntriggers:\n  keywords:\n"
    );
    for _ in 0..2 + dice.below(4) {
        out.push_str(&format!("    - {} {}\n", dice.one(&NOUNS), dice.one(&VERBS)));
    }
    out.push_str(&format!("  file_patterns:\n    - \"**/*.{}\"\n", dice.one(&FILE_TYPES)));
    out.push_str("constraints:\n  always:\n");
    for _ in 0..2 + dice.below(6) {
        out.push_str("    - ");
        sentence(dice, &mut out);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_planted_stands_nowhere_else() {
        let order = Order { count: 500, shape: Shape::Mixed, bodies: Bodies::Real };
        for number in 1..order.count {
            let text = skill(&super::super::name(number), number, order, "", &mut Dice::new(number));
            for planted in Planted::PHRASE.split(' ').chain([Planted::MENTION, Planted::FILE_TYPE]) {
                assert!(!text.contains(planted), "{planted} in skill {number}");
            }
        }
    }
}
