//! What an operator writes about channels.

use std::path::Path;

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
        ("kind = \"email\"\nsenders = [\"@\"]\nrecipients = [\"a@b.c\"]\nauthserv_id = \"mx\"", "no address"),
    ] {
        let refused = parsed(channel).unwrap_err();
        assert!(refused.contains(words) && refused.contains("\nhelp: "), "{refused}");
    }
}

#[test]
fn a_channel_leads_to_a_subject_that_is_held_to_a_manifest() {
    let text = "[channels.one]\nkind = \"standard\"\nsecret = \"a\"\nsubject = ";
    for (subject, words) in [("\"local\"", "everything"), ("\"agent:other\"", "no manifest")] {
        let refused = Config::parse(Path::new("c"), format!("{text}{subject}\n").as_bytes()).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
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
