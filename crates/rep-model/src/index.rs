//! A skill made ready for questions: every path that can be asked, looked up in one step.
//!
//! The paths are worked out once, when a skill is loaded, so that an answer costs the same whatever
//! the size of the skill. Which value a path stands for is decided here: the longest key first, and
//! the first of several derivations wins (conflicts over dotted keys).

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::document::{Document, Fact, Step};
use crate::query::{self, Filter};

/// The longest path that is indexed, and the most paths: beyond, a hostile skill would cost more than it tells.
const PATH_BYTES_MAX: usize = 1024;
const PATHS_MAX: usize = 1_000_000;

/// A skill, ready for questions.
pub struct Index {
    /// The skill itself.
    pub document: Document,
    paths: HashMap<Box<str>, Target>,
    /// Other names of commands.
    aliases: HashMap<String, String>,
}

/// What a path stands for.
#[derive(Clone, Debug)]
enum Target {
    /// One value.
    One(Place),
    /// The items of a list that bear one name.
    Many(Vec<Place>),
}

/// Where a value stands.
type Place = Vec<Step>;

/// An answer that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found<'a> {
    /// The value; several where a name is borne by several items.
    pub value: Answer<'a>,
    /// Where it was read in the Markdown, for extracted values.
    pub facts: Vec<&'a Fact>,
    /// What the asker should know about how the question was read.
    pub note: Option<String>,
}

/// The value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer<'a> {
    /// A value of the skill as it stands.
    Whole(&'a Value),
    /// Some items of a list.
    Items(Vec<&'a Value>),
}

impl Answer<'_> {
    /// The answer as a value of its own.
    pub fn to_value(&self) -> Value {
        match self {
            Answer::Whole(value) => (*value).clone(),
            Answer::Items(items) => Value::Array(items.iter().map(|item| (*item).clone()).collect()),
        }
    }
}

impl Index {
    /// Works out every path of a document.
    pub fn new(mut document: Document) -> Self {
        // In order of path, what lies below a place stands together.
        document.facts.sort_by(|one, two| one.path.cmp(&two.path));
        Self { paths: paths(document.raw()), aliases: aliases(&document), document }
    }

    /// How many paths can be asked.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether only the whole can be asked.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Answers a question, or `None` where the path does not exist.
    pub fn ask(&self, path: &str, filters: &[Filter]) -> Option<Found<'_>> {
        let (target, mut note) = self.target(path)?;
        let places: &[Place] = match target {
            Target::One(place) => std::slice::from_ref(place),
            Target::Many(places) => places,
        };
        let values: Vec<&Value> = places.iter().filter_map(|place| value_at(self.document.raw(), place)).collect();
        let is_list = values.len() > 1 || values.first().is_some_and(|value| value.is_array());
        if filters.is_empty() || !is_list {
            if !filters.is_empty() {
                note = Some("filters apply to lists, and this is none; they were left aside".to_owned());
            }
            let value = if values.len() == 1 { Answer::Whole(values[0]) } else { Answer::Items(values) };
            let facts = places.iter().flat_map(|place| self.facts(place)).collect();
            return Some(Found { value, facts, note });
        }
        let (items, places) = match (values.as_slice(), places) {
            ([Value::Array(items)], [place]) => (items.iter().collect(), below(place, items.len())),
            _ => (values, places.to_vec()),
        };
        let (mut kept, mut facts) = (Vec::new(), Vec::new());
        for (item, place) in items.into_iter().zip(&places) {
            if query::passes(item, filters) {
                kept.push(item);
                facts.extend(self.facts(place));
            }
        }
        Some(Found { value: Answer::Items(kept), facts, note })
    }

    fn target(&self, path: &str) -> Option<(&Target, Option<String>)> {
        static WHOLE: Target = Target::One(Vec::new());
        if path.is_empty() {
            return Some((&WHOLE, None));
        }
        if let Some(target) = self.paths.get(path) {
            return Some((target, None));
        }
        let decoded = query::decode(path);
        if let Some(target) = self.paths.get(decoded.as_str()) {
            return Some((target, None));
        }
        let (command, alias) = self.alias(&decoded)?;
        let target = self.paths.get(command.as_str())?;
        Some((target, Some(format!("`{alias}` is another name of `{command}`"))))
    }

    /// A path below `commands` in which an alias stands for the command it belongs to.
    fn alias(&self, path: &str) -> Option<(String, String)> {
        let rest = path.strip_prefix("commands.")?;
        // The longest alias first, as with keys.
        let ends = rest.match_indices('.').map(|(at, _)| at).chain([rest.len()]);
        for end in ends.collect::<Vec<_>>().into_iter().rev() {
            if let Some(name) = self.aliases.get(&rest[..end]) {
                return Some((format!("commands.{name}{}", &rest[end..]), format!("commands.{}", &rest[..end])));
            }
        }
        None
    }

    /// The facts at or below a place; where there are none, the nearest above it.
    fn facts(&self, place: &[Step]) -> Vec<&Fact> {
        let facts = &self.document.facts;
        let from = |place: &[Step]| {
            let first = facts.partition_point(|fact| fact.path.as_slice() < place);
            facts[first..].iter().take_while(|fact| fact.path.starts_with(place)).collect::<Vec<&Fact>>()
        };
        let found = from(place);
        if !found.is_empty() || facts.is_empty() {
            return found;
        }
        let above = (1..place.len()).rev().map(|end| &place[..end]);
        let exact = |place: &[Step]| facts.iter().find(|fact| fact.path == place);
        above.filter_map(exact).take(1).collect()
    }

    fn group(&self, target: &Target) -> Group<'_> {
        let (places, is_one) = match target {
            Target::One(place) => (std::slice::from_ref(place), true),
            Target::Many(places) => (places.as_slice(), false),
        };
        let member =
            |place: &Place| Some(Placed { place: place.clone(), value: value_at(self.document.raw(), place)? });
        Group { members: places.iter().filter_map(member).collect(), is_one }
    }

    /// What can be asked where a path that does not exist leads astray: the paths one step below the part of it that does.
    pub fn near(&self, path: &str) -> Vec<String> {
        let mut start = path;
        loop {
            start = start.rsplit_once('.').map_or("", |(start, _)| start);
            if let Some((target, _)) = self.target(start) {
                let children = self.group(target).children();
                if !children.is_empty() || start.is_empty() {
                    let full = |key: String| if start.is_empty() { key } else { format!("{start}.{key}") };
                    return children.into_iter().map(|(key, _)| full(key)).collect();
                }
            }
        }
    }
}

/// The places of a list's items.
fn below(place: &Place, count: usize) -> Vec<Place> {
    (0..count).map(|number| step(place, Step::Item(number))).collect()
}

fn step(place: &Place, step: Step) -> Place {
    let mut next = Vec::with_capacity(place.len() + 1);
    next.extend_from_slice(place);
    next.push(step);
    next
}

fn value_at<'a>(root: &'a Value, place: &[Step]) -> Option<&'a Value> {
    place.iter().try_fold(root, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Item(number) => value.get(number),
    })
}

/// A value, and where it stands.
#[derive(Clone)]
struct Placed<'a> {
    place: Place,
    value: &'a Value,
}

/// What a path stands for while paths are worked out: one value, or the items that bear one name.
#[derive(Clone)]
struct Group<'a> {
    members: Vec<Placed<'a>>,
    is_one: bool,
}

impl<'a> Group<'a> {
    fn one(place: Place, value: &'a Value) -> Self {
        Self { members: vec![Placed { place, value }], is_one: true }
    }

    fn target(mut self) -> Target {
        match self.members.pop() {
            Some(only) if self.is_one => Target::One(only.place),
            last => Target::Many(self.members.into_iter().chain(last).map(|member| member.place).collect()),
        }
    }

    /// What can be entered from here, by name.
    fn children(&self) -> Vec<(String, Group<'a>)> {
        let first = self.members.first().filter(|_| self.is_one);
        match first.map(|member| (&member.place, member.value)) {
            Some((place, Value::Object(map))) => {
                let one = |(key, value): (&String, &'a Value)| {
                    (key.clone(), Group::one(step(place, Step::Key(key.clone())), value))
                };
                map.iter().map(one).collect()
            }
            Some((place, Value::Array(items))) => {
                let places = below(place, items.len()).into_iter().zip(items);
                named(places.map(|(place, value)| Placed { place, value }).collect())
            }
            Some(_) => Vec::new(),
            // Entered again by the name they share, the same items would be found without end.
            None => {
                let mut named = named(self.members.clone());
                named.retain(|(_, group)| group.is_one || group.members.len() < self.members.len());
                named
            }
        }
    }
}

/// The items of a list by `name` or `id`.
fn named<'a>(items: Vec<Placed<'a>>) -> Vec<(String, Group<'a>)> {
    let mut names: BTreeMap<&str, Vec<Placed<'a>>> = BTreeMap::new();
    for item in items {
        let text = |key: &str| item.value.get(key).and_then(Value::as_str);
        let (name, id) = (text("name"), text("id"));
        for word in name.into_iter().chain(id.filter(|id| name != Some(*id))) {
            names.entry(word).or_default().push(item.clone());
        }
    }
    let group = |members: Vec<Placed<'a>>| Group { is_one: members.len() == 1, members };
    names.into_iter().map(|(name, members)| (name.to_owned(), group(members))).collect()
}

/// Works out every path, depth first and the longest keys first, so that the first path of a name is the one that holds.
fn paths(root: &Value) -> HashMap<Box<str>, Target> {
    let mut paths = HashMap::new();
    // What is still to do, last first.
    let mut open = vec![(String::new(), Group::one(Vec::new(), root))];
    while let Some((path, group)) = open.pop() {
        if path.len() > PATH_BYTES_MAX || paths.len() >= PATHS_MAX {
            continue;
        }
        let mut children = group.children();
        children.sort_by_cached_key(|(key, _)| key.matches('.').count());
        for (key, child) in children {
            open.push((if path.is_empty() { key } else { format!("{path}.{key}") }, child));
        }
        if !path.is_empty() {
            paths.entry(path.into_boxed_str()).or_insert_with(|| group.target());
        }
    }
    paths
}

/// The commands' other names. The first to claim one has it.
fn aliases(document: &Document) -> HashMap<String, String> {
    let mut aliases = HashMap::new();
    for command in &document.sections.commands {
        for alias in &command.aliases {
            aliases.entry(alias.value.clone()).or_insert_with(|| command.path.value.clone());
        }
    }
    aliases
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::document::Origin;
    use crate::query::Query;

    fn index(value: Value) -> Index {
        Index::new(Document::from_value(value, Origin::Authored, Vec::new()))
    }

    fn answer(index: &Index, question: &str) -> Option<Value> {
        let query = Query::parse(&format!("x:{question}")).unwrap();
        let path = query.text.strip_prefix("x:").unwrap();
        index.ask(path, &query.filters).map(|found| found.value.to_value())
    }

    #[test]
    fn the_longest_key_is_entered_first_and_shorter_ones_where_it_leads_nowhere() {
        let index = index(json!({
            "a": { "b": { "c": 1, "d": 2 }, "e": 5 },
            "a.b": { "c": 3 },
            "r": { "class.relationships": { "composition": "*--" }, "class": { "x": 1 } },
        }));
        assert_eq!(answer(&index, "a.b.c"), Some(json!(3)));
        assert_eq!(answer(&index, "a.b.d"), Some(json!(2)), "backtracking");
        assert_eq!(answer(&index, "a.b"), Some(json!({ "c": 3 })));
        assert_eq!(answer(&index, "r.class.relationships.composition"), Some(json!("*--")));
        assert_eq!(answer(&index, "r.class.relationships.none"), None);
        assert_eq!(answer(&index, "r.cl"), None);
        assert_eq!(answer(&index, "a..b"), None);
    }

    #[test]
    fn lists_are_entered_by_name_or_id() {
        let index = index(json!({
            "l": [
                { "name": "a", "v": 1 },
                { "id": "b", "v": 2 },
                { "name": "c", "id": "c", "v": 3 },
                { "name": "d", "v": 4 },
                { "name": "d", "id": "e", "v": 5 },
                { "id": "v1.2", "v": 6 },
                "text", 7, null,
            ],
        }));
        assert_eq!(answer(&index, "l.a.v"), Some(json!(1)));
        assert_eq!(answer(&index, "l.b.v"), Some(json!(2)));
        assert_eq!(answer(&index, "l.c.v"), Some(json!(3)), "one item, by name and by id");
        assert_eq!(answer(&index, "l.d"), Some(json!([{ "name": "d", "v": 4 }, { "name": "d", "id": "e", "v": 5 }])));
        assert_eq!(answer(&index, "l.d.e.v"), Some(json!(5)), "several are a list again");
        assert_eq!(answer(&index, "l.v1.2.v"), Some(json!(6)));
        assert_eq!(answer(&index, "l.text"), None);
        assert_eq!(answer(&index, "l.none"), None);
    }

    #[test]
    fn filters_keep_items_that_have_the_key() {
        let index = index(json!({
            "l": [{ "when": "user wants Charges", "then": "no" }, { "then": "x" }, { "when": true }, "text"],
            "m": { "k": 1 },
        }));
        assert_eq!(answer(&index, "l?when=*charges*"), Some(json!([{ "when": "user wants Charges", "then": "no" }])));
        assert_eq!(answer(&index, "l?when=*").unwrap().as_array().unwrap().len(), 2);
        assert_eq!(answer(&index, "l?when=*&then=*").unwrap().as_array().unwrap().len(), 1);
        assert_eq!(answer(&index, "l?when=nothing"), Some(json!([])));
        assert_eq!(answer(&index, "m?k=2"), Some(json!({ "k": 1 })), "filters are about lists");
        assert_eq!(answer(&index, ""), Some(index.document.raw().clone()));
    }

    #[test]
    fn aliases_name_the_same_command() {
        let index = index(json!({ "commands": { "open.url": { "syntax": "x", "aliases": ["go.to"] } } }));
        assert_eq!(answer(&index, "commands.go.to.syntax"), Some(json!("x")));
        assert!(index.ask("commands.go.to", &[]).unwrap().note.unwrap().contains("open.url"));
        assert_eq!(answer(&index, "commands.go"), None);
    }

    #[test]
    fn a_path_that_leads_astray_is_told_what_there_is() {
        let index = index(json!({ "meta": {}, "commands": { "get.text": { "syntax": "x" }, "open": {} } }));
        assert_eq!(index.near("a.b"), ["meta", "commands"]);
        assert_eq!(index.near("commands.get.txt"), ["commands.get.text", "commands.open"]);
        assert_eq!(index.near("commands.get.text.syntax.more"), ["commands.get.text.syntax"]);
    }

    #[test]
    fn a_hostile_skill_is_bounded() {
        let items: Vec<Value> = (0..20_000).map(|_| json!({ "name": "n", "id": "n.n" })).collect();
        let index = index(json!({ "l": items, "x": "." }));
        assert!(index.len() < 100);
        let path = vec!["n"; 1000].join(".");
        assert_eq!(answer(&index, &format!("l.{path}")), None);
    }
}
