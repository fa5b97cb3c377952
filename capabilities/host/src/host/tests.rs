use super::{Host, HostOptions};
use crate::audit_log::{Finding, verify};
use crate::error::HostError;
use capability_core::executor::{Ended, Proposal};
use capability_core::session::{Declarations, Mode, Origin, Session, SessionIdentity, Subject, TurnId};
use capability_core::store::{Answer, OptIns};

fn open(dir: &tempfile::TempDir) -> Result<Host, HostError> {
    Host::open(HostOptions {
        data_dir: dir.path().join("data"),
        packages: &["capability-host", "capabilities"],
        accept_degraded: false,
    })
}

fn session(host: &Host) -> Session {
    let identity = SessionIdentity {
        id: host.new_session_id(),
        subject: Subject::local(),
        mode: Mode::Live,
        origin: Origin::Terminal,
        turn: TurnId(1),
    };
    host.sessions().open(identity, Declarations::everything())
}

#[tokio::test]
async fn a_host_opens_refuses_a_second_owner_and_records() {
    let dir = tempfile::tempdir().unwrap();
    let host = open(&dir).unwrap();
    let second = open(&dir).unwrap_err().to_string();
    assert!(second.contains("another host owns") && second.contains("help:"), "{second}");
    let outcome = host.executor().invoke(&session(&host), Proposal::new("no.such", 1, "{}")).await;
    assert!(matches!(outcome.ended(), Ended::Rejected(_)) && outcome.receipt().is_some(), "{outcome:?}");
    let audit = host.audit_dir();
    drop(host);
    let report = verify(&audit).unwrap();
    assert_eq!((report.finding, report.records, report.last), (Finding::Clean, 1, outcome.receipt()));
    assert_eq!(open(&dir).unwrap().opened().records, 1);
}

#[tokio::test]
async fn operators_prove_themselves_and_it_is_on_record() {
    let dir = tempfile::tempdir().unwrap();
    let host = open(&dir).unwrap();
    let password = "correct horse battery";
    host.operators().setup(password).await.unwrap();
    assert!(host.operators().by_password("wrong horse battery").is_err());
    let (operator, token) = host.operators().login(password, None).await.unwrap();
    host.operators().by_token(&token).unwrap();
    assert!(host.set_opt_in(&operator, "nosuch", true).await.is_err());
    assert_eq!(host.opt_ins().state("nosuch"), capability_core::policy::OptIn::Off);
    let audit = host.audit_dir();
    drop(host);
    let lines = crate::audit_log::tail(&audit, 10).unwrap();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].contains("operator_credential") && lines[1].contains("operator_session"), "{lines:?}");
    assert!(!lines.concat().contains("horse"));
}

/// A session is on record before it counts: one whose record never came, because its caller went away or the host was
/// killed meanwhile, admits nobody.
#[tokio::test]
async fn a_session_that_is_not_yet_on_record_admits_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let host = open(&dir).unwrap();
    let password = "correct horse battery";
    host.operators().setup(password).await.unwrap();
    let terminal = crate::operator::TerminalBinding::fake(1, 2, 3);
    {
        let mut login = core::pin::pin!(host.operators().login(password, Some(terminal)));
        let mut context = core::task::Context::from_waker(core::task::Waker::noop());
        assert!(login.as_mut().poll(&mut context).is_pending(), "the record takes its time");
        assert!(host.operators().by_terminal(&terminal).is_err());
    }
    assert!(host.operators().by_terminal(&terminal).is_err());
    host.operators().login(password, Some(terminal)).await.unwrap();
    host.operators().by_terminal(&terminal).unwrap();
}

/// Changes something, if only in name.
#[capability_core::capability(name = "fixture.change", version = 1, side_effect = mutating, network = local)]
fn change(
    /// To what.
    value: String,
) -> String {
    value
}

/// What waits for a person outlives the host, its content leaves every file once it was used, and the log tells all of it
/// without a word of it.
#[tokio::test]
async fn an_approval_outlives_the_host() {
    let dir = tempfile::tempdir().unwrap();
    let host = open(&dir).unwrap();
    host.operators().setup("correct horse battery").await.unwrap();
    let proposal = Proposal::new("fixture.change", 1, r#"{"value":"tangerine"}"#);
    let pending = host.executor().invoke(&session(&host), proposal).await;
    let Ended::Pending { approval, .. } = pending.ended() else { panic!("{pending:?}") };
    let approval = *approval;
    drop(host);

    let host = open(&dir).unwrap();
    let operator = host.operators().by_password("correct horse battery").unwrap();
    assert_eq!(host.executor().waiting(&operator).await.unwrap().len(), 1);
    host.executor().answer(&operator, approval, Answer::Approve).await.unwrap();
    drop(host);

    let host = open(&dir).unwrap();
    let outcome = host.executor().resume(&session(&host), approval).await;
    assert!(matches!(outcome.ended(), Ended::Executed { .. }), "{outcome:?}");
    let again = host.executor().resume(&session(&host), approval).await;
    assert!(matches!(again.ended(), Ended::Rejected(_)), "{again:?}");
    let (audit, data) = (host.audit_dir(), host.data_dir().path().to_owned());
    drop(host);

    let report = verify(&audit).unwrap();
    assert_eq!((report.finding, report.last), (Finding::Clean, again.receipt()));
    let stats = crate::audit_log::stats(&audit).unwrap();
    assert_eq!((stats.events["intent"], stats.events["approval"]), (1, 1));
    assert_eq!((stats.outcomes["pending"], stats.outcomes["executed"], stats.outcomes["rejected"]), (1, 1, 1));
    for path in [audit.join("seg-00000000000000000001.jsonl"), data.join("state.db"), data.join("state.db-wal")] {
        let bytes = std::fs::read(&path).unwrap_or_default();
        assert!(!bytes.windows(9).any(|window| window == b"tangerine"), "{}", path.display());
    }
    assert_eq!(open(&dir).unwrap().opened().unfinished_intents, 0);
}

/// Damage anywhere is a refusal to open that names the file and says what to do.
#[tokio::test]
async fn damaged_state_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    drop(open(&dir).unwrap());
    for (file, content) in [
        ("state.db", "x".repeat(9000)),
        ("digest.key", "short".to_owned()),
        ("config.toml", "colour = 1\n".to_owned()),
        ("audit/seg-00000000000000000001.jsonl", "{}\n".to_owned()),
        ("audit/checkpoint", "x".to_owned()),
        ("audit.key", "x".to_owned()),
    ] {
        let path = data.join(file);
        let before = std::fs::read(&path).ok();
        crate::data_dir::write_private(&path, content.as_bytes()).unwrap();
        let refused = open(&dir).unwrap_err().to_string();
        assert!(refused.contains(path.to_str().unwrap()) && refused.contains("\nhelp: "), "{file}: {refused}");
        assert_eq!(std::fs::read(&path).unwrap(), content.as_bytes(), "{file} was changed");
        match before {
            Some(before) => crate::data_dir::write_private(&path, &before).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
    }
    drop(open(&dir).unwrap());
}

/// The workspace and what the host keeps are two places, whichever way round, and the first is there.
#[tokio::test]
async fn a_workspace_is_a_directory_beside_the_hosts_own() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(&dir).unwrap());
    let data = dir.path().join("data");
    let config = |root: &std::path::Path| {
        let text = format!("[workspace]\nroot = {:?}\n", root.display().to_string());
        crate::data_dir::write_private(&data.join("config.toml"), text.as_bytes()).unwrap();
    };
    std::fs::create_dir(dir.path().join("notes")).unwrap();
    std::os::unix::fs::symlink(&data, dir.path().join("link")).unwrap();
    for (root, words) in [
        (data.clone(), "holds the data directory"),
        (data.join("audit"), "holds the data directory"),
        (dir.path().to_owned(), "holds the data directory"),
        (dir.path().join("link"), "holds the data directory"),
        (dir.path().join("absent"), "cannot be opened"),
        (data.join("config.toml"), ""),
    ] {
        config(&root);
        let refused = open(&dir).unwrap_err().to_string();
        assert!(refused.contains(words) && refused.contains("\nhelp: "), "{}: {refused}", root.display());
    }
    config(&dir.path().join("notes"));
    drop(open(&dir).unwrap());
}

/// A command has the whole workspace, so that no credential of the host's lies in it, whichever setting names it and however.
#[tokio::test]
async fn no_credential_of_the_hosts_lies_in_the_workspace() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(&dir).unwrap());
    let (data, notes) = (dir.path().join("data"), dir.path().join("notes"));
    std::fs::create_dir_all(notes.join("deep")).unwrap();
    for place in [&notes, &dir.path().to_owned()] {
        crate::data_dir::write_private(&place.join("token"), b"12345678\n").unwrap();
    }
    // A name outside that leads inside, and one inside that leads outside: whoever changes the workspace changes what it leads to.
    std::os::unix::fs::symlink(notes.join("token"), dir.path().join("in")).unwrap();
    std::os::unix::fs::symlink(dir.path().join("token"), notes.join("out")).unwrap();
    std::os::unix::fs::symlink(&notes, dir.path().join("link")).unwrap();
    let refused = |root: &std::path::Path, settings: &str| {
        let text = format!("[workspace]\nroot = {root:?}\n{settings}");
        crate::data_dir::write_private(&data.join("config.toml"), text.as_bytes()).unwrap();
        open(&dir).err().map(|error| error.to_string())
    };
    let secret = |file: &std::path::Path| format!("[secrets.deploy]\nfile = {file:?}\n");
    for file in ["notes/token", "notes/deep/not-there-yet", "notes/no/such/token", "in", "notes/out", "link/token"] {
        let told = refused(&notes, &secret(&dir.path().join(file))).expect(file);
        assert!(
            told.contains("`secrets.deploy` names lies in the workspace") && told.contains("\nhelp: "),
            "{file}: {told}"
        );
    }
    let inside = notes.join("token");
    for (setting, settings) in [
        ("endpoints.searxng", format!("[endpoints.searxng]\nurl = \"https://search.lan\"\ntoken_file = {inside:?}\n")),
        ("secrets.line", format!("[secrets.line]\ndotenv = {inside:?}\nkey = \"A\"\n")),
        (
            "repositories.code",
            format!(
                "[repositories.code]\nurl = \"https://code.lan/x.git\"\nuser = \"me\"\npassword_file = {inside:?}\n"
            ),
        ),
        (
            "mail",
            format!(
                "[mail]\nserver = \"mail.lan:465\"\nuser = \"me\"\npassword_file = {inside:?}\nfrom = \"me@mail.lan\"\nrecipients = [\"a@mail.lan\"]\n"
            ),
        ),
        (
            "mcp.servers.lab.token_file",
            format!("[mcp.servers.lab]\nurl = \"https://lab.lan/mcp\"\ntoken_file = {inside:?}\n"),
        ),
    ] {
        let told = refused(&notes, &settings).expect(setting);
        assert!(told.contains(&format!("`{setting}` names lies in the workspace")), "{setting}: {told}");
    }
    // The workspace by another name is the same, and a file beside it is where it should be.
    assert!(refused(&dir.path().join("link"), &secret(&inside)).is_some());
    assert_eq!(refused(&notes, &secret(&dir.path().join("token"))), None);
}
