//! Makes the table of the token counter, and compares its counts with another implementation's.
//!
//! ```text
//! cargo run --release -- table FILE.tiktoken OUT      the published vocabulary as our table
//! cargo run --release -- compare FOLDER…              every text file, and made-up texts
//! cargo run --release -- counts FILE                  fills in the counts of a test's table
//! cargo run --release -- time FILE                    how long ours and theirs take
//! ```

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use tiktoken_rs::CoreBPE;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["table", from, to] => table(from, to),
        ["compare", folders @ ..] => return compare(folders),
        ["counts", file] => counts(file),
        ["time", file] => time(file),
        _ => {
            eprintln!("usage: tokens table FILE.tiktoken OUT | compare FOLDER… | counts FILE | time FILE");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn theirs() -> CoreBPE {
    tiktoken_rs::o200k_base().expect("the vocabulary is part of the crate")
}

/// Each line of the published file is a token in base64 and its rank; the ranks are 0, 1, 2, ….
fn table(from: &str, to: &str) {
    let text = fs::read_to_string(from).expect("the vocabulary is readable");
    let (mut lengths, mut tokens) = (Vec::new(), Vec::new());
    for (index, line) in text.lines().enumerate() {
        let (token, rank) = line.split_once(' ').expect("a line is a token and a rank");
        assert_eq!(rank.parse::<usize>(), Ok(index), "ranks have no gaps");
        let bytes = base64(token);
        lengths.push(u8::try_from(bytes.len()).expect("no token is longer than 255 bytes"));
        tokens.extend(bytes);
    }
    let mut out = DeflateEncoder::new(Vec::new(), Compression::best());
    out.write_all(&lengths).and_then(|()| out.write_all(&tokens)).expect("memory is writable");
    fs::write(to, out.finish().expect("memory is writable")).expect("the table is writable");
}

fn base64(text: &str) -> Vec<u8> {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for letter in text.trim_end_matches('=').chars() {
        bits = bits << 6 | LETTERS.find(letter).expect("the token is base64") as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    bytes
}

fn compare(folders: &[&str]) -> ExitCode {
    let theirs = theirs();
    let (mut texts, mut tokens, mut wrong) = (0, 0, 0);
    let mut check = |name: &str, text: &str| {
        let (ours, expected) = (rep_tokens::count(text), theirs.encode_ordinary(text).len());
        texts += 1;
        tokens += expected;
        if ours != expected {
            wrong += 1;
            println!("{name}: {ours} counted, {expected} expected");
        }
    };
    let mut open: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else if let Ok(text) = fs::read_to_string(&path) {
            check(&path.display().to_string(), &text);
        }
    }
    for seed in 0..60_000 {
        check(&format!("made up text {seed}"), &made_up(seed));
    }
    println!("{texts} texts, {tokens} tokens, {wrong} differ");
    ExitCode::from(u8::from(wrong > 0))
}

/// Texts the pattern and the merging find hard: every mixture of scripts, cases, marks, blanks and long runs.
fn made_up(seed: u64) -> String {
    const LETTERS: &[&str] = &[
        "a",
        "b",
        "e",
        "th",
        "ing",
        "A",
        "Z",
        "É",
        "ß",
        "ſ",
        "ǅ",
        "ʰ",
        "ª",
        "中",
        "文",
        "日本",
        "한",
        "ا",
        "ש",
        "\u{301}",
        "\u{20dd}",
        "\u{93f}",
        "1",
        "23",
        "٣",
        "Ⅷ",
        "½",
        " ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "\u{a0}",
        "\u{3000}",
        "\u{85}",
        "'",
        "'s",
        "'LL",
        "'ſ",
        "'re",
        "’",
        ".",
        "/",
        "//",
        "!",
        "-",
        "--",
        "=",
        "_",
        "…",
        "🙂",
        "👩‍💻",
        "\u{fe0f}",
        "\u{200d}",
        "\u{0}",
        "<",
        "</",
        ">",
        "{",
        "\"",
        "\\n",
        "SELECT",
        "camelCase",
        "HTTPServer",
    ];
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).expect("31 bits") % below
    };
    let few = 1 + next(LETTERS.len());
    let offset = next(LETTERS.len());
    let mut text = String::new();
    for _ in 0..1 + next(40) {
        let letter = LETTERS[(offset + next(few)) % LETTERS.len()];
        let times = if next(12) == 0 { 1 + next(300) } else { 1 };
        text.push_str(&letter.repeat(times));
    }
    text
}

/// A test's table: a count, a tabulator, and a text as a JSON-like literal.
fn counts(file: &str) {
    let theirs = theirs();
    let text = fs::read_to_string(file).expect("the table is readable");
    let line = |line: &str| {
        let (_, literal) = line.split_once('\t').expect("a line is a count and a text");
        format!("{}\t{literal}\n", theirs.encode_ordinary(&unescape(literal)).len())
    };
    fs::write(file, text.lines().map(line).collect::<String>()).expect("the table is writable");
}

/// Turns `\n`, `\r`, `\t` and `\\` into what they stand for.
fn unescape(literal: &str) -> String {
    let mut out = String::new();
    let mut letters = literal.chars();
    while let Some(letter) = letters.next() {
        out.push(match (letter, letter == '\\') {
            (_, false) => letter,
            (_, true) => match letters.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                other => other.unwrap_or('\\'),
            },
        });
    }
    out
}

fn time(file: &str) {
    let text = fs::read_to_string(Path::new(file)).expect("the file is readable");
    let start = Instant::now();
    rep_tokens::count("a");
    println!("load: {:?}", start.elapsed());
    let start = Instant::now();
    let ours = rep_tokens::count(&text);
    println!("count: {ours} tokens of {} bytes in {:?}", text.len(), start.elapsed());
}
