//! What reading found to be wrong, before a profile decides how bad it is.

use crate::Span;

/// A change to one file that fixes a fault without changing what the file means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes to replace, in the file of the fault.
    pub span: Span,
    /// The text that replaces them.
    pub replacement: String,
}

/// The kinds of fault that reading a skill can notice.
///
/// `rep-check` matches this enum exhaustively to find the rule that reports each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// The file starts with a byte order mark.
    ByteOrderMark,
    /// The file is not encoded as UTF-8.
    EncodingNotUtf8,
    /// A bundled file is a pipe, a socket or a device.
    FileIrregular,
    /// A file is larger than the limit and was not read.
    FileTooLarge,
    /// A file could not be read.
    FileUnreadable,
    /// The folder holds more than the limit and was not read completely.
    FolderTooLarge,
    /// SKILL.md does not start with a `---` line.
    FrontmatterMissing,
    /// The frontmatter is YAML, but not a mapping of fields.
    FrontmatterNotMapping,
    /// The frontmatter has no closing `---` line.
    FrontmatterUnclosed,
    /// Lines end with CR LF.
    LineEndsCrlf,
    /// The file contains a NUL byte.
    NulByte,
    /// The folder has no SKILL.md.
    SkillMdMissing,
    /// SKILL.md exists but is not a file.
    SkillMdNotAFile,
    /// The target of a symbolic link does not exist.
    SymlinkDangling,
    /// A symbolic link points outside the skill's folder.
    SymlinkOutside,
    /// `tools.json` is not valid JSON.
    ToolsJsonInvalid,
    /// The YAML uses an anchor or an alias.
    YamlAnchor,
    /// The YAML cannot be parsed.
    YamlInvalid,
    /// A mapping has the same key twice.
    YamlKeyDuplicate,
    /// The YAML contains a tab outside quotes, block scalars and comments.
    YamlTab,
    /// The YAML uses an explicit tag.
    YamlTag,
    /// The YAML is nested too deeply or holds too many values.
    YamlTooComplex,
    /// A frontmatter value is valid YAML only when it is quoted.
    YamlValueUnquoted,
}

impl FaultKind {
    /// Whether the fault is about YAML: its syntax, its limits, or a construct that some readers refuse.
    pub const fn is_yaml(self) -> bool {
        match self {
            Self::YamlAnchor
            | Self::YamlInvalid
            | Self::YamlKeyDuplicate
            | Self::YamlTab
            | Self::YamlTag
            | Self::YamlTooComplex
            | Self::YamlValueUnquoted => true,
            Self::ByteOrderMark
            | Self::EncodingNotUtf8
            | Self::FileIrregular
            | Self::FileTooLarge
            | Self::FileUnreadable
            | Self::FolderTooLarge
            | Self::FrontmatterMissing
            | Self::FrontmatterNotMapping
            | Self::FrontmatterUnclosed
            | Self::LineEndsCrlf
            | Self::NulByte
            | Self::SkillMdMissing
            | Self::SkillMdNotAFile
            | Self::SymlinkDangling
            | Self::SymlinkOutside
            | Self::ToolsJsonInvalid => false,
        }
    }
}

/// Something the reader noticed. The level is decided later, by the profile the skill is checked under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind of fault this is.
    pub kind: FaultKind,
    /// The file, relative to the skill's root; empty for the skill as a whole.
    pub file: String,
    /// Where in that file.
    pub span: Span,
    /// What is wrong: one lower-case phrase.
    pub message: String,
    /// What to do about it.
    pub help: String,
    /// A safe edit that fixes it, if there is one.
    pub edit: Option<Edit>,
}

impl Fault {
    /// Makes a fault without an edit.
    pub fn new(kind: FaultKind, file: &str, span: Span, message: String, help: &str) -> Self {
        Self { kind, file: file.to_owned(), span, message, help: help.to_owned(), edit: None }
    }

    /// Adds the edit that fixes it.
    #[must_use]
    pub fn with_edit(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.edit = Some(Edit { span, replacement: replacement.into() });
        self
    }
}
