//! A library that stays open: it provides an immutable catalog snapshot, and a watcher replaces the snapshot when
//! skills change.
//!
//! A snapshot does not change while it is held. [`SkillLibrary::catalog`] returns the newest one. If a reload fails,
//! the last valid snapshot remains.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::RwLock;

use crate::LibraryError;
use crate::catalog::{Catalog, LibraryOptions};
use crate::watcher::{FileWatcher, WakeReason, WatchStopper, WatchTarget};

/// The skills of a machine or of some directories, with their newest snapshot.
///
/// ```no_run
/// use rep_library::selection::SelectionRequest;
/// use rep_library::{LibraryOptions, SkillLibrary, prompt};
///
/// let library = SkillLibrary::open(LibraryOptions { paths: vec!["skills".into()], ..LibraryOptions::default() })?;
/// let catalog = library.catalog();
///
/// // At the start, give the model names and descriptions.
/// print!("{}", prompt::render_xml(&catalog, prompt::LocationDisplay::Shown));
///
/// // For a request, find skills by their triggers or by their text.
/// let request = SelectionRequest { text: "merge these scans".into(), ..SelectionRequest::default() };
/// for selected in catalog.select(&request).selected {
///     println!("{}", catalog.entries[selected.index].qualified_name);
/// }
/// for hit in catalog.search("fill in a tax form", 5) {
///     println!("{:5.1} {}", hit.score, catalog.entries[hit.entry].qualified_name);
/// }
///
/// // On activation, give it the body and the names of the bundled files.
/// if let Some(entry) = catalog.get("pdf-processing") {
///     print!("{}", prompt::activate_skill(entry)?);
/// }
/// # Ok::<(), rep_library::LibraryError>(())
/// ```
pub struct SkillLibrary {
    options: RwLock<LibraryOptions>,
    current: RwLock<Arc<Catalog>>,
}

impl SkillLibrary {
    /// Opens a library and discovers its skills.
    pub fn open(options: LibraryOptions) -> Result<Self, LibraryError> {
        let catalog = Catalog::discover(&options)?;
        Ok(Self { options: RwLock::new(options), current: RwLock::new(Arc::new(catalog)) })
    }

    /// Returns the newest snapshot. It does not change while it is held.
    pub fn catalog(&self) -> Arc<Catalog> {
        // A panic elsewhere cannot leave a partial pointer.
        Arc::clone(&self.current.read())
    }

    /// Returns the paths whose changes can affect the catalog, for [`crate::stamp_skills`].
    pub fn watched_places(&self) -> Vec<PathBuf> {
        self.list_places().into_iter().collect()
    }

    /// Discovers skills again and replaces the snapshot. If that fails, the last snapshot remains.
    pub fn reload(&self) -> Result<Arc<Catalog>, LibraryError> {
        let options = self.options.read().clone();
        let catalog = Arc::new(Catalog::discover(&options)?);
        *self.current.write() = Arc::clone(&catalog);
        Ok(catalog)
    }

    /// Loads the skills at other paths from now on, and replaces the snapshot. If that fails, nothing changes.
    pub fn replace_paths(&self, paths: Vec<PathBuf>) -> Result<Arc<Catalog>, LibraryError> {
        let mut options = self.options.write();
        let changed = LibraryOptions { paths, is_without_discovery: true, ..options.clone() };
        let catalog = Arc::new(Catalog::discover(&changed)?);
        *options = changed;
        *self.current.write() = Arc::clone(&catalog);
        Ok(catalog)
    }

    /// Reloads whenever a skill, or a decision about one, changes, and calls `tell` with the result. Stops when the
    /// returned handle is dropped.
    ///
    /// ```no_run
    /// use std::sync::Arc;
    /// use rep_library::{LibraryOptions, SkillLibrary};
    ///
    /// let library = Arc::new(SkillLibrary::open(LibraryOptions::default())?);
    /// let watching = SkillLibrary::watch(&library, |result| match result {
    ///     Ok(catalog) => println!("{} skills", catalog.entries.len()),
    ///     Err(error) => eprintln!("could not reload: {error}"),
    /// })?;
    /// // … serve …
    /// drop(watching);
    /// # Ok::<(), rep_library::LibraryError>(())
    /// ```
    pub fn watch(
        library: &Arc<SkillLibrary>,
        tell: impl Fn(Result<Arc<Catalog>, LibraryError>) + Send + 'static,
    ) -> Result<WatchHandle, LibraryError> {
        let mut watcher = FileWatcher::new(library.list_watch_targets())?;
        let stopper = watcher.stopper();
        let library = Arc::clone(library);
        // Include changes made between opening and watching.
        library.reload()?;
        let thread = std::thread::spawn(move || {
            loop {
                let places = library.list_places();
                let matters =
                    |path: &Path| places.iter().any(|place| path.starts_with(place) || place.starts_with(path));
                if watcher.wait_for_change(matters) == WakeReason::Stopped {
                    return;
                }
                let result = library.reload();
                // A reload can reveal new directories to watch.
                let watched = watcher.set_targets(library.list_watch_targets());
                tell(result.and_then(|catalog| watched.map(|()| catalog)));
            }
        });
        Ok(WatchHandle { stopper, thread: Some(thread) })
    }

    /// Returns every path whose change can affect the catalog, whether or not it exists.
    fn list_places(&self) -> BTreeSet<PathBuf> {
        let catalog = self.catalog();
        let roots = catalog.roots.iter().map(|root| root.path.clone());
        let mut places: BTreeSet<PathBuf> = roots.chain(self.options.read().decisions.clone()).collect();
        // Events report the watched path, which may contain links.
        let real: Vec<PathBuf> = places.iter().filter_map(|place| std::fs::canonicalize(place).ok()).collect();
        places.extend(real);
        // A skill that is linked into a root is located elsewhere.
        let is_below = |folder: &Path| folder.ancestors().any(|above| places.contains(above));
        let linked: Vec<PathBuf> =
            catalog.entries.iter().map(|entry| entry.folder.clone()).filter(|folder| !is_below(folder)).collect();
        places.extend(linked);
        places
    }

    /// Returns what to watch: existing directories recursively, and the nearest existing parent of each missing path.
    fn list_watch_targets(&self) -> Vec<WatchTarget> {
        let mut watched = BTreeSet::new();
        let places = self.list_places();
        let mut deep: Option<&PathBuf> = None;
        for place in &places {
            // Paths are sorted, so a directory precedes its contents.
            if deep.is_some_and(|above| place.starts_with(above)) {
                continue;
            }
            if place.is_dir() {
                deep = Some(place);
                watched.insert(WatchTarget { path: place.clone(), is_deep: true });
            } else if let Some(above) = place.ancestors().skip(1).find(|above| above.is_dir()) {
                watched.insert(WatchTarget { path: above.to_owned(), is_deep: false });
            }
        }
        // Watching the parent detects when the root is removed or created again.
        for root in self.catalog().roots.iter().filter(|root| root.path.is_dir()) {
            if let Some(above) = root.path.parent().filter(|above| above.is_dir()) {
                watched.insert(WatchTarget { path: above.to_owned(), is_deep: false });
            }
        }
        // A recursive watch covers a shallow watch of the same directory.
        let all: Vec<WatchTarget> = watched.into_iter().collect();
        let is_covered = |one: &WatchTarget| {
            !one.is_deep && all.iter().any(|other| other.is_deep && one.path.starts_with(&other.path))
        };
        all.iter().filter(|one| !is_covered(one)).cloned().collect()
    }
}

/// Watches a library until dropped.
pub struct WatchHandle {
    stopper: WatchStopper,
    thread: Option<JoinHandle<()>>,
}

impl Drop for WatchHandle {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            // The panic hook has already reported a panic in the watcher, and no cleanup is needed.
            let _ = thread.join();
        }
    }
}
