//! A library that stays open: the catalogue is a snapshot, and a watcher puts the next one in its place.
//!
//! Whoever holds a snapshot keeps it, whole and unchanged, for as long as it is held; whoever asks
//! again gets the newest. A rebuild that fails leaves the last good one where it is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::RwLock;

use crate::LibraryError;
use crate::catalog::{Catalog, Options};
use crate::watch::{Stopper, Watched, Watcher, Woken};

/// The skills of a machine or of some folders, and the newest snapshot of them.
///
/// ```no_run
/// use rep_library::select::Request;
/// use rep_library::{Library, Options, disclose};
///
/// let library = Library::open(Options { paths: vec!["skills".into()], ..Options::default() })?;
/// let catalog = library.catalog();
///
/// // Into the model's context at the start: names and descriptions.
/// print!("{}", disclose::xml(&catalog, disclose::Locations::Shown));
///
/// // For a request: by the triggers their authors wrote, or by what they say.
/// let request = Request { text: "merge these scans".into(), files: vec!["a.pdf".into()], ..Request::default() };
/// for selected in catalog.select(&request).selected {
///     println!("{}", catalog.entries[selected.index].qualified_name);
/// }
/// for hit in catalog.search("fill in a tax form", 5) {
///     println!("{:5.1} {}", hit.score, catalog.entries[hit.entry].qualified_name);
/// }
///
/// // On activation: the body, and the names of what lies beside it.
/// if let Some(entry) = catalog.get("pdf-processing") {
///     print!("{}", disclose::activate(entry)?);
/// }
/// # Ok::<(), rep_library::LibraryError>(())
/// ```
pub struct Library {
    options: Options,
    current: RwLock<Arc<Catalog>>,
}

impl Library {
    /// Discovers what the options name.
    pub fn open(options: Options) -> Result<Self, LibraryError> {
        let catalog = Catalog::discover(&options)?;
        Ok(Self { options, current: RwLock::new(Arc::new(catalog)) })
    }

    /// The newest snapshot. It does not change while it is held.
    pub fn catalog(&self) -> Arc<Catalog> {
        // A panic elsewhere cannot have left half a pointer.
        Arc::clone(&self.current.read())
    }

    /// Discovers again and puts the result in place of the last snapshot. Where that fails the last one stays.
    pub fn reload(&self) -> Result<Arc<Catalog>, LibraryError> {
        let catalog = Arc::new(Catalog::discover(&self.options)?);
        *self.current.write() = Arc::clone(&catalog);
        Ok(catalog)
    }

    /// Reloads whenever a skill, or a decision about one, changes, and tells of it. Ends when what it returns is dropped.
    ///
    /// ```no_run
    /// use std::sync::Arc;
    /// use rep_library::{Library, Options};
    ///
    /// let library = Arc::new(Library::open(Options { paths: vec!["skills".into()], ..Options::default() })?);
    /// let watching = Library::watch(&library, |result| match result {
    ///     Ok(catalog) => println!("{} skills", catalog.entries.len()),
    ///     Err(error) => eprintln!("the last catalogue stays: {error}"),
    /// })?;
    /// // … serve …
    /// drop(watching);
    /// # Ok::<(), rep_library::LibraryError>(())
    /// ```
    pub fn watch(
        library: &Arc<Library>,
        tell: impl Fn(Result<Arc<Catalog>, LibraryError>) + Send + 'static,
    ) -> Result<Watching, LibraryError> {
        let mut watcher = Watcher::new(library.watched())?;
        let stopper = watcher.stopper();
        let library = Arc::clone(library);
        // What changed between opening and watching is not missed either.
        library.reload()?;
        let thread = std::thread::spawn(move || {
            loop {
                let places = library.places();
                let matters =
                    |path: &Path| places.iter().any(|place| path.starts_with(place) || place.starts_with(path));
                if watcher.wait(matters) == Woken::Stopped {
                    return;
                }
                let result = library.reload();
                // New folders may be there to watch.
                let watched = watcher.set(library.watched());
                tell(result.and_then(|catalog| watched.map(|()| catalog)));
            }
        });
        Ok(Watching { stopper, thread: Some(thread) })
    }

    /// Every place whose change can change the catalogue, there or not.
    fn places(&self) -> BTreeSet<PathBuf> {
        let catalog = self.catalog();
        let roots = catalog.roots.iter().map(|root| root.path.clone());
        let mut places: BTreeSet<PathBuf> = roots.chain(self.options.decisions.clone()).collect();
        // Events come with the path that was watched, which may lead through a link.
        let real: Vec<PathBuf> = places.iter().filter_map(|place| std::fs::canonicalize(place).ok()).collect();
        places.extend(real);
        // A skill that is linked into a root lies elsewhere.
        let is_below = |folder: &Path| folder.ancestors().any(|above| places.contains(above));
        let linked: Vec<PathBuf> =
            catalog.entries.iter().map(|entry| entry.folder.clone()).filter(|folder| !is_below(folder)).collect();
        places.extend(linked);
        places
    }

    /// What to watch for that: a folder that is there, with all below it; the nearest one above a place that is not.
    fn watched(&self) -> Vec<Watched> {
        let mut watched = BTreeSet::new();
        let places = self.places();
        let mut deep: Option<&PathBuf> = None;
        for place in &places {
            // Places come in order, so that a folder stands before what lies in it.
            if deep.is_some_and(|above| place.starts_with(above)) {
                continue;
            }
            if place.is_dir() {
                deep = Some(place);
                watched.insert(Watched { path: place.clone(), is_deep: true });
            } else if let Some(above) = place.ancestors().skip(1).find(|above| above.is_dir()) {
                watched.insert(Watched { path: above.to_owned(), is_deep: false });
            }
        }
        // The folder above sees the root itself go and come back.
        for root in self.catalog().roots.iter().filter(|root| root.path.is_dir()) {
            if let Some(above) = root.path.parent().filter(|above| above.is_dir()) {
                watched.insert(Watched { path: above.to_owned(), is_deep: false });
            }
        }
        // Of a folder that is wanted both ways, the deep watch says everything.
        let all: Vec<Watched> = watched.into_iter().collect();
        let is_covered =
            |one: &Watched| !one.is_deep && all.iter().any(|other| other.is_deep && one.path.starts_with(&other.path));
        all.iter().filter(|one| !is_covered(one)).cloned().collect()
    }
}

/// A library that is being watched, until this is dropped.
pub struct Watching {
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            // A panic in the watcher has been reported by then; there is nothing to clean up.
            let _ = thread.join();
        }
    }
}
