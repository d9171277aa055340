//! Publishes skills at a well-known path: an index with digests and an archive of each skill, so that others can
//! install them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use parking_lot::Mutex;
use rep_hosts::hosts::{WellKnownIndexEntry, build_well_known_index};
use rep_hosts::is_skill_part;
use rep_library::CatalogEntry;
use rep_mcp::{BearerIdentity, CatalogView, plain_response, sha256_digest};
use rep_package::files;

use super::{Dashboard, file_response};

const ARCHIVE_SUFFIX: &str = ".tar.gz";
/// The maximum number of skills in an index, which is the maximum that clients read.
const SKILLS_MAX: usize = 10_000;

/// The digests of archives, by the directory of the skill, with what the directory looked like.
#[derive(Default)]
pub(super) struct ArchiveDigests(Mutex<BTreeMap<PathBuf, (u64, String)>>);

impl ArchiveDigests {
    /// Returns the digest of a skill's archive. The skill is packed only if its directory changed.
    fn digest_of(&self, entry: &CatalogEntry) -> Option<String> {
        let stamp = entry.stamp_files();
        if let Some(stamp) = stamp
            && let Some((known, digest)) = self.0.lock().get(&entry.folder)
            && *known == stamp
        {
            return Some(digest.clone());
        }
        let digest = sha256_digest(&pack_skill(entry).ok()?);
        // A directory that changed meanwhile is packed again the next time.
        if let Some(stamp) = stamp.filter(|stamp| entry.stamp_files() == Some(*stamp)) {
            let mut known = self.0.lock();
            if known.len() >= 2 * SKILLS_MAX {
                known.clear();
            }
            known.insert(entry.folder.clone(), (stamp, digest.clone()));
        }
        Some(digest)
    }
}

/// Serves the index and the archives that it lists.
pub(super) async fn serve_discovery(
    State(dashboard): State<Arc<Dashboard>>,
    bearer: Option<Extension<BearerIdentity>>,
    Path(path): Path<String>,
) -> Response {
    let view = dashboard.server.view_for(bearer.as_ref().map(|Extension(bearer)| bearer));
    let answer = tokio::task::spawn_blocking(move || match path.as_str() {
        "index.json" => serve_index(&dashboard, &view),
        _ => serve_archive(&view, &path),
    });
    answer.await.unwrap_or_else(|_| {
        plain_response(StatusCode::INTERNAL_SERVER_ERROR, "internal error: the server could not complete this request")
    })
}

/// Whether a skill can be published: it is a directory and its name is valid in an index.
fn is_publishable(entry: &CatalogEntry) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_name = (1..=64).contains(&entry.name.len())
        && entry.name.split('-').all(|part| !part.is_empty() && part.bytes().all(is_letter));
    is_name && entry.name == entry.qualified_name && !entry.skill.tree.is_lone_file
}

fn publishable_entries(view: &CatalogView) -> impl Iterator<Item = usize> {
    view.active.iter().copied().filter(|index| is_publishable(&view.catalog.entries[*index])).take(SKILLS_MAX)
}

/// Packs a skill into an archive. The result is reproducible.
fn pack_skill(entry: &CatalogEntry) -> Result<Vec<u8>, String> {
    let mut files = files::read_skill_files(&entry.folder).map_err(|error| error.to_string())?;
    // Private files, and those of other programs, are not published.
    files.retain(|file| is_skill_part(&file.path));
    rep_archive::write_tar_gz(&files::select_packed_files(&files, &entry.name)).map_err(|error| error.to_string())
}

fn serve_index(dashboard: &Dashboard, view: &CatalogView) -> Response {
    let mut skills: Vec<WellKnownIndexEntry<'_>> = Vec::new();
    for position in publishable_entries(view) {
        let entry = &view.catalog.entries[position];
        // A skill that cannot be packed is omitted from the index.
        let Some(digest) = dashboard.archives.digest_of(entry) else { continue };
        let url = format!("{}{ARCHIVE_SUFFIX}", entry.name);
        skills.push(WellKnownIndexEntry {
            name: &entry.name,
            description: &entry.description,
            url,
            is_archive: true,
            digest,
        });
    }
    file_response("application/json", "no-cache", format!("{:#}\n", build_well_known_index(&skills)))
}

fn serve_archive(view: &CatalogView, path: &str) -> Response {
    let mut entries = publishable_entries(view).map(|position| &view.catalog.entries[position]);
    let Some(entry) = path.strip_suffix(ARCHIVE_SUFFIX).and_then(|name| entries.find(|entry| entry.name == name))
    else {
        return plain_response(StatusCode::NOT_FOUND, "no skill is published at this URL");
    };
    match pack_skill(entry) {
        Ok(bytes) => file_response("application/gzip", "no-cache", bytes),
        Err(reason) => {
            tracing::warn!("could not pack `{}`: {reason}", entry.name);
            let message = "the server could not pack the skill; its log has the reason";
            plain_response(StatusCode::INTERNAL_SERVER_ERROR, message)
        }
    }
}
