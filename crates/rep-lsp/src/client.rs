//! What the client can do, read from the parameters of `initialize`.
//!
//! Only what the server uses is read. A typed model of every capability would cost a third of a megabyte of the binary.

use serde_json::Value;

use crate::position::PositionEncoding;

/// The features of a client that change what the server sends.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate capability of the client")]
pub(crate) struct ClientFeatures {
    /// The encoding of positions.
    pub encoding: PositionEncoding,
    /// Whether the client asks for diagnostics. If not, they are sent.
    pub pulls_diagnostics: bool,
    /// Whether an answer with diagnostics may contain those of other files.
    pub related_documents: bool,
    /// Whether the client asks for diagnostics again on request.
    pub refreshes_diagnostics: bool,
    /// Whether inlay hints, code lenses and semantic tokens are asked for again on request.
    pub refreshes: Vec<&'static str>,
    /// Whether diagnostics may name other places.
    pub related_information: bool,
    /// Whether unused code may be marked.
    pub unnecessary_tag: bool,
    /// Whether edits may have versions, and come with created and renamed files.
    pub document_changes: bool,
    /// Whether edits may create files.
    pub creates_files: bool,
    /// Whether edits may rename files.
    pub renames_files: bool,
    /// Whether completions may contain placeholders.
    pub snippets: bool,
    /// Whether the edits of code actions may contain placeholders (LSP 3.18).
    pub snippet_edits: bool,
    /// Whether hovers and documentation may be Markdown.
    pub markdown: bool,
    /// Whether settings are asked for with `workspace/configuration`.
    pub configuration: bool,
    /// Whether the client watches files for the server.
    pub watches_files: bool,
    /// Whether changes of settings must be registered.
    pub registers_configuration: bool,
    /// Whether progress may be reported.
    pub progress: bool,
    /// Whether the client opens documents on request.
    pub shows_documents: bool,
    /// Whether symbols may be nested.
    pub nested_symbols: bool,
    /// Whether a definition may say which text it is the definition of.
    pub definition_links: bool,
    /// Whether code actions are objects, not only commands.
    pub code_action_literals: bool,
    /// Whether the client asks the server for the text of documents of another scheme (LSP 3.18).
    pub virtual_documents: bool,
    /// The commands that the client implements, from `initializationOptions.commands`.
    pub commands: Vec<String>,
}

/// The features whose values can be asked for again, and the requests that ask the client to do so.
const REFRESHES: [(&str, &str); 3] = [
    ("/workspace/inlayHint/refreshSupport", "workspace/inlayHint/refresh"),
    ("/workspace/codeLens/refreshSupport", "workspace/codeLens/refresh"),
    ("/workspace/semanticTokens/refreshSupport", "workspace/semanticTokens/refresh"),
];

impl ClientFeatures {
    /// Reads the features from the parameters of `initialize`.
    pub(crate) fn from_initialize(params: &Value) -> Self {
        let none = Value::Null;
        let capabilities = params.get("capabilities").unwrap_or(&none);
        let has = |pointer: &str| capabilities.pointer(pointer).and_then(Value::as_bool).unwrap_or(false);
        let lists = |pointer: &str, word: &str| {
            let items = capabilities.pointer(pointer).and_then(Value::as_array);
            items.is_some_and(|items| items.iter().any(|item| item.as_str() == Some(word)))
        };
        let tags = |pointer: &str| {
            let items = capabilities.pointer(pointer).and_then(Value::as_array);
            items.is_some_and(|items| items.iter().any(|item| item.as_u64() == Some(1)))
        };
        let operations = "/workspace/workspaceEdit/resourceOperations";
        let has_operations = capabilities.pointer(operations).is_some_and(Value::is_array);
        let offered = |encoding: &PositionEncoding| lists("/general/positionEncodings", encoding.name());
        let commands = params.pointer("/initializationOptions/commands").and_then(Value::as_array);
        Self {
            encoding: PositionEncoding::ALL.into_iter().find(offered).unwrap_or(PositionEncoding::Utf16),
            pulls_diagnostics: capabilities.pointer("/textDocument/diagnostic").is_some_and(Value::is_object),
            related_documents: has("/textDocument/diagnostic/relatedDocumentSupport"),
            refreshes_diagnostics: has("/workspace/diagnostics/refreshSupport"),
            refreshes: REFRESHES.into_iter().filter(|(pointer, _)| has(pointer)).map(|(_, method)| method).collect(),
            related_information: has("/textDocument/publishDiagnostics/relatedInformation")
                || has("/textDocument/diagnostic/relatedInformation"),
            unnecessary_tag: tags("/textDocument/publishDiagnostics/tagSupport/valueSet")
                || tags("/textDocument/diagnostic/tagSupport/valueSet"),
            // Created and renamed files exist only in `documentChanges`, so a client that takes them takes these too.
            document_changes: has("/workspace/workspaceEdit/documentChanges") || has_operations,
            creates_files: lists(operations, "create"),
            renames_files: lists(operations, "rename"),
            snippets: has("/textDocument/completion/completionItem/snippetSupport"),
            snippet_edits: has("/workspace/workspaceEdit/snippetEditSupport"),
            markdown: lists("/textDocument/hover/contentFormat", "markdown"),
            configuration: has("/workspace/configuration"),
            watches_files: has("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            registers_configuration: has("/workspace/didChangeConfiguration/dynamicRegistration"),
            progress: has("/window/workDoneProgress"),
            shows_documents: has("/window/showDocument/support"),
            nested_symbols: has("/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
            definition_links: has("/textDocument/definition/linkSupport"),
            code_action_literals: capabilities.pointer("/textDocument/codeAction/codeActionLiteralSupport").is_some(),
            virtual_documents: capabilities.pointer("/workspace/textDocumentContent").is_some_and(Value::is_object),
            commands: commands.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        }
    }

    /// Returns whether the client implements a command.
    pub(crate) fn has_command(&self, command: &str) -> bool {
        self.commands.iter().any(|known| known == command)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn encodings_are_chosen_in_the_order_of_the_server() {
        let chosen = |offered: Value| {
            let params = json!({ "capabilities": { "general": { "positionEncodings": offered } } });
            ClientFeatures::from_initialize(&params).encoding
        };
        assert_eq!(chosen(json!(["utf-16", "utf-32", "utf-8"])), PositionEncoding::Utf8);
        assert_eq!(chosen(json!(["utf-16", "utf-32"])), PositionEncoding::Utf32);
        assert_eq!(chosen(json!(["utf-16"])), PositionEncoding::Utf16);
        assert_eq!(chosen(json!(["utf-7"])), PositionEncoding::Utf16);
        assert_eq!(chosen(Value::Null), PositionEncoding::Utf16);
    }

    #[test]
    fn a_silent_client_has_no_features() {
        let features = ClientFeatures::from_initialize(&Value::Null);
        assert!(!features.pulls_diagnostics && !features.document_changes && !features.snippets);
        let operations = json!({ "capabilities": { "workspace": { "workspaceEdit": { "resourceOperations": [] } } } });
        assert!(ClientFeatures::from_initialize(&operations).document_changes);
    }
}
