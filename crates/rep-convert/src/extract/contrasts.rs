//! Tables that set what to do beside what not to do: `| Do | Don't |`, `| Good | Bad |`, `| Prefer | Avoid |`.

use super::blocks::{Block, Prose};
use super::clauses;
use super::constraints::{self, Rule, Sort};
use super::preferences::Preference;
use super::sentences::sentences;
use super::words::Words;

/// What a row of such a table says.
pub(super) enum Said {
    Rule(Rule),
    Preference(Preference),
}

/// Titles of a column that says what to do.
const GOOD: &[&str] = &[
    "do",
    "dos",
    "do's",
    "do this",
    "always",
    "good",
    "right",
    "correct",
    "must",
    "better",
    "instead",
    "do instead",
    "do this instead",
    "what to do instead",
    "✅",
    "✔",
    "✓",
    "👍",
];

/// Titles of a column that says what is better than something else.
const BETTER: &[&str] = &["prefer", "preferred", "recommended", "use", "use this", "use instead", "instead use"];

/// Titles of a column that says what not to do.
const BAD: &[&str] = &[
    "don't",
    "don'ts",
    "dont",
    "donts",
    "do not",
    "don't do",
    "do not do",
    "don't do this",
    "do not do this",
    "never",
    "bad",
    "wrong",
    "incorrect",
    "must not",
    "avoid",
    "anti-pattern",
    "antipattern",
    "not this",
    "instead of",
    "not",
    "don't use",
    "do not use",
    "forbidden",
    "prohibited",
    "❌",
    "✗",
    "✖",
    "👎",
    "🚫",
];

/// Titles that say how a column of things is to be taken, even alone.
const PLAIN: &[&str] = &["don't", "do not", "never", "avoid", "forbidden", "prohibited", "do not use", "don't use"];

/// Titles of a column that says where a row holds.
const TOPICS: &[&str] = &[
    "topic",
    "area",
    "aspect",
    "case",
    "context",
    "situation",
    "scenario",
    "when",
    "category",
    "for",
    "element",
    "subject",
    "use case",
    "task",
];

/// Which columns of a table are set against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    good: Option<usize>,
    pub(super) bad: usize,
    topic: Option<usize>,
    /// Whether the good column ranks instead of commanding.
    is_ranking: bool,
    /// Whether what stands in the bad column is forbidden, whatever stands beside it.
    is_plain: bool,
    /// Whether `No tabs` in the bad column forbids tabs; below `Bad` it is bad that there are none.
    has_no: bool,
}

impl Columns {
    /// Whether a column is one of these.
    pub(super) fn holds(self, column: usize) -> bool {
        column == self.bad || [self.good, self.topic].contains(&Some(column))
    }
}

/// The columns a table sets against each other, if it does.
pub(super) fn columns(block: &Block) -> Option<Columns> {
    let titles: Vec<String> = block.rows.first()?.iter().map(|cell| title(&cell.text)).collect();
    let at = |known: &[&str]| titles.iter().position(|title| known.contains(&title.as_str()));
    let bad = at(BAD)?;
    let ranking = at(BETTER);
    let good = at(GOOD).or(ranking);
    let is_plain = PLAIN.contains(&titles[bad].as_str());
    (good.is_some() || is_plain).then_some(Columns {
        good,
        bad,
        topic: at(TOPICS),
        is_ranking: good == ranking && good.is_some(),
        is_plain,
        has_no: is_plain && titles[bad] != "avoid",
    })
}

/// A title in lower case without its ornaments; an ornament that stands alone is the title.
fn title(text: &str) -> String {
    let lower = text.to_lowercase().replace(['’', '‘'], "'").replace('\u{fe0f}', "");
    let bare = lower.trim_matches(|letter: char| !letter.is_alphanumeric());
    if bare.is_empty() { lower.trim_matches(['*', ' ', ':']).to_owned() } else { bare.to_owned() }
}

/// What the rows of a table say, each with its line.
pub(super) fn read(block: &Block, columns: Columns) -> Vec<(usize, Said)> {
    let mut found = Vec::new();
    for row in block.rows.iter().skip(1) {
        let cell = |column: usize| row.get(column).filter(|cell| cell.text.contains(char::is_alphanumeric));
        let (good, bad) = (columns.good.and_then(cell), cell(columns.bad));
        let line = row.first().map_or(block.line, |first| first.line_at(0));
        let is_told = bad.is_some_and(|bad| tells(bad, columns.has_no));
        let is_done = good.is_some_and(|good| tells(good, true));
        if let (Some(good), Some(bad)) = (good, bad)
            && (columns.is_ranking || !is_done)
        {
            let topic = columns.topic.and_then(cell).map(|cell| constraints::tidy(&cell.text));
            let preference = Preference { use_: thing(good), over: thing(bad), when: topic };
            let fits = [&preference.use_, &preference.over].iter().all(|text| !text.is_empty() && text.len() <= 200);
            found.extend(fits.then_some((line, Said::Preference(preference))));
        }
        if let Some(good) = good.filter(|_| !columns.is_ranking && (is_done || bad.is_none())) {
            found.extend(rules(good, Sort::Always, true).into_iter().map(|rule| (line, Said::Rule(rule))));
        }
        // A thing in a column that stands alone may be a value of a matrix.
        let is_forbidden = is_told || columns.good.is_some() && (columns.is_plain || good.is_none() || is_done);
        let is_absent = |cell: &&Prose| !columns.has_no && Words::of(&cell.text).at(0) == "no";
        if let Some(bad) = bad.filter(|bad| is_forbidden && !is_absent(bad)) {
            found.extend(rules(bad, Sort::Never, columns.has_no).into_iter().map(|rule| (line, Said::Rule(rule))));
        }
    }
    found
}

/// Whether a cell is worded as something to do or to leave.
fn tells(cell: &Prose, has_no: bool) -> bool {
    let words = Words::of(&cell.text);
    constraints::is_deed(&words, 0)
        || constraints::marked(&words, 0..words.len()).is_some()
        || has_no && words.at(0) == "no"
}

/// The thing a cell names, without the verb that only says to use it.
fn thing(cell: &Prose) -> String {
    let text = constraints::tidy(&cell.text);
    let bare = ["use ", "using ", "prefer ", "avoid ", "don't use ", "do not use "]
        .iter()
        .find_map(|lead| text.get(..lead.len()).filter(|start| start.eq_ignore_ascii_case(lead)).map(str::len));
    text[bare.unwrap_or(0)..].to_owned()
}

/// The rules of a cell. A word that says so itself wins over its column; behind what is forbidden stands what to do.
fn rules(cell: &Prose, sort: Sort, has_no: bool) -> Vec<Rule> {
    let mut found = Vec::new();
    for (number, range) in sentences(cell).into_iter().enumerate() {
        let words = Words::of(&cell.text[range]);
        // `Don't forget this` is a duty in any column, `Always do that` below `Don't` is none.
        let is_reversed = |rule: &Rule| sort == Sort::Never && rule.sort == Sort::Always && words.at(0) != "don't";
        let marked = constraints::marked(&words, 0..words.len()).filter(|rule| !is_reversed(rule));
        let is_own = number == 0 || sort == Sort::Always && constraints::is_deed(&words, 0);
        let start = usize::from(sort == Sort::Never && has_no && words.at(0) == "no" && words.len() > 1);
        let end = clauses::reason_start(&words, 0..words.len()).min(constraints::remedy_start(&words, sort));
        let bare = || Some(Rule { sort, text: constraints::tidy(words.slice(start..end)), doubt: None });
        let rule = marked.or_else(|| bare().filter(|_| is_own && !constraints::is_remedy(&words)));
        found.extend(rule.filter(|rule| !rule.text.is_empty() && rule.text.len() <= 300));
    }
    found
}
