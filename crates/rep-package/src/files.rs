//! Reads a skill's files from a directory, computes digests, splits and packs them.
//!
//! Files are read once, so the bytes that are checked, hashed and written are always the same.
#![expect(clippy::disallowed_methods, reason = "this module reads the files that it moves")]

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rep_storage::platform::{LinkPolicy, is_executable, open_file};
use sha2::{Digest, Sha256};

use crate::atomic_dir::{PackageFile, PackageFileContent};

/// The maximum size of a file, and of all files together.
const FILE_BYTES_MAX: u64 = 64 << 20;
const TOTAL_BYTES_MAX: u64 = 512 << 20;
const ENTRIES_MAX: usize = 20_000;
const DEPTH_MAX: usize = 32;

/// The reason why files could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// The operating system returned an error.
    #[error("could not read `{}`: {error}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A file that cannot be part of a package.
    #[error("cannot include `{}`: {reason}", path.display())]
    Unsupported {
        /// The path.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },
}

fn read_error(path: &Path) -> impl FnOnce(io::Error) -> FilesError + use<> {
    let path = path.to_owned();
    move |error| FilesError::Unreadable { path, error }
}

/// Whether a file or directory is never part of a skill because programs leave it behind.
pub(crate) fn is_leftover_name(name: &str) -> bool {
    matches!(name, ".git" | "__pycache__" | "node_modules" | ".DS_Store") || name.rsplit('.').next() == Some("pyc")
}

/// Reads all files of a skill's directory, sorted by path. Files that programs leave behind are skipped. A link to
/// a file in the same directory is read as that file; any other link is an error.
pub fn read_skill_files(folder: &Path) -> Result<Vec<PackageFile>, FilesError> {
    walk_folder(folder, true)
}

/// Reads all files of an installed directory, whatever their names.
pub fn read_all_files(folder: &Path) -> Result<Vec<PackageFile>, FilesError> {
    walk_folder(folder, false)
}

/// Reads selected files of a directory. Paths that do not exist or point out of the directory are skipped.
pub fn read_selected_files(folder: &Path, paths: &[String]) -> Result<Vec<PackageFile>, FilesError> {
    let real = fs::canonicalize(folder).map_err(read_error(folder))?;
    let mut files = Vec::new();
    for path in paths {
        let Some(source) = resolve_link_inside(&real.join(path), &real) else { continue };
        let (bytes, is_executable) = read_content(&source).map_err(read_error(&source))?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(FilesError::Unsupported { path: source, reason: "it is larger than 64 MiB" });
        }
        files.push(PackageFile { path: path.clone(), content: PackageFileContent::InMemory(bytes), is_executable });
    }
    files.sort_by(|one, two| one.path.cmp(&two.path));
    Ok(files)
}

/// Finds the first file that has the name of a credential, or contains a private key.
pub fn find_credential(files: &[PackageFile]) -> Option<&str> {
    let holds_key = |file: &PackageFile| match &file.content {
        PackageFileContent::InMemory(bytes) => is_private_key(bytes),
        PackageFileContent::CopyOf(_) => false,
    };
    files
        .iter()
        .find(|file| file.path.split('/').any(is_credential_name) || holds_key(file))
        .map(|file| file.path.as_str())
}

fn is_credential_name(name: &str) -> bool {
    const NAMES: [&str; 11] = [
        ".env",
        ".ssh",
        ".netrc",
        ".pypirc",
        ".pgpass",
        ".aws",
        ".gnupg",
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
    ];
    let name = name.to_ascii_lowercase();
    let is_sample = ["example", "sample", "template", "dist"].iter().any(|end| name.ends_with(end));
    NAMES.contains(&name.as_str()) || name.starts_with(".env.") && !is_sample
}

/// Whether the bytes start like an armored private key.
fn is_private_key(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(64)]);
    let first = head.trim_start().lines().next().unwrap_or_default();
    first.starts_with("-----BEGIN ") && first.ends_with("PRIVATE KEY-----")
}

/// Returns the paths in a directory that are links, and those of files that programs leave behind, both relative to it.
/// What is in a directory that was left behind is not listed.
pub fn list_special_paths(folder: &Path) -> Result<SpecialPaths, FilesError> {
    let mut found = SpecialPaths::default();
    let mut entries = 0;
    let mut open = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((at, prefix, depth)) = open.pop() {
        for entry in fs::read_dir(&at).map_err(read_error(&at))? {
            let entry = entry.map_err(read_error(&at))?;
            entries += 1;
            if entries > ENTRIES_MAX || depth > DEPTH_MAX {
                let reason = "it has more than 20,000 entries, or they are nested too deeply";
                return Err(FilesError::Unsupported { path: folder.to_owned(), reason });
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            let relative = format!("{prefix}{name}");
            let kind = entry.file_type().map_err(read_error(&entry.path()))?;
            if kind.is_symlink() {
                found.links.push(relative.clone());
            }
            if is_leftover_name(&name) {
                found.leftovers.push(relative);
            } else if kind.is_dir() {
                open.push((entry.path(), format!("{relative}/"), depth + 1));
            }
        }
    }
    found.links.sort();
    found.leftovers.sort();
    Ok(found)
}

/// Paths in a directory that are not files of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpecialPaths {
    /// Links.
    pub links: Vec<String>,
    /// What programs leave behind: files, or directories with everything in them.
    pub leftovers: Vec<String>,
}

fn walk_folder(folder: &Path, passes_over: bool) -> Result<Vec<PackageFile>, FilesError> {
    let real = fs::canonicalize(folder).map_err(read_error(folder))?;
    let mut files = Vec::new();
    let (mut entries, mut total) = (0, 0);
    let mut open = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((at, prefix, depth)) = open.pop() {
        let listing = fs::read_dir(&at).map_err(read_error(&at))?;
        for entry in listing {
            let entry = entry.map_err(read_error(&at))?;
            let path = entry.path();
            let unfit = |reason| FilesError::Unsupported { path: path.clone(), reason };
            entries += 1;
            if entries > ENTRIES_MAX {
                return Err(FilesError::Unsupported {
                    path: folder.to_owned(),
                    reason: "it has more than 20,000 entries",
                });
            }
            let name = entry.file_name();
            let name = name.to_str().ok_or_else(|| unfit("its name is not UTF-8"))?;
            if passes_over && is_leftover_name(name) {
                continue;
            }
            let relative = format!("{prefix}{name}");
            let kind = entry.file_type().map_err(read_error(&path))?;
            if kind.is_dir() {
                if depth >= DEPTH_MAX {
                    return Err(unfit("it is nested too deeply"));
                }
                open.push((path, format!("{relative}/"), depth + 1));
                continue;
            }
            let source = if kind.is_symlink() {
                resolve_link_inside(&path, &real).ok_or_else(|| unfit(LINK_REASON))?
            } else {
                path.clone()
            };
            let (bytes, is_executable) = read_content(&source).map_err(read_error(&path))?;
            total += bytes.len() as u64;
            if bytes.len() as u64 > FILE_BYTES_MAX || total > TOTAL_BYTES_MAX {
                return Err(unfit("files are limited to 64 MiB each and 512 MiB in total"));
            }
            files.push(PackageFile { path: relative, content: PackageFileContent::InMemory(bytes), is_executable });
        }
    }
    files.sort_by(|one, two| one.path.cmp(&two.path));
    Ok(files)
}

const LINK_REASON: &str =
    "it is a link that is broken, points out of the directory, or points to a directory; replace it with a file";

/// Returns the file in the same directory that a link points to.
fn resolve_link_inside(link: &Path, real: &Path) -> Option<PathBuf> {
    let target = fs::canonicalize(link).ok()?;
    (target.starts_with(real) && target.is_file()).then_some(target)
}

/// Reads a regular file without following a link or blocking on a pipe. Also returns whether it is executable.
fn read_content(path: &Path) -> io::Result<(Vec<u8>, bool)> {
    let file = open_file(path, LinkPolicy::Refuse)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok((bytes, is_executable(&metadata)))
}

/// Reads a file of at most `most` bytes.
pub fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_file(path, LinkPolicy::Follow)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it is larger than {most} bytes")));
    }
    Ok(bytes)
}

fn encode_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Computes the digest of bytes, as `sha256:` and hexadecimal digits.
pub fn digest_bytes(bytes: &[u8]) -> String {
    format!("sha256:{}", encode_hex(&Sha256::digest(bytes)))
}

/// Computes the digest of each file, by path. The executable bit changes the digest.
pub fn digest_each_file(files: &[PackageFile]) -> BTreeMap<String, String> {
    let mark = |file: &PackageFile| {
        format!("{}{}", digest_bytes(file.bytes()), if file.is_executable { " executable" } else { "" })
    };
    files.iter().map(|file| (file.path.clone(), mark(file))).collect()
}

/// Computes the digest of all files: over lines of a path, a zero byte and the file's own digest, sorted by path.
pub fn digest_files(files: &[PackageFile]) -> String {
    let mut hasher = Sha256::new();
    for (path, mark) in digest_each_file(files) {
        hasher.update(path.as_bytes());
        hasher.update([0]);
        hasher.update(mark.as_bytes());
        hasher.update(b"\n");
    }
    format!("sha256:{}", encode_hex(&hasher.finalize()))
}

/// Computes what the npm tool `skills` calls `computedHash`: SHA-256 over the path and content of each file, sorted
/// as JavaScript's `localeCompare` does. The order is exact for ASCII; other characters come after, by code point.
pub fn compute_npm_hash(files: &[PackageFile]) -> String {
    let is_counted =
        |file: &&PackageFile| !file.path.split('/').rev().skip(1).any(|part| part == ".git" || part == "node_modules");
    let mut counted: Vec<&PackageFile> = files.iter().filter(is_counted).collect();
    counted.sort_by(|one, two| compare_collated(&one.path, &two.path));
    let mut hasher = Sha256::new();
    for file in counted {
        hasher.update(file.path.as_bytes());
        hasher.update(file.bytes());
    }
    encode_hex(&hasher.finalize())
}

/// Compares ASCII text as the Unicode root collation does: first ignoring case, then lower case before upper case.
fn compare_collated(one: &str, two: &str) -> Ordering {
    const MARKS: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789";
    let weight = |letter: char| match MARKS.find(letter) {
        Some(at) => at,
        None => MARKS.len() + letter.to_ascii_lowercase() as usize,
    };
    let case = |text: &str| text.chars().map(|letter| letter.is_ascii_uppercase()).collect::<Vec<bool>>();
    one.chars()
        .map(weight)
        .cmp(two.chars().map(weight))
        .then_with(|| case(one).cmp(&case(two)))
        .then_with(|| one.cmp(two))
}

/// Whether a path is that of a main file in the root.
pub(crate) fn is_manifest_name(name: &str) -> bool {
    name == "SKILL.md" || name == "skill.md"
}

/// Returns the directories of skills among some paths: the root if it has a SKILL.md, otherwise the outermost
/// directories that have one.
pub(crate) fn find_skill_folders(paths: &[&str]) -> Vec<String> {
    if paths.iter().any(|path| is_manifest_name(path)) {
        return vec![String::new()];
    }
    let manifests = paths.iter().filter_map(|path| path.rsplit_once('/')).filter(|(_, name)| is_manifest_name(name));
    let all: BTreeSet<&str> = manifests.map(|(folder, _)| folder).collect();
    let is_outermost = |folder: &&&str| find_containing_folder(folder, |above| all.contains(above)).is_none();
    all.iter().filter(is_outermost).map(|folder| (*folder).to_owned()).collect()
}

/// Returns the first directory above a path, from the root, that `is_wanted` accepts.
pub(crate) fn find_containing_folder(path: &str, is_wanted: impl Fn(&str) -> bool) -> Option<&str> {
    let ends = path.match_indices('/').map(|(at, _)| at);
    std::iter::once(0).chain(ends).map(|end| &path[..end]).find(|folder| is_wanted(folder))
}

/// Splits files into skills: one skill if there is a SKILL.md at the root, otherwise one per outermost directory
/// that contains a SKILL.md. Each comes with the path of its directory.
pub fn split_into_skills(files: Vec<PackageFile>) -> Vec<(String, Vec<PackageFile>)> {
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let mut skills: BTreeMap<String, Vec<PackageFile>> =
        find_skill_folders(&paths).into_iter().map(|folder| (folder, Vec::new())).collect();
    for mut file in files {
        let own = find_containing_folder(&file.path, |folder| skills.contains_key(folder)).map(str::to_owned);
        let Some((own, all)) = own.and_then(|own| skills.get_mut(&own).map(|all| (own, all))) else { continue };
        if !own.is_empty() {
            file.path.drain(..=own.len());
        }
        all.push(file);
    }
    skills.into_iter().collect()
}

/// Selects the files of a skill to pack, below a directory with its name. Development files are left out, except of a
/// signed skill, whose signature covers them.
pub fn select_packed_files(files: &[PackageFile], name: &str) -> Vec<(String, Vec<u8>, bool)> {
    let is_whole = crate::signature::is_signed(files);
    let is_packed = |file: &&PackageFile| is_whole || !file.path.starts_with("evals/");
    let below = |path: &str| if name.is_empty() { path.to_owned() } else { format!("{name}/{path}") };
    let one = |file: &PackageFile| (below(&file.path), file.bytes().to_vec(), file.is_executable);
    files.iter().filter(is_packed).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> PackageFile {
        PackageFile {
            path: path.to_owned(),
            content: PackageFileContent::InMemory(text.as_bytes().to_vec()),
            is_executable: false,
        }
    }

    #[test]
    fn names_are_sorted_as_javascript_sorts_them() {
        let mut names =
            ["ab/c", "aB", "ab", "Ab", "a-b", "a_b", "a/b", "A/c", "a/d", "a1", "SKILL.md", "scripts/x.sh", "z"];
        names.sort_by(|one, two| compare_collated(one, two));
        assert_eq!(
            names,
            ["a_b", "a-b", "a/b", "A/c", "a/d", "a1", "ab", "aB", "Ab", "ab/c", "scripts/x.sh", "SKILL.md", "z"]
        );
    }

    /// The hash was computed by version 1.7.4 of the npm tool.
    #[test]
    fn the_hash_is_the_one_of_the_npm_tool() {
        let files = [
            file("SKILL.md", "---\nname: hash-me\ndescription: Hashes. Use for hashes.\n---\nBody\n"),
            file("scripts/x.sh", "echo\n"),
            file("references/A.md", "a"),
            file("references/a-b.md", "b"),
            file("references/a_b.md", "c"),
            file("references/a.md", "d"),
            file("node_modules/x/index.js", "not counted"),
        ];
        assert_eq!(compute_npm_hash(&files), "5ca607bdc8d6bfb0f38b482bb04e9367cc0332caff52a545b4f4855c3b46873f");
    }

    #[test]
    fn a_folder_is_read_whole_or_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("one");
        fs::create_dir_all(folder.join("scripts/__pycache__")).unwrap();
        fs::write(folder.join("SKILL.md"), "a").unwrap();
        fs::write(folder.join("scripts/__pycache__/x.pyc"), "x").unwrap();
        std::os::unix::fs::symlink("../SKILL.md", folder.join("scripts/again.md")).unwrap();
        let names = |files: Vec<PackageFile>| files.into_iter().map(|file| file.path).collect::<Vec<String>>();
        assert_eq!(names(read_skill_files(&folder).unwrap()), ["SKILL.md", "scripts/again.md"]);
        assert_eq!(names(read_all_files(&folder).unwrap()).len(), 3);
        std::os::unix::fs::symlink("/etc/passwd", folder.join("out")).unwrap();
        assert!(read_skill_files(&folder).unwrap_err().to_string().contains("link"));
        fs::remove_file(folder.join("out")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, folder.join("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert!(read_skill_files(&folder).unwrap_err().to_string().contains("regular"));
    }

    #[test]
    fn files_are_split_into_skills_and_digests_see_every_change() {
        let files =
            vec![file("a/SKILL.md", "1"), file("a/x/SKILL.md", "2"), file("b/c/skill.md", "3"), file("README.md", "")];
        let skills = split_into_skills(files);
        let shape: Vec<(&str, usize)> = skills.iter().map(|(folder, files)| (folder.as_str(), files.len())).collect();
        assert_eq!(shape, [("a", 2), ("b/c", 1)]);
        let one = [file("a", "1"), file("b", "2")];
        let mut two = one.clone();
        two[1].is_executable = true;
        assert_ne!(digest_files(&one), digest_files(&two));
        assert_ne!(digest_files(&one), digest_files(&[file("a", "12"), file("b", "")]));
        assert_eq!(digest_files(&one), digest_files(&[one[1].clone(), one[0].clone()]));
    }
}
