//! The commands of a document, and the lookup of a command by name.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Bound;

use super::{UaspArgument, UaspCommand};

/// The maximum number of words in a step that form the name of a command.
const NAME_WORDS_MAX: usize = 8;

/// The commands of a document, in document order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UaspCommands {
    all: Vec<UaspCommand>,
    /// The index of each command by path and alias. Paths take precedence over aliases, and the first use of an alias
    /// counts.
    by_name: HashMap<String, usize>,
    /// The names with dots, sorted, so that prefixes are found.
    dotted: BTreeMap<String, usize>,
    /// The first words of all syntaxes.
    programs: HashSet<String>,
}

impl UaspCommands {
    /// Indexes commands for lookup.
    pub fn new(all: Vec<UaspCommand>) -> Self {
        let mut by_name = HashMap::new();
        let mut programs = HashSet::new();
        for (at, command) in all.iter().enumerate() {
            for alias in &command.aliases {
                by_name.entry(alias.value.clone()).or_insert(at);
            }
            programs.extend(command.program().map(str::to_owned));
        }
        by_name.extend(all.iter().enumerate().map(|(at, command)| (command.path.value.clone(), at)));
        let dotted = by_name.iter().filter(|(name, _)| name.contains('.'));
        let dotted = dotted.map(|(name, at)| (name.clone(), *at)).collect();
        Self { all, by_name, dotted, programs }
    }

    /// Returns the commands in document order.
    pub fn iter(&self) -> std::slice::Iter<'_, UaspCommand> {
        self.all.iter()
    }

    /// Whether the document has no commands.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Finds a command by its path, or else by an alias.
    pub fn get(&self, name: &str) -> Option<&UaspCommand> {
        self.all.get(*self.by_name.get(name)?)
    }

    /// Finds a command by its path or alias, with dots or spaces between the parts.
    pub fn find_by_name(&self, name: &str) -> Option<&UaspCommand> {
        let joined = || name.split_whitespace().collect::<Vec<_>>().join(".");
        self.get(name).or_else(|| self.get(&joined()))
    }

    /// Finds the commands that an entry of a state entity names: the command with that path or alias, or else all
    /// commands below that prefix (`get` for `get.text` and `get.url`). Dots or spaces are between the parts. Free text
    /// names no command.
    pub fn match_entry(&self, entry: &str) -> Vec<&UaspCommand> {
        if let Some(command) = self.find_by_name(entry) {
            return vec![command];
        }
        let parts: Vec<&str> = entry.split_whitespace().collect();
        if parts.is_empty() {
            return Vec::new();
        }
        let group = format!("{}.", parts.join("."));
        let below = self.dotted.range::<str, _>((Bound::Included(group.as_str()), Bound::Unbounded));
        let below = below.take_while(|(name, _)| name.starts_with(&group)).map(|(_, at)| *at);
        // A command and its aliases may both be below the prefix.
        let found: BTreeSet<usize> = below.collect();
        found.into_iter().filter_map(|at| self.all.get(at)).collect()
    }

    /// Finds the command that a step runs: the one whose path or alias is the longest prefix of the words. The name of
    /// the program may come first.
    pub fn find_by_step(&self, words: &[&str]) -> Option<&UaspCommand> {
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

impl<'a> IntoIterator for &'a UaspCommands {
    type Item = &'a UaspCommand;
    type IntoIter = std::slice::Iter<'a, UaspCommand>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl UaspCommand {
    /// Returns the path, followed by the aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.path).chain(self.aliases.iter().map(|alias| &**alias))
    }

    /// Returns the arguments, followed by the flags.
    pub fn parameters(&self) -> impl Iterator<Item = &UaspArgument> {
        self.arguments.iter().chain(&self.flags)
    }

    /// Returns the first word of the syntax.
    pub fn program(&self) -> Option<&str> {
        self.syntax.as_deref()?.split_whitespace().next()
    }

    /// Returns the number of leading words of a step that form a name of this command.
    pub fn count_name_words(&self, words: &[String]) -> Option<usize> {
        let mut counts = (1..=words.len().min(NAME_WORDS_MAX)).rev();
        counts.find(|count| {
            let name = words[..*count].join(".");
            self.names().any(|own| own == name)
        })
    }
}
