//! The skills that are tested: found, held as a copy made now, and read from that copy.

use std::path::{Path, PathBuf};

use rep_library::{Catalog, CatalogEntry, Options};
use rep_runtime::trial::Attempt;
use rep_runtime::trial::run::TestSubject;

use super::Args;
use crate::exit::Failure;
use crate::library::{LibraryArgs, cache_folder, missing};
use crate::output::Output;

/// The most cases that are named to who asked for another one.
const CASES_SHOWN_MAX: usize = 12;

/// A skill that is tested, and which of its tests.
pub(super) struct Subject {
    pub(super) test: TestSubject,
    /// The tests that were asked for; all if none was named.
    wanted: Option<Vec<usize>>,
}

/// What is tested, and how it was named.
struct Chosen {
    options: Options,
    catalog: Catalog,
    /// Its places in the catalogue.
    indexes: Vec<usize>,
    /// Whether nothing was named, so that it is what lies below the working folder.
    is_here: bool,
}

/// The skills a call is about.
pub(super) struct Found {
    /// Those that can be tested.
    pub(super) subjects: Vec<Subject>,
    /// Those that cannot, by name, with the reason.
    pub(super) left_out: Vec<(String, Failure)>,
}

/// Finds the skills a call is about, and takes each in. Of several, one that cannot be does not keep the others from being
/// tested.
pub(super) fn find(args: &Args, output: &mut Output) -> Result<Found, Failure> {
    let chosen = match (&args.target, &args.skill) {
        (Some(target), None) => named(&args.library, target, output)?,
        (Some(target), Some(name)) => only(below(&args.library, target, output)?, name)?,
        (None, Some(name)) => only(all(&args.library, output)?, name)?,
        (None, None) => all(&args.library, output)?,
    };
    let is_alone = chosen.indexes.len() == 1;
    let mut found = Found { subjects: Vec::new(), left_out: Vec::new() };
    for index in &chosen.indexes {
        let entry = &chosen.catalog.entries[*index];
        match Subject::load(entry, &chosen) {
            Ok(subject) => found.subjects.push(subject),
            Err(failure) if is_alone => return Err(failure),
            // Whoever switched it off does not want it tested with the others either.
            Err(failure) if failure.code == "DISABLED" => output.warn(&failure.message),
            Err(failure) => found.left_out.push((entry.qualified_name.clone(), failure)),
        }
    }
    Ok(found)
}

/// The skills of the library the options name, or those below the working folder.
fn all(library: &LibraryArgs, output: &mut Output) -> Result<Chosen, Failure> {
    if !library.places.paths.is_empty() {
        return taken(library, "the paths", output);
    }
    Ok(Chosen { is_here: true, ..below(library, ".", output)? })
}

/// The skills below a path.
fn below(library: &LibraryArgs, path: &str, output: &mut Output) -> Result<Chosen, Failure> {
    let mut library = library.clone();
    library.places.paths = vec![PathBuf::from(path)];
    taken(&library, &format!("`{path}`"), output)
}

fn taken(library: &LibraryArgs, shown: &str, output: &mut Output) -> Result<Chosen, Failure> {
    let catalog = library.discover(output)?;
    let indexes = testable(&catalog);
    if indexes.is_empty() {
        let failure = Failure::unable("NOT_A_SKILL", format!("there is no skill in {shown}"));
        return Err(failure.hint("name a skill's folder, or a folder above skills"));
    }
    Ok(Chosen { options: library.options()?, catalog, indexes, is_here: false })
}

/// Every skill with a folder of its own. Of two in one folder, the one with a SKILL.md; a lone file is a skill's folder's
/// only if the folder is called like it.
fn testable(catalog: &Catalog) -> Vec<usize> {
    let is_manifest = |entry: &CatalogEntry| !entry.skill.tree.is_lone_file;
    let has_manifest = |folder: &Path| catalog.entries.iter().any(|entry| is_manifest(entry) && entry.folder == folder);
    let is_own = |entry: &CatalogEntry| {
        is_manifest(entry) || entry.folder.ends_with(&entry.name) && !has_manifest(&entry.folder)
    };
    (0..catalog.entries.len()).filter(|index| is_own(&catalog.entries[*index])).collect()
}

/// One skill by its name, or the skills below a path. What could be either is a name first.
fn named(library: &LibraryArgs, word: &str, output: &mut Output) -> Result<Chosen, Failure> {
    if library.places.paths.is_empty() && (word.contains('/') || word == "." || word == "..") {
        return below(library, word, output);
    }
    let catalog = library.discover(output)?;
    let by_name = |entry: &CatalogEntry| entry.qualified_name == word || entry.name == word;
    let winner = catalog.get(word).map(|entry| &entry.location);
    let index = match winner {
        Some(location) => catalog.entries.iter().position(|entry| entry.location == *location),
        None => catalog.entries.iter().position(by_name),
    };
    if let Some(index) = index {
        return Ok(Chosen { options: library.options()?, catalog, indexes: vec![index], is_here: false });
    }
    if !library.places.paths.is_empty() {
        return Err(missing(&catalog, word));
    }
    if Path::new(word).exists() {
        return below(library, word, output);
    }
    // A package's skill, which no host looks for where it lies.
    match below(library, ".", output).and_then(|chosen| only(chosen, word)) {
        Ok(chosen) => Ok(Chosen { is_here: true, ..chosen }),
        Err(_) => Err(missing(&catalog, word)),
    }
}

/// Of the skills that were found, those of a name.
fn only(mut chosen: Chosen, name: &str) -> Result<Chosen, Failure> {
    let entries = &chosen.catalog.entries;
    chosen.indexes.retain(|index| entries[*index].name == name || entries[*index].qualified_name == name);
    if chosen.indexes.is_empty() { Err(missing(&chosen.catalog, name)) } else { Ok(chosen) }
}

impl Subject {
    fn load(entry: &CatalogEntry, chosen: &Chosen) -> Result<Self, Failure> {
        let test = TestSubject::load(entry, &chosen.options, &place(), !chosen.is_here)?;
        Ok(Self { test, wanted: None })
    }

    /// The trials that are due, by number; first of all, without one, what keeps the cases from being run.
    pub(super) fn due(&self) -> Vec<Option<usize>> {
        let is_broken = !self.test.trials.broken.is_empty();
        let is_case = |index: &usize| matches!(self.test.trials.trials[*index].work, Ok(Attempt::Case(_)));
        let numbers = self.wanted.clone().unwrap_or_else(|| (0..self.test.trials.trials.len()).collect());
        let is_asked = self.wanted.is_none() || !numbers.is_empty();
        let rest = numbers.into_iter().filter(|index| !is_broken || !is_case(index)).map(Some);
        (is_broken && is_asked).then_some(None).into_iter().chain(rest).collect()
    }

    /// What is worth a word about its tests.
    pub(super) fn notes(&self) -> &[String] {
        &self.test.trials.notes
    }
}

/// Keeps one case. Stems come before names, and what fits twice fits not at all.
pub(super) fn narrow(subjects: &mut [Subject], word: &str) -> Result<(), Failure> {
    let each = |subjects: &[Subject], fits: &dyn Fn(&str, &str) -> bool| -> Vec<(usize, usize)> {
        let trials = subjects.iter().enumerate().flat_map(|(number, subject)| {
            subject.test.trials.trials.iter().enumerate().map(move |(index, trial)| (number, index, trial))
        });
        trials
            .filter(|(_, _, trial)| fits(&trial.case, &trial.name))
            .map(|(number, index, _)| (number, index))
            .collect()
    };
    let mut found = each(subjects, &|case, _| case == word);
    if found.is_empty() {
        found = each(subjects, &|_, name| name == word);
    }
    let shown = |subjects: &[Subject], (number, index): &(usize, usize)| {
        format!("`{}` of `{}`", subjects[*number].test.trials.trials[*index].case, subjects[*number].test.name)
    };
    match found.as_slice() {
        [] => return Err(no_case(subjects, word)),
        [_] => {}
        several => {
            let all: Vec<String> = several.iter().take(CASES_SHOWN_MAX).map(|one| shown(subjects, one)).collect();
            let failure = Failure::unable("AMBIGUOUS", format!("`{word}` could be {}", all.join(" or ")));
            return Err(failure.hint("name the skill with --skill, or the case by the stem of its file"));
        }
    }
    for (number, subject) in subjects.iter_mut().enumerate() {
        subject.wanted = Some(found.iter().filter(|one| one.0 == number).map(|one| one.1).collect());
    }
    Ok(())
}

fn no_case(subjects: &[Subject], word: &str) -> Failure {
    let failure = Failure::unable("CASE_NOT_FOUND", format!("there is no case `{word}`"));
    let cases = || subjects.iter().flat_map(|subject| &subject.test.trials.trials);
    let names = cases().flat_map(|trial| [trial.case.as_str(), trial.name.as_str()]);
    match rep_model::suggestion::nearest_name(word, names) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None if cases().next().is_none() => failure.hint("there are no cases at all"),
        None => {
            let all: Vec<&str> = cases().take(CASES_SHOWN_MAX).map(|trial| trial.case.as_str()).collect();
            failure.hint(format!("the cases are {}", all.join(", ")))
        }
    }
}

/// Where copies are made: in the user's own folder for what can be made anew, beside that of rep, which no tool sees. Not in
/// `/tmp` where that can be helped, which a case then has to itself.
pub(super) fn place() -> PathBuf {
    let own = cache_folder().map(|folder| folder.with_file_name("repertoire-trials"));
    let is_usable = |folder: &PathBuf| {
        let known = folder.ancestors().skip(1).find(|known| known.is_dir());
        !folder.starts_with("/tmp") && known.is_some_and(is_ours)
    };
    if let Some(own) = own.filter(is_usable) {
        return own;
    }
    let named = std::env::var_os("TMPDIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let roomy = Path::new("/var/tmp");
    let folder = named.unwrap_or_else(|| if is_ours(roomy) { roomy.to_owned() } else { std::env::temp_dir() });
    // A folder for copies alone, and this user's.
    folder.join(format!("rep-trials-{}", rustix::process::geteuid().as_raw()))
}

/// Whether something can be made in a folder.
fn is_ours(folder: &Path) -> bool {
    tempfile::Builder::new().prefix("rep-").tempdir_in(folder).is_ok()
}
