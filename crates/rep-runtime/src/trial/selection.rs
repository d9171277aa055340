//! Which skills and which of their tests a call is about.
//!
//! A word that could be a skill's name or a path is a name first. Of several skills, one that cannot be loaded does not
//! keep the others from being tested.

use std::path::{Path, PathBuf};

use rep_library::{Catalog, CatalogEntry, LibraryError, LookupError, Options};

use super::Attempt;
use super::run::TestSubject;
use crate::error::{CallError, ErrorCode};

/// The most cases that an error names.
const CASES_SHOWN_MAX: usize = 12;

/// The skills somebody wants to test.
#[derive(Clone, Copy, Debug, Default)]
pub struct TestTarget<'a> {
    /// A skill's name, or a path to skills; without one, the paths of the options, else what lies below the working
    /// directory.
    pub target: Option<&'a str>,
    /// Only the skills of this name, of those at the path.
    pub skill: Option<&'a str>,
}

/// The skills a call is about.
#[derive(Default)]
pub struct FoundSubjects {
    /// Those that can be tested.
    pub subjects: Vec<TestSubject>,
    /// Those that cannot, by name, with the reason.
    pub left_out: Vec<(String, CallError)>,
    /// Those that nobody wants tested, in words.
    pub notes: Vec<String>,
}

/// Why there is nothing to test.
#[derive(Debug, thiserror::Error)]
pub enum SelectionError {
    /// There is no skill where one was looked for.
    #[error("there is no skill in {0}")]
    NoSkill(String),
    /// No skill has the name, or several have.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// No test has the name.
    #[error("there is no case `{name}`")]
    NoCase {
        /// The name.
        name: String,
        /// The name that is most like it.
        nearest: Option<String>,
        /// The first of the cases there are.
        known: Vec<String>,
    },
    /// Several tests have the name.
    #[error("`{name}` could be {}", candidates.join(" or "))]
    AmbiguousCase {
        /// The name.
        name: String,
        /// The first of those that have it.
        candidates: Vec<String>,
    },
    /// The skills could not be discovered.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The only skill cannot be loaded.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// Discovers a catalog. Whoever hands it in says what was left out.
pub type Discover<'a> = dyn FnMut(&Options) -> Result<Catalog, LibraryError> + 'a;

/// Finds the skills a call is about and loads each, with its copies below `copies`.
pub fn find_subjects(
    options: &Options,
    wanted: TestTarget<'_>,
    copies: &Path,
    discover: &mut Discover<'_>,
) -> Result<FoundSubjects, SelectionError> {
    let chosen = match (wanted.target, wanted.skill) {
        (Some(target), None) => named(options, target, discover)?,
        (Some(target), Some(name)) => only(below(options, target, discover)?, name)?,
        (None, Some(name)) => only(all(options, discover)?, name)?,
        (None, None) => all(options, discover)?,
    };
    let is_alone = chosen.indexes.len() == 1;
    let mut found = FoundSubjects::default();
    for index in &chosen.indexes {
        let entry = &chosen.catalog.entries[*index];
        match TestSubject::load(entry, &chosen.options, copies, !chosen.is_here) {
            Ok(subject) => found.subjects.push(subject),
            Err(error) if is_alone => return Err(error.into()),
            // Whoever switched it off does not want it tested with the others either.
            Err(error) if error.code == ErrorCode::Disabled => found.notes.push(error.message),
            Err(error) => found.left_out.push((entry.qualified_name.clone(), error)),
        }
    }
    Ok(found)
}

/// What is tested, and how it was named.
struct Chosen {
    options: Options,
    catalog: Catalog,
    /// Its places in the catalog.
    indexes: Vec<usize>,
    /// Whether nothing was named, so that it is what lies below the working directory.
    is_here: bool,
}

/// The skills of the paths the options name, or those below the working directory.
fn all(options: &Options, discover: &mut Discover<'_>) -> Result<Chosen, SelectionError> {
    if !options.paths.is_empty() {
        return discovered(options.clone(), "the paths", discover);
    }
    Ok(Chosen { is_here: true, ..below(options, ".", discover)? })
}

/// The skills below a path.
fn below(options: &Options, path: &str, discover: &mut Discover<'_>) -> Result<Chosen, SelectionError> {
    let options = Options { paths: vec![PathBuf::from(path)], ..options.clone() };
    discovered(options, &format!("`{path}`"), discover)
}

fn discovered(options: Options, shown: &str, discover: &mut Discover<'_>) -> Result<Chosen, SelectionError> {
    let catalog = discover(&options)?;
    let indexes = testable(&catalog);
    if indexes.is_empty() {
        return Err(SelectionError::NoSkill(shown.to_owned()));
    }
    Ok(Chosen { options, catalog, indexes, is_here: false })
}

/// Every skill with a directory of its own. Of two in one directory, the one with a SKILL.md; a single file has a
/// directory of its own only if the directory is called like it.
fn testable(catalog: &Catalog) -> Vec<usize> {
    let is_manifest = |entry: &CatalogEntry| !entry.skill.tree.is_lone_file;
    let has_manifest = |folder: &Path| catalog.entries.iter().any(|entry| is_manifest(entry) && entry.folder == folder);
    let is_own = |entry: &CatalogEntry| {
        is_manifest(entry) || entry.folder.ends_with(&entry.name) && !has_manifest(&entry.folder)
    };
    (0..catalog.entries.len()).filter(|index| is_own(&catalog.entries[*index])).collect()
}

/// One skill by its name, or the skills below a path. What could be either is a name first.
fn named(options: &Options, word: &str, discover: &mut Discover<'_>) -> Result<Chosen, SelectionError> {
    let has_paths = !options.paths.is_empty();
    if !has_paths && (word.contains('/') || word == "." || word == "..") {
        return below(options, word, discover);
    }
    let catalog = discover(options)?;
    let index = match catalog.get(word).map(|entry| &entry.location) {
        Some(location) => catalog.entries.iter().position(|entry| entry.location == *location),
        None => catalog.entries.iter().position(|entry| is_called(entry, word)),
    };
    if let Some(index) = index {
        return Ok(Chosen { options: options.clone(), catalog, indexes: vec![index], is_here: false });
    }
    if !has_paths && Path::new(word).exists() {
        return below(options, word, discover);
    }
    if !has_paths && let Ok(chosen) = below(options, ".", discover).and_then(|chosen| only(chosen, word)) {
        // A package's skill, which no host looks for where it lies.
        return Ok(Chosen { is_here: true, ..chosen });
    }
    Err(catalog.lookup_error(word).into())
}

/// Of the skills that were found, those of a name.
fn only(mut chosen: Chosen, name: &str) -> Result<Chosen, SelectionError> {
    let entries = &chosen.catalog.entries;
    chosen.indexes.retain(|index| is_called(&entries[*index], name));
    if chosen.indexes.is_empty() { Err(chosen.catalog.lookup_error(name).into()) } else { Ok(chosen) }
}

fn is_called(entry: &CatalogEntry, name: &str) -> bool {
    entry.name == name || entry.qualified_name == name
}

impl TestSubject {
    /// The numbers of the tests that are due, for [`crate::Runtime::run_test`]; first of all, without a number, what
    /// keeps the cases from being run.
    pub fn due(&self) -> Vec<Option<usize>> {
        let is_broken = !self.trials.broken.is_empty();
        let is_case = |index: &usize| matches!(self.trials.trials[*index].work, Ok(Attempt::Case(_)));
        let numbers = self.wanted.clone().unwrap_or_else(|| (0..self.trials.trials.len()).collect());
        let is_asked = self.wanted.is_none() || !numbers.is_empty();
        let rest = numbers.into_iter().filter(|index| !is_broken || !is_case(index)).map(Some);
        (is_broken && is_asked).then_some(None).into_iter().chain(rest).collect()
    }
}

/// Keeps the one test of a name. Stems come before names, and a name that fits twice fits not at all.
pub fn narrow(subjects: &mut [TestSubject], name: &str) -> Result<(), SelectionError> {
    let each = |fits: &dyn Fn(&str, &str) -> bool| -> Vec<(usize, usize)> {
        let all = subjects.iter().enumerate().flat_map(|(number, subject)| {
            subject.trials.trials.iter().enumerate().map(move |(index, trial)| (number, index, trial))
        });
        all.filter(|(_, _, trial)| fits(&trial.case, &trial.name)).map(|(number, index, _)| (number, index)).collect()
    };
    let mut found = each(&|case, _| case == name);
    if found.is_empty() {
        found = each(&|_, own| own == name);
    }
    match found.as_slice() {
        [] => return Err(no_case(subjects, name)),
        [_] => {}
        several => {
            let shown = |(number, index): &(usize, usize)| {
                let subject = &subjects[*number];
                format!("`{}` of `{}`", subject.trials.trials[*index].case, subject.name)
            };
            let candidates = several.iter().take(CASES_SHOWN_MAX).map(shown).collect();
            return Err(SelectionError::AmbiguousCase { name: name.to_owned(), candidates });
        }
    }
    for (number, subject) in subjects.iter_mut().enumerate() {
        subject.wanted = Some(found.iter().filter(|one| one.0 == number).map(|one| one.1).collect());
    }
    Ok(())
}

fn no_case(subjects: &[TestSubject], name: &str) -> SelectionError {
    let trials = || subjects.iter().flat_map(|subject| &subject.trials.trials);
    let names = trials().flat_map(|trial| [trial.case.as_str(), trial.name.as_str()]);
    SelectionError::NoCase {
        name: name.to_owned(),
        nearest: rep_model::suggestion::nearest_name(name, names).map(str::to_owned),
        known: trials().take(CASES_SHOWN_MAX).map(|trial| trial.case.clone()).collect(),
    }
}

/// Where copies of tested skills are made: beside `cache`, the directory of rep for what can be computed again, which
/// no tool sees. Not in `/tmp` if that can be helped, which a case then has to itself. `temporary` is the directory
/// that the user names for temporary files.
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
    // A directory for copies alone, and this user's.
    folder.join(format!("rep-trials-{}", rustix::process::geteuid().as_raw()))
}

/// Whether something can be made in a directory.
fn is_writable(folder: &Path) -> bool {
    tempfile::Builder::new().prefix("rep-").tempdir_in(folder).is_ok()
}
