//! Errors as the protocol reports them. No message names a path of this machine.

use rmcp::ErrorData;
use serde_json::json;

/// The parameters of a request are invalid.
pub(crate) fn invalid(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(message.into(), None)
}

/// No resource has this address.
pub(crate) fn no_resource(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("no resource is served at this address", Some(json!({ "uri": uri })))
}

/// Something that is served could not be read. The reason is for the operator only.
pub(crate) fn unreadable(what: &str) -> ErrorData {
    ErrorData::internal_error(format!("{what} could not be read; the server's operator can see why"), None)
}

/// The server failed.
pub(crate) fn internal() -> ErrorData {
    ErrorData::internal_error("the server failed at this request", None)
}

/// The call could not be recorded, so it is not answered.
pub(crate) fn unrecorded() -> ErrorData {
    ErrorData::internal_error(
        "calls cannot be recorded on this server now, so none is answered; its operator can see why",
        None,
    )
}
