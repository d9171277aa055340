//! Follows a shell script: gives words their values, connects pipelines, and passes each program to its reading.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use rep_model::Span;

use crate::behaviour::BehaviourKind;
use crate::programs::{self, Call};
use crate::scanner::{Place, Scanner, normalize_path};
use crate::shell::{self, ShellCommand, ShellScript, ShellWord, WordPart};
use crate::value::{self, HOLE, SharedValue, Value, concat, merge_taints};

/// Follows a script.
pub(crate) fn run_shell(scanner: &mut Scanner<'_>, text: &str, place: &Place) {
    let text = value::without_holes_unless_folded(text, place.fixed.is_some());
    let mut run = ShellRun::new(scanner);
    run.is_powershell = place.file.ends_with(".ps1")
        || place.file.ends_with(".psm1")
        || text.contains("$env:")
        || text.contains("Write-Host");
    run.run_text(&text, place);
}

/// A function with the script that it is in.
#[derive(Clone)]
struct FunctionBody {
    script: Rc<ShellScript>,
    text: Rc<str>,
    commands: Range<usize>,
    place: Place,
}

/// The maximum depth of calls of functions.
const CALL_DEPTH_MAX: u8 = 8;
/// The maximum number of scripts that one script reads by `source`.
const SOURCED_MAX: usize = 16;

/// The state of a script.
pub(crate) struct ShellRun<'s, 'a> {
    pub(crate) scanner: &'s mut Scanner<'a>,
    variables: HashMap<String, SharedValue>,
    functions: HashMap<String, FunctionBody>,
    /// The arguments of the function that runs.
    positional: Option<Vec<SharedValue>>,
    /// How many functions run, each called by the one before.
    call_depth: u8,
    /// How many commands of functions may still be followed.
    called_commands_left: usize,
    /// The scripts of the skill that were read by `source`.
    sourced: HashSet<String>,
    /// Whether it has read another file that is not one of the skill.
    pub(crate) has_sourced: bool,
    /// Whether names of variables are those of PowerShell, and not of the environment.
    is_powershell: bool,
}

impl<'s, 'a> ShellRun<'s, 'a> {
    pub(crate) fn new(scanner: &'s mut Scanner<'a>) -> Self {
        Self {
            scanner,
            variables: HashMap::new(),
            functions: HashMap::new(),
            positional: None,
            call_depth: 0,
            called_commands_left: 0,
            sourced: HashSet::new(),
            has_sourced: false,
            is_powershell: false,
        }
    }

    /// Runs a text. Returns what its last pipeline prints.
    pub(crate) fn run_text(&mut self, text: &str, place: &Place) -> SharedValue {
        if place.is_too_deep() || place.nesting > shell::NESTING_MAX {
            self.scanner.skip_nested_code(place);
            return Value::unknown();
        }
        let script = if place.is_shown { shell::read_documented_shell(text) } else { shell::read_shell(text) };
        if script.functions.is_empty() {
            return self.run_commands(&script.commands, None, text, place).0;
        }
        // Each command of a function may be followed a few times.
        self.called_commands_left = self.called_commands_left.saturating_add(script.commands.len() * 4 + 200);
        let (script, shared): (_, Rc<str>) = (Rc::new(script), Rc::from(text));
        for function in &script.functions {
            let (script, text) = (Rc::clone(&script), Rc::clone(&shared));
            let body = FunctionBody { script, text, commands: function.commands.clone(), place: place.clone() };
            self.functions.insert(function.name.clone(), body);
        }
        self.run_commands(&script.commands, None, text, place).0
    }

    /// Runs commands in order. `given` is the input of the pipelines. Returns what the last pipeline prints, and what all of
    /// them print.
    fn run_commands(
        &mut self,
        commands: &[ShellCommand],
        given: Option<&SharedValue>,
        text: &str,
        place: &Place,
    ) -> (SharedValue, Vec<SharedValue>) {
        let mut input: Option<SharedValue> = given.cloned();
        let mut output = Value::unknown();
        let mut all = Vec::new();
        for command in commands {
            let printed = self.run_command(command, input.take(), text, place);
            if command.is_piped {
                input = Some(printed);
                continue;
            }
            let is_shown = !command.redirections.iter().any(|one| matches!(one.operator, ">" | ">>"));
            if given.is_some() || self.call_depth > 0 {
                input = given.cloned();
                if is_shown && all.len() < value::ITEMS_MAX {
                    all.push(Rc::clone(&printed));
                }
            }
            output = printed;
        }
        (output, all)
    }

    /// Follows a function with the arguments of a call. What it does is recorded where it is defined, and not again with
    /// these arguments, because another caller may pass something else.
    pub(crate) fn call_function(&mut self, name: &str, call: &Call<'_>) -> Option<SharedValue> {
        let body = self.functions.get(name)?.clone();
        let count = body.commands.len();
        if count == 0 || count > self.called_commands_left || self.call_depth >= CALL_DEPTH_MAX {
            return None;
        }
        self.called_commands_left -= count;
        self.call_depth += 1;
        let positional = self.positional.replace(call.arguments().to_vec());
        let was_following = std::mem::replace(&mut self.scanner.is_following, true);
        let commands = body.script.commands.get(body.commands.clone()).unwrap_or(&[]);
        let (last, all) = self.run_commands(commands, call.input.as_ref(), &body.text, &body.place);
        self.scanner.is_following = was_following;
        self.positional = positional;
        self.call_depth -= 1;
        // A function prints what all of its commands print. The last text is what `echo` at its end gives.
        let shown = all.iter().rev().find(|value| !value.texts.is_empty()).unwrap_or(&last);
        Some(shown.with_taints(&merge_taints(&all)))
    }

    /// Follows a script of the skill that is read by `source`. Returns whether it is one.
    pub(crate) fn run_sourced(&mut self, path: &str, place: &Place) -> bool {
        let Some(file) = self.scanner.find_file(&place.file, path) else { return false };
        let Some(text) = self.scanner.take_script(&file) else { return true };
        if self.sourced.len() >= SOURCED_MAX || *place.file == *file || !self.sourced.insert(file.clone()) {
            return true;
        }
        let was_following = std::mem::replace(&mut self.scanner.is_following, true);
        self.run_text(&value::without_holes(text), &Place { nesting: place.nesting + 1, ..Place::of_file(&file) });
        self.scanner.is_following = was_following;
        true
    }

    /// Drops the first arguments of the function that runs.
    pub(crate) fn shift(&mut self, by: usize) {
        if let Some(positional) = &mut self.positional {
            positional.drain(..by.min(positional.len()));
        }
    }

    fn run_command(
        &mut self,
        command: &ShellCommand,
        mut input: Option<SharedValue>,
        text: &str,
        place: &Place,
    ) -> SharedValue {
        self.assign_all(command, text, place);
        let mut targets = Vec::new();
        for redirection in &command.redirections {
            let target = self.value(&redirection.target, text, place);
            match redirection.operator {
                "<" if matches!(redirection.target.parts.first(), Some(WordPart::Process(_))) => input = Some(target),
                "<" => {
                    self.scanner.path(BehaviourKind::Read, &target, place, redirection.target.span);
                    input = Some(self.scanner.file_value(&target, place, redirection.target.span));
                    self.check_device(&target, place, redirection.target.span);
                }
                "<<" | "<<<" => input = Some(target),
                ">" | ">>" => {
                    self.check_device(&target, place, redirection.target.span);
                    targets.push((target, redirection.target.span));
                }
                ">&" if target
                    .first_text()
                    .is_some_and(|text| !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')) =>
                {
                    self.check_device(&target, place, redirection.target.span);
                    targets.push((target, redirection.target.span));
                }
                _ => {}
            }
        }
        let printed = self.run_words(command, input, text, place);
        for (target, span) in targets {
            self.scanner.path(BehaviourKind::Write, &target, place, span);
            self.scanner.fill_file(&target, &printed);
        }
        printed
    }

    /// Bash connects when a redirection names `/dev/tcp/HOST/PORT`.
    fn check_device(&mut self, target: &SharedValue, place: &Place, span: Span) {
        let Some(text) = target.first_text() else { return };
        let Some(rest) = text.strip_prefix("/dev/tcp/").or_else(|| text.strip_prefix("/dev/udp/")) else { return };
        let address = rest.replacen('/', ":", 1);
        self.scanner.record(BehaviourKind::Connect, &address, place, span);
        self.scanner.signal(
            crate::behaviour::SignalKind::ReverseShell,
            format!("connects the shell to `{address}`"),
            place,
            span,
        );
    }

    fn assign_all(&mut self, command: &ShellCommand, text: &str, place: &Place) {
        let mut index = 0;
        while index < command.assignments.len() {
            let name = &command.assignments[index].0;
            let same = command.assignments[index..].iter().take_while(|(other, _)| other == name).count();
            let values: Vec<SharedValue> = command.assignments[index..index + same.min(value::ITEMS_MAX)]
                .iter()
                .map(|(_, word)| self.value(word, text, place))
                .collect();
            let value = if values.len() > 1 {
                let mut all = (*value::choice(&values)).clone();
                all.set_items(Vec::new(), values);
                Rc::new(all)
            } else {
                values.into_iter().next().unwrap_or_default()
            };
            self.assign(name, value, command.depth > 0);
            index += same;
        }
    }

    pub(crate) fn assign(&mut self, name: &str, value: SharedValue, is_conditional: bool) {
        let value = match self.variables.get(name) {
            Some(known) if is_conditional => value::choice(&[Rc::clone(known), value]),
            _ => value,
        };
        self.variables.insert(name.to_owned(), value);
    }

    fn run_words(
        &mut self,
        command: &ShellCommand,
        input: Option<SharedValue>,
        text: &str,
        place: &Place,
    ) -> SharedValue {
        let Some(first) = command.words.first() else { return input.unwrap_or_else(Value::unknown) };
        if first.parts == [WordPart::Placeholder] {
            return input.unwrap_or_else(Value::unknown);
        }
        if first.literal() == Some("for") || first.literal() == Some("select") {
            self.assign_loop(command, text, place);
            return Value::unknown();
        }
        let mut values = Vec::with_capacity(command.words.len());
        for word in &command.words {
            if let ([WordPart::Variable(name, None)], Some(positional)) = (word.parts.as_slice(), &self.positional)
                && matches!(name.as_str(), "@" | "*")
            {
                values.extend(positional.iter().take(value::ITEMS_MAX).cloned());
                continue;
            }
            let value = self.value(word, text, place);
            let folded = value.constant().filter(|text| !word.is_quoted && text.contains(char::is_whitespace));
            match folded {
                // An unquoted variable is split into words.
                Some(folded) if word.literal().is_none() => {
                    values.extend(
                        folded
                            .split_whitespace()
                            .take(value::ITEMS_MAX)
                            .map(|part| Value::text(part).with_taints(&value.taints)),
                    );
                }
                _ if word.literal() == Some("") && !word.is_quoted => {}
                _ if !value.items.is_empty() && value.texts.len() > 1 => values.extend(value.items.iter().cloned()),
                _ => values.push(value),
            }
        }
        let call = Call { values, span: command.span, place, input, is_conditional: command.depth > 0 };
        programs::run_program(self, &call)
    }

    fn assign_loop(&mut self, command: &ShellCommand, text: &str, place: &Place) {
        let Some(name) = command.words.get(1).and_then(ShellWord::literal).map(str::to_owned) else { return };
        let items: Vec<SharedValue> = command.words.iter().skip(3).map(|word| self.value(word, text, place)).collect();
        let mut value = (*value::choice(&items)).clone();
        // Only a list of constants is known; what a pattern or a program gives is not.
        if value.is_open || items.is_empty() || value.texts.iter().any(|text| text.contains(HOLE)) {
            value.texts.clear();
            value.is_open = true;
        }
        self.variables.insert(name, Rc::new(value));
    }

    /// The directory that `cd` went to, once.
    pub(crate) fn take_directory(&mut self) -> SharedValue {
        self.variables.remove("\u{1}directory").unwrap_or_else(|| Value::text("."))
    }

    pub(crate) fn is_assigned(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    pub(crate) fn is_function(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }

    /// The value of a word.
    pub(crate) fn value(&mut self, word: &ShellWord, text: &str, place: &Place) -> SharedValue {
        let mut parts: Vec<SharedValue> = Vec::with_capacity(word.parts.len());
        for (index, part) in word.parts.iter().enumerate() {
            let value = match part {
                WordPart::Text(text) if index == 0 && text.starts_with('~') && !word.is_quoted => Value::text(text),
                WordPart::Text(text) => Value::text(text),
                WordPart::Glob => Value::text("*"),
                WordPart::Placeholder => Value::unknown(),
                WordPart::Variable(name, default) => self.expand(name, default.as_deref(), place, word.span),
                WordPart::Substitution(span) | WordPart::Process(span) => {
                    let inside = text.get(span.range()).unwrap_or("");
                    self.run_text(inside, &place.at_offset(span.start))
                }
            };
            parts.push(value);
        }
        if parts.is_empty() {
            return Value::text("");
        }
        if let [WordPart::Text(text)] = word.parts.as_slice()
            && !word.is_quoted
            && text.contains('{')
            && text.contains(',')
        {
            return expand_braces(text);
        }
        concat(&parts, &mut self.scanner.budget)
    }

    fn expand(&mut self, name: &str, default: Option<&str>, place: &Place, span: Span) -> SharedValue {
        let is_changed = default.is_some_and(|default| default.starts_with(HOLE));
        let value = match name {
            "@" | "*" => match &self.positional {
                Some(positional) => Value::unknown().with_taints(&merge_taints(positional)),
                None => Value::unknown(),
            },
            "" | "#" | "?" | "$" | "!" | "-" => Value::unknown(),
            "0" | "BASH_SOURCE" => Value::text(&place.script_path()),
            "HOME" | "USERPROFILE" => Value::text("~"),
            "PWD" => Value::text("."),
            "IFS" => Value::text(" "),
            "TMPDIR" if default.is_some() => Value::text("/tmp"),
            _ if name.as_bytes()[0].is_ascii_digit() => {
                let at = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                let given = at.and_then(|at| self.positional.as_ref()?.get(at));
                given.map_or_else(Value::unknown, Rc::clone)
            }
            _ => match self.variables.get(name) {
                Some(value) => Rc::clone(value),
                None if self.is_powershell => Value::unknown(),
                None => self.scanner.variable(name, place, span),
            },
        };
        // `${name%.txt}` and its like give something else.
        match default {
            Some(shell::FOLDER_MARK) => Self::directory_of(&value),
            _ if is_changed && name != "BASH_SOURCE" => value.derived(),
            _ => value,
        }
    }

    /// What a path is in its directory: `dirname`, `cd … && pwd` and their like.
    pub(crate) fn directory_of(value: &SharedValue) -> SharedValue {
        let Some(path) = value.constant() else { return value.derived() };
        let path = normalize_path(path);
        Value::text(match path.rsplit_once('/') {
            Some(("", _)) => "/",
            Some((above, _)) => above,
            None => ".",
        })
    }
}

/// Expands one `{a,b}` of a word.
fn expand_braces(text: &str) -> SharedValue {
    let (Some(open), Some(close)) = (text.find('{'), text.rfind('}')) else { return Value::text(text) };
    if close < open {
        return Value::text(text);
    }
    let items: Vec<SharedValue> = text[open + 1..close]
        .split(',')
        .take(16)
        .map(|item| Value::text(&format!("{}{item}{}", &text[..open], &text[close + 1..])))
        .collect();
    let mut all = (*value::choice(&items)).clone();
    all.taints = merge_taints(&items);
    all.set_items(Vec::new(), items);
    Rc::new(all)
}
