//! Fits the catalogue into a budget of tokens, and tells what that cost.
//!
//! Detail is lost in this order, and no more of it than needed:
//!
//! 1. Descriptions are shortened, the longest first and all to the same length, to whole sentences or words, never below
//!    [`FLOOR_TOKENS`].
//! 2. Descriptions are left out, the longest first, then by name.
//! 3. Skills are dropped, from the end of the catalogue.
//!
//! Locations stay: an agent that reads files cannot use a skill without one, and who needs none leaves them all out.
//! Pieces of the catalogue are counted one by one, because no token reaches from one into the next; the whole is
//! counted once more at the end.

use std::borrow::Cow;

use serde_json::json;

use crate::catalog::{Catalog, CatalogEntry};
use crate::disclose::{self, Detail, Locations, Style, Told, disclosed};

/// The shortest a description is cut, in tokens.
pub const FLOOR_TOKENS: usize = 16;

/// The tokenizer that counts.
pub const TOKENIZER: &str = rep_tokens::NAME;

/// A catalogue that fits.
pub struct Fitted<'a> {
    /// What is printed.
    pub text: String,
    /// The skills in it.
    pub told: Vec<Told<'a>>,
    /// The skills it has no room for.
    pub dropped: Vec<&'a CatalogEntry>,
    /// What it costs.
    pub tokens: usize,
    /// What the whole catalogue would have cost.
    pub wanted: usize,
}

impl<'a> Fitted<'a> {
    /// The skills of which so much is told.
    pub fn with(&self, detail: Detail) -> impl Iterator<Item = &Told<'a>> {
        self.told.iter().filter(move |told| told.detail == detail)
    }

    /// What became of a skill, and its description now.
    pub fn of(&self, entry: &CatalogEntry) -> (Detail, &str) {
        let told = self.told.iter().find(|told| std::ptr::eq(told.entry, entry));
        told.map_or((Detail::Dropped, ""), |told| (told.detail, &told.description))
    }
}

/// A budget that cannot hold the name of a single skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooSmall {
    /// What the first name alone would cost.
    pub needed: usize,
    /// What the whole catalogue would cost.
    pub wanted: usize,
}

/// Fits the catalogue into a budget.
pub fn fit(catalog: &Catalog, style: Style, locations: Locations, budget: usize) -> Result<Fitted<'_>, TooSmall> {
    let all: Vec<Told<'_>> = disclosed(catalog).map(Told::whole).collect();
    let text = disclose::render(&all, style, locations);
    let wanted = rep_tokens::count(&text);
    if wanted <= budget || all.is_empty() {
        return Ok(Fitted { text, told: all, dropped: Vec::new(), tokens: wanted, wanted });
    }
    let scale = Scale { style, locations, budget };
    let skills: Vec<Weighed<'_>> = all.into_iter().map(|told| scale.weigh(told)).collect();
    let mut allowance = budget.saturating_sub(rep_tokens::count(&scale.text(&[], 0)));
    loop {
        let mut told = scale.chosen(&skills, allowance);
        let kept = told.iter().take_while(|told| told.detail != Detail::Dropped).count();
        // The frame is weighed without anything in it, so one name may fit that seems not to.
        let dropped = told.split_off(kept.max(1));
        told[0].detail = if kept == 0 { Detail::Name } else { told[0].detail };
        let text = scale.text(&told, dropped.len());
        let tokens = rep_tokens::count(&text);
        if tokens <= budget {
            let dropped = dropped.into_iter().map(|told| told.entry).collect();
            return Ok(Fitted { text, told, dropped, tokens, wanted });
        }
        if kept == 0 {
            return Err(TooSmall { needed: tokens, wanted });
        }
        // A piece may cost a token more between its neighbours than alone.
        allowance = allowance.saturating_sub(tokens - budget);
    }
}

/// What a skill's entry in the catalogue costs, as XML with its location.
pub fn cost(entry: &CatalogEntry) -> usize {
    rep_tokens::count(&disclose::piece(&Told::whole(entry), Style::Xml, Locations::Shown))
}

/// How a piece of the catalogue is weighed.
#[derive(Clone, Copy)]
struct Scale {
    style: Style,
    locations: Locations,
    budget: usize,
}

/// A skill and what it costs to tell of it.
struct Weighed<'a> {
    told: Told<'a>,
    /// With everything.
    full: usize,
    /// Without a description.
    name: usize,
    /// The description alone.
    description: usize,
    /// Where its description can be cut.
    cuts: Vec<Cut>,
}

/// A place between two words.
#[derive(Clone, Copy)]
struct Cut {
    /// Where the words before it end, in bytes.
    end: usize,
    /// What they cost.
    tokens: usize,
    ends_sentence: bool,
}

impl<'a> Weighed<'a> {
    fn named(&self) -> Told<'a> {
        Told { entry: self.told.entry, detail: Detail::Name, description: Cow::Borrowed("") }
    }

    /// The description in at most about so many tokens.
    fn shortened(&self, cap: usize) -> Told<'a> {
        let fitting = self.cuts.partition_point(|cut| cut.tokens < cap);
        let fitting = &self.cuts[..fitting];
        let Some(last) = fitting.last() else { return self.named() };
        // A whole sentence is worth half of the room.
        let sentence = fitting.iter().rev().find(|cut| cut.ends_sentence).filter(|cut| cut.tokens * 2 >= last.tokens);
        let text = &self.told.entry.description;
        let description = match sentence {
            Some(cut) => format!("{} …", &text[..cut.end]),
            None => format!("{}…", text[..last.end].trim_end_matches([',', ';', ':', '(', '-', '–', '—'])),
        };
        Told { entry: self.told.entry, detail: Detail::Shortened, description: Cow::Owned(description) }
    }
}

impl Scale {
    fn cost(self, told: &Told<'_>) -> usize {
        rep_tokens::count(&disclose::piece(told, self.style, self.locations))
    }

    /// The catalogue of these skills. JSON also says what is missing in it.
    fn text(self, told: &[Told<'_>], dropped: usize) -> String {
        if self.style != Style::Json {
            return disclose::render(told, self.style, self.locations);
        }
        let count = |detail: Detail| told.iter().filter(|told| told.detail == detail).count();
        let lost = json!({
            "tokens": self.budget,
            "tokenizer": rep_tokens::NAME,
            "shortened": count(Detail::Shortened),
            "without_description": count(Detail::Name),
            "dropped": dropped,
        });
        let mut value = disclose::json(told, self.locations);
        value["budget"] = lost;
        format!("{value:#}\n")
    }

    fn weigh(self, told: Told<'_>) -> Weighed<'_> {
        let cuts = cuts(&told.entry.description);
        let description = cuts.last().map_or(0, |cut| cut.tokens);
        let mut weighed = Weighed { full: self.cost(&told), name: 0, description, cuts, told };
        weighed.name = self.cost(&weighed.named());
        weighed
    }

    /// How much is told of each skill, so that all pieces together cost at most so much.
    fn chosen<'a>(self, skills: &[Weighed<'a>], allowance: usize) -> Vec<Told<'a>> {
        let names: usize = skills.iter().map(|skill| skill.name).sum();
        if names > allowance {
            return names_only(skills, allowance);
        }
        let longest = skills.iter().map(|skill| skill.description).max().unwrap_or(0);
        if self.total(skills, FLOOR_TOKENS) > allowance {
            return self.without_descriptions(skills, allowance);
        }
        // The largest common length that fits.
        let (mut fits, mut too_long) = (FLOOR_TOKENS, longest + 1);
        while fits + 1 < too_long {
            let middle = usize::midpoint(fits, too_long);
            if self.total(skills, middle) <= allowance {
                fits = middle;
            } else {
                too_long = middle;
            }
        }
        let mut rest = allowance - self.total(skills, fits);
        let mut told = Vec::with_capacity(skills.len());
        for skill in skills {
            // What is left over goes to the first that can use it.
            let ((short, cost), (longer, longer_cost)) = (self.at(skill, fits), self.at(skill, fits + 1));
            if longer_cost > cost && longer_cost - cost <= rest {
                rest -= longer_cost - cost;
                told.push(longer);
            } else {
                told.push(short);
            }
        }
        told
    }

    /// Every name, and as many of the shortest descriptions, cut, as fit.
    fn without_descriptions<'a>(self, skills: &[Weighed<'a>], allowance: usize) -> Vec<Told<'a>> {
        let mut told: Vec<(Told<'a>, usize)> = skills.iter().map(|skill| self.at(skill, FLOOR_TOKENS)).collect();
        let mut used: usize = told.iter().map(|(_, cost)| cost).sum();
        let mut order: Vec<usize> = (0..skills.len()).collect();
        order.sort_by(|one, two| {
            let key =
                |index: usize| (std::cmp::Reverse(skills[index].description), &skills[index].told.entry.qualified_name);
            key(*one).cmp(&key(*two))
        });
        for index in order {
            if used <= allowance {
                break;
            }
            used = used - told[index].1 + skills[index].name;
            told[index].0 = skills[index].named();
        }
        told.into_iter().map(|(told, _)| told).collect()
    }

    fn total(self, skills: &[Weighed<'_>], cap: usize) -> usize {
        skills.iter().map(|skill| if skill.description <= cap { skill.full } else { self.at(skill, cap).1 }).sum()
    }

    /// A skill whose description costs at most about so much, and what it costs then.
    fn at<'a>(self, skill: &Weighed<'a>, cap: usize) -> (Told<'a>, usize) {
        if skill.description <= cap {
            return (skill.told.clone(), skill.full);
        }
        let told = skill.shortened(cap);
        let cost = self.cost(&told);
        // Around a short description the mark of the cut may cost more than what was cut.
        if cost < skill.full { (told, cost) } else { (skill.told.clone(), skill.full) }
    }
}

/// The names that fit, from the start.
fn names_only<'a>(skills: &[Weighed<'a>], allowance: usize) -> Vec<Told<'a>> {
    let mut used = 0;
    let tell = |skill: &Weighed<'a>| {
        used += skill.name;
        let detail = if used <= allowance { Detail::Name } else { Detail::Dropped };
        Told { detail, ..skill.named() }
    };
    skills.iter().map(tell).collect()
}

/// The places a text can be cut at, with what the words before cost.
fn cuts(text: &str) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let (mut start, mut tokens) = (0, 0);
    while let Some(end) = word_end(&text[start..]).map(|end| start + end) {
        tokens += rep_tokens::count(&text[start..end]);
        let ends_sentence = text[..end].ends_with(['.', '!', '?', '。', '！', '？']);
        cuts.push(Cut { end, tokens, ends_sentence });
        start = end;
    }
    cuts
}

/// Where the first word of a text ends. Scripts without blanks, and endless words, are cut every few letters.
fn word_end(text: &str) -> Option<usize> {
    let from = text.find(|letter: char| !letter.is_whitespace())?;
    let (mut narrow, mut wide) = (0, 0);
    for (at, letter) in text[from..].char_indices() {
        if letter.is_whitespace() {
            return Some(from + at);
        }
        let is_wide = u32::from(letter) >= 0x2e80;
        (narrow, wide) = (narrow + usize::from(!is_wide), wide + usize::from(is_wide));
        if wide == 6 || narrow == 64 || matches!(letter, '。' | '！' | '？') {
            return Some(from + at + letter.len_utf8());
        }
    }
    Some(text.len())
}
