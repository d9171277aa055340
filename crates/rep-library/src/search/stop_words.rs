//! Words that carry no meaning for a search, by language, as data.
//!
//! English function words are never indexed. Those of the other languages are indexed, because some of them are English
//! words or names, but a query that contains them gets no points for them. A word that is also an English word, such as
//! `die` or `come`, is dropped only if another word of the query shows that the query is in that language.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// English function words, sorted.
#[rustfmt::skip]
const ENGLISH: [&str; 80] = [
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "do", "does", "for", "from", "had", "has",
    "have", "he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "let", "ll", "me", "my", "no",
    "not", "of", "on", "or", "our", "out", "please", "re", "s", "she", "should", "so", "such", "t", "than", "that",
    "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "us", "ve", "was", "we",
    "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "yes", "yet", "you", "your",
    "yours",
];

/// German function words.
#[rustfmt::skip]
const GERMAN: [&str; 147] = [
    "aber", "alle", "allem", "allen", "aller", "alles", "als", "auch", "auf", "aus", "bei", "beim", "bis", "bitte",
    "damit", "dann", "dass", "daß", "dein", "deine", "dem", "denn", "der", "dessen", "dich", "diese", "diesem",
    "diesen", "dieser", "dieses", "doch", "dort", "du", "durch", "ein", "eine", "einem", "einen", "einer", "eines",
    "etwas", "euch", "euer", "fuer", "für", "habe", "haben", "hast", "hatte", "hatten", "hier", "ich", "ihm", "ihn",
    "ihnen", "ihr", "ihre", "ihrem", "ihren", "ihrer", "im", "ist", "ja", "jede", "jedem", "jeden", "jeder", "jedes",
    "jetzt", "kann", "kannst", "kein", "keine", "keinen", "koennen", "können", "könnte", "mach", "mein", "meine",
    "meinem", "meinen", "meiner", "mich", "mir", "moechte", "muss", "möchte", "nach", "nicht", "nichts", "noch",
    "nun", "nur", "ob", "oder", "ohne", "sehr", "sein", "seine", "seinem", "seinen", "seiner", "sich", "sie", "sind",
    "solche", "soll", "sollen", "sondern", "sonst", "ueber", "um", "und", "uns", "unser", "unsere", "unter", "viel",
    "vom", "von", "vor", "wann", "warum", "weil", "welche", "welchem", "welchen", "welcher", "welches", "wenn",
    "werde", "werden", "wie", "wieder", "wir", "wird", "wirst", "wo", "wollen", "wuerde", "würde", "zu", "zum", "zur",
    "zwischen", "über",
];
/// German function words that mean something in English.
#[rustfmt::skip]
const GERMAN_AND_ENGLISH: [&str; 19] = [
    "also", "am", "bin", "da", "das", "den", "des", "die", "dies", "dir", "er", "es", "hat", "mal", "man", "mit",
    "war", "wars", "wer",
];

/// French function words.
#[rustfmt::skip]
const FRENCH: [&str; 74] = [
    "au", "avec", "ce", "ceci", "cela", "celle", "celui", "cet", "cette", "ceux", "chez", "comme", "dans", "de", "du",
    "elle", "elles", "et", "etre", "eux", "faut", "il", "ils", "je", "jusque", "les", "leur", "leurs", "lui", "mais",
    "mes", "moi", "même", "notre", "nous", "ont", "ou", "où", "peut", "peux", "pourquoi", "pouvez", "puis", "qu",
    "quand", "que", "quel", "quelle", "quelles", "quels", "qui", "quoi", "soit", "sont", "sous", "ta", "tes", "toi",
    "tous", "toute", "toutes", "très", "tu", "une", "veux", "voici", "voilà", "vos", "votre", "vous", "à", "ça",
    "été", "être",
];
/// French function words that mean something in English.
#[rustfmt::skip]
const FRENCH_AND_ENGLISH: [&str; 38] = [
    "aux", "c", "ces", "ci", "comment", "d", "des", "en", "entre", "est", "j", "l", "la", "le", "m", "ma", "mon", "n",
    "ne", "nos", "par", "pas", "plus", "pour", "sa", "sans", "se", "sera", "ses", "si", "son", "sur", "te", "ton",
    "tout", "un", "vers", "y",
];

/// Spanish function words.
#[rustfmt::skip]
const SPANISH: [&str; 79] = [
    "algo", "algunos", "antes", "aquí", "como", "contra", "cual", "cuando", "cuál", "cuándo", "cómo", "de", "desde",
    "donde", "dónde", "el", "ella", "ellas", "ellos", "eres", "esa", "esas", "ese", "eso", "esos", "esta", "estas",
    "este", "esto", "estos", "estoy", "está", "están", "fue", "hacer", "hasta", "las", "les", "lo", "los", "mi",
    "mucho", "muy", "más", "nada", "ni", "nosotros", "otra", "otro", "para", "poco", "por", "porque", "puede",
    "puedes", "puedo", "que", "quien", "quiero", "quién", "qué", "sobre", "soy", "sus", "sí", "sólo", "también",
    "tengo", "tiene", "tu", "tus", "tú", "una", "unas", "unos", "usted", "ya", "yo", "él",
];
/// Spanish function words that mean something in English.
#[rustfmt::skip]
const SPANISH_AND_ENGLISH: [&str; 33] = [
    "al", "ante", "con", "del", "dos", "en", "entre", "era", "es", "ha", "hay", "la", "le", "mis", "nos", "o", "os",
    "pero", "se", "sea", "ser", "si", "sin", "solo", "son", "su", "te", "ti", "todo", "todos", "un", "uno", "y",
];

/// Portuguese function words.
#[rustfmt::skip]
const PORTUGUESE: [&str; 81] = [
    "ao", "aos", "aquilo", "até", "como", "de", "dela", "dele", "deles", "depois", "ela", "elas", "ele", "eles",
    "essa", "essas", "esse", "esses", "esta", "estas", "este", "estes", "estou", "está", "foi", "há", "isso", "isto",
    "já", "lhe", "lhes", "mais", "mesmo", "meu", "meus", "minha", "minhas", "muito", "nas", "nem", "nossa", "nosso",
    "numa", "não", "ou", "para", "pela", "pelas", "pelo", "pelos", "pode", "podem", "por", "porque", "posso", "qual",
    "quando", "que", "quem", "quero", "seu", "seus", "somos", "sua", "suas", "são", "só", "também", "tenho", "teu",
    "tu", "tua", "um", "uma", "umas", "uns", "você", "vocês", "à", "às", "é",
];
/// Portuguese function words that mean something in English.
#[rustfmt::skip]
const PORTUGUESE_AND_ENGLISH: [&str; 21] = [
    "com", "da", "das", "dos", "e", "em", "entre", "era", "eu", "mas", "na", "nos", "num", "o", "os", "se", "sem",
    "ser", "sou", "te", "tem",
];

/// Italian function words.
#[rustfmt::skip]
const ITALIAN: [&str; 83] = [
    "agli", "alla", "alle", "allo", "anche", "che", "cosa", "così", "cui", "dagli", "dal", "dalla", "dalle", "dallo",
    "degli", "dell", "della", "delle", "dello", "devo", "di", "essere", "gli", "hanno", "ho", "il", "lei", "lo",
    "loro", "lui", "mi", "mia", "mie", "miei", "mio", "nei", "nel", "nella", "nelle", "nello", "noi", "non", "nostra",
    "nostro", "perchè", "perché", "però", "più", "posso", "potrebbe", "può", "qual", "quale", "quali", "quando",
    "quella", "quelli", "quello", "questa", "queste", "questi", "questo", "qui", "senza", "sia", "sono", "sua",
    "sugli", "sul", "sulla", "sulle", "suo", "suoi", "tra", "tu", "tua", "tuo", "tutti", "tutto", "una", "voglio",
    "voi", "è",
];
/// Italian function words that mean something in English.
#[rustfmt::skip]
const ITALIAN_AND_ENGLISH: [&str; 37] = [
    "ad", "ai", "al", "c", "chi", "ci", "come", "con", "da", "dai", "dei", "del", "dove", "e", "ed", "era", "fare",
    "ha", "hai", "io", "la", "le", "ma", "ne", "o", "per", "poi", "se", "sei", "si", "su", "sue", "sui", "ti", "un",
    "uno", "vi",
];

/// Dutch function words.
#[rustfmt::skip]
const DUTCH: [&str; 77] = [
    "aan", "alle", "alleen", "als", "altijd", "andere", "bij", "daar", "de", "deze", "dit", "doch", "een", "eens",
    "geen", "geweest", "haar", "heb", "hebben", "heeft", "het", "hier", "hij", "hun", "iemand", "iets", "ik", "ja",
    "je", "jij", "jou", "jouw", "jullie", "kan", "kun", "kunnen", "maar", "meer", "mij", "mijn", "moet", "naar",
    "niet", "niets", "nog", "om", "omdat", "ons", "onze", "ook", "tegen", "toch", "toen", "uit", "uw", "veel", "voor",
    "waar", "waarom", "wanneer", "wat", "welke", "werd", "wezen", "wie", "wil", "worden", "wordt", "zal", "ze",
    "zelf", "zich", "zij", "zijn", "zo", "zonder", "zou",
];
/// Dutch function words that mean something in English.
#[rustfmt::skip]
const DUTCH_AND_ENGLISH: [&str; 24] = [
    "al", "dan", "dat", "die", "doen", "door", "dus", "en", "er", "ge", "hem", "hoe", "met", "nu", "op", "over",
    "reeds", "te", "tot", "u", "van", "want", "wel", "wet",
];

/// The languages other than English: their function words, and those that are also English words.
const LANGUAGES: [(&[&str], &[&str]); 6] = [
    (&GERMAN, &GERMAN_AND_ENGLISH),
    (&FRENCH, &FRENCH_AND_ENGLISH),
    (&SPANISH, &SPANISH_AND_ENGLISH),
    (&PORTUGUESE, &PORTUGUESE_AND_ENGLISH),
    (&ITALIAN, &ITALIAN_AND_ENGLISH),
    (&DUTCH, &DUTCH_AND_ENGLISH),
];

/// Returns whether a lower-case word is an English function word.
pub(super) fn is_english_stop_word(word: &str) -> bool {
    ENGLISH.binary_search(&word).is_ok()
}

/// Returns whether a lower-case word is a function word of any of the languages.
pub(crate) fn is_stop_word(word: &str) -> bool {
    is_english_stop_word(word) || foreign_words().contains_key(word)
}

/// Returns the words of a query that are function words of another language than English, in lower case.
pub(super) fn find_foreign_stop_words<'a>(runs: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let mut certain = BTreeSet::new();
    let mut uncertain: BTreeMap<String, u8> = BTreeMap::new();
    // A bit for each language that the query certainly contains words of.
    let mut spoken = 0;
    for run in runs {
        let word = run.to_lowercase();
        let Some(meaning) = foreign_words().get(word.as_str()) else { continue };
        if meaning.is_english {
            uncertain.insert(word, meaning.languages);
        } else {
            spoken |= meaning.languages;
            certain.insert(word);
        }
    }
    certain.extend(uncertain.into_iter().filter(|(_, languages)| languages & spoken != 0).map(|(word, _)| word));
    certain
}

/// What a foreign function word is.
#[derive(Clone, Copy, Default)]
struct ForeignWord {
    /// A bit for each of the languages that use it.
    languages: u8,
    /// Whether it is also an English word.
    is_english: bool,
}

fn foreign_words() -> &'static BTreeMap<&'static str, ForeignWord> {
    static WORDS: OnceLock<BTreeMap<&str, ForeignWord>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let mut words: BTreeMap<&str, ForeignWord> = BTreeMap::new();
        for (at, (certain, uncertain)) in LANGUAGES.iter().enumerate() {
            for word in certain.iter().chain(*uncertain) {
                words.entry(word).or_default().languages |= 1 << at;
            }
            for word in *uncertain {
                words.entry(word).or_default().is_english = true;
            }
        }
        words
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list_dropped(query: &str) -> Vec<String> {
        find_foreign_stop_words(query.split_whitespace()).into_iter().collect()
    }

    #[test]
    fn english_words_are_sorted() {
        assert!(ENGLISH.is_sorted());
    }

    #[test]
    fn words_of_other_languages_are_dropped() {
        assert_eq!(list_dropped("Fülle das Formular für mich aus"), ["aus", "das", "für", "mich"]);
        assert_eq!(list_dropped("traduire ce texte avec le modèle"), ["avec", "ce", "le"]);
        assert_eq!(list_dropped("cómo puedo unir los archivos"), ["cómo", "los", "puedo"]);
        assert_eq!(list_dropped("voeg deze bestanden samen met het script"), ["deze", "het", "met"]);
    }

    #[test]
    fn english_words_are_dropped_only_in_a_query_of_the_language() {
        assert_eq!(list_dropped("order a van and a die"), Vec::<String>::new());
        assert_eq!(list_dropped("sin and cos"), Vec::<String>::new());
        assert_eq!(list_dropped("ai in ci: run the eu job"), Vec::<String>::new());
        assert_eq!(list_dropped("prüfe die Rechnung und den Vertrag"), ["den", "die", "und"]);
        assert_eq!(list_dropped("come posso unire i file"), ["come", "posso"]);
    }
}
