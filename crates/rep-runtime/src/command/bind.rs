//! Values into a syntax, and the words of a step back into values.

use crate::error::ErrorCode;
use rep_model::Document;
use rep_model::suggestion::nearest_by_name;
use rep_model::uasp::{Command, Template};
use serde_json::{Map, Value};

use super::argument::{Kind, Parameter};
use super::template::{self, Part, Piece, Slot};
use super::{BindError, Bound, Lookup, Word, is_secret_name, read_as};

/// The most bytes of all words together.
const BYTES_MAX: usize = 1 << 20;
/// The longest key of an argument, and the most arguments and flags of a command.
const KEY_BYTES_MAX: usize = 256;
const PARAMETERS_MAX: usize = 1000;

/// One way to write a command, with what it takes.
pub(super) struct Binder<'a> {
    command: String,
    parts: Vec<Part>,
    parameters: Vec<Parameter>,
    /// Which of them the syntax shows.
    is_placed: Vec<bool>,
    /// Whether only what this syntax shows may be given.
    is_variant: bool,
    /// The command, with one of whose names a step starts; `None` for a template.
    definition: Option<&'a Command>,
}

/// The words that were made so far.
#[derive(Default)]
struct Words {
    all: Vec<Word>,
    /// Where flags go.
    place: Option<usize>,
    is_behind_dashes: bool,
    /// An argument that was left out, so that what follows would stand in its place.
    gap: Option<String>,
}

/// A name as it is compared.
fn folded(name: &str) -> String {
    name.trim().to_lowercase().replace(['_', ' '], "-")
}

/// A key as far as it is told.
fn cut(key: &str) -> &str {
    rep_model::truncate::truncate_chars(key, KEY_BYTES_MAX / 4)
}

/// Whether one name is the other in plural.
fn is_plural(one: &str, two: &str) -> bool {
    let plural = |one: &str, two: &str| {
        format!("{one}s") == two
            || format!("{one}es") == two
            || one.strip_suffix('y').is_some_and(|stem| format!("{stem}ies") == two)
    };
    plural(one, two) || plural(two, one)
}

impl<'a> Binder<'a> {
    pub(super) fn new(
        document: &Document,
        name: &str,
        command: &'a Command,
        line: &str,
        is_variant: bool,
    ) -> Result<Self, BindError> {
        let global = &document.sections.global_flags;
        let arguments = command.arguments.iter().filter_map(|one| Parameter::of(one, document, false, false));
        let flags = command.flags.iter().filter_map(|one| Parameter::of(one, document, true, false));
        let global = global.iter().filter_map(|one| Parameter::of(one, document, true, true));
        let parameters: Vec<Parameter> = arguments.chain(flags).chain(global).take(PARAMETERS_MAX + 1).collect();
        let told = |what: String| BindError::command(format!("the `syntax` of the command `{name}` {what}"));
        if parameters.len() > PARAMETERS_MAX {
            return Err(told(format!("takes more than {PARAMETERS_MAX} arguments and flags")));
        }
        let is_declared = |word: &str| {
            let word = folded(word.trim_end_matches('.'));
            parameters.iter().any(|known| known.spelling.is_none() && folded(known.name()) == word)
        };
        let parts = template::parse(line, &is_declared).map_err(told)?;
        let is_program = matches!(parts.first(), Some(Part::Word(pieces)) if matches!(&pieces[..], [Piece::Text(text)] if !text.is_empty() && !text.contains('=') && !text.starts_with('-')));
        if !is_program {
            return Err(told("does not start with a program".to_owned()));
        }
        let mut binder = Self {
            command: name.to_owned(),
            is_placed: vec![false; parameters.len()],
            parts: Vec::new(),
            parameters,
            is_variant,
            definition: Some(command),
        };
        let parts = if is_variant { spoken(parts) } else { parts };
        binder.parts = parts.into_iter().map(|part| binder.placed(part)).collect();
        Ok(binder)
    }

    /// The words behind a template's script.
    pub(super) fn of_template(document: &Document, name: &str, template: &Template) -> Self {
        let parameters: Vec<Parameter> = template
            .arguments
            .iter()
            .filter_map(|one| Parameter::of(one, document, false, false))
            .take(PARAMETERS_MAX)
            .collect();
        let mut binder = Self {
            command: format!("templates.{name}"),
            is_placed: vec![false; parameters.len()],
            parts: vec![Part::Word(vec![Piece::Text(name.to_owned())])],
            parameters,
            is_variant: false,
            definition: None,
        };
        let usage = template.usage.as_deref().unwrap_or_default();
        if binder.parameters.is_empty()
            && let Ok(parts) = template::parse(usage, &|_| false)
        {
            let has_slot = |part: &Part| !matches!(part, Part::Word(pieces) if !pieces.iter().any(|piece| matches!(piece, Piece::Slot(_))));
            let slots: Vec<Part> = parts.into_iter().skip(1).filter(has_slot).collect();
            let slots: Vec<Part> = slots.into_iter().map(|part| binder.placed(part)).collect();
            binder.parts.extend(slots);
            return binder;
        }
        // Shown nowhere, they stand in the order they are declared, with their defaults.
        for at in 0..binder.parameters.len() {
            let slot = Slot { parameter: at, ..Slot::default() };
            let word = Part::Word(vec![Piece::Slot(slot)]);
            let is_needed = binder.parameters[at].is_required == Some(true);
            binder.parts.push(if is_needed { word } else { Part::Group(vec![word]) });
            binder.is_placed[at] = true;
        }
        binder
    }

    /// Ties the slots of a part to parameters.
    fn placed(&mut self, part: Part) -> Part {
        match part {
            Part::Word(pieces) => Part::Word(
                pieces
                    .into_iter()
                    .map(|piece| match piece {
                        Piece::Slot(slot) => {
                            let parameter = self.argument(&slot);
                            Piece::Slot(Slot { parameter, ..slot })
                        }
                        text @ Piece::Text(_) => text,
                    })
                    .collect(),
            ),
            Part::Flag { spelling, value, is_joined } => {
                let parameter = self.flag(&spelling, value.as_ref());
                // Without a value it is a switch; its slot only remembers whose it is.
                let value = Some(Slot { parameter, ..value.unwrap_or_default() });
                Part::Flag { spelling, value, is_joined }
            }
            Part::Group(parts) => Part::Group(parts.into_iter().map(|part| self.placed(part)).collect()),
            Part::Choice { alternatives, is_optional } => {
                let mut kept: Vec<Vec<Part>> = Vec::new();
                for parts in alternatives {
                    let parts: Vec<Part> = parts.into_iter().map(|part| self.placed(part)).collect();
                    // `-i|--interactive` is one flag.
                    let own = all_of(&parts);
                    if own.is_empty() || !kept.iter().any(|known| all_of(known) == own) {
                        kept.push(parts);
                    }
                }
                Part::Choice { alternatives: kept, is_optional }
            }
            Part::Place => Part::Place,
        }
    }

    /// The argument of a slot: by its name, by its plural, the only list that is left, the one with its values; else one
    /// that only the syntax shows.
    fn argument(&mut self, slot: &Slot) -> usize {
        let names: Vec<String> = slot.names.iter().map(|name| folded(name)).collect();
        let arguments = || self.parameters.iter().enumerate().filter(|(_, known)| known.spelling.is_none());
        let by_name = arguments().find(|(_, known)| names.contains(&folded(known.name())));
        let left = || arguments().filter(|(at, _)| !self.is_placed[*at]);
        let by_number = || left().find(|(_, known)| names.iter().any(|name| is_plural(name, &folded(known.name()))));
        let only_list = || {
            let mut lists = left().filter(|(_, known)| known.is_list && slot.is_variadic);
            lists.next().filter(|_| lists.next().is_none())
        };
        let by_values = || left().find(|(_, known)| !slot.values.is_empty() && known.values == slot.values);
        let found = by_name.or_else(by_number).or_else(only_list).or_else(by_values).map(|(at, _)| at);
        let at = found.unwrap_or_else(|| {
            let implied = Parameter::implied(slot.names.clone(), slot.values.clone(), slot.is_variadic);
            self.push(implied)
        });
        self.is_placed[at] = true;
        self.parameters[at].is_list |= slot.is_variadic;
        at
    }

    /// The parameter of a flag the syntax shows: a flag by its spelling, an argument by its value's name, else one that
    /// only the syntax shows.
    fn flag(&mut self, spelling: &str, value: Option<&Slot>) -> usize {
        let of_flags = |known: &Parameter| known.spelling.is_some() && known.keys.iter().any(|key| key == spelling);
        let own = |known: &&str| value.is_some_and(|slot| slot.names.iter().any(|name| folded(name) == folded(known)));
        let by_flag = self.parameters.iter().position(of_flags);
        let by_value = || self.parameters.iter().position(|known| known.spelling.is_none() && own(&known.name()));
        let bare = spelling.trim_start_matches('-');
        let by_name = || {
            let is = |known: &Parameter| known.spelling.is_none() && folded(known.name()) == folded(bare);
            self.parameters.iter().position(is)
        };
        let at = by_flag.or_else(by_value).or_else(by_name).unwrap_or_else(|| {
            let values = value.map(|slot| slot.values.clone()).unwrap_or_default();
            let mut implied = Parameter::implied(vec![spelling.to_owned()], values, false);
            implied.is_required = None;
            self.push(implied)
        });
        let taken: Vec<String> = self.parameters.iter().flat_map(|known| known.keys.clone()).collect();
        let shown = value.into_iter().flat_map(|slot| slot.names.iter().map(String::as_str));
        for key in [spelling, bare].into_iter().chain(shown) {
            if !taken.iter().any(|known| known == key) {
                self.parameters[at].keys.push(key.to_owned());
            }
        }
        let parameter = &mut self.parameters[at];
        parameter.is_list |= value.is_some_and(|slot| slot.is_variadic);
        if !parameter.is_typed {
            parameter.kind = if value.is_some() { Kind::Any } else { Kind::Bool };
        }
        self.is_placed[at] = true;
        at
    }

    fn push(&mut self, parameter: Parameter) -> usize {
        self.parameters.push(parameter);
        self.is_placed.push(false);
        self.parameters.len() - 1
    }

    /// Makes the words.
    pub(super) fn bind(self, arguments: &Map<String, Value>, variable: &Lookup<'_>) -> Result<Bound, BindError> {
        let mut given = self.given(arguments)?;
        for (at, parameter) in self.parameters.iter().enumerate() {
            // A credential is not written on a command line: its program finds it in its environment.
            let env = parameter.env.as_deref().filter(|name| given[at].is_none() && !is_secret_name(name));
            if let Some(text) = env.and_then(variable).filter(|text| !text.is_empty()) {
                given[at] = Some(read_as(parameter, &[text]));
            }
        }
        let mut words = Words::default();
        for part in &self.parts {
            self.render(part, &given, &mut words, false)?;
        }
        self.render_rest(&given, &mut words)?;
        let bytes: usize = words.all.iter().map(|word| word.text.len() + 1).sum();
        if bytes > BYTES_MAX {
            let message =
                format!("the arguments of `{}` are {bytes} bytes, more than a program can be given", self.command);
            return Err(BindError { code: ErrorCode::InvalidArgument, message, remedy: "hand over a file".to_owned() });
        }
        Ok(Bound { words: words.all })
    }

    /// Which value belongs to which parameter.
    fn given(&self, arguments: &Map<String, Value>) -> Result<Vec<Option<Value>>, BindError> {
        let mut given: Vec<Option<Value>> = vec![None; self.parameters.len()];
        for (key, value) in arguments.iter().filter(|(_, value)| !value.is_null()) {
            let at = self.find(key).ok_or_else(|| self.unknown(key))?;
            if given[at].replace(value.clone()).is_some() {
                let name = self.parameters[at].name();
                return Err(BindError::argument(name, "is given twice, under two names", format!("leave out `{key}`")));
            }
        }
        Ok(given)
    }

    fn find(&self, key: &str) -> Option<usize> {
        if key.len() > KEY_BYTES_MAX {
            return None;
        }
        let wanted = folded(key);
        let is_open = |at: &usize| !self.is_variant || self.is_placed[*at] || self.parameters[*at].is_global;
        let exact = |known: &Parameter| known.keys.iter().any(|own| own == key);
        let alike = |known: &Parameter| known.keys.iter().any(|own| folded(own) == wanted);
        let at = self.parameters.iter().position(exact).or_else(|| self.parameters.iter().position(alike));
        at.filter(is_open)
    }

    fn unknown(&self, key: &str) -> BindError {
        let key = cut(key);
        let names = self.parameters.iter().map(Parameter::name).filter(|name| name.len() <= KEY_BYTES_MAX).take(200);
        let near = nearest_by_name(key, names, |name| name.trim_start_matches('-'));
        let own: Vec<&str> =
            self.parameters.iter().filter(|known| !known.is_global).map(Parameter::name).take(12).collect();
        let remedy = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if own.is_empty() => format!("`{}` takes no arguments", self.command),
            None => format!("`{}` takes {}", self.command, own.join(", ")),
        };
        BindError::argument(key, format!("is none of the command `{}`", self.command), remedy)
    }

    fn missing(&self, at: usize) -> BindError {
        let name = self.parameters[at].name();
        let remedy = format!("give it: --args '{{\"{name}\": …}}'");
        BindError::argument(name, format!("is missing; the command `{}` needs it", self.command), remedy)
    }

    /// The value of a parameter: what was given, else its default.
    fn value<'v>(&'v self, at: usize, given: &'v [Option<Value>]) -> Option<&'v Value> {
        given[at].as_ref().or(self.parameters[at].default.as_ref())
    }

    /// Whether a switch or a value was given.
    fn is_given(&self, at: usize, given: &[Option<Value>]) -> bool {
        match &given[at] {
            None => false,
            Some(value) => self.parameters[at].kind != Kind::Bool || *value != Value::Bool(false),
        }
    }

    fn render(
        &self,
        part: &Part,
        given: &[Option<Value>],
        words: &mut Words,
        is_optional: bool,
    ) -> Result<(), BindError> {
        match part {
            Part::Word(pieces) => self.word(pieces, given, words),
            Part::Flag { spelling, value, is_joined } => {
                let at = value.as_ref().map_or(0, |slot| slot.parameter);
                let is_left_out = is_optional || self.parameters[at].is_required == Some(false);
                if self.is_given(at, given) || (!is_left_out && self.value(at, given).is_some()) {
                    // `rm -f <file>` may be a switch and a word: only a flag that is declared, or whose group shows that
                    // the value is its own, may have one that looks like a flag.
                    let parameter = &self.parameters[at];
                    let is_sure = is_optional || *is_joined || (parameter.spelling.is_some() && parameter.is_typed);
                    let is_sure = is_sure || words.is_behind_dashes;
                    self.flagged(at, spelling, (*is_joined, is_sure), given, &mut words.all)
                } else if is_left_out || self.parameters[at].kind == Kind::Bool {
                    self.left_out(at, given)
                } else {
                    Err(self.missing(at))
                }
            }
            Part::Group(parts) => self.group(parts, given, words),
            Part::Choice { alternatives, is_optional } => self.choice(alternatives, *is_optional, given, words),
            Part::Place => {
                words.place = words.place.or(Some(words.all.len()));
                Ok(())
            }
        }
    }

    /// One that is not there must not be needed.
    fn left_out(&self, at: usize, given: &[Option<Value>]) -> Result<(), BindError> {
        if self.parameters[at].is_required == Some(true) && given[at].is_none() {
            Err(self.missing(at))
        } else {
            Ok(())
        }
    }

    /// One word with its slots, or the words of a slot that takes several.
    fn word(&self, pieces: &[Piece], given: &[Option<Value>], words: &mut Words) -> Result<(), BindError> {
        let mut texts: Vec<String> = vec![String::new()];
        let mut is_literal = true;
        let mut first = None;
        for (index, piece) in pieces.iter().enumerate() {
            let slot = match piece {
                Piece::Text(text) => {
                    for word in &mut texts {
                        word.push_str(text);
                    }
                    continue;
                }
                Piece::Slot(slot) => slot,
            };
            is_literal = false;
            let parameter = &self.parameters[slot.parameter];
            if index == 0 {
                first = Some(parameter);
            }
            let Some(value) = self.value(slot.parameter, given) else {
                if parameter.is_required == Some(false) {
                    words.gap = words.gap.take().or_else(|| Some(parameter.name().to_owned()));
                    return Ok(());
                }
                return Err(self.missing(slot.parameter));
            };
            let own = parameter.words(value)?;
            if own.is_empty() {
                return Err(BindError::argument(parameter.name(), "is an empty list", "give one item at least"));
            }
            if pieces.len() == 1 {
                texts = own;
            } else if let [own] = &own[..] {
                for word in &mut texts {
                    word.push_str(own);
                }
            } else {
                return Err(BindError::argument(parameter.name(), "has one place only", "give one item"));
            }
        }
        if is_literal && texts[0] == "--" {
            words.place = words.place.or(Some(words.all.len()));
            words.is_behind_dashes = true;
        }
        for text in texts {
            if let Some(parameter) = first.filter(|_| !words.is_behind_dashes) {
                plain(parameter, &text)?;
            }
            words.all.push(Word { text, is_literal });
        }
        Ok(())
    }

    /// A flag and its value, as words. Where it is not sure that the value is the flag's, it must not look like one itself.
    fn flagged(
        &self,
        at: usize,
        spelling: &str,
        (is_joined, is_sure): (bool, bool),
        given: &[Option<Value>],
        words: &mut Vec<Word>,
    ) -> Result<(), BindError> {
        let parameter = &self.parameters[at];
        let Some(value) = self.value(at, given) else { return Ok(()) };
        let flag = || Word { text: spelling.to_owned(), is_literal: true };
        let is_switch = match (parameter.kind, value) {
            (Kind::Bool, Value::Bool(_)) => true,
            // Nothing says that it takes a value.
            (Kind::Any, Value::Bool(_)) => !self.is_placed[at],
            _ => false,
        };
        if is_switch {
            if *value == Value::Bool(true) {
                words.push(flag());
            }
            return Ok(());
        }
        for text in parameter.words(value)? {
            if !is_sure {
                plain(parameter, &text)?;
            }
            if is_joined {
                words.push(Word { text: format!("{spelling}={text}"), is_literal: false });
            } else {
                words.extend([flag(), Word { text, is_literal: false }]);
            }
        }
        Ok(())
    }

    /// What may be left out, and is, where nothing of it was given.
    fn group(&self, parts: &[Part], given: &[Option<Value>], words: &mut Words) -> Result<(), BindError> {
        let inside = all_of(parts);
        let is_given = inside.iter().any(|at| self.is_given(*at, given));
        let plain = positions(parts);
        if is_given {
            let late = plain.iter().find(|at| given[**at].is_some());
            if let (Some(gap), Some(late)) = (&words.gap, late) {
                let what = format!("would stand in the place of `{gap}`, which is not given");
                return Err(BindError::argument(self.parameters[*late].name(), what, format!("give `{gap}` too")));
            }
            return parts.iter().try_for_each(|part| self.render(part, given, words, true));
        }
        let has_defaults = !plain.is_empty()
            && plain.len() == inside.len()
            && plain.iter().all(|at| self.parameters[*at].default.is_some());
        if has_defaults && words.gap.is_none() {
            return parts.iter().try_for_each(|part| self.render(part, given, words, true));
        }
        if let Some(at) = plain.first() {
            words.gap = words.gap.take().or_else(|| Some(self.parameters[*at].name().to_owned()));
        }
        inside.into_iter().try_for_each(|at| self.left_out(at, given))
    }

    fn choice(
        &self,
        alternatives: &[Vec<Part>],
        is_optional: bool,
        given: &[Option<Value>],
        words: &mut Words,
    ) -> Result<(), BindError> {
        let is_given = |parts: &&Vec<Part>| all_of(parts).iter().any(|at| self.is_given(*at, given));
        let chosen: Vec<&Vec<Part>> = alternatives.iter().filter(is_given).collect();
        let names = |parts: &[&Vec<Part>]| {
            let all =
                parts.iter().flat_map(|parts| all_of(parts)).map(|at| format!("`{}`", self.parameters[at].name()));
            all.collect::<Vec<_>>().join(" or ")
        };
        match (&chosen[..], alternatives) {
            ([parts], _) => parts.iter().try_for_each(|part| self.render(part, given, words, true)),
            ([], [only]) if !is_optional => only.iter().try_for_each(|part| self.render(part, given, words, false)),
            ([], _) if is_optional => {
                alternatives.iter().flat_map(|parts| all_of(parts)).try_for_each(|at| self.left_out(at, given))
            }
            ([], _) => {
                let wanted = names(&alternatives.iter().collect::<Vec<_>>());
                let message = format!("the command `{}` needs {wanted}", self.command);
                Err(BindError { code: ErrorCode::InvalidArgument, message, remedy: "give one of them".to_owned() })
            }
            _ => {
                let message = format!("the command `{}` takes only one of {}", self.command, names(&chosen));
                Err(BindError { code: ErrorCode::InvalidArgument, message, remedy: "leave the others out".to_owned() })
            }
        }
    }

    /// What the syntax does not show: arguments behind its words, flags at their place.
    fn render_rest(&self, given: &[Option<Value>], words: &mut Words) -> Result<(), BindError> {
        let mut flags = Vec::new();
        for is_global in [false, true] {
            for at in 0..self.parameters.len() {
                let parameter = &self.parameters[at];
                if self.is_placed[at] || parameter.is_global != is_global {
                    continue;
                }
                match &parameter.spelling {
                    Some(spelling) if self.is_given(at, given) => {
                        self.flagged(at, spelling, (false, parameter.is_typed), given, &mut flags)?;
                    }
                    Some(_) => self.left_out(at, given)?,
                    None if given[at].is_some() => {
                        let slot = Slot { parameter: at, ..Slot::default() };
                        self.group(&[Part::Word(vec![Piece::Slot(slot)])], given, words)?;
                    }
                    None => {
                        self.left_out(at, given)?;
                        words.gap = words.gap.take().or_else(|| Some(parameter.name().to_owned()));
                    }
                }
            }
        }
        let place = words.place.unwrap_or(words.all.len());
        words.all.splice(place..place, flags);
        Ok(())
    }

    /// The arguments that the words of a step stand for.
    pub(super) fn read(self, words: &[String]) -> Result<Map<String, Value>, BindError> {
        let rest = self.behind_name(words);
        let mut found: Map<String, Value> = Map::new();
        let mut plain: Vec<String> = Vec::new();
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            let (flag, joined) = match word.split_once('=') {
                Some((flag, value)) if word.starts_with("--") => (flag, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            if !word.starts_with('-') || word == "-" {
                plain.push(word.clone());
                continue;
            }
            let at = self.find(flag).ok_or_else(|| self.unknown(flag))?;
            let parameter = &self.parameters[at];
            let value = match joined {
                Some(value) => parameter.read(&value),
                None if parameter.kind == Kind::Bool || (parameter.kind == Kind::Any && !self.is_placed[at]) => {
                    true.into()
                }
                None => parameter.read(rest.next().ok_or_else(|| self.missing(at))?),
            };
            let name = parameter.name().to_owned();
            match found.get_mut(&name) {
                Some(Value::Array(items)) => items.push(value),
                _ if parameter.is_list => drop(found.insert(name, Value::Array(vec![value]))),
                _ => drop(found.insert(name, value)),
            }
        }
        self.read_plain(plain, &mut found)?;
        Ok(found)
    }

    /// The words of a step behind the program and the command's name.
    fn behind_name<'w>(&self, words: &'w [String]) -> &'w [String] {
        let own = |words: &[String]| self.definition.and_then(|command| command.name_length(words));
        let literal = |part: &Part| matches!(part, Part::Word(pieces) if matches!((&pieces[..], words.first()), ([Piece::Text(text)], Some(first)) if text == first));
        match own(words) {
            Some(count) => &words[count..],
            None if self.parts.first().is_some_and(literal) => &words[1 + own(&words[1..]).unwrap_or(0)..],
            None => words,
        }
    }

    /// Words without flags, in the order of the slots.
    fn read_plain(&self, plain: Vec<String>, found: &mut Map<String, Value>) -> Result<(), BindError> {
        let mut slots = positions(&self.parts);
        slots.extend(
            (0..self.parameters.len()).filter(|at| !self.is_placed[*at] && self.parameters[*at].spelling.is_none()),
        );
        let mut plain: std::collections::VecDeque<String> = plain.into();
        let count = slots.len();
        for (index, at) in slots.into_iter().enumerate() {
            let parameter = &self.parameters[at];
            let behind = count - index - 1;
            let own = if parameter.is_list { plain.len().saturating_sub(behind).max(1) } else { 1 };
            let texts: Vec<String> = (0..own).filter_map(|_| plain.pop_front()).collect();
            if !texts.is_empty() {
                found.insert(parameter.name().to_owned(), read_as(parameter, &texts));
            }
        }
        match plain.pop_front() {
            None => Ok(()),
            Some(word) => {
                let message = format!("`{word}` is more than the command `{}` takes", self.command);
                Err(BindError { code: ErrorCode::InvalidArgument, message, remedy: "leave it out".to_owned() })
            }
        }
    }
}

/// In a variant, a word behind a flag is its only value.
fn spoken(parts: Vec<Part>) -> Vec<Part> {
    let mut out: Vec<Part> = Vec::new();
    let mut parts = parts.into_iter().peekable();
    let text = |part: &Part| match part {
        Part::Word(pieces) => match &pieces[..] {
            [Piece::Text(text)] => Some(text.clone()),
            _ => None,
        },
        _ => None,
    };
    while let Some(part) = parts.next() {
        let Some(spelling) = text(&part).filter(|text| text.starts_with("--") && text.len() > 2) else {
            out.push(part);
            continue;
        };
        let Some(value) = parts.peek().and_then(text) else {
            out.push(part);
            continue;
        };
        parts.next();
        let slot = Slot { values: vec![value], ..Slot::default() };
        out.push(Part::Flag { spelling, value: Some(slot), is_joined: false });
    }
    out
}

/// A word in a plain position must not look like a flag.
fn plain(parameter: &Parameter, text: &str) -> Result<(), BindError> {
    let is_number = matches!(parameter.kind, Kind::Int | Kind::Number) && text.parse::<f64>().is_ok();
    if !text.starts_with('-') || text == "-" || is_number {
        return Ok(());
    }
    let remedy = "leave the `-` out, or write a path as `./-…`; the author can show `--` in the `syntax`";
    Err(BindError::argument(parameter.name(), "starts with `-`, which its program could take for a flag", remedy))
}

/// The parameters of all slots and flags in parts.
fn all_of(parts: &[Part]) -> Vec<usize> {
    let of = |part: &Part| match part {
        Part::Word(_) => positions(std::slice::from_ref(part)),
        Part::Flag { value, .. } => value.iter().map(|slot| slot.parameter).collect(),
        Part::Group(parts) => all_of(parts),
        Part::Choice { alternatives, .. } => alternatives.iter().flat_map(|parts| all_of(parts)).collect(),
        Part::Place => Vec::new(),
    };
    parts.iter().flat_map(of).collect()
}

/// The parameters of slots that are no flag's value.
fn positions(parts: &[Part]) -> Vec<usize> {
    let of = |part: &Part| match part {
        Part::Word(pieces) => {
            let slot = |piece: &Piece| match piece {
                Piece::Slot(slot) => Some(slot.parameter),
                Piece::Text(_) => None,
            };
            pieces.iter().filter_map(slot).collect()
        }
        Part::Group(parts) => positions(parts),
        Part::Choice { alternatives, .. } => alternatives.iter().flat_map(|parts| positions(parts)).collect(),
        Part::Flag { .. } | Part::Place => Vec::new(),
    };
    parts.iter().flat_map(of).collect()
}
