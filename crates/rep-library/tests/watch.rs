//! A library that stays open, on a real file system.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]
#![expect(clippy::disallowed_methods, reason = "tests change files to see what happens")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};

use rep_library::decisions::UserDecisions;
use rep_library::{Catalog, LibraryError, LibraryOptions, SkillLibrary, SkillStatus, WatchHandle};
use rep_test_support::{DEADLINE, ScratchFolder};

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}. Use it for {name}.\n---\n# {name}\n")
}

fn write(folder: &Path, name: &str) {
    fs::create_dir_all(folder.join(name)).unwrap();
    fs::write(folder.join(name).join("SKILL.md"), skill(name)).unwrap();
}

type News = Receiver<Result<Arc<Catalog>, LibraryError>>;

fn watched(options: LibraryOptions) -> (Arc<SkillLibrary>, WatchHandle, News) {
    let library = Arc::new(SkillLibrary::open(options).unwrap());
    let (sender, receiver) = channel();
    let watching = SkillLibrary::watch(&library, move |result| sender.send(result).unwrap()).unwrap();
    (library, watching, receiver)
}

/// Receives catalogues until one is as wanted.
fn until(news: &News, wanted: impl Fn(&Catalog) -> bool) -> Arc<Catalog> {
    loop {
        let catalog = news.recv_timeout(DEADLINE).unwrap().unwrap();
        if wanted(&catalog) {
            return catalog;
        }
    }
}

fn has(catalog: &Catalog, name: &str) -> bool {
    catalog.get(name).is_some()
}

#[test]
fn a_change_gives_a_new_snapshot_and_leaves_the_old_one_alone() {
    let scratch = ScratchFolder::new();
    let folder = scratch.work_folder().join("skills");
    write(&folder, "one");
    let (library, _watching, news) =
        watched(LibraryOptions { paths: vec![folder.clone()], ..LibraryOptions::default() });
    let old = library.catalog();
    write(&folder, "two");
    until(&news, |catalog| has(catalog, "two"));
    assert!(has(&library.catalog(), "two"));
    assert!(!has(&old, "two"), "a snapshot that is held does not change");
    fs::remove_dir_all(folder.join("one")).unwrap();
    until(&news, |catalog| !has(catalog, "one"));
    assert_eq!(old.search("one", 5).len(), 1, "what was found stays answerable, even where its file is gone");
}

#[test]
fn a_burst_of_changes_is_one_rebuild() {
    let scratch = ScratchFolder::new();
    let folder = scratch.work_folder().join("skills");
    write(&folder, "first");
    let rebuilds = Arc::new(AtomicUsize::new(0));
    let library = Arc::new(
        SkillLibrary::open(LibraryOptions { paths: vec![folder.clone()], ..LibraryOptions::default() }).unwrap(),
    );
    let (sender, news) = channel();
    let counted = Arc::clone(&rebuilds);
    let _watching = SkillLibrary::watch(&library, move |result| {
        counted.fetch_add(1, Ordering::SeqCst);
        sender.send(result).unwrap();
    })
    .unwrap();
    for number in 0..500 {
        write(&folder, &format!("skill-{number}"));
    }
    until(&news, |catalog| catalog.entries.len() == 501);
    // On a slow machine the writing itself may pause; a rebuild for each of the 1,000 events would show all the same.
    let count = rebuilds.load(Ordering::SeqCst);
    assert!(count <= 25, "{count} rebuilds for one burst");
}

#[test]
fn a_folder_that_comes_later_is_seen() {
    let scratch = ScratchFolder::new();
    let project = scratch.work_folder().join("project");
    fs::create_dir_all(&project).unwrap();
    let options = LibraryOptions { project: Some(project.clone()), ..LibraryOptions::default() };
    let (_library, _watching, news) = watched(options);
    write(&project.join(".claude/skills"), "late");
    let catalog = until(&news, |catalog| !catalog.entries.is_empty());
    assert_eq!(catalog.entries[0].status, SkillStatus::Untrusted);
    fs::remove_dir_all(project.join(".claude")).unwrap();
    until(&news, |catalog| catalog.entries.is_empty());
    write(&project.join(".claude/skills"), "again");
    until(&news, |catalog| catalog.entries.iter().any(|entry| entry.name == "again"));
}

#[test]
fn a_skill_that_is_linked_into_a_root_is_watched_where_it_lies() {
    let scratch = ScratchFolder::new();
    let (skills, elsewhere) = (scratch.work_folder().join("skills"), scratch.work_folder().join("elsewhere"));
    write(&elsewhere, "linked");
    fs::create_dir_all(&skills).unwrap();
    symlink(elsewhere.join("linked"), skills.join("linked")).unwrap();
    let (_library, _watching, news) = watched(LibraryOptions { paths: vec![skills], ..LibraryOptions::default() });
    fs::write(elsewhere.join("linked/SKILL.md"), "---\nname: linked\ndescription: Changed.\n---\n").unwrap();
    until(&news, |catalog| catalog.get("linked").is_some_and(|entry| entry.description == "Changed."));
}

#[test]
fn a_decision_is_a_change() {
    let scratch = ScratchFolder::new();
    let (project, decisions) =
        (scratch.work_folder().join("project"), scratch.work_folder().join("config/decisions.json"));
    write(&project.join("skills"), "one");
    let options = LibraryOptions {
        project: Some(project.clone()),
        decisions: Some(decisions.clone()),
        ..LibraryOptions::default()
    };
    let (library, _watching, news) = watched(options);
    assert_eq!(library.catalog().entries[0].status, SkillStatus::Untrusted);
    let mut held = UserDecisions::default();
    let folder = project.join("skills/one");
    held.trust_folder(
        &project,
        [(
            rep_library::decisions::relative_skill_path(&project, &folder),
            rep_library::decisions::digest_folder(&folder),
        )]
        .into(),
    );
    held.write(&decisions).unwrap();
    until(&news, |catalog| catalog.entries[0].status == SkillStatus::Active);
}
