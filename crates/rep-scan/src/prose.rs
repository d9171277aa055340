//! Reads prose: instructions that hide, override or send, lures to downloads, and text that people do not see.
//!
//! One automaton finds all phrases in one pass. The text around a phrase is read in a window of fixed size.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use rep_model::Span;

use crate::behaviour::SignalKind;
use crate::hosts::{self, HostClass};
use crate::scanner::{Place, Scanner, quote};

#[derive(Clone, Copy, PartialEq, Eq)]
enum PhraseKind {
    Stealth,
    Override,
    Protection,
    ArchivePassword,
    Paste,
    Send,
    Wallet,
    Defanged,
    Url,
}

const PHRASES: [(PhraseKind, &[&str]); 9] = [
    (
        PhraseKind::Stealth,
        &[
            "do not tell the user",
            "don't tell the user",
            "never tell the user",
            "not mention this to the user",
            "not mention this step",
            "not mention this data",
            "do not inform the user",
            "don't inform the user",
            "without telling the user",
            "without the user knowing",
            "without informing the user",
            "without notifying the user",
            "without the user's knowledge",
            "don't let the user see",
            "don't let the user know",
            "do not let the user see",
            "do not let the user know",
            "hide this from the user",
            "hide these steps from",
            "hide it from the user",
            "completed silently",
            "silently send",
            "silently upload",
            "silently exfiltrate",
            "silently forward",
            "silently collect",
            "keep this hidden from",
            "do not reveal this to the user",
            "do not mention it to the user",
            "do not alert the user",
            "user must not know",
            "user should not know",
            "user should not be aware",
            "without user awareness",
            "never mention this to",
            "do not disclose this to the user",
        ],
    ),
    (
        PhraseKind::Override,
        &[
            "ignore previous instructions",
            "ignore all previous",
            "ignore prior instructions",
            "ignore all prior",
            "ignore any previous",
            "ignore your previous",
            "ignore the above instructions",
            "disregard previous",
            "disregard all previous",
            "disregard prior",
            "disregard your",
            "disregard all safety",
            "forget all previous",
            "forget your previous",
            "override your instructions",
            "override safety",
            "override all safety",
            "override system",
            "ignore your safety",
            "ignore all safety",
            "ignore safety",
            "bypass safety",
            "bypass your safety",
            "bypass all safety",
            "you are now in developer mode",
            "you are now in unrestricted",
            "ignore the system prompt",
            "ignore your system prompt",
            "critical system instruction",
            "new system prompt:",
            "no restrictions apply",
            "you have no restrictions",
        ],
    ),
    (
        PhraseKind::Protection,
        &[
            "disable antivirus",
            "disable your antivirus",
            "disable the antivirus",
            "turn off antivirus",
            "turn off your antivirus",
            "turn off defender",
            "turn off windows defender",
            "disable windows defender",
            "disable defender",
            "disable gatekeeper",
            "disable your firewall",
            "disable the firewall",
            "disable security software",
            "turn off your firewall",
            "disable edr",
        ],
    ),
    (
        PhraseKind::ArchivePassword,
        &[
            "pass:",
            "password:",
            "password is",
            "password `",
            "pass `",
            "passphrase:",
            "passwort:",
            "contraseña:",
            "пароль:",
            "密码:",
            "解压密码",
        ],
    ),
    (
        PhraseKind::Paste,
        &[
            "glot.io/snippets",
            "rentry.co/",
            "rentry.org/",
            "pastebin.com/raw",
            "paste.ee/",
            "hastebin.com/",
            "pastes.io/",
            "justpaste.it/",
            "controlc.com/",
        ],
    ),
    (
        PhraseKind::Send,
        &[
            "forward to http",
            "send to http",
            "upload to http",
            "forward the content to http",
            "post to http",
            "data to http",
            "upload it",
            "upload the collected",
            "send_message(",
            "exfiltrate",
            "smtp://",
            "s3://",
            "using scp",
            "to the remote",
            "send them to",
            "send the collected",
            "send it to http",
            "forward the context to",
            "files to http",
            "contents to http",
            "results to http",
            "send results to",
        ],
    ),
    (
        PhraseKind::Wallet,
        &["seed phrase", "recovery phrase", "mnemonic phrase", "wallet.dat", "private key of your wallet"],
    ),
    (PhraseKind::Defanged, &["hxxp://", "hxxps://"]),
    (PhraseKind::Url, &["http://", "https://"]),
];

static AUTOMATON: LazyLock<(AhoCorasick, Vec<PhraseKind>)> = LazyLock::new(|| {
    let kinds = PHRASES.iter().flat_map(|(kind, phrases)| phrases.iter().map(|_| *kind)).collect();
    let phrases = PHRASES.iter().flat_map(|(_, phrases)| phrases.iter());
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(phrases)
        .expect("a few hundred short phrases fit any automaton");
    (automaton, kinds)
});

/// How far around a phrase its context reaches.
const CONTEXT_BYTES: usize = 400;
/// The maximum number of hits of each kind that are judged in one text.
const HITS_MAX: usize = 50;

/// Reads prose. `is_comment` says that people do not see it.
pub(crate) fn read_prose(scanner: &mut Scanner<'_>, text: &str, place: &Place, is_comment: bool) {
    let (automaton, kinds) = &*AUTOMATON;
    let mut counts = [0_usize; PHRASES.len()];
    for found in automaton.find_iter(text) {
        let kind = kinds[found.pattern().as_usize()];
        let count = &mut counts[kind as usize];
        *count += 1;
        if *count > HITS_MAX && kind != PhraseKind::Url || *count > 2000 {
            continue;
        }
        let span = Span::new(found.start(), found.end());
        judge_phrase(scanner, kind, text, span, place, is_comment);
    }
}

fn context(text: &str, span: Span) -> &str {
    slice_near(text, span.start.saturating_sub(CONTEXT_BYTES), span.end + CONTEXT_BYTES)
}

/// The part of a text between two offsets, moved inwards to whole characters.
fn slice_near(text: &str, start: usize, end: usize) -> &str {
    let (mut start, mut end) = (start.min(text.len()), end.min(text.len()));
    while !text.is_char_boundary(start) {
        start += 1;
    }
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(start..end).unwrap_or("")
}

fn line_of(text: &str, span: Span) -> &str {
    let window = context(text, span);
    let offset = span.start - (window.as_ptr() as usize - text.as_ptr() as usize);
    let start = window[..offset].rfind('\n').map_or(0, |at| at + 1);
    let end = window[offset..].find('\n').map_or(window.len(), |at| offset + at);
    window[start..end].trim()
}

fn judge_phrase(scanner: &mut Scanner<'_>, kind: PhraseKind, text: &str, span: Span, place: &Place, is_comment: bool) {
    let around = context(text, span).to_lowercase();
    let line = line_of(text, span);
    match kind {
        PhraseKind::Stealth => {
            let sends = has_send(&around);
            let signal = if sends { SignalKind::SendInstruction } else { SignalKind::StealthInstruction };
            scanner.signal(signal, format!("wants the user not to know: {}", quote(line)), place, span);
        }
        PhraseKind::Override if is_comment => {
            scanner.signal(
                SignalKind::HiddenText,
                format!("a comment gives instructions: {}", quote(line)),
                place,
                span,
            );
        }
        PhraseKind::Override => scanner.signal(
            SignalKind::OverrideInstruction,
            format!("wants instructions ignored: {}", quote(line)),
            place,
            span,
        ),
        PhraseKind::Protection => scanner.signal(
            SignalKind::ProtectionDisabled,
            format!("wants a protection turned off: {}", quote(line)),
            place,
            span,
        ),
        PhraseKind::ArchivePassword => judge_archive_password(scanner, &around, line, place, span),
        PhraseKind::Paste => judge_paste(scanner, &around, line, place, span),
        PhraseKind::Send => judge_send(scanner, &around, line, place, span, is_comment),
        PhraseKind::Wallet => {
            let asks = ["locate", "collect", "gather", "enter your", "provide your", "send", "upload", "paste your"]
                .iter()
                .any(|word| around.contains(word));
            let is_warning = ["never ", "do not", "don't", "must not", "warn"].iter().any(|word| around.contains(word));
            if asks && !is_warning {
                scanner.signal(
                    SignalKind::CredentialsCollected,
                    format!("asks for a wallet: {}", quote(line)),
                    place,
                    span,
                );
            }
        }
        PhraseKind::Defanged => {
            let runs =
                ["pull", "download", "fetch", "curl", "install", "payload"].iter().any(|word| around.contains(word));
            if runs {
                scanner.signal(
                    SignalKind::HostHidden,
                    format!("a URL is written so that it is not found: {}", quote(line)),
                    place,
                    span,
                );
            }
        }
        PhraseKind::Url => judge_url(scanner, text, span, place),
    }
}

const DATA_WORDS: [&str; 26] = [
    "conversation",
    "chat history",
    "message history",
    "session data",
    "credential",
    "api key",
    "token",
    "password",
    "ssh key",
    "private key",
    "environment variable",
    ".env",
    "secret",
    "clipboard",
    "recent conversation",
    "list_messages",
    "messages from",
    "all messages",
    ".npmrc",
    ".git-credentials",
    "user data",
    "open file paths",
    "git history",
    "collected data",
    "personal data",
    "mcp.json",
];

fn has_send(around: &str) -> bool {
    ["send ", "upload", "forward ", "post ", "transmit", "exfiltrat", "send_message", "via post"]
        .iter()
        .any(|word| around.contains(word))
        && (around.contains("http")
            || around.contains("endpoint")
            || around.contains("server")
            || around.contains("send_message")
            || around.contains("remote"))
}

fn judge_send(scanner: &mut Scanner<'_>, around: &str, line: &str, place: &Place, span: Span, is_comment: bool) {
    let has_data = DATA_WORDS.iter().any(|word| around.contains(word));
    let is_demand = is_comment
        || [
            "must ",
            "<important>",
            "before running",
            "before returning",
            "before using",
            "do not skip",
            "always ",
            "first ",
        ]
        .iter()
        .any(|word| around.contains(word));
    let lower =
        line.trim_start_matches(['-', '*', '>', ' ', '.', '1', '2', '3', '4', '5', '6', '7', '8', '9']).to_lowercase();
    let is_order =
        ["read ", "copy ", "send ", "upload ", "transfer ", "collect ", "gather ", "forward ", "transmit ", "post "]
            .iter()
            .any(|verb| lower.starts_with(verb))
            && ["credential", ".env ", "id_rsa", "private key", "ssh key", "api keys", "secrets"]
                .iter()
                .any(|word| lower.contains(word))
            && ["http", "smtp:", "s3:", "scp "].iter().any(|word| lower.contains(word));
    if is_order || has_data && is_demand && has_send(around) {
        scanner.signal(SignalKind::SendInstruction, format!("wants private data sent: {}", quote(line)), place, span);
    }
}

fn judge_archive_password(scanner: &mut Scanner<'_>, around: &str, line: &str, place: &Place, span: Span) {
    let has_archive = [".zip", ".rar", ".7z", ".dmg", "archive", "extract", "unzip"]
        .iter()
        .filter(|word| around.contains(**word))
        .count()
        >= 2;
    let has_download = around.contains("download") && (around.contains("http") || around.contains(".exe"));
    let runs = ["run ", "execute", "launch", "install", "open ", ".exe"].iter().any(|word| around.contains(word));
    if has_archive && has_download && runs {
        scanner.signal(
            SignalKind::LureDownload,
            format!("leads to a download with a password: {}", quote(line)),
            place,
            span,
        );
    }
}

fn judge_paste(scanner: &mut Scanner<'_>, around: &str, line: &str, place: &Place, span: Span) {
    let asks = ["copy", "paste", "run ", "execute", "terminal", "visit", "install"]
        .iter()
        .filter(|word| around.contains(**word))
        .count()
        >= 2;
    if asks {
        scanner.signal(
            SignalKind::LureDownload,
            format!("leads to commands on a paste page: {}", quote(line)),
            place,
            span,
        );
    }
}

/// A URL in prose: lures to downloads, beacons in images, drops.
fn judge_url(scanner: &mut Scanner<'_>, text: &str, span: Span, place: &Place) {
    let window = slice_near(text, span.start, span.end.max(span.start + 600));
    let url = window
        .split(|letter: char| letter.is_whitespace() || matches!(letter, ')' | '"' | '\'' | '<' | '>' | '`' | '|'))
        .next()
        .unwrap_or("");
    let class = hosts::classify_url(url);
    let before = slice_near(text, span.start.saturating_sub(80), span.start);
    let is_image = before.rfind("![").is_some_and(|at| !before[at..].contains(')'));
    let carries =
        ["={", "=$", "=%7b", "={{", "=[data]", "=<"].iter().any(|mark| url.to_ascii_lowercase().contains(mark))
            || window.starts_with(url) && url.ends_with('=');
    if is_image && carries && class != HostClass::Local {
        scanner.signal(SignalKind::HiddenText, format!("an image carries data to a host: {}", quote(url)), place, span);
    }
    let lower = url.to_ascii_lowercase();
    let is_program = [".exe", ".msi", ".dmg", ".scr", ".pkg", ".bat"].iter().any(|end| lower.ends_with(end));
    let is_release =
        lower.contains("/releases/download/") && [".zip", ".rar", ".7z"].iter().any(|end| lower.ends_with(end));
    if (is_program || is_release) && !scanner.identity.owns_url(url) && class != HostClass::Known {
        let around = context(text, span).to_lowercase();
        let is_demanded = [
            "required",
            "must",
            "before using",
            "prerequisite",
            "important",
            "critical",
            "will not work",
            "won't work",
        ]
        .iter()
        .filter(|word| around.contains(**word))
        .count()
            >= 2;
        let runs = ["run ", "execute", "launch", "double-click", "extract"].iter().any(|word| around.contains(word));
        if is_demanded && runs {
            scanner.signal(
                SignalKind::LureDownload,
                format!("demands a download from elsewhere: {}", quote(url)),
                place,
                span,
            );
        }
    }
}

/// Text that people do not see: zero-width characters in words, long runs of variation selectors, padding.
pub(crate) fn find_hidden(scanner: &mut Scanner<'_>, text: &str, place: &Place) {
    let bytes = text.as_bytes();
    let mut newlines = 0_usize;
    let mut spaces = 0_usize;
    let mut is_padded = false;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'\n' => newlines += 1,
            b' ' | b'\t' => spaces += 1,
            b'\r' => {}
            _ => {
                if !is_padded && (newlines >= 200 || spaces >= 1000) {
                    is_padded = true;
                    scanner.signal(
                        SignalKind::HiddenText,
                        "there is text after a long run of empty space",
                        place,
                        Span::new(at, at + 1),
                    );
                }
                (newlines, spaces) = (0, 0);
            }
        }
    }
    if text.is_ascii() {
        return;
    }
    let (mut inside, mut selectors, mut last) = (0_usize, 0_usize, ' ');
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if matches!(letter, '\u{200b}' | '\u{2060}' | '\u{200c}' | '\u{feff}')
            && last.is_ascii_alphabetic()
            && letters.peek().is_some_and(|(_, next)| next.is_ascii_alphabetic())
        {
            inside += 1;
            if inside == 2 {
                scanner.signal(
                    SignalKind::HiddenText,
                    "words contain characters without width",
                    place,
                    Span::new(at, at + letter.len_utf8()),
                );
            }
        }
        selectors =
            if matches!(letter, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}') { selectors + 1 } else { 0 };
        if selectors == 8 {
            scanner.signal(
                SignalKind::HiddenText,
                "a run of variation selectors encodes data",
                place,
                Span::new(at, at + letter.len_utf8()),
            );
        }
        last = letter;
    }
}

/// The text without characters that have no width, if it has any.
pub(crate) fn without_invisible(text: &str) -> Option<String> {
    let is_invisible = |letter: char| matches!(letter, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}');
    text.contains(is_invisible).then(|| text.replace(is_invisible, ""))
}
