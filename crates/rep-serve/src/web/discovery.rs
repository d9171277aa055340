//! The skills at a well-known address: an index with digests, and an archive of each, so that others can install them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use rep_hosts::hosts::{Published, index};
use rep_library::CatalogEntry;

use super::{Web, plain, sent};
use crate::shelf::{Shelf, digest, one_line};

const ENDING: &str = ".tar.gz";
/// The most skills of an index, which is the most that is read of one.
const SKILLS_MAX: usize = 10_000;

/// The digests of archives, for as long as nothing changes.
#[derive(Default)]
pub(super) struct Archives(Mutex<(u64, BTreeMap<usize, String>)>);

impl Archives {
    fn known(&self, mark: u64, entry: usize) -> Option<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (known.0 == mark).then(|| known.1.get(&entry).cloned()).flatten()
    }

    fn keep(&self, mark: u64, entry: usize, digest: String) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0 != mark {
            *known = (mark, BTreeMap::new());
        }
        known.1.insert(entry, digest);
    }
}

/// Answers for the index and for every archive it names.
pub(super) async fn answer(State(web): State<Arc<Web>>, Path(path): Path<String>) -> Response {
    let done = tokio::task::spawn_blocking(move || match path.as_str() {
        "index.json" => listed(&web),
        _ => archive(&web, &path),
    });
    done.await.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "the server failed at this"))
}

/// Whether a skill can be published: a folder, by a name that indexes take.
fn is_publishable(entry: &CatalogEntry) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_name = (1..=64).contains(&entry.name.len())
        && entry.name.split('-').all(|part| !part.is_empty() && part.bytes().all(is_letter));
    is_name && entry.name == entry.qualified_name && !entry.skill.tree.is_lone_file
}

fn published(shelf: &Shelf) -> impl Iterator<Item = usize> {
    shelf.active.iter().copied().filter(|index| is_publishable(&shelf.catalog.entries[*index])).take(SKILLS_MAX)
}

fn listed(web: &Web) -> Response {
    let shelf = web.shared.shelf();
    let mut skills: Vec<Published<'_>> = Vec::new();
    for at in published(&shelf) {
        let entry = &shelf.catalog.entries[at];
        // What is kept is good only where somebody sees what changes.
        let known = web.shared.is_watched().then(|| web.archives.known(shelf.mark, at)).flatten();
        // One that cannot be packed just now is not in the index.
        let Some(digest) = known.or_else(|| made(web, shelf.mark, at, entry)) else { continue };
        let url = format!("{}{ENDING}", entry.name);
        skills.push(Published { name: &entry.name, description: &entry.description, url, is_archive: true, digest });
    }
    sent("application/json", "no-cache", format!("{:#}\n", index(&skills)))
}

/// Packs a skill, and keeps its digest.
fn made(web: &Web, mark: u64, at: usize, entry: &CatalogEntry) -> Option<String> {
    let digest = digest(&web.office.packed(entry).ok()?);
    web.archives.keep(mark, at, digest.clone());
    Some(digest)
}

fn archive(web: &Web, path: &str) -> Response {
    let shelf = web.shared.shelf();
    let named = path
        .strip_suffix(ENDING)
        .and_then(|name| published(&shelf).map(|at| &shelf.catalog.entries[at]).find(|entry| entry.name == name));
    let Some(entry) = named else {
        return plain(StatusCode::NOT_FOUND, "no skill is published here");
    };
    match web.office.packed(entry) {
        Ok(bytes) => sent("application/gzip", "no-cache", bytes),
        Err(reason) => {
            if let Some(log) = &web.shared.log {
                log.tell(
                    "-",
                    &format!("`{}` was not packed: {reason}", one_line(&entry.name)),
                    &[("error", reason.into())],
                );
            }
            plain(StatusCode::INTERNAL_SERVER_ERROR, "the skill could not be packed; the server's operator can see why")
        }
    }
}
