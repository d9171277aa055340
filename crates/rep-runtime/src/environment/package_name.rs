//! Validates package names: a name with versions, in the syntax of its registry. Never an option, an address
//! or a file.

use crate::plan::ToolRuntime;
use rep_model::truncate::truncate_chars;

/// The maximum length of a package specifier, and the maximum number of packages.
const NAME_CHARS_MAX: usize = 200;
const PACKAGES_MAX: usize = 64;
/// Suffixes that installers treat as files, wherever they appear.
const ARCHIVE_EXTENSIONS: &[&str] = &[".whl", ".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".tbz", ".txz", ".egg"];

/// A package that cannot be installed, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{package}` is not installed: {reason}")]
pub struct InvalidPackageName {
    /// The declared package.
    pub package: String,
    /// The reason.
    pub reason: &'static str,
}

/// Checks that every package of a list is a name with versions.
pub fn check_package_names(runtime: ToolRuntime, packages: &[String]) -> Result<(), InvalidPackageName> {
    for (index, package) in packages.iter().enumerate() {
        let judged = if index >= PACKAGES_MAX {
            Err("there are too many packages")
        } else {
            check_package_name(runtime, package)
        };
        judged.map_err(|reason| InvalidPackageName {
            package: truncate_chars(package, NAME_CHARS_MAX).to_owned(),
            reason,
        })?;
    }
    Ok(())
}

fn check_package_name(runtime: ToolRuntime, package: &str) -> Result<(), &'static str> {
    if package.is_empty() || package.len() > NAME_CHARS_MAX || !package.is_ascii() {
        return Err("a name must have 1 to 200 ASCII characters");
    }
    if package.bytes().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control()) {
        return Err("it contains white space; write name and version without it");
    }
    if package.starts_with('-') {
        return Err("it is an option, not a package");
    }
    let lower = package.to_ascii_lowercase();
    if package.contains(':')
        || package.contains('\\')
        || ARCHIVE_EXTENSIONS.iter().any(|ending| lower.ends_with(ending))
    {
        return Err("it is an address or a file; only package names can be installed");
    }
    match runtime {
        ToolRuntime::Python => check_pip_name(package),
        ToolRuntime::Node => check_npm_name(package),
        ToolRuntime::Bash => Err("bash has no packages"),
    }
}

/// `name`, `name[extra,…]`, `name==1.2,!=1.3`.
fn check_pip_name(package: &str) -> Result<(), &'static str> {
    let end = package.find(['[', '=', '<', '>', '!', '~']).unwrap_or(package.len());
    let (name, mut rest) = package.split_at(end);
    if !is_package_name(name) {
        return Err("it does not start with a package name");
    }
    if let Some(inside) = rest.strip_prefix('[') {
        let (extras, after) = inside.split_once(']').ok_or("its extras have no closing `]`")?;
        if !extras.split(',').all(is_package_name) {
            return Err("its extras are not valid names");
        }
        rest = after;
    }
    let is_version = |text: &str| {
        let operators = ["===", "==", ">=", "<=", "~=", "!=", "<", ">"];
        let version = operators.iter().find_map(|operator| text.strip_prefix(operator));
        version.is_some_and(|version| has_only_characters(version, b"._+-*!"))
    };
    if rest.is_empty() || rest.split(',').all(is_version) { Ok(()) } else { Err("its version specifiers are invalid") }
}

/// `name`, `@scope/name`, `name@^1.2`, `name@latest`.
fn check_npm_name(package: &str) -> Result<(), &'static str> {
    let (scope, rest) = match package.strip_prefix('@') {
        Some(scoped) => {
            let (scope, rest) = scoped.split_once('/').ok_or("a scope must be followed by a name")?;
            (Some(scope), rest)
        }
        None => (None, package),
    };
    let (name, version) = rest.split_once('@').map_or((rest, None), |(name, version)| (name, Some(version)));
    if !is_package_name(name) || !scope.is_none_or(is_package_name) {
        return Err("it is not a valid package name");
    }
    // A range with several parts is written without white space: `1.x||2.x`.
    if version.is_some_and(|version| version.starts_with('.')) {
        Err("its version is a directory; only package names can be installed")
    } else if version.is_none_or(|version| has_only_characters(version, b"._+-*^~<>=|")) {
        Ok(())
    } else {
        Err("its version is invalid")
    }
}

fn is_package_name(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphanumeric()) && has_only_characters(text, b"._-")
}

fn has_only_characters(text: &str, marks: &[u8]) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || marks.contains(&byte))
}
