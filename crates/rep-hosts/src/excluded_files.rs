//! The files in the directory of a skill that are not part of it: private files, and those of version control, editors,
//! package managers and interpreters. They are never exported, published or served.

/// The names of directories that are never part of a skill.
pub(crate) const EXCLUDED_FOLDERS: [&str; 26] = [
    ".aws",
    ".bzr",
    ".docker",
    ".git",
    ".gnupg",
    ".hg",
    ".idea",
    ".jj",
    ".kube",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".ssh",
    ".svn",
    ".terraform",
    ".tox",
    ".venv",
    ".vs",
    ".vscode",
    "CVS",
    "__MACOSX",
    "__pycache__",
    "_darcs",
    "node_modules",
    "site-packages",
    "venv",
];

/// The names of files that are never part of a skill.
const EXCLUDED_NAMES: [&str; 26] = [
    ".DS_Store",
    ".dockercfg",
    ".env",
    ".envrc",
    ".git",
    ".git-credentials",
    ".gitattributes",
    ".gitignore",
    ".gitmodules",
    ".hgignore",
    ".htpasswd",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".svnignore",
    ".vault-token",
    ".yarnrc",
    "Thumbs.db",
    "_netrc",
    "desktop.ini",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "service-account.json",
];

/// The endings of names of files that are never part of a skill.
const EXCLUDED_ENDINGS: [&str; 19] = [
    ".jks",
    ".kdbx",
    ".key",
    ".keystore",
    ".orig",
    ".p12",
    ".pem",
    ".pfx",
    ".ppk",
    ".pyc",
    ".pyo",
    ".rej",
    ".swn",
    ".swo",
    ".swp",
    ".tfstate",
    ".tfvars",
    ".un~",
    "~",
];

/// The beginnings of names of files that are never part of a skill: environments, and locks of editors.
const EXCLUDED_BEGINNINGS: [&str; 2] = [".env.", ".#"];

/// The endings of environments that contain no secrets: examples for the user to fill in.
const EXAMPLE_ENDINGS: [&str; 5] = [".example", ".sample", ".template", ".dist", ".defaults"];

/// Whether a path is part of a skill. Private files, such as `.env` and keys, and files of version control, editors,
/// package managers and interpreters are not.
///
/// ```
/// use rep_hosts::is_skill_part;
///
/// assert!(is_skill_part("references/env.md") && is_skill_part(".env.example"));
/// assert!(!is_skill_part("scripts/.env") && !is_skill_part("certs/server.KEY") && !is_skill_part(".git/HEAD"));
/// ```
pub fn is_skill_part(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    if folders.split('/').chain([name]).any(|part| EXCLUDED_FOLDERS.contains(&part)) {
        return false;
    }
    let lower = name.to_ascii_lowercase();
    let is_example = EXAMPLE_ENDINGS.iter().any(|ending| lower.ends_with(ending));
    let is_environment = EXCLUDED_BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning)) && !is_example;
    let is_autosave = name.len() > 2 && name.starts_with('#') && name.ends_with('#');
    !is_environment
        && !is_autosave
        && !EXCLUDED_NAMES.iter().any(|own| own.eq_ignore_ascii_case(name))
        && !EXCLUDED_ENDINGS.iter().any(|ending| lower.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_name_each_file_once() {
        for list in [&EXCLUDED_FOLDERS[..], &EXCLUDED_NAMES, &EXCLUDED_ENDINGS] {
            assert!(list.is_sorted_by(|one, other| one < other), "{list:?}");
        }
    }

    #[test]
    fn private_files_and_those_of_other_programs_are_not_part_of_a_skill() {
        let foreign = [
            ".env",
            "a/.env",
            ".env.local",
            ".ENV",
            "id_rsa",
            "keys/id_ed25519",
            "server.pem",
            "tls.key",
            ".git",
            ".git/HEAD",
            ".hg/store",
            ".svn/x",
            ".vscode/settings.json",
            ".idea/a.xml",
            "a.md~",
            ".a.md.swp",
            "#a.md#",
            ".#a.md",
            "node_modules/x.js",
            "x.pyc",
            ".npmrc",
            ".ssh/config",
            "terraform.tfstate",
        ];
        for path in foreign {
            assert!(!is_skill_part(path), "{path}");
        }
        for path in
            ["SKILL.md", "a/b.txt", ".env.example", "env", "keys.md", "references/git.md", "scripts/key.py", ".hidden"]
        {
            assert!(is_skill_part(path), "{path}");
        }
    }
}
