//! The words and names of generated skills.

/// The verbs.
pub(super) const VERBS: [&str; 40] = [
    "review",
    "extract",
    "convert",
    "validate",
    "summarise",
    "draft",
    "compare",
    "merge",
    "split",
    "audit",
    "plan",
    "repair",
    "annotate",
    "translate",
    "schedule",
    "publish",
    "rotate",
    "measure",
    "sample",
    "group",
    "deploy",
    "monitor",
    "refactor",
    "document",
    "index",
    "encrypt",
    "render",
    "parse",
    "classify",
    "forecast",
    "reconcile",
    "archive",
    "restore",
    "trace",
    "profile",
    "migrate",
    "generate",
    "inspect",
    "label",
    "export",
];

/// The nouns.
pub(super) const NOUNS: [&str; 80] = [
    "invoice",
    "ledger",
    "manifest",
    "schema",
    "pipeline",
    "cluster",
    "report",
    "dashboard",
    "ticket",
    "release",
    "changelog",
    "contract",
    "image",
    "table",
    "spreadsheet",
    "archive",
    "certificate",
    "token",
    "session",
    "queue",
    "cache",
    "index",
    "migration",
    "template",
    "query",
    "dataset",
    "notebook",
    "model",
    "prompt",
    "webhook",
    "calendar",
    "mailbox",
    "transcript",
    "glossary",
    "survey",
    "budget",
    "forecast",
    "diagram",
    "policy",
    "backup",
    "endpoint",
    "container",
    "branch",
    "commit",
    "package",
    "license",
    "snapshot",
    "stream",
    "topic",
    "record",
    "customer",
    "order",
    "shipment",
    "warehouse",
    "payment",
    "refund",
    "subscription",
    "campaign",
    "segment",
    "article",
    "slide",
    "chapter",
    "recipe",
    "exercise",
    "lesson",
    "experiment",
    "metric",
    "alert",
    "incident",
    "runbook",
    "firewall",
    "secret",
    "volume",
    "sensor",
    "firmware",
    "gateway",
    "tenant",
    "workspace",
    "form",
    "signature",
];

/// The adjectives.
pub(super) const ADJECTIVES: [&str; 24] = [
    "quarterly",
    "stale",
    "nested",
    "encrypted",
    "partial",
    "duplicate",
    "signed",
    "remote",
    "shared",
    "legacy",
    "draft",
    "weekly",
    "large",
    "malformed",
    "internal",
    "public",
    "temporary",
    "versioned",
    "localised",
    "missing",
    "pending",
    "sorted",
    "verified",
    "compressed",
];

/// The filler words.
pub(super) const FILLER_WORDS: [&str; 32] = [
    "the", "of", "a", "to", "and", "in", "for", "with", "before", "after", "when", "each", "every", "that", "this",
    "only", "first", "then", "from", "into", "without", "until", "while", "between", "below", "above", "against", "is",
    "are", "not", "must", "if",
];

/// The file extensions that skills mention.
pub(super) const FILE_TYPES: [&str; 20] = [
    "pdf", "csv", "xlsx", "docx", "pptx", "json", "yaml", "toml", "md", "html", "png", "svg", "sql", "py", "rs",
    "tar.gz", "parquet", "ics", "eml", "log",
];

const CONSONANTS: &[u8; 14] = b"bdfgklmnprstvz";
const VOWELS: &[u8; 5] = b"aeiou";
const SYLLABLE_COUNT: usize = CONSONANTS.len() * VOWELS.len();
/// The number of names with three syllables.
pub(super) const NAMES_MAX: usize = SYLLABLE_COUNT * SYLLABLE_COUNT * SYLLABLE_COUNT;

/// Invents a word with a number of syllables. Different numbers, up to the maximum, give different words.
pub(super) fn invent_word(mut number: usize, syllables: usize) -> String {
    let mut word = String::with_capacity(syllables * 2);
    for _ in 0..syllables {
        let syllable = number % SYLLABLE_COUNT;
        word.push(char::from(CONSONANTS[syllable % CONSONANTS.len()]));
        word.push(char::from(VOWELS[syllable / CONSONANTS.len()]));
        number /= SYLLABLE_COUNT;
    }
    word
}

/// Returns the name of the skill with a number: two common words, and an invented one that makes it unique.
pub(super) fn generate_name(number: usize) -> String {
    // The factor and the number of names are coprime, so all numbers give different names.
    let scattered = number * 7_919 % NAMES_MAX;
    let (verb, noun) = (VERBS[scattered % VERBS.len()], NOUNS[scattered / VERBS.len() % NOUNS.len()]);
    format!("{verb}-{noun}-{}", invent_word(scattered, 3))
}
