use rep_model::frontmatter::{CLAUDE_CODE_FIELDS, Frontmatter, STANDARD_FIELDS, UNIVERSAL_FIELDS, read_text};
use rep_model::suggestion::is_misspelling;
use rep_model::yaml::{YamlEntry, YamlNode, quote_double};
use rep_model::{Manifest, Skill, Span};

use crate::draft::Findings;
use crate::fix::FindingFix;
use crate::grouping::{add_places, list_names};
use crate::profile::STANDARD;
use crate::widespread_fields::{find_intended_effect, is_widespread};
use crate::yaml_edits::{add_entry, entry_lines, line_end};
use crate::{Level, LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "field-unknown",
    summary: "a top-level field is not known to the profile",
    since: "0.1.0",
    levels: RuleLevels {
        error: STANDARD.union(Profile::Universal.as_set()),
        warning: Profile::Aam.as_set(),
        info: LENIENT.union(Profile::ClaudeCode.as_set()),
        automatic: Some(Level::Warning),
    },
    citations: &[
        RuleCitation::agentskills("field reference"),
        RuleCitation::universal("Appendix A, additionalProperties"),
        RuleCitation::public_survey("§4: half of public skills carry such fields"),
    ],
    requirements: &["VAL-35", "VAL-36", "VAL-43"],
    page: include_str!("field_unknown.md"),
    check: RuleCheck::Skill(check),
};

/// The profiles that accept any field. A misspelled one is still worth a remark.
const LENIENT: ProfileSet = ProfileSet::new(&[Profile::Pmcp, Profile::Codex, Profile::Mcp]);

/// The profiles whose hosts read the standard fields and those of Claude Code.
const CLAUDE_FIELDS: ProfileSet = ProfileSet::new(&[Profile::Aam, Profile::ClaudeCode]);

/// What an author meant by a field that no host reads.
#[derive(Clone, Copy, PartialEq)]
enum FieldIntent {
    /// The name misspells that of another field.
    Misspelled(&'static str),
    /// The field looks as if it had an effect. Contains what to write instead.
    Ineffective(&'static str),
    /// Data about the skill that many public skills carry.
    Widespread,
    /// Unknown.
    Other,
}

/// A field that is not known to a profile.
#[derive(Clone, Copy)]
struct UnknownField<'a> {
    key: &'a str,
    span: Span,
    intent: FieldIntent,
    entry: &'a YamlEntry,
}

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let all: Vec<UnknownField<'_>> = list_fields(front, &[&STANDARD_FIELDS, &CLAUDE_CODE_FIELDS]);
    if all.is_empty() {
        return;
    }
    let is_of_claude = |field: &&UnknownField<'_>| CLAUDE_CODE_FIELDS.contains(&field.key);
    let is_in_universal = |field: &UnknownField<'_>| UNIVERSAL_FIELDS.contains(&field.key);
    let mut report = |group: &FieldGroup<'_>, fields: Vec<UnknownField<'_>>| {
        group.report(manifest, front, fields, findings);
    };
    let (of_claude, others): (Vec<UnknownField<'_>>, Vec<UnknownField<'_>>) = all.iter().partition(is_of_claude);
    // `rep export` turns the fields of a Universal skill into what OpenAI accepts.
    let openai = if front.find_field("spec_version").is_some() { Profile::OpenAi.as_set() } else { ProfileSet::EMPTY };
    for (profiles, is_kept) in [(STANDARD.without(openai), true), (openai, false)] {
        let is_reported = |field: &UnknownField<'_>| is_kept || !is_in_universal(field);
        for (group, fields) in [(OF_CLAUDE_CODE, &of_claude), (NOT_STANDARD, &others)] {
            report(&FieldGroup { profiles, ..group }, fields.iter().copied().filter(is_reported).collect());
        }
    }
    // `field-not-universal` reports fields of other dialects as a warning.
    let mut custom: Vec<UnknownField<'_>> =
        list_fields(front, &[&UNIVERSAL_FIELDS, &STANDARD_FIELDS, &CLAUDE_CODE_FIELDS]);
    custom.retain(|field| !is_in_universal(field) && !is_of_claude(&field) && !field.key.starts_with("x-"));
    report(&NOT_UNIVERSAL, custom);
    let misspelled =
        |field: &UnknownField<'_>| matches!(field.intent, FieldIntent::Misspelled(_)) && !is_in_universal(field);
    report(&NOT_LENIENT, others.iter().copied().filter(misspelled).collect());
    report(&NOT_CLAUDE_CODE, others);
}

/// How the unknown fields of a profile are reported.
struct FieldGroup<'a> {
    profiles: ProfileSet,
    /// What follows the name of one field.
    is: &'a str,
    /// What follows the number of several fields.
    are: &'a str,
    /// The remedy for a field whose intent is unknown.
    remedy: &'a str,
    /// The level that data about the skill has if the profile was detected.
    widespread: Option<Level>,
}

const TO_METADATA: &str = "under `metadata`, which is for client-specific fields";

const OF_CLAUDE_CODE: FieldGroup<'_> = FieldGroup {
    profiles: STANDARD,
    is: "is specific to Claude Code, not one of the six standard fields",
    are: "are specific to Claude Code, not among the six standard fields",
    remedy: "",
    widespread: None,
};
const NOT_STANDARD: FieldGroup<'_> = FieldGroup {
    profiles: STANDARD,
    is: "is not one of the six standard fields",
    are: "are not among the six standard fields",
    remedy: TO_METADATA,
    widespread: Some(Level::Info),
};
const NOT_UNIVERSAL: FieldGroup<'_> = FieldGroup {
    profiles: Profile::Universal.as_set(),
    is: "is not in the Universal 2.1 schema",
    are: "are not in the Universal 2.1 schema",
    remedy: "under `extensions`, which is for custom data",
    widespread: Some(Level::Warning),
};
const NOT_CLAUDE_CODE: FieldGroup<'_> = FieldGroup {
    profiles: CLAUDE_FIELDS,
    is: "is not known to any host of this profile",
    are: "are not known to any host of this profile",
    remedy: TO_METADATA,
    widespread: Some(Level::Info),
};
const NOT_LENIENT: FieldGroup<'_> = FieldGroup {
    profiles: LENIENT,
    is: "is not known to any host",
    are: "are not known to any host",
    remedy: TO_METADATA,
    widespread: Some(Level::Info),
};

impl FieldGroup<'_> {
    /// Reports the fields in one finding. Those that the author got wrong come first.
    fn report(
        &self,
        manifest: &Manifest,
        front: &Frontmatter,
        mut fields: Vec<UnknownField<'_>>,
        findings: &mut Findings<'_>,
    ) {
        let file = manifest.file;
        fields.sort_by_key(|field| field.intent == FieldIntent::Widespread);
        fields.sort_by_key(|field| matches!(field.intent, FieldIntent::Widespread | FieldIntent::Other));
        let Some(first) = fields.first().filter(|_| !self.profiles.is_empty()) else { return };
        let message = match fields.as_slice() {
            [field] => format!("field `{}` {}", field.key, self.is),
            fields => {
                format!("{} fields {}: {}", fields.len(), self.are, list_names(fields.iter().map(|field| field.key)))
            }
        };
        let draft = findings.add(file, first.span, message);
        draft.with_data_path(first.key).help(self.describe_remedies(&fields)).only_for_profiles(self.profiles);
        if self.profiles.contains(Profile::AgentSkills) && !self.remedy.is_empty() {
            draft.with_optional_fix(correct_fields(manifest, front, &fields));
        } else if let [UnknownField { intent: FieldIntent::Misspelled(near), .. }] = fields.as_slice() {
            draft.with_suggestion(format!("rename it to `{near}`"), first.span, *near);
        }
        match self.widespread {
            None => draft.only_when_selected(),
            Some(level) if is_bookkeeping(&fields) => draft.level_when_detected(level),
            Some(_) => draft,
        };
        add_places(draft, file, fields.iter().map(|field| (field.span, field.key)));
    }

    fn describe_remedies(&self, fields: &[UnknownField<'_>]) -> String {
        if self.remedy.is_empty() {
            let them = if fields.len() == 1 { "it" } else { "them" };
            return format!("other hosts ignore {them}; strict uploads reject {them}");
        }
        if let [UnknownField { intent: FieldIntent::Misspelled(near), .. }] = fields {
            return format!("did you mean `{near}`?");
        }
        let mut parts: Vec<String> = Vec::new();
        for field in fields {
            match field.intent {
                FieldIntent::Misspelled(near) => parts.push(format!("rename `{}` to `{near}`", field.key)),
                FieldIntent::Ineffective(instead) => parts.push(instead.to_owned()),
                FieldIntent::Widespread | FieldIntent::Other => {}
            }
        }
        let moved = fields.len() - parts.len();
        let (target, reason) = self.remedy.split_once(", ").unwrap_or((self.remedy, ""));
        match (moved, parts.is_empty()) {
            (0, _) => {}
            (1, true) => parts.push(format!("move it {target}, {reason}")),
            (_, true) => parts.push(format!("move them {target}, {reason}")),
            (1, false) => parts.push(format!("move the other {target}")),
            (_, false) => parts.push(format!("move the others {target}")),
        }
        parts.join("; ")
    }
}

/// Whether fields are data that a collection keeps about its skills. Rare fields count as such beside widespread ones.
fn is_bookkeeping(fields: &[UnknownField<'_>]) -> bool {
    let is_data = |field: &UnknownField<'_>| matches!(field.intent, FieldIntent::Widespread | FieldIntent::Other);
    fields.iter().all(is_data) && fields.iter().any(|field| field.intent == FieldIntent::Widespread)
}

/// Lists the fields that are not standard. Misspellings are searched in the given lists, the first one first.
fn list_fields<'a>(front: &'a Frontmatter, known: &[&[&'static str]]) -> Vec<UnknownField<'a>> {
    let unknown = |entry: &'a YamlEntry| {
        let key = entry.key.text().unwrap_or("?");
        let intent = || guess_intent(key, &entry.value, front, known);
        (!STANDARD_FIELDS.contains(&key)).then(|| UnknownField { key, span: entry.key.span, intent: intent(), entry })
    };
    front.fields().iter().filter_map(unknown).collect()
}

fn guess_intent(key: &str, value: &YamlNode, front: &Frontmatter, known: &[&[&'static str]]) -> FieldIntent {
    if let Some(near) = suggest_field(key, value, front, known) {
        return FieldIntent::Misspelled(near);
    }
    match find_intended_effect(key) {
        Some(instead) => FieldIntent::Ineffective(instead),
        None if is_widespread(key) => FieldIntent::Widespread,
        None => FieldIntent::Other,
    }
}

/// Tools that a field `tools` of Claude Code's subagents lists.
const CLAUDE_CODE_TOOLS: [&str; 8] = ["Bash", "Edit", "Glob", "Grep", "Read", "WebFetch", "WebSearch", "Write"];

/// Returns the field that a field name misspells, unless the skill has that field too. The first list has priority.
fn suggest_field(key: &str, value: &YamlNode, front: &Frontmatter, known: &[&[&'static str]]) -> Option<&'static str> {
    if key == "tools" && names_claude_code_tools(value) && front.find_field("allowed-tools").is_none() {
        return Some("allowed-tools");
    }
    // A list of `models` or `agents` is not a misspelled `model`.
    let is_possible = |field: &str| value.text().is_some() || !field.starts_with(key.trim_end_matches('s'));
    let fields = known.iter().flat_map(|fields| fields.iter().copied());
    fields
        .into_iter()
        .find(|field| is_misspelling(key, field) && is_possible(field) && front.find_field(field).is_none())
}

fn names_claude_code_tools(value: &YamlNode) -> bool {
    let is_tool = |word: &str| CLAUDE_CODE_TOOLS.contains(&word.split('(').next().unwrap_or(word).trim());
    match (value.text(), value.items()) {
        (Some(text), _) => text.split([',', ' ']).any(is_tool),
        (None, Some(items)) => items.iter().filter_map(YamlNode::text).any(is_tool),
        (None, None) => false,
    }
}

/// Returns a fix that renames misspelled fields and moves the others under `metadata`, as text. Fields whose value is not
/// one line stay where they are, so the fix exists only if no field has such a value.
fn correct_fields(manifest: &Manifest, front: &Frontmatter, fields: &[UnknownField<'_>]) -> Option<FindingFix> {
    let source = manifest.source.text();
    let mut fix = FindingFix::suggestion("rename what is misspelled, and move the rest under `metadata`");
    let mut moved: Vec<String> = Vec::new();
    for field in fields {
        match field.intent {
            // Two misspellings of one field cannot both be it.
            FieldIntent::Misspelled(_) if fields.iter().filter(|other| other.intent == field.intent).count() > 1 => {
                return None;
            }
            FieldIntent::Misspelled(near) => fix = fix.replace(manifest.file, field.span, near),
            FieldIntent::Ineffective(_) => return None,
            FieldIntent::Widespread | FieldIntent::Other => {
                let lines = entry_lines(source, &front.root, field.entry)?;
                let text = read_text(&field.entry.value).filter(|_| field.entry.value.tag.is_none())?;
                let written = source[field.entry.value.span.range()].trim();
                if written.is_empty() || written.contains('\n') || written.starts_with(['|', '>', '&', '*']) {
                    return None;
                }
                let value = if text.is_text() { written.to_owned() } else { quote_double(text.value) };
                moved.push(format!("{}: {value}", field.key));
                fix = fix.replace(manifest.file, lines, "");
            }
        }
    }
    if moved.is_empty() {
        return Some(fix);
    }
    // The fields that stay must be enough for the frontmatter to remain a mapping.
    let stays = front.fields().iter().find(|entry| fields.iter().all(|field| field.span != entry.key.span))?;
    let (at, text) = if let Some(metadata) = front.find_field("metadata") {
        let is_taken = |line: &String| line.split_once(':').is_some_and(|(key, _)| metadata.value.get(key).is_some());
        if moved.iter().any(is_taken) {
            return None;
        }
        let moved: Vec<&str> = moved.iter().map(String::as_str).collect();
        add_entry(source, &metadata.value, &moved)?
    } else {
        let end = line_end(source, stays.key.span.start);
        let lines: String = moved.iter().map(|line| format!("  {line}{end}")).collect();
        let line = source[..stays.key.span.start].rfind('\n').map_or(0, |at| at + 1);
        let is_block = stays.key.span.start == line && !source[front.root.span.range()].starts_with('{');
        is_block.then(|| (Span::empty_at(line), format!("metadata:{end}{lines}")))?
    };
    Some(fix.replace(manifest.file, at, text))
}
