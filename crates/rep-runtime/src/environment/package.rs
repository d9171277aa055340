//! What a package may be called: a name with versions, in the words of its registry. Never an option, an address or a file.

use crate::plan::ToolRuntime;
use rep_model::truncate::truncate_chars;

/// The longest request for one package, and the most of them.
const LETTERS_MAX: usize = 200;
const PACKAGES_MAX: usize = 64;
/// What installers take for files, wherever it stands.
const ARCHIVES: &[&str] = &[".whl", ".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".tbz", ".txz", ".egg"];

/// A package that is not installed, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{package}` is not installed: {reason}")]
pub struct BadPackage {
    /// What was declared.
    pub package: String,
    /// Why not.
    pub reason: &'static str,
}

/// Whether every package of a list is a name with versions.
pub fn judge(runtime: ToolRuntime, packages: &[String]) -> Result<(), BadPackage> {
    for (index, package) in packages.iter().enumerate() {
        let judged = if index >= PACKAGES_MAX { Err("there are too many packages") } else { one(runtime, package) };
        judged.map_err(|reason| BadPackage { package: truncate_chars(package, LETTERS_MAX).to_owned(), reason })?;
    }
    Ok(())
}

fn one(runtime: ToolRuntime, package: &str) -> Result<(), &'static str> {
    if package.is_empty() || package.len() > LETTERS_MAX || !package.is_ascii() {
        return Err("a name has 1 to 200 ASCII letters");
    }
    if package.bytes().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control()) {
        return Err("it has white space; write name and version without");
    }
    if package.starts_with('-') {
        return Err("it is an option, and no package");
    }
    let lower = package.to_ascii_lowercase();
    if package.contains(':') || package.contains('\\') || ARCHIVES.iter().any(|ending| lower.ends_with(ending)) {
        return Err("it is an address or a file, and only names are installed");
    }
    match runtime {
        ToolRuntime::Python => pip(package),
        ToolRuntime::Node => npm(package),
        ToolRuntime::Bash => Err("bash has no packages"),
    }
}

/// `name`, `name[extra,…]`, `name==1.2,!=1.3`.
fn pip(package: &str) -> Result<(), &'static str> {
    let end = package.find(['[', '=', '<', '>', '!', '~']).unwrap_or(package.len());
    let (name, mut rest) = package.split_at(end);
    if !is_name(name) {
        return Err("it does not begin with a package's name");
    }
    if let Some(inside) = rest.strip_prefix('[') {
        let (extras, after) = inside.split_once(']').ok_or("its extras have no end")?;
        if !extras.split(',').all(is_name) {
            return Err("its extras are no names");
        }
        rest = after;
    }
    let is_version = |text: &str| {
        let operators = ["===", "==", ">=", "<=", "~=", "!=", "<", ">"];
        let version = operators.iter().find_map(|operator| text.strip_prefix(operator));
        version.is_some_and(|version| is_made_of(version, b"._+-*!"))
    };
    if rest.is_empty() || rest.split(',').all(is_version) { Ok(()) } else { Err("its versions cannot be read") }
}

/// `name`, `@scope/name`, `name@^1.2`, `name@latest`.
fn npm(package: &str) -> Result<(), &'static str> {
    let (scope, rest) = match package.strip_prefix('@') {
        Some(scoped) => {
            let (scope, rest) = scoped.split_once('/').ok_or("a scope has a name behind it")?;
            (Some(scope), rest)
        }
        None => (None, package),
    };
    let (name, version) = rest.split_once('@').map_or((rest, None), |(name, version)| (name, Some(version)));
    if !is_name(name) || !scope.is_none_or(is_name) {
        return Err("it is no package's name");
    }
    // A range of many parts is written without white space: `1.x||2.x`.
    if version.is_some_and(|version| version.starts_with('.')) {
        Err("its version is a folder, and only names are installed")
    } else if version.is_none_or(|version| is_made_of(version, b"._+-*^~<>=|")) {
        Ok(())
    } else {
        Err("its version cannot be read")
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphanumeric()) && is_made_of(text, b"._-")
}

fn is_made_of(text: &str, marks: &[u8]) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || marks.contains(&byte))
}
