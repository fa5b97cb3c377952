//! A second evaluator: slow, obvious, and built on the written rules instead of the compiled ones.
//!
//! A rule is a set of calls. Sets are written down element by element, over a universe that has a value for everything that
//! the rules of these tests can tell apart, and one narrower than another is one that is contained in it and smaller.

use super::random::Random;
use capability_core::policy::Verdict;

/// What a selector says, in each dimension by its place in a pool; none is any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selects {
    pub subject: Option<usize>,
    pub capability: Option<usize>,
    pub action: Option<usize>,
    pub target: Option<usize>,
    pub when: Option<usize>,
    pub origin: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub effect: Verdict,
    pub selects: Selects,
    pub except: Vec<Selects>,
}

/// A call: in each dimension a place in the universe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Called {
    pub subject: usize,
    pub name: usize,
    pub action: usize,
    pub target: usize,
    pub minute: u16,
    pub origin: usize,
}

pub const SUBJECTS: [&str; 3] = ["local", "agent:a", "agent:b"];
pub const ACTIONS: [&str; 2] = ["read_only", "mutating"];
pub const ORIGINS: [&str; 3] = ["model", "channel", "schedule"];

/// Patterns for names, and what each is about: a family, or one name and perhaps its scope.
pub const CAPABILITIES: [&str; 9] = [
    "home.*",
    "house.*",
    "home.fetch",
    "home.read",
    "home.run",
    "home.call",
    "home.call:docs",
    "home.asks",
    "home.denies",
];

/// Names with their scopes; the last of each family are registered nowhere.
pub const NAMES: [(&str, Option<&str>); 12] = [
    ("home.fetch", None),
    ("home.read", None),
    ("home.edit", None),
    ("home.run", None),
    ("home.call", Some("docs")),
    ("home.call", Some("mail")),
    ("home.plain", None),
    ("home.asks", None),
    ("home.denies", None),
    ("house.read", None),
    ("house.other", None),
    ("elsewhere.other", None),
];

/// Patterns for targets, as TOML.
pub const PATTERNS: [&str; 22] = [
    r#"{ host = "**" }"#,
    r#"{ host = "*.example.com" }"#,
    r#"{ host = "**.example.com" }"#,
    r#"{ host = "example.com" }"#,
    r#"{ host = "10.0.0.1" }"#,
    r#"{ host = "**", port = 8443 }"#,
    r#"{ host = "**.example.com", path = "/x/**" }"#,
    r#"{ host = "a.example.com", path = "/x/*" }"#,
    r#"{ path = "**" }"#,
    r#"{ path = "a/**" }"#,
    r#"{ path = "a/*" }"#,
    r#"{ path = "a/b" }"#,
    r#"{ path = "**/b" }"#,
    r#"{ path = "a/**/b" }"#,
    r#"{ argv = ["**"] }"#,
    r#"{ argv = ["git", "**"] }"#,
    r#"{ argv = ["git", "push"] }"#,
    r#"{ argv = ["*", "push"] }"#,
    r#"{ text = "*" }"#,
    r#"{ text = "*rm*" }"#,
    r#"{ text = "rm*" }"#,
    r#"{ text = "rm all" }"#,
];

/// A target of the universe.
#[derive(Debug, Clone, Copy)]
pub enum Target {
    None,
    /// Labels, port, segments.
    Place(&'static [&'static str], u16, &'static [&'static str]),
    Path(&'static [&'static str]),
    Argv(&'static [&'static str]),
    Text(&'static str),
}

pub const TARGETS: [Target; 41] = [
    Target::None,
    Target::Place(&["example", "com"], 443, &[]),
    Target::Place(&["example", "com"], 8443, &["x"]),
    Target::Place(&["a", "example", "com"], 443, &[]),
    Target::Place(&["a", "example", "com"], 8443, &["x", "y"]),
    Target::Place(&["a", "example", "com"], 8443, &["x", "y", "z"]),
    Target::Place(&["a", "example", "com"], 443, &["x"]),
    Target::Place(&["a", "example", "com"], 443, &["x", "q"]),
    Target::Place(&["b", "example", "com"], 443, &["x", "y"]),
    Target::Place(&["b", "example", "com"], 443, &["w"]),
    Target::Place(&["c", "b", "example", "com"], 443, &["x"]),
    Target::Place(&["c", "b", "example", "com"], 8443, &[]),
    Target::Place(&["10.0.0.1"], 443, &[]),
    Target::Place(&["10.0.0.1"], 8443, &["x", "y"]),
    Target::Place(&["com"], 443, &["x"]),
    Target::Place(&["example", "com", "evil", "net"], 8443, &["x"]),
    Target::Path(&[]),
    Target::Path(&["a"]),
    Target::Path(&["b"]),
    Target::Path(&["a", "b"]),
    Target::Path(&["a", "q"]),
    Target::Path(&["q", "b"]),
    Target::Path(&["q", "b", "q"]),
    Target::Path(&["a", "q", "b"]),
    Target::Path(&["a", "b", "q"]),
    Target::Path(&["a", "a", "b", "b"]),
    Target::Path(&["q", "q", "q"]),
    Target::Argv(&["git"]),
    Target::Argv(&["push"]),
    Target::Argv(&["git", "push"]),
    Target::Argv(&["git", "q"]),
    Target::Argv(&["q", "push"]),
    Target::Argv(&["git", "push", "q"]),
    Target::Argv(&["q", "q", "q"]),
    Target::Text(""),
    Target::Text("rm"),
    Target::Text("rm all"),
    Target::Text("rm q"),
    Target::Text("q rm"),
    Target::Text("q\n/ rm all"),
    Target::Text("mr"),
];

/// Windows: days from Monday, first and last minute.
pub const WINDOWS: [(&str, &[u16], u16, u16); 6] = [
    (r#"{ from = "00:00", to = "24:00", tz = "UTC" }"#, &[0, 1, 2, 3, 4, 5, 6], 0, 1440),
    (r#"{ days = ["mon-fri"], tz = "UTC" }"#, &[0, 1, 2, 3, 4], 0, 1440),
    (r#"{ from = "08:00", to = "18:00", tz = "UTC" }"#, &[0, 1, 2, 3, 4, 5, 6], 480, 1080),
    (r#"{ days = ["mon-fri"], from = "09:00", to = "17:00", tz = "UTC" }"#, &[0, 1, 2, 3, 4], 540, 1020),
    (r#"{ days = ["fri", "sat"], from = "22:00", to = "06:00", tz = "UTC" }"#, &[4, 5], 1320, 360),
    (r#"{ from = "21:00", to = "08:00", tz = "UTC" }"#, &[0, 1, 2, 3, 4, 5, 6], 1260, 480),
];

/// Every half hour of a week.
pub fn minutes() -> impl Iterator<Item = u16> {
    (0..7 * 48).map(|half| half * 30)
}

fn tokens(pattern: &[&str], of: &[&str]) -> bool {
    match pattern.split_first() {
        None => of.is_empty(),
        Some((&"**", rest)) => (0..=of.len()).any(|taken| tokens(rest, &of[taken..])),
        Some((&"*", rest)) => !of.is_empty() && tokens(rest, &of[1..]),
        Some((literal, rest)) => of.first() == Some(literal) && tokens(rest, &of[1..]),
    }
}

fn characters(pattern: &str, text: &str) -> bool {
    match pattern.split_at_checked(1) {
        None => text.is_empty(),
        Some(("*", rest)) => (0..=text.len()).any(|taken| characters(rest, &text[taken..])),
        Some((literal, rest)) => text.starts_with(literal) && characters(rest, &text[1..]),
    }
}

fn split(pattern: &str, by: char) -> Vec<&str> {
    pattern.split(by).filter(|part| !part.is_empty()).collect()
}

fn host(pattern: &str, labels: &[&str]) -> bool {
    let whole = labels.join(".");
    match pattern {
        "**" => true,
        "10.0.0.1" => whole == pattern,
        _ if labels == ["10.0.0.1"] => false,
        _ => match pattern.strip_prefix("**.") {
            Some(rest) => whole.ends_with(&format!(".{rest}")),
            None => tokens(&split(pattern, '.'), labels),
        },
    }
}

/// Whether a target pattern of the pool matches a target of the universe.
fn target(pattern: &str, target: &Target) -> bool {
    let table: toml::Table = format!("it = {pattern}").parse().expect("TOML");
    let get = |key: &str| table["it"].get(key).cloned();
    let text = |key: &str| get(key).and_then(|value| value.as_str().map(str::to_owned));
    match target {
        Target::None => false,
        Target::Place(labels, port, segments) => text("host").is_some_and(|pattern| {
            host(&pattern, labels)
                && get("port").is_none_or(|wanted| wanted.as_integer() == Some(i64::from(*port)))
                && text("path").is_none_or(|path| tokens(&split(&path, '/'), segments))
        }),
        Target::Path(segments) => {
            get("host").is_none() && text("path").is_some_and(|path| tokens(&split(&path, '/'), segments))
        }
        Target::Argv(words) => get("argv").is_some_and(|argv| {
            let pattern: Vec<_> = argv.as_array().expect("a list").iter().filter_map(|word| word.as_str()).collect();
            tokens(&pattern, words)
        }),
        Target::Text(called) => text("text").is_some_and(|pattern| characters(&pattern, called)),
    }
}

fn capability(pattern: &str, (name, scope): (&str, Option<&str>)) -> bool {
    match (pattern.strip_suffix(".*"), pattern.split_once(':')) {
        (Some(family), _) => name.starts_with(&format!("{family}.")),
        (None, Some((own, wanted))) => name == own && scope == Some(wanted),
        (None, None) => name == pattern,
    }
}

fn window((_, days, from, to): (&str, &[u16], u16, u16), minute: u16) -> bool {
    // Every start, and every minute after it until the end.
    let length = if to > from { to - from } else { 1440 - from + to };
    days.iter().any(|day| (minute + 7 * 1440 - (day * 1440 + from)) % (7 * 1440) < length)
}

/// Which patterns of each pool match which values of the universe.
pub struct Universe {
    capabilities: Vec<Vec<bool>>,
    targets: Vec<Vec<bool>>,
    windows: Vec<Vec<bool>>,
}

impl Universe {
    pub fn new() -> Self {
        Self {
            capabilities: CAPABILITIES
                .iter()
                .map(|own| NAMES.iter().map(|name| capability(own, *name)).collect())
                .collect(),
            targets: PATTERNS.iter().map(|own| TARGETS.iter().map(|called| target(own, called)).collect()).collect(),
            windows: WINDOWS.iter().map(|own| minutes().map(|minute| window(*own, minute)).collect()).collect(),
        }
    }

    /// For each dimension and each of its values, whether the selector takes it.
    fn taken(&self, selects: &Selects) -> [Vec<bool>; 6] {
        let exactly = |wanted: Option<usize>, many: usize| {
            (0..many).map(|value| wanted.is_none_or(|wanted| wanted == value)).collect::<Vec<_>>()
        };
        let by = |rows: &[Vec<bool>], wanted: Option<usize>, many: usize| match wanted {
            None => vec![true; many],
            Some(wanted) => rows[wanted].clone(),
        };
        [
            exactly(selects.subject, SUBJECTS.len()),
            by(&self.capabilities, selects.capability, NAMES.len()),
            exactly(selects.action, ACTIONS.len()),
            by(&self.targets, selects.target, TARGETS.len()),
            by(&self.windows, selects.when, minutes().count()),
            exactly(selects.origin, ORIGINS.len()),
        ]
    }

    fn selects(&self, selects: &Selects, called: &Called) -> bool {
        let exactly = |wanted: Option<usize>, value: usize| wanted.is_none_or(|wanted| wanted == value);
        let by =
            |rows: &[Vec<bool>], wanted: Option<usize>, value: usize| wanted.is_none_or(|wanted| rows[wanted][value]);
        exactly(selects.subject, called.subject)
            && by(&self.capabilities, selects.capability, called.name)
            && exactly(selects.action, called.action)
            && by(&self.targets, selects.target, called.target)
            && by(&self.windows, selects.when, usize::from(called.minute / 30))
            && exactly(selects.origin, called.origin)
    }

    pub fn matches(&self, rule: &Written, called: &Called) -> bool {
        self.selects(&rule.selects, called) && !rule.except.iter().any(|except| self.selects(except, called))
    }

    /// Whether `narrow` is contained in `wide` and smaller: every combination of values is looked at, those alike once.
    pub fn is_narrower(&self, narrow: &Written, wide: &Written) -> bool {
        let of = |rule: &Written| -> Vec<[Vec<bool>; 6]> {
            core::iter::once(&rule.selects).chain(&rule.except).map(|selects| self.taken(selects)).collect()
        };
        let (inner, outer) = (of(narrow), of(wide));
        // In each dimension, which selectors take a value: as many kinds of value as there are such sets.
        let mut kinds: [Vec<u32>; 6] = Default::default();
        for (dimension, kinds) in kinds.iter_mut().enumerate() {
            for value in 0..inner[0][dimension].len() {
                let takers = inner.iter().chain(&outer).enumerate();
                let kind = takers.map(|(bit, taken)| u32::from(taken[dimension][value]) << bit).sum();
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
        }
        let matched = |all: u32, first: usize, many: usize| {
            all & (1 << first) != 0 && (1..many).all(|except| all & (1 << (first + except)) == 0)
        };
        let mut smaller = false;
        let mut contained = true;
        let mut walk = vec![(0_usize, u32::MAX)];
        while let Some((dimension, all)) = walk.pop() {
            if let Some(kinds) = kinds.get(dimension) {
                walk.extend(kinds.iter().map(|kind| (dimension + 1, all & kind)));
                continue;
            }
            let (inside, outside) = (matched(all, 0, inner.len()), matched(all, inner.len(), outer.len()));
            contained &= outside || !inside;
            smaller |= outside && !inside;
        }
        contained && smaller
    }

    /// What one source says: the verdict and which rules decide.
    pub fn verdict(&self, rules: &[Written], called: &Called, default: Verdict) -> (Verdict, Vec<usize>) {
        let matching: Vec<_> = (0..rules.len()).filter(|at| self.matches(&rules[*at], called)).collect();
        let denying: Vec<_> = matching.iter().copied().filter(|at| rules[*at].effect == Verdict::Deny).collect();
        if !denying.is_empty() {
            return (Verdict::Deny, denying);
        }
        let displaced = |at: usize| matching.iter().any(|other| self.is_narrower(&rules[*other], &rules[at]));
        let minimal: Vec<_> = matching.iter().copied().filter(|at| !displaced(*at)).collect();
        let everything = |rule: &Written| rule.selects == Selects::default() && rule.except.is_empty();
        let default = if matching.iter().all(|at| everything(&rules[*at])) { default } else { Verdict::Allow };
        let strictest = minimal.iter().map(|at| rules[*at].effect).max().unwrap_or(Verdict::Allow).max(default);
        (strictest, minimal.into_iter().filter(|at| rules[*at].effect == strictest).collect())
    }
}

impl Selects {
    pub fn random(random: &mut Random) -> Self {
        Self {
            subject: random.sometimes(3).then(|| random.below(2)),
            capability: random.often().then(|| random.below(CAPABILITIES.len())),
            action: random.sometimes(5).then(|| random.below(2)),
            target: random.often().then(|| random.below(PATTERNS.len())),
            when: random.sometimes(3).then(|| random.below(WINDOWS.len())),
            origin: random.sometimes(5).then(|| random.below(2)),
        }
    }

    /// As a table's entries.
    pub fn keys(&self) -> Vec<String> {
        let text = |key: &str, value: &str| format!("{key} = \"{value}\"");
        let mut keys = Vec::new();
        keys.extend(self.subject.map(|at| text("subject", SUBJECTS[at])));
        keys.extend(self.capability.map(|at| text("capability", CAPABILITIES[at])));
        keys.extend(self.action.map(|at| text("action", ACTIONS[at])));
        keys.extend(self.target.map(|at| format!("target = {}", PATTERNS[at])));
        keys.extend(self.when.map(|at| format!("when = {}", WINDOWS[at].0)));
        keys.extend(self.origin.map(|at| text("origin", ORIGINS[at])));
        keys
    }
}

impl Written {
    pub fn random(random: &mut Random, exceptions: bool) -> Self {
        let effect = [Verdict::Allow, Verdict::Ask, Verdict::Ask, Verdict::AskFresh, Verdict::Deny][random.below(5)];
        let mut except = Vec::new();
        if exceptions && effect != Verdict::Allow {
            except = (0..random.below(3)).map(|_| Selects::random(random)).collect();
            except.retain(|selects| *selects != Selects::default());
        }
        Self { effect, selects: Selects::random(random), except }
    }

    /// As TOML, called `r` and its number.
    pub fn text(&self, number: usize) -> String {
        let mut lines =
            vec!["[[rule]]".to_owned(), format!("id = \"r{number}\""), format!("effect = \"{}\"", self.effect)];
        lines.push("reason = \"for a test\"".to_owned());
        lines.extend(self.selects.keys());
        if !self.except.is_empty() {
            let tables: Vec<_> =
                self.except.iter().map(|selects| format!("{{ {} }}", selects.keys().join(", "))).collect();
            lines.push(format!("except = [{}]", tables.join(", ")));
        }
        lines.join("\n") + "\n"
    }
}
