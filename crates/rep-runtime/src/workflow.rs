//! Workflows as checklists: what each step starts, what it needs, and which values are missing. UASP §5.8.
//!
//! A step is free text. It is split into words, and quotes delimit a word. `<name>` is a slot for the user to
//! fill, and so is `@name` if the skill's references have another format (`@e{n}`). A step with shell syntax
//! is manual.

use rep_model::SkillDocument;
use rep_model::uasp::{StateEffects, WorkflowStep};
use serde_json::{Map, Value, json};

use crate::command::{self, BindError};
use crate::error::ErrorCode;
use crate::request;
use crate::state::{CommandEnding, CommandState};

/// The maximum number of steps of a workflow.
const STEPS_MAX: usize = 1000;

/// A workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowChecklist {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// What must hold throughout.
    pub invariants: Vec<String>,
    /// Its steps, in order.
    pub steps: Vec<ChecklistStep>,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct ChecklistStep {
    /// The text as the author wrote it.
    pub text: String,
    /// The author's note.
    pub note: Option<String>,
    /// Whether it may fail or be skipped.
    pub is_optional: bool,
    /// The command it starts, if that can be determined.
    pub command: Option<String>,
    /// The slots to fill before it can run, in order.
    pub slots: Vec<String>,
    /// The state its command requires.
    pub requires: Vec<String>,
    /// The required state that would not be valid after the steps before it.
    pub missing: Vec<String>,
    /// Why it is manual, if it is.
    pub by_hand: Option<String>,
    /// Its words.
    words: Vec<Vec<StepFragment>>,
}

/// A fragment of a word.
#[derive(Clone, Debug, PartialEq)]
enum StepFragment {
    Text(String),
    Slot(String),
}

/// Lists the names of a skill's workflows.
pub fn list_workflow_names(document: &SkillDocument) -> Vec<&str> {
    document.sections.workflows.iter().map(|workflow| &*workflow.name).collect()
}

/// Lists the workflows of a skill: name, description and number of steps.
pub fn summarize_workflows(document: &SkillDocument) -> impl Iterator<Item = (&str, &str, usize)> {
    let workflows = document.sections.workflows.iter();
    workflows.map(|one| (&*one.name, one.description.as_deref().unwrap_or_default(), one.steps.len()))
}

/// Builds the checklist of a workflow that starts in a given state.
pub fn build_checklist(document: &SkillDocument, name: &str, state: &CommandState) -> Option<WorkflowChecklist> {
    let definition = document.find_workflow(name)?;
    let mut state = state.clone();
    let effects = StateEffects::from_sections(&document.sections);
    let steps = definition.steps.iter().take(STEPS_MAX);
    let steps = steps.filter_map(|step| ChecklistStep::from_definition(step, document, &effects, &mut state)).collect();
    let description = definition.description.as_deref().unwrap_or_default().to_owned();
    let invariants = definition.invariants.iter().map(ToString::to_string).collect();
    Some(WorkflowChecklist { name: name.to_owned(), description, invariants, steps })
}

impl WorkflowChecklist {
    /// Renders the checklist as JSON.
    pub fn to_json(&self) -> Value {
        let steps = self.steps.iter().zip(1..);
        json!({
            "name": self.name,
            "description": self.description,
            "invariants": self.invariants,
            "steps": steps.map(|(step, number)| step.to_json(number)).collect::<Vec<Value>>(),
        })
    }
}

impl ChecklistStep {
    fn to_json(&self, number: usize) -> Value {
        json!({
            "step": number,
            "cmd": self.text,
            "note": self.note,
            "optional": self.is_optional,
            "command": self.command,
            "slots": self.slots,
            "requires": self.requires,
            "missing": self.missing,
            "by_hand": self.by_hand,
        })
    }

    fn from_definition(
        step: &WorkflowStep,
        document: &SkillDocument,
        all_effects: &StateEffects<'_>,
        state: &mut CommandState,
    ) -> Option<Self> {
        let text = step.command.as_deref()?.trim().to_owned();
        let note = step.note.as_deref().map(str::to_owned);
        let is_optional = step.is_optional;
        let (words, by_hand) = match split_words(&text, document) {
            Ok(words) => (words, None),
            Err(reason) => (Vec::new(), Some(reason)),
        };
        let mut found = Self {
            text,
            note,
            is_optional,
            command: None,
            slots: Vec::new(),
            requires: Vec::new(),
            missing: Vec::new(),
            by_hand,
            words,
        };
        for piece in found.words.iter().flatten() {
            if let StepFragment::Slot(name) = piece
                && !found.slots.contains(name)
            {
                found.slots.push(name.clone());
            }
        }
        let plain: Vec<&str> = match found.by_hand {
            None => found.words.iter().map_while(|word| literal_text(word)).collect(),
            Some(_) => found.text.split_whitespace().collect(),
        };
        match document.sections.commands.find_by_step(&plain) {
            Some(command) => {
                found.command = Some(command.path.to_string());
                let effects = all_effects.get_or_named(&command.path);
                found.requires = effects.requires.iter().map(|name| (*name).to_owned()).collect();
                found.missing = state.missing_entities(&effects).into_iter().map(str::to_owned).collect();
                state.apply_command(&effects, &CommandEnding::Succeeded(None), None);
            }
            // If a slot comes first, the command is unknown until the slot is filled.
            None if found.by_hand.is_none()
                && !matches!(found.words.first().map(Vec::as_slice), Some([StepFragment::Slot(_)])) =>
            {
                found.by_hand = Some("it does not start a command of this skill".to_owned());
            }
            None => {}
        }
        Some(found)
    }

    /// Binds the command of a step and its arguments, with its slots filled.
    pub fn bind_arguments(
        &self,
        document: &SkillDocument,
        values: &Map<String, Value>,
    ) -> Result<(String, Map<String, Value>), BindError> {
        let refuse = |message: String, remedy: String| BindError { code: ErrorCode::InvalidArgument, message, remedy };
        let mut words = Vec::new();
        for pieces in &self.words {
            let mut word = String::new();
            for piece in pieces {
                match piece {
                    StepFragment::Text(text) => word.push_str(text),
                    StepFragment::Slot(name) => {
                        let missing = || {
                            let message = format!("the step `{}` needs `{name}`", self.text);
                            refuse(message, format!("give it: --set {name}=…"))
                        };
                        word.push_str(values.get(name).and_then(Value::as_str).ok_or_else(missing)?);
                    }
                }
            }
            words.push(word);
        }
        let plain: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some(command) = document.sections.commands.find_by_step(&plain) else {
            let message = format!("the step `{}` does not start a command of this skill", self.text);
            return Err(refuse(message, "do it by hand".to_owned()));
        };
        let arguments = if request::is_request_command(document, command) {
            request::parse_step_arguments(document, command, &words)?
        } else {
            command::parse_step_arguments(document, &command.path, &words)?
        };
        Ok((command.path.to_string(), arguments))
    }
}

/// Returns the text of a word without slots.
fn literal_text(word: &[StepFragment]) -> Option<&str> {
    match word {
        [StepFragment::Text(text)] => Some(text),
        _ => None,
    }
}

/// Splits a step into words, or returns the shell syntax that prevents it.
fn split_words(text: &str, document: &SkillDocument) -> Result<Vec<Vec<StepFragment>>, String> {
    let shell = |what: char| Err(format!("it uses the shell syntax `{what}`"));
    let mut words: Vec<Vec<StepFragment>> = Vec::new();
    let mut word: Option<Vec<StepFragment>> = None;
    let mut quote: Option<char> = None;
    let mut letters = text.chars().peekable();
    let push = |word: &mut Option<Vec<StepFragment>>, letter: char| {
        let pieces = word.get_or_insert_with(Vec::new);
        match pieces.last_mut() {
            Some(StepFragment::Text(text)) => text.push(letter),
            _ => pieces.push(StepFragment::Text(letter.to_string())),
        }
    };
    while let Some(letter) = letters.next() {
        if letter == '<'
            && let Some(name) = parse_slot_name(letters.clone())
        {
            letters.by_ref().take(name.chars().count() + 1).for_each(drop);
            word.get_or_insert_with(Vec::new).push(StepFragment::Slot(name));
            continue;
        }
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            ('$' | '`', Some('"')) | ('$' | '`' | '\\' | '|' | ';' | '&' | '>' | '<' | '(' | ')' | '\n', None) => {
                return shell(letter);
            }
            (_, Some(_)) => push(&mut word, letter),
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_with(Vec::new);
            }
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            (letter, None) => push(&mut word, letter),
        }
    }
    if quote.is_some() {
        return Err("it has an unclosed quote".to_owned());
    }
    words.extend(word);
    let words =
        words.into_iter().map(|word| if word.is_empty() { vec![StepFragment::Text(String::new())] } else { word });
    Ok(words.map(|word| replace_reference_word(word, document)).collect())
}

/// Parses the name of a slot after its `<`: characters up to `>`, with no blank at either end, unlike in
/// redirections.
fn parse_slot_name(letters: impl Iterator<Item = char>) -> Option<String> {
    const NAME_CHARS_MAX: usize = 128;
    let mut name = String::new();
    for letter in letters.take(NAME_CHARS_MAX) {
        match letter {
            '>' => return Some(name).filter(|name| !name.is_empty() && name.trim() == name),
            letter if letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | ' ') => name.push(letter),
            _ => return None,
        }
    }
    None
}

/// Replaces `@user` with a slot if references have the format `@e{n}`: the user must look up the reference.
fn replace_reference_word(word: Vec<StepFragment>, document: &SkillDocument) -> Vec<StepFragment> {
    let Some(text) = literal_text(&word) else { return word };
    let Some(name) = text.strip_prefix('@').filter(|name| !name.is_empty()) else { return word };
    let formats = document.sections.state.entities.iter().filter_map(|entity| entity.format.as_deref());
    let mut formats = formats.filter(|format| format.starts_with('@')).peekable();
    let is_form = formats.peek().is_some() && !formats.any(|format| command::matches_format(format, text));
    if is_form && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_')) {
        vec![StepFragment::Slot(name.to_owned())]
    } else {
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rep_model::DocumentOrigin;

    fn from_value(value: Value) -> SkillDocument {
        SkillDocument::from_value(value, DocumentOrigin::Authored, Vec::new())
    }

    fn document() -> SkillDocument {
        from_value(json!({
            "state": { "entities": [{ "name": "ref", "format": "@e{n}" }] },
            "commands": {
                "open": { "syntax": "b open <url>", "invalidates": ["refs"] },
                "snapshot": { "syntax": "b snapshot [-i]", "creates": ["refs"] },
                "click": { "syntax": "b click <ref>", "args": [{ "name": "ref", "type": "ref" }], "requires": ["refs"] },
                "get.text": { "syntax": "b get text <ref>", "requires": ["refs"] },
                "find": { "syntax": "b find <what> <value>" },
            },
            "workflows": { "w": { "description": "D", "invariants": ["I"], "steps": [
                { "cmd": "open <url>", "note": "go" },
                { "cmd": "click @submit" },
                { "cmd": "b snapshot -i" },
                { "cmd": "<action> @e1" },
                { "cmd": "get text body > content.txt", "optional": true },
                "find label \"a b\"",
                { "cmd": "dance" },
                { "cmd": "get.text @e2" },
            ] } },
        }))
    }

    #[test]
    fn steps_become_a_checklist() {
        let document = document();
        let found = build_checklist(&document, "w", &CommandState::new(&document)).unwrap();
        let steps = &found.steps;
        assert_eq!((found.invariants.len(), steps.len(), list_workflow_names(&document)), (1, 8, vec!["w"]));
        assert_eq!((steps[0].command.as_deref(), &steps[0].slots[..]), (Some("open"), &["url".to_owned()][..]));
        assert_eq!(
            (steps[1].missing.as_slice(), steps[1].slots.as_slice()),
            (&["refs".to_owned()][..], &["submit".to_owned()][..])
        );
        assert_eq!((steps[2].command.as_deref(), steps[2].by_hand.as_deref()), (Some("snapshot"), None));
        assert_eq!((steps[3].command.as_deref(), steps[3].by_hand.as_deref()), (None, None));
        assert!(steps[4].is_optional && steps[4].by_hand.as_deref() == Some("it uses the shell syntax `>`"));
        assert_eq!((steps[4].command.as_deref(), steps[4].missing.len()), (Some("get.text"), 0));
        assert!(steps[6].by_hand.is_some());
    }

    #[test]
    fn slots_are_filled_and_stay_one_word() {
        let document = document();
        let found = build_checklist(&document, "w", &CommandState::new(&document)).unwrap();
        let values = json!({ "url": "a b; $(id) <action>", "action": "click" });
        let filled = |at: usize| found.steps[at].bind_arguments(&document, values.as_object().unwrap());
        let (name, arguments) = filled(0).unwrap();
        assert_eq!((name.as_str(), Value::Object(arguments)), ("open", json!({ "url": "a b; $(id) <action>" })));
        assert_eq!(filled(1).unwrap_err().remedy, "give it: --set submit=…");
        assert_eq!(filled(3).unwrap(), ("click".to_owned(), json!({ "ref": "@e1" }).as_object().unwrap().clone()));
        assert_eq!(Value::Object(filled(5).unwrap().1), json!({ "what": "label", "value": "a b" }));
        // A path may be written with its dots too.
        let (name, arguments) = filled(7).unwrap();
        assert_eq!((name.as_str(), Value::Object(arguments)), ("get.text", json!({ "ref": "@e2" })));
    }

    #[test]
    fn a_step_of_a_request_fills_its_arguments_by_place_and_by_name() {
        let document = from_value(json!({
            "meta": { "type": "api" },
            "commands": { "todos.update": { "syntax": "PATCH /todos/<id>?a=<a>&b=<b>", "args": [
                { "name": "id" }, { "name": "done", "type": "bool" }, { "name": "tags", "type": "string[]" },
            ] } },
            "workflows": { "w": { "steps": [
                "todos.update <id> done=true tags=a tags=b",
                "todos update t1 yes",
                "todos.update a=b",
                "todos.update 1 yes x y",
                "todos.update t1 id=t2",
            ] } },
        }));
        let found = build_checklist(&document, "w", &CommandState::new(&document)).unwrap();
        let values = json!({ "id": "x/../y?z=1" });
        let filled = |at: usize| found.steps[at].bind_arguments(&document, values.as_object().unwrap());
        let arguments = |at: usize| Value::Object(filled(at).unwrap().1);
        assert_eq!(arguments(0), json!({ "id": "x/../y?z=1", "done": true, "tags": ["a", "b"] }));
        assert_eq!(arguments(1), json!({ "id": "t1", "done": true }));
        // A word that does not name an argument is a value.
        assert_eq!(arguments(2), json!({ "id": "a=b" }));
        assert!(filled(3).unwrap_err().message.contains("unexpected argument `y`"));
        assert!(filled(4).unwrap_err().message.contains("given twice"));
    }

    #[test]
    fn what_only_a_shell_understands_is_for_people() {
        let document = document();
        for text in [
            "open a | b",
            "open a; b",
            "open a && b",
            "open $(id)",
            "open `id`",
            "open $HOME",
            "open 'a",
            "open a > f",
            "open < f",
            "open < in > out",
            "open <f",
            "open \"$x\"",
            "open a\nb",
        ] {
            assert!(split_words(text, &document).is_err(), "{text}");
        }
        assert!(split_words("open '$x | y'", &document).is_ok());
    }
}
