//! How much of a download has arrived.

use std::io::{self, Read};
use std::sync::Arc;

/// How much of a download has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DownloadProgress {
    /// The bytes that arrived.
    pub received_bytes: u64,
    /// The bytes of the whole, if they are known.
    pub total_bytes: Option<u64>,
}

/// Receives reports of how much of a download has arrived, from any thread.
#[derive(Clone)]
pub struct DownloadObserver(Arc<dyn Fn(DownloadProgress) + Send + Sync>);

impl DownloadObserver {
    /// Creates an observer.
    pub fn new(observe: impl Fn(DownloadProgress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(observe))
    }

    /// Reports how much has arrived.
    pub(crate) fn report(&self, received_bytes: u64, total_bytes: Option<u64>) {
        (self.0)(DownloadProgress { received_bytes, total_bytes });
    }
}

impl std::fmt::Debug for DownloadObserver {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("DownloadObserver")
    }
}

/// A stream whose bytes are counted.
pub(crate) struct ObservedStream<'a, R> {
    inner: R,
    observer: Option<&'a DownloadObserver>,
    received_bytes: u64,
    total_bytes: Option<u64>,
}

impl<'a, R: Read> ObservedStream<'a, R> {
    pub(crate) fn new(inner: R, observer: Option<&'a DownloadObserver>, total_bytes: Option<u64>) -> Self {
        Self { inner, observer, received_bytes: 0, total_bytes }
    }
}

impl<R: Read> Read for ObservedStream<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.received_bytes += count as u64;
        if let Some(observer) = self.observer.filter(|_| count > 0) {
            observer.report(self.received_bytes, self.total_bytes);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn every_piece_that_arrives_is_reported() {
        let seen: Arc<Mutex<Vec<DownloadProgress>>> = Arc::default();
        let known = seen.clone();
        let observer = DownloadObserver::new(move |progress| known.lock().unwrap().push(progress));
        let mut stream = ObservedStream::new(&b"abcde"[..], Some(&observer), Some(5));
        let mut piece = [0; 2];
        while stream.read(&mut piece).unwrap() > 0 {}
        let received: Vec<u64> = seen.lock().unwrap().iter().map(|progress| progress.received_bytes).collect();
        assert_eq!(received, [2, 4, 5]);
        assert!(seen.lock().unwrap().iter().all(|progress| progress.total_bytes == Some(5)));
    }
}
