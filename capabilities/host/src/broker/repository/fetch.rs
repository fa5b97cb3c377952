//! A copy of a repository that is elsewhere.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use capability_core::handle::BrokerFault;
use gix::protocol::handshake::Ref;
use gix::protocol::transport::Protocol;
use gix::protocol::transport::client::blocking_io::http::connect_http;
use gix::remote::Direction;
use gix::remote::fetch::{Shallow, Tags};
use gix::remote::ref_map::Options;
use tokio::runtime::Handle as Runtime;

use super::Elsewhere;
use super::carrier::Carrier;
use crate::broker::resolve::Resolver;
use crate::data_dir::create_dir;

/// How long a fetch may take.
const FETCH_TIMEOUT: Duration = Duration::from_secs(300);
/// The largest object that is fetched, in bytes.
const MAX_OBJECT_BYTES: u64 = 128 * 1024 * 1024;
/// What is fetched: branches and tags, under their own names.
const WANTED: [&str; 2] = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];

/// Fetches, and puts the copy in its place once it is whole.
pub async fn fetch(source: &Elsewhere, copy: PathBuf, resolver: Arc<dyn Resolver>) -> Result<(), BrokerFault> {
    let carrier = Carrier::new(source, Runtime::current(), resolver)?;
    let fault = carrier.fault();
    let (url, depth) = (source.server.url(), source.depth);
    let interrupted = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&interrupted);
    let work = tokio::task::spawn_blocking(move || {
        let fresh = copy.with_extension("new");
        let fetched = prepared(&copy, &fresh)
            .map_err(|_| BrokerFault::Unavailable)
            .and_then(|()| whole(&fresh, &url, carrier, depth, &stop))
            .and_then(|()| exchanged(&copy, &fresh).map_err(|_| BrokerFault::Unavailable));
        // Whatever is left there is no copy.
        let _ = fs::remove_dir_all(&fresh);
        fetched
    });
    let done = tokio::time::timeout(FETCH_TIMEOUT, work).await;
    // A fetch that is given up on ends at its next look.
    interrupted.store(true, Ordering::Relaxed);
    match done {
        Err(_) => Err(BrokerFault::TimedOut),
        Ok(Err(_)) => Err(BrokerFault::Unavailable),
        // What the connection found out says more than that the fetch failed.
        Ok(Ok(fetched)) => fetched.map_err(|told| fault.told().unwrap_or(told)),
    }
}

fn prepared(copy: &Path, fresh: &Path) -> io::Result<()> {
    let copies = copy.parent().ok_or(io::ErrorKind::NotFound)?;
    if let Err(error) = create_dir(copies)
        && error.kind() != io::ErrorKind::AlreadyExists
    {
        return Err(error);
    }
    match fs::remove_dir_all(fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => create_dir(fresh),
    }
}

fn whole(
    fresh: &Path,
    url: &str,
    carrier: Carrier,
    depth: core::num::NonZeroU32,
    stop: &AtomicBool,
) -> Result<(), BrokerFault> {
    let broken = |_| BrokerFault::MalformedReply;
    let kind = gix::create::Kind::Bare;
    let options = gix::create::Options { destination_must_be_empty: Some(true), ..gix::create::Options::default() };
    let made = gix::ThreadSafeRepository::init_opts(fresh, kind, options, super::isolated(MAX_OBJECT_BYTES));
    let repository = made.map_err(|_| BrokerFault::Unavailable)?.to_thread_local();
    let remote = repository.remote_at_without_url_rewrite(url).map_err(broken)?.with_fetch_tags(Tags::None);
    let remote = remote.with_refspecs(WANTED, Direction::Fetch).map_err(broken)?;
    let url = gix::url::parse(url).map_err(|_| BrokerFault::MalformedReply)?;
    let transport = connect_http(carrier, url, Protocol::V2, false);
    let connection = remote.to_connection_with_transport(transport).with_credentials(|_| Ok(None));
    // Everything is listed, so that it is known which branch is the one to read when nobody names any.
    let options = Options { prefix_from_spec_as_filter_on_remote: false, ..Options::default() };
    let prepared = connection.prepare_fetch(gix::progress::Discard, options).map_err(broken)?;
    let outcome = prepared
        .with_write_packed_refs_only(true)
        .with_shallow(Shallow::DepthAtRemote(depth))
        .receive(gix::progress::Discard, stop)
        .map_err(broken)?;
    let head = outcome.ref_map.remote_refs.iter().find_map(|found| match found {
        Ref::Symbolic { full_ref_name, target, .. } if full_ref_name == "HEAD" => Some(target.to_string()),
        _ => None,
    });
    // A server that does not say leaves the name that a new repository begins with.
    if let Some(head) = head.filter(|head| head.starts_with("refs/heads/") && !head.contains(char::is_control)) {
        fs::write(fresh.join("HEAD"), format!("ref: {head}\n")).map_err(|_| BrokerFault::Unavailable)?;
    }
    Ok(())
}

/// Puts the new copy where the old one is. Whoever reads the old one goes on with it.
#[cfg(target_os = "linux")]
fn exchanged(copy: &Path, fresh: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    if fs::symlink_metadata(copy).is_ok() {
        Ok(renameat_with(CWD, fresh, CWD, copy, RenameFlags::EXCHANGE)?)
    } else {
        fs::rename(fresh, copy)
    }
}

/// The same where two folders cannot change places in one step: for a moment there is no copy.
#[cfg(not(target_os = "linux"))]
fn exchanged(copy: &Path, fresh: &Path) -> io::Result<()> {
    let old = copy.with_extension("old");
    let _ = fs::remove_dir_all(&old);
    if fs::symlink_metadata(copy).is_ok() {
        fs::rename(copy, &old)?;
    }
    fs::rename(fresh, copy)?;
    let _ = fs::remove_dir_all(&old);
    Ok(())
}
