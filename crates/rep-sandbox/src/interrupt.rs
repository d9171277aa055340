//! Turns a signal to this process into a request to end its run.
#![expect(unsafe_code, reason = "a signal handler can be installed in no other way")]

use std::sync::OnceLock;

use crate::Cancel;

static CANCEL: OnceLock<Cancel> = OnceLock::new();

/// From now on an interrupt, a request to end and a closed terminal cancel runs with this request, and do not end this
/// process: it has to clean up and tell. Only the first request of a process is heard.
pub fn on_interrupt() -> Cancel {
    let cancel = CANCEL.get_or_init(Cancel::default).clone();
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the action is zeroed, which is a valid value, and then filled in; the handler only stores to an atomic
        // that was made before it was installed.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = ask_to_end as extern "C" fn(libc::c_int) as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
    cancel
}

extern "C" fn ask_to_end(_: libc::c_int) {
    if let Some(cancel) = CANCEL.get() {
        cancel.cancel();
    }
}
