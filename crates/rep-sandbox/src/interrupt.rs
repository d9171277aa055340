//! Turns signals to this process into a cancellation request.
#![cfg_attr(unix, expect(unsafe_code, reason = "installing a signal handler is unsafe"))]

use std::sync::OnceLock;

use crate::Cancel;

static CANCEL: OnceLock<Cancel> = OnceLock::new();

/// Returns the request, which nothing but this program cancels: the interrupt key ends the program.
#[cfg(windows)]
pub fn cancel_on_interrupt() -> Cancel {
    CANCEL.get_or_init(Cancel::default).clone()
}

/// Makes SIGINT, SIGTERM and SIGHUP request cancellation instead of ending this process, so that it can clean up and
/// report. Every call returns the same request.
#[cfg(unix)]
pub fn cancel_on_interrupt() -> Cancel {
    let cancel = CANCEL.get_or_init(Cancel::default).clone();
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: a zeroed action is valid, and its fields are then set. The handler only stores to an atomic that
        // exists before the handler is installed.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handle_signal as extern "C" fn(libc::c_int) as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
    cancel
}

#[cfg(unix)]
extern "C" fn handle_signal(_: libc::c_int) {
    if let Some(cancel) = CANCEL.get() {
        cancel.cancel();
    }
}
