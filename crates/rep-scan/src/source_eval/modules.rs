//! What one script of a skill imports from another: functions, whose arguments and results are followed, and constants.
//!
//! A reference to a module of the skill is its path between two marks, so that no name of a library is like it.

use std::collections::HashMap;
use std::rc::Rc;

use rep_model::{ResolvedSkillPath, resolve_skill_path};

use super::functions::FunctionFacts;
use super::{Arguments, SourceRun};
use crate::scanner::Scanner;
use crate::value::{SharedValue, Value, merge_taints};

const MARK: char = '\u{1}';

/// What is known about a script that others import, or that imports others.
#[derive(Default)]
pub(crate) struct ModuleFacts {
    /// The values of its names.
    pub(super) names: HashMap<String, (SharedValue, u32)>,
    pub(super) functions: FunctionFacts,
}

/// A reference to a module of the skill.
pub(crate) fn module_reference(file: &str) -> SharedValue {
    Value::reference(&format!("{MARK}{file}{MARK}"))
}

/// The file and the member that a reference to a module of the skill means.
pub(crate) fn split_reference(name: &str) -> Option<(&str, &str)> {
    let (file, member) = name.strip_prefix(MARK)?.split_once(MARK)?;
    Some((file, member.strip_prefix('.').unwrap_or(member)))
}

impl Scanner<'_> {
    /// The script of the skill that `import module` means in a file.
    pub(crate) fn find_module(&self, from: &str, module: &str, is_python: bool) -> Option<String> {
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let resolve = |folder: &str, path: &str| match resolve_skill_path(folder, path) {
            ResolvedSkillPath::Inside(path) if path != from && self.has_file(&path) => Some(path),
            _ => None,
        };
        if module.is_empty() || module.len() > 200 {
            return None;
        }
        if !is_python {
            let endings = ["", ".js", ".ts", ".mjs", ".cjs", ".tsx", ".jsx", "/index.js", "/index.ts"];
            let base = module.strip_suffix(".js").unwrap_or(module);
            let is_own = module.starts_with("./") || module.starts_with("../");
            return is_own.then_some(()).and_then(|()| resolve(folder, module)).or_else(|| {
                endings.iter().filter(|_| is_own).find_map(|end| resolve(folder, &format!("{base}{end}")))
            });
        }
        let levels = module.bytes().take_while(|byte| *byte == b'.').count();
        let path = module[levels..].replace('.', "/");
        let find = |folder: &str| {
            resolve(folder, &format!("{path}.py")).or_else(|| resolve(folder, &format!("{path}/__init__.py")))
        };
        if levels > 0 {
            let mut above = Some(folder);
            for _ in 1..levels {
                above = above.map(|folder| folder.rsplit_once('/').map_or("", |(above, _)| above));
            }
            return find(above?);
        }
        if path.is_empty() {
            return None;
        }
        [folder, "", "scripts", "src", "lib"].into_iter().find_map(find)
    }
}

impl SourceRun<'_, '_> {
    /// The value of an imported module: a script of the skill, or a library.
    pub(crate) fn imported_module(&self, module: &str, library: &str) -> SharedValue {
        match self.scanner.find_module(&self.place.file, module, self.is_python) {
            Some(file) => module_reference(&file),
            None => Value::reference(library),
        }
    }

    /// The member of a module of the skill.
    pub(crate) fn module_member(&self, reference: &str, name: &str) -> Option<SharedValue> {
        let (file, inside) = split_reference(reference)?;
        let facts = self.scanner.modules.get(file)?;
        if !inside.is_empty() || facts.functions.is_defined(name) {
            return None;
        }
        let exported = || facts.names.get("module.exports").and_then(|(value, _)| value.entry(name).cloned());
        let value = facts.names.get(name).map(|(value, _)| Rc::clone(value)).or_else(exported)?;
        // What the other script calls by a name of its own is reached through the module.
        if value.name.is_some() { None } else { Some(value) }
    }

    /// Binds every name of a module, as `from module import *` does.
    pub(super) fn import_all(&mut self, file: &str) {
        let Some(facts) = self.scanner.modules.get(file) else { return };
        let names: Vec<String> = facts
            .functions
            .defined_names()
            .chain(facts.names.keys().map(String::as_str))
            .filter(|name| !name.contains('.'))
            .map(str::to_owned)
            .collect();
        for name in names {
            let reference = format!("{MARK}{file}{MARK}");
            let value = self.module_member(&reference, &name);
            self.assign(&name, value.unwrap_or_else(|| Value::reference(&format!("{reference}.{name}"))));
        }
    }

    /// The function of another script that a call means: its file and name.
    pub(super) fn imported_function(&self, callee: &SharedValue) -> Option<(Rc<str>, String)> {
        let (file, member) = split_reference(callee.name.as_deref()?)?;
        let (file, facts) = self.scanner.modules.get_key_value(file)?;
        let exports = facts.names.get("module.exports").map(|(value, _)| value);
        let name = if facts.functions.is_defined(member) {
            member.to_owned()
        } else if member.is_empty() || member == "default" {
            exports?.name.as_deref()?.to_owned()
        } else {
            exports
                .and_then(|value| value.entry(member)?.name.as_deref().map(str::to_owned))
                .unwrap_or_else(|| member.to_owned())
        };
        Some((Rc::clone(file), name))
    }

    /// Notes the arguments of a call of another script's function, and returns what it gives. What is not a function is a
    /// class, whose methods are found through the module.
    pub(super) fn call_imported(&mut self, file: &Rc<str>, name: &str, arguments: &Arguments) -> SharedValue {
        let Some(facts) = self.scanner.modules.get_mut(file) else { return Value::unknown() };
        if facts.functions.is_defined(name) {
            facts.functions.add_call(name, arguments);
            return facts.functions.result(name).unwrap_or_else(Value::unknown);
        }
        facts.functions.add_call("__init__", arguments);
        let taints = merge_taints(arguments.all());
        module_reference(file).with_taints(&taints)
    }
}
