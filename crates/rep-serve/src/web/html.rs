//! Markup, and text that can never become markup.
//!
//! [`Html`] grows by templates, which are part of this program, and by values, which are escaped whatever they are. Only
//! another [`Html`] goes in as it is.

use std::fmt::Display;

use rep_model::markup;

/// Markup.
#[derive(Clone, Debug, Default)]
pub(crate) struct Html(String);

/// Something that can stand between pieces of markup.
pub(crate) trait Piece {
    /// Writes it so that it stays what it is.
    fn put(&self, out: &mut String);
}

impl Piece for str {
    fn put(&self, out: &mut String) {
        self.chars().for_each(|letter| markup::put(letter, out));
    }
}

impl Piece for String {
    fn put(&self, out: &mut String) {
        self.as_str().put(out);
    }
}

impl<T: Piece + ?Sized> Piece for &T {
    fn put(&self, out: &mut String) {
        (**self).put(out);
    }
}

impl<T: Piece> Piece for Option<T> {
    fn put(&self, out: &mut String) {
        if let Some(piece) = self {
            piece.put(out);
        }
    }
}

impl Piece for Html {
    fn put(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

impl Piece for usize {
    fn put(&self, out: &mut String) {
        put_number(self, out);
    }
}

impl Piece for u64 {
    fn put(&self, out: &mut String) {
        put_number(self, out);
    }
}

impl Piece for i64 {
    fn put(&self, out: &mut String) {
        put_number(self, out);
    }
}

fn put_number(number: &impl Display, out: &mut String) {
    out.push_str(&number.to_string());
}

impl Html {
    /// Adds a template of this program, with a value for every `{}`.
    pub(crate) fn add(&mut self, template: &'static str, values: &[&dyn Piece]) {
        let mut values = values.iter();
        let mut parts = template.split("{}");
        self.0.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let value = values.next();
            debug_assert!(value.is_some(), "a value is missing for `{template}`");
            if let Some(value) = value {
                value.put(&mut self.0);
            }
            self.0.push_str(part);
        }
        debug_assert!(values.next().is_none(), "a value is left over for `{template}`");
    }

    /// Adds text.
    pub(crate) fn text(&mut self, text: &str) {
        text.put(&mut self.0);
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The markup as it is sent.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// Adds a template with a value for every `{}` to some markup.
macro_rules! put {
    ($out:expr, $template:literal $(, $value:expr)* $(,)?) => {
        $out.add($template, &[$(&$value as &dyn $crate::web::html::Piece),*])
    };
}

/// Makes markup of a template with a value for every `{}`.
macro_rules! html {
    ($($part:tt)*) => {{
        let mut made = $crate::web::html::Html::default();
        $crate::web::html::put!(made, $($part)*);
        made
    }};
}

pub(crate) use {html, put};

/// Words in which some stand between backticks, as code.
pub(crate) fn worded(text: &str) -> Html {
    let mut out = Html::default();
    let parts: Vec<&str> = text.split('`').collect();
    // With an odd number of them, the last one is only itself.
    let pairs = (parts.len() - 1) / 2;
    for (at, part) in parts.iter().enumerate() {
        match (at % 2, at < pairs * 2) {
            (1, true) => put!(out, "<code>{}</code>", *part),
            (1, false) => put!(out, "`{}", *part),
            _ => out.text(part),
        }
    }
    out
}

/// A number with its thousands set apart.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A moment as people read it: to the second, where the rest is told to programs.
pub(crate) fn moment(at: &str) -> Html {
    let short = at.split(['.', 'Z']).next().unwrap_or(at).replace('T', " ");
    html!("<time datetime=\"{}\">{}</time>", at, short)
}

/// A count with its noun.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// The start of a text, up to so many letters; whole words where there are some near the end.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let Some((at, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let start = &text[..at];
    let word = start.rfind(char::is_whitespace).filter(|blank| start.len() - blank < 24).unwrap_or(start.len());
    format!("{}…", start[..word].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_never_become_markup() {
        let made = html!("<a href=\"{}\">{}</a>", "\"><script>", "<b>&'\u{202e}\0x</b>");
        assert_eq!(
            made.into_string(),
            "<a href=\"&quot;&gt;&lt;script&gt;\">&lt;b&gt;&amp;&#39;\\u{202e}\\u{0}x&lt;/b&gt;</a>"
        );
    }

    #[test]
    fn markup_goes_into_markup_as_it_is() {
        let inner = html!("<i>{}</i>", 1234_usize);
        assert_eq!(html!("<b>{}</b>", inner).into_string(), "<b><i>1234</i></b>");
        assert_eq!(worded("a `<b>` c ` d").into_string(), "a <code>&lt;b&gt;</code> c ` d");
        assert_eq!((grouped(1_234_567), cut("abcd", 2)), ("1,234,567".to_owned(), "ab…".to_owned()));
    }
}
