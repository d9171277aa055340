//! Which documents fit a text best: BM25F over words, and over neighbouring words of the best.
//!
//! Words choose the candidates: what a word counts falls with the number of skills that use it, and
//! rises, ever more slowly, with its weighted uses in a document's fields (Robertson and Zaragoza,
//! "The Probabilistic Relevance Framework", 2009). Among the candidates, words that stand side by
//! side in the question and in the skill count again, and so does a name the question spells out.
//! Every point is kept apart, so that a score is the sum of its reasons.

use std::collections::BTreeMap;

use super::document::{Document, Field, Vocabulary};
use super::near::Near;
use super::{Reason, words};

/// How much a use counts in each field. Tuned with the numbers below on author-written requests; see `bench/selection.py`.
const WEIGHTS: [f32; 5] = [6.0, 6.0, 6.0, 2.0, 1.0];
/// How much the length of a field takes away, from nothing (0) to all (1).
const LENGTHS: [f32; 5] = [0.3, 0.5, 0.5, 0.75, 0.6];
/// When further uses stop to count.
const SATURATION: f32 = 3.0;
/// The same for neighbouring words, which are rare enough to matter at once.
const PAIR_WEIGHTS: [f32; 5] = [3.0, 3.0, 3.0, 1.0, 1.0];
const PAIR_SATURATION: f32 = 1.2;
/// What neighbours count beside single words.
const PAIR_SHARE: f64 = 0.8;
/// What a word counts that only resembles the one asked for.
const GUESS_SHARE: f64 = 0.5;
/// How many documents are looked at closely.
const CANDIDATES: usize = 128;

/// Documents that can be asked.
pub(super) struct Ranking {
    vocabulary: Vocabulary,
    documents: Vec<Document>,
    /// What one use in a field counts: the field's weight is not in it, its length is.
    norms: Vec<[f32; 5]>,
    /// Where the uses of each word start in `uses`; one more than there are words.
    starts: Vec<usize>,
    /// Document and weight of each use of a word.
    uses: Vec<(u32, f32)>,
    near: Near,
}

/// A word of a question that some document has.
struct Asked {
    /// As it was written.
    shown: String,
    term: u32,
    /// What it counts at most.
    worth: f64,
}

/// A question, taken apart.
struct Question {
    asked: Vec<Asked>,
    /// Places in `asked` of words that stand side by side, numbered.
    pairs: BTreeMap<(usize, usize), usize>,
}

/// A pair of a question that a document has: its number, and its weight per field.
type Pair = (usize, [f32; 5]);

/// What candidates have of a question's pairs.
struct Neighbours {
    /// For each candidate.
    found: Vec<Vec<Pair>>,
    /// What each pair counts at most.
    worths: Vec<f64>,
}

impl Neighbours {
    fn points(&self, (pair, fields): &Pair) -> f64 {
        self.worths[*pair] * saturated(fields.iter().sum(), PAIR_SATURATION)
    }
}

impl Ranking {
    pub(super) fn new(vocabulary: Vocabulary, documents: Vec<Document>) -> Ranking {
        let norms = norms(&documents);
        // Uses are counted before they are kept, so that each is written once, to where it stays.
        let starts = starts(&documents, vocabulary.terms.len());
        let mut ends = starts.clone();
        let mut uses = vec![(0, 0.0); starts.last().copied().unwrap_or(0)];
        let mut sums = vec![0.0_f32; vocabulary.terms.len()];
        let mut seen = Vec::new();
        for (number, document) in (0_u32..).zip(&documents) {
            for field in Field::ALL {
                let at = field as usize;
                let one = WEIGHTS[at] * norms[number as usize][at];
                for word in document.field(field) {
                    let sum = &mut sums[*word as usize];
                    if *sum == 0.0 {
                        seen.push(*word);
                    }
                    *sum += one;
                }
            }
            for word in seen.drain(..) {
                let end = &mut ends[word as usize];
                uses[*end] = (number, std::mem::take(&mut sums[word as usize]));
                *end += 1;
            }
        }
        let near = Near::new(vocabulary.terms.iter().map(|term| &**term));
        Ranking { vocabulary, documents, norms, starts, uses, near }
    }

    fn uses(&self, term: u32) -> &[(u32, f32)] {
        &self.uses[self.starts[term as usize]..self.starts[term as usize + 1]]
    }

    /// What a word counts that so many documents use.
    #[expect(clippy::cast_precision_loss, reason = "no library has so many skills")]
    fn rarity(&self, documents: usize) -> f64 {
        let (all, some) = (self.documents.len() as f64, documents as f64);
        (1.0 + (all - some + 0.5) / (some + 0.5)).ln()
    }

    /// The best documents with their scores and reasons, best first.
    pub(super) fn search(&self, text: &str, limit: usize) -> Vec<(usize, f64, Vec<Reason>)> {
        let question = self.question(text);
        let candidates = self.candidates(&question, limit.max(CANDIDATES));
        let neighbours = self.neighbours(&question, &candidates);
        let mut ranked: Vec<(usize, usize, f64)> = Vec::with_capacity(candidates.len());
        for (at, (document, score)) in candidates.iter().enumerate() {
            let pairs: f64 = neighbours.found[at].iter().map(|pair| neighbours.points(pair)).sum();
            ranked.push((at, *document, score + pairs + self.name_points(&question, *document)));
        }
        ranked.sort_by(|one, two| two.2.total_cmp(&one.2).then(one.1.cmp(&two.1)));
        ranked.truncate(limit);
        let explained = ranked.into_iter().map(|(at, document, score)| {
            (document, score, self.explain(&question, document, &neighbours, &neighbours.found[at]))
        });
        explained.collect()
    }

    fn question(&self, text: &str) -> Question {
        let mut asked: Vec<Asked> = Vec::new();
        let mut counts: Vec<u32> = Vec::new();
        let mut places: BTreeMap<u32, usize> = BTreeMap::new();
        let mut sequence: Vec<Option<usize>> = Vec::new();
        for run in words::runs(text) {
            words::of_run(run, &mut |written, word| {
                let place = self.meant(written, &word).map(|(term, shown, share)| {
                    *places.entry(term).or_insert_with(|| {
                        asked.push(Asked { shown, term, worth: share * self.rarity(self.uses(term).len()) });
                        counts.push(0);
                        asked.len() - 1
                    })
                });
                if let Some(place) = place {
                    counts[place] += 1;
                }
                sequence.push(place);
            });
        }
        // A word that is repeated matters more, and less so every time.
        for (one, count) in asked.iter_mut().zip(counts) {
            one.worth *= f64::from(count).sqrt();
        }
        let mut pairs = BTreeMap::new();
        for two in sequence.windows(2) {
            if let [Some(one), Some(other)] = *two
                && one != other
            {
                let number = pairs.len();
                pairs.entry((one, other)).or_insert(number);
            }
        }
        Question { asked, pairs }
    }

    /// The known word that is meant, how to show it, and how much it counts.
    fn meant(&self, written: &str, word: &str) -> Option<(u32, String, f64)> {
        let count = |term: u32| u32::try_from(self.uses(term).len()).unwrap_or(u32::MAX);
        if let Some(term) = self.vocabulary.number(word).filter(|term| count(*term) > 0) {
            return Some((term, written.to_lowercase(), 1.0));
        }
        let term = self.near.find(word, &self.vocabulary.terms, count)?;
        Some((term, format!("{}~{}", written.to_lowercase(), self.vocabulary.terms[term as usize]), GUESS_SHARE))
    }

    /// The documents with the most points for single words.
    fn candidates(&self, question: &Question, most: usize) -> Vec<(usize, f64)> {
        let mut scores = vec![0.0_f64; self.documents.len()];
        let mut touched: Vec<usize> = Vec::new();
        for asked in &question.asked {
            for (document, sum) in self.uses(asked.term) {
                let document = *document as usize;
                if scores[document] == 0.0 {
                    touched.push(document);
                }
                scores[document] += asked.worth * saturated(*sum, SATURATION);
            }
        }
        let better = |one: &usize, two: &usize| scores[*two].total_cmp(&scores[*one]).then(one.cmp(two));
        if touched.len() > most {
            touched.select_nth_unstable_by(most, better);
            touched.truncate(most);
        }
        touched.sort_unstable_by(better);
        touched.into_iter().map(|document| (document, scores[document])).collect()
    }

    /// The neighbouring words of a question that stand side by side in the candidates too.
    ///
    /// How rare neighbours are is counted among the candidates only: documents with both words are
    /// among them, and an index of all neighbours of all skills would be many times as large.
    fn neighbours(&self, question: &Question, candidates: &[(usize, f64)]) -> Neighbours {
        if question.pairs.is_empty() {
            return Neighbours { found: vec![Vec::new(); candidates.len()], worths: Vec::new() };
        }
        let mut places = vec![u16::MAX; self.vocabulary.terms.len()];
        for (place, asked) in (0..u16::MAX).zip(&question.asked) {
            places[asked.term as usize] = place;
        }
        let of = |(document, _): &(usize, f64)| self.pairs_of(*document, &places, &question.pairs);
        let found: Vec<Vec<Pair>> = candidates.iter().map(of).collect();
        let mut counts = vec![0; question.pairs.len()];
        found.iter().flatten().for_each(|(pair, _)| counts[*pair] += 1);
        Neighbours { found, worths: counts.into_iter().map(|count| PAIR_SHARE * self.rarity(count)).collect() }
    }

    fn pairs_of(&self, document: usize, places: &[u16], numbers: &BTreeMap<(usize, usize), usize>) -> Vec<Pair> {
        let mut found: BTreeMap<usize, [f32; 5]> = BTreeMap::new();
        for field in Field::ALL {
            let at = field as usize;
            let one = PAIR_WEIGHTS[at] * self.norms[document][at];
            let mut before = u16::MAX;
            for word in self.documents[document].field(field) {
                let place = places[*word as usize];
                if place != u16::MAX
                    && before != u16::MAX
                    && let Some(pair) = numbers.get(&(usize::from(before), usize::from(place)))
                {
                    found.entry(*pair).or_default()[at] += one;
                }
                before = place;
            }
        }
        found.into_iter().collect()
    }

    /// Points for a name of which the question has some words, the more the larger their part of the name.
    fn name_points(&self, question: &Question, document: usize) -> f64 {
        // In the order of the name, so that the sums do not depend on how words are numbered.
        let mut words: Vec<u32> = Vec::new();
        for word in self.documents[document].field(Field::Name) {
            if !words.contains(word) {
                words.push(*word);
            }
        }
        let worth = |word: &u32| self.rarity(self.uses(*word).len());
        let all: f64 = words.iter().map(worth).sum();
        words.retain(|word| question.asked.iter().any(|asked| asked.term == *word));
        let some: f64 = words.iter().map(worth).sum();
        if some > 0.0 { some * some / all } else { 0.0 }
    }

    /// What a document's points are for, the most first.
    fn explain(&self, question: &Question, document: usize, neighbours: &Neighbours, pairs: &[Pair]) -> Vec<Reason> {
        let mut why = Vec::new();
        let mut add = |term: String, points: f64, fields: [f32; 5]| {
            why.extend(shares(points, fields).map(|(field, points)| Reason { field, term: term.clone(), points }));
        };
        for asked in &question.asked {
            let mut fields = [0.0; 5];
            for field in Field::ALL {
                let at = field as usize;
                let one = WEIGHTS[at] * self.norms[document][at];
                let uses = self.documents[document].field(field).iter().filter(|word| **word == asked.term);
                uses.for_each(|_| fields[at] += one);
            }
            let points = asked.worth * saturated(fields.iter().sum(), SATURATION);
            add(asked.shown.clone(), points, fields);
        }
        let shown: BTreeMap<usize, (usize, usize)> =
            question.pairs.iter().map(|(pair, number)| (*number, *pair)).collect();
        for pair in pairs {
            let (one, other) = shown[&pair.0];
            let term = format!("{} {}", question.asked[one].shown, question.asked[other].shown);
            add(term, neighbours.points(pair), pair.1);
        }
        let points = self.name_points(question, document);
        if points > 0.0 {
            let name = self.documents[document].field(Field::Name);
            let asked = question.asked.iter().filter(|asked| name.contains(&asked.term));
            let term = asked.map(|asked| asked.shown.as_str()).collect::<Vec<_>>().join("-");
            add(term, points, [1.0, 0.0, 0.0, 0.0, 0.0]);
        }
        why.sort_by(|one, two| {
            two.points.total_cmp(&one.points).then(one.field.cmp(&two.field)).then_with(|| one.term.cmp(&two.term))
        });
        why
    }
}

/// Points divided among the fields they come from.
fn shares(points: f64, fields: [f32; 5]) -> impl Iterator<Item = (Field, f64)> {
    let sum: f32 = fields.iter().sum();
    let parts = Field::ALL.into_iter().zip(fields).filter(|(_, part)| *part > 0.0);
    parts.map(move |(field, part)| (field, points * f64::from(part / sum)))
}

/// What a sum of weighted uses counts: nothing at none, ever less for more.
fn saturated(sum: f32, saturation: f32) -> f64 {
    f64::from(sum * (saturation + 1.0) / (sum + saturation))
}

/// Where the uses of each word start, if they stand one word after the other; one more than there are words.
fn starts(documents: &[Document], terms: usize) -> Vec<usize> {
    let mut starts = vec![0_usize; terms + 1];
    let mut last = vec![u32::MAX; terms];
    for (number, document) in (0_u32..).zip(documents) {
        for word in &document.words {
            let word = *word as usize;
            if last[word] != number {
                last[word] = number;
                starts[word + 1] += 1;
            }
        }
    }
    for term in 1..starts.len() {
        starts[term] += starts[term - 1];
    }
    starts
}

/// For each document and field, what one use counts there: less in a field that is longer than usual.
#[expect(clippy::cast_precision_loss, reason = "fields have at most so many words")]
fn norms(documents: &[Document]) -> Vec<[f32; 5]> {
    let mean = Field::ALL.map(|field| {
        let words: usize = documents.iter().map(|document| document.field(field).len()).sum();
        words as f32 / documents.len().max(1) as f32
    });
    let norm = |document: &Document| {
        Field::ALL.map(|field| {
            let (at, length) = (field as usize, document.field(field).len() as f32);
            1.0 / (1.0 - LENGTHS[at] + LENGTHS[at] * length / mean[at].max(f32::MIN_POSITIVE))
        })
    };
    documents.iter().map(norm).collect()
}
