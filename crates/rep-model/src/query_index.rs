//! An index of all paths of a skill, so that a query is a single lookup.
//!
//! The paths are computed once, when a skill is loaded, so that the cost of an answer does not depend on the size of
//! the skill. The index also resolves ambiguities: the longest key comes first, and the first of several values for a
//! path takes precedence (conflicts over dotted keys).

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::document::{ExtractedFact, SkillDocument, ValuePathStep};
use crate::query::{self, QueryFilter};

/// The maximum length and number of indexed paths, which bound the cost of a hostile skill.
const PATH_BYTES_MAX: usize = 1024;
const PATHS_MAX: usize = 1_000_000;

/// A skill with an index of its paths.
pub struct QueryIndex {
    /// The skill itself.
    pub document: SkillDocument,
    paths: HashMap<Box<str>, PathTarget>,
    /// The commands by alias.
    aliases: HashMap<String, String>,
}

/// The target of a path.
#[derive(Clone, Debug)]
enum PathTarget {
    /// One value.
    One(ValuePath),
    /// The items of a list that share a name.
    Many(Vec<ValuePath>),
}

/// The path of a value in the document.
type ValuePath = Vec<ValuePathStep>;

/// The answer to a query.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryAnswer<'a> {
    /// The value, or several values if several items share a name.
    pub value: AnswerValue<'a>,
    /// The source locations in the Markdown, for extracted values.
    pub facts: Vec<&'a ExtractedFact>,
    /// A note on how the query was interpreted.
    pub note: Option<String>,
}

/// The value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerValue<'a> {
    /// A complete value of the skill.
    Whole(&'a Value),
    /// Some items of a list.
    Items(Vec<&'a Value>),
}

impl AnswerValue<'_> {
    /// Returns the answer as an owned value.
    pub fn to_value(&self) -> Value {
        match self {
            AnswerValue::Whole(value) => (*value).clone(),
            AnswerValue::Items(items) => Value::Array(items.iter().map(|item| (*item).clone()).collect()),
        }
    }
}

impl QueryIndex {
    /// Computes all paths of a document.
    pub fn new(mut document: SkillDocument) -> Self {
        // Sorted by path, the facts below a value are adjacent.
        document.facts.sort_by(|one, two| one.path.cmp(&two.path));
        Self { paths: index_paths(document.raw_value()), aliases: index_aliases(&document), document }
    }

    /// Returns the number of paths.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether the skill has no paths.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Answers a query, or returns `None` if the path does not exist.
    pub fn find_answer(&self, path: &str, filters: &[QueryFilter]) -> Option<QueryAnswer<'_>> {
        let (target, mut note) = self.find_target(path)?;
        let places: &[ValuePath] = match target {
            PathTarget::One(place) => std::slice::from_ref(place),
            PathTarget::Many(places) => places,
        };
        let values: Vec<&Value> =
            places.iter().filter_map(|place| find_value(self.document.raw_value(), place)).collect();
        let is_list = values.len() > 1 || values.first().is_some_and(|value| value.is_array());
        if filters.is_empty() || !is_list {
            if !filters.is_empty() {
                note = Some("the filters were ignored because the value is not a list".to_owned());
            }
            let value = if values.len() == 1 { AnswerValue::Whole(values[0]) } else { AnswerValue::Items(values) };
            let facts = places.iter().flat_map(|place| self.find_facts(place)).collect();
            return Some(QueryAnswer { value, facts, note });
        }
        let (items, places) = match (values.as_slice(), places) {
            ([Value::Array(items)], [place]) => (items.iter().collect(), list_item_paths(place, items.len())),
            _ => (values, places.to_vec()),
        };
        let (mut kept, mut facts) = (Vec::new(), Vec::new());
        for (item, place) in items.into_iter().zip(&places) {
            if query::matches_filters(item, filters) {
                kept.push(item);
                facts.extend(self.find_facts(place));
            }
        }
        Some(QueryAnswer { value: AnswerValue::Items(kept), facts, note })
    }

    fn find_target(&self, path: &str) -> Option<(&PathTarget, Option<String>)> {
        static WHOLE_DOCUMENT: PathTarget = PathTarget::One(Vec::new());
        if path.is_empty() {
            return Some((&WHOLE_DOCUMENT, None));
        }
        if let Some(target) = self.paths.get(path) {
            return Some((target, None));
        }
        let decoded = query::decode_percent(path);
        if let Some(target) = self.paths.get(decoded.as_str()) {
            return Some((target, None));
        }
        let (command, alias) = self.resolve_alias(&decoded)?;
        let target = self.paths.get(command.as_str())?;
        Some((target, Some(format!("`{alias}` is an alias of `{command}`"))))
    }

    /// Resolves an alias in a path below `commands`.
    fn resolve_alias(&self, path: &str) -> Option<(String, String)> {
        let rest = path.strip_prefix("commands.")?;
        // The longest alias first, as for keys.
        let ends = rest.match_indices('.').map(|(at, _)| at).chain([rest.len()]);
        for end in ends.collect::<Vec<_>>().into_iter().rev() {
            if let Some(name) = self.aliases.get(&rest[..end]) {
                return Some((format!("commands.{name}{}", &rest[end..]), format!("commands.{}", &rest[..end])));
            }
        }
        None
    }

    /// Returns the facts at or below a path or, if there are none, the nearest fact above it.
    fn find_facts(&self, place: &[ValuePathStep]) -> Vec<&ExtractedFact> {
        let facts = &self.document.facts;
        let from = |place: &[ValuePathStep]| {
            let first = facts.partition_point(|fact| fact.path.as_slice() < place);
            facts[first..].iter().take_while(|fact| fact.path.starts_with(place)).collect::<Vec<&ExtractedFact>>()
        };
        let found = from(place);
        if !found.is_empty() || facts.is_empty() {
            return found;
        }
        let above = (1..place.len()).rev().map(|end| &place[..end]);
        let exact = |place: &[ValuePathStep]| facts.iter().find(|fact| fact.path == place);
        above.filter_map(exact).take(1).collect()
    }

    fn build_group(&self, target: &PathTarget) -> ValueGroup<'_> {
        let (places, is_one) = match target {
            PathTarget::One(place) => (std::slice::from_ref(place), true),
            PathTarget::Many(places) => (places.as_slice(), false),
        };
        let member = |place: &ValuePath| {
            Some(LocatedValue { path: place.clone(), value: find_value(self.document.raw_value(), place)? })
        };
        ValueGroup { members: places.iter().filter_map(member).collect(), is_one }
    }

    /// Suggests paths for a path that does not exist: the children of its longest existing prefix.
    pub fn suggest_paths(&self, path: &str) -> Vec<String> {
        let mut start = path;
        loop {
            start = start.rsplit_once('.').map_or("", |(start, _)| start);
            if let Some((target, _)) = self.find_target(start) {
                let children = self.build_group(target).list_children();
                if !children.is_empty() || start.is_empty() {
                    let full = |key: String| if start.is_empty() { key } else { format!("{start}.{key}") };
                    return children.into_iter().map(|(key, _)| full(key)).collect();
                }
            }
        }
    }
}

/// Returns the paths of a list's items.
fn list_item_paths(place: &ValuePath, count: usize) -> Vec<ValuePath> {
    (0..count).map(|number| append_step(place, ValuePathStep::Item(number))).collect()
}

fn append_step(place: &ValuePath, step: ValuePathStep) -> ValuePath {
    let mut next = Vec::with_capacity(place.len() + 1);
    next.extend_from_slice(place);
    next.push(step);
    next
}

fn find_value<'a>(root: &'a Value, place: &[ValuePathStep]) -> Option<&'a Value> {
    place.iter().try_fold(root, |value, step| match step {
        ValuePathStep::Key(key) => value.get(key),
        ValuePathStep::Item(number) => value.get(number),
    })
}

/// A value and its path.
#[derive(Clone)]
struct LocatedValue<'a> {
    path: ValuePath,
    value: &'a Value,
}

/// The target of a path while the index is built: one value, or the items that share a name.
#[derive(Clone)]
struct ValueGroup<'a> {
    members: Vec<LocatedValue<'a>>,
    is_one: bool,
}

impl<'a> ValueGroup<'a> {
    fn from_value(place: ValuePath, value: &'a Value) -> Self {
        Self { members: vec![LocatedValue { path: place, value }], is_one: true }
    }

    fn into_target(mut self) -> PathTarget {
        match self.members.pop() {
            Some(only) if self.is_one => PathTarget::One(only.path),
            last => PathTarget::Many(self.members.into_iter().chain(last).map(|member| member.path).collect()),
        }
    }

    /// Returns the children by name.
    fn list_children(&self) -> Vec<(String, ValueGroup<'a>)> {
        let first = self.members.first().filter(|_| self.is_one);
        match first.map(|member| (&member.path, member.value)) {
            Some((place, Value::Object(map))) => {
                let one = |(key, value): (&String, &'a Value)| {
                    (key.clone(), ValueGroup::from_value(append_step(place, ValuePathStep::Key(key.clone())), value))
                };
                map.iter().map(one).collect()
            }
            Some((place, Value::Array(items))) => {
                let places = list_item_paths(place, items.len()).into_iter().zip(items);
                group_by_name(places.map(|(place, value)| LocatedValue { path: place, value }).collect())
            }
            Some(_) => Vec::new(),
            // Excludes the group itself: entering it again by the shared name would never end.
            None => {
                let mut named = group_by_name(self.members.clone());
                named.retain(|(_, group)| group.is_one || group.members.len() < self.members.len());
                named
            }
        }
    }
}

/// Groups the items of a list by `name` and `id`.
fn group_by_name<'a>(items: Vec<LocatedValue<'a>>) -> Vec<(String, ValueGroup<'a>)> {
    let mut names: BTreeMap<&str, Vec<LocatedValue<'a>>> = BTreeMap::new();
    for item in items {
        let text = |key: &str| item.value.get(key).and_then(Value::as_str);
        let (name, id) = (text("name"), text("id"));
        for word in name.into_iter().chain(id.filter(|id| name != Some(*id))) {
            names.entry(word).or_default().push(item.clone());
        }
    }
    let group = |members: Vec<LocatedValue<'a>>| ValueGroup { is_one: members.len() == 1, members };
    names.into_iter().map(|(name, members)| (name.to_owned(), group(members))).collect()
}

/// Computes all paths, depth first and longest keys first, so that the first target of a path takes precedence.
fn index_paths(root: &Value) -> HashMap<Box<str>, PathTarget> {
    let mut paths = HashMap::new();
    // A stack of pending groups.
    let mut open = vec![(String::new(), ValueGroup::from_value(Vec::new(), root))];
    while let Some((path, group)) = open.pop() {
        if path.len() > PATH_BYTES_MAX || paths.len() >= PATHS_MAX {
            continue;
        }
        let mut children = group.list_children();
        children.sort_by_cached_key(|(key, _)| key.matches('.').count());
        for (key, child) in children {
            open.push((if path.is_empty() { key } else { format!("{path}.{key}") }, child));
        }
        if !path.is_empty() {
            paths.entry(path.into_boxed_str()).or_insert_with(|| group.into_target());
        }
    }
    paths
}

/// Indexes the aliases of commands. If an alias is used twice, the first command has it.
fn index_aliases(document: &SkillDocument) -> HashMap<String, String> {
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
    use crate::document::DocumentOrigin;
    use crate::query::SkillQuery;

    fn index(value: Value) -> QueryIndex {
        QueryIndex::new(SkillDocument::from_value(value, DocumentOrigin::Authored, Vec::new()))
    }

    fn answer(index: &QueryIndex, question: &str) -> Option<Value> {
        let query = SkillQuery::parse(&format!("x:{question}")).unwrap();
        let path = query.text.strip_prefix("x:").unwrap();
        index.find_answer(path, &query.filters).map(|found| found.value.to_value())
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
        assert_eq!(answer(&index, ""), Some(index.document.raw_value().clone()));
    }

    #[test]
    fn aliases_name_the_same_command() {
        let index = index(json!({ "commands": { "open.url": { "syntax": "x", "aliases": ["go.to"] } } }));
        assert_eq!(answer(&index, "commands.go.to.syntax"), Some(json!("x")));
        assert!(index.find_answer("commands.go.to", &[]).unwrap().note.unwrap().contains("open.url"));
        assert_eq!(answer(&index, "commands.go"), None);
    }

    #[test]
    fn a_path_that_leads_astray_is_told_what_there_is() {
        let index = index(json!({ "meta": {}, "commands": { "get.text": { "syntax": "x" }, "open": {} } }));
        assert_eq!(index.suggest_paths("a.b"), ["meta", "commands"]);
        assert_eq!(index.suggest_paths("commands.get.txt"), ["commands.get.text", "commands.open"]);
        assert_eq!(index.suggest_paths("commands.get.text.syntax.more"), ["commands.get.text.syntax"]);
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
