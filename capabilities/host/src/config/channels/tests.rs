//! What an operator writes about channels.

use std::path::Path;

use super::Form;
use crate::channel::verify::email::{Finder, Proof};
use crate::config::Config;

const SUBJECT: &str = "[subjects.\"agent:home\"]\ncapabilities = []\n";

fn parsed(channel: &str) -> Result<Config, String> {
    let text = format!("{SUBJECT}[channels.one]\nsubject = \"agent:home\"\n{channel}\n");
    Config::parse(Path::new("config.toml"), text.as_bytes()).map_err(|error| error.to_string())
}

/// One of each kind, as short as it can be.
const SHORT: [&str; 10] = [
    "kind = \"webhook\"\nsecret = \"hook\"",
    "kind = \"webhook\"\nallow_unauthenticated = true",
    "kind = \"hmac\"\nsecret = \"hook\"\nheader = \"X-Signature\"",
    "kind = \"standard\"\nsecret = \"hook\"",
    "kind = \"github\"\nsecret = \"hook\"",
    "kind = \"slack\"\nsecret = \"hook\"\nusers = [\"*\"]\nrooms = [\"C1\"]",
    "kind = \"mattermost\"\nsecret = \"hook\"\nusers = [\"u\"]\nrooms = [\"*\"]",
    "kind = \"telegram\"\nsecret = \"hook\"\nusers = [7000000001]\nrooms = [-1001234567890]",
    "kind = \"matrix\"\nsecret = \"hook\"\nusers = [\"@me:home\"]\nrooms = [\"!a:home\"]",
    "kind = \"email\"\nsenders = [\"@home.example\"]\nrecipients = [\"a@home.example\"]\nauthserv_id = \"mx.home.example\"",
];

#[test]
fn each_kind_says_what_it_has_to() {
    for short in SHORT {
        assert_eq!(parsed(short).unwrap().channels().each.len(), 1, "{short}");
        // Without any one of its lines it is none.
        let lines: Vec<_> = short.lines().collect();
        for left_out in 0..lines.len() {
            let rest: Vec<_> =
                lines.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, line)| *line).collect();
            let refused = parsed(&rest.join("\n")).unwrap_err();
            assert!(refused.contains("\nhelp: "), "{refused}");
        }
    }
}

/// A mail channel without what proves a mail.
const MAIL: &str = "kind = \"email\"\nsenders = [\"@home.example\"]\nrecipients = [\"a@home.example\"]";

#[test]
fn a_mail_is_proven_by_a_server_or_here_or_both() {
    let proof = |more: &str| match parsed(&format!("{MAIL}\n{more}")).unwrap().channels().each[0].form.clone() {
        Form::Email { proof, .. } => proof,
        other => panic!("{other:?}"),
    };
    let finder = || Finder { authserv_id: "mx.home.example".to_owned(), hops: 0 };
    let at = "127.0.0.1:5353".parse().unwrap();
    assert_eq!(proof("authserv_id = \"MX.home.example\""), Proof::Server(finder()));
    assert_eq!(proof("verify_dkim = true"), Proof::Here(None));
    assert_eq!(proof("verify_dkim = true\nname_server = \"127.0.0.1:5353\""), Proof::Here(Some(at)));
    assert_eq!(proof("verify_dkim = true\nauthserv_id = \"mx.home.example\""), Proof::Both(finder(), None));
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_what_is_right() {
    for (channel, words) in [
        ("kind = \"slack\"\nsecret = \"hook\"\nusers = []\nrooms = [\"*\"]", "line 7: no `users`"),
        ("kind = \"telegram\"\nsecret = \"hook\"\nusers = [\"*\"]\nrooms = [1]", "no number"),
        ("kind = \"matrix\"\nsecret = \"hook\"\nusers = [\"*\", \"@a:b\"]\nrooms = [\"*\"]", "no id"),
        ("kind = \"webhook\"\nsecret = \"../x\"", "no secret's name"),
        ("kind = \"webhook\"\nsecret = \"a\"\nallow_unauthenticated = true", "both written"),
        ("kind = \"slack\"\nallow_unauthenticated = true\nusers = [\"*\"]\nrooms = [\"*\"]", "means nothing"),
        ("kind = \"webhook\"\nsecret = \"a\"\nusers = [\"u\"]", "`users` means nothing"),
        ("kind = \"hmac\"\nsecret = \"a\"\nheader = \"x y\"", "no header's name"),
        ("kind = \"hmac\"\nsecret = \"a\"\nheader = \"x\"\nwindow = \"5m\"", "`timestamp_header`"),
        ("kind = \"standard\"\nsecret = \"a\"\nwindow = \"2h\"", "more than an hour"),
        ("kind = \"standard\"\nsecret = \"a\"\nremember = \"1s\"", "less than a minute"),
        ("kind = \"standard\"\nsecret = \"a\"\nper_minute = 0", "1 to 1000000"),
        ("kind = \"standard\"\nsecret = \"a\"\nwindows = \"5m\"", "unknown field"),
        ("kind = \"standart\"\nsecret = \"a\"", "unknown variant"),
        (&format!("{MAIL}\nverify_dkim = true\nhops = 1"), "no `authserv_id`"),
        (&format!("{MAIL}\nauthserv_id = \"mx\"\nname_server = \"127.0.0.1:53\""), "no key is looked up"),
        (&format!("{MAIL}\nverify_dkim = true\nname_server = \"ns.example\""), "line"),
        ("kind = \"github\"\nsecret = \"hook\"\nverify_dkim = true", "`verify_dkim` means nothing"),
        ("kind = \"email\"\nsenders = [\"@\"]\nrecipients = [\"a@b.c\"]\nauthserv_id = \"mx\"", "no address"),
    ] {
        let refused = parsed(channel).unwrap_err();
        assert!(refused.contains(words) && refused.contains("\nhelp: "), "{refused}");
    }
}

/// What may come in is what can be known again: no channel does without a word what shuts it.
#[test]
fn nobody_who_writes_nothing_is_given_more_than_can_be_known_again() {
    let one = |channel: &str| parsed(channel).unwrap().channels().each[0].clone();
    for short in SHORT {
        let settings = one(short);
        assert!(!settings.outgrows_itself() && settings.per_minute > 0, "{short}: {}", settings.per_minute);
        // Much more a minute than it can know is told, and so is keeping for a month what must not be forgotten.
        let outgrows = |more: &str| one(&format!("{short}\n{more}")).outgrows_itself();
        assert!(outgrows("per_minute = 100000"), "{short}");
        assert!(!outgrows("remember = \"7d\""), "{short}: the rate follows");
        assert!(!outgrows("per_minute = 1"), "{short}");
    }
    let strict = "kind = \"github\"\nsecret = \"hook\"";
    assert_eq!(one(strict).per_minute, 22);
    assert!(one(&format!("{strict}\nper_minute = 120")).outgrows_itself());
    assert!(!one(&format!("{strict}\nper_minute = 120\nremember = \"4h\"")).outgrows_itself());
}

#[test]
fn a_channel_leads_to_a_subject_that_is_held_to_a_manifest() {
    let text = "[channels.one]\nkind = \"standard\"\nsecret = \"a\"\nsubject = ";
    let told = |subject: &str| Config::parse(Path::new("c"), format!("{text}{subject}\n").as_bytes());
    assert!(told("\"local\"").unwrap_err().to_string().contains("everything"));
    // In a file of its own, or in this one; in one of them.
    let (other, with_file) = (told("\"agent:other\"").unwrap(), ["agent:other".parse().unwrap()]);
    assert!(other.check_channels(Path::new("c"), &with_file).is_ok());
    let refused = other.check_channels(Path::new("c"), &[]).unwrap_err().to_string();
    assert!(refused.contains("no manifest") && refused.contains("\nhelp: "), "{refused}");
    let here = format!("{SUBJECT}{text}\"agent:home\"\n");
    let here = Config::parse(Path::new("c"), here.as_bytes()).unwrap();
    assert!(here.check_channels(Path::new("c"), &[]).is_ok());
    let refused = here.check_channels(Path::new("c"), &["agent:home".parse().unwrap()]).unwrap_err().to_string();
    assert!(refused.contains("two manifests"), "{refused}");
    for (table, words) in [
        ("[channels]\nlisten = \"localhost\"", "no address"),
        ("[channels]\nretain = \"91d\"", "90 days"),
        ("[channels]\nretai = \"1d\"", "retai"),
        ("[channels.\"A\"]\nkind = \"standard\"\nsecret = \"a\"\nsubject = \"agent:home\"", "no channel's name"),
    ] {
        let refused = Config::parse(Path::new("c"), format!("{SUBJECT}{table}\n").as_bytes()).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}
