//! Words of a sentence, with the punctuation between them, and what kind of word each is.

use std::ops::Range;

/// What stands at a place of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// Code in backticks; never a marker of anything.
    Code,
    /// Text in double quotes; somebody's words, never the author's.
    Quoted,
}

/// A word.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// Where it stands in the sentence, without the punctuation around it.
    pub(super) at: Range<usize>,
    /// In lower case, with straight apostrophes; empty where the form is not plain.
    pub(super) lower: String,
    pub(super) form: Form,
}

/// A sentence in words.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    pub(super) text: &'a str,
    pub(super) list: Vec<Word>,
}

impl<'a> Words<'a> {
    /// Cuts a sentence into words.
    pub(super) fn of(text: &'a str) -> Self {
        let mut list = Vec::new();
        let mut at = 0;
        let mut has_quotes = true;
        while let Some(letter) = text[at..].chars().next() {
            let rest = &text[at..];
            let close = match letter {
                '`' => Some('`'),
                '"' if has_quotes => Some('"'),
                '“' => Some('”'),
                _ => None,
            };
            if let Some(close) = close {
                let inside = at + letter.len_utf8();
                if let Some(end) = text[inside..].find(close) {
                    let end = inside + end + close.len_utf8();
                    let form = if letter == '`' { Form::Code } else { Form::Quoted };
                    list.push(Word { at: at..end, lower: String::new(), form });
                    at = end;
                    continue;
                }
                // An inch or a stray mark: there is no closing one to look for any more.
                has_quotes = has_quotes && letter != '"';
                at = inside;
                continue;
            }
            if !is_inner(letter) {
                at += letter.len_utf8();
                continue;
            }
            let end = rest.find(|letter: char| !is_inner(letter)).map_or(text.len(), |end| at + end);
            let trimmed = text[at..end].trim_end_matches(['.', ':', '\'', '’', '!', '/', '-']);
            let stop = at + trimmed.len();
            if trimmed.chars().any(char::is_alphanumeric) {
                let lower = trimmed.to_lowercase().replace('’', "'");
                list.push(Word { at: at..stop, lower, form: Form::Plain });
            }
            at = end;
        }
        Self { text, list }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// A word in lower case; empty for code, quotations and past the end.
    pub(super) fn at(&self, index: usize) -> &str {
        self.list.get(index).map_or("", |word| word.lower.as_str())
    }

    /// What stands between the word before and this one.
    pub(super) fn before(&self, index: usize) -> &'a str {
        let from = index.checked_sub(1).and_then(|before| self.list.get(before)).map_or(0, |word| word.at.end);
        let until = self.list.get(index).map_or(self.text.len(), |word| word.at.start);
        self.text.get(from..until).unwrap_or("")
    }

    /// The text of some words, without the punctuation at its ends.
    pub(super) fn slice(&self, range: Range<usize>) -> &'a str {
        if range.start >= range.end || range.start >= self.len() {
            return "";
        }
        let last = range.end.min(self.len()) - 1;
        let end = self.list[last].at.end;
        // A bracket that was opened inside belongs to the text.
        let text = &self.text[self.list[range.start].at.start..end];
        let is_open = text.matches('(').count() > text.matches(')').count();
        let closes = is_open && self.text[end..].starts_with(')');
        &self.text[self.list[range.start].at.start..end + usize::from(closes)]
    }

    /// Whether the words from an index on are these; `phrase` is in lower case with single blanks.
    pub(super) fn is(&self, index: usize, phrase: &str) -> bool {
        phrase.split(' ').enumerate().all(|(offset, word)| self.at(index + offset) == word)
    }

    /// The longest of some phrases that stands at an index, as its number of words.
    pub(super) fn any(&self, index: usize, phrases: &[&str]) -> Option<usize> {
        let lengths = phrases.iter().filter(|phrase| self.is(index, phrase)).map(|phrase| phrase.split(' ').count());
        lengths.max()
    }

    /// The first place in a range at which one of some words stands.
    pub(super) fn find(&self, range: Range<usize>, words: &[&str]) -> Option<usize> {
        range.into_iter().find(|index| words.contains(&self.at(*index)))
    }

    /// Whether one of some words stands anywhere in a range.
    pub(super) fn has(&self, range: Range<usize>, words: &[&str]) -> bool {
        self.find(range, words).is_some()
    }

    /// Whether a command to somebody starts at an index: `Keep`, but not the `test` of `test passes`.
    pub(super) fn is_imperative(&self, index: usize) -> bool {
        if !is_verb(self.at(index)) {
            return false;
        }
        let next = self.at(index + 1);
        let finite = ["is", "are", "was", "were", "has", "have", "can", "will", "should", "must", "may", "does", "of"];
        if finite.contains(&next) && !(self.at(index) == "have" || self.at(index) == "ensure") {
            return false;
        }
        let third = next.strip_suffix("es").filter(|stem| is_verb(stem)).or(next.strip_suffix('s'));
        // `build succeeds` and `report shows` have a noun in front; `run tests` and `list files` do not.
        let is_noun_and_verb = matches!(self.at(index), "test" | "build" | "report" | "check" | "commit" | "release");
        !(is_noun_and_verb && third.is_some_and(|stem| ONLY_VERBS.contains(&stem)))
    }
}

fn is_inner(letter: char) -> bool {
    letter.is_alphanumeric() || "_-'’/.@#+%$&\\~:!<>={}*".contains(letter)
}

/// Verbs that are no nouns, for telling `test passes` from `test cases`.
const ONLY_VERBS: &[&str] =
    &["pass", "succeed", "fail", "contain", "include", "return", "say", "become", "happen", "need", "require", "work"];

/// Whether a word can be the verb of a command.
pub(super) fn is_verb(word: &str) -> bool {
    let word = word.strip_prefix("re-").unwrap_or(word);
    VERBS.binary_search(&word).is_ok()
}

/// Whether a word is the `-ing` form of a verb.
pub(super) fn is_gerund(word: &str) -> bool {
    let Some(stem) = word.strip_suffix("ing").filter(|stem| stem.len() > 1) else { return false };
    let doubled = stem.len() > 2 && stem.as_bytes()[stem.len() - 1] == stem.as_bytes()[stem.len() - 2];
    is_verb(stem)
        || is_verb(&format!("{stem}e"))
        || (doubled && stem.is_char_boundary(stem.len() - 1) && is_verb(&stem[..stem.len() - 1]))
}

/// The verb of an `-ing` form.
pub(super) fn verb_of_gerund(word: &str) -> Option<String> {
    let stem = word.strip_suffix("ing").filter(|stem| stem.len() > 1 && stem.is_ascii())?;
    let doubled = &stem[..stem.len() - 1];
    [stem.to_owned(), format!("{stem}e"), doubled.to_owned()].into_iter().find(|verb| is_verb(verb))
}

/// Verbs that open a command in the skills people write, sorted.
const VERBS: &[&str] = &[
    "abort",
    "accept",
    "acknowledge",
    "activate",
    "adapt",
    "add",
    "address",
    "adhere",
    "adjust",
    "adopt",
    "advise",
    "aggregate",
    "aim",
    "align",
    "allow",
    "analyse",
    "analyze",
    "announce",
    "answer",
    "append",
    "apply",
    "approve",
    "archive",
    "ask",
    "assemble",
    "assert",
    "assess",
    "assign",
    "assume",
    "attach",
    "attempt",
    "audit",
    "authenticate",
    "auto",
    "automate",
    "avoid",
    "await",
    "base",
    "batch",
    "be",
    "begin",
    "bind",
    "block",
    "branch",
    "break",
    "bring",
    "browse",
    "build",
    "bump",
    "bundle",
    "cache",
    "calculate",
    "call",
    "cancel",
    "cap",
    "capitalize",
    "capture",
    "carry",
    "catch",
    "challenge",
    "change",
    "check",
    "choose",
    "cite",
    "claim",
    "clarify",
    "classify",
    "clean",
    "clear",
    "click",
    "clone",
    "close",
    "collapse",
    "collect",
    "combine",
    "comment",
    "commit",
    "communicate",
    "compare",
    "compile",
    "complete",
    "compose",
    "compress",
    "compute",
    "configure",
    "confirm",
    "connect",
    "consider",
    "consolidate",
    "construct",
    "consult",
    "continue",
    "convert",
    "copy",
    "count",
    "cover",
    "create",
    "customize",
    "cut",
    "debug",
    "decide",
    "declare",
    "decompose",
    "deduplicate",
    "default",
    "defer",
    "define",
    "delegate",
    "delete",
    "deliver",
    "demonstrate",
    "deploy",
    "derive",
    "describe",
    "design",
    "detect",
    "determine",
    "develop",
    "diagnose",
    "diagram",
    "differentiate",
    "direct",
    "disable",
    "discard",
    "disclose",
    "discover",
    "discuss",
    "dispatch",
    "display",
    "distinguish",
    "do",
    "document",
    "double-check",
    "download",
    "draft",
    "draw",
    "drop",
    "edit",
    "eliminate",
    "embed",
    "emit",
    "emphasize",
    "enable",
    "encode",
    "encourage",
    "end",
    "enforce",
    "ensure",
    "enter",
    "enumerate",
    "escalate",
    "escape",
    "establish",
    "estimate",
    "evaluate",
    "examine",
    "exclude",
    "execute",
    "exit",
    "expand",
    "expect",
    "explain",
    "explore",
    "export",
    "expose",
    "extend",
    "extract",
    "fail",
    "favor",
    "favour",
    "fetch",
    "fill",
    "filter",
    "find",
    "finish",
    "fix",
    "flag",
    "focus",
    "follow",
    "force",
    "format",
    "gather",
    "generate",
    "get",
    "give",
    "go",
    "group",
    "guard",
    "guess",
    "guide",
    "halt",
    "handle",
    "have",
    "hide",
    "highlight",
    "hold",
    "honor",
    "honour",
    "identify",
    "ignore",
    "implement",
    "import",
    "improve",
    "include",
    "incorporate",
    "increase",
    "indicate",
    "infer",
    "inform",
    "inherit",
    "initialize",
    "inject",
    "inline",
    "insert",
    "inspect",
    "install",
    "instruct",
    "integrate",
    "interpret",
    "interview",
    "introduce",
    "invent",
    "investigate",
    "invoke",
    "isolate",
    "issue",
    "iterate",
    "join",
    "judge",
    "keep",
    "label",
    "launch",
    "lead",
    "learn",
    "leave",
    "let",
    "leverage",
    "limit",
    "link",
    "list",
    "listen",
    "load",
    "locate",
    "lock",
    "log",
    "look",
    "lower",
    "maintain",
    "make",
    "manage",
    "map",
    "mark",
    "match",
    "measure",
    "mention",
    "merge",
    "migrate",
    "mimic",
    "minimise",
    "minimize",
    "mirror",
    "mock",
    "modify",
    "monitor",
    "move",
    "name",
    "navigate",
    "normalize",
    "note",
    "notify",
    "obtain",
    "offer",
    "omit",
    "open",
    "optimise",
    "optimize",
    "order",
    "organise",
    "organize",
    "output",
    "overwrite",
    "own",
    "paginate",
    "parse",
    "pass",
    "paste",
    "patch",
    "pause",
    "perform",
    "persist",
    "pick",
    "pin",
    "place",
    "plan",
    "point",
    "populate",
    "post",
    "prefer",
    "prefix",
    "prepare",
    "present",
    "preserve",
    "press",
    "prevent",
    "print",
    "prioritise",
    "prioritize",
    "proceed",
    "process",
    "produce",
    "prompt",
    "propagate",
    "propose",
    "protect",
    "prove",
    "provide",
    "prune",
    "publish",
    "pull",
    "push",
    "put",
    "query",
    "quote",
    "raise",
    "rank",
    "rate",
    "read",
    "rebase",
    "rebuild",
    "recheck",
    "recommend",
    "record",
    "redact",
    "redirect",
    "reduce",
    "refactor",
    "refer",
    "reference",
    "refine",
    "refresh",
    "refuse",
    "register",
    "reject",
    "release",
    "rely",
    "remember",
    "remind",
    "remove",
    "rename",
    "render",
    "reorder",
    "repeat",
    "rephrase",
    "replace",
    "report",
    "reproduce",
    "request",
    "require",
    "reread",
    "rerun",
    "research",
    "reserve",
    "resolve",
    "respect",
    "respond",
    "restart",
    "restore",
    "restrict",
    "retrieve",
    "retry",
    "return",
    "reuse",
    "reveal",
    "revert",
    "review",
    "revise",
    "rewrite",
    "roll",
    "rotate",
    "round",
    "route",
    "run",
    "sanitize",
    "save",
    "say",
    "scale",
    "scan",
    "schedule",
    "scope",
    "score",
    "search",
    "see",
    "select",
    "send",
    "separate",
    "serve",
    "set",
    "share",
    "ship",
    "show",
    "simplify",
    "simulate",
    "skip",
    "sort",
    "specify",
    "split",
    "stage",
    "start",
    "state",
    "stay",
    "stick",
    "stop",
    "store",
    "stream",
    "strip",
    "structure",
    "style",
    "submit",
    "substitute",
    "suggest",
    "summarise",
    "summarize",
    "support",
    "surface",
    "switch",
    "sync",
    "synthesize",
    "tag",
    "take",
    "target",
    "tell",
    "terminate",
    "test",
    "think",
    "throw",
    "tie",
    "title",
    "toggle",
    "trace",
    "track",
    "transform",
    "translate",
    "treat",
    "trigger",
    "trim",
    "trust",
    "try",
    "tune",
    "turn",
    "type",
    "understand",
    "undo",
    "update",
    "upgrade",
    "upload",
    "use",
    "utilize",
    "validate",
    "vary",
    "verify",
    "version",
    "view",
    "visit",
    "wait",
    "walk",
    "warn",
    "watch",
    "weigh",
    "work",
    "wrap",
    "write",
    "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_sorted() {
        assert!(VERBS.is_sorted());
    }

    #[test]
    fn code_and_quotations_are_single_words() {
        let words = Words::of("Never call `rm -rf`, say \"never mind\" (or so).");
        let lowers: Vec<&str> = words.list.iter().map(|word| word.lower.as_str()).collect();
        assert_eq!(lowers, ["never", "call", "", "say", "", "or", "so"]);
        assert_eq!(words.slice(4..7), "\"never mind\" (or so)");
        assert_eq!(words.before(3), ", ");
    }

    #[test]
    fn commands_are_told_from_nouns() {
        for (text, expected) in [
            ("Keep it short", true),
            ("Re-check the branch", true),
            ("Build succeeds", false),
            ("Run tests", true),
            ("Test passes once", false),
            ("Notes are kept", false),
        ] {
            assert_eq!(Words::of(text).is_imperative(0), expected, "{text}");
        }
        assert!(is_gerund("using") && is_gerund("running") && !is_gerund("string"));
    }
}
