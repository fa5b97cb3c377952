//! What is taken, and in which words the rest is refused.

use super::Config;
use std::path::Path;

fn refused(text: &str) -> String {
    Config::parse(Path::new("config.toml"), text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn everything_has_a_default() {
    let parse = |text: &str| Config::parse(Path::new("c"), text.as_bytes()).unwrap();
    assert_eq!(parse(""), Config::default());
    let config = parse("services = [\"ssh.service\"]\n[limits]\nper_turn = 4\n");
    assert_eq!((config.services.len(), config.limits.per_turn, config.limits.threads), (1, 4, 64));
    assert_eq!(Config::read(Path::new("/nonexistent/config.toml")).unwrap(), Config::default());
}

#[test]
fn a_mistake_names_file_line_and_what_is_right() {
    for (text, line, words) in [
        ("\nservice = []\n", 2, "unknown field `service`"),
        ("[limits]\nper_turn = \"x\"\n", 2, "invalid type"),
        ("[limits]\nper_turn = 0\n", 2, "`per_turn` is 0: it is 1 to 1000"),
        ("[limits]\nthreads = 5000\n", 2, "`threads` is 5000"),
        ("services = [\n", 1, ""),
        ("services = [\"../x.service\"]\n", 1, "is no service name"),
        ("services = [\"ssh\"]\n", 1, "is no service name"),
        ("\n[subjects.local]\ncapabilities = []\n", 2, "`local` declares everything"),
        ("\n\n[subjects.\"local\"]\ncapabilities = []\n", 3, "`local` declares everything"),
        ("[approvals]\nretain = \"7 days\"\n", 2, "a span of time is a whole number"),
        ("\n[approvals]\n\nretain = \"0s\"\n", 4, "`retain` is no time, or more than 90 days"),
        ("[approvals]\nretain = \"91d\"\n", 2, "more than 90 days"),
        ("[grants.\"a.b\"]\nmax = \"5m\"\n", 1, "missing field `uses`"),
        ("[grants.\"a.b\"]\nmax = \"5m\"\nuses = 0\n", 3, "nonzero"),
        ("[http]\nallow = [\"127.0.0.1\"]\n", 2, "`127.0.0.1` is no place"),
        ("[http]\nallow = [\"http://a:80\"]\n", 2, "is no place"),
        ("[http]\nca_file = \"home-ca.pem\"\n", 2, "`ca_file` does not begin"),
        ("[workspace]\nroot = \"notes\"\n", 2, "does not begin at the root"),
        ("[workspace]\nroot = \"/a/../b\"\n", 2, "does not begin at the root"),
        ("[web]\nlisten = \"localhost:1\"\n", 2, "`localhost:1` is no address and port"),
        ("[web]\n\nhosts = [\"*\"]\n", 3, "`*` is no host name"),
        ("[mcp]\nlisten = \"localhost:1\"\n", 2, "`localhost:1` is no address and port"),
        ("[mcp]\n\nturn = \"1s\"\n", 3, "`turn` is shorter or longer than it may be"),
        ("[mcp]\nhosts = [\"a\"]\n", 2, "nobody listens"),
        ("[mcp.clients.a]\nhuman = \"b\"\n", 2, "unknown field `human`"),
        ("[workspace]\n", 1, "missing field `root`"),
        ("[mail]\nserver = \"a\"\nfrom = \"a@b\"\nrecipients = [\"@b\"]\n", 2, "`a` is no place"),
        (
            "[mail]\nserver = \"a:25\"\nsecurity = \"none\"\nfrom = \"a@b\"\nrecipients = [\"@b\"]\n",
            3,
            "another machine",
        ),
        ("[mail]\nserver = \"a:25\"\nfrom = \"a\"\nrecipients = [\"@b\"]\n", 3, "no plain mail address"),
        ("[mail]\nserver = \"a:25\"\nfrom = \"a@b\"\nrecipients = []\n", 4, "nobody is listed"),
        ("[mail]\nserver = \"a:25\"\nfrom = \"a@b\"\nrecipients = [\"*\"]\n", 4, "neither an address nor"),
        ("[mail]\nserver = \"a:25\"\nuser = \"u\"\nfrom = \"a@b\"\nrecipients = [\"@b\"]\n", 3, "do not go together"),
        ("[repositories.a]\n", 1, "either `path` or `url`"),
        ("[repositories.a]\npath = \"a\"\n", 2, "does not begin at the root"),
        ("[repositories.a]\npath = \"/a\"\ndepth = 2\n", 2, "on this machine"),
        ("[repositories.a]\nurl = \"git://a/b\"\n", 2, "no plain address"),
        ("[repositories.a]\nurl = \"https://u:p@a/b\"\n", 2, "no plain address"),
        ("[repositories.a]\nurl = \"https://a/b\"\nuser = \"u\"\n", 3, "do not go together"),
        ("[endpoints.a]\nreach = \"lan\"\nurl = \"http://a\"\n", 2, "unknown variant `lan`"),
        ("[endpoints.a]\n\nurl = \"http://u:p@a\"\n", 3, "no plain address"),
        ("[endpoints.a]\nurl = \"http://a/?q\"\n", 2, "no plain address"),
        ("[endpoints.a]\nurl = \"http://a/b//c\"\n", 2, "no plain address"),
        ("[endpoints.a]\nurl = \"http://a/../c\"\n", 2, "no plain address"),
        ("[endpoints.\"A\"]\nurl = \"http://a\"\n", 2, "`A` is no endpoint's name"),
        ("[endpoints.a]\nurl = \"http://a\"\nca_file = \"/x\"\n", 3, "an `http` address has none"),
        ("[endpoints.a]\nurl = \"https://a\"\nca_file = \"x\"\n", 3, "`ca_file` does not begin"),
        ("[endpoints.a]\nurl = \"https://a\"\nserver_name = \"a:1\"\n", 3, "`a:1` is no host name"),
        ("[endpoints.a]\nurl = \"https://a\"\nauth = \"pihole\"\n", 3, "do not go together"),
        ("[endpoints.a]\nurl = \"https://a\"\npassword_file = \"/x\"\n", 1, "do not go together"),
        ("[endpoints.a]\nurl = \"https://a\"\ninsecure = true\n", 3, "unknown field `insecure`"),
        ("[mcp.servers.a]\n", 1, "neither `command` nor `url`"),
        ("\n[mcp.servers.a]\ncommand = [\"x\"]\nurl = \"http://a\"\n", 4, "both `command` and `url`"),
        ("[mcp.servers.a]\nurl = \"http://a\"\ncheck_s = 0\n", 3, "`check_s` is 0: it is 1 to 3600"),
        ("[mcp.servers.a]\ncommand = [\"x\"]\ncheck_s = 9\n", 3, "`check_s` is about an address"),
        ("[mcp.servers.A]\ncommand = [\"x\"]\n", 1, "`A` is no server's name"),
        ("[mcp.servers.a]\ncommand = [\"\"]\n", 2, "names no program"),
        ("[mcp.servers.a]\ncommand = [\"x\"]\nenv = [\"A=B\"]\n", 3, "`A=B` is no variable's name"),
        ("[mcp.servers.a]\ncommand = [\"x\"]\ncwd = \"notes\"\n", 3, "`cwd` does not begin"),
        ("[mcp.servers.a]\ncommand = [\"x\"]\nsecrets = { T = \"t\" }\n", 3, "`secrets` does not begin"),
        ("[mcp.servers.a]\ncommand = [\"x\"]\ntoken_file = \"/t\"\n", 3, "is about an address"),
        ("[mcp.servers.a]\nurl = \"https://a\"\nenv = [\"A\"]\n", 3, "is about a program"),
        ("[mcp.servers.a]\nurl = \"https://a?token=x\"\n", 2, "no plain address"),
        ("[mcp.servers.a]\nurl = \"https://a\"\nheaders = { Authorization = \"x\" }\n", 3, "that the host writes"),
        ("[mcp.servers.a]\ncommand = [\"x\"]\nstart = \"now\"\n", 3, "unknown variant `now`"),
        ("[mcp.servers.a]\ncommand = [\"x\"]\ndiscovery_s = 0\n", 3, "`discovery_s` is 0"),
        ("[mcp.servers.a]\ncommand = [\"x\"]\nshell = true\n", 3, "unknown field `shell`"),
        (
            "[mcp.servers.a]\ncommand = [\"x\"]\n[[mcp.servers.a.tools]]\ntool = \"t\"\ndefinition = \"x\"\nside_effect = \"read_only\"\nnetwork = \"local\"\n",
            1,
            "the line about `t` names no definition",
        ),
    ] {
        let error = refused(text);
        assert!(error.starts_with(&format!("`config.toml` line {line}: ")), "{text:?}: {error}");
        assert!(error.contains(words) && error.contains("\nhelp: "), "{text:?}: {error}");
    }
}
