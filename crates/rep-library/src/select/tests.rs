use std::path::PathBuf;

use proptest::prelude::*;
use rep_model::{Skill, SkillTree};

use super::*;
use crate::catalog::CatalogEntry;
use crate::roots::Scope;

/// An entry as discovery would make it, from the fields of its frontmatter.
fn entry(package: Option<&str>, name: &str, fields: &str) -> CatalogEntry {
    let text = format!("---\nname: {name}\ndescription: Does it.\n{fields}---\n");
    made(package, name, "SKILL.md", &text)
}

fn uasp(name: &str, triggers: &str) -> CatalogEntry {
    let text = format!("meta:\n  name: {name}\n  description: Does it.\ntriggers: {triggers}\n");
    made(None, name, &format!("{name}.uasp.yaml"), &text)
}

fn made(package: Option<&str>, name: &str, file: &str, text: &str) -> CatalogEntry {
    CatalogEntry {
        name: name.to_owned(),
        qualified_name: package.map_or_else(|| name.to_owned(), |package| format!("{package}:{name}")),
        description: "Does it.".to_owned(),
        scope: Scope::Project,
        is_in_project: false,
        location: PathBuf::from("/library").join(name).join(file),
        folder: PathBuf::from("/library").join(name),
        status: Status::Active,
        reason: String::new(),
        shadowed_by: None,
        findings: Vec::new(),
        skill: Skill::parse(SkillTree::of(name, &[(file, text)])).0,
        is_user_invocable: true,
        dependencies: Vec::new(),
    }
}

fn catalog(entries: Vec<CatalogEntry>) -> Catalog {
    let mut catalog = Catalog::default();
    catalog.entries = entries;
    catalog
}

const PDF: &str =
    "when_to_use: {mentions: [pdf, ocr, scan], file_types: [.pdf], intents: [document_extraction], priority: 1}\n";

fn request(text: &str) -> Request {
    Request { text: text.to_owned(), ..Request::default() }
}

fn with(text: &str, files: &[&str], intents: &[&str], skills: &[&str]) -> Request {
    let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect();
    Request { files: owned(files), intents: owned(intents), skills: owned(skills), ..request(text) }
}

/// Qualified names and scores, in order.
fn answer(catalog: &Catalog, request: &Request) -> Vec<(String, Option<i64>)> {
    let name = |index: usize| catalog.entries[index].qualified_name.clone();
    select(catalog, request).into_iter().map(|selected| (name(selected.index), selected.score)).collect()
}

fn scored(pairs: &[(&str, i64)]) -> Vec<(String, Option<i64>)> {
    pairs.iter().map(|(name, score)| ((*name).to_owned(), Some(*score))).collect()
}

fn named(names: &[&str]) -> Vec<(String, Option<i64>)> {
    names.iter().map(|name| ((*name).to_owned(), None)).collect()
}

#[test]
fn sel_02_03_04_points_add_up_and_every_trigger_counts_once() {
    let catalog = catalog(vec![entry(None, "pdf", PDF)]);
    for (wanted, request) in [
        (Some(3), with("", &["a.pdf", "b.PDF"], &[], &[])),
        (Some(4), with("OCR a scan, ocr it twice", &[], &[], &[])),
        (Some(3), with("the pdf", &[], &["document_extraction", "document_extraction"], &[])),
        (Some(10), with("pdf ocr scan", &["x/a.pdf"], &["document_extraction"], &[])),
        (None, with("please read the PDF", &[], &[], &[])),
        (None, with("", &[], &["document_extraction"], &[])),
        (None, with("", &[], &["Document_Extraction"], &[])),
    ] {
        let wanted: Vec<_> = wanted.map(|score| ("pdf".to_owned(), Some(score))).into_iter().collect();
        assert_eq!(answer(&catalog, &request), wanted, "{request:?}");
    }
}

#[test]
fn sel_05_the_threshold_is_three_unless_another_is_given() {
    let catalog = catalog(vec![entry(None, "pdf", PDF), entry(None, "z", "")]);
    let at = |threshold| answer(&catalog, &Request { threshold, ..request("a pdf") });
    assert_eq!(at(3), []);
    assert_eq!(at(2), scored(&[("pdf", 2)]));
    assert_eq!(at(0), scored(&[("pdf", 2), ("z", 0)]));
    let below = Selector::new(&catalog).select(&request("a pdf")).below;
    assert_eq!((below.len(), below[0].score), (1, Some(2)));
}

#[test]
fn sel_06_order_is_score_then_priority_then_name() {
    let with_priority = |name: &str, priority: &str| {
        entry(None, name, &format!("when_to_use: {{mentions: [a, b], priority: {priority}}}\n"))
    };
    let catalog = catalog(vec![
        entry(None, "late", "when_to_use: {mentions: [a, b]}\n"),
        entry(None, "early", "when_to_use: {mentions: [a, b]}\n"),
        with_priority("low", "-1"),
        with_priority("high", "7"),
        with_priority("words", "\"9\""),
        entry(None, "best", "when_to_use: {mentions: [a, b, c]}\n"),
    ]);
    let wanted = scored(&[("best", 6), ("high", 4), ("early", 4), ("late", 4), ("words", 4), ("low", 4)]);
    assert_eq!(answer(&catalog, &request("a b c")), wanted);
}

#[test]
fn sel_08_text_in_when_to_use_is_never_scored() {
    for fields in [
        "when_to_use: when there is a pdf or a scan\n",
        "when_to_use: [pdf, scan]\n",
        "when_to_use: {mentions: pdf}\n",
        "",
    ] {
        let catalog = catalog(vec![entry(None, "x", fields)]);
        assert_eq!(answer(&catalog, &with("when there is a pdf or a scan", &["a.pdf"], &[], &[])), [], "{fields}");
    }
}

#[test]
fn sel_10_uasp_triggers_score_on_the_same_scale() {
    let triggers = "{keywords: [Stripe, status code, '404'], intents: [process payments], file_patterns: ['*.stripe.js', '**/payments/**']}";
    let catalog = catalog(vec![uasp("stripe", triggers), entry(None, "pdf", PDF)]);
    let score = |request: &Request| answer(&catalog, request).first().and_then(|first| first.1);
    assert_eq!(score(&request("a stripe status\ncode of 404")), Some(6));
    assert_eq!(score(&with("", &["src/payments/a.stripe.js"], &[], &[])), Some(6));
    assert_eq!(score(&with("stripe", &[], &["process payments"], &[])), Some(3));
    assert_eq!(score(&with("please process payments with stripe", &[], &["payments"], &[])), None);
    let found = select(&catalog, &with("Stripe", &["a.stripe.js"], &["process payments"], &[]));
    let kinds: Vec<_> =
        found[0].matches.iter().map(|one| (one.kind.name(), one.trigger.as_str(), one.points)).collect();
    let wanted = [("file_pattern", "*.stripe.js", 3), ("keyword", "Stripe", 2), ("intent", "process payments", 1)];
    assert_eq!(kinds, wanted);
}

#[test]
fn sel_01_a_named_skill_is_selected_alone_unless_asked_otherwise() {
    let tools = "tools: [{name: fill, description: Fills.}, {name: split, description: Splits.}]\n";
    let catalog = catalog(vec![
        entry(None, "pdf", PDF),
        entry(Some("pkg"), "forms", tools),
        entry(Some("other"), "forms", "tools: [{name: split, description: Splits.}]\n"),
        entry(None, "z", ""),
    ]);
    let text = "a pdf scan";
    assert_eq!(answer(&catalog, &with(text, &[], &[], &["z"])), named(&["z"]));
    assert_eq!(answer(&catalog, &with(text, &[], &[], &["pkg:forms", "z", "z"])), named(&["pkg:forms", "z"]));
    assert_eq!(answer(&catalog, &with(text, &[], &[], &["fill"])), named(&["pkg:forms"]));
    assert_eq!(answer(&catalog, &with(text, &[], &[], &["other:forms:split"])), named(&["other:forms"]));
    assert_eq!(answer(&catalog, &with(text, &[], &[], &["forms:fill"])), named(&["pkg:forms"]));
    let also = Request { also_scored: true, ..with(text, &[], &[], &["z"]) };
    assert_eq!(answer(&catalog, &also), scored(&[("z", 0), ("pdf", 4)]));
    for (name, candidates) in [("forms", 2), ("split", 2), ("forms:split", 2), ("nobody", 0), ("z:fill", 0), ("", 0)] {
        let selection = Selector::new(&catalog).select(&with(text, &[], &[], &[name]));
        assert_eq!(selection.selected, [], "{name}: a name that finds nobody does not fall back to scores");
        assert_eq!(selection.unfound[0].candidates.len(), candidates, "{name}");
    }
}

#[test]
fn sel_12_13_hidden_skills_are_called_by_name_only() {
    let mut hidden = entry(None, "secret-forms", PDF);
    hidden.status = Status::Hidden;
    let mut closed = entry(None, "inner", PDF);
    closed.is_user_invocable = false;
    let mut untrusted = entry(None, "strange", PDF);
    untrusted.status = Status::Untrusted;
    let catalog = catalog(vec![hidden, closed, untrusted]);
    assert_eq!(answer(&catalog, &request("pdf scan")), scored(&[("inner", 4)]));
    assert_eq!(answer(&catalog, &request("/secret-forms for the pdf scan")), named(&["secret-forms"]));
    assert_eq!(answer(&catalog, &request("please run /secret-forms.")), named(&["secret-forms"]));
    for text in ["x/secret-forms pdf scan", "/secret-forms/a pdf scan", "/inner pdf scan", "/strange pdf scan"] {
        assert_eq!(answer(&catalog, &request(text)), scored(&[("inner", 4)]), "{text}");
    }
    assert_eq!(answer(&catalog, &with("", &[], &[], &["inner"])), named(&["inner"]));
    assert_eq!(answer(&catalog, &with("pdf scan", &[], &[], &["strange"])), []);
    let found = select(&catalog, &request("/secret-forms"));
    assert_eq!(found[0].matches, [Match { kind: MatchKind::Explicit, trigger: "/secret-forms".to_owned(), points: 0 }]);
}

#[test]
fn what_is_left_out_is_told() {
    let long = "x".repeat(2000);
    let catalog = catalog(vec![entry(None, "pdf", &format!("when_to_use: {{mentions: [pdf, scan, {long}]}}\n"))]);
    let text = format!("pdf {} scan", "é".repeat(TEXT_BYTES_MAX));
    let selection = Selector::new(&catalog).select(&with(&text, &[&"a/".repeat(4000)], &[], &[]));
    assert_eq!((selection.selected.len(), selection.below[0].score, selection.notes.len()), (0, Some(2), 3));
}

/// Spellings of triggers that meet, miss and repeat each other.
const MENTIONS: [&str; 8] = ["pdf", "PDF", "fill form", "Fill  Form", "form", "scan", "straße", "STRASSE"];
const TYPES: [&str; 5] = [".pdf", "pdf", ".PDF", ".tar.gz", "gz"];
const PATTERNS: [&str; 6] = ["*.pdf", "**/*.pdf", "docs/**", "**/docs/*", "*", "a/**/b"];
const TEXTS: [&str; 6] = ["fill", "form", "PDF", "scan.", "Strasse", "/s3"];
const FILES: [&str; 5] = ["a.pdf", "docs/B.PDF", "x/docs/y", "z.tar.gz", "a/b"];

#[derive(Clone, Debug)]
struct Made {
    mentions: Vec<&'static str>,
    types: Vec<&'static str>,
    patterns: Vec<&'static str>,
    priority: i64,
    is_uasp: bool,
}

fn some(of: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(of), 0..6)
}

/// Some triggers in two orders.
fn mixed(of: &'static [&'static str]) -> impl Strategy<Value = (Vec<&'static str>, Vec<&'static str>)> {
    some(of).prop_flat_map(|list| (Just(list.clone()), Just(list).prop_shuffle()))
}

/// Skills, each written in two orders of its triggers.
fn skills() -> impl Strategy<Value = Vec<(Made, Made)>> {
    let one = (mixed(&MENTIONS), mixed(&TYPES), mixed(&PATTERNS), 0..3_i64, any::<bool>()).prop_map(
        |(mentions, types, patterns, priority, is_uasp)| {
            let made = |mentions, types, patterns| Made { mentions, types, patterns, priority, is_uasp };
            (made(mentions.0, types.0, patterns.0), made(mentions.1, types.1, patterns.1))
        },
    );
    prop::collection::vec(one, 0..8)
}

fn build(skills: &[(usize, Made)]) -> Catalog {
    let quoted = |list: &[&str]| list.iter().map(|one| format!("\"{one}\"")).collect::<Vec<_>>().join(", ");
    let make = |(number, made): &(usize, Made)| {
        let (name, mentions) = (format!("s{number}"), quoted(&made.mentions));
        if made.is_uasp {
            return uasp(&name, &format!("{{keywords: [{mentions}], file_patterns: [{}]}}", quoted(&made.patterns)));
        }
        let (types, priority) = (quoted(&made.types), made.priority);
        let fields = format!("{{mentions: [{mentions}], file_types: [{types}], priority: {priority}}}");
        entry(None, &name, &format!("when_to_use: {fields}\n"))
    };
    catalog(skills.iter().map(make).collect())
}

/// Everything but places in the catalogue, which shuffling changes.
fn told(catalog: &Catalog, request: &Request) -> Vec<(String, Option<i64>, Vec<Match>)> {
    let selection = Selector::new(catalog).select(request);
    let all = selection.selected.into_iter().chain(selection.below);
    all.map(|one| (catalog.entries[one.index].name.clone(), one.score, one.matches)).collect()
}

proptest! {
    #[test]
    fn sel_07_no_order_of_input_changes_the_answer(
        (made, shuffled) in skills().prop_flat_map(|skills| {
            let (one, two): (Vec<Made>, Vec<Made>) = skills.into_iter().unzip();
            let numbered = |made: Vec<Made>| made.into_iter().enumerate().collect::<Vec<_>>();
            (Just(numbered(one)), Just(numbered(two)).prop_shuffle())
        }),
        (words, other_words) in mixed(&TEXTS),
        (files, other_files) in mixed(&FILES),
        threshold in -1..9_i64,
        also_scored: bool,
    ) {
        // The words stand apart, so that no mention spans two of them and their order cannot matter.
        let one = Request { threshold, also_scored, ..with(&words.join(" , "), &files, &[], &[]) };
        let two = Request { threshold, also_scored, ..with(&other_words.join(" , "), &other_files, &[], &[]) };
        prop_assert_eq!(told(&build(&made), &one), told(&build(&shuffled), &two));
    }

    #[test]
    fn sel_05_scores_are_the_sum_of_their_points_and_reach_the_threshold(
        made in skills(),
        words in some(&TEXTS),
        files in some(&FILES),
        threshold in -1..9_i64,
    ) {
        let catalog = build(&made.into_iter().map(|(made, _)| made).enumerate().collect::<Vec<_>>());
        let request = Request { threshold, also_scored: true, ..with(&words.join(" "), &files, &[], &[]) };
        let selection = Selector::new(&catalog).select(&request);
        for (one, is_selected) in
            selection.selected.iter().map(|one| (one, true)).chain(selection.below.iter().map(|one| (one, false)))
        {
            let is_named = one.matches.iter().any(|found| found.kind == MatchKind::Explicit);
            prop_assert_eq!(one.score, Some(total(&one.matches)));
            prop_assert_eq!(is_selected, is_named || one.score >= Some(threshold));
        }
    }

    #[test]
    fn no_text_or_file_makes_selection_panic(text in "\\PC{0,40}", file in "\\PC{0,20}", name in "\\PC{0,10}") {
        let catalog = catalog(vec![entry(None, "pdf", PDF), uasp("u", "{keywords: [é], file_patterns: ['**']}")]);
        select(&catalog, &with(&format!("{text} é/{name}"), &[&file], &[&text], &[]));
    }
}
