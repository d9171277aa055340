//! Finds the scripts of a skill that import each other.

use std::collections::BTreeSet;
use std::rc::Rc;

use rep_model::Skill;

use crate::scanner::{Language, Scanner};
use crate::source_eval;
use crate::units::script_language;

/// The maximum size of all scripts that import each other.
const LINKED_BYTES_MAX: usize = 512 * 1024;

/// Finds the scripts of Python and JavaScript that import each other, and collects what they know of each other.
pub(crate) fn link_scripts(scanner: &mut Scanner<'_>, skill: &Skill) {
    let sources = || {
        skill.tree.entries.keys().filter_map(|path| {
            let language = script_language(path, "").filter(|language| *language != Language::Shell)?;
            let text = std::str::from_utf8(skill.tree.file_bytes(path)?).ok()?;
            Some((path, text, language))
        })
    };
    if sources().nth(1).is_none() {
        return;
    }
    let mut linked: BTreeSet<Rc<str>> = BTreeSet::new();
    for (path, text, language) in sources() {
        for module in imported_modules(text, language) {
            if let Some(file) = scanner.find_module(path, module, language == Language::Python) {
                linked.insert(Rc::from(path.as_str()));
                linked.insert(Rc::from(file));
            }
        }
    }
    let scripts: Vec<(Rc<str>, &str, Language)> = sources()
        .filter_map(|(path, text, language)| Some((linked.get(path.as_str()).cloned()?, text, language)))
        .collect();
    if scripts.iter().map(|(_, text, _)| text.len()).sum::<usize>() > LINKED_BYTES_MAX {
        return;
    }
    scanner.linked = linked;
    source_eval::rehearse_linked(scanner, &scripts);
}

/// The modules that a script names where it imports, without reading it.
fn imported_modules(text: &str, language: Language) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| line.len() < 1000).flat_map(move |line| {
        let line = line.trim_start();
        let mut found = Vec::new();
        if language == Language::Python {
            if let Some(rest) = line.strip_prefix("from ") {
                let module = rest.split_whitespace().next().unwrap_or("");
                found.push(module);
                if module.bytes().all(|byte| byte == b'.') {
                    found.extend(rest.split([' ', ',', '(', ')']).filter(|name| !name.is_empty()));
                }
            } else if let Some(rest) = line.strip_prefix("import ") {
                found.extend(rest.split(',').filter_map(|name| name.split_whitespace().next()));
            }
        } else if line.contains("require(") || line.contains("import") || line.contains(" from ") {
            found.extend(line.split(['"', '\'', '`']).filter(|part| part.starts_with("./") || part.starts_with("../")));
        }
        found
    })
}
