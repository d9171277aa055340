//! Search over small libraries on disk.

use rep_test_support::Scratch;

use super::*;
use crate::catalog::Options;

fn skill(scratch: &Scratch, name: &str, description: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: {description}\n---\n\n{body}\n");
    scratch.write(&format!("skills/{name}/SKILL.md"), text);
}

fn library() -> Scratch {
    let scratch = Scratch::new();
    skill(&scratch, "pdf-forms", "Fills in PDF forms.", "# Fill a form\n\nUse `pdftk` to write field values.");
    skill(
        &scratch,
        "deploy",
        "Deploys services to Kubernetes.",
        "# Rollout\n\nRun `kubectl apply`, then watch the rollout.",
    );
    skill(&scratch, "tables", "Makes spreadsheets.", "# Sheets\n\nWrite table rows. A form is not a table.");
    scratch.write(
        "skills/notify/SKILL.md",
        "---\nspec_version: \"2.1\"\nname: notify\ndescription: Tells people.\nwhen_to_use:\n  mentions: [pagerduty]\n  intents: [wake somebody up]\n---\n\nCall.\n",
    );
    scratch.write(
        "skills/stripe/stripe.uasp.yaml",
        "meta:\n  name: stripe\n  version: \"00000000\"\n  type: knowledge\n  description: Payments.\ntriggers:\n  keywords: [chargeback]\n  intents: []\n",
    );
    scratch
}

fn catalog(scratch: &Scratch) -> Catalog {
    Catalog::discover(&Options { paths: vec![scratch.work().join("skills")], ..Options::default() }).unwrap()
}

fn names(catalog: &Catalog, hits: &[Hit]) -> Vec<String> {
    hits.iter().map(|hit| catalog.entries[hit.entry].name.clone()).collect()
}

fn found(scratch: &Scratch, text: &str) -> Vec<String> {
    let catalog = catalog(scratch);
    let index = Index::open(&catalog, is_findable, None);
    names(&catalog, &index.search(text, 10))
}

#[test]
fn every_field_is_searched() {
    let scratch = library();
    for (text, first) in [
        ("pdf-forms", "pdf-forms"),
        ("spreadsheets", "tables"),
        ("pagerduty", "notify"),
        ("wake somebody", "notify"),
        ("chargeback", "stripe"),
        ("rollout", "deploy"),
        ("pdftk", "pdf-forms"),
    ] {
        assert_eq!(found(&scratch, text).first().map(String::as_str), Some(first), "{text}");
    }
    assert_eq!(found(&scratch, "zzyzx the of"), Vec::<String>::new());
}

#[test]
fn word_forms_and_typing_errors_are_seen_through() {
    let scratch = library();
    for (text, first) in [
        ("deployment of a service", "deploy"),
        ("filling forms", "pdf-forms"),
        ("kuberntes", "deploy"),
        ("spreadsheats", "tables"),
        ("KubeCtl", "deploy"),
    ] {
        assert_eq!(found(&scratch, text).first().map(String::as_str), Some(first), "{text}");
    }
}

#[test]
fn a_score_is_the_sum_of_its_reasons() {
    let scratch = library();
    let catalog = catalog(&scratch);
    let hits = Index::open(&catalog, is_findable, None).search("fill in the pdf forms", 10);
    assert!(hits.len() > 1 && hits.is_sorted_by(|one, two| one.score >= two.score));
    for hit in &hits {
        let sum: f64 = hit.why.iter().map(|reason| reason.points).sum();
        assert!((sum - hit.score).abs() < 1e-6 * hit.score, "{hit:?}");
        assert!(hit.why.is_sorted_by(|one, two| one.points >= two.points), "{hit:?}");
    }
    assert!(hits[0].why.iter().any(|reason| reason.term == "pdf forms" && reason.field == Field::Name), "{hits:?}");
}

#[test]
fn the_order_of_the_catalogue_does_not_matter() {
    let scratch = library();
    for twin in ["twin-b", "twin-a", "twin-c"] {
        skill(&scratch, twin, "The same words.", "Nothing else.");
    }
    let mut catalog = catalog(&scratch);
    let first = Index::open(&catalog, is_findable, None).search("same words form", 10);
    let first: Vec<(String, f64)> =
        names(&catalog, &first).into_iter().zip(first.iter().map(|hit| hit.score)).collect();
    let twins: Vec<&str> =
        first.iter().map(|(name, _)| name.as_str()).filter(|name| name.starts_with("twin")).collect();
    assert_eq!(twins, ["twin-a", "twin-b", "twin-c"]);
    let count = catalog.entries.len();
    for turn in 0..count {
        catalog.entries.rotate_left(1);
        if turn % 2 == 0 {
            catalog.entries.swap(0, count / 2);
        }
        let hits = Index::open(&catalog, is_findable, None).search("same words form", 10);
        let again: Vec<(String, f64)> =
            names(&catalog, &hits).into_iter().zip(hits.iter().map(|hit| hit.score)).collect();
        assert_eq!(again, first, "turn {turn}");
    }
}

/// Opens until the files are old enough to be sure of, which takes a tick of the clock.
fn settled(scratch: &Scratch, cache: &Path) -> Index {
    for _ in 0..10_000 {
        let index = Index::open(&catalog(scratch), is_findable, Some(cache));
        assert_eq!(index.notes, Vec::<String>::new());
        if index.read == 0 {
            return index;
        }
    }
    panic!("the index never settles");
}

#[test]
fn only_what_changed_is_read_again() {
    let scratch = library();
    let cache = scratch.work().join("cache");
    let kept = settled(&scratch, &cache);
    let fresh = Index::open(&catalog(&scratch), is_findable, None);
    for text in ["fill a pdf form", "rollout", "table rows", "kuberntes"] {
        assert_eq!(kept.search(text, 10), fresh.search(text, 10), "{text}");
    }
    skill(&scratch, "deploy", "Deploys services to Nomad.", "# Rollout");
    let index = Index::open(&catalog(&scratch), is_findable, Some(&cache));
    assert_eq!(index.read, 1);
    assert_eq!(index.search("nomad", 10).len(), 1);
    assert_eq!(index.search("kubectl", 10).len(), 0);
    std::fs::remove_dir_all(scratch.work().join("skills/deploy")).unwrap();
    assert_eq!(settled(&scratch, &cache).search("nomad", 10).len(), 0);
}

#[test]
fn a_damaged_index_is_made_anew_and_told() {
    let scratch = library();
    let cache = scratch.work().join("cache");
    settled(&scratch, &cache);
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
        let index = Index::open(&catalog(&scratch), is_findable, Some(&cache));
        assert!(index.notes.iter().any(|note| note.contains("made anew")), "{:?}", index.notes);
        assert_eq!(index.search("pdftk", 10).len(), 1);
        settled(&scratch, &cache);
    }
}

#[test]
fn a_cache_that_cannot_be_written_costs_a_note() {
    let scratch = library();
    let file = scratch.write("occupied", "");
    let index = Index::open(&catalog(&scratch), is_findable, Some(&file));
    assert_eq!(index.notes.len(), 2, "{:?}", index.notes);
    assert_eq!(index.search("pdftk", 10).len(), 1);
}
