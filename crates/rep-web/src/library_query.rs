//! What the library page shows: the search, the filters, the order and the form of the list, as a query string.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rep_library::SkillStatus;
use rep_library::search::SearchHit;

use super::fields::{FormFields, encode_query_value};
use super::inspection::InspectedLibrary;
use super::{PageRequest, layout};

/// The maximum number of search results.
const HITS_MAX: usize = 400;

/// The fields of the query, in the order in which addresses have them.
const NAMES: [&str; 10] = ["q", "scope", "status", "findings", "has", "tag", "sort", "order", "view", "page"];
/// The fields that narrow the list, besides the text.
const FILTER_NAMES: [&str; 5] = ["scope", "status", "findings", "has", "tag"];
/// The status of skills that clients do not get.
pub(super) const NOT_LISTED: &str = "not listed";
/// The words of the filters by findings and by content.
pub(super) const FINDING_FILTERS: [&str; 4] = ["errors", "warnings", "any", "none"];
pub(super) const CONTENT_FILTERS: [&str; 2] = ["tools", "scripts"];

/// The order of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LibraryOrder {
    /// As searched, or by name.
    Default,
    Name,
    Tokens,
    Findings,
    LastUsed,
}

impl LibraryOrder {
    pub(super) const ALL: [LibraryOrder; 4] =
        [LibraryOrder::Name, LibraryOrder::Tokens, LibraryOrder::Findings, LibraryOrder::LastUsed];

    /// Returns the word in addresses.
    pub(super) const fn name(self) -> &'static str {
        match self {
            LibraryOrder::Default => "",
            LibraryOrder::Name => "name",
            LibraryOrder::Tokens => "tokens",
            LibraryOrder::Findings => "findings",
            LibraryOrder::LastUsed => "used",
        }
    }

    /// Returns the words on the page.
    pub(super) const fn label(self) -> &'static str {
        match self {
            LibraryOrder::Default => "best match",
            LibraryOrder::Name => "name",
            LibraryOrder::Tokens => "tokens",
            LibraryOrder::Findings => "findings",
            LibraryOrder::LastUsed => "last used",
        }
    }

    /// Whether the largest value comes first unless the opposite is requested.
    const fn is_descending(self) -> bool {
        matches!(self, LibraryOrder::Tokens | LibraryOrder::Findings | LibraryOrder::LastUsed)
    }
}

/// The query of a library page.
pub(super) struct LibraryQuery<'a> {
    fields: &'a FormFields,
    /// The order.
    pub(super) order: LibraryOrder,
    /// Whether the natural direction of the order is reversed.
    pub(super) is_reversed: bool,
    /// Whether the list is a table.
    pub(super) is_table: bool,
}

/// A skill of the list, and the search hit that found it.
pub(super) struct ListedSkill {
    pub(super) index: usize,
    pub(super) hit: Option<SearchHit>,
}

impl<'a> LibraryQuery<'a> {
    pub(super) fn parse(fields: &'a FormFields) -> Self {
        let order = LibraryOrder::ALL.into_iter().find(|order| order.name() == fields.get("sort"));
        Self {
            fields,
            order: order.unwrap_or(LibraryOrder::Default),
            is_reversed: fields.get("order") == "reverse",
            is_table: fields.get("view") == "table",
        }
    }

    /// Returns the value of a field.
    pub(super) fn get(&self, name: &str) -> &str {
        self.fields.get(name)
    }

    /// Whether a filter besides the text narrows the list.
    pub(super) fn is_filtered(&self) -> bool {
        FILTER_NAMES.iter().any(|name| !self.get(name).is_empty())
    }

    /// Whether the order is descending.
    pub(super) fn is_descending(&self) -> bool {
        self.order.is_descending() != self.is_reversed
    }

    /// Returns the address with some fields changed. Another list starts at its first page.
    pub(super) fn address(&self, changes: &[(&str, &str)]) -> String {
        let mut address = String::from("/");
        for name in NAMES {
            let changed = changes.iter().find(|(changed, _)| *changed == name).map(|(_, value)| *value);
            let value = changed.unwrap_or(if name == "page" { "" } else { self.get(name) });
            if !value.is_empty() {
                let mark = if address.len() == 1 { '?' } else { '&' };
                address.push_str(&format!("{mark}{name}={}", encode_query_value(value)));
            }
        }
        address
    }

    /// Returns the address of the list in an order, reversed if it is in this order already.
    pub(super) fn sort_address(&self, order: LibraryOrder) -> String {
        let is_turned = self.order == order && !self.is_reversed;
        self.address(&[("sort", order.name()), ("order", if is_turned { "reverse" } else { "" })])
    }

    /// Finds the skills that match, in order.
    pub(super) fn find_skills(&self, request: &PageRequest, library: &InspectedLibrary) -> Vec<ListedSkill> {
        let mut all = self.find_text(request);
        all.retain(|listed| self.matches(request, listed.index, library));
        self.sort(request, library, &mut all);
        all
    }

    fn matches(&self, request: &PageRequest, index: usize, library: &InspectedLibrary) -> bool {
        let entry = &request.view.catalog.entries[index];
        let known = library.get(index);
        let has_status = match self.get("status") {
            "" => true,
            NOT_LISTED => entry.status != SkillStatus::Active || layout::unserved_reason(request, index).is_some(),
            status => entry.status.name() == status,
        };
        let has_findings = match self.get("findings") {
            "" => true,
            "errors" => known.is_some_and(|skill| skill.errors > 0),
            "warnings" => known.is_some_and(|skill| skill.warnings > 0),
            "none" => known.is_some_and(|skill| skill.findings() == 0),
            _ => known.is_some_and(|skill| skill.findings() > 0),
        };
        let has_content = match self.get("has") {
            "" => true,
            "tools" => known.is_some_and(|skill| skill.has_tools),
            _ => known.is_some_and(|skill| skill.has_scripts),
        };
        let (scope, tag) = (self.get("scope"), self.get("tag"));
        has_status
            && has_findings
            && has_content
            && (scope.is_empty() || entry.scope.name() == scope)
            && (tag.is_empty() || entry.tags().contains(&tag))
    }

    /// Finds the skills with the text, best first.
    fn find_text(&self, request: &PageRequest) -> Vec<ListedSkill> {
        let catalog = &request.view.catalog;
        let text = self.get("q");
        if text.is_empty() {
            return (0..catalog.entries.len()).map(|index| ListedSkill { index, hit: None }).collect();
        }
        // While typing, every skill with the words is wanted, whether it fits or not.
        let hits = catalog.search_index().search(text, HITS_MAX);
        let found: BTreeSet<usize> = hits.iter().map(|hit| hit.entry).collect();
        // The search does not find partially typed names, nor skills whose text may not be searched.
        let lower = text.to_lowercase();
        let named = (0..catalog.entries.len())
            .filter(|index| !found.contains(index))
            .filter(|index| catalog.entries[*index].qualified_name.to_lowercase().contains(&lower))
            .take(HITS_MAX);
        let named = named.map(|index| ListedSkill { index, hit: None });
        let hits = hits.into_iter().map(|hit| ListedSkill { index: hit.entry, hit: Some(hit) });
        let mut all: Vec<ListedSkill> = hits.chain(named).collect();
        // Skills whose name starts with the typed text come first.
        all.sort_by_key(|listed| !catalog.entries[listed.index].name.to_lowercase().starts_with(&lower));
        all
    }

    fn sort(&self, request: &PageRequest, library: &InspectedLibrary, all: &mut [ListedSkill]) {
        let known = |listed: &ListedSkill| library.get(listed.index).unwrap_or_default();
        match self.order {
            LibraryOrder::Default => return,
            // The entries of a catalog are sorted by name.
            LibraryOrder::Name => all.sort_by_key(|listed| listed.index),
            LibraryOrder::Tokens => all.sort_by_key(|listed| (Reverse(known(listed).total_tokens()), listed.index)),
            LibraryOrder::Findings => all.sort_by_key(|listed| {
                let skill = known(listed);
                (Reverse((skill.errors, skill.warnings, skill.infos)), listed.index)
            }),
            LibraryOrder::LastUsed => {
                let entries = &request.view.catalog.entries;
                request.dashboard.usage.with_usage(request.dashboard.server.runtime(), |skills| {
                    let last = |listed: &ListedSkill| {
                        skills.get(&entries[listed.index].qualified_name).map_or("", |usage| usage.last_used())
                    };
                    all.sort_by(|one, two| last(two).cmp(last(one)).then(one.index.cmp(&two.index)));
                });
            }
        }
        if self.is_reversed {
            all.reverse();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_keeps_the_query_and_starts_again_at_the_first_page() {
        let fields = FormFields::parse("q=a+b&tag=x%26y&sort=tokens&page=3&view=table&junk=1");
        let query = LibraryQuery::parse(&fields);
        assert!(query.is_table && query.is_filtered() && query.is_descending());
        assert_eq!(query.address(&[]), "/?q=a%20b&tag=x%26y&sort=tokens&view=table");
        assert_eq!(query.address(&[("tag", ""), ("page", "4")]), "/?q=a%20b&sort=tokens&view=table&page=4");
        let turned = query.sort_address(LibraryOrder::Tokens);
        assert_eq!(turned, "/?q=a%20b&tag=x%26y&sort=tokens&order=reverse&view=table");
        assert_eq!(query.sort_address(LibraryOrder::Name), "/?q=a%20b&tag=x%26y&sort=name&view=table");
        assert_eq!(LibraryQuery::parse(&FormFields::default()).address(&[]), "/");
    }
}
