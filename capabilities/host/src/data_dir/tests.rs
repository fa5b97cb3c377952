use super::{DataDir, DataDirError, read_private, write_private};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn it_is_made_closed() {
    let top = tempfile::tempdir().unwrap();
    let dir = DataDir::open(&top.path().join("a/b")).unwrap();
    assert_eq!((mode(dir.path()), mode(&top.path().join("a"))), (0o700, 0o700));
    let key = dir.path().join("digest.key");
    dir.digest_key().unwrap();
    let bytes = fs::read(&key).unwrap();
    assert_eq!((bytes.len(), mode(&key)), (32, 0o600));
    dir.digest_key().unwrap();
    assert_eq!(fs::read(&key).unwrap(), bytes);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn what_others_reach_is_refused() {
    let top = tempfile::tempdir().unwrap();
    let path = top.path().join("data");
    DataDir::open(&path).unwrap();
    for open in [0o701, 0o710, 0o750, 0o777] {
        fs::set_permissions(&path, fs::Permissions::from_mode(open)).unwrap();
        let error = DataDir::open(&path).unwrap_err();
        assert!(matches!(error, DataDirError::Open { .. }), "{error}");
        assert!(error.to_string().contains(&format!("chmod 0700 {}", path.display())), "{error}");
    }
}

#[test]
fn links_and_files_are_refused() {
    let top = tempfile::tempdir().unwrap();
    let (real, link, file) = (top.path().join("real"), top.path().join("link"), top.path().join("file"));
    let dir = DataDir::open(&real).unwrap();
    symlink(&real, &link).unwrap();
    fs::write(&file, "").unwrap();
    assert!(matches!(DataDir::open(&link), Err(DataDirError::Link { .. })));
    assert!(matches!(DataDir::open(&file), Err(DataDirError::NotADirectory { .. })));
    symlink(&file, real.join("digest.key")).unwrap();
    assert!(matches!(dir.digest_key(), Err(DataDirError::NotAFile { .. })));
}

#[test]
fn a_damaged_or_open_key_is_refused() {
    let top = tempfile::tempdir().unwrap();
    let dir = DataDir::open(&top.path().join("data")).unwrap();
    let key = dir.path().join("digest.key");
    for wrong in [&b""[..], &[0; 31], &[0; 33]] {
        write_private(&key, wrong).unwrap();
        assert!(matches!(dir.digest_key(), Err(DataDirError::Damaged { .. })));
    }
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(dir.digest_key(), Err(DataDirError::Open { .. })));
}

#[test]
fn one_owner_at_a_time() {
    let top = tempfile::tempdir().unwrap();
    let dir = DataDir::open(&top.path().join("data")).unwrap();
    let lock = dir.lock().unwrap();
    let refused = dir.lock().unwrap_err().to_string();
    assert!(refused.contains(&std::process::id().to_string()) && refused.contains("help:"), "{refused}");
    drop(lock);
    let _again = dir.lock().unwrap();
}

#[test]
fn a_file_is_replaced_whole() {
    let top = tempfile::tempdir().unwrap();
    let path = top.path().join("file");
    assert_eq!(read_private(&path).unwrap(), None);
    write_private(&path, b"one").unwrap();
    write_private(&path, b"two").unwrap();
    assert_eq!(read_private(&path).unwrap().unwrap(), b"two");
    assert_eq!((mode(&path), fs::read_dir(top.path()).unwrap().count()), (0o600, 1));
}

/// What is cut off could be what mattered: a file that is longer than any of ours is no file of ours.
#[test]
fn a_file_that_is_too_long_is_not_read_in_part() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    let whole = vec![b'#'; 1024 * 1024];
    write_private(&path, &whole).unwrap();
    assert!(read_private(&path).unwrap().is_some_and(|read| read == whole));
    write_private(&path, &[whole.as_slice(), b"#"].concat()).unwrap();
    let refused = read_private(&path).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("config.toml` is damaged") && refused.contains("\nhelp: "), "{refused}");
}
