//! Work that takes its time on purpose.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Does `work` here and now; where there are several async threads, the others take over what waits for this one.
///
/// It is never called off half done, which work handed to another thread would be: an interrupt could then leave a session
/// behind in a directory that is no longer ours. On a runtime of one thread there is nobody to take over; tests are.
pub fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::time::Duration;

    use super::blocking;

    /// The one async thread there is goes on: what is waited for happens on it.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn others_go_on_meanwhile() {
        let waits = tokio::spawn(async {
            let (sender, receiver) = sync_channel(1);
            tokio::spawn(async move { sender.send(7) });
            blocking(|| receiver.recv_timeout(Duration::from_secs(30)))
        });
        assert_eq!(waits.await.unwrap(), Ok(7));
    }

    #[tokio::test]
    async fn one_thread_does_it_itself() {
        assert_eq!(blocking(|| 7), 7);
    }

    #[test]
    fn no_runtime_is_needed() {
        assert_eq!(blocking(|| 7), 7);
    }
}
