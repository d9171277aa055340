//! The libraries that stay open: one for each set of options, with a watcher that keeps it up to date.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;
use rep_library::answer::QueryEngine;
use rep_library::documents::list_document;
use rep_library::request::{LibraryRequest, UserFolders};
use rep_library::{Catalog, CatalogAudience, LibraryOptions, SkillLibrary, SkillStatus, WatchHandle};
use serde_json::{Map, Value, json};

use crate::error::ApiError;
use crate::message::MethodResult;
use crate::outbox::Outbox;
use crate::params::Params;

/// The maximum number of libraries that stay open. The one that was not used for the longest time is closed.
const LIBRARIES_MAX: usize = 16;

/// A library that stays open.
pub(crate) struct WarmLibrary {
    /// A number that notifications name it by.
    pub(crate) number: u64,
    /// What the client asked for.
    pub(crate) request: LibraryRequest,
    /// The options that followed.
    pub(crate) options: LibraryOptions,
    /// Answers queries, and remembers what it structured.
    pub(crate) answers: QueryEngine,
    library: Arc<SkillLibrary>,
    watch: Mutex<WatchState>,
    /// The list as text, of the snapshot that it was rendered from.
    list: Mutex<Option<(Arc<Catalog>, Arc<str>)>>,
    /// Whether the client wants to know about changes.
    is_announced: Arc<Mutex<bool>>,
}

/// Whether files are watched.
enum WatchState {
    NotStarted,
    Watching {
        _handle: WatchHandle,
    },
    /// The system cannot watch them, so every request discovers the skills again.
    Failed,
}

impl WarmLibrary {
    /// Returns the newest snapshot.
    pub(crate) fn catalog(&self) -> Result<Arc<Catalog>, ApiError> {
        let is_unwatched = self.watch.try_lock().is_some_and(|state| matches!(*state, WatchState::Failed));
        if is_unwatched { Ok(self.library.reload()?) } else { Ok(self.library.catalog()) }
    }

    /// Discovers the skills again.
    pub(crate) fn reload(&self) -> Result<Arc<Catalog>, ApiError> {
        Ok(self.library.reload()?)
    }

    /// Returns the document of `rep list`, rendered once for each snapshot.
    pub(crate) fn list(&self) -> Result<MethodResult, ApiError> {
        let catalog = self.catalog()?;
        let mut list = self.list.lock();
        if let Some((known, text)) = list.as_ref()
            && Arc::ptr_eq(known, &catalog)
        {
            return Ok(MethodResult::Text(Arc::clone(text)));
        }
        let text: Arc<str> = list_document(&catalog, None).to_string().into();
        *list = Some((catalog, Arc::clone(&text)));
        Ok(MethodResult::Text(text))
    }

    /// Tells the client about changes from now on. Files are watched when this returns.
    pub(crate) fn announce_changes(&self, outbox: &Arc<Outbox>) -> bool {
        *self.is_announced.lock() = true;
        self.start_watching(outbox)
    }

    /// Watches the files, once. Returns whether they are watched.
    fn start_watching(&self, outbox: &Arc<Outbox>) -> bool {
        let mut state = self.watch.lock();
        if matches!(*state, WatchState::NotStarted) {
            let (number, outbox, is_announced) = (self.number, Arc::clone(outbox), Arc::clone(&self.is_announced));
            let watched = SkillLibrary::watch(&self.library, move |result| {
                if *is_announced.lock() {
                    let mut change = json!({ "library": number });
                    match result {
                        Ok(catalog) => change["skills"] = count_skills(&catalog),
                        Err(error) => change["error"] = error.to_string().into(),
                    }
                    outbox.notify("library/changed", &change);
                }
            });
            *state = match watched {
                Ok(handle) => WatchState::Watching { _handle: handle },
                Err(_) => WatchState::Failed,
            };
        }
        matches!(*state, WatchState::Watching { .. })
    }
}

/// Counts the skills by status.
pub(crate) fn count_skills(catalog: &Catalog) -> Value {
    let mut counts = Map::new();
    for status in [
        SkillStatus::Active,
        SkillStatus::Hidden,
        SkillStatus::Shadowed,
        SkillStatus::Invalid,
        SkillStatus::Untrusted,
        SkillStatus::Disabled,
    ] {
        let count = catalog.entries.iter().filter(|entry| entry.status == status).count();
        counts.insert(status.name().to_owned(), count.into());
    }
    Value::Object(counts)
}

/// The open libraries, the one that was used last at the back.
pub(crate) struct WarmLibraries {
    /// The library of requests that name none.
    usual: LibraryRequest,
    user: UserFolders,
    working_folder: PathBuf,
    open: Mutex<(u64, VecDeque<Arc<WarmLibrary>>)>,
}

impl WarmLibraries {
    /// Creates the collection; no library is open yet.
    pub(crate) fn new(usual: LibraryRequest, user: UserFolders, working_folder: PathBuf) -> Self {
        Self { usual, user, working_folder, open: Mutex::default() }
    }

    /// Returns the library that a request names, and opens it if necessary.
    pub(crate) fn open(&self, params: &mut Params, outbox: &Arc<Outbox>) -> Result<Arc<WarmLibrary>, ApiError> {
        let request = match params.object("library")? {
            None => self.usual.clone(),
            Some(named) => self.parse_request(named)?,
        };
        // Discovery happens under the lock, so that two requests do not open the same library twice.
        let mut open = self.open.lock();
        let (numbers, libraries) = &mut *open;
        if let Some(index) = libraries.iter().position(|library| library.request == request)
            && let Some(library) = libraries.remove(index)
        {
            libraries.push_back(Arc::clone(&library));
            return Ok(library);
        }
        let options = request.resolve(&self.user)?;
        *numbers += 1;
        let library = Arc::new(WarmLibrary {
            number: *numbers,
            request,
            library: Arc::new(SkillLibrary::open(options.clone())?),
            options,
            answers: QueryEngine::default(),
            watch: Mutex::new(WatchState::NotStarted),
            list: Mutex::default(),
            is_announced: Arc::default(),
        });
        libraries.push_back(Arc::clone(&library));
        if libraries.len() > LIBRARIES_MAX {
            libraries.pop_front();
        }
        let (watched, outbox) = (Arc::clone(&library), Arc::clone(outbox));
        thread::spawn(move || watched.start_watching(&outbox));
        Ok(library)
    }

    fn parse_request(&self, mut params: Params) -> Result<LibraryRequest, ApiError> {
        let folder = |path: String| self.absolute(&path);
        let project = match params.text("project")? {
            Some(project) => folder(project),
            None => self.usual.project.clone(),
        };
        let request = LibraryRequest {
            paths: params.texts("paths")?.into_iter().map(folder).collect(),
            home: params.text("home")?.map(folder),
            managed: params.text("managed")?.map(folder),
            is_personal_first: params.choice(
                "precedence",
                &[("project-first", false), ("claude-code", true)],
                false,
            )?,
            is_trusted: params.flag("trust")?,
            is_lenient: params.flag("lenient")?,
            audience: if params.flag("for_model")? { CatalogAudience::Models } else { self.usual.audience },
            project,
        };
        params.finish()?;
        Ok(request)
    }

    /// Returns a path of the client as an absolute one.
    pub(crate) fn absolute(&self, path: &str) -> PathBuf {
        self.working_folder.join(Path::new(path))
    }

    /// Returns the directory that relative paths start from.
    pub(crate) fn working_folder(&self) -> &Path {
        &self.working_folder
    }
}
