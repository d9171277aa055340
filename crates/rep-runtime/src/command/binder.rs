//! Binds values to a syntax, and parses the words of a step back into values.

use crate::error::ErrorCode;
use rep_model::SkillDocument;
use rep_model::suggestion::nearest_by_name;
use rep_model::uasp::{UaspCommand, UaspTemplate};
use serde_json::{Map, Value};

use super::argument::{CommandParameter, ParameterKind};
use super::template::{self, SyntaxPart, SyntaxSlot, WordFragment};
use super::{BindError, BoundCommand, CommandWord, VariableLookup, is_secret_name, parse_argument_texts};

/// The maximum total size of all words, in bytes.
const COMMAND_BYTES_MAX: usize = 1 << 20;
/// The maximum length of an argument name, and the maximum number of arguments and flags of a command.
const KEY_BYTES_MAX: usize = 256;
const PARAMETERS_MAX: usize = 1000;

/// One syntax variant of a command, with its parameters.
pub(super) struct CommandBinder<'a> {
    command: String,
    parts: Vec<SyntaxPart>,
    parameters: Vec<CommandParameter>,
    /// Which parameters the syntax shows.
    is_placed: Vec<bool>,
    /// Whether only the parameters shown in this syntax may be given.
    is_variant: bool,
    /// The command whose name starts a step; `None` for a template.
    definition: Option<&'a UaspCommand>,
}

/// The words built so far.
#[derive(Default)]
struct WordBuffer {
    items: Vec<CommandWord>,
    /// Where flags go.
    flag_position: Option<usize>,
    is_after_double_dash: bool,
    /// An omitted argument; any following argument would take its position.
    omitted_argument: Option<String>,
}

/// Normalizes a name for comparison.
fn normalize_name(name: &str) -> String {
    name.trim().to_lowercase().replace(['_', ' '], "-")
}

/// Truncates a key for messages.
fn truncate_key(key: &str) -> &str {
    rep_model::truncate::truncate_chars(key, KEY_BYTES_MAX / 4)
}

/// Returns whether one name is the plural of the other.
fn is_plural_of(one: &str, two: &str) -> bool {
    let plural = |one: &str, two: &str| {
        format!("{one}s") == two
            || format!("{one}es") == two
            || one.strip_suffix('y').is_some_and(|stem| format!("{stem}ies") == two)
    };
    plural(one, two) || plural(two, one)
}

impl<'a> CommandBinder<'a> {
    pub(super) fn new(
        document: &SkillDocument,
        name: &str,
        command: &'a UaspCommand,
        line: &str,
        is_variant: bool,
    ) -> Result<Self, BindError> {
        let global = &document.sections.global_flags;
        let arguments =
            command.arguments.iter().filter_map(|one| CommandParameter::from_definition(one, document, false, false));
        let flags =
            command.flags.iter().filter_map(|one| CommandParameter::from_definition(one, document, true, false));
        let global = global.iter().filter_map(|one| CommandParameter::from_definition(one, document, true, true));
        let parameters: Vec<CommandParameter> = arguments.chain(flags).chain(global).take(PARAMETERS_MAX + 1).collect();
        let told = |what: String| BindError::invalid_command(format!("the `syntax` of the command `{name}` {what}"));
        if parameters.len() > PARAMETERS_MAX {
            return Err(told(format!("takes more than {PARAMETERS_MAX} arguments and flags")));
        }
        let is_declared = |word: &str| {
            let word = normalize_name(word.trim_end_matches('.'));
            parameters.iter().any(|known| known.spelling.is_none() && normalize_name(known.name()) == word)
        };
        let parts = template::parse(line, &is_declared).map_err(told)?;
        let is_program = matches!(parts.first(), Some(SyntaxPart::Word(pieces)) if matches!(&pieces[..], [WordFragment::Text(text)] if !text.is_empty() && !text.contains('=') && !text.starts_with('-')));
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
        let parts = if is_variant { join_variant_flag_values(parts) } else { parts };
        binder.parts = parts.into_iter().map(|part| binder.bind_part(part)).collect();
        Ok(binder)
    }

    /// Creates the binder for the arguments of a template's script.
    pub(super) fn from_template(document: &SkillDocument, name: &str, template: &UaspTemplate) -> Self {
        let parameters: Vec<CommandParameter> = template
            .arguments
            .iter()
            .filter_map(|one| CommandParameter::from_definition(one, document, false, false))
            .take(PARAMETERS_MAX)
            .collect();
        let mut binder = Self {
            command: format!("templates.{name}"),
            is_placed: vec![false; parameters.len()],
            parts: vec![SyntaxPart::Word(vec![WordFragment::Text(name.to_owned())])],
            parameters,
            is_variant: false,
            definition: None,
        };
        let usage = template.usage.as_deref().unwrap_or_default();
        if binder.parameters.is_empty()
            && let Ok(parts) = template::parse(usage, &|_| false)
        {
            let has_slot = |part: &SyntaxPart| !matches!(part, SyntaxPart::Word(pieces) if !pieces.iter().any(|piece| matches!(piece, WordFragment::Slot(_))));
            let slots: Vec<SyntaxPart> = parts.into_iter().skip(1).filter(has_slot).collect();
            let slots: Vec<SyntaxPart> = slots.into_iter().map(|part| binder.bind_part(part)).collect();
            binder.parts.extend(slots);
            return binder;
        }
        // Parameters that are shown nowhere go in the order of declaration, with their defaults.
        for at in 0..binder.parameters.len() {
            let slot = SyntaxSlot { parameter: at, ..SyntaxSlot::default() };
            let word = SyntaxPart::Word(vec![WordFragment::Slot(slot)]);
            let is_needed = binder.parameters[at].is_required == Some(true);
            binder.parts.push(if is_needed { word } else { SyntaxPart::Group(vec![word]) });
            binder.is_placed[at] = true;
        }
        binder
    }

    /// Binds the slots of a part to parameters.
    fn bind_part(&mut self, part: SyntaxPart) -> SyntaxPart {
        match part {
            SyntaxPart::Word(pieces) => SyntaxPart::Word(
                pieces
                    .into_iter()
                    .map(|piece| match piece {
                        WordFragment::Slot(slot) => {
                            let parameter = self.bind_argument_slot(&slot);
                            WordFragment::Slot(SyntaxSlot { parameter, ..slot })
                        }
                        text @ WordFragment::Text(_) => text,
                    })
                    .collect(),
            ),
            SyntaxPart::Flag { spelling, value, is_joined } => {
                let parameter = self.bind_flag(&spelling, value.as_ref());
                // A flag without a value is a switch; its slot only records the parameter.
                let value = Some(SyntaxSlot { parameter, ..value.unwrap_or_default() });
                SyntaxPart::Flag { spelling, value, is_joined }
            }
            SyntaxPart::Group(parts) => SyntaxPart::Group(parts.into_iter().map(|part| self.bind_part(part)).collect()),
            SyntaxPart::Choice { alternatives, is_optional } => {
                let mut kept: Vec<Vec<SyntaxPart>> = Vec::new();
                for parts in alternatives {
                    let parts: Vec<SyntaxPart> = parts.into_iter().map(|part| self.bind_part(part)).collect();
                    // `-i|--interactive` is one flag.
                    let own = collect_parameters(&parts);
                    if own.is_empty() || !kept.iter().any(|known| collect_parameters(known) == own) {
                        kept.push(parts);
                    }
                }
                SyntaxPart::Choice { alternatives: kept, is_optional }
            }
            SyntaxPart::FlagPlaceholder => SyntaxPart::FlagPlaceholder,
        }
    }

    /// Returns the argument of a slot: by its name, by its plural, the only remaining list, or the one with
    /// its values; otherwise a new one that only the syntax shows.
    fn bind_argument_slot(&mut self, slot: &SyntaxSlot) -> usize {
        let names: Vec<String> = slot.names.iter().map(|name| normalize_name(name)).collect();
        let arguments = || self.parameters.iter().enumerate().filter(|(_, known)| known.spelling.is_none());
        let by_name = arguments().find(|(_, known)| names.contains(&normalize_name(known.name())));
        let left = || arguments().filter(|(at, _)| !self.is_placed[*at]);
        let by_number =
            || left().find(|(_, known)| names.iter().any(|name| is_plural_of(name, &normalize_name(known.name()))));
        let only_list = || {
            let mut lists = left().filter(|(_, known)| known.is_list && slot.is_variadic);
            lists.next().filter(|_| lists.next().is_none())
        };
        let by_values = || left().find(|(_, known)| !slot.values.is_empty() && known.values == slot.values);
        let found = by_name.or_else(by_number).or_else(only_list).or_else(by_values).map(|(at, _)| at);
        let at = found.unwrap_or_else(|| {
            let implied = CommandParameter::from_syntax(slot.names.clone(), slot.values.clone(), slot.is_variadic);
            self.push_parameter(implied)
        });
        self.is_placed[at] = true;
        self.parameters[at].is_list |= slot.is_variadic;
        at
    }

    /// Returns the parameter of a flag in the syntax: a flag by its spelling, an argument by the name of its
    /// value; otherwise a new one that only the syntax shows.
    fn bind_flag(&mut self, spelling: &str, value: Option<&SyntaxSlot>) -> usize {
        let of_flags =
            |known: &CommandParameter| known.spelling.is_some() && known.keys.iter().any(|key| key == spelling);
        let own = |known: &&str| {
            value.is_some_and(|slot| slot.names.iter().any(|name| normalize_name(name) == normalize_name(known)))
        };
        let by_flag = self.parameters.iter().position(of_flags);
        let by_value = || self.parameters.iter().position(|known| known.spelling.is_none() && own(&known.name()));
        let bare = spelling.trim_start_matches('-');
        let by_name = || {
            let is = |known: &CommandParameter| {
                known.spelling.is_none() && normalize_name(known.name()) == normalize_name(bare)
            };
            self.parameters.iter().position(is)
        };
        let at = by_flag.or_else(by_value).or_else(by_name).unwrap_or_else(|| {
            let values = value.map(|slot| slot.values.clone()).unwrap_or_default();
            let mut implied = CommandParameter::from_syntax(vec![spelling.to_owned()], values, false);
            implied.is_required = None;
            self.push_parameter(implied)
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
            parameter.kind = if value.is_some() { ParameterKind::Any } else { ParameterKind::Bool };
        }
        self.is_placed[at] = true;
        at
    }

    fn push_parameter(&mut self, parameter: CommandParameter) -> usize {
        self.parameters.push(parameter);
        self.is_placed.push(false);
        self.parameters.len() - 1
    }

    /// Builds the words.
    pub(super) fn build_command(
        self,
        arguments: &Map<String, Value>,
        variable: &VariableLookup<'_>,
    ) -> Result<BoundCommand, BindError> {
        let mut given = self.match_arguments(arguments)?;
        for (at, parameter) in self.parameters.iter().enumerate() {
            // Credentials are not put on a command line; the program reads them from its environment.
            let env = parameter.env.as_deref().filter(|name| given[at].is_none() && !is_secret_name(name));
            if let Some(text) = env.and_then(variable).filter(|text| !text.is_empty()) {
                given[at] = Some(parse_argument_texts(parameter, &[text]));
            }
        }
        let mut words = WordBuffer::default();
        for part in &self.parts {
            self.render_part(part, &given, &mut words, false)?;
        }
        self.render_unplaced(&given, &mut words)?;
        let bytes: usize = words.items.iter().map(|word| word.text.len() + 1).sum();
        if bytes > COMMAND_BYTES_MAX {
            let message =
                format!("the arguments of `{}` are {bytes} bytes, more than a program can receive", self.command);
            return Err(BindError {
                code: ErrorCode::InvalidArgument,
                message,
                remedy: "pass a file instead".to_owned(),
            });
        }
        Ok(BoundCommand { words: words.items })
    }

    /// Assigns the given values to parameters.
    fn match_arguments(&self, arguments: &Map<String, Value>) -> Result<Vec<Option<Value>>, BindError> {
        let mut given: Vec<Option<Value>> = vec![None; self.parameters.len()];
        for (key, value) in arguments.iter().filter(|(_, value)| !value.is_null()) {
            let at = self.find_parameter(key).ok_or_else(|| self.unknown_argument_error(key))?;
            if given[at].replace(value.clone()).is_some() {
                let name = self.parameters[at].name();
                return Err(BindError::invalid_argument(
                    name,
                    "is given twice, under two names",
                    format!("leave out `{key}`"),
                ));
            }
        }
        Ok(given)
    }

    fn find_parameter(&self, key: &str) -> Option<usize> {
        if key.len() > KEY_BYTES_MAX {
            return None;
        }
        let wanted = normalize_name(key);
        let is_open = |at: &usize| !self.is_variant || self.is_placed[*at] || self.parameters[*at].is_global;
        let exact = |known: &CommandParameter| known.keys.iter().any(|own| own == key);
        let alike = |known: &CommandParameter| known.keys.iter().any(|own| normalize_name(own) == wanted);
        let at = self.parameters.iter().position(exact).or_else(|| self.parameters.iter().position(alike));
        at.filter(is_open)
    }

    fn unknown_argument_error(&self, key: &str) -> BindError {
        let key = truncate_key(key);
        let names =
            self.parameters.iter().map(CommandParameter::name).filter(|name| name.len() <= KEY_BYTES_MAX).take(200);
        let near = nearest_by_name(key, names, |name| name.trim_start_matches('-'));
        let own: Vec<&str> =
            self.parameters.iter().filter(|known| !known.is_global).map(CommandParameter::name).take(12).collect();
        let remedy = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if own.is_empty() => format!("`{}` takes no arguments", self.command),
            None => format!("`{}` takes {}", self.command, own.join(", ")),
        };
        BindError::invalid_argument(key, format!("is unknown to the command `{}`", self.command), remedy)
    }

    fn missing_argument_error(&self, at: usize) -> BindError {
        let name = self.parameters[at].name();
        let remedy = format!("give it: --args '{{\"{name}\": …}}'");
        BindError::invalid_argument(name, format!("is missing; the command `{}` needs it", self.command), remedy)
    }

    /// Returns the value of a parameter: the given one, otherwise its default.
    fn find_value<'v>(&'v self, at: usize, given: &'v [Option<Value>]) -> Option<&'v Value> {
        given[at].as_ref().or(self.parameters[at].default.as_ref())
    }

    /// Returns whether a switch or value was given.
    fn is_given(&self, at: usize, given: &[Option<Value>]) -> bool {
        match &given[at] {
            None => false,
            Some(value) => self.parameters[at].kind != ParameterKind::Bool || *value != Value::Bool(false),
        }
    }

    fn render_part(
        &self,
        part: &SyntaxPart,
        given: &[Option<Value>],
        words: &mut WordBuffer,
        is_optional: bool,
    ) -> Result<(), BindError> {
        match part {
            SyntaxPart::Word(pieces) => self.render_word(pieces, given, words),
            SyntaxPart::Flag { spelling, value, is_joined } => {
                let at = value.as_ref().map_or(0, |slot| slot.parameter);
                let is_left_out = is_optional || self.parameters[at].is_required == Some(false);
                if self.is_given(at, given) || (!is_left_out && self.find_value(at, given).is_some()) {
                    // `rm -f <file>` may be a switch and a separate word. Only a declared flag, or one whose
                    // group shows that the value belongs to it, may have a value that looks like a flag.
                    let parameter = &self.parameters[at];
                    let is_sure = is_optional || *is_joined || (parameter.spelling.is_some() && parameter.is_typed);
                    let is_sure = is_sure || words.is_after_double_dash;
                    self.render_flag(at, spelling, (*is_joined, is_sure), given, &mut words.items)
                } else if is_left_out || self.parameters[at].kind == ParameterKind::Bool {
                    self.check_may_be_omitted(at, given)
                } else {
                    Err(self.missing_argument_error(at))
                }
            }
            SyntaxPart::Group(parts) => self.render_group(parts, given, words),
            SyntaxPart::Choice { alternatives, is_optional } => {
                self.render_choice(alternatives, *is_optional, given, words)
            }
            SyntaxPart::FlagPlaceholder => {
                words.flag_position = words.flag_position.or(Some(words.items.len()));
                Ok(())
            }
        }
    }

    /// Checks that an omitted parameter is not required.
    fn check_may_be_omitted(&self, at: usize, given: &[Option<Value>]) -> Result<(), BindError> {
        if self.parameters[at].is_required == Some(true) && given[at].is_none() {
            Err(self.missing_argument_error(at))
        } else {
            Ok(())
        }
    }

    /// Renders a word with its slots, or the words of a variadic slot.
    fn render_word(
        &self,
        pieces: &[WordFragment],
        given: &[Option<Value>],
        words: &mut WordBuffer,
    ) -> Result<(), BindError> {
        let mut texts: Vec<String> = vec![String::new()];
        let mut is_literal = true;
        let mut first = None;
        for (index, piece) in pieces.iter().enumerate() {
            let slot = match piece {
                WordFragment::Text(text) => {
                    for word in &mut texts {
                        word.push_str(text);
                    }
                    continue;
                }
                WordFragment::Slot(slot) => slot,
            };
            is_literal = false;
            let parameter = &self.parameters[slot.parameter];
            if index == 0 {
                first = Some(parameter);
            }
            let Some(value) = self.find_value(slot.parameter, given) else {
                if parameter.is_required == Some(false) {
                    words.omitted_argument =
                        words.omitted_argument.take().or_else(|| Some(parameter.name().to_owned()));
                    return Ok(());
                }
                return Err(self.missing_argument_error(slot.parameter));
            };
            let own = parameter.to_words(value)?;
            if own.is_empty() {
                return Err(BindError::invalid_argument(
                    parameter.name(),
                    "is an empty list",
                    "give at least one item",
                ));
            }
            if pieces.len() == 1 {
                texts = own;
            } else if let [own] = &own[..] {
                for word in &mut texts {
                    word.push_str(own);
                }
            } else {
                return Err(BindError::invalid_argument(parameter.name(), "takes a single value", "give one item"));
            }
        }
        if is_literal && texts[0] == "--" {
            words.flag_position = words.flag_position.or(Some(words.items.len()));
            words.is_after_double_dash = true;
        }
        for text in texts {
            if let Some(parameter) = first.filter(|_| !words.is_after_double_dash) {
                check_not_flag_like(parameter, &text)?;
            }
            words.items.push(CommandWord { text, is_literal });
        }
        Ok(())
    }

    /// Renders a flag and its value. If the value may not belong to the flag, it must not look like a flag
    /// itself.
    fn render_flag(
        &self,
        at: usize,
        spelling: &str,
        (is_joined, is_sure): (bool, bool),
        given: &[Option<Value>],
        words: &mut Vec<CommandWord>,
    ) -> Result<(), BindError> {
        let parameter = &self.parameters[at];
        let Some(value) = self.find_value(at, given) else { return Ok(()) };
        let flag = || CommandWord { text: spelling.to_owned(), is_literal: true };
        let is_switch = match (parameter.kind, value) {
            (ParameterKind::Bool, Value::Bool(_)) => true,
            // Its type is not declared.
            (ParameterKind::Any, Value::Bool(_)) => !self.is_placed[at],
            _ => false,
        };
        if is_switch {
            if *value == Value::Bool(true) {
                words.push(flag());
            }
            return Ok(());
        }
        for text in parameter.to_words(value)? {
            if !is_sure {
                check_not_flag_like(parameter, &text)?;
            }
            if is_joined {
                words.push(CommandWord { text: format!("{spelling}={text}"), is_literal: false });
            } else {
                words.extend([flag(), CommandWord { text, is_literal: false }]);
            }
        }
        Ok(())
    }

    /// Renders an optional group, or omits it if none of its parameters was given.
    fn render_group(
        &self,
        parts: &[SyntaxPart],
        given: &[Option<Value>],
        words: &mut WordBuffer,
    ) -> Result<(), BindError> {
        let inside = collect_parameters(parts);
        let is_given = inside.iter().any(|at| self.is_given(*at, given));
        let plain = collect_positional_parameters(parts);
        if is_given {
            let late = plain.iter().find(|at| given[**at].is_some());
            if let (Some(gap), Some(late)) = (&words.omitted_argument, late) {
                let what = format!("would take the position of `{gap}`, which is not given");
                return Err(BindError::invalid_argument(
                    self.parameters[*late].name(),
                    what,
                    format!("give `{gap}` too"),
                ));
            }
            return parts.iter().try_for_each(|part| self.render_part(part, given, words, true));
        }
        let has_defaults = !plain.is_empty()
            && plain.len() == inside.len()
            && plain.iter().all(|at| self.parameters[*at].default.is_some());
        if has_defaults && words.omitted_argument.is_none() {
            return parts.iter().try_for_each(|part| self.render_part(part, given, words, true));
        }
        if let Some(at) = plain.first() {
            words.omitted_argument =
                words.omitted_argument.take().or_else(|| Some(self.parameters[*at].name().to_owned()));
        }
        inside.into_iter().try_for_each(|at| self.check_may_be_omitted(at, given))
    }

    fn render_choice(
        &self,
        alternatives: &[Vec<SyntaxPart>],
        is_optional: bool,
        given: &[Option<Value>],
        words: &mut WordBuffer,
    ) -> Result<(), BindError> {
        let is_given = |parts: &&Vec<SyntaxPart>| collect_parameters(parts).iter().any(|at| self.is_given(*at, given));
        let chosen: Vec<&Vec<SyntaxPart>> = alternatives.iter().filter(is_given).collect();
        let names = |parts: &[&Vec<SyntaxPart>]| {
            let all = parts
                .iter()
                .flat_map(|parts| collect_parameters(parts))
                .map(|at| format!("`{}`", self.parameters[at].name()));
            all.collect::<Vec<_>>().join(" or ")
        };
        match (&chosen[..], alternatives) {
            ([parts], _) => parts.iter().try_for_each(|part| self.render_part(part, given, words, true)),
            ([], [only]) if !is_optional => {
                only.iter().try_for_each(|part| self.render_part(part, given, words, false))
            }
            ([], _) if is_optional => alternatives
                .iter()
                .flat_map(|parts| collect_parameters(parts))
                .try_for_each(|at| self.check_may_be_omitted(at, given)),
            ([], _) => {
                let wanted = names(&alternatives.iter().collect::<Vec<_>>());
                let message = format!("the command `{}` needs {wanted}", self.command);
                Err(BindError { code: ErrorCode::InvalidArgument, message, remedy: "give one of them".to_owned() })
            }
            _ => {
                let message = format!("the command `{}` takes only one of {}", self.command, names(&chosen));
                Err(BindError { code: ErrorCode::InvalidArgument, message, remedy: "remove the others".to_owned() })
            }
        }
    }

    /// Renders the parameters that the syntax does not show: arguments after its words, flags at their
    /// position.
    fn render_unplaced(&self, given: &[Option<Value>], words: &mut WordBuffer) -> Result<(), BindError> {
        let mut flags = Vec::new();
        for is_global in [false, true] {
            for at in 0..self.parameters.len() {
                let parameter = &self.parameters[at];
                if self.is_placed[at] || parameter.is_global != is_global {
                    continue;
                }
                match &parameter.spelling {
                    Some(spelling) if self.is_given(at, given) => {
                        self.render_flag(at, spelling, (false, parameter.is_typed), given, &mut flags)?;
                    }
                    Some(_) => self.check_may_be_omitted(at, given)?,
                    None if given[at].is_some() => {
                        let slot = SyntaxSlot { parameter: at, ..SyntaxSlot::default() };
                        self.render_group(&[SyntaxPart::Word(vec![WordFragment::Slot(slot)])], given, words)?;
                    }
                    None => {
                        self.check_may_be_omitted(at, given)?;
                        words.omitted_argument =
                            words.omitted_argument.take().or_else(|| Some(parameter.name().to_owned()));
                    }
                }
            }
        }
        let place = words.flag_position.unwrap_or(words.items.len());
        words.items.splice(place..place, flags);
        Ok(())
    }

    /// Parses the words of a step into arguments.
    pub(super) fn parse_step_words(self, words: &[String]) -> Result<Map<String, Value>, BindError> {
        let rest = self.words_after_name(words);
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
            let at = self.find_parameter(flag).ok_or_else(|| self.unknown_argument_error(flag))?;
            let parameter = &self.parameters[at];
            let value = match joined {
                Some(value) => parameter.parse_text(&value),
                None if parameter.kind == ParameterKind::Bool
                    || (parameter.kind == ParameterKind::Any && !self.is_placed[at]) =>
                {
                    true.into()
                }
                None => parameter.parse_text(rest.next().ok_or_else(|| self.missing_argument_error(at))?),
            };
            let name = parameter.name().to_owned();
            match found.get_mut(&name) {
                Some(Value::Array(items)) => items.push(value),
                _ if parameter.is_list => drop(found.insert(name, Value::Array(vec![value]))),
                _ => drop(found.insert(name, value)),
            }
        }
        self.assign_positional_words(plain, &mut found)?;
        Ok(found)
    }

    /// Returns the words of a step after the program and the command's name.
    fn words_after_name<'w>(&self, words: &'w [String]) -> &'w [String] {
        let own = |words: &[String]| self.definition.and_then(|command| command.count_name_words(words));
        let literal = |part: &SyntaxPart| matches!(part, SyntaxPart::Word(pieces) if matches!((&pieces[..], words.first()), ([WordFragment::Text(text)], Some(first)) if text == first));
        match own(words) {
            Some(count) => &words[count..],
            None if self.parts.first().is_some_and(literal) => &words[1 + own(&words[1..]).unwrap_or(0)..],
            None => words,
        }
    }

    /// Assigns words that are not flags to the slots, in order.
    fn assign_positional_words(&self, plain: Vec<String>, found: &mut Map<String, Value>) -> Result<(), BindError> {
        let mut slots = collect_positional_parameters(&self.parts);
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
                found.insert(parameter.name().to_owned(), parse_argument_texts(parameter, &texts));
            }
        }
        match plain.pop_front() {
            None => Ok(()),
            Some(word) => {
                let message = format!("unexpected argument `{word}` for the command `{}`", self.command);
                Err(BindError { code: ErrorCode::InvalidArgument, message, remedy: "remove it".to_owned() })
            }
        }
    }
}

/// In a variant, the word after a flag is its only value.
fn join_variant_flag_values(parts: Vec<SyntaxPart>) -> Vec<SyntaxPart> {
    let mut out: Vec<SyntaxPart> = Vec::new();
    let mut parts = parts.into_iter().peekable();
    let text = |part: &SyntaxPart| match part {
        SyntaxPart::Word(pieces) => match &pieces[..] {
            [WordFragment::Text(text)] => Some(text.clone()),
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
        let slot = SyntaxSlot { values: vec![value], ..SyntaxSlot::default() };
        out.push(SyntaxPart::Flag { spelling, value: Some(slot), is_joined: false });
    }
    out
}

/// Checks that a word in a positional slot does not look like a flag.
fn check_not_flag_like(parameter: &CommandParameter, text: &str) -> Result<(), BindError> {
    let is_number = matches!(parameter.kind, ParameterKind::Int | ParameterKind::Number) && text.parse::<f64>().is_ok();
    if !text.starts_with('-') || text == "-" || is_number {
        return Ok(());
    }
    let remedy = "remove the `-`, or write a path as `./-…`; the author can add `--` to the `syntax`";
    Err(BindError::invalid_argument(
        parameter.name(),
        "starts with `-`, so the program could mistake it for a flag",
        remedy,
    ))
}

/// Returns the parameters of all slots and flags in parts.
fn collect_parameters(parts: &[SyntaxPart]) -> Vec<usize> {
    let of = |part: &SyntaxPart| match part {
        SyntaxPart::Word(_) => collect_positional_parameters(std::slice::from_ref(part)),
        SyntaxPart::Flag { value, .. } => value.iter().map(|slot| slot.parameter).collect(),
        SyntaxPart::Group(parts) => collect_parameters(parts),
        SyntaxPart::Choice { alternatives, .. } => {
            alternatives.iter().flat_map(|parts| collect_parameters(parts)).collect()
        }
        SyntaxPart::FlagPlaceholder => Vec::new(),
    };
    parts.iter().flat_map(of).collect()
}

/// Returns the parameters of slots that are not the value of a flag.
fn collect_positional_parameters(parts: &[SyntaxPart]) -> Vec<usize> {
    let of = |part: &SyntaxPart| match part {
        SyntaxPart::Word(pieces) => {
            let slot = |piece: &WordFragment| match piece {
                WordFragment::Slot(slot) => Some(slot.parameter),
                WordFragment::Text(_) => None,
            };
            pieces.iter().filter_map(slot).collect()
        }
        SyntaxPart::Group(parts) => collect_positional_parameters(parts),
        SyntaxPart::Choice { alternatives, .. } => {
            alternatives.iter().flat_map(|parts| collect_positional_parameters(parts)).collect()
        }
        SyntaxPart::Flag { .. } | SyntaxPart::FlagPlaceholder => Vec::new(),
    };
    parts.iter().flat_map(of).collect()
}
