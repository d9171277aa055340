//! Searches small libraries on disk.

use rep_test_support::ScratchFolder;

use super::*;
use crate::catalog::LibraryOptions;

fn write_skill(scratch: &ScratchFolder, name: &str, description: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: {description}\n---\n\n{body}\n");
    scratch.write_file(&format!("skills/{name}/SKILL.md"), text);
}

fn write_library() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    write_skill(&scratch, "pdf-forms", "Fills in PDF forms.", "# Fill a form\n\nUse `pdftk` to write field values.");
    write_skill(
        &scratch,
        "deploy",
        "Deploys services to Kubernetes.",
        "# Rollout\n\nRun `kubectl apply`, then watch the rollout.",
    );
    write_skill(&scratch, "tables", "Makes spreadsheets.", "# Sheets\n\nWrite table rows. A form is not a table.");
    scratch.write_file(
        "skills/notify/SKILL.md",
        "---\nspec_version: \"2.1\"\nname: notify\ndescription: Tells people.\nwhen_to_use:\n  mentions: [pagerduty]\n  intents: [wake somebody up]\n---\n\nCall.\n",
    );
    scratch.write_file(
        "skills/stripe/stripe.uasp.yaml",
        "meta:\n  name: stripe\n  version: \"00000000\"\n  type: knowledge\n  description: Payments.\ntriggers:\n  keywords: [chargeback]\n  intents: []\n",
    );
    scratch
}

fn discover_catalog(scratch: &ScratchFolder) -> Catalog {
    Catalog::discover(&LibraryOptions {
        paths: vec![scratch.work_folder().join("skills")],
        ..LibraryOptions::default()
    })
    .unwrap()
}

fn list_hit_names(catalog: &Catalog, hits: &[SearchHit]) -> Vec<String> {
    hits.iter().map(|hit| catalog.entries[hit.entry].name.clone()).collect()
}

fn search_names(scratch: &ScratchFolder, text: &str) -> Vec<String> {
    let catalog = discover_catalog(scratch);
    let index = SearchIndex::open(&catalog, is_findable, None);
    list_hit_names(&catalog, &index.search(text, 10))
}

#[test]
fn every_field_is_searched() {
    let scratch = write_library();
    for (text, first) in [
        ("pdf-forms", "pdf-forms"),
        ("spreadsheets", "tables"),
        ("pagerduty", "notify"),
        ("wake somebody", "notify"),
        ("chargeback", "stripe"),
        ("rollout", "deploy"),
        ("pdftk", "pdf-forms"),
    ] {
        assert_eq!(search_names(&scratch, text).first().map(String::as_str), Some(first), "{text}");
    }
    assert_eq!(search_names(&scratch, "zzyzx the of"), Vec::<String>::new());
}

#[test]
fn word_forms_and_typing_errors_are_seen_through() {
    let scratch = write_library();
    for (text, first) in [
        ("deployment of a service", "deploy"),
        ("filling forms", "pdf-forms"),
        ("kuberntes", "deploy"),
        ("spreadsheats", "tables"),
        ("KubeCtl", "deploy"),
    ] {
        assert_eq!(search_names(&scratch, text).first().map(String::as_str), Some(first), "{text}");
    }
}

#[test]
fn function_words_of_other_languages_have_no_points() {
    let scratch = write_library();
    write_skill(
        &scratch,
        "german",
        "Hilft mit der Post und den Briefen.",
        "Die Post ist da, und das ist gut für die Firma.",
    );
    for text in ["ist das da für die", "prüfe und fülle die Formulare der Firmen", "und"] {
        let catalog = discover_catalog(&scratch);
        for hit in SearchIndex::open(&catalog, is_findable, None).search(text, 10) {
            let words = ["ist", "das", "da", "für", "die", "und", "der"];
            assert!(hit.why.iter().all(|reason| !words.contains(&reason.term.as_str())), "{text}: {hit:?}");
        }
    }
    assert_eq!(search_names(&scratch, "briefen"), ["german"]);
}

#[test]
fn a_score_means_the_same_in_every_library() {
    let scratch = write_library();
    let score = |text: &str| {
        let catalog = discover_catalog(&scratch);
        let hit = SearchIndex::open(&catalog, is_findable, None).search(text, 1).remove(0);
        (catalog.entries[hit.entry].name.clone(), hit.score)
    };
    let texts = ["fill in the pdf forms", "roll out a service with kubectl", "wake somebody up"];
    let small = texts.map(score);
    for number in 0..200 {
        let body = format!("Write a form, a service or a table number{number} for somebody. Fill it.");
        write_skill(&scratch, &format!("other{number}"), &format!("Knows topic{number}."), &body);
    }
    for (text, (name, before)) in texts.into_iter().zip(small) {
        let (other, after) = score(text);
        assert!(other == name && (before - after).abs() < 1e-6, "{text}: {name} {before}, {other} {after}");
    }
}

#[test]
fn a_request_that_no_skill_fits_is_answered_with_nothing() {
    let scratch = write_library();
    let catalog = discover_catalog(&scratch);
    let index = SearchIndex::open(&catalog, is_findable, None);
    for text in [
        "what is the weather in Reykjavik tomorrow, and should I write a postcard?",
        "a recipe for chocolate cookies that fill a form",
        "translate this poem about a table into Latin verse",
    ] {
        assert!(!index.search(text, 10).is_empty(), "{text}: some words occur");
        assert_eq!(index.find_fitting(text, 10), [], "{text}");
    }
    for text in ["fill a pdf form", "pdftk", "deploy to kubernetes", "make a spreadsheet of these numbers"] {
        assert!(!index.find_fitting(text, 10).is_empty(), "{text}");
    }
}

#[test]
fn a_name_is_found_even_if_it_is_a_function_word() {
    let scratch = write_library();
    write_skill(&scratch, "yes", "Agrees.", "Agree.");
    for text in ["yes", "Yes", "/yes", "`yes`"] {
        let catalog = discover_catalog(&scratch);
        let hits = SearchIndex::open(&catalog, is_findable, None).find_fitting(text, 10);
        assert_eq!(list_hit_names(&catalog, &hits), ["yes"], "{text}");
        assert!((hits[0].score - 100.0).abs() < 1e-9 && hits[0].why[0].field == SearchField::Name, "{hits:?}");
    }
}

#[test]
fn the_parts_of_a_word_count_as_one_word() {
    let scratch = ScratchFolder::new();
    write_skill(&scratch, "dpu", "Sets up BlueField.", "Cards.");
    write_skill(&scratch, "sap", "Sets up Zorblax.", "Cards.");
    let catalog = discover_catalog(&scratch);
    let hits = SearchIndex::open(&catalog, is_findable, None).search("BlueField Zorblax", 10);
    assert!(hits.len() == 2 && hits[1].score > hits[0].score * 0.8, "{hits:?}");
}

#[test]
fn a_score_is_the_sum_of_its_reasons() {
    let scratch = write_library();
    let catalog = discover_catalog(&scratch);
    let hits = SearchIndex::open(&catalog, is_findable, None).search("fill in the pdf forms", 10);
    assert!(hits.len() > 1 && hits.is_sorted_by(|one, two| one.score >= two.score));
    for hit in &hits {
        let sum: f64 = hit.why.iter().map(|reason| reason.points).sum();
        assert!((sum - hit.score).abs() < 1e-6 * hit.score, "{hit:?}");
        assert!(hit.why.is_sorted_by(|one, two| one.points >= two.points), "{hit:?}");
    }
    assert!(
        hits[0].why.iter().any(|reason| reason.term == "pdf forms" && reason.field == SearchField::Name),
        "{hits:?}"
    );
}

#[test]
fn the_order_of_the_catalogue_does_not_matter() {
    let scratch = write_library();
    for twin in ["twin-b", "twin-a", "twin-c"] {
        write_skill(&scratch, twin, "The same words.", "Nothing else.");
    }
    let mut catalog = discover_catalog(&scratch);
    let first = SearchIndex::open(&catalog, is_findable, None).search("same words form", 10);
    let first: Vec<(String, f64)> =
        list_hit_names(&catalog, &first).into_iter().zip(first.iter().map(|hit| hit.score)).collect();
    let twins: Vec<&str> =
        first.iter().map(|(name, _)| name.as_str()).filter(|name| name.starts_with("twin")).collect();
    assert_eq!(twins, ["twin-a", "twin-b", "twin-c"]);
    let count = catalog.entries.len();
    for turn in 0..count {
        catalog.entries.rotate_left(1);
        if turn % 2 == 0 {
            catalog.entries.swap(0, count / 2);
        }
        let hits = SearchIndex::open(&catalog, is_findable, None).search("same words form", 10);
        let again: Vec<(String, f64)> =
            list_hit_names(&catalog, &hits).into_iter().zip(hits.iter().map(|hit| hit.score)).collect();
        assert_eq!(again, first, "turn {turn}");
    }
}

/// Opens the index until the files are old enough to be certain of, which takes one clock tick.
fn open_settled_index(scratch: &ScratchFolder, cache: &Path) -> SearchIndex {
    for _ in 0..10_000 {
        let index = SearchIndex::open(&discover_catalog(scratch), is_findable, Some(cache));
        assert_eq!(index.notes, Vec::<String>::new());
        if index.read == 0 {
            return index;
        }
    }
    panic!("the index never settles");
}

#[test]
fn only_what_changed_is_read_again() {
    let scratch = write_library();
    let cache = scratch.work_folder().join("cache");
    let kept = open_settled_index(&scratch, &cache);
    let fresh = SearchIndex::open(&discover_catalog(&scratch), is_findable, None);
    for text in ["fill a pdf form", "rollout", "table rows", "kuberntes"] {
        assert_eq!(kept.search(text, 10), fresh.search(text, 10), "{text}");
    }
    write_skill(&scratch, "deploy", "Deploys services to Nomad.", "# Rollout");
    let index = SearchIndex::open(&discover_catalog(&scratch), is_findable, Some(&cache));
    assert_eq!(index.read, 1);
    assert_eq!(index.search("nomad", 10).len(), 1);
    assert_eq!(index.search("kubectl", 10).len(), 0);
    std::fs::remove_dir_all(scratch.work_folder().join("skills/deploy")).unwrap();
    assert_eq!(open_settled_index(&scratch, &cache).search("nomad", 10).len(), 0);
}

#[test]
fn a_damaged_index_is_made_anew_and_told() {
    let scratch = write_library();
    let cache = scratch.work_folder().join("cache");
    open_settled_index(&scratch, &cache);
    let file = cache.join("search.idx");
    let whole = std::fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x10;
    let mut newer = whole.clone();
    newer[8] = 9;
    for damaged in [
        Vec::new(),
        b"not an index at all, but long enough".to_vec(),
        whole[..whole.len() / 2].to_vec(),
        flipped,
        newer,
    ] {
        std::fs::write(&file, damaged).unwrap();
        let index = SearchIndex::open(&discover_catalog(&scratch), is_findable, Some(&cache));
        assert!(index.notes.iter().any(|note| note.contains("rebuilding")), "{:?}", index.notes);
        assert_eq!(index.search("pdftk", 10).len(), 1);
        open_settled_index(&scratch, &cache);
    }
}

#[test]
fn a_cache_that_cannot_be_written_costs_a_note() {
    let scratch = write_library();
    let file = scratch.write_file("occupied", "");
    let index = SearchIndex::open(&discover_catalog(&scratch), is_findable, Some(&file));
    assert_eq!(index.notes.len(), 2, "{:?}", index.notes);
    assert_eq!(index.search("pdftk", 10).len(), 1);
}
