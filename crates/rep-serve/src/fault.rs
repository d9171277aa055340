//! Errors as the protocol knows them. None holds a path of this machine.

use rmcp::ErrorData;
use serde_json::json;

/// Arguments of a request that cannot be.
pub(crate) fn invalid(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(message.into(), None)
}

/// A resource that is not served.
pub(crate) fn no_resource(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("no resource is served at this address", Some(json!({ "uri": uri })))
}

/// Something that is served and could not be read. Why is for the operator to know.
pub(crate) fn unreadable(what: &str) -> ErrorData {
    ErrorData::internal_error(format!("{what} could not be read; the server's operator can see why"), None)
}

/// A mistake of ours.
pub(crate) fn internal() -> ErrorData {
    ErrorData::internal_error("the server failed at this request", None)
}

/// A call that could not be recorded, and so is not answered.
pub(crate) fn unkept() -> ErrorData {
    ErrorData::internal_error(
        "calls cannot be recorded on this server now, so none is answered; its operator can see why",
        None,
    )
}
