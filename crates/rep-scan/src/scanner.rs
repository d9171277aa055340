//! Collects behaviours and signals while the readers evaluate code, and judges what flows where.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use rep_model::{SkillTree, Span, TreeEntry};

use crate::behaviour::{Behaviour, BehaviourKind, Signal, SignalKind, SignalOrigin};
use crate::hosts::{self, HostClass, Identity};
use crate::places;
use crate::source_eval::ModuleFacts;
use crate::value::{FoldBudget, HOLE, SharedValue, Source, Taint, Value};
use crate::visible::show_visibly;
use crate::{decode, shell_eval, source_eval};

/// The maximum number of layers of encoded code.
const LAYERS_MAX: u8 = 3;
/// The maximum depth of code in strings of code.
const NESTING_MAX: u8 = 6;
/// The maximum number of bytes that all archives of a skill may unpack to.
const UNPACKED_BYTES_MAX: u64 = 64 << 20;
/// The maximum number of parts of a path that may belong to the place where a skill is installed.
const PARTS_MAX: usize = 12;
/// The maximum number of started files that are noted.
const STARTED_MAX: usize = 1000;
/// The maximum number of behaviours and of signals of one kind.
const REPORTED_MAX: usize = 2000;

/// The languages that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Shell,
    Python,
    JavaScript,
}

/// The place of code, so that what it does is reported at the place in the file.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) file: Rc<str>,
    /// What is added to offsets.
    pub(crate) base: usize,
    /// The place of everything, for code that was decoded or folded.
    pub(crate) fixed: Option<Span>,
    pub(crate) layers: u8,
    pub(crate) nesting: u8,
    pub(crate) is_shown: bool,
}

impl Place {
    /// The start of a file of the skill.
    pub(crate) fn of_file(path: &str) -> Self {
        Self { file: Rc::from(path), base: 0, fixed: None, layers: 0, nesting: 0, is_shown: false }
    }

    pub(crate) fn span(&self, local: Span) -> Span {
        self.fixed.unwrap_or(Span::new(local.start + self.base, local.end + self.base))
    }

    /// The place of code inside of this code.
    pub(crate) fn at_offset(&self, offset: usize) -> Self {
        Self { base: self.base + offset, nesting: self.nesting + 1, ..self.clone() }
    }

    /// The place of code that was made from a value at `span`.
    pub(crate) fn fixed_at(&self, span: Span, is_decoded: bool) -> Self {
        Self {
            fixed: Some(self.span(span)),
            nesting: self.nesting + 1,
            layers: self.layers + u8::from(is_decoded),
            ..self.clone()
        }
    }

    /// Whether the code is the whole file, and not a part of it or of an archive.
    pub(crate) fn is_whole_file(&self) -> bool {
        self.base == 0 && self.nesting == 0 && self.fixed.is_none() && !self.is_shown
    }

    pub(crate) fn is_too_deep(&self) -> bool {
        self.nesting > NESTING_MAX || self.layers > LAYERS_MAX
    }

    /// The directory of the script, as behaviours name it.
    pub(crate) fn script_path(&self) -> String {
        format!("@skill/{}", self.file)
    }
}

/// The state of one scan.
pub(crate) struct Scanner<'a> {
    pub(crate) identity: &'a Identity,
    pub(crate) behaviours: BTreeSet<Behaviour>,
    pub(crate) signals: BTreeSet<Signal>,
    pub(crate) budget: FoldBudget,
    /// How much code may still be read, so that code in code stays linear.
    code_bytes_left: usize,
    /// What was written into files, for code that is run from there.
    pub(crate) files: HashMap<String, Vec<Taint>>,
    /// Whether only variables are collected.
    pub(crate) is_rehearsal: bool,
    /// Whether a function is followed that was recorded where it is defined.
    pub(crate) is_following: bool,
    /// The secrets that each file reads.
    pub(crate) secrets: HashMap<Rc<str>, Vec<(String, Span)>>,
    /// The files that code starts: the file of the code, the path, and the language of the interpreter, if it is read.
    pub(crate) started: Vec<(Rc<str>, String, Option<Language>)>,
    /// The files that were read as code.
    pub(crate) read_as_code: BTreeSet<String>,
    /// What is not read: the first file of each kind, and how many there are.
    pub(crate) unread: BTreeMap<UnreadKind, (String, usize)>,
    behaviour_counts: HashMap<BehaviourKind, usize>,
    signal_counts: HashMap<SignalKind, usize>,
    /// The scripts that import each other.
    pub(crate) linked: BTreeSet<Rc<str>>,
    /// What is known of them.
    pub(crate) modules: HashMap<Rc<str>, ModuleFacts>,
    /// How much archives may still unpack to.
    pub(crate) unpacked_bytes_left: u64,
    tree: &'a SkillTree,
}

/// Why files are not read, where one report for all of them is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UnreadKind {
    Media,
    Git,
    NodeModules,
    SkillTooLarge,
    TooDeep,
    TooMuch,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(identity: &'a Identity, tree: &'a SkillTree) -> Self {
        let input_bytes = usize::try_from(tree.size_bytes()).unwrap_or(usize::MAX);
        Self {
            identity,
            behaviours: BTreeSet::new(),
            signals: BTreeSet::new(),
            budget: FoldBudget::for_input(input_bytes),
            code_bytes_left: input_bytes.saturating_mul(4).saturating_add(1 << 20),
            files: HashMap::new(),
            is_rehearsal: false,
            is_following: false,
            secrets: HashMap::new(),
            started: Vec::new(),
            read_as_code: BTreeSet::new(),
            unread: BTreeMap::new(),
            behaviour_counts: HashMap::new(),
            signal_counts: HashMap::new(),
            linked: BTreeSet::new(),
            modules: HashMap::new(),
            unpacked_bytes_left: UNPACKED_BYTES_MAX,
            tree,
        }
    }

    /// Notes a file of a kind that is not read.
    pub(crate) fn count_unread(&mut self, kind: UnreadKind, path: &str) {
        self.unread.entry(kind).or_insert_with(|| (path.to_owned(), 0)).1 += 1;
    }

    /// Notes code that is nested too deep to be read.
    pub(crate) fn skip_nested_code(&mut self, place: &Place) {
        if !self.is_rehearsal {
            self.count_unread(UnreadKind::TooDeep, &place.file);
        }
    }

    /// Notes that code starts a file as code of a language.
    pub(crate) fn start_file(&mut self, path: &str, language: Option<Language>, place: &Place) {
        if !self.is_rehearsal && self.started.len() < STARTED_MAX {
            self.started.push((Rc::clone(&place.file), path.to_owned(), language));
        }
    }

    /// The text of a script of the skill, if it may still be read.
    pub(crate) fn take_script(&mut self, path: &str) -> Option<&'a str> {
        let text = std::str::from_utf8(self.tree.file_bytes(path)?).ok()?;
        self.code_bytes_left = self.code_bytes_left.checked_sub(text.len())?;
        Some(text)
    }

    /// Whether the skill has a file at a path.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        matches!(self.tree.entries.get(path), Some(TreeEntry::File { .. }))
    }

    /// The file of the skill that a path of code means: relative to the file of the code, to the skill, or to where the
    /// skill is installed.
    pub(crate) fn find_file(&self, from: &str, path: &str) -> Option<String> {
        let path = normalize_path(path);
        let is_file = |path: &String| self.has_file(path);
        let resolve = |folder: &str, path: &str| match rep_model::resolve_skill_path(folder, path) {
            rep_model::ResolvedSkillPath::Inside(path) => Some(path).filter(is_file),
            _ => None,
        };
        if let Some(own) = path.strip_prefix("@skill/") {
            return resolve("", own);
        }
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        // The first parts may be those of where the skill is installed, such as `{baseDir}` or `~/.claude/skills/pdf`.
        let ends = path.match_indices('/').take(PARTS_MAX).map(|(at, _)| &path[at + 1..]);
        resolve(folder, &path)
            .or_else(|| resolve("", &path))
            .or_else(|| ends.into_iter().find_map(|end| resolve(folder, end).or_else(|| resolve("", end))))
    }

    pub(crate) fn record(&mut self, kind: BehaviourKind, argument: &str, place: &Place, span: Span) {
        let is_known = self.is_following && place.layers == 0;
        if self.is_rehearsal || is_known || argument.is_empty() {
            return;
        }
        let behaviour = Behaviour {
            file: place.file.to_string(),
            span: place.span(span),
            kind,
            argument: show_visibly(&argument.replace(HOLE, "*")),
            is_shown: place.is_shown,
            layers: place.layers,
        };
        let count = self.behaviour_counts.entry(kind).or_default();
        if *count >= REPORTED_MAX && !self.behaviours.contains(&behaviour) {
            return self.count_unread(UnreadKind::TooMuch, &place.file);
        }
        *count += usize::from(self.behaviours.insert(behaviour));
    }

    pub(crate) fn signal(&mut self, kind: SignalKind, message: impl AsRef<str>, place: &Place, span: Span) {
        self.signal_from(kind, message, place, span, None);
    }

    pub(crate) fn signal_from(
        &mut self,
        kind: SignalKind,
        message: impl AsRef<str>,
        place: &Place,
        span: Span,
        origin: Option<SignalOrigin>,
    ) {
        if self.is_rehearsal {
            return;
        }
        let message = show_visibly(&message.as_ref().replace(HOLE, "*"));
        let signal = Signal { file: place.file.to_string(), span: place.span(span), kind, message, origin };
        // Each kind has its own limit, so that many signals of one kind cannot hide another.
        let count = self.signal_counts.entry(kind).or_default();
        if *count >= REPORTED_MAX && !self.signals.contains(&signal) {
            return self.count_unread(UnreadKind::TooMuch, &place.file);
        }
        *count += usize::from(self.signals.insert(signal));
    }

    /// Records a path for each alternative, and what the path means.
    pub(crate) fn path(&mut self, kind: BehaviourKind, value: &SharedValue, place: &Place, span: Span) {
        for pattern in value.patterns() {
            let path = normalize_path(&pattern);
            if path.is_empty() || is_device(&path) || path.contains("://") {
                continue;
            }
            self.record(kind, &path, place, span);
            match kind {
                BehaviourKind::Read => {
                    if let Some(what) = places::private_data(&path) {
                        self.signal(SignalKind::PrivateFileRead, format!("reads {what}: `{path}`"), place, span);
                    }
                }
                BehaviourKind::Write => self.judge_written(&path, place, span),
                _ => {}
            }
        }
    }

    fn judge_written(&mut self, path: &str, place: &Place, span: Span) {
        if let Some(what) = places::persistence(path) {
            self.record(BehaviourKind::Persist, path, place, span);
            self.signal(SignalKind::PersistenceAdded, format!("writes `{path}`, which {what}"), place, span);
        }
        if path.starts_with("@skill/")
            && (path.to_ascii_lowercase().ends_with("skill.md") || path == place.script_path())
        {
            self.signal(SignalKind::SelfModified, format!("writes `{path}`"), place, span);
        } else if places::is_agent_file(path)
            && (path.starts_with('~') || path.starts_with("..") || path.starts_with('/') || path.starts_with('.'))
        {
            self.signal(SignalKind::AgentFileChanged, format!("writes `{path}`, which agents obey"), place, span);
        }
        if path.starts_with("/dev/sd") || path.starts_with("/dev/nvme") || path.starts_with("/dev/disk") {
            self.signal(SignalKind::Destruction, format!("overwrites the disk `{path}`"), place, span);
        }
        if path.starts_with("/etc/sudoers") {
            self.signal(SignalKind::PrivilegeRaised, format!("writes `{path}`"), place, span);
        }
        if path == "/etc/hosts" {
            self.signal(SignalKind::ProtectionDisabled, "writes `/etc/hosts`, which redirects hosts", place, span);
        }
    }

    /// The value of a file's contents.
    pub(crate) fn file_value(&mut self, path: &SharedValue, place: &Place, span: Span) -> SharedValue {
        // Of several paths, the one that means something.
        let mut all = path.texts.iter().map(|text| normalize_path(text));
        let shown = all.find(|text| places::private_data(text).is_some());
        let shown = shown.unwrap_or_else(|| normalize_path(path.first_text().unwrap_or("\u{fffc}")));
        let source = match places::private_data(&shown) {
            Some(_) => Source::PrivateFile(shown.clone()),
            None => Source::File(shown.clone()),
        };
        let known = self.files.get(&shown).cloned().unwrap_or_default();
        Value::tainted(source, place, span).with_taints(&known)
    }

    /// Remembers what a file contains.
    pub(crate) fn fill_file(&mut self, path: &SharedValue, content: &SharedValue) {
        if let Some(path) = path.constant()
            && !content.taints.is_empty()
        {
            crate::value::add_taints(self.files.entry(normalize_path(path)).or_default(), &content.taints);
        }
    }

    pub(crate) fn variable(&mut self, name: &str, place: &Place, span: Span) -> SharedValue {
        if name.contains(HOLE) || name.is_empty() {
            self.record(BehaviourKind::Env, "*", place, span);
            return Value::unknown();
        }
        if name == "HOME" || name == "USERPROFILE" {
            return Value::text("~");
        }
        if places::is_secret_name(name) {
            self.record(BehaviourKind::Secret, name, place, span);
            if !self.is_rehearsal {
                self.secrets.entry(Rc::clone(&place.file)).or_default().push((name.to_owned(), place.span(span)));
            }
            return Value::tainted(Source::Secret(name.to_owned()), place, span);
        }
        if places::is_session_variable(name) {
            return Value::unknown();
        }
        self.record(BehaviourKind::Env, name, place, span);
        Value::tainted(Source::Variable(name.to_owned()), place, span)
    }

    pub(crate) fn environment(place: &Place, span: Span) -> SharedValue {
        Value::tainted(Source::Environment, place, span)
    }

    /// Records a connection. Returns what comes back.
    pub(crate) fn connect(&mut self, url: &SharedValue, place: &Place, span: Span) -> SharedValue {
        let mut taints = Vec::new();
        for pattern in url.patterns() {
            let host = match hosts::parse_url(&pattern) {
                Some((host, _)) => host,
                None => bare_host(&pattern),
            };
            self.record(BehaviourKind::Connect, &host, place, span);
            self.judge_host(&pattern, &host, place, span);
            if url.has_source(|source| *source == Source::Decoded) && host != "*" && pattern.contains("://") {
                let message = format!("the host `{host}` is hidden by an encoding");
                // The place where the whole URL is decoded says it already.
                let is_known = self.signals.iter().any(|one| *one.file == *place.file && one.message == message);
                if !is_known {
                    self.signal(SignalKind::HostHidden, message, place, span);
                }
            }
            taints.push(Taint::new(Source::Remote(pattern.to_string()), place, span));
        }
        Value::unknown().with_taints(&taints)
    }

    fn judge_host(&mut self, url: &str, host: &str, place: &Place, span: Span) {
        let class = match hosts::parse_url(url) {
            Some((host, path)) => hosts::classify_host(&host, path),
            None => hosts::classify_host(host, ""),
        };
        if hosts::is_metadata_service(host) {
            let message = format!("asks `{host}`, which gives out the credentials of a cloud machine");
            self.signal(SignalKind::MetadataServiceRead, message, place, span);
        }
        if hosts::is_odd_address(host) {
            let message = format!("the address of `{host}` is written so that people do not recognise it");
            self.signal(SignalKind::HostHidden, message, place, span);
        }
        if let Some(known) = hosts::lookalike(host) {
            let message = if known.is_empty() {
                format!("connects to `{host}`, a name in another script that is written in code")
            } else {
                format!("connects to `{host}`, which looks like `{known}`")
            };
            self.signal(SignalKind::HostLookalike, message, place, span);
        }
        match class {
            HostClass::Drop => {
                self.signal(
                    SignalKind::DropHost,
                    format!("connects to `{host}`, a service for anonymous drops and tunnels"),
                    place,
                    span,
                );
            }
            HostClass::Address => {
                self.signal(
                    SignalKind::DropHost,
                    format!("connects to `{host}`, an address without a name"),
                    place,
                    span,
                );
            }
            _ => {}
        }
    }

    /// Judges the URLs in a line of text: only those that ask a cloud for credentials.
    pub(crate) fn judge_url_in_text(&mut self, line: &str, place: &Place, span: Span) {
        for scheme in ["http://", "https://"] {
            let Some(at) = line.find(scheme) else { continue };
            let url = line[at..].split(|letter: char| letter.is_whitespace() || matches!(letter, '`' | '"' | ')'));
            let Some((host, _)) = url.into_iter().next().and_then(hosts::parse_url) else { continue };
            if hosts::is_metadata_service(&host) {
                let message = format!("names `{host}`, which gives out the credentials of a cloud machine");
                self.signal(SignalKind::MetadataServiceRead, message, place, span);
            }
        }
    }

    /// Judges a URL that code names, whether or not it is requested.
    pub(crate) fn judge_named_url(&mut self, text: &str, place: &Place, span: Span) {
        if let Some((host, path)) = hosts::parse_url(text)
            && hosts::classify_host(&host, path) == HostClass::Drop
        {
            let message = format!("names `{host}`, a service for anonymous drops and tunnels");
            self.signal(SignalKind::DropHost, message, place, span);
        }
    }

    /// Judges data that leaves: in a body, in a URL, or in a header.
    pub(crate) fn send(&mut self, url: &SharedValue, body: &[Taint], headers: &[Taint], place: &Place, span: Span) {
        let pattern = url.first_text().map_or_else(|| "\u{fffc}".to_owned(), str::to_owned);
        let host = hosts::parse_url(&pattern).map_or_else(|| bare_host(&pattern), |(host, _)| host);
        let class = hosts::parse_url(&pattern)
            .map_or_else(|| hosts::classify_host(&host, ""), |(host, path)| hosts::classify_host(&host, path));
        if class == HostClass::Local {
            return;
        }
        let is_own = self.identity.owns_url(&pattern) || self.identity.owns_host(&host);
        let is_drop = matches!(class, HostClass::Drop | HostClass::Address);
        if !body.is_empty() {
            self.record(BehaviourKind::Send, &host, place, span);
        }
        for taint in body.iter().chain(url.taints.iter().filter(|_| is_drop)).chain(headers.iter().filter(|_| is_drop))
        {
            let origin = |words: &str| Some(SignalOrigin::new(taint, words));
            match &taint.source {
                Source::Environment => self.signal_from(
                    SignalKind::EnvironmentSent,
                    format!("sends the whole environment to `{host}`"),
                    place,
                    span,
                    origin("the environment is read here"),
                ),
                Source::PrivateFile(path) if !is_own => self.signal_from(
                    SignalKind::PrivateFileSent,
                    format!("sends `{path}` to `{host}`"),
                    place,
                    span,
                    origin("the file is read here"),
                ),
                Source::Secret(name) => {
                    let is_expected = class == HostClass::Unknown
                        || is_own && !is_drop
                        || hosts::secret_belongs_to(name, &host)
                        || class == HostClass::Known;
                    let is_expected = is_expected || hosts::is_chat_hook(&pattern) && name.contains("WEBHOOK");
                    if !is_expected {
                        self.signal_from(
                            SignalKind::SecretSent,
                            format!("sends `{name}` to `{host}`"),
                            place,
                            span,
                            origin("the secret is read here"),
                        );
                    }
                }
                Source::Variable(name)
                    if !is_own
                        && class != HostClass::Unknown
                        && body.iter().any(|taint| taint.source == Source::Encoded) =>
                {
                    self.signal_from(
                        SignalKind::SecretSent,
                        format!("sends `{name}`, encoded, to `{host}`"),
                        place,
                        span,
                        origin("the variable is read here"),
                    );
                }
                _ => {}
            }
        }
    }

    /// Judges and reads text that is run as code.
    pub(crate) fn evaluate(&mut self, code: &SharedValue, language: Language, by: &str, place: &Place, span: Span) {
        self.record(BehaviourKind::Evaluate, by, place, span);
        let is_decoded = code.has_source(|source| *source == Source::Decoded);
        for taint in &code.taints {
            match &taint.source {
                Source::Remote(url) => self.judge_remote_code(url, by, place, span, taint),
                Source::Connection => {
                    self.signal(SignalKind::ReverseShell, format!("`{by}` runs what a connection sends"), place, span);
                }
                Source::File(path) if is_temporary(path) => {
                    self.signal(SignalKind::FileEvaluated, format!("`{by}` runs what is in `{path}`"), place, span);
                }
                Source::File(path) => self.start_file(path, Some(language), place),
                _ => {}
            }
        }
        if is_decoded {
            let shown = code.first_text().map(|text| format!(": {}", quote(text))).unwrap_or_default();
            self.signal(SignalKind::DecodedCodeRun, format!("`{by}` runs decoded text{shown}"), place, span);
        }
        for text in &code.texts {
            self.read_code(text, language, &place.fixed_at(span, is_decoded));
        }
    }

    pub(crate) fn judge_remote_code(&mut self, url: &str, by: &str, place: &Place, span: Span, taint: &Taint) {
        let class = hosts::classify_url(url);
        if matches!(class, HostClass::Local | HostClass::Known | HostClass::Unknown) || self.identity.owns_url(url) {
            return;
        }
        let host = hosts::parse_url(url).map_or_else(|| "*".to_owned(), |(host, _)| host);
        let message = format!("`{by}` runs code that `{host}` sends");
        let origin = Some(SignalOrigin::new(taint, &format!("the code comes from {}", quote(url))));
        self.signal_from(SignalKind::RemoteCodeRun, message, place, span, origin);
    }

    pub(crate) fn read_code(&mut self, text: &str, language: Language, place: &Place) {
        if self.is_rehearsal {
            return;
        }
        if place.is_too_deep() || text.len() > self.code_bytes_left {
            return self.skip_nested_code(place);
        }
        self.code_bytes_left -= text.len();
        match language {
            Language::Shell => shell_eval::run_shell(self, text, place),
            Language::Python | Language::JavaScript => source_eval::run_source(self, text, language, place),
        }
    }

    /// Decodes a value. What was a constant is read; what was not stays marked.
    pub(crate) fn decoded(
        &mut self,
        value: &SharedValue,
        decode: impl Fn(&str) -> Option<Vec<u8>>,
        place: &Place,
        span: Span,
    ) -> SharedValue {
        let mark = [Taint::new(Source::Decoded, place, span)];
        let text = value.constant().and_then(decode).and_then(decode::readable);
        if let Some(text) = text.as_deref().map(str::trim)
            && ["http://", "https://", "ws://", "wss://", "ftp://"].iter().any(|scheme| text.starts_with(scheme))
            && let Some((host, _)) = hosts::parse_url(text)
            && !matches!(hosts::classify_url(text), HostClass::Local | HostClass::Unknown)
        {
            self.signal(SignalKind::HostHidden, format!("the host `{host}` is hidden by an encoding"), place, span);
        }
        match text {
            Some(text) => Value::text(&text.replace(HOLE, "?")).with_taints(&value.taints).with_taints(&mark),
            None => value.derived().with_taints(&mark),
        }
    }
}

fn is_temporary(path: &str) -> bool {
    ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().any(|folder| path.starts_with(folder))
}

/// A host without a scheme.
fn bare_host(pattern: &str) -> String {
    let name = pattern.split('/').next().unwrap_or("");
    let name = name.rsplit('@').next().unwrap_or(name);
    if name.contains('.') || name.starts_with("localhost") || name.contains(':') && !name.contains(HOLE) {
        hosts::normalize_host(name).unwrap_or_else(|| "*".to_owned())
    } else {
        "*".to_owned()
    }
}

/// A text in a message: at most 120 characters on one line.
pub(crate) fn quote(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(120).collect();
    let more = if short.len() < line.len() { "…" } else { "" };
    format!("`{}{more}`", short.replace('`', "'"))
}

fn is_device(path: &str) -> bool {
    matches!(
        path,
        "/dev/null"
            | "/dev/stdout"
            | "/dev/stderr"
            | "/dev/stdin"
            | "/dev/tty"
            | "-"
            | "/dev/urandom"
            | "/dev/random"
            | "/dev/zero"
    ) || path.starts_with("/dev/tcp/")
        || path.starts_with("/dev/udp/")
        || path.starts_with("/dev/fd/")
}

/// The path as reports show it: as written, without `./` and doubled slashes; what leaves the script's directory by `..`
/// is followed up to the skill's.
pub(crate) fn normalize_path(path: &str) -> String {
    let path = path.trim().replace('\\', "/").replace(HOLE, "*").replace("file://", "");
    let mut parts: Vec<&str> = Vec::new();
    let is_own = path.starts_with("@skill");
    for (index, part) in path.split('/').enumerate() {
        match part {
            "" if index > 0 => {}
            "." if path.len() > 1 => {}
            ".." if is_own && parts.len() > 1 && parts.last() != Some(&"..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if joined.is_empty() && path.starts_with('/') {
        return "/".to_owned();
    }
    if joined.is_empty() && !path.is_empty() { ".".to_owned() } else { joined }
}
