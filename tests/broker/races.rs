//! Somebody renames and links in the workspace while it is used: whatever wins, nothing outside is read or touched.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use super::lab::Lab;

const LASTS: Duration = Duration::from_millis(1500);
const AT_MOST: Duration = Duration::from_secs(20);

/// Repeats `act` on a thread of its own until the returned guard is dropped.
struct Meddler(Arc<AtomicBool>, Option<std::thread::JoinHandle<()>>);

impl Meddler {
    fn doing(act: impl Fn() + Send + 'static) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let told = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !told.load(Ordering::Relaxed) {
                act();
            }
        });
        Self(stop, Some(thread))
    }
}

impl Drop for Meddler {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.take().map(std::thread::JoinHandle::join);
    }
}

fn exchange(one: &Path, two: &Path) {
    let _ = renameat_with(CWD, one, CWD, two, RenameFlags::EXCHANGE);
}

/// What was read and written while somebody meddled, until both sides of the race were met: how often it went well and how
/// often it was refused. Nothing of outside is ever seen.
async fn used(lab: &Lab, path: &str) -> (usize, usize) {
    let (mut well, mut refused) = (0, 0);
    let begun = Instant::now();
    // A busy machine may take longer to show both.
    while (well == 0 || refused == 0) && begun.elapsed() < AT_MOST {
        let (more, less) = used_briefly(lab, path).await;
        (well, refused) = (well + more, refused + less);
    }
    (well, refused)
}

async fn used_briefly(lab: &Lab, path: &str) -> (usize, usize) {
    let (mut well, mut refused) = (0, 0);
    let until = Instant::now() + LASTS;
    while Instant::now() < until {
        match lab.said("files.read", json!({ "path": path })).await {
            Ok(text) => {
                assert!(text != json!("sesame"), "a file outside was read");
                well += 1;
            }
            Err(_) => refused += 1,
        }
        for (name, arguments) in [
            ("files.write", json!({ "path": path, "text": "inside" })),
            ("files.change", json!({ "paths": [path], "text": "inside" })),
        ] {
            match lab.said(name, arguments).await {
                Ok(_) => well += 1,
                Err(_) => refused += 1,
            }
        }
    }
    (well, refused)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_changes_places_with_a_link_leads_nowhere() {
    let lab = Lab::new(&[], &[]);
    let (root, outside) = (lab.workspace(), lab.outside().join("outside"));
    fs::create_dir_all(root.join("a/b")).expect("a directory");
    fs::write(root.join("a/b/f"), "inside").expect("a file");
    fs::create_dir_all(outside.join("b")).expect("a directory");
    fs::write(outside.join("b/f"), "sesame").expect("a file");
    symlink(&outside, root.join("trap")).expect("a link");
    let (one, two) = (root.join("a"), root.join("trap"));
    let meddler = Meddler::doing(move || exchange(&one, &two));
    let (well, refused) = used(&lab, "a/b/f").await;
    drop(meddler);
    assert!(well > 0 && refused > 0, "both sides of the race were met: {well} and {refused}");
    assert_eq!(fs::read_to_string(outside.join("b/f")).expect("it stands"), "sesame");
    assert_eq!(fs::read_dir(outside.join("b")).expect("a directory").count(), 1, "nothing was put there");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_changes_places_with_links_is_not_followed() {
    let lab = Lab::new(&[], &[]);
    let (root, outside) = (lab.workspace(), lab.outside().join("outside"));
    fs::write(&outside, "sesame").expect("a file");
    fs::write(root.join("f"), "inside").expect("a file");
    symlink(&outside, root.join("soft")).expect("a link");
    let (one, two, target) = (root.join("f"), root.join("soft"), outside.clone());
    let meddler = Meddler::doing(move || {
        exchange(&one, &two);
        // A write that wins puts its file in the place of whatever has the name, the link included.
        if !one.is_symlink() && !two.is_symlink() {
            let _ = fs::remove_file(&two);
            let _ = symlink(&target, &two);
        }
    });
    let (well, refused) = used(&lab, "f").await;
    drop(meddler);
    assert!(well > 0 && refused > 0, "both sides of the race were met: {well} and {refused}");
    assert_eq!(fs::read_to_string(&outside).expect("it stands"), "sesame");
}

/// A hard link that appears after the check is a name that is replaced, not a file that is written.
#[tokio::test(flavor = "multi_thread")]
async fn a_hard_link_that_appears_late_is_replaced_and_not_written_through() {
    let lab = Lab::new(&[], &[]);
    let (root, outside) = (lab.workspace(), lab.outside().join("outside"));
    fs::write(&outside, "untouched").expect("a file");
    fs::write(root.join("f"), "inside").expect("a file");
    let (from, beside, to) = (outside.clone(), root.join("beside"), root.join("f"));
    let meddler = Meddler::doing(move || {
        let _ = fs::hard_link(&from, &beside);
        let _ = fs::rename(&beside, &to);
    });
    let (well, refused) = used_briefly(&lab, "f").await;
    drop(meddler);
    assert!(well + refused > 10, "it was tried: {well} and {refused}");
    assert_eq!(fs::read_to_string(&outside).expect("it stands"), "untouched");
}
