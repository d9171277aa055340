use std::path::PathBuf;

use proptest::prelude::*;
use rep_model::{Skill, SkillTree};

use super::*;
use crate::catalog::CatalogEntry;
use crate::roots::Scope;

/// Builds an entry as discovery does, from frontmatter fields.
fn markdown_entry(package: Option<&str>, name: &str, fields: &str) -> CatalogEntry {
    let text = format!("---\nname: {name}\ndescription: Does it.\n{fields}---\n");
    make_entry(package, name, "SKILL.md", &text)
}

fn uasp_entry(name: &str, triggers: &str) -> CatalogEntry {
    let text = format!("meta:\n  name: {name}\n  description: Does it.\ntriggers: {triggers}\n");
    make_entry(None, name, &format!("{name}.uasp.yaml"), &text)
}

fn make_entry(package: Option<&str>, name: &str, file: &str, text: &str) -> CatalogEntry {
    CatalogEntry {
        name: name.to_owned(),
        qualified_name: package.map_or_else(|| name.to_owned(), |package| format!("{package}:{name}")),
        description: "Does it.".to_owned(),
        scope: Scope::Project,
        is_in_project: false,
        location: PathBuf::from("/library").join(name).join(file),
        folder: PathBuf::from("/library").join(name),
        status: SkillStatus::Active,
        reason: String::new(),
        shadowed_by: None,
        findings: Vec::new(),
        validation: crate::validation::ValidationMode::default(),
        skill: Skill::parse(SkillTree::from_texts(name, &[(file, text)])).0,
        is_user_invocable: true,
        dependencies: Vec::new(),
    }
}

fn make_catalog(entries: Vec<CatalogEntry>) -> Catalog {
    let mut catalog = Catalog::default();
    catalog.entries = entries;
    catalog
}

const PDF: &str =
    "when_to_use: {mentions: [pdf, ocr, scan], file_types: [.pdf], intents: [document_extraction], priority: 1}\n";

fn text_request(text: &str) -> SelectionRequest {
    SelectionRequest { text: text.to_owned(), ..SelectionRequest::default() }
}

fn request_with(text: &str, files: &[&str], intents: &[&str], skills: &[&str]) -> SelectionRequest {
    let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect();
    SelectionRequest { files: owned(files), intents: owned(intents), skills: owned(skills), ..text_request(text) }
}

/// Returns qualified names and scores, in order.
fn select_names(catalog: &Catalog, request: &SelectionRequest) -> Vec<(String, Option<i64>)> {
    let name = |index: usize| catalog.entries[index].qualified_name.clone();
    select_skills(catalog, request).into_iter().map(|selected| (name(selected.index), selected.score)).collect()
}

fn expect_scores(pairs: &[(&str, i64)]) -> Vec<(String, Option<i64>)> {
    pairs.iter().map(|(name, score)| ((*name).to_owned(), Some(*score))).collect()
}

fn expect_named(names: &[&str]) -> Vec<(String, Option<i64>)> {
    names.iter().map(|name| ((*name).to_owned(), None)).collect()
}

#[test]
fn sel_02_03_04_points_add_up_and_every_trigger_counts_once() {
    let catalog = make_catalog(vec![markdown_entry(None, "pdf", PDF)]);
    for (wanted, request) in [
        (Some(3), request_with("", &["a.pdf", "b.PDF"], &[], &[])),
        (Some(4), request_with("OCR a scan, ocr it twice", &[], &[], &[])),
        (Some(3), request_with("the pdf", &[], &["document_extraction", "document_extraction"], &[])),
        (Some(10), request_with("pdf ocr scan", &["x/a.pdf"], &["document_extraction"], &[])),
        (None, request_with("please read the PDF", &[], &[], &[])),
        (None, request_with("", &[], &["document_extraction"], &[])),
        (None, request_with("", &[], &["Document_Extraction"], &[])),
    ] {
        let wanted: Vec<_> = wanted.map(|score| ("pdf".to_owned(), Some(score))).into_iter().collect();
        assert_eq!(select_names(&catalog, &request), wanted, "{request:?}");
    }
}

#[test]
fn sel_05_the_threshold_is_three_unless_another_is_given() {
    let catalog = make_catalog(vec![markdown_entry(None, "pdf", PDF), markdown_entry(None, "z", "")]);
    let at = |threshold| select_names(&catalog, &SelectionRequest { threshold, ..text_request("a pdf") });
    assert_eq!(at(3), []);
    assert_eq!(at(2), expect_scores(&[("pdf", 2)]));
    assert_eq!(at(0), expect_scores(&[("pdf", 2), ("z", 0)]));
    let below = SkillSelector::new(&catalog).select(&text_request("a pdf")).below;
    assert_eq!((below.len(), below[0].score), (1, Some(2)));
}

#[test]
fn sel_06_order_is_score_then_priority_then_name() {
    let with_priority = |name: &str, priority: &str| {
        markdown_entry(None, name, &format!("when_to_use: {{mentions: [a, b], priority: {priority}}}\n"))
    };
    let catalog = make_catalog(vec![
        markdown_entry(None, "late", "when_to_use: {mentions: [a, b]}\n"),
        markdown_entry(None, "early", "when_to_use: {mentions: [a, b]}\n"),
        with_priority("low", "-1"),
        with_priority("high", "7"),
        with_priority("words", "\"9\""),
        markdown_entry(None, "best", "when_to_use: {mentions: [a, b, c]}\n"),
    ]);
    let wanted = expect_scores(&[("best", 6), ("high", 4), ("early", 4), ("late", 4), ("words", 4), ("low", 4)]);
    assert_eq!(select_names(&catalog, &text_request("a b c")), wanted);
}

#[test]
fn sel_08_text_in_when_to_use_is_never_scored() {
    for fields in [
        "when_to_use: when there is a pdf or a scan\n",
        "when_to_use: [pdf, scan]\n",
        "when_to_use: {mentions: pdf}\n",
        "",
    ] {
        let catalog = make_catalog(vec![markdown_entry(None, "x", fields)]);
        assert_eq!(
            select_names(&catalog, &request_with("when there is a pdf or a scan", &["a.pdf"], &[], &[])),
            [],
            "{fields}"
        );
    }
}

#[test]
fn sel_10_uasp_triggers_score_on_the_same_scale() {
    let triggers = "{keywords: [Stripe, status code, '404'], intents: [process payments], file_patterns: ['*.stripe.js', '**/payments/**']}";
    let catalog = make_catalog(vec![uasp_entry("stripe", triggers), markdown_entry(None, "pdf", PDF)]);
    let score = |request: &SelectionRequest| select_names(&catalog, request).first().and_then(|first| first.1);
    assert_eq!(score(&text_request("a stripe status\ncode of 404")), Some(6));
    assert_eq!(score(&request_with("", &["src/payments/a.stripe.js"], &[], &[])), Some(6));
    assert_eq!(score(&request_with("stripe", &[], &["process payments"], &[])), Some(3));
    assert_eq!(score(&request_with("please process payments with stripe", &[], &["payments"], &[])), None);
    let found = select_skills(&catalog, &request_with("Stripe", &["a.stripe.js"], &["process payments"], &[]));
    let kinds: Vec<_> =
        found[0].matches.iter().map(|one| (one.kind.name(), one.trigger.as_str(), one.points)).collect();
    let wanted = [("file_pattern", "*.stripe.js", 3), ("keyword", "Stripe", 2), ("intent", "process payments", 1)];
    assert_eq!(kinds, wanted);
}

#[test]
fn sel_01_a_named_skill_is_selected_alone_unless_asked_otherwise() {
    let tools = "tools: [{name: fill, description: Fills.}, {name: split, description: Splits.}]\n";
    let catalog = make_catalog(vec![
        markdown_entry(None, "pdf", PDF),
        markdown_entry(Some("pkg"), "forms", tools),
        markdown_entry(Some("other"), "forms", "tools: [{name: split, description: Splits.}]\n"),
        markdown_entry(None, "z", ""),
    ]);
    let text = "a pdf scan";
    assert_eq!(select_names(&catalog, &request_with(text, &[], &[], &["z"])), expect_named(&["z"]));
    assert_eq!(
        select_names(&catalog, &request_with(text, &[], &[], &["pkg:forms", "z", "z"])),
        expect_named(&["pkg:forms", "z"])
    );
    assert_eq!(select_names(&catalog, &request_with(text, &[], &[], &["fill"])), expect_named(&["pkg:forms"]));
    assert_eq!(
        select_names(&catalog, &request_with(text, &[], &[], &["other:forms:split"])),
        expect_named(&["other:forms"])
    );
    assert_eq!(select_names(&catalog, &request_with(text, &[], &[], &["forms:fill"])), expect_named(&["pkg:forms"]));
    let also = SelectionRequest { also_scored: true, ..request_with(text, &[], &[], &["z"]) };
    assert_eq!(select_names(&catalog, &also), expect_scores(&[("z", 0), ("pdf", 4)]));
    for (name, candidates) in [("forms", 2), ("split", 2), ("forms:split", 2), ("nobody", 0), ("z:fill", 0), ("", 0)] {
        let selection = SkillSelector::new(&catalog).select(&request_with(text, &[], &[], &[name]));
        assert_eq!(selection.selected, [], "{name}: an unknown name does not fall back to scores");
        assert_eq!(selection.unfound[0].candidates.len(), candidates, "{name}");
    }
}

#[test]
fn sel_01_a_request_names_skills_and_tools_without_a_slash() {
    let tools = "tools: [{name: fill_form, description: Fills.}, {name: split, description: Splits.}]\n";
    let catalog = make_catalog(vec![
        markdown_entry(None, "pdf", PDF),
        markdown_entry(None, "pdf-tools", tools),
        markdown_entry(Some("acme"), "csv-tools", ""),
        markdown_entry(Some("other"), "csv-tools", "tools: [{name: fix-rows, description: Fixes.}]\n"),
        markdown_entry(None, "test", ""),
    ]);
    for (text, names) in [
        ("Use pdf-tools to ocr the pdf scan", &["pdf-tools"][..]),
        ("PDF-Tools, please: a pdf scan", &["pdf-tools"]),
        ("ocr the scan with `pdf-tools`.", &["pdf-tools"]),
        ("pdf-tools:split the scan and ocr it", &["pdf-tools"]),
        ("pdf-tools:unknown for the pdf scan", &["pdf-tools"]),
        ("call fill_form on the pdf scan", &["pdf-tools"]),
        ("run the split tool on the pdf scan", &["pdf-tools"]),
        ("fix-rows, then pdf-tools", &["other:csv-tools", "pdf-tools"]),
        ("use acme:csv-tools", &["acme:csv-tools"]),
        ("use test on the pdf scan", &["test"]),
        ("ocr the scan with the test skill", &["test"]),
    ] {
        assert_eq!(select_names(&catalog, &text_request(text)), expect_named(names), "{text}");
    }
    for text in [
        "test the ocr of a scan",
        "split the scan and ocr it",
        "ocr the scan in docs/pdf-tools or pdf-tools.md or my-pdf-tools",
        "ocr the scan with pdf-tools2 and pdf-tools-extra --pdf-tools",
        "ocr the scan, but not with pdf-tools",
        "ocr the scan, do not use the pdf-tools skill",
        "ocr the scan instead of running pdf-tools",
        "ocr the scan by foreign:pdf-tools",
    ] {
        let found = select_names(&catalog, &text_request(text));
        assert_eq!(found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["pdf"], "{text}");
        assert!(found[0].1.is_some(), "{text}: selected by score");
    }
    let ambiguous = SkillSelector::new(&catalog).select(&text_request("use csv-tools"));
    assert_eq!(ambiguous.notes, ["`csv-tools` is ambiguous: it could be `acme:csv-tools` or `other:csv-tools`"]);
}

#[test]
fn sel_12_13_hidden_skills_are_called_by_name_only() {
    let mut hidden = markdown_entry(None, "secret-forms", PDF);
    hidden.status = SkillStatus::Hidden;
    let mut closed = markdown_entry(None, "inner", PDF);
    closed.is_user_invocable = false;
    let mut untrusted = markdown_entry(None, "strange", PDF);
    untrusted.status = SkillStatus::Untrusted;
    let catalog = make_catalog(vec![hidden, closed, untrusted]);
    assert_eq!(select_names(&catalog, &text_request("pdf scan")), expect_scores(&[("inner", 4)]));
    assert_eq!(
        select_names(&catalog, &text_request("/secret-forms for the pdf scan")),
        expect_named(&["secret-forms"])
    );
    assert_eq!(select_names(&catalog, &text_request("please run /secret-forms.")), expect_named(&["secret-forms"]));
    for text in ["x/secret-forms pdf scan", "/secret-forms/a pdf scan", "/inner pdf scan", "/strange pdf scan"] {
        assert_eq!(select_names(&catalog, &text_request(text)), expect_scores(&[("inner", 4)]), "{text}");
    }
    assert_eq!(select_names(&catalog, &request_with("", &[], &[], &["inner"])), expect_named(&["inner"]));
    assert_eq!(select_names(&catalog, &request_with("pdf scan", &[], &[], &["strange"])), []);
    let found = select_skills(&catalog, &text_request("/secret-forms"));
    assert_eq!(
        found[0].matches,
        [TriggerMatch { kind: MatchKind::Explicit, trigger: "/secret-forms".to_owned(), points: 0 }]
    );
}

#[test]
fn what_is_left_out_is_told() {
    let long = "x".repeat(2000);
    let catalog =
        make_catalog(vec![markdown_entry(None, "pdf", &format!("when_to_use: {{mentions: [pdf, scan, {long}]}}\n"))]);
    let text = format!("pdf {} scan", "é".repeat(TEXT_BYTES_MAX));
    let selection = SkillSelector::new(&catalog).select(&request_with(&text, &[&"a/".repeat(4000)], &[], &[]));
    assert_eq!((selection.selected.len(), selection.below[0].score, selection.notes.len()), (0, Some(2), 3));
}

/// Spellings of triggers that match, differ and repeat.
const MENTIONS: [&str; 8] = ["pdf", "PDF", "fill form", "Fill  Form", "form", "scan", "straße", "STRASSE"];
const TYPES: [&str; 5] = [".pdf", "pdf", ".PDF", ".tar.gz", "gz"];
const PATTERNS: [&str; 6] = ["*.pdf", "**/*.pdf", "docs/**", "**/docs/*", "*", "a/**/b"];
const TEXTS: [&str; 6] = ["fill", "form", "PDF", "scan.", "Strasse", "/s3"];
const FILES: [&str; 5] = ["a.pdf", "docs/B.PDF", "x/docs/y", "z.tar.gz", "a/b"];

#[derive(Clone, Debug)]
struct GeneratedSkill {
    mentions: Vec<&'static str>,
    types: Vec<&'static str>,
    patterns: Vec<&'static str>,
    priority: i64,
    is_uasp: bool,
}

fn some_of(of: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(of), 0..6)
}

/// Returns some triggers in two orders.
fn shuffled_pair(of: &'static [&'static str]) -> impl Strategy<Value = (Vec<&'static str>, Vec<&'static str>)> {
    some_of(of).prop_flat_map(|list| (Just(list.clone()), Just(list).prop_shuffle()))
}

/// Returns skills, each with its triggers in two orders.
fn arbitrary_skills() -> impl Strategy<Value = Vec<(GeneratedSkill, GeneratedSkill)>> {
    let one = (shuffled_pair(&MENTIONS), shuffled_pair(&TYPES), shuffled_pair(&PATTERNS), 0..3_i64, any::<bool>())
        .prop_map(|(mentions, types, patterns, priority, is_uasp)| {
            let made = |mentions, types, patterns| GeneratedSkill { mentions, types, patterns, priority, is_uasp };
            (made(mentions.0, types.0, patterns.0), made(mentions.1, types.1, patterns.1))
        });
    prop::collection::vec(one, 0..8)
}

fn build_catalog(skills: &[(usize, GeneratedSkill)]) -> Catalog {
    let quoted = |list: &[&str]| list.iter().map(|one| format!("\"{one}\"")).collect::<Vec<_>>().join(", ");
    let make = |(number, made): &(usize, GeneratedSkill)| {
        let (name, mentions) = (format!("s{number}"), quoted(&made.mentions));
        if made.is_uasp {
            return uasp_entry(
                &name,
                &format!("{{keywords: [{mentions}], file_patterns: [{}]}}", quoted(&made.patterns)),
            );
        }
        let (types, priority) = (quoted(&made.types), made.priority);
        let fields = format!("{{mentions: [{mentions}], file_types: [{types}], priority: {priority}}}");
        markdown_entry(None, &name, &format!("when_to_use: {fields}\n"))
    };
    make_catalog(skills.iter().map(make).collect())
}

/// Returns everything except catalog indexes, which shuffling changes.
fn list_matches(catalog: &Catalog, request: &SelectionRequest) -> Vec<(String, Option<i64>, Vec<TriggerMatch>)> {
    let selection = SkillSelector::new(catalog).select(request);
    let all = selection.selected.into_iter().chain(selection.below);
    all.map(|one| (catalog.entries[one.index].name.clone(), one.score, one.matches)).collect()
}

proptest! {
    #[test]
    fn sel_07_no_order_of_input_changes_the_answer(
        (made, shuffled) in arbitrary_skills().prop_flat_map(|skills| {
            let (one, two): (Vec<GeneratedSkill>, Vec<GeneratedSkill>) = skills.into_iter().unzip();
            let numbered = |made: Vec<GeneratedSkill>| made.into_iter().enumerate().collect::<Vec<_>>();
            (Just(numbered(one)), Just(numbered(two)).prop_shuffle())
        }),
        (words, other_words) in shuffled_pair(&TEXTS),
        (files, other_files) in shuffled_pair(&FILES),
        threshold in -1..9_i64,
        also_scored: bool,
    ) {
        // Separators between the words prevent a mention from spanning two of them, so their order does not matter.
        let one = SelectionRequest { threshold, also_scored, ..request_with(&words.join(" , "), &files, &[], &[]) };
        let two = SelectionRequest { threshold, also_scored, ..request_with(&other_words.join(" , "), &other_files, &[], &[]) };
        prop_assert_eq!(list_matches(&build_catalog(&made), &one), list_matches(&build_catalog(&shuffled), &two));
    }

    #[test]
    fn sel_05_scores_are_the_sum_of_their_points_and_reach_the_threshold(
        made in arbitrary_skills(),
        words in some_of(&TEXTS),
        files in some_of(&FILES),
        threshold in -1..9_i64,
    ) {
        let catalog = build_catalog(&made.into_iter().map(|(made, _)| made).enumerate().collect::<Vec<_>>());
        let request = SelectionRequest { threshold, also_scored: true, ..request_with(&words.join(" "), &files, &[], &[]) };
        let selection = SkillSelector::new(&catalog).select(&request);
        for (one, is_selected) in
            selection.selected.iter().map(|one| (one, true)).chain(selection.below.iter().map(|one| (one, false)))
        {
            let is_named = one.matches.iter().any(|found| found.kind == MatchKind::Explicit);
            prop_assert_eq!(one.score, Some(sum_points(&one.matches)));
            prop_assert_eq!(is_selected, is_named || one.score >= Some(threshold));
        }
    }

    #[test]
    fn no_text_or_file_makes_selection_panic(text in "\\PC{0,40}", file in "\\PC{0,20}", name in "\\PC{0,10}") {
        let catalog = make_catalog(vec![markdown_entry(None, "pdf", PDF), uasp_entry("u", "{keywords: [é], file_patterns: ['**']}")]);
        select_skills(&catalog, &request_with(&format!("{text} é/{name}"), &[&file], &[&text], &[]));
        let named = make_catalog(vec![markdown_entry(None, "a-é", "tools: [{name: é}]\n"), markdown_entry(None, "é", "")]);
        select_skills(&named, &request_with(&format!("use é{text} use a-é{name}a-é the é skill"), &[], &[], &[]));
    }
}
