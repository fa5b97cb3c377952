//! Where secrets come from, what is none, and that whatever is read is known.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use capability_core::audit::SecretSource;
use capability_core::handle::BrokerFault;

use super::{SecretFault, SecretSettings, Secrets, Whence, redactor};
use crate::environment::now;

fn private(path: &Path, content: &[u8]) {
    std::fs::write(path, content).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

fn secrets(place: &Path, named: Vec<(&str, Whence)>) -> Secrets {
    let directory = place.join("secrets");
    let _ = std::fs::create_dir(&directory);
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).unwrap();
    let named = named.into_iter();
    let named = named.map(|(name, whence)| (name.to_owned(), SecretSettings { whence, expires: None })).collect();
    Secrets::new(directory, Arc::new(named))
}

#[test]
fn each_source_gives_its_value_and_what_was_read_is_known() {
    let dir = tempfile::tempdir().unwrap();
    let (file, dotenv) = (dir.path().join("own"), dir.path().join(".env"));
    private(&file, b"from-a-file-of-its-own\r\n");
    private(&dotenv, b"A=other\nexport B=\"from-a-line \\\"quoted\\\"\"\n");
    let named = vec![
        ("file", Whence::File(file.clone())),
        ("line", Whence::Dotenv { file: dotenv.clone(), key: "B".to_owned() }),
        ("variable", Whence::Environment("CARGO_MANIFEST_DIR".to_owned())),
        ("nothing", Whence::Environment("CAPABILITY_NO_SUCH_VARIABLE".to_owned())),
    ];
    let secrets = secrets(dir.path(), named);
    private(&dir.path().join("secrets/plain"), b"from-the-store\n");
    let read = |name: &str| secrets.text(name).map(|text| String::from_utf8(text).unwrap()).ok();
    for (name, value, source) in [
        ("file", "from-a-file-of-its-own", SecretSource::File),
        ("line", "from-a-line \"quoted\"", SecretSource::Dotenv),
        ("variable", env!("CARGO_MANIFEST_DIR"), SecretSource::Environment),
        ("plain", "from-the-store", SecretSource::Stored),
    ] {
        assert_eq!((read(name).as_deref(), secrets.source(name)), (Some(value), source), "{name}");
        assert_eq!(redactor().text(&format!("x {value} y")), "x [redacted] y", "{name}");
    }
    assert_eq!(secrets.bindable("nothing").err(), Some(SecretFault::Absent));
    let told = serde_json::to_string(&secrets.states()).unwrap();
    for value in ["from-a", "from-the-store", "quoted"] {
        assert!(!told.contains(value), "{told}");
    }
    assert_eq!(
        secrets.states().iter().map(|state| state.state.as_str()).collect::<Vec<_>>(),
        ["ready", "ready", "absent", "ready", "ready"]
    );
}

#[test]
fn what_others_can_read_what_is_a_link_and_what_is_written_twice_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let (file, dotenv, link) = (dir.path().join("own"), dir.path().join(".env"), dir.path().join("link"));
    private(&file, b"a-value-of-some-length");
    private(&dotenv, b"A=a-value-of-some-length\nB\n");
    symlink(&file, &link).unwrap();
    let named = vec![
        ("file", Whence::File(file.clone())),
        ("link", Whence::File(link)),
        ("line", Whence::Dotenv { file: dotenv, key: "A".to_owned() }),
        ("ended", Whence::Stored),
    ];
    let secrets = secrets(dir.path(), named);
    let fault = |name: &str| secrets.bindable(name).err();
    assert_eq!(fault("file"), None);
    assert_eq!(fault("link"), Some(SecretFault::Unreadable));
    assert_eq!(fault("line"), Some(SecretFault::Malformed));
    for mode in [0o640, 0o604, 0o620, 0o777] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(fault("file"), Some(SecretFault::Unreadable), "{mode:o}");
    }
    private(&file, b"a-value-of-some-length");
    private(&dir.path().join("secrets/file"), b"another-of-that-length");
    assert_eq!(fault("file"), Some(SecretFault::Twice));
    for name in ["../own", "", ".env", "FILE"] {
        assert_eq!(fault(name), Some(SecretFault::Absent), "{name}");
    }
    private(&dir.path().join("secrets/short"), b"1234567");
    assert_eq!(fault("short"), Some(SecretFault::Short));
    assert!(!secrets.has("short"));
    assert_eq!(secrets.text("short").err(), Some(BrokerFault::CredentialShort));
    assert_eq!(secrets.reveal("short").err(), Some(BrokerFault::CredentialShort));
    assert_eq!(super::private_text(&dir.path().join("secrets/short")).err(), Some(BrokerFault::CredentialShort));
    let shown = super::credential_state("endpoints.home".to_owned(), &dir.path().join("secrets/short"));
    assert_eq!((shown.state.as_str(), shown.length), ("short", None));
}

#[test]
fn from_its_end_on_a_secret_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let settings = |expires| SecretSettings { whence: Whence::Stored, expires: Some(expires) };
    let (past, future) = (now(), now().after(Duration::from_secs(3600)));
    let directory = secrets(dir.path(), vec![]).directory;
    let named = [("past".to_owned(), settings(past)), ("future".to_owned(), settings(future))];
    let secrets = Secrets::new(directory.clone(), Arc::new(named.into_iter().collect()));
    private(&directory.join("past"), b"a-value-of-some-length");
    private(&directory.join("future"), b"a-value-of-some-length");
    assert!(!secrets.has("past") && secrets.reveal("past").is_err());
    assert_eq!(secrets.bindable("past").err(), Some(SecretFault::Expired));
    assert_eq!(secrets.bindable("future").ok().and_then(|(_, ends)| ends), Some(future));
}

/// However often it is read, and whatever is read beside it.
#[test]
fn what_is_known_stays_known() {
    let values: Vec<String> = (0..5).map(|nth| format!("one-of-several-values-{nth}")).collect();
    for value in values.iter().chain(&values).chain(values.iter().rev()) {
        super::note(value.as_bytes()).unwrap();
        super::note(value.as_bytes()).unwrap();
        super::note(b"something-else-that-is-known").unwrap();
        for value in values.iter().take_while(|other| *other != value).chain([value]) {
            assert_eq!(redactor().text(value), "[redacted]");
        }
    }
}

/// Every value that there is is known, whether or not anybody used it.
#[test]
fn what_nobody_has_used_yet_is_known_too() {
    let dir = tempfile::tempdir().unwrap();
    let secrets = secrets(dir.path(), vec![]);
    private(&dir.path().join("secrets/unused"), b"an-unused-value-of-the-store");
    secrets.learn();
    assert_eq!(redactor().text("an-unused-value-of-the-store"), "[redacted]");
}

#[test]
fn a_credential_of_the_service_manager_is_this_users_or_roots_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("api_key");
    private(&path, b"from-the-service-manager");
    let read = || super::source::credential(&path);
    for mode in [0o400, 0o600, 0o440] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(read().unwrap(), b"from-the-service-manager", "{mode:o}");
    }
    for mode in [0o404, 0o420, 0o460, 0o444] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(read().err(), Some(SecretFault::Unreadable), "{mode:o}");
    }
    let link = dir.path().join("link");
    symlink(&path, &link).unwrap();
    assert_eq!(super::source::credential(&link).err(), Some(SecretFault::Unreadable));
    assert_eq!(super::source::credential(&dir.path().join("none")).err(), Some(SecretFault::Absent));
}
