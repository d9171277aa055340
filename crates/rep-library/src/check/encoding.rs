//! The findings of skills in compact form: a few hundred bytes each, so that the report of a large library stays small,
//! and so that it can be kept on disk.
//!
//! ```text
//! skills:n (location facts blocks:n block*)*
//! block: path findings:n finding*              a block has its own table of strings
//! ```
//! Numbers are LEB128. A string is a number and its bytes; the number 0 is followed by the index of an earlier string of
//! the same block. Rules are numbers, so the encoding is only valid for the build that wrote it.

use std::path::PathBuf;

use rep_check::fix::{FindingFix, FixApplicability, FixEdit};
use rep_check::{Finding, FindingLocation, Level, Profile, RULES, RelatedLocation, SkillFacts};
use rep_model::{Position, Span, TextEdit};
use rep_storage::platform::{bytes_of, text_from_bytes};

use crate::discovery::SkillLocation;

/// Fixes with more new text than this are kept without it. Only `--fix` needs the text, and it checks again.
const FIX_BYTES_MAX: usize = 16 * 1024;
/// The maximum number of strings of a block that later ones can refer to.
const TABLE_MAX: usize = 64;

/// The part of an encoded result that is about one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileBlock {
    /// The path for display.
    pub(super) path: Box<str>,
    /// Where its findings start.
    pub(super) start: u32,
}

/// A skill of an encoded result.
pub(super) struct EncodedSkill {
    pub(super) found: SkillLocation,
    pub(super) facts: SkillFacts,
    pub(super) blocks: Vec<FileBlock>,
}

/// A skill, what other skills must know about it, and its sorted findings.
pub(super) type SkillResult = (SkillLocation, SkillFacts, Vec<Finding>);

/// Encodes the results of skills.
pub(super) fn encode_results(results: &[SkillResult]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.write_number(results.len());
    for (found, facts, findings) in results {
        writer.write_location(found);
        writer.write_facts(facts);
        let groups: Vec<&[Finding]> =
            findings.chunk_by(|one, two| one.place.display_path == two.place.display_path).collect();
        writer.write_number(groups.len());
        for group in groups {
            writer.table.clear();
            writer.write_text(&group[0].place.display_path);
            writer.write_number(group.len());
            for finding in group {
                writer.write_finding(finding);
            }
        }
    }
    writer.bytes
}

/// Decodes everything but the findings. They are decoded too, so that a damaged result is noticed here.
pub(super) fn decode_results(bytes: &[u8]) -> Option<Vec<EncodedSkill>> {
    let mut reader = Reader { bytes, at: 0, table: Vec::new() };
    let count = reader.read_count()?;
    let mut skills = Vec::new();
    for _ in 0..count {
        let (found, facts) = (reader.read_location()?, reader.read_facts()?);
        let mut blocks = Vec::new();
        for _ in 0..reader.read_count()? {
            let start = u32::try_from(reader.at).ok()?;
            let (path, _) = reader.read_block()?;
            blocks.push(FileBlock { path: path.into(), start });
        }
        skills.push(EncodedSkill { found, facts, blocks });
    }
    (reader.at == bytes.len()).then_some(skills)
}

/// Decodes the findings of a block.
pub(super) fn decode_block(bytes: &[u8], start: u32) -> Option<Vec<Finding>> {
    let mut reader = Reader { bytes, at: usize::try_from(start).ok()?, table: Vec::new() };
    Some(reader.read_block()?.1)
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    table: Vec<String>,
}

impl Writer {
    fn write_number(&mut self, mut value: usize) {
        while value >= 0x80 {
            self.bytes.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.bytes.push(value.to_le_bytes()[0]);
    }

    fn write_bytes(&mut self, bytes: &[u8]) {
        self.write_number(bytes.len() + 1);
        self.bytes.extend_from_slice(bytes);
    }

    fn write_text(&mut self, text: &str) {
        if let Some(index) = self.table.iter().position(|known| known == text) {
            self.write_number(0);
            self.write_number(index);
            return;
        }
        self.write_bytes(text.as_bytes());
        if self.table.len() < TABLE_MAX {
            self.table.push(text.to_owned());
        }
    }

    fn write_optional(&mut self, text: Option<&str>) {
        self.write_number(usize::from(text.is_some()));
        if let Some(text) = text {
            self.write_text(text);
        }
    }

    fn write_location(&mut self, found: &SkillLocation) {
        self.table.clear();
        self.write_text(&found.shown);
        self.write_bytes(&bytes_of(found.path.as_os_str()));
        self.write_number(usize::from(found.is_lone_file) | (usize::from(found.is_linked) << 1));
    }

    fn write_facts(&mut self, facts: &SkillFacts) {
        self.write_number(usize::from(facts.name.is_some()));
        if let Some((name, place)) = &facts.name {
            self.write_text(name);
            self.write_place(place);
        }
        self.write_place(&facts.place);
        self.write_number(facts.depends_on.len());
        for (id, place) in &facts.depends_on {
            self.write_text(id);
            self.write_place(place);
        }
        self.write_number(usize::from(facts.has_manifest));
        self.write_number(facts.profiles.len());
        for profile in &facts.profiles {
            self.write_text(profile.name());
        }
    }

    fn write_place(&mut self, place: &FindingLocation) {
        self.write_text(&place.display_path);
        self.write_text(&place.file);
        self.write_position(place.start);
        self.write_position(place.end);
        self.write_text(&place.excerpt);
        self.write_number(place.skipped_chars);
        self.write_span(place.span);
    }

    fn write_position(&mut self, position: Position) {
        self.write_number(position.line);
        self.write_number(position.column);
    }

    fn write_span(&mut self, span: Span) {
        self.write_number(span.start);
        self.write_number(span.end);
    }

    fn write_finding(&mut self, finding: &Finding) {
        let rule = RULES.iter().position(|rule| rule.name == finding.rule.name);
        self.write_number(rule.expect("findings are of listed rules"));
        self.write_number(finding.level as usize);
        self.write_text(&finding.message);
        self.write_place(&finding.place);
        self.write_optional(finding.data_path.as_deref());
        self.write_text(&finding.help);
        self.write_number(finding.related.len());
        for related in &finding.related {
            self.write_place(&related.place);
            self.write_text(&related.message);
        }
        self.write_number(usize::from(finding.fix.is_some()));
        let Some(fix) = &finding.fix else { return };
        self.write_text(&fix.title);
        self.write_number(usize::from(fix.applicability == FixApplicability::Unsafe));
        let size = |edit: &FixEdit| match edit {
            FixEdit::Replace { edit, .. } => edit.replacement.len(),
            FixEdit::Rename { .. } => 0,
        };
        let is_small = fix.edits.iter().map(size).sum::<usize>() <= FIX_BYTES_MAX;
        let edits = if is_small { fix.edits.as_slice() } else { &[] };
        self.write_number(edits.len());
        for (edit, region) in edits.iter().zip(&finding.fix_regions) {
            match edit {
                FixEdit::Replace { file, edit } => {
                    self.write_number(0);
                    self.write_text(file);
                    self.write_span(edit.span);
                    self.write_text(&edit.replacement);
                }
                FixEdit::Rename { file, new_file } => {
                    self.write_number(1);
                    self.write_text(file);
                    self.write_text(new_file);
                }
            }
            self.write_position(region.0);
            self.write_position(region.1);
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    table: Vec<&'a str>,
}

impl<'a> Reader<'a> {
    fn read_number(&mut self) -> Option<usize> {
        let mut value: u64 = 0;
        for shift in (0..63).step_by(7) {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return usize::try_from(value).ok();
            }
        }
        None
    }

    /// Reads a count of items of at least one byte each, which bounds what is allocated.
    fn read_count(&mut self) -> Option<usize> {
        self.read_number().filter(|count| *count <= self.bytes.len().saturating_sub(self.at))
    }

    fn take_bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn read_bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.read_number()?.checked_sub(1)?;
        self.take_bytes(length)
    }

    fn read_str(&mut self) -> Option<&'a str> {
        match self.read_number()? {
            0 => {
                let index = self.read_number()?;
                self.table.get(index).copied()
            }
            length => {
                let text = std::str::from_utf8(self.take_bytes(length - 1)?).ok()?;
                if self.table.len() < TABLE_MAX {
                    self.table.push(text);
                }
                Some(text)
            }
        }
    }

    fn read_text(&mut self) -> Option<String> {
        self.read_str().map(str::to_owned)
    }

    fn read_flag(&mut self) -> Option<bool> {
        match self.read_number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn read_location(&mut self) -> Option<SkillLocation> {
        self.table.clear();
        let shown = self.read_text()?;
        let path = PathBuf::from(text_from_bytes(self.read_bytes()?));
        let flags = self.read_number().filter(|flags| *flags < 4)?;
        Some(SkillLocation { shown, path, is_lone_file: flags & 1 != 0, is_linked: flags & 2 != 0 })
    }

    fn read_facts(&mut self) -> Option<SkillFacts> {
        let name = if self.read_flag()? { Some((self.read_text()?, self.read_place()?)) } else { None };
        let place = self.read_place()?;
        let mut depends_on = Vec::new();
        for _ in 0..self.read_count()? {
            depends_on.push((self.read_text()?, self.read_place()?));
        }
        let has_manifest = self.read_flag()?;
        let mut profiles = Vec::new();
        for _ in 0..self.read_count()? {
            profiles.push(Profile::from_name(self.read_str()?)?);
        }
        Some(SkillFacts { name, place, depends_on, has_manifest, profiles })
    }

    fn read_place(&mut self) -> Option<FindingLocation> {
        Some(FindingLocation {
            display_path: self.read_text()?,
            file: self.read_text()?,
            start: self.read_position()?,
            end: self.read_position()?,
            excerpt: self.read_text()?,
            skipped_chars: self.read_number()?,
            span: self.read_span()?,
        })
    }

    fn read_position(&mut self) -> Option<Position> {
        let (line, column) = (self.read_number()?, self.read_number()?);
        (line > 0 && column > 0).then_some(Position { line, column })
    }

    fn read_span(&mut self) -> Option<Span> {
        let (start, end) = (self.read_number()?, self.read_number()?);
        (start <= end).then(|| Span::new(start, end))
    }

    fn read_block(&mut self) -> Option<(&'a str, Vec<Finding>)> {
        self.table.clear();
        let path = self.read_str()?;
        let count = self.read_count()?;
        let mut findings = Vec::with_capacity(count.min(1024));
        for _ in 0..count {
            findings.push(self.read_finding()?);
        }
        Some((path, findings))
    }

    fn read_finding(&mut self) -> Option<Finding> {
        let number = self.read_number()?;
        let rule = *RULES.get(number)?;
        let number = self.read_number()?;
        let level = [Level::Info, Level::Warning, Level::Error].into_iter().find(|level| *level as usize == number)?;
        let (message, place) = (self.read_text()?, self.read_place()?);
        let data_path = if self.read_flag()? { Some(self.read_text()?) } else { None };
        let help = self.read_text()?;
        let mut related = Vec::new();
        for _ in 0..self.read_count()? {
            related.push(RelatedLocation { place: self.read_place()?, message: self.read_text()? });
        }
        let mut finding =
            Finding { rule, level, message, place, data_path, help, related, fix: None, fix_regions: Vec::new() };
        if self.read_flag()? {
            self.read_fix(&mut finding)?;
        }
        Some(finding)
    }

    fn read_fix(&mut self, finding: &mut Finding) -> Option<()> {
        let title = self.read_text()?;
        let mut fix = if self.read_flag()? { FindingFix::suggestion(title) } else { FindingFix::safe(title) };
        for _ in 0..self.read_count()? {
            let is_rename = self.read_flag()?;
            let file = self.read_text()?;
            fix.edits.push(if is_rename {
                FixEdit::Rename { file, new_file: self.read_text()? }
            } else {
                FixEdit::Replace { file, edit: TextEdit { span: self.read_span()?, replacement: self.read_text()? } }
            });
            finding.fix_regions.push((self.read_position()?, self.read_position()?));
        }
        finding.fix = Some(fix);
        Some(())
    }
}
