//! Settings of the C library's allocator, for a process that runs long and has many threads.
//!
//! glibc gives each thread one of several heaps and rarely returns memory from any of them, so the memory of a server
//! grows with its threads instead of with its data. The settings are here because they need unsafe code, which no other
//! crate has. They do nothing with another C library.
#![cfg_attr(all(target_os = "linux", target_env = "gnu"), expect(unsafe_code, reason = "calls the C library"))]

/// Limits the number of heaps, and returns large blocks and free ends of heaps to the system. Call it before the process
/// starts threads.
pub fn limit_heaps() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const HEAPS_MAX: libc::c_int = 2;
        const LARGE_BLOCK_BYTES: libc::c_int = 128 << 10;
        let settings = [
            (libc::M_ARENA_MAX, HEAPS_MAX),
            (libc::M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES),
            (libc::M_TRIM_THRESHOLD, LARGE_BLOCK_BYTES),
        ];
        for (name, value) in settings {
            // SAFETY: these settings may be changed at any time. A refused one leaves the allocator as it was.
            unsafe { libc::mallopt(name, value) };
        }
    }
}

/// Returns free memory inside of the heaps to the system. Takes milliseconds.
pub fn release_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call only gives up pages that are not in use.
    unsafe {
        libc::malloc_trim(0);
    }
}
