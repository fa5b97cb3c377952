use super::{Host, HostOptions};
use crate::audit_log::{Finding, verify};
use crate::error::HostError;
use capability_core::executor::{Ended, Proposal};
use capability_core::session::{Declarations, Mode, Origin, Session, SessionIdentity, Subject, TurnId};
use capability_core::store::OptIns;

fn open(dir: &tempfile::TempDir) -> Result<Host, HostError> {
    Host::open(HostOptions { data_dir: dir.path().join("data"), packages: &["capability-host", "capabilities"] })
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
