//! Selects the skills and tests of a call.
//!
//! A word that could be the name of a skill or a path is treated as a name first. If several skills are
//! selected, one that cannot be loaded does not prevent testing the others.

use std::path::{Path, PathBuf};

use rep_library::{Catalog, CatalogEntry, LibraryError, LibraryOptions, LookupError};

use super::TestAction;
use super::run::TestSubject;
use crate::error::{CallError, ErrorCode};

/// The maximum number of cases listed in an error.
const CASES_SHOWN_MAX: usize = 12;

/// The skills to test.
#[derive(Clone, Copy, Debug, Default)]
pub struct TestTarget<'a> {
    /// The name of a skill, or a path to skills; by default the paths of the options, otherwise the skills
    /// below the working directory.
    pub target: Option<&'a str>,
    /// Selects only the skills with this name at the path.
    pub skill: Option<&'a str>,
}

/// The selected skills.
#[derive(Default)]
pub struct TestSubjects {
    /// The skills that can be tested.
    pub subjects: Vec<TestSubject>,
    /// The skills that cannot be tested, by name, with the reason.
    pub failures: Vec<(String, CallError)>,
    /// Notes about skipped skills.
    pub notes: Vec<String>,
}

/// The reason why there is nothing to test.
#[derive(Debug, thiserror::Error)]
pub enum SelectionError {
    /// No skill was found at the given place.
    #[error("no skill found in {0}")]
    NoSkill(String),
    /// No skill has the name, or several have it.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// No test has the name.
    #[error("case `{name}` does not exist")]
    NoCase {
        /// The name.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
        /// The first of the existing cases.
        known: Vec<String>,
    },
    /// Several tests have the name.
    #[error("`{name}` is ambiguous: {}", candidates.join(" or "))]
    AmbiguousCase {
        /// The name.
        name: String,
        /// The first of the matching tests.
        candidates: Vec<String>,
    },
    /// The skills could not be discovered.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The only selected skill cannot be loaded.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// Discovers a catalog. The caller that provides it reports what was skipped.
pub type CatalogDiscovery<'a> = dyn FnMut(&LibraryOptions) -> Result<Catalog, LibraryError> + 'a;

/// Finds and loads the selected skills, with their copies below `copies`.
pub fn find_subjects(
    options: &LibraryOptions,
    wanted: TestTarget<'_>,
    copies: &Path,
    discover: &mut CatalogDiscovery<'_>,
) -> Result<TestSubjects, SelectionError> {
    let chosen = match (wanted.target, wanted.skill) {
        (Some(target), None) => select_by_name(options, target, discover)?,
        (Some(target), Some(name)) => retain_named(select_below(options, target, discover)?, name)?,
        (None, Some(name)) => retain_named(select_default(options, discover)?, name)?,
        (None, None) => select_default(options, discover)?,
    };
    let is_alone = chosen.indexes.len() == 1;
    let mut found = TestSubjects::default();
    for index in &chosen.indexes {
        let entry = &chosen.catalog.entries[*index];
        match TestSubject::load(entry, &chosen.options, copies, !chosen.is_default) {
            Ok(subject) => found.subjects.push(subject),
            Err(error) if is_alone => return Err(error.into()),
            // A disabled skill is not tested together with others.
            Err(error) if error.code == ErrorCode::Disabled => found.notes.push(error.message),
            Err(error) => found.failures.push((entry.qualified_name.clone(), error)),
        }
    }
    Ok(found)
}

/// The selected skills, and how they were selected.
struct SubjectSelection {
    options: LibraryOptions,
    catalog: Catalog,
    /// Their indexes in the catalog.
    indexes: Vec<usize>,
    /// Whether nothing was named, so that the skills below the working directory are selected.
    is_default: bool,
}

/// Selects the skills at the paths of the options, or those below the working directory.
fn select_default(
    options: &LibraryOptions,
    discover: &mut CatalogDiscovery<'_>,
) -> Result<SubjectSelection, SelectionError> {
    if !options.paths.is_empty() {
        return discover_selection(options.clone(), "the paths", discover);
    }
    Ok(SubjectSelection { is_default: true, ..select_below(options, ".", discover)? })
}

/// Selects the skills below a path.
fn select_below(
    options: &LibraryOptions,
    path: &str,
    discover: &mut CatalogDiscovery<'_>,
) -> Result<SubjectSelection, SelectionError> {
    let options = LibraryOptions { paths: vec![PathBuf::from(path)], ..options.clone() };
    discover_selection(options, &format!("`{path}`"), discover)
}

fn discover_selection(
    options: LibraryOptions,
    shown: &str,
    discover: &mut CatalogDiscovery<'_>,
) -> Result<SubjectSelection, SelectionError> {
    let catalog = discover(&options)?;
    let indexes = find_testable(&catalog);
    if indexes.is_empty() {
        return Err(SelectionError::NoSkill(shown.to_owned()));
    }
    Ok(SubjectSelection { options, catalog, indexes, is_default: false })
}

/// Finds every skill that has a directory. If two share one, the one with a SKILL.md is used; a single file
/// has a directory only if the directory has the same name.
fn find_testable(catalog: &Catalog) -> Vec<usize> {
    let is_manifest = |entry: &CatalogEntry| !entry.skill.tree.is_lone_file;
    let has_manifest = |folder: &Path| catalog.entries.iter().any(|entry| is_manifest(entry) && entry.folder == folder);
    let is_own = |entry: &CatalogEntry| {
        is_manifest(entry) || entry.folder.ends_with(&entry.name) && !has_manifest(&entry.folder)
    };
    (0..catalog.entries.len()).filter(|index| is_own(&catalog.entries[*index])).collect()
}

/// Selects one skill by its name, or the skills below a path. A name takes precedence.
fn select_by_name(
    options: &LibraryOptions,
    word: &str,
    discover: &mut CatalogDiscovery<'_>,
) -> Result<SubjectSelection, SelectionError> {
    let has_paths = !options.paths.is_empty();
    if !has_paths && (word.contains('/') || word == "." || word == "..") {
        return select_below(options, word, discover);
    }
    let catalog = discover(options)?;
    let index = match catalog.get(word).map(|entry| &entry.location) {
        Some(location) => catalog.entries.iter().position(|entry| entry.location == *location),
        None => catalog.entries.iter().position(|entry| is_named(entry, word)),
    };
    if let Some(index) = index {
        return Ok(SubjectSelection { options: options.clone(), catalog, indexes: vec![index], is_default: false });
    }
    if !has_paths && Path::new(word).exists() {
        return select_below(options, word, discover);
    }
    if !has_paths && let Ok(chosen) = select_below(options, ".", discover).and_then(|chosen| retain_named(chosen, word))
    {
        // A skill of a package, which no host searches at its location.
        return Ok(SubjectSelection { is_default: true, ..chosen });
    }
    Err(catalog.lookup_error(word).into())
}

/// Keeps only the found skills with a name.
fn retain_named(mut chosen: SubjectSelection, name: &str) -> Result<SubjectSelection, SelectionError> {
    let entries = &chosen.catalog.entries;
    chosen.indexes.retain(|index| is_named(&entries[*index], name));
    if chosen.indexes.is_empty() { Err(chosen.catalog.lookup_error(name).into()) } else { Ok(chosen) }
}

fn is_named(entry: &CatalogEntry, name: &str) -> bool {
    entry.name == name || entry.qualified_name == name
}

impl TestSubject {
    /// Returns the indexes of the selected tests, for [`crate::Runtime::run_test`]. An initial `None` reports
    /// why the cases cannot run.
    pub fn due_tests(&self) -> Vec<Option<usize>> {
        let is_broken = !self.tests.config_errors.is_empty();
        let is_case = |index: &usize| matches!(self.tests.tests[*index].action, Ok(TestAction::Case(_)));
        let numbers = self.selected.clone().unwrap_or_else(|| (0..self.tests.tests.len()).collect());
        let is_asked = self.selected.is_none() || !numbers.is_empty();
        let rest = numbers.into_iter().filter(|index| !is_broken || !is_case(index)).map(Some);
        (is_broken && is_asked).then_some(None).into_iter().chain(rest).collect()
    }
}

/// Narrows the selection to the one test with a name. File stems take precedence over names, and an ambiguous
/// name is an error.
pub fn narrow_to_test(subjects: &mut [TestSubject], name: &str) -> Result<(), SelectionError> {
    let each = |fits: &dyn Fn(&str, &str) -> bool| -> Vec<(usize, usize)> {
        let all = subjects.iter().enumerate().flat_map(|(number, subject)| {
            subject.tests.tests.iter().enumerate().map(move |(index, trial)| (number, index, trial))
        });
        all.filter(|(_, _, trial)| fits(&trial.case, &trial.name)).map(|(number, index, _)| (number, index)).collect()
    };
    let mut found = each(&|case, _| case == name);
    if found.is_empty() {
        found = each(&|_, own| own == name);
    }
    match found.as_slice() {
        [] => return Err(no_case_error(subjects, name)),
        [_] => {}
        several => {
            let shown = |(number, index): &(usize, usize)| {
                let subject = &subjects[*number];
                format!("`{}` of `{}`", subject.tests.tests[*index].case, subject.name)
            };
            let candidates = several.iter().take(CASES_SHOWN_MAX).map(shown).collect();
            return Err(SelectionError::AmbiguousCase { name: name.to_owned(), candidates });
        }
    }
    for (number, subject) in subjects.iter_mut().enumerate() {
        subject.selected = Some(found.iter().filter(|one| one.0 == number).map(|one| one.1).collect());
    }
    Ok(())
}

fn no_case_error(subjects: &[TestSubject], name: &str) -> SelectionError {
    let trials = || subjects.iter().flat_map(|subject| &subject.tests.tests);
    let names = trials().flat_map(|trial| [trial.case.as_str(), trial.name.as_str()]);
    SelectionError::NoCase {
        name: name.to_owned(),
        nearest: rep_model::suggestion::nearest_name(name, names).map(str::to_owned),
        known: trials().take(CASES_SHOWN_MAX).map(|trial| trial.case.clone()).collect(),
    }
}

/// Returns the directory for copies of tested skills: next to `cache`, rep's directory for recomputable
/// files, which no tool can see. It avoids `/tmp` if possible, because each case gets a private `/tmp`.
/// `temporary` is the user's directory for temporary files.
pub fn copies_folder(cache: Option<&Path>, temporary: Option<&Path>) -> PathBuf {
    let own = cache.map(|folder| folder.with_file_name("repertoire-trials"));
    let is_usable = |folder: &PathBuf| {
        let known = folder.ancestors().skip(1).find(|known| known.is_dir());
        !folder.starts_with("/tmp") && known.is_some_and(is_writable)
    };
    if let Some(own) = own.filter(is_usable) {
        return own;
    }
    let roomy = Path::new("/var/tmp");
    let folder = temporary.unwrap_or_else(|| if is_writable(roomy) { roomy } else { Path::new("/tmp") });
    // A directory only for copies of this user.
    folder.join(format!("rep-trials-{}", rep_storage::platform::user_id()))
}

/// Returns whether files can be created in a directory.
fn is_writable(folder: &Path) -> bool {
    tempfile::Builder::new().prefix("rep-").tempdir_in(folder).is_ok()
}
