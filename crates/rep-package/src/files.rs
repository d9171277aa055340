//! A skill's files, whole: read from a folder, told apart by digests, split and packed.
//!
//! What is moved is read once: what was judged, what is counted in a digest and what is put somewhere are the same bytes.
#![expect(clippy::disallowed_methods, reason = "this room reads what it moves")]

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use crate::place::{Bytes, Placed};

/// The largest file, and all together.
const FILE_BYTES_MAX: u64 = 64 << 20;
const TOTAL_BYTES_MAX: u64 = 512 << 20;
const ENTRIES_MAX: usize = 20_000;
const DEPTH_MAX: usize = 32;

/// Why files could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// The system refused.
    #[error("could not read `{}`: {error}", path.display())]
    Unreadable {
        /// What.
        path: PathBuf,
        /// Its words.
        error: io::Error,
    },
    /// Something that does not travel.
    #[error("`{}` cannot be taken along: {reason}", path.display())]
    Unfit {
        /// What.
        path: PathBuf,
        /// Why.
        reason: &'static str,
    },
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> FilesError + use<> {
    let path = path.to_owned();
    move |error| FilesError::Unreadable { path, error }
}

/// Whether a name is never part of a skill: what programs leave behind.
fn is_left(name: &str) -> bool {
    matches!(name, ".git" | "__pycache__" | "node_modules" | ".DS_Store") || name.rsplit('.').next() == Some("pyc")
}

/// Reads all files of a skill's folder, in order of path. What programs leave behind is passed over; a link that leads to a file
/// of the same folder becomes that file, and any other refuses the folder.
pub fn read(folder: &Path) -> Result<Vec<Placed>, FilesError> {
    walk(folder, true)
}

/// Reads all files of an installed folder, whatever they are called.
pub fn read_all(folder: &Path) -> Result<Vec<Placed>, FilesError> {
    walk(folder, false)
}

/// Reads some files of a folder, by their paths. Those that are not there, or lead out of it, are left out.
pub fn some(folder: &Path, paths: &[String]) -> Result<Vec<Placed>, FilesError> {
    let real = fs::canonicalize(folder).map_err(unreadable(folder))?;
    let mut files = Vec::new();
    for path in paths {
        let Some(source) = inside(&real.join(path), &real) else { continue };
        let (bytes, is_executable) = content(&source).map_err(unreadable(&source))?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(FilesError::Unfit { path: source, reason: "a file may have 64 MiB" });
        }
        files.push(Placed { path: path.clone(), content: Bytes::Here(bytes), is_executable });
    }
    files.sort_by(|one, two| one.path.cmp(&two.path));
    Ok(files)
}

/// The first file that is named like a credential, or holds a private key.
pub fn credential(files: &[Placed]) -> Option<&str> {
    let holds_key = |file: &Placed| match &file.content {
        Bytes::Here(bytes) => is_private_key(bytes),
        Bytes::Of(_) => false,
    };
    files.iter().find(|file| file.path.split('/').any(is_credential) || holds_key(file)).map(|file| file.path.as_str())
}

fn is_credential(name: &str) -> bool {
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

/// Whether bytes begin as a private key in armour does.
fn is_private_key(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(64)]);
    let first = head.trim_start().lines().next().unwrap_or_default();
    first.starts_with("-----BEGIN ") && first.ends_with("PRIVATE KEY-----")
}

fn walk(folder: &Path, passes_over: bool) -> Result<Vec<Placed>, FilesError> {
    let real = fs::canonicalize(folder).map_err(unreadable(folder))?;
    let mut files = Vec::new();
    let (mut entries, mut total) = (0, 0);
    let mut open = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((at, prefix, depth)) = open.pop() {
        let listing = fs::read_dir(&at).map_err(unreadable(&at))?;
        for entry in listing {
            let entry = entry.map_err(unreadable(&at))?;
            let path = entry.path();
            let unfit = |reason| FilesError::Unfit { path: path.clone(), reason };
            entries += 1;
            if entries > ENTRIES_MAX {
                return Err(FilesError::Unfit { path: folder.to_owned(), reason: "it has more than 20,000 entries" });
            }
            let name = entry.file_name();
            let name = name.to_str().ok_or_else(|| unfit("its name is not UTF-8"))?;
            if passes_over && is_left(name) {
                continue;
            }
            let relative = format!("{prefix}{name}");
            let kind = entry.file_type().map_err(unreadable(&path))?;
            if kind.is_dir() {
                if depth >= DEPTH_MAX {
                    return Err(unfit("it lies too deep"));
                }
                open.push((path, format!("{relative}/"), depth + 1));
                continue;
            }
            let source =
                if kind.is_symlink() { inside(&path, &real).ok_or_else(|| unfit(LINK))? } else { path.clone() };
            let (bytes, is_executable) = content(&source).map_err(unreadable(&path))?;
            total += bytes.len() as u64;
            if bytes.len() as u64 > FILE_BYTES_MAX || total > TOTAL_BYTES_MAX {
                return Err(unfit("a file may have 64 MiB, and all together 512 MiB"));
            }
            files.push(Placed { path: relative, content: Bytes::Here(bytes), is_executable });
        }
    }
    files.sort_by(|one, two| one.path.cmp(&two.path));
    Ok(files)
}

const LINK: &str = "it is a link that leads out of the folder, to a folder, or nowhere; put the file itself there";

/// The file of the same folder that a link leads to.
fn inside(link: &Path, real: &Path) -> Option<PathBuf> {
    let target = fs::canonicalize(link).ok()?;
    (target.starts_with(real) && target.is_file()).then_some(target)
}

/// The bytes of a regular file, without following a link or waiting for a pipe; and whether it can be executed.
fn content(path: &Path) -> io::Result<(Vec<u8>, bool)> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits()).unwrap_or(0);
    let file: File = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok((bytes, metadata.permissions().mode() & 0o111 != 0))
}

/// Reads a file of at most so many bytes.
pub fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file =
        OpenOptions::new().read(true).custom_flags(i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0)).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it is larger than {most} bytes")));
    }
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The digest of bytes, as `sha256:` and hexadecimal digits.
pub fn digest_of(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(bytes)))
}

/// What each file holds, by path. A file that can be executed is another than one that cannot.
pub fn digests(files: &[Placed]) -> BTreeMap<String, String> {
    let mark =
        |file: &Placed| format!("{}{}", digest_of(file.bytes()), if file.is_executable { " executable" } else { "" });
    files.iter().map(|file| (file.path.clone(), mark(file))).collect()
}

/// The digest of all files: over lines of a path, a zero byte and the file's own digest, in order of path.
pub fn digest(files: &[Placed]) -> String {
    let mut hasher = Sha256::new();
    for (path, mark) in digests(files) {
        hasher.update(path.as_bytes());
        hasher.update([0]);
        hasher.update(mark.as_bytes());
        hasher.update(b"\n");
    }
    format!("sha256:{}", hex(&hasher.finalize()))
}

/// What the npm tool `skills` calls `computedHash`: SHA-256 over path and content of each file, sorted as JavaScript's
/// `localeCompare` does. That order is known here for ASCII; other characters come after, by code point.
pub fn computed_hash(files: &[Placed]) -> String {
    let is_counted =
        |file: &&Placed| !file.path.split('/').rev().skip(1).any(|part| part == ".git" || part == "node_modules");
    let mut counted: Vec<&Placed> = files.iter().filter(is_counted).collect();
    counted.sort_by(|one, two| collated(&one.path, &two.path));
    let mut hasher = Sha256::new();
    for file in counted {
        hasher.update(file.path.as_bytes());
        hasher.update(file.bytes());
    }
    hex(&hasher.finalize())
}

/// Compares as the Unicode collation does at its root, for ASCII: first without regard to case, then small before large letters.
fn collated(one: &str, two: &str) -> Ordering {
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

/// The skills among files: one where there is a SKILL.md at the root, else one per outermost folder that has one. Each with
/// the path of its folder.
pub fn split(files: Vec<Placed>) -> Vec<(String, Vec<Placed>)> {
    let is_manifest = |name: &str| name == "SKILL.md" || name == "skill.md";
    if files.iter().any(|file| is_manifest(&file.path)) {
        return vec![(String::new(), files)];
    }
    let mut folders: Vec<String> = files
        .iter()
        .filter_map(|file| {
            file.path.rsplit_once('/').filter(|(_, name)| is_manifest(name)).map(|(folder, _)| folder.to_owned())
        })
        .collect();
    folders.sort();
    folders.dedup();
    let all = folders.clone();
    folders.retain(|folder| {
        !all.iter().any(|other| folder.strip_prefix(other.as_str()).is_some_and(|rest| rest.starts_with('/')))
    });
    let mut skills: Vec<(String, Vec<Placed>)> = folders.into_iter().map(|folder| (folder, Vec::new())).collect();
    for mut file in files {
        let own = skills
            .iter_mut()
            .find(|(folder, _)| file.path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/')));
        if let Some((folder, own)) = own {
            file.path.drain(..=folder.len());
            own.push(file);
        }
    }
    skills
}

/// The files of a skill that are packed, below a folder of its name: without what belongs to its making.
pub fn packed(files: &[Placed], name: &str) -> Vec<(String, Vec<u8>, bool)> {
    let is_packed = |file: &&Placed| !file.path.starts_with("evals/");
    let below = |path: &str| if name.is_empty() { path.to_owned() } else { format!("{name}/{path}") };
    let one = |file: &Placed| (below(&file.path), file.bytes().to_vec(), file.is_executable);
    files.iter().filter(is_packed).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> Placed {
        Placed { path: path.to_owned(), content: Bytes::Here(text.as_bytes().to_vec()), is_executable: false }
    }

    #[test]
    fn names_are_sorted_as_javascript_sorts_them() {
        let mut names =
            ["ab/c", "aB", "ab", "Ab", "a-b", "a_b", "a/b", "A/c", "a/d", "a1", "SKILL.md", "scripts/x.sh", "z"];
        names.sort_by(|one, two| collated(one, two));
        assert_eq!(
            names,
            ["a_b", "a-b", "a/b", "A/c", "a/d", "a1", "ab", "aB", "Ab", "ab/c", "scripts/x.sh", "SKILL.md", "z"]
        );
    }

    /// The hash was made by version 1.7.4 of the npm tool.
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
        assert_eq!(computed_hash(&files), "5ca607bdc8d6bfb0f38b482bb04e9367cc0332caff52a545b4f4855c3b46873f");
    }

    #[test]
    fn a_folder_is_read_whole_or_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("one");
        fs::create_dir_all(folder.join("scripts/__pycache__")).unwrap();
        fs::write(folder.join("SKILL.md"), "a").unwrap();
        fs::write(folder.join("scripts/__pycache__/x.pyc"), "x").unwrap();
        std::os::unix::fs::symlink("../SKILL.md", folder.join("scripts/again.md")).unwrap();
        let names = |files: Vec<Placed>| files.into_iter().map(|file| file.path).collect::<Vec<String>>();
        assert_eq!(names(read(&folder).unwrap()), ["SKILL.md", "scripts/again.md"]);
        assert_eq!(names(read_all(&folder).unwrap()).len(), 3);
        std::os::unix::fs::symlink("/etc/passwd", folder.join("out")).unwrap();
        assert!(read(&folder).unwrap_err().to_string().contains("link"));
        fs::remove_file(folder.join("out")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, folder.join("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert!(read(&folder).unwrap_err().to_string().contains("regular"));
    }

    #[test]
    fn files_are_split_into_skills_and_digests_see_every_change() {
        let files =
            vec![file("a/SKILL.md", "1"), file("a/x/SKILL.md", "2"), file("b/c/skill.md", "3"), file("README.md", "")];
        let skills = split(files);
        let shape: Vec<(&str, usize)> = skills.iter().map(|(folder, files)| (folder.as_str(), files.len())).collect();
        assert_eq!(shape, [("a", 2), ("b/c", 1)]);
        let one = [file("a", "1"), file("b", "2")];
        let mut two = one.clone();
        two[1].is_executable = true;
        assert_ne!(digest(&one), digest(&two));
        assert_ne!(digest(&one), digest(&[file("a", "12"), file("b", "")]));
        assert_eq!(digest(&one), digest(&[one[1].clone(), one[0].clone()]));
    }
}
