//! Ranks documents with BM25F over single words, and over adjacent words of the best candidates.
//!
//! Single words choose the candidates. The weight of a word decreases with the number of skills that use it. It grows,
//! at a decreasing rate, with its weighted uses in a document's fields (Robertson and Zaragoza, "The Probabilistic
//! Relevance Framework", 2009). Among the candidates, words that are adjacent in both the query and the skill add
//! points, and so does a name that the query contains. Points are recorded separately, so a score is the sum of its
//! reasons.
//!
//! Points depend on the library, so they are scaled: the score of the first document is its fit, from 0 to 100, and the
//! others have their share of it.

use std::collections::BTreeMap;

use super::document::{SearchDocument, SearchField, SearchVocabulary};
use super::fit::{self, RequestWord};
use super::spelling::SpellingIndex;
use super::stop_words::find_foreign_stop_words;
use super::{ScoreReason, words};

/// The weight of a use in each field. Tuned with the numbers below on author-written requests; see
/// `bench/selection.py`.
const FIELD_WEIGHTS: [f32; 5] = [6.0, 6.0, 6.0, 2.0, 1.0];
/// The usual number of words of each field, which a field's length is compared with.
const USUAL_LENGTHS: [f32; 5] = [3.0, 35.0, 2.0, 45.0, 850.0];
/// How strongly the length of a field reduces its weight, from 0 to 1.
const LENGTH_PENALTIES: [f32; 5] = [0.3, 0.5, 0.5, 0.75, 0.6];
/// The saturation of repeated uses.
const SATURATION: f32 = 3.0;
/// The same for adjacent words, which are rare enough to matter at once.
const PAIR_WEIGHTS: [f32; 5] = [3.0, 3.0, 3.0, 1.0, 1.0];
const PAIR_SATURATION: f32 = 1.2;
/// The weight of adjacent words relative to single words.
const PAIR_SHARE: f64 = 0.8;
/// The weight of a word that only resembles the query word.
const GUESS_SHARE: f64 = 0.5;
/// The weight of a word of several parts, such as `BlueField`, relative to a plain word: it is usually a name.
const DIVIDED_WORD_WEIGHT: f64 = 1.2;
/// The minimum number of documents that are ranked in detail.
const CANDIDATES_MIN: usize = 128;

/// An index of documents that can be searched.
pub(super) struct SearchRanking {
    vocabulary: SearchVocabulary,
    documents: Vec<SearchDocument>,
    /// The length normalization of each field, without the field's weight.
    norms: Vec<[f32; 5]>,
    /// The start of each word's uses in `uses`, plus the end.
    starts: Vec<usize>,
    /// The document and weight of each use of a word.
    uses: Vec<(u32, f32)>,
    near: SpellingIndex,
}

/// A query word that some document contains.
struct QueryTerm {
    /// The word as written.
    shown: String,
    term: u32,
    /// The maximum points of the word.
    worth: f64,
    /// The number of the written word that this is a part of. Of the parts of a word, only the best counts.
    part_of: Option<usize>,
}

/// A parsed query.
#[derive(Default)]
struct SearchQuery {
    terms: Vec<QueryTerm>,
    /// All words, also those that no document contains.
    words: Vec<RequestWord>,
    /// The numbered pairs of indexes in `terms` whose words are adjacent.
    pairs: BTreeMap<(usize, usize), usize>,
}

/// A known word: its number, its display form, and its certainty.
type KnownWord = (u32, String, f64);

/// A distinct word of a query, while it is counted.
struct QueryWord {
    term: Option<u32>,
    certainty: f64,
    share: f64,
    count: f64,
}

/// A pair of the query in a document: its number, and its weight per field.
type PairWeights = (usize, [f32; 5]);

/// The pairs of a query that the candidates contain.
struct AdjacentPairs {
    /// The pairs of each candidate.
    found: Vec<Vec<PairWeights>>,
    /// The maximum points of each pair.
    worths: Vec<f64>,
}

impl AdjacentPairs {
    fn pair_points(&self, (pair, fields): &PairWeights) -> f64 {
        self.worths[*pair] * saturate_sum(fields.iter().sum(), PAIR_SATURATION)
    }
}

impl SearchRanking {
    pub(super) fn new(vocabulary: SearchVocabulary, documents: Vec<SearchDocument>) -> SearchRanking {
        let norms = compute_length_norms(&documents);
        // Uses are counted first, so that each is written once to its final position.
        let starts = compute_use_starts(&documents, vocabulary.terms.len());
        let mut ends = starts.clone();
        let mut uses = vec![(0, 0.0); starts.last().copied().unwrap_or(0)];
        let mut sums = vec![0.0_f32; vocabulary.terms.len()];
        let mut seen = Vec::new();
        for (number, document) in (0_u32..).zip(&documents) {
            for field in SearchField::ALL {
                let at = field as usize;
                let one = FIELD_WEIGHTS[at] * norms[number as usize][at];
                for word in document.field_words(field) {
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
        let near = SpellingIndex::new(vocabulary.terms.iter().map(|term| &**term));
        SearchRanking { vocabulary, documents, norms, starts, uses, near }
    }

    fn term_uses(&self, term: u32) -> &[(u32, f32)] {
        &self.uses[self.starts[term as usize]..self.starts[term as usize + 1]]
    }

    /// Returns the weight of a word that occurs in this number of documents.
    #[expect(clippy::cast_precision_loss, reason = "the number of skills is small")]
    fn compute_rarity(&self, documents: usize) -> f64 {
        let (all, some) = (self.documents.len() as f64, documents as f64);
        (1.0 + (all - some + 0.5) / (some + 0.5)).ln()
    }

    /// Returns the best documents with their scores and reasons, best first.
    pub(super) fn search(&self, text: &str, limit: usize) -> Vec<(usize, f64, Vec<ScoreReason>)> {
        let question = self.parse_query(text);
        let candidates = self.find_candidates(&question, limit.max(CANDIDATES_MIN));
        let neighbours = self.find_adjacent_pairs(&question, &candidates);
        let mut ranked: Vec<(usize, usize, f64)> = Vec::with_capacity(candidates.len());
        for (at, (document, score)) in candidates.iter().enumerate() {
            let pairs: f64 = neighbours.found[at].iter().map(|pair| neighbours.pair_points(pair)).sum();
            ranked.push((at, *document, score + pairs + self.compute_name_points(&question, *document)));
        }
        ranked.sort_by(|one, two| two.2.total_cmp(&one.2).then(one.1.cmp(&two.1)));
        ranked.truncate(limit);
        let scale =
            ranked.first().map_or(1.0, |(_, document, points)| self.compute_score(&question, *document) / points);
        let explained = ranked.into_iter().map(|(at, document, points)| {
            let mut why = self.explain_score(&question, document, &neighbours, &neighbours.found[at]);
            for reason in &mut why {
                reason.points *= scale;
            }
            (document, points * scale, why)
        });
        explained.collect()
    }

    /// Returns how well a document fits a query, from 0 to 100.
    fn compute_score(&self, question: &SearchQuery, document: usize) -> f64 {
        let saturation = |term: u32| {
            let sum: f32 = self.sum_fields(document, term).iter().sum();
            saturate_sum(sum, SATURATION) / f64::from(SATURATION + 1.0)
        };
        let weigh = |term: &u32| (*term, fit::weigh_word(&self.vocabulary.terms[*term as usize]));
        let name: Vec<(u32, f64)> = self.list_name_words(document).iter().map(weigh).collect();
        100.0 * fit::compute_fit(&question.words, &self.documents[document], saturation, &name)
    }

    /// Returns the weighted uses of a word in each field of a document.
    fn sum_fields(&self, document: usize, term: u32) -> [f32; 5] {
        let mut fields = [0.0; 5];
        for field in SearchField::ALL {
            let at = field as usize;
            let one = FIELD_WEIGHTS[at] * self.norms[document][at];
            let uses = self.documents[document].field_words(field).iter().filter(|word| **word == term);
            uses.for_each(|_| fields[at] += one);
        }
        fields
    }

    /// Returns the distinct words of a document's name, in order.
    fn list_name_words(&self, document: usize) -> Vec<u32> {
        let mut words: Vec<u32> = Vec::new();
        for word in self.documents[document].field_words(SearchField::Name) {
            if !words.contains(word) {
                words.push(*word);
            }
        }
        words
    }

    fn parse_query(&self, text: &str) -> SearchQuery {
        let mut query = SearchQuery::default();
        let mut places: BTreeMap<u32, usize> = BTreeMap::new();
        let mut words: BTreeMap<String, QueryWord> = BTreeMap::new();
        // The places among the terms of each written word: of itself, then of its parts.
        let mut sequence: Vec<Vec<Option<usize>>> = Vec::new();
        let foreign = find_foreign_stop_words(words::split_runs(text));
        for run in words::split_runs(text).filter(|run| !foreign.contains(run.to_lowercase().as_str())) {
            let mut parts = Vec::new();
            words::split_run_words(run, &mut |written, word| parts.push((written.to_owned(), word)));
            // A word of parts begins with itself. In a script without spaces, the parts are words of their own.
            let is_divided = parts.len() > 1 && parts[0].0 == run;
            let (mut share, mut weight, mut part_of) = (1.0, 1.0, None);
            if is_divided {
                share = compute_part_share(parts.iter().map(|(_, word)| fit::weigh_word(word)));
                weight = DIVIDED_WORD_WEIGHT;
                part_of = Some(sequence.len());
                sequence.push(Vec::new());
            }
            for (written, word) in parts {
                let known = self.resolve_term(&written, &word);
                let term = known.as_ref().map(|known| known.0);
                let certainty = known.as_ref().map_or(0.0, |known| known.2);
                let asked = words.entry(word).or_insert(QueryWord { term, certainty, share: 0.0, count: 0.0 });
                asked.share = asked.share.max(share);
                asked.count += 1.0;
                let place = known.map(|(term, shown, certainty)| {
                    let place = *places.entry(term).or_insert_with(|| {
                        query.terms.push(QueryTerm { shown, term, worth: 0.0, part_of });
                        query.terms.len() - 1
                    });
                    let asked = &mut query.terms[place];
                    // The uses of a word are counted in `words`; here they only need their best weight.
                    asked.worth = asked.worth.max(certainty * weight * self.compute_rarity(self.term_uses(term).len()));
                    asked.part_of = asked.part_of.filter(|_| is_divided);
                    place
                });
                match part_of {
                    Some(number) => sequence[number].push(place),
                    None => sequence.push(vec![place]),
                }
            }
        }
        count_words(&mut query, &places, words);
        query.pairs = number_pairs(&sequence);
        query
    }

    /// Resolves a query word to a known word, its display form, and its weight.
    fn resolve_term(&self, written: &str, word: &str) -> Option<KnownWord> {
        let count = |term: u32| u32::try_from(self.term_uses(term).len()).unwrap_or(u32::MAX);
        if let Some(term) = self.vocabulary.find_number(word).filter(|term| count(*term) > 0) {
            return Some((term, written.to_lowercase(), 1.0));
        }
        let term = self.near.find_nearest(word, &self.vocabulary.terms, count)?;
        Some((term, format!("{}~{}", written.to_lowercase(), self.vocabulary.terms[term as usize]), GUESS_SHARE))
    }

    /// Returns the documents with the most points for single words.
    fn find_candidates(&self, question: &SearchQuery, most: usize) -> Vec<(usize, f64)> {
        let mut scores = vec![0.0_f64; self.documents.len()];
        let mut touched: Vec<usize> = Vec::new();
        let mut best_parts: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for asked in &question.terms {
            for (document, sum) in self.term_uses(asked.term) {
                let document = *document as usize;
                if scores[document] == 0.0 {
                    touched.push(document);
                }
                let mut points = asked.worth * saturate_sum(*sum, SATURATION);
                if let Some(written) = asked.part_of {
                    let best = best_parts.entry((written, document)).or_default();
                    points = (points - *best).max(0.0);
                    *best += points;
                }
                scores[document] += points;
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

    /// Finds the adjacent words of a query that are also adjacent in the candidates.
    ///
    /// Their rarity is computed among the candidates only. Documents with both words are candidates, and an index of
    /// all adjacent words would be many times larger.
    fn find_adjacent_pairs(&self, question: &SearchQuery, candidates: &[(usize, f64)]) -> AdjacentPairs {
        if question.pairs.is_empty() {
            return AdjacentPairs { found: vec![Vec::new(); candidates.len()], worths: Vec::new() };
        }
        let mut places = vec![u16::MAX; self.vocabulary.terms.len()];
        for (place, asked) in (0..u16::MAX).zip(&question.terms) {
            places[asked.term as usize] = place;
        }
        let of = |(document, _): &(usize, f64)| self.pairs_in_document(*document, &places, &question.pairs);
        let found: Vec<Vec<PairWeights>> = candidates.iter().map(of).collect();
        let mut counts = vec![0; question.pairs.len()];
        found.iter().flatten().for_each(|(pair, _)| counts[*pair] += 1);
        AdjacentPairs {
            found,
            worths: counts.into_iter().map(|count| PAIR_SHARE * self.compute_rarity(count)).collect(),
        }
    }

    fn pairs_in_document(
        &self,
        document: usize,
        places: &[u16],
        numbers: &BTreeMap<(usize, usize), usize>,
    ) -> Vec<PairWeights> {
        let mut found: BTreeMap<usize, [f32; 5]> = BTreeMap::new();
        for field in SearchField::ALL {
            let at = field as usize;
            let one = PAIR_WEIGHTS[at] * self.norms[document][at];
            let mut before = u16::MAX;
            for word in self.documents[document].field_words(field) {
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

    /// Returns points for a name that shares words with the query, in proportion to the shared part of the name.
    fn compute_name_points(&self, question: &SearchQuery, document: usize) -> f64 {
        // In the order of the name, so that sums do not depend on word numbers.
        let mut words = self.list_name_words(document);
        let worth = |word: &u32| self.compute_rarity(self.term_uses(*word).len());
        let all: f64 = words.iter().map(worth).sum();
        words.retain(|word| question.terms.iter().any(|asked| asked.term == *word));
        let some: f64 = words.iter().map(worth).sum();
        if some > 0.0 { some * some / all } else { 0.0 }
    }

    /// Explains a document's score, highest points first.
    fn explain_score(
        &self,
        question: &SearchQuery,
        document: usize,
        neighbours: &AdjacentPairs,
        pairs: &[PairWeights],
    ) -> Vec<ScoreReason> {
        let mut why = Vec::new();
        let mut add = |term: String, points: f64, fields: [f32; 5]| {
            why.extend(divide_points(points, fields).map(|(field, points)| ScoreReason {
                field,
                term: term.clone(),
                points,
            }));
        };
        let mut best_parts: BTreeMap<usize, (&QueryTerm, f64, [f32; 5])> = BTreeMap::new();
        for asked in &question.terms {
            let fields = self.sum_fields(document, asked.term);
            let points = asked.worth * saturate_sum(fields.iter().sum(), SATURATION);
            let Some(written) = asked.part_of else {
                add(asked.shown.clone(), points, fields);
                continue;
            };
            let best = best_parts.entry(written).or_insert((asked, points, fields));
            if points > best.1 {
                *best = (asked, points, fields);
            }
        }
        for (asked, points, fields) in best_parts.into_values() {
            add(asked.shown.clone(), points, fields);
        }
        let shown: BTreeMap<usize, (usize, usize)> =
            question.pairs.iter().map(|(pair, number)| (*number, *pair)).collect();
        for pair in pairs {
            let (one, other) = shown[&pair.0];
            let term = format!("{} {}", question.terms[one].shown, question.terms[other].shown);
            add(term, neighbours.pair_points(pair), pair.1);
        }
        let points = self.compute_name_points(question, document);
        if points > 0.0 {
            let name = self.documents[document].field_words(SearchField::Name);
            let asked = question.terms.iter().filter(|asked| name.contains(&asked.term));
            let term = asked.map(|asked| asked.shown.as_str()).collect::<Vec<_>>().join("-");
            add(term, points, [1.0, 0.0, 0.0, 0.0, 0.0]);
        }
        why.sort_by(|one, two| {
            two.points.total_cmp(&one.points).then(one.field.cmp(&two.field)).then_with(|| one.term.cmp(&two.term))
        });
        why
    }
}

/// Weighs the distinct words of a query. A repeated word counts more, at a decreasing rate.
fn count_words(query: &mut SearchQuery, places: &BTreeMap<u32, usize>, words: BTreeMap<String, QueryWord>) {
    let mut counts = vec![0.0_f64; query.terms.len()];
    for (word, QueryWord { term, certainty, share, count }) in words {
        if let Some(place) = term.and_then(|term| places.get(&term)) {
            counts[*place] += count;
        }
        let weight = fit::weigh_word(&word) * share * count.sqrt();
        query.words.push(RequestWord { term, weight, certainty });
    }
    for (asked, count) in query.terms.iter_mut().zip(counts) {
        asked.worth *= count.sqrt();
    }
}

/// Numbers the pairs of adjacent words. A word of parts is followed by the next word both as a whole and with its last
/// part, since documents write it either way.
fn number_pairs(sequence: &[Vec<Option<usize>>]) -> BTreeMap<(usize, usize), usize> {
    let mut pairs = BTreeMap::new();
    for two in sequence.windows(2) {
        let next = two[1].first().copied().flatten();
        for before in [two[0].last(), two[0].first()] {
            if let (Some(one), Some(other)) = (before.copied().flatten(), next)
                && one != other
            {
                let number = pairs.len();
                pairs.entry((one, other)).or_insert(number);
            }
        }
    }
    pairs
}

/// Returns the share of each part of a query word such as `BlueField`, so that all parts together explain as much as the
/// most telling one.
fn compute_part_share(weights: impl Iterator<Item = f64>) -> f64 {
    let (most, all) = weights.fold((0.0_f64, 0.0), |(most, all), weight| (most.max(weight), all + weight));
    if all > 0.0 { most / all } else { 1.0 }
}

/// Divides points among the fields they come from.
fn divide_points(points: f64, fields: [f32; 5]) -> impl Iterator<Item = (SearchField, f64)> {
    let sum: f32 = fields.iter().sum();
    let parts = SearchField::ALL.into_iter().zip(fields).filter(|(_, part)| *part > 0.0);
    parts.map(move |(field, part)| (field, points * f64::from(part / sum)))
}

/// Saturates a sum of weighted uses: more uses add less.
fn saturate_sum(sum: f32, saturation: f32) -> f64 {
    f64::from(sum * (saturation + 1.0) / (sum + saturation))
}

/// Computes the start of each word's uses when grouped by word, plus the end.
fn compute_use_starts(documents: &[SearchDocument], terms: usize) -> Vec<usize> {
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

/// Computes the length normalization of each field of each document. Fields longer than usual count less.
#[expect(clippy::cast_precision_loss, reason = "fields have a bounded number of words")]
fn compute_length_norms(documents: &[SearchDocument]) -> Vec<[f32; 5]> {
    let norm = |document: &SearchDocument| {
        SearchField::ALL.map(|field| {
            let (at, length) = (field as usize, document.field_words(field).len() as f32);
            1.0 / (1.0 - LENGTH_PENALTIES[at] + LENGTH_PENALTIES[at] * length / USUAL_LENGTHS[at])
        })
    };
    documents.iter().map(norm).collect()
}
