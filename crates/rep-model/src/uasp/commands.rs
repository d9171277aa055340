//! The commands of a document, and the one way to find a command by a name.

use std::collections::{HashMap, HashSet};

use super::{Argument, Command};

/// The most words of a step that may name a command.
const NAME_WORDS_MAX: usize = 8;

/// The commands of a document, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Commands {
    all: Vec<Command>,
    /// The position of each command by path and alias. A path goes before an alias, and the first alias of a name counts.
    by_name: HashMap<String, usize>,
    /// The first words of all syntaxes.
    programs: HashSet<String>,
}

impl Commands {
    /// Prepares commands for lookup.
    pub fn new(all: Vec<Command>) -> Self {
        let mut by_name = HashMap::new();
        let mut programs = HashSet::new();
        for (at, command) in all.iter().enumerate() {
            for alias in &command.aliases {
                by_name.entry(alias.value.clone()).or_insert(at);
            }
            programs.extend(command.program().map(str::to_owned));
        }
        by_name.extend(all.iter().enumerate().map(|(at, command)| (command.path.value.clone(), at)));
        Self { all, by_name, programs }
    }

    /// The commands in the order of the document.
    pub fn iter(&self) -> std::slice::Iter<'_, Command> {
        self.all.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Finds a command by its path, else by an alias.
    pub fn get(&self, name: &str) -> Option<&Command> {
        self.all.get(*self.by_name.get(name)?)
    }

    /// Finds a command by its path or alias, with dots or blanks between the parts.
    pub fn find(&self, name: &str) -> Option<&Command> {
        let joined = || name.split_whitespace().collect::<Vec<_>>().join(".");
        self.get(name).or_else(|| self.get(&joined()))
    }

    /// Finds the command that the words of a step start: the one whose path or alias is the longest beginning of the words.
    /// The program's own name may come first.
    pub fn find_by_step(&self, words: &[&str]) -> Option<&Command> {
        let longest = |words: &[&str]| {
            let mut counts = (1..=words.len().min(NAME_WORDS_MAX)).rev();
            counts.find_map(|count| self.get(&words[..count].join(".")))
        };
        longest(words).or_else(|| {
            let (first, rest) = words.split_first()?;
            self.programs.contains(*first).then(|| longest(rest)).flatten()
        })
    }
}

impl<'a> IntoIterator for &'a Commands {
    type Item = &'a Command;
    type IntoIter = std::slice::Iter<'a, Command>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Command {
    /// Its path, then its aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.path).chain(self.aliases.iter().map(|alias| &**alias))
    }

    /// Its arguments, then its flags.
    pub fn parameters(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().chain(&self.flags)
    }

    /// The first word of its syntax.
    pub fn program(&self) -> Option<&str> {
        self.syntax.as_deref()?.split_whitespace().next()
    }

    /// How many of the first words of a step are a name of this command.
    pub fn name_length(&self, words: &[String]) -> Option<usize> {
        let mut counts = (1..=words.len().min(NAME_WORDS_MAX)).rev();
        counts.find(|count| {
            let name = words[..*count].join(".");
            self.names().any(|own| own == name)
        })
    }
}
