//! Fits the catalog into a token budget and reports what was left out.
//!
//! Detail is removed in this order, and only as much as needed:
//!
//! 1. Descriptions are shortened, longest first and to a common length, at sentence or word boundaries, never below
//!    [`DESCRIPTION_TOKENS_MIN`].
//! 2. Descriptions are omitted, longest first, then by name.
//! 3. Skills are dropped from the end of the catalog.
//!
//! Locations are always retained, because an agent that reads files needs them; other agents omit all of them. Entries
//! are counted separately, because tokens do not span entries. The result is counted once more at the end.

use std::borrow::Cow;

use serde_json::json;

use crate::catalog::{Catalog, CatalogEntry};
use crate::prompt::{self, CatalogFormat, EntryDetail, LocationDisplay, PromptEntry, list_disclosed};

/// The minimum length of a shortened description, in tokens.
pub const DESCRIPTION_TOKENS_MIN: usize = 16;

/// The tokenizer used for counting.
pub const TOKENIZER: &str = rep_tokens::NAME;

/// A catalog that fits its budget.
pub struct FittedCatalog<'a> {
    /// The rendered catalog.
    pub text: String,
    /// The skills in the catalog.
    pub entries: Vec<PromptEntry<'a>>,
    /// The skills that did not fit.
    pub dropped: Vec<&'a CatalogEntry>,
    /// The number of tokens of the rendered catalog.
    pub tokens: usize,
    /// The number of tokens of the complete catalog.
    pub wanted: usize,
}

impl<'a> FittedCatalog<'a> {
    /// Returns the skills that have this level of detail.
    pub fn with_detail(&self, detail: EntryDetail) -> impl Iterator<Item = &PromptEntry<'a>> {
        self.entries.iter().filter(move |told| told.detail == detail)
    }

    /// Returns the level of detail of a skill, and its description in the catalog.
    pub fn detail_of(&self, entry: &CatalogEntry) -> (EntryDetail, &str) {
        let told = self.entries.iter().find(|told| std::ptr::eq(told.entry, entry));
        told.map_or((EntryDetail::Dropped, ""), |told| (told.detail, &told.description))
    }
}

/// The error for a budget that is too small for the name of a single skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetTooSmall {
    /// The number of tokens that the first name needs.
    pub needed: usize,
    /// The number of tokens of the complete catalog.
    pub wanted: usize,
}

/// Fits a catalog into a budget.
pub fn fit_catalog(
    catalog: &Catalog,
    style: CatalogFormat,
    locations: LocationDisplay,
    budget: usize,
) -> Result<FittedCatalog<'_>, BudgetTooSmall> {
    let all: Vec<PromptEntry<'_>> = list_disclosed(catalog).map(PromptEntry::from_entry).collect();
    let text = prompt::render_entries(&all, style, locations);
    let wanted = rep_tokens::count(&text);
    if wanted <= budget || all.is_empty() {
        return Ok(FittedCatalog { text, entries: all, dropped: Vec::new(), tokens: wanted, wanted });
    }
    let scale = EntryCostModel { style, locations, budget };
    let skills: Vec<EntryCost<'_>> = all.into_iter().map(|told| scale.measure_entry(told)).collect();
    let mut allowance = budget.saturating_sub(rep_tokens::count(&scale.render_catalog(&[], 0)));
    loop {
        let mut told = scale.choose_details(&skills, allowance);
        let kept = told.iter().take_while(|told| told.detail != EntryDetail::Dropped).count();
        // The frame is measured without entries, so a single name may fit although the estimate says otherwise.
        let dropped = told.split_off(kept.max(1));
        told[0].detail = if kept == 0 { EntryDetail::Name } else { told[0].detail };
        let text = scale.render_catalog(&told, dropped.len());
        let tokens = rep_tokens::count(&text);
        if tokens <= budget {
            let dropped = dropped.into_iter().map(|told| told.entry).collect();
            return Ok(FittedCatalog { text, entries: told, dropped, tokens, wanted });
        }
        if kept == 0 {
            return Err(BudgetTooSmall { needed: tokens, wanted });
        }
        // An entry can cost one token more in context than alone.
        allowance = allowance.saturating_sub(tokens - budget);
    }
}

/// The settings for measuring entries.
#[derive(Clone, Copy)]
struct EntryCostModel {
    style: CatalogFormat,
    locations: LocationDisplay,
    budget: usize,
}

/// A skill and the cost of its entry.
struct EntryCost<'a> {
    prompt_entry: PromptEntry<'a>,
    /// The tokens of the complete entry.
    full: usize,
    /// The tokens without the description.
    name: usize,
    /// The tokens of the description.
    description: usize,
    /// The points where the description can be cut.
    cuts: Vec<CutPoint>,
}

/// A point between two words.
#[derive(Clone, Copy)]
struct CutPoint {
    /// The byte offset where the preceding words end.
    end: usize,
    /// The tokens of the preceding words.
    tokens: usize,
    ends_sentence: bool,
}

impl<'a> EntryCost<'a> {
    fn name_only(&self) -> PromptEntry<'a> {
        PromptEntry { entry: self.prompt_entry.entry, detail: EntryDetail::Name, description: Cow::Borrowed("") }
    }

    /// Shortens the description to about `cap` tokens.
    fn shorten_description(&self, cap: usize) -> PromptEntry<'a> {
        let fitting = self.cuts.partition_point(|cut| cut.tokens < cap);
        let fitting = &self.cuts[..fitting];
        let Some(last) = fitting.last() else { return self.name_only() };
        // Prefer to end at a sentence if that uses at least half of the available tokens.
        let sentence = fitting.iter().rev().find(|cut| cut.ends_sentence).filter(|cut| cut.tokens * 2 >= last.tokens);
        let text = &self.prompt_entry.entry.description;
        let description = match sentence {
            Some(cut) => format!("{} …", &text[..cut.end]),
            None => format!("{}…", text[..last.end].trim_end_matches([',', ';', ':', '(', '-', '–', '—'])),
        };
        PromptEntry {
            entry: self.prompt_entry.entry,
            detail: EntryDetail::Shortened,
            description: Cow::Owned(description),
        }
    }
}

impl EntryCostModel {
    fn count_tokens(self, told: &PromptEntry<'_>) -> usize {
        rep_tokens::count(&prompt::render_entry(told, self.style, self.locations))
    }

    /// Renders a catalog of these skills. JSON also states what is missing.
    fn render_catalog(self, told: &[PromptEntry<'_>], dropped: usize) -> String {
        if self.style != CatalogFormat::Json {
            return prompt::render_entries(told, self.style, self.locations);
        }
        let count = |detail: EntryDetail| told.iter().filter(|told| told.detail == detail).count();
        let lost = json!({
            "tokens": self.budget,
            "tokenizer": rep_tokens::NAME,
            "shortened": count(EntryDetail::Shortened),
            "without_description": count(EntryDetail::Name),
            "dropped": dropped,
        });
        let mut value = prompt::entries_to_json(told, self.locations);
        value["budget"] = lost;
        format!("{value:#}\n")
    }

    fn measure_entry(self, told: PromptEntry<'_>) -> EntryCost<'_> {
        let cuts = find_cut_points(&told.entry.description);
        let description = cuts.last().map_or(0, |cut| cut.tokens);
        let mut weighed = EntryCost { full: self.count_tokens(&told), name: 0, description, cuts, prompt_entry: told };
        weighed.name = self.count_tokens(&weighed.name_only());
        weighed
    }

    /// Chooses the detail of each skill so that the total cost is at most `allowance`.
    fn choose_details<'a>(self, skills: &[EntryCost<'a>], allowance: usize) -> Vec<PromptEntry<'a>> {
        let names: usize = skills.iter().map(|skill| skill.name).sum();
        if names > allowance {
            return choose_names(skills, allowance);
        }
        let longest = skills.iter().map(|skill| skill.description).max().unwrap_or(0);
        if self.total_cost(skills, DESCRIPTION_TOKENS_MIN) > allowance {
            return self.drop_descriptions(skills, allowance);
        }
        // Find the largest common length that fits.
        let (mut fits, mut too_long) = (DESCRIPTION_TOKENS_MIN, longest + 1);
        while fits + 1 < too_long {
            let middle = usize::midpoint(fits, too_long);
            if self.total_cost(skills, middle) <= allowance {
                fits = middle;
            } else {
                too_long = middle;
            }
        }
        let mut rest = allowance - self.total_cost(skills, fits);
        let mut told = Vec::with_capacity(skills.len());
        for skill in skills {
            // Give the remaining tokens to the first entries that can use them.
            let ((short, cost), (longer, longer_cost)) =
                (self.shorten_entry(skill, fits), self.shorten_entry(skill, fits + 1));
            if longer_cost > cost && longer_cost - cost <= rest {
                rest -= longer_cost - cost;
                told.push(longer);
            } else {
                told.push(short);
            }
        }
        told
    }

    /// Includes all names, and as many of the shortest descriptions, shortened, as fit.
    fn drop_descriptions<'a>(self, skills: &[EntryCost<'a>], allowance: usize) -> Vec<PromptEntry<'a>> {
        let mut told: Vec<(PromptEntry<'a>, usize)> =
            skills.iter().map(|skill| self.shorten_entry(skill, DESCRIPTION_TOKENS_MIN)).collect();
        let mut used: usize = told.iter().map(|(_, cost)| cost).sum();
        let mut order: Vec<usize> = (0..skills.len()).collect();
        order.sort_by(|one, two| {
            let key = |index: usize| {
                (std::cmp::Reverse(skills[index].description), &skills[index].prompt_entry.entry.qualified_name)
            };
            key(*one).cmp(&key(*two))
        });
        for index in order {
            if used <= allowance {
                break;
            }
            used = used - told[index].1 + skills[index].name;
            told[index].0 = skills[index].name_only();
        }
        told.into_iter().map(|(told, _)| told).collect()
    }

    fn total_cost(self, skills: &[EntryCost<'_>], cap: usize) -> usize {
        skills
            .iter()
            .map(|skill| if skill.description <= cap { skill.full } else { self.shorten_entry(skill, cap).1 })
            .sum()
    }

    /// Shortens a skill's description to about `cap` tokens and returns the new cost.
    fn shorten_entry<'a>(self, skill: &EntryCost<'a>, cap: usize) -> (PromptEntry<'a>, usize) {
        if skill.description <= cap {
            return (skill.prompt_entry.clone(), skill.full);
        }
        let told = skill.shorten_description(cap);
        let cost = self.count_tokens(&told);
        // For a short description, the ellipsis may cost more than the text that was cut.
        if cost < skill.full { (told, cost) } else { (skill.prompt_entry.clone(), skill.full) }
    }
}

/// Returns the leading names that fit.
fn choose_names<'a>(skills: &[EntryCost<'a>], allowance: usize) -> Vec<PromptEntry<'a>> {
    let mut used = 0;
    let tell = |skill: &EntryCost<'a>| {
        used += skill.name;
        let detail = if used <= allowance { EntryDetail::Name } else { EntryDetail::Dropped };
        PromptEntry { detail, ..skill.name_only() }
    };
    skills.iter().map(tell).collect()
}

/// Finds the points where a text can be cut, with the cost of the preceding words.
fn find_cut_points(text: &str) -> Vec<CutPoint> {
    let mut cuts = Vec::new();
    let (mut start, mut tokens) = (0, 0);
    while let Some(end) = find_word_end(&text[start..]).map(|end| start + end) {
        tokens += rep_tokens::count(&text[start..end]);
        let ends_sentence = text[..end].ends_with(['.', '!', '?', '。', '！', '？']);
        cuts.push(CutPoint { end, tokens, ends_sentence });
        start = end;
    }
    cuts
}

/// Finds the end of the first word. Scripts without spaces and very long words are cut every few characters.
fn find_word_end(text: &str) -> Option<usize> {
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
